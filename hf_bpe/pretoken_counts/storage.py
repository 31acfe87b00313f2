"""Counts in a Parquet file, whole or not at all, and read with every check there is.

Column `pretoken` has the bytes in ascending order, column `count` how often each was seen. All else stands as JSON in
the metadata of the schema. Pages have checksums, the metadata has one of its own, and the sums have to come out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hf_bpe._native import SortedCounts, SortedCountsBuilder
from hf_bpe.errors import CountsError
from hf_bpe.limits import CountingLimits
from hf_bpe.whole_files import replaced

if TYPE_CHECKING:
    import pyarrow as pa

_FORMAT = 1
_DETAILS, _CHECKSUM = b"hf_bpe.pretoken_counts", b"hf_bpe.pretoken_counts.sha256"
_ROWS = 1 << 16


def write(path: Path, counts: SortedCounts, details: Mapping[str, Any]) -> None:
    """Write counts, under another name until the file is whole and on disk.

    Raises:
        OSError: The file can't be written; what was there before is as it was.
        ValueError: It is a directory, a pipe or a device.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} is a directory or a device; counts are written to a file")
    with replaced(path) as file:
        write_to(file, counts, details)


def write_to(file: Any, counts: SortedCounts, details: Mapping[str, Any]) -> None:
    """Write counts to an open file, or to a buffer of Arrow."""
    import pyarrow.parquet as pq

    schema = _schema(dict(details) | {"format": _FORMAT, "distinct": len(counts), "total": counts.total})
    with pq.ParquetWriter(
        file,
        schema,
        compression="zstd",
        use_dictionary=False,
        column_encoding={"pretoken": "DELTA_BYTE_ARRAY", "count": "PLAIN"},
        write_page_checksum=True,
    ) as writer:
        for chunk in counts.chunks():
            writer.write_batch(_batch(schema, *chunk))


def read(path: Path, limits: CountingLimits) -> tuple[SortedCounts, dict[str, Any]]:
    """Return counts and what else the file says.

    Raises:
        CountsError: The file is damaged, or holds no counts.
        OSError: There is no such file.
    """
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {str(path)!r}")
    return read_from(path, path, limits)


def details_of(path: Path) -> dict[str, Any]:
    """Return what a file says beside its counts, which stay unread.

    Raises:
        CountsError: The file is damaged where it says it, or holds no counts.
    """
    with closing(_chunks(path, path)) as chunks:
        details, _ = next(chunks)
    return details


def read_from(source: Any, path: Path, limits: CountingLimits) -> tuple[SortedCounts, dict[str, Any]]:
    """Return what `read` does of a path or a buffer of Arrow, which messages call `path`."""
    builder = SortedCountsBuilder(**limits.memory_arguments())
    chunks = _chunks(source, path)
    details, _ = next(chunks)
    for _, chunk in chunks:
        try:
            builder.push(*chunk)
        except ValueError as error:  # an OSError is of the temporary file, and not of this one
            raise _damaged(path, error) from None
    counts = builder.finish()
    found = {"distinct": len(counts), "total": counts.total}
    for name, value in found.items():
        if details.get(name) != value:
            raise CountsError(f"{path} is damaged: it has {name}={value}, and says {details.get(name)}.")
    return counts, details


def _chunks(source: Any, path: Path) -> Generator[tuple[dict[str, Any], tuple[bytes, bytes, bytes]], None, None]:
    """Yield the rows of a file part by part, no rows at first, each with what the file says beside them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(source, page_checksum_verification=True) as file:
            details = _details(path, file.schema_arrow)
            if file.schema_arrow.names != ["pretoken", "count"]:
                raise CountsError(
                    f"{path} is damaged: its columns are {', '.join(map(repr, file.schema_arrow.names))}."
                )
            yield details, (b"", bytes(8), b"")
            for batch in file.iter_batches(_ROWS, columns=["pretoken", "count"]):
                yield details, _chunk(batch)
    except CountsError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise _damaged(path, error) from None


def _damaged(path: Path, error: Exception) -> CountsError:
    return CountsError(f"{path} is damaged, or no file of counts: {error}")


def _schema(details: dict[str, Any]) -> pa.Schema:
    import pyarrow as pa

    text = json.dumps(details).encode("ascii")  # the name of a file may hold what is no UTF-8
    metadata = {_DETAILS: text, _CHECKSUM: hashlib.sha256(text).hexdigest().encode()}
    fields = [pa.field("pretoken", pa.large_binary(), nullable=False), pa.field("count", pa.uint64(), nullable=False)]
    return pa.schema(fields, metadata=metadata)


def _details(path: Path, schema: pa.Schema) -> dict[str, Any]:
    metadata = schema.metadata or {}
    text = metadata.get(_DETAILS)
    if text is None:
        raise CountsError(f"{path} holds no counts of hf_bpe; PretokenCounts.save writes such files.")
    if hashlib.sha256(text).hexdigest().encode() != metadata.get(_CHECKSUM):
        raise CountsError(f"{path} is damaged: its settings don't have the checksum that was written with them.")
    try:
        details = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CountsError(f"{path} is damaged: its settings are no JSON: {error}") from None
    if not isinstance(details, dict):
        raise CountsError(f"{path} is damaged: its settings are no JSON object, but {type(details).__name__}.")
    if details.get("format") != _FORMAT:
        raise CountsError(f"{path} has format {details.get('format')!r}; this version of hf_bpe reads {_FORMAT}.")
    return details


def _batch(schema: pa.Schema, data: bytes, offsets: bytes, counts: bytes) -> pa.RecordBatch:
    import pyarrow as pa

    rows = len(counts) // 8
    texts = pa.LargeBinaryArray.from_buffers(pa.large_binary(), rows, [None, pa.py_buffer(offsets), pa.py_buffer(data)])
    numbers = pa.UInt64Array.from_buffers(pa.uint64(), rows, [None, pa.py_buffer(counts)])
    return pa.RecordBatch.from_arrays([texts, numbers], schema=schema)


def _chunk(batch: pa.RecordBatch) -> tuple[bytes, bytes, bytes]:
    import pyarrow as pa

    texts, numbers = batch.column(0), batch.column(1)
    if texts.null_count or numbers.null_count or numbers.type != pa.uint64():
        raise ValueError("a pretoken or a count is missing, or is no unsigned number of 64 bits")
    texts = texts.cast(pa.large_binary())
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, np.int64)[texts.offset :][: len(texts) + 1]
    text = memoryview(data or b"")[int(ends[0]) : int(ends[-1])]
    return bytes(text), (ends - ends[0]).tobytes(), numbers.to_numpy(zero_copy_only=False).tobytes()
