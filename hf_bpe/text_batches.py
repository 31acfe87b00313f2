"""What readers hand to the native counter: batches of strings, Arrow columns of them, or one text in parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from hf_bpe.columns import Column


@dataclass(frozen=True)
class Texts:
    """A batch of strings.

    Attributes:
        texts: The strings.
        nulls: How many rows of the batch were None, and left out.
        bad: How many rows held no text, and were left out.
        first_bad: Where some of these are, from the first on, and what is wrong with them.
    """

    texts: list[str]
    nulls: int = 0
    bad: int = 0
    first_bad: tuple[str, ...] = ()

    def __len__(self) -> int:
        """The number of texts."""
        return len(self.texts)


@dataclass(frozen=True)
class LongText:
    """A batch of one text that is too long to be held.

    Attributes:
        parts: Its parts in order, to be read once, and before the next batch is.
    """

    parts: Iterator[str]

    def __len__(self) -> int:
        """The number of texts."""
        return 1


Batch: TypeAlias = Texts | Column | LongText
