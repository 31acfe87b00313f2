r"""The pre-tokenizers that llama.cpp knows by name (`tokenizer.ggml.pre`), as split patterns.

Facts from `src/llama-vocab.cpp` of ggml-org/llama.cpp, commit 00ad355: the patterns of each name, applied one after
the other, each isolating its matches; and whether a whole pretoken that is a token is taken first. A pattern that
llama.cpp writes differently because its regex engine lacks `(?i:)` or some classes stands here as the model's own
tokenizer.json has it, which llama.cpp quotes beside its version. Left out are names whose pattern runs in code
written for it and stands nowhere else (afmoe), or runs on text instead of bytes (gemma4, sarvam-moe, whitespace).
"""

from __future__ import annotations

from typing import NamedTuple

from hf_bpe.known_encodings import KNOWN_ENCODINGS
from hf_bpe.split_patterns import SPLIT_PATTERNS

_GPT2 = SPLIT_PATTERNS["gpt2"]
_LLAMA3 = SPLIT_PATTERNS["llama3"]
_QWEN2 = SPLIT_PATTERNS["qwen2"]
_O200K = SPLIT_PATTERNS["o200k"]
_DIGIT = r"\p{N}"
_CJK = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"

_CASED = (
    "A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af\u0370-\u0373"
    "\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f"
    "\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77"
    "\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d"
    "\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb"
    "\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128"
    "\u212a-\u212d\u212f-\u2134\u2139\u213c-\u213f\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4"
    "\u2ceb-\u2cee\u2cf2\u2cf3\ua640-\ua66d\ua680-\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf"
    "\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a\U00010400-\U0001044f\U000104b0-\U000104d3"
    "\U000104d8-\U000104fb\U00010c80-\U00010cb2\U00010cc0-\U00010cf2\U000118a0-\U000118df\U0001e900-\U0001e943"
)
"""Letters with case, as a class of a split pattern has them. Escaped: some are equal to others after NFC."""

_DEEPSEEK_LLM = (
    "[\r\n]",
    rf"\s?[{_CASED}]+",
    "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+",
    r"\s+$",
    _CJK,
    r"\p{N}+",
)
_DEEPSEEK_V3 = (
    r"\p{N}{1,3}",
    "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
    "| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
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
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}"
    "\r\n"
    r"]+|\s*["
    "\r\n"
    r"]+|\s+(?!\S)|\s+"
)
_BAILING = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
_CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_WORDS = r"[^\r\n\p{L}\p{N}]?\p{L}+"
_UFAKZEKA = rf"{_WORDS}|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_SPACES}"
_MINICPM5 = rf"{_CONTRACTIONS}|{_WORDS}|\p{{N}}+| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_SPACES}"
_EXAONE_MOE = (
    rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?(?:\p{{L}}\p{{M}}*(?: \p{{L}}\p{{M}}*)*)+|\p{{N}}|"
    r" ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+"
)
_JAIS2 = (
    rf"{_CONTRACTIONS}|{_WORDS}|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]+|"
    + "".join(rf"\s{{{size}}}(?!\S)|" for size in ("512", "256", "128", "64", "32", "16", "8", "4", "1,2"))
    + r"\s{1}"
)
_SPARK = _DEEPSEEK_V3[2].replace("[\r\n]*|\\s*[\r\n]+|", "|[\r\n]|")
_YOUTU = (
    "[\uac00-\ud7a3\u3131-\u318e]+|[\uff01\u2026\u201c\u201d\u2018\u2019\u2014\uff1a\uff1b\uff0c\u3001-\u303f\ufe30-\ufe4f]+|"
    "[\u3105-\u312f]+|[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
    _O200K.replace(r"\p{N}{1,3}", _DIGIT),
)
_CHAMELEON = (
    "<sentinel:[0-9]+>",
    "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z",
    "([\t\n]|    |  )",
    _DIGIT,
    r"[\p{P}!-/:-@\[-`{-~]",
    _GPT2,
)
_BLOOM = " ?[^(\\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+"


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
    "minicpm5": PreTokenizer((r"\p{N}{1,3}", _MINICPM5), ignore_merges=True),
    "ufakzeka": PreTokenizer((_UFAKZEKA,)),
    "exaone-moe": PreTokenizer((_EXAONE_MOE,)),
    "jais-2": PreTokenizer((_JAIS2,)),
    "spark2_5": PreTokenizer((*_DEEPSEEK_V3[:2], _SPARK, _DIGIT)),
    "youtu": PreTokenizer(_YOUTU, ignore_merges=True),
    "laguna": PreTokenizer(("[^\n]+|[\n]+", _QWEN2)),
    "chameleon": PreTokenizer(_CHAMELEON, add_bos=True),
    "tiny_aya": PreTokenizer((r"\d{1,3}(?=(?:\d{3})*\b)", _O200K)),
    "superbpe": PreTokenizer((r"\p{N}+", r"(?=(\d{3})+(?!\d))")),
    "kimi-k2": PreTokenizer(KNOWN_ENCODINGS["kimi_k2"].split_patterns),
    "granite-embed-multi-97m": PreTokenizer((_O200K,), ignore_merges=True),
    "default": PreTokenizer((r"[\p{P}\$\+<=>\^~\|]+", _GPT2, r"\p{N}+", "[0-9][0-9][0-9]")),
}
"""The names that the writer uses, one for each way of splitting, with what they mean."""

ALIASES: dict[str, str] = {
    **dict.fromkeys(("llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2"), "llama-bpe"),
    **dict.fromkeys(("jina-v5-nano",), "llama-bpe"),
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
    **dict.fromkeys(("cohere2moe",), "tiny_aya"),
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
