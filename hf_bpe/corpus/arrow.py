"""Arrow data as a corpus: the counter reads its buffers where they are."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from hf_bpe import columns
from hf_bpe.corpus.sizes import cuts
from hf_bpe.corpus.value import Corpus
from hf_bpe.text_batches import Batch, Texts

if TYPE_CHECKING:
    import pyarrow as pa


def open_arrow(source: object, text_column: str) -> Corpus | None:
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
        check_column(text_column, source.schema.names)
        tables = (pa.Table.from_batches([batch]) for batch in source)
        return Corpus(batches_of_tables(tables, text_column))
    return None


def batches_of_tables(tables: Iterable[pa.Table], text_column: str) -> Iterator[Batch]:
    for table in tables:
        yield from _batches_of_chunks(_column(table, text_column))


def _column(table: pa.Table, text_column: str) -> pa.ChunkedArray:
    check_column(text_column, table.column_names)
    return table.column(text_column)


def check_column(text_column: str, names: Sequence[str]) -> None:
    if text_column not in names:
        columns = ", ".join(repr(name) for name in names)
        raise ValueError(f"there is no column {text_column!r}; choose a text_column among {columns}")


def _batches_of_chunks(column: pa.ChunkedArray) -> Iterator[Batch]:
    for chunk in column.chunks:
        yield from batches_of_array(chunk)


def batches_of_array(array: pa.Array) -> Iterator[Batch]:
    import pyarrow as pa

    if pa.types.is_null(array.type) or (pa.types.is_dictionary(array.type) and pa.types.is_null(array.type.value_type)):
        yield Texts([], nulls=len(array))
        return
    strings = columns.with_plain_strings(array)
    if strings is None:
        raise TypeError(f"the column holds {array.type}; training reads strings")
    ends = columns.ends_of(strings)
    for start, end in cuts(ends):
        yield columns.column_of(strings, ends, start, end)
