"""What a corpus may be, and how it becomes batches that the native counter reads.

Strings come as lists of `str`. Arrow data, `datasets` and files come as Arrow columns, whose buffers the counter
reads where they are: no Python object is made for a row. Every source is read once, from front to end, and no
more than a batch of it is held; a long line of a text file comes in parts.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from hf_bpe import columns
from hf_bpe.bookmarks import Bookmark, Json, state_of, stream_bookmark
from hf_bpe.documents import (
    BEGINNING,
    LONG_BYTES,
    TOLD_BAD_ROWS,
    BadRow,
    Documents,
    Part,
    Position,
    Row,
    columns_of_part,
    kind_of,
    open_documents,
)
from hf_bpe.telling import warn
from hf_bpe.text_batches import Batch, LongText, Texts

if TYPE_CHECKING:
    import pyarrow as pa

Source: TypeAlias = Any
"""A str, an iterable of str or of lists of str, a path, a `datasets` dataset, an Arrow table or column."""

_BATCH_BYTES = 4 << 20
"""How much text a batch holds: enough to keep threads busy, little enough to stop between two."""

_BATCH_ROWS = 1000
"""How many rows to ask of a dataset at a time, as its rows may be whole documents."""

_ACCEPTED = (
    "a str, an iterable of str or of lists of str, a pathlib.Path, a datasets.Dataset or IterableDataset, "
    "a pyarrow Table, RecordBatch, RecordBatchReader, ChunkedArray or Array, or files=[...]"
)


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


def open_corpus(
    source: Source = None,
    *,
    files: Sequence[str | Path] | None = None,
    text_column: str = "text",
    skip_bad_rows: bool = False,
) -> Corpus:
    """Return `source`, or the files `files`, as batches.

    A str is one text, never a path. A text file is read as the stock trainer reads it: each line, with its
    `\\n`, is a text; `\\r` and a byte order mark stay where they are. Of JSON lines, Parquet and Arrow, each row is a
    text. Rows that are null are skipped.

    Args:
        source: The texts: see the message of the TypeError below for what is accepted.
        files: Paths, directories or globs, instead of `source`, of text, JSON lines, Parquet and Arrow.
        text_column: The column to read of tables and datasets.
        skip_bad_rows: Whether rows of files that hold no text are left out and counted, not an error.

    Raises:
        TypeError: `source` is none of the accepted types, or neither or both of `source` and `files` are given.
        ValueError: There is no column `text_column`.
        CorpusError: A file can't be read, or a row of it holds no text.
        FileNotFoundError: A file doesn't exist.
    """
    if (source is None) == (files is None):
        raise TypeError(f"give either a source or files=[...]; a source is {_ACCEPTED}")
    if files is not None:
        return _open_files(files, text_column, skip_bad_rows)
    if isinstance(source, Corpus):
        return source
    if isinstance(source, str):
        if os.path.isfile(source):
            warn(
                f"the text {source!r} is trained on, not the file of that name; for the file, pass a pathlib.Path or "
                f"files=[{source!r}]"
            )
        return Corpus(iter([Texts([source])]), len(source))
    if isinstance(source, Path):
        return _open_files([source], text_column, skip_bad_rows)
    return _open_dataset(source, text_column) or _open_arrow(source, text_column) or _open_iterable(source)


# Iterables


def _open_iterable(source: object) -> Corpus:
    if isinstance(source, Mapping) and all(_is_dataset(split) for split in source.values()) and source:
        splits = ", ".join(repr(split) for split in source)
        raise TypeError(f"a {type(source).__name__} holds several datasets; choose one of its splits: {splits}")
    if hasattr(source, "columns") and not isinstance(source, type):
        raise TypeError(f"a {type(source).__name__} has columns; pass one of them, such as table['text']")
    if isinstance(source, bytes | bytearray | memoryview | Mapping) or not isinstance(source, Iterable):
        raise TypeError(f"a source is {_ACCEPTED}; got {type(source).__name__}")
    return corpus_of_rows(_flatten(source))


def corpus_of_rows(rows: Iterable[Row]) -> Corpus:
    """Return texts as a corpus, in which nulls and bad rows are counted, and left out."""
    return Corpus(_batches_of_texts(rows))


def _batches_of_texts(rows: Iterable[Row]) -> Iterator[Batch]:
    texts: list[str] = []
    told: list[str] = []
    chars = nulls = bad = 0
    for row in rows:
        if isinstance(row, str):
            texts.append(row)
            chars += len(row)
        elif row is None:
            nulls += 1
        else:
            bad += 1
            told += [row.told] if len(told) < TOLD_BAD_ROWS else []
        if chars >= _BATCH_BYTES or max(len(texts), bad) >= _BATCH_BYTES // 100:
            yield Texts(texts, nulls, bad, tuple(told))
            texts, told, chars, nulls, bad = [], [], 0, 0, 0
    if texts or nulls or bad:
        yield Texts(texts, nulls, bad, tuple(told))


def _flatten(source: Iterable[object]) -> Iterator[str | None]:
    for index, item in enumerate(source):
        if item is None or isinstance(item, str):
            yield item
        elif isinstance(item, list | tuple):
            for inner, text in enumerate(item):
                if text is not None and not isinstance(text, str):
                    raise TypeError(f"item {index} of the source is a list whose item {inner} is {_described(text)}")
                yield text
        else:
            raise TypeError(f"item {index} of the source is {_described(item)}")


def _described(item: object) -> str:
    hint = ""
    if isinstance(item, Mapping):
        hint = f"; take the text out of each row, one of {', '.join(repr(key) for key in item)}"
    elif isinstance(item, Path):
        hint = "; pass paths as files=[...]"
    return f"a {type(item).__name__}, not a str or a list of str{hint}"


# Files


def _open_files(files: Sequence[str | Path], text_column: str, skip_bad_rows: bool) -> Corpus:
    if isinstance(files, str | Path):
        raise TypeError(f"files is a list of paths, got {files!r}; write files=[{files!r}]")
    for file in files:
        if not os.path.exists(file) and not has_magic(str(file)):
            raise FileNotFoundError(f"there is no file {str(file)!r}")
    if not files:
        return Corpus(iter(()), 0)
    documents = open_documents(files, text_column=text_column, skip_bad_rows=skip_bad_rows)
    as_they_are = all(kind_of(path) == "text" for path in documents.files)
    bookmark = Bookmark(partial(_identity_of_files, documents), hashed=False)
    read = partial(_batches_of_documents, documents, bookmark)
    bookmark.batches_from = lambda place: read(Position(**place))
    return Corpus(read(BEGINNING), documents.total_bytes if as_they_are else None, bookmark)


def open_part(documents: Documents, part: Part) -> Corpus:
    """Return a part of files as batches, as `open_corpus` does whole files.

    Bad rows that are left out are named by the byte where the part begins.
    """
    columns = columns_of_part(documents, part, long_bytes=LONG_BYTES, names_by_byte=documents.skip_bad_rows)
    return Corpus((batch for found in columns for batch in _batches_of(documents, found)), is_part=True)


def _identity_of_files(documents: Documents) -> dict[str, Json]:
    found = [(path, path.stat()) for path in documents.files]
    return {
        "kind": "files",
        "files": [[str(path.resolve()), about.st_size, about.st_mtime_ns] for path, about in found],
        "text_column": documents.text_column,
        "skip_bad_rows": documents.skip_bad_rows,
    }


def _batches_of_documents(documents: Documents, bookmark: Bookmark, start: Position) -> Iterator[Batch]:
    columns = documents.columns(start, long_bytes=LONG_BYTES)
    parts = ((_batches_of(documents, found), end._asdict) for found, end in columns)
    return bookmark.over(parts)


def _batches_of(documents: Documents, found: Any) -> Iterator[Batch]:
    if isinstance(found, list):
        bad = [documents.check(row) for row in found if isinstance(row, BadRow)]
        told = tuple(row.told for row in bad[:TOLD_BAD_ROWS])
        yield Texts([row for row in found if isinstance(row, str)], found.count(None), len(bad), told)
    elif isinstance(found, LongText):
        yield found
    else:
        yield from _batches_of_array(found)


# Arrow


def _open_arrow(source: object, text_column: str) -> Corpus | None:
    pa = sys.modules.get("pyarrow")
    if pa is None:
        return None
    if isinstance(source, pa.Array):
        source = pa.chunked_array([source])
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if isinstance(source, pa.Table):
        source = _column(source, text_column)
    if isinstance(source, pa.ChunkedArray):
        return Corpus(_batches_of_chunks(source), source.nbytes)
    if isinstance(source, pa.RecordBatchReader):
        _check_column(text_column, source.schema.names)
        tables = (pa.Table.from_batches([batch]) for batch in source)
        return Corpus(_batches_of_tables(tables, text_column))
    return None


def _batches_of_tables(tables: Iterable[pa.Table], text_column: str) -> Iterator[Batch]:
    for table in tables:
        yield from _batches_of_chunks(_column(table, text_column))


def _column(table: pa.Table, text_column: str) -> pa.ChunkedArray:
    _check_column(text_column, table.column_names)
    return table.column(text_column)


def _check_column(text_column: str, names: Sequence[str]) -> None:
    if text_column not in names:
        columns = ", ".join(repr(name) for name in names)
        raise ValueError(f"there is no column {text_column!r}; choose a text_column among {columns}")


def _batches_of_chunks(column: pa.ChunkedArray) -> Iterator[Batch]:
    for chunk in column.chunks:
        yield from _batches_of_array(chunk)


def _batches_of_array(array: pa.Array) -> Iterator[Batch]:
    import pyarrow as pa

    if pa.types.is_null(array.type) or (pa.types.is_dictionary(array.type) and pa.types.is_null(array.type.value_type)):
        yield Texts([], nulls=len(array))
        return
    strings = columns.with_plain_strings(array)
    if strings is None:
        raise TypeError(f"the column holds {array.type}; training reads strings")
    ends = columns.ends_of(strings)
    for start, end in _cuts(ends):
        yield columns.column_of(strings, ends, start, end)


def _cuts(offsets: np.ndarray[Any, np.dtype[Any]]) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows of about `_BATCH_BYTES` each, at least one row."""
    start, rows = 0, len(offsets) - 1
    while start < rows:
        end = int(np.searchsorted(offsets, int(offsets[start]) + _BATCH_BYTES, side="right")) - 1
        end = min(max(end, start + 1), rows)
        yield start, end
        start = end


# Datasets


def _open_dataset(source: Any, text_column: str) -> Corpus | None:
    if not _is_dataset(source):
        return None
    if source.column_names is not None:
        _check_column(text_column, source.column_names)
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
        (_batches_of_tables([table], text_column), {"row": min(end, rows), "fingerprint": fingerprint}.copy)
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
        parts = map(_batches_of_texts, _gathered(_column_of(rows, text_column) for rows in found))
    else:
        parts = (_batches_of_tables([table], text_column) for table in found)
    return bookmark.over((part, partial(state_of, stream)) for part in parts)


def _gathered(columns: Iterable[list[Any]]) -> Iterator[list[Any]]:
    """Put lists of texts together to such that are worth a batch."""
    texts: list[Any] = []
    chars = 0
    for column in columns:
        texts += column
        chars += sum(len(text) for text in column if text is not None)
        if chars >= _BATCH_BYTES or len(texts) >= _BATCH_BYTES // 100:
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
    _check_column(text_column, list(batch))
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
