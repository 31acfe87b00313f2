"""What each chat format needs of a vocabulary: its tokens, which of them end a turn, which is BOS, EOS, padding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from tokenizers import AddedToken

from hf_bpe.chat import templates


@dataclass(frozen=True)
class Family:
    """A chat format.

    Attributes:
        special_tokens: The tokens that the template writes around what people say.
        plain_tokens: Those that it writes among what they say: added tokens that aren't special, so that decoding shows
            them.
        bos_token: What the template writes for BOS, where the tokenizer has no BOS of its own.
        eos_token: What ends a turn.
        pad_token: What fills a batch, where the vocabulary has it and the tokenizer no padding.
        stop_tokens: All that may end what a model generates, where the vocabulary has them.
        published_ids: Where the family's own vocabularies have tokens that older ones hold in reserve.
    """

    special_tokens: tuple[str, ...]
    eos_token: str
    plain_tokens: tuple[str, ...] = ()
    bos_token: str | None = None
    pad_token: str | None = None
    stop_tokens: tuple[str, ...] = ()
    published_ids: Mapping[str, int] = field(default_factory=dict)

    def tokens(self, *, has_bos: bool) -> Iterator[AddedToken]:
        """Give the tokens that a vocabulary needs, in the order in which missing ones are added.

        Args:
            has_bos: Whether the tokenizer has a BOS, which then is the template's.
        """
        bos = [] if has_bos or self.bos_token is None else [self.bos_token]
        for content in (*bos, *self.special_tokens):
            yield AddedToken(content, special=True, normalized=False)
        for content in self.plain_tokens:
            yield AddedToken(content, special=False, normalized=False)


_HEADERS = ("<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>")
_CALLS = ("<tool_call>", "</tool_call>")
_LLAMA3 = Family(
    special_tokens=_HEADERS,
    bos_token="<|begin_of_text|>",
    eos_token="<|eot_id|>",
    stop_tokens=("<|eot_id|>", "<|end_of_text|>"),
)
_LLAMA3_1 = Family(
    special_tokens=(*_HEADERS, "<|eom_id|>", "<|python_tag|>"),
    bos_token="<|begin_of_text|>",
    eos_token="<|eot_id|>",
    pad_token="<|finetune_right_pad_id|>",
    stop_tokens=("<|eot_id|>", "<|eom_id|>", "<|end_of_text|>"),
    published_ids={"<|eom_id|>": 128008, "<|python_tag|>": 128010},
)
_LLAMA3_2 = replace(_LLAMA3_1, special_tokens=_HEADERS)
_CHATML = Family(
    special_tokens=("<|im_start|>", "<|im_end|>"),
    eos_token="<|im_end|>",
    stop_tokens=("<|im_end|>",),
)
_QWEN2_5 = replace(_CHATML, plain_tokens=_CALLS, pad_token="<|endoftext|>", stop_tokens=("<|im_end|>", "<|endoftext|>"))
_QWEN3 = replace(_QWEN2_5, plain_tokens=(*_CALLS, "<tool_response>", "</tool_response>", "<think>", "</think>"))
_FAMILIES = {
    "chatml": _CHATML,
    "llama3": _LLAMA3,
    "llama3.1": _LLAMA3_1,
    "llama3.2": _LLAMA3_2,
    "llama3.3": _LLAMA3_1,
    "qwen2.5": _QWEN2_5,
    "qwen3": _QWEN3,
}


def family(name: str) -> Family:
    """Return the format that a template of ours belongs to.

    Raises:
        ValueError: There is no such template.

    Example:
        >>> family("chatml").eos_token
        '<|im_end|>'
    """
    templates.check_name(name)
    return _FAMILIES[name]
