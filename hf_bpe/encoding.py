"""Encodings that are made when somebody looks at them.

Most calls want ids and a mask; offsets, words and tokens cost several times as much. `BatchEncoding` asks only for a
sequence whose items have the attributes of `tokenizers.Encoding`, so `LazyEncodings` remembers the texts and encodes
one fully when its item is taken. It pickles as the plain list of encodings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

from hf_bpe._native import Encoding, Tokenizer

Truncation = tuple[int, int, Literal["longest_first", "only_first", "only_second"], Literal["right", "left"]]


@dataclass(frozen=True, slots=True)
class Padding:
    """What fills an encoding up to `length`."""

    length: int
    pad_id: int
    pad_type_id: int
    pad_token: str
    side: Literal["right", "left"]

    def apply(self, encoding: Encoding) -> Encoding:
        """Return `encoding` filled up to the length; a longer one comes back as it is."""
        return encoding.pad(
            self.length, pad_id=self.pad_id, pad_type_id=self.pad_type_id, pad_token=self.pad_token, side=self.side
        )


class LazyEncodings(Sequence[Encoding]):
    """The encodings of `texts` under the settings of one call, each computed when it is asked for."""

    __slots__ = ("_add_special_tokens", "_core", "_padding", "_split_special_tokens", "_texts", "_truncation")

    def __init__(
        self,
        core: Tokenizer,
        texts: Sequence[str],
        add_special_tokens: bool,
        split_special_tokens: bool,
        truncation: Truncation | None = None,
        padding: Padding | None = None,
    ) -> None:
        self._core = core
        self._texts = texts
        self._add_special_tokens = add_special_tokens
        self._split_special_tokens = split_special_tokens
        self._truncation = truncation
        self._padding = padding

    def __len__(self) -> int:
        return len(self._texts)

    @overload
    def __getitem__(self, index: int) -> Encoding: ...
    @overload
    def __getitem__(self, index: slice) -> list[Encoding]: ...
    def __getitem__(self, index: int | slice) -> Encoding | list[Encoding]:
        if isinstance(index, slice):
            return [self._encode(text) for text in self._texts[index]]
        return self._encode(self._texts[index])

    def _encode(self, text: str) -> Encoding:
        encoding = self._core.encode(
            text,
            add_special_tokens=self._add_special_tokens,
            split_special_tokens=self._split_special_tokens,
            truncation=self._truncation,
        )
        return encoding if self._padding is None else self._padding.apply(encoding)

    def __reduce__(self) -> tuple[Any, ...]:
        return (list, (list(self),))

    def __repr__(self) -> str:
        return f"LazyEncodings({len(self)} texts)"
