"""Columns of texts in Parquet and Arrow files.

A file without the column, or with another type of it, is an error, and so is one that is damaged. A string in it that
isn't UTF-8 is a bad row, as a line is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hf_bpe.documents.rows import Row, Rows, decoded
from hf_bpe.errors import CorpusError

if TYPE_CHECKING:
    import pyarrow as pa


def arrow_rows(path: Path, kind: str, column: str, first: int) -> Iterator[Rows]:
    """Yield the rows of a column from row `first` on, part by part."""
    size = path.stat().st_size
    for start, total, texts in arrow_columns(path, kind, column, first):
        rows = texts if isinstance(texts, list) else texts.to_pylist()
        if start + len(rows) > first:
            skipped = max(0, first - start)
            yield start + skipped, rows[skipped:], size * (start + len(rows)) // max(total, start + len(rows))


def arrow_columns(
    path: Path, kind: str, column: str, first: int = 0
) -> Iterator[tuple[int, int, pa.Array | list[Row]]]:
    """Yield a column of texts, part by part: the number of the first row, the rows of the file, the texts.

    A part that holds bad rows comes as a list.

    Raises:
        CorpusError: The file is damaged, or the column holds no texts.
    """
    import pyarrow as pa

    try:
        for start, total, batch in _arrow_batches(path, kind, column, first):
            texts = batch.column(0)
            if not (pa.types.is_null(texts.type) or _holds_strings(texts.type)):
                raise CorpusError(f"{path}: column {column!r} holds {texts.type}, not texts.")
            yield start, total, _checked(texts, path, start)
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
        raise CorpusError(f"{path}: can't be read as {kind.capitalize()}: {error}") from None


def _checked(texts: pa.Array, path: Path, start: int) -> pa.Array | list[Row]:
    """Return texts as they are, or as rows where some aren't UTF-8.

    Raises:
        pyarrow.ArrowInvalid: They are damaged in another way.
    """
    import pyarrow as pa

    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        if pa.types.is_null(texts.type):
            raise
        found = _as_bytes(texts)
        found.validate(full=True)
        rows = enumerate(found.to_pylist(), start=start + 1)
        return [None if data is None else decoded(data, f"{path}, row {number:,}") for number, data in rows]
    return texts


def _as_bytes(texts: pa.Array) -> pa.Array:
    """Return strings as bytes, in the same layout."""
    import pyarrow as pa

    if pa.types.is_dictionary(texts.type):
        return pa.DictionaryArray.from_arrays(texts.indices, _as_bytes(texts.dictionary))
    if pa.types.is_string_view(texts.type):
        return texts.view(pa.binary_view())
    return texts.view(pa.large_binary() if pa.types.is_large_string(texts.type) else pa.binary())


def _holds_strings(kind: Any) -> bool:
    import pyarrow as pa

    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(value) or pa.types.is_large_string(value) or pa.types.is_string_view(value))


def _arrow_batches(path: Path, kind: str, column: str, first: int) -> Iterator[tuple[int, int, Any]]:
    """Yield batches of one column: the number of the first row, the rows of the file, the batch."""
    import pyarrow as pa

    if kind == "parquet":
        import pyarrow.parquet as pq

        with pq.ParquetFile(path) as file:
            _check_column(path, column, file.schema_arrow.names)
            row, total = 0, file.metadata.num_rows
            for group in range(file.num_row_groups):
                rows = file.metadata.row_group(group).num_rows
                if row + rows > first:
                    start = row
                    for batch in file.iter_batches(1024, row_groups=[group], columns=[column]):
                        yield start, total, batch
                        start += len(batch)
                row += rows
        return
    with pa.memory_map(str(path)) as source:
        try:
            reader = pa.ipc.open_file(source)
            batches = (reader.get_batch(number) for number in range(reader.num_record_batches))
        except pa.ArrowInvalid:
            reader = pa.ipc.open_stream(source)  # what the datasets library writes
            batches = iter(reader)
        _check_column(path, column, reader.schema.names)
        row = 0
        for batch in batches:
            yield row, 0, batch.select([column])
            row += len(batch)


def parquet_groups(path: Path, column: str) -> list[tuple[int, int]]:
    """Return the number of rows and of bytes of each row group of a Parquet file.

    Raises:
        CorpusError: The file is damaged, or has no such column.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            _check_column(path, column, file.schema_arrow.names)
            groups = map(file.metadata.row_group, range(file.num_row_groups))
            return [(group.num_rows, group.total_byte_size) for group in groups]
    except (pa.ArrowException, OSError) as error:
        raise CorpusError(f"{path}: can't be read as Parquet: {error}") from None


def _check_column(path: Path, column: str, names: Sequence[str]) -> None:
    if column not in names:
        if list(names) == ["pretoken", "count"]:
            raise CorpusError(
                f"{path} holds counts, not texts: train(PretokenCounts.load(...)) and --from-counts train from them."
            )
        raise CorpusError(f"{path} has no column {column!r}; choose a text_column among {', '.join(map(repr, names))}.")
