"""A sample of a corpus that is read once: texts from all of it, evenly, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain

import numpy as np

from hf_bpe.columns import Column
from hf_bpe.text_batches import Batch, LongText, Texts

_TEXTS = 2_000
_CHARACTERS = 2_000_000
_LONGEST = 20_000


class Sample:
    """Every n-th text of the batches that pass; n doubles when the sample has grown to twice its size.

    A long text is cut. The same corpus gives the same sample, whatever its batches are.

    Args:
        texts: About how many texts to keep.

    Example:
        >>> sample = Sample()
        >>> for batch in sample.watch(corpus.batches): ...
        >>> sample.texts
        ['the first text', ...]
    """

    def __init__(self, texts: int = _TEXTS) -> None:
        self._limit = texts
        self._kept: list[str] = []
        self._size = 0
        self._every = 1
        self._seen = 0

    @property
    def texts(self) -> list[str]:
        """The texts, in the order of the corpus."""
        return list(self._kept)

    def watch(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        """Yield the batches as they are, and keep some of their texts."""
        for batch in batches:
            if isinstance(batch, Texts):
                self._look(len(batch.texts), batch.texts.__getitem__)
            elif isinstance(batch, LongText):
                first = next(batch.parts, "")
                self._look(1, partial(_same, first))
                batch = LongText(chain([first], batch.parts))
            else:
                # A character has four bytes at most.
                self._look(batch.length, _Rows(batch, most=4 * _LONGEST).text)
            yield batch

    def _look(self, count: int, text_at: Callable[[int], str]) -> None:
        """Keep those of `count` texts whose place in the corpus is a multiple of the step."""
        index = -self._seen % self._every
        while index < count:
            text = text_at(index)[:_LONGEST]
            self._kept.append(text)
            self._size += len(text)
            self._thin()
            index += 1
            index += -(self._seen + index) % self._every
        self._seen += count

    def _thin(self) -> None:
        while len(self._kept) > 1 and (len(self._kept) >= 2 * self._limit or self._size > _CHARACTERS):
            self._kept = self._kept[::2]
            self._size = sum(map(len, self._kept))
            self._every *= 2


def _same(text: str, index: int) -> str:
    return text


class _Rows:
    """The rows of a column as texts; a null one is empty."""

    def __init__(self, column: Column, *, most: int | None = None) -> None:
        self._column = column
        self._most = most
        self._ends = np.frombuffer(column.offsets, np.int64 if column.large else np.int32)

    def text(self, index: int) -> str:
        """Return a row; where it is cut, half a character is left out."""
        column, bit = self._column, self._column.first_bit + index
        if column.validity is not None and not column.validity[bit // 8] >> bit % 8 & 1:
            return ""
        start, end = (int(self._ends[at]) - column.data_start for at in (index, index + 1))
        if self._most is not None:
            end = min(end, start + self._most)
        return bytes(column.data[start:end]).decode("utf-8", "ignore")


def texts_of(batches: Iterable[Batch]) -> Iterator[str]:
    """Yield the texts of batches, one by one."""
    for batch in batches:
        if isinstance(batch, Texts):
            yield from batch.texts
        elif isinstance(batch, LongText):
            yield "".join(batch.parts)
        else:
            yield from map(_Rows(batch).text, range(batch.length))
