"""What readers hand to the native counter: batches of strings, or Arrow columns of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from hf_bpe.columns import Column


@dataclass(frozen=True)
class Texts:
    """A batch of strings.

    Attributes:
        texts: The strings.
        nulls: How many rows of the batch were None, and left out.
        bad: How many rows held no text, and were left out as asked.
    """

    texts: list[str]
    nulls: int = 0
    bad: int = 0


Batch: TypeAlias = Texts | Column
