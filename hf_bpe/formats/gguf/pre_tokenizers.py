r"""The pre-tokenizers that llama.cpp knows by name (`tokenizer.ggml.pre`), as split patterns.

Facts from `src/llama-vocab.cpp` of ggml-org/llama.cpp, commit 00ad355: the patterns of each name, applied one after
the other, each isolating its matches; and whether a whole pretoken that is a token is taken first. A pattern that
llama.cpp writes differently because its regex engine lacks `(?i:)` or some classes stands here as the model's own
tokenizer.json has it, which llama.cpp quotes beside its version. Left out are names whose pattern runs in code
written for it (kimi-k2, afmoe, tiny_aya, superbpe) or on text instead of bytes (gemma4, sarvam-moe, whitespace).
"""

from __future__ import annotations

from typing import NamedTuple

from hf_bpe.split_patterns import SPLIT_PATTERNS

_GPT2 = SPLIT_PATTERNS["gpt2"]
_LLAMA3 = SPLIT_PATTERNS["llama3"]
_QWEN2 = SPLIT_PATTERNS["qwen2"]
_O200K = SPLIT_PATTERNS["o200k"]
_DIGIT = r"\p{N}"
_CJK = "[一-龥ࠀ-一가-퟿]+"

_DEEPSEEK_LLM = (
    "[\r\n]",
    r"\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝ"
    r"ℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+",
    r"\s?[!-/:-~！-／：-～‘-‟　-。]+",
    r"\s+$",
    _CJK,
    r"\p{N}+",
)
_DEEPSEEK_V3 = (
    r"\p{N}{1,3}",
    "[一-龥぀-ゟ゠-ヿ]+",
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|"
    "\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
)
_TEKKEN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|"
    r"\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_QWEN35 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|"
    r"\s*[\r\n]+|\s+(?!\S)|\s+"
)
_SEED_CODER = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}" "\r\n"
    r"]+|\s*[" "\r\n" r"]+|\s+(?!\S)|\s+"
)
_BAILING = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
)
_BLOOM = r" ?[^(\s|.,!?…。，、।۔،)]+"


class PreTokenizer(NamedTuple):
    """The patterns of a name, whether whole pretokens go first, and whether BOS is added where a file doesn't say."""

    patterns: tuple[str, ...]
    ignore_merges: bool = False
    add_bos: bool = False


PRE_TOKENIZERS: dict[str, PreTokenizer] = {
    "gpt-2": PreTokenizer((_GPT2,)),
    "llama-bpe": PreTokenizer((_LLAMA3,), ignore_merges=True, add_bos=True),
    "dbrx": PreTokenizer((_LLAMA3,)),
    "qwen2": PreTokenizer((_QWEN2,)),
    "tekken": PreTokenizer((_TEKKEN,), ignore_merges=True, add_bos=True),
    "gpt-4o": PreTokenizer((_O200K,)),
    "deepseek-llm": PreTokenizer(_DEEPSEEK_LLM),
    "deepseek-coder": PreTokenizer(("[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", _CJK, _DIGIT)),
    "deepseek-v3": PreTokenizer(_DEEPSEEK_V3),
    "smollm": PreTokenizer((_DIGIT, _GPT2)),
    "falcon": PreTokenizer((r"[\p{P}\$\+<=>\^~\|`]+", _GPT2, "[0-9][0-9][0-9]")),
    "qwen35": PreTokenizer((_QWEN35,)),
    "seed-coder": PreTokenizer((_SEED_CODER,)),
    "bailingmoe": PreTokenizer((_BAILING,)),
    "bloom": PreTokenizer((_BLOOM,)),
    "viking": PreTokenizer((_BLOOM, _DIGIT)),
    "default": PreTokenizer((r"[\p{P}\$\+<=>\^~\|]+", _GPT2, r"\p{N}+", "[0-9][0-9][0-9]")),
}
"""The names that the writer uses, one for each way of splitting, with what they mean."""

ALIASES: dict[str, str] = {
    **dict.fromkeys(("llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2"), "llama-bpe"),
    **dict.fromkeys(("smaug-bpe", "glm4", "chatglm-bpe"), "dbrx"),
    **dict.fromkeys(("phi-2", "jina-es", "jina-de", "jina-v2-es", "jina-v2-de", "gigachat", "a.x-4.0"), "gpt-2"),
    **dict.fromkeys(("mellum", "modern-bert", "mpt", "olmo", "jais", "trillion", "granite-docling"), "gpt-2"),
    **dict.fromkeys(("exaone4", "jina-v1-en", "jina-v2-code", "roberta-bpe"), "gpt-2"),
    **dict.fromkeys(("deepseek-r1-qwen", "kormo", "f2llmv2", "stablelm2", "megrez", "hunyuan"), "qwen2"),
    **dict.fromkeys(("solar-open", "grok-2"), "qwen2"),
    **dict.fromkeys(("llama4", "kanana2", "talkie", "minimax-m2"), "gpt-4o"),
    **dict.fromkeys(("hunyuan-dense", "hy_v4", "joyai-llm"), "deepseek-v3"),
    **dict.fromkeys(("starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b", "mellum2"), "smollm"),
    **dict.fromkeys(("bailingmoe2", "llada-moe"), "bailingmoe"),
    **dict.fromkeys(("poro-chat", "gpt3-finnish"), "bloom"),
}
"""Further names that split as one of `PRE_TOKENIZERS` does."""

SPELLINGS: dict[str, str] = {
    SPLIT_PATTERNS["cl100k"]: _LLAMA3,
}
"""Patterns that match exactly what another one matches."""


def named(name: str) -> PreTokenizer | None:
    """Return what a name means, or None for one that isn't known."""
    return PRE_TOKENIZERS.get(ALIASES.get(name, name))


def names_for(patterns: tuple[str, ...]) -> list[str]:
    """Return the names that split by these patterns, the best known first."""
    spelled = tuple(SPELLINGS.get(pattern, pattern) for pattern in patterns)
    return [name for name, known in PRE_TOKENIZERS.items() if known.patterns == spelled]
