"""Batches of documents, with the place where each batch ends, so that reading can go on from there."""

from __future__ import annotations

import glob
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from hf_bpe.documents.streams import BLOCK_BYTES, blocks_of_lines, opened
from hf_bpe.errors import CorpusError

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_BYTES = 8 << 20
_TABLES = {".json": "jsonl", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".arrow": "arrow"}
_COMPRESSED = (".gz", ".zst", ".bz2", ".xz")
_COLUMN_BYTES = 4 << 20  # of text that a column has, give or take a line
MAX_DOCUMENT_BYTES = 1 << 30


class Position(NamedTuple):
    """A place in a list of files: what comes next is row `row` of file `file`, both from 0."""

    file: int
    row: int


BEGINNING = Position(0, 0)


class BadRow(NamedTuple):
    """A row without a text: where it is and what is wrong with it."""

    place: str
    reason: str


Row: TypeAlias = str | BadRow | None
"""A text, what is wrong with the row, or a null."""

Rows: TypeAlias = tuple[int, list[Row], int]
"""The number of the first row, rows, and how much of the file was read."""


@dataclass(frozen=True)
class DocumentBatch:
    """Some documents.

    Attributes:
        texts: The documents.
        end: Where the next batch begins.
        bad_rows: Rows left out.
        bytes_read: How much of all files has been read, as they lie on disk.
    """

    texts: list[str]
    end: Position
    bad_rows: list[BadRow]
    bytes_read: int


@dataclass(frozen=True)
class Documents:
    """Files, ready to be read from any place on.

    Attributes:
        files: The files, in order.
        total_bytes: Their size on disk.
    """

    files: tuple[Path, ...]
    text_column: str
    documents: Literal["lines", "files"]
    max_document_bytes: int
    skip_bad_rows: bool

    @property
    def total_bytes(self) -> int:
        """The size of the files on disk."""
        return sum(path.stat().st_size for path in self.files)

    def batches(self, start: Position = BEGINNING) -> Iterator[DocumentBatch]:
        """Yield the documents from `start` on, in batches of about 8 MB.

        Raises:
            CorpusError: A row is bad and they are not to be skipped, a document is too long, or a file is damaged.
        """
        texts: list[str] = []
        bad: list[BadRow] = []
        size = before = 0
        for number, path in enumerate(self.files):
            if number < start.file:
                before += path.stat().st_size
                continue
            first = start.row if number == start.file else 0
            for row, rows, told in self._rows(path, first):
                for found in rows:
                    if isinstance(found, str):
                        texts.append(found)
                        size += len(found)
                    elif found is not None:
                        bad.append(self.check(found))
                if size >= BATCH_BYTES or len(texts) >= BATCH_BYTES // 100:
                    yield DocumentBatch(texts, Position(number, row + len(rows)), bad, before + told)
                    texts, bad, size = [], [], 0
            before += path.stat().st_size
        if texts or bad:
            yield DocumentBatch(texts, Position(len(self.files), 0), bad, before)

    def columns(self, start: Position = BEGINNING) -> Iterator[tuple[pa.Array | list[Row], Position]]:
        """Yield all documents from `start` on, and where those after them begin.

        They come as Arrow arrays of strings where that needs no Python object for each, else as rows.

        Raises:
            CorpusError: As `batches`, but for bad rows: those are for `check` to judge.
        """
        for number, path in enumerate(self.files[start.file :], start=start.file):
            for row, texts in self._columns(path, start.row if number == start.file else 0):
                yield texts, Position(number, row + len(texts))

    def _columns(self, path: Path, first: int) -> Iterator[tuple[int, pa.Array | list[Row]]]:
        kind = kind_of(path)
        if kind in ("parquet", "arrow"):
            for row, _, texts in self.arrow_columns(path, first):
                if row + len(texts) > first:
                    skipped = max(0, first - row)
                    yield row + skipped, texts[skipped:]
        elif kind == "text" and self.documents == "files":
            yield from ((row, rows) for row, rows, _ in self._rows(path, first))
        else:
            with opened(path) as (stream, _):
                blocks = blocks_of_lines(path, stream, self.max_document_bytes, self.column_bytes(path))
                for row, block in _from_line(first, blocks):
                    yield row, self.column_of_lines(path, row, block)

    def arrow_columns(self, path: Path, first: int = 0) -> Iterator[tuple[int, int, pa.Array]]:
        """Yield the texts of a table from about row `first` on: the number of the first row, rows of the file, texts.

        Raises:
            CorpusError: The file is damaged, or the column holds no texts.
        """
        return _arrow_columns(path, kind_of(path), self.text_column, first)

    def column_bytes(self, path: Path) -> int | None:
        """How much of a file of lines is best read at once for `column_of_lines`; None for what is usual."""
        return _COLUMN_BYTES if kind_of(path) == "text" else None

    def column_of_lines(self, path: Path, row: int, block: bytes) -> pa.Array | list[Row]:
        """Return the documents of whole lines, the first of which is line `row` of a file of text or JSON lines."""
        if kind_of(path) == "jsonl":
            return _json_texts(self.text_column, path, row, block)
        lines = _array_of_lines(block)
        return _line_texts(path, row, block) if lines is None else lines

    def check(self, row: BadRow) -> BadRow:
        """Return a bad row, or raise for it.

        Raises:
            CorpusError: Bad rows are not to be skipped.
        """
        if not self.skip_bad_rows:
            raise CorpusError(f"{row.place}: {row.reason} (skip_bad_rows leaves such rows out)")
        return row

    def _rows(self, path: Path, first: int) -> Iterator[Rows]:
        kind = kind_of(path)
        if kind in ("parquet", "arrow"):
            return _arrow_rows(path, kind, self.text_column, first)
        if kind == "jsonl":
            return self._lines(path, first, partial(_json_texts, self.text_column))
        if self.documents == "files":
            return self._whole(path, first)
        return self._lines(path, first, _line_texts)

    def _lines(self, path: Path, first: int, read: Callable[[Path, int, bytes], list[Row]]) -> Iterator[Rows]:
        with opened(path) as (stream, told):
            for row, block in _from_line(first, blocks_of_lines(path, stream, self.max_document_bytes)):
                yield row, read(path, row, block), told()

    def _whole(self, path: Path, first: int) -> Iterator[Rows]:
        if first > 0:
            return
        with opened(path) as (stream, told):
            parts, size = [], 0
            while part := stream.read(BLOCK_BYTES):
                parts.append(part)
                size += len(part)
                if size > self.max_document_bytes:
                    raise CorpusError(
                        f"{path} has more than {self.max_document_bytes:,} bytes, and is to be one document; raise "
                        "max_document_bytes, or read its lines."
                    )
            yield 0, [_decoded(b"".join(parts), str(path))], told()


def open_documents(
    files: Sequence[str | Path],
    *,
    text_column: str = "text",
    documents: Literal["lines", "files"] = "lines",
    max_document_bytes: int = MAX_DOCUMENT_BYTES,
    skip_bad_rows: bool = False,
) -> Documents:
    """Find files and look at how they are to be read.

    Args:
        files: Paths, directories (all their files that are not hidden) and globs. `*.jsonl`, `*.ndjson` and `*.json`
            are JSON lines, `*.parquet` and `*.arrow` are tables, the others are text; all but Parquet and Arrow may be
            compressed (`.gz`, `.zst`, `.bz2`, `.xz`).
        text_column: The column, or key, with the text.
        documents: Whether each line of a text file is a document, with its newline, or each file.
        max_document_bytes: What a line, or a text file that is one document, may have at most.
        skip_bad_rows: Whether rows that are no JSON, have no text or are not UTF-8 are left out, not an error.

    Raises:
        CorpusError: There is no file.
        ValueError: An argument is out of range.
    """
    if documents not in ("lines", "files"):
        raise ValueError(f"documents is 'lines' or 'files', got {documents!r}.")
    if max_document_bytes < 1:
        raise ValueError(f"max_document_bytes must be at least 1, got {max_document_bytes}.")
    if isinstance(files, str | Path):
        raise TypeError(f"files is a list of paths, got {files!r}; write [{str(files)!r}].")
    found = [path for file in files for path in expanded(str(file))]
    if not found:
        raise CorpusError(f"there is no file in {', '.join(map(str, files)) or 'an empty list'}.")
    return Documents(tuple(found), text_column, documents, max_document_bytes, skip_bad_rows)


def expanded(file: str) -> list[Path]:
    """Return the files that a path means: itself, those of a directory that aren't hidden, or those that match a glob.

    Raises:
        CorpusError: There is none.
    """
    path = Path(file)
    if path.is_file():
        return [path]
    if path.is_dir():
        inside = (found for found in sorted(path.rglob("*")) if found.is_file())
        return [found for found in inside if not any(part.startswith(".") for part in found.relative_to(path).parts)]
    matches = [Path(match) for match in sorted(glob.glob(file, recursive=True)) if Path(match).is_file()]
    if not matches:
        raise CorpusError(f"{file!r} is no file, no directory, and matches no file.")
    return matches


def kind_of(path: Path) -> str:
    """Return how a file is read, by its name: text, jsonl, parquet or arrow."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    return _TABLES.get(suffixes[-1], "text") if suffixes else "text"


def _decoded(data: bytes, place: str) -> str | BadRow:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        return BadRow(place, f"isn't UTF-8 at byte {error.start}: {error.reason}")


def _from_line(first: int, blocks: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """Leave out the lines before `first`, counted from 0."""
    for row, block in blocks:
        if row >= first:
            yield row, block
        elif row + block.count(b"\n") + (not block.endswith(b"\n")) > first:
            yield first, b"\n".join(block.split(b"\n")[first - row :])


def _split(block: bytes) -> list[bytes]:
    """Return the lines of a block, each with its newline."""
    found = block.split(b"\n")
    return [line + b"\n" for line in found[:-1]] + ([found[-1]] if found[-1] else [])


def _line_texts(path: Path, row: int, block: bytes) -> list[Row]:
    try:
        *whole, rest = block.decode("utf-8").split("\n")
    except UnicodeDecodeError:
        return [_decoded(line, _line(path, number)) for number, line in enumerate(_split(block), start=row)]
    texts: list[Row] = [line + "\n" for line in whole]
    return [*texts, rest] if rest else texts


def _array_of_lines(block: bytes) -> pa.Array | None:
    """Return the lines of a block, each with its newline, without a copy; None when it isn't UTF-8."""
    import pyarrow as pa

    ends = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n")) + 1
    if not block.endswith(b"\n"):
        ends = np.append(ends, len(block))
    offsets = pa.py_buffer(np.concatenate([[0], ends]).astype(np.int64))
    lines = pa.LargeStringArray.from_buffers(len(ends), offsets, pa.py_buffer(block))
    try:
        lines.validate(full=True)
    except pa.ArrowInvalid:
        return None
    return lines


def lines_of(path: Path) -> Iterator[str]:
    """Yield the lines of a text file, compressed or not, whatever its name; they end at a newline and nowhere else.

    Raises:
        CorpusError: A line isn't UTF-8, or is too long.
    """
    with opened(path) as (stream, _):
        for row, block in blocks_of_lines(path, stream, MAX_DOCUMENT_BYTES):
            for found in _line_texts(path, row, block):
                if isinstance(found, BadRow):
                    raise CorpusError(f"{found.place}: {found.reason}")
                yield found or ""


def _line(path: Path, row: int) -> str:
    return f"{path}, line {row + 1:,}"


def _json_texts(column: str, path: Path, row: int, block: bytes) -> list[Row]:
    return [_json_text(line, path, number, column) for number, line in enumerate(_split(block), start=row)]


def _json_text(line: bytes, path: Path, row: int, column: str) -> Row:
    if line.isspace():
        return None
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        return BadRow(_line(path, row), f"is no JSON: {error}")
    if not isinstance(found, dict):
        return BadRow(_line(path, row), f"is no JSON object, but {type(found).__name__}")
    if column not in found:
        return BadRow(_line(path, row), f"has no {column!r}; it has {', '.join(map(repr, found)) or 'nothing'}")
    text = found[column]
    if text is None or isinstance(text, str):
        return text
    return BadRow(_line(path, row), f"has {type(text).__name__} in {column!r}, not a text")


def _arrow_rows(path: Path, kind: str, column: str, first: int) -> Iterator[Rows]:
    size = path.stat().st_size
    for start, total, texts in _arrow_columns(path, kind, column, first):
        rows = texts.to_pylist()
        if start + len(rows) > first:
            skipped = max(0, first - start)
            yield start + skipped, rows[skipped:], size * (start + len(rows)) // max(total, start + len(rows))


def _arrow_columns(path: Path, kind: str, column: str, first: int = 0) -> Iterator[tuple[int, int, pa.Array]]:
    """Yield a column of texts, part by part: the number of the first row, the rows of the file, the texts.

    Raises:
        CorpusError: The file is damaged, or the column holds no texts.
    """
    import pyarrow as pa

    try:
        for start, total, batch in _arrow_batches(path, kind, column, first):
            texts = batch.column(0)
            if not (pa.types.is_null(texts.type) or _holds_strings(texts.type)):
                raise CorpusError(f"{path}: column {column!r} holds {texts.type}, not texts.")
            texts.validate(full=True)
            yield start, total, texts
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
        raise CorpusError(f"{path}: can't be read as {kind.capitalize()}: {error}") from None


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
