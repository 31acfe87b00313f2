"""What a corpus is when it is open: batches to be read once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hf_bpe.bookmarks import Bookmark
from hf_bpe.text_batches import Batch

Source: TypeAlias = Any
"""A str, an iterable of str or of lists of str, a path, a `datasets` dataset, an Arrow table or column."""

ACCEPTED = (
    "a str, an iterable of str or of lists of str, a pathlib.Path, a datasets.Dataset or IterableDataset, "
    "a pyarrow Table, RecordBatch, RecordBatchReader, ChunkedArray or Array, or files=[...]"
)
"""What a source may be, for messages."""


@dataclass(frozen=True)
class Corpus:
    """A source, ready to be read once.

    Attributes:
        batches: The texts, in order.
        total_bytes: How many bytes of text there are, where that is known beforehand.
        bookmark: Where reading stands, and how the next reader finds that place.
        is_part: Whether it is a part of a source, in which there may be nothing but bad rows.
    """

    batches: Iterator[Batch]
    total_bytes: int | None = None
    bookmark: Bookmark = field(default_factory=Bookmark)
    is_part: bool = False
