"""Datasets of the `datasets` library as a corpus, in memory or as streams: as Arrow data where they are such."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from hf_bpe.bookmarks import Bookmark, Json, state_of, stream_bookmark
from hf_bpe.corpus.arrow import batches_of_tables, check_column
from hf_bpe.corpus.iterables import batches_of_texts
from hf_bpe.corpus.sizes import is_full
from hf_bpe.corpus.value import Corpus
from hf_bpe.text_batches import Batch

_BATCH_ROWS = 1000
"""How many rows to ask of a dataset at a time, as its rows may be whole documents."""


def open_dataset(source: Any, text_column: str) -> Corpus | None:
    if isinstance(source, Mapping) and all(_is_dataset(split) for split in source.values()) and source:
        splits = ", ".join(repr(split) for split in source)
        raise TypeError(f"a {type(source).__name__} holds several datasets; choose one of its splits: {splits}")
    if not _is_dataset(source):
        return None
    if source.column_names is not None:
        check_column(text_column, source.column_names)
        source = source.select_columns([text_column])  # other columns may be images to decode
    if isinstance(source, sys.modules["datasets"].Dataset):
        bookmark = Bookmark(lambda: {"kind": "dataset", "rows": len(source), "text_column": text_column})
        bookmark.batches_from = partial(_batches_from_row, source, text_column, bookmark)
        return Corpus(_batches_of_rows(source, text_column, bookmark), _size_of(source), bookmark)
    stream = source.with_format(None if _makes_rows(source) else "arrow")
    bookmark = stream_bookmark(stream, text_column)
    if not bookmark.hashed:
        bookmark.batches_from = partial(_batches_of_stream, stream, text_column, bookmark)
    return Corpus(_batches_of_stream(stream, text_column, bookmark), None, bookmark)


def _batches_from_row(dataset: Any, text_column: str, bookmark: Bookmark, place: Json) -> Iterator[Batch] | None:
    """Read a dataset from a place that one of the same fingerprint had; None where it is another one."""
    if place["fingerprint"] != _fingerprint_of(dataset):
        return None
    if place["row"] == len(dataset):
        return iter(())  # which can't be selected
    return _batches_of_rows(dataset, text_column, bookmark, place["row"])


def _batches_of_rows(dataset: Any, text_column: str, bookmark: Bookmark, first: int = 0) -> Iterator[Batch]:
    rows, fingerprint = len(dataset), _fingerprint_of(dataset)
    tables = (dataset.select(range(first, rows)) if first else dataset).with_format("arrow").iter(_BATCH_ROWS)
    ends = range(first + _BATCH_ROWS, rows + _BATCH_ROWS, _BATCH_ROWS)
    return bookmark.over(
        (batches_of_tables([table], text_column), {"row": min(end, rows), "fingerprint": fingerprint}.copy)
        for table, end in zip(tables, ends, strict=True)
    )


def _fingerprint_of(dataset: Any) -> str:
    return str(dataset._fingerprint)


def _batches_of_stream(stream: Any, text_column: str, bookmark: Bookmark, state: Json = None) -> Iterator[Batch]:
    if state is not None:
        stream.load_state_dict(state)
    found = stream.iter(_BATCH_ROWS)
    parts: Iterable[Iterator[Batch]]
    if _makes_rows(stream):
        parts = map(batches_of_texts, _gathered(_column_of(rows, text_column) for rows in found))
    else:
        parts = (batches_of_tables([table], text_column) for table in found)
    return bookmark.over((part, partial(state_of, stream)) for part in parts)


def _gathered(columns: Iterable[list[Any]]) -> Iterator[list[Any]]:
    """Put lists of texts together to such that are worth a batch."""
    texts: list[Any] = []
    chars = 0
    for column in columns:
        texts += column
        chars += sum(len(text) for text in column if text is not None)
        if is_full(chars, len(texts)):
            yield texts
            texts, chars = [], 0
    if texts:
        yield texts


def _is_dataset(source: object) -> bool:
    """Whether this is a dataset; one can only be when its library was imported, which is slow."""
    datasets = sys.modules.get("datasets")
    return datasets is not None and isinstance(source, datasets.Dataset | datasets.IterableDataset)


def _makes_rows(dataset: Any) -> bool:
    """Whether a stream makes Python rows anyway, by a generator for instance.

    As Arrow it would make a table of each row, which is slow, and guess the type from that row, so that text and
    null would not fit together.
    """
    examples = getattr(dataset, "_ex_iterable", None)
    return examples is not None and getattr(examples, "iter_arrow", True) is None


def _column_of(batch: Mapping[str, list[object]], text_column: str) -> list[object]:
    check_column(text_column, list(batch))
    texts = batch[text_column]
    for text in texts:
        if text is not None and not isinstance(text, str):
            raise TypeError(f"the column holds {type(text).__name__}; training reads strings")
    return texts


def _size_of(dataset: Any) -> int | None:
    """About how many bytes of text a dataset has: known for one that lies in an Arrow table as it is."""
    table = getattr(dataset, "data", None)
    if table is None or getattr(dataset, "_indices", None) is not None:
        return None
    return int(table.nbytes)
