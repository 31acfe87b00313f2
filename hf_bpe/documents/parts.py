"""Files in parts, each of which is read without the rest of its file: what several machines share among them.

Lines are cut behind a newline, Parquet between row groups; compressed files, Arrow files and whole files as documents
are one part each. The parts of some files, one after the other, hold the documents of the files, in order.

A line that is an error has the same name as in a file read from its beginning. One that is left out is named by the
byte where its part begins: its number in the file would take reading all that is before, for every part anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING

from hf_bpe.documents.finding import kind_of
from hf_bpe.documents.reading import Documents
from hf_bpe.documents.rows import BadRow, Row
from hf_bpe.documents.streams import BLOCK_BYTES, LongLine, Stretch, is_compressed
from hf_bpe.documents.tables import parquet_groups
from hf_bpe.text_batches import LongText

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Part:
    """A part of a file.

    Attributes:
        path: The file.
        start: Where it begins: a byte of lines, a row of Parquet.
        end: Where it ends; None for a file that can't be cut, which is one part.
    """

    path: Path
    start: int = 0
    end: int | None = None


def parts_of(documents: Documents, part_bytes: int) -> list[Part]:
    """Cut files into parts of about `part_bytes` bytes, or a line or row group that is longer.

    Raises:
        CorpusError: A Parquet file is damaged, or has no such column.
        ValueError: `part_bytes` is less than 1.
    """
    if part_bytes < 1:
        raise ValueError(f"part_bytes must be at least 1, got {part_bytes}.")
    return [part for path in documents.files for part in _parts_of_file(documents, path, part_bytes)]


def columns_of_part(
    documents: Documents, part: Part, *, long_bytes: int | None = None
) -> Iterator[pa.Array | list[Row] | LongText]:
    """Yield the documents of a part, as `Documents.columns` does those of all files.

    Args:
        documents: All files.
        part: The part.
        long_bytes: As there.

    Raises:
        CorpusError: As there.
    """
    if part.end is None:
        yield from (texts for texts, _ in replace(documents, files=(part.path,)).columns(long_bytes=long_bytes))
    elif kind_of(part.path) == "parquet":
        for start, _, texts in documents.arrow_columns(part.path, part.start):
            if start >= part.end:
                return
            yield texts
    else:
        yield from _columns_of_lines(documents, part, long_bytes)


def _parts_of_file(documents: Documents, path: Path, part_bytes: int) -> Iterator[Part]:
    kind = kind_of(path)
    if kind == "parquet":
        yield from _parts_of_parquet(documents, path, part_bytes)
    elif kind == "arrow" or (kind == "text" and documents.documents == "files") or is_compressed(path):
        yield Part(path)
    else:
        yield from _parts_of_lines(path, part_bytes)


def _parts_of_parquet(documents: Documents, path: Path, part_bytes: int) -> Iterator[Part]:
    start = row = size = 0
    for rows, group_bytes in parquet_groups(path, documents.text_column):
        row, size = row + rows, size + group_bytes
        if size >= part_bytes and row > start:
            yield Part(path, start, row)
            start, size = row, 0
    if row > start:
        yield Part(path, start, row)


def _parts_of_lines(path: Path, part_bytes: int) -> Iterator[Part]:
    size, start = path.stat().st_size, 0
    with path.open("rb") as file:
        while start < size:
            end = _line_end(file, start + part_bytes - 1)
            yield Part(path, start, end)
            start = end


def _line_end(file: IO[bytes], at: int) -> int:
    """Return where the line ends that byte `at` belongs to; there the file ends, too, if it is the last one."""
    file.seek(at)
    while block := file.readline(BLOCK_BYTES):
        if block.endswith(b"\n"):
            break
    return file.tell()


def _columns_of_lines(
    documents: Documents, part: Part, long_bytes: int | None
) -> Iterator[pa.Array | list[Row] | LongText]:
    """Yield the lines of a part. Lines before it are counted only where one is an error, whose name has its number."""
    name = f"{part.path}, from byte {part.start:,} on" if documents.skip_bad_rows and part.start else None
    before = 0
    with part.path.open("rb") as file:
        try:
            for row, block in _blocks(documents, part, file, long_bytes=long_bytes):
                if isinstance(block, LongLine) and name is None:
                    before = before or _lines_before(part)  # a line that is read once can't be named later
                found = documents.column_of_lines(part.path, before + row, block, name)
                if (
                    part.start
                    and name is None
                    and not before
                    and any(isinstance(read, BadRow) for read in _rows(found))
                ):
                    before = _lines_before(part)
                    found = documents.column_of_lines(part.path, before + row, block)
                yield found
        except ValueError:
            # A line is too long. Where it stands decides what the message says.
            for _ in _blocks(documents, part, file, _lines_before(part)):
                pass
            raise


def _rows(found: pa.Array | list[Row] | LongText) -> list[Row]:
    return found if isinstance(found, list) else []


def _blocks(
    documents: Documents, part: Part, file: IO[bytes], first: int = 0, *, long_bytes: int | None = None
) -> Iterator[tuple[int, bytes | LongLine]]:
    assert part.end is not None
    file.seek(part.start)
    return documents.blocks(part.path, Stretch(file, part.end - part.start), first, long_bytes=long_bytes)


def _lines_before(part: Part) -> int:
    count, left = 0, part.start
    with part.path.open("rb") as file:
        while left and (block := file.read(min(left, BLOCK_BYTES))):
            count += block.count(b"\n")
            left -= len(block)
    return count
