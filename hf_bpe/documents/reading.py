"""Batches of documents, with the place where each batch ends, so that reading can go on from there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from hf_bpe.documents import tables
from hf_bpe.documents.finding import expanded, kind_of
from hf_bpe.documents.long_rows import joined, long_row
from hf_bpe.documents.rows import (
    SKIPPING,
    BadRow,
    Row,
    Rows,
    array_of_lines,
    decoded,
    json_text,
    json_texts,
    line_place,
    line_texts,
)
from hf_bpe.documents.streams import BLOCK_BYTES, LongLine, SupportsRead, blocks_and_long_lines, blocks_of_lines, opened
from hf_bpe.errors import CorpusError
from hf_bpe.text_batches import LongText

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_BYTES = 8 << 20
_COLUMN_BYTES = 4 << 20  # of text that a column has, give or take a line
MAX_DOCUMENT_BYTES = 1 << 30


class Position(NamedTuple):
    """A place in a list of files: what comes next is row `row` of file `file`, both from 0."""

    file: int
    row: int


BEGINNING = Position(0, 0)


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
        temporary_directory: Where what has to wait on disk does; None for the system's.
        remedy: What helps against a bad row where it is an error.
    """

    files: tuple[Path, ...]
    text_column: str
    documents: Literal["lines", "files"]
    max_document_bytes: int
    skip_bad_rows: bool
    temporary_directory: str | None = None
    remedy: str = SKIPPING

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
                        size += len(found.reason)
                if size >= BATCH_BYTES or len(texts) + len(bad) >= BATCH_BYTES // 100:
                    yield DocumentBatch(texts, Position(number, row + len(rows)), bad, before + told)
                    texts, bad, size = [], [], 0
            before += path.stat().st_size
        if texts or bad:
            yield DocumentBatch(texts, Position(len(self.files), 0), bad, before)

    def columns(
        self, start: Position = BEGINNING, *, long_bytes: int | None = None
    ) -> Iterator[tuple[pa.Array | list[Row] | LongText, Position]]:
        """Yield all documents from `start` on, and where those after them begin.

        They come as Arrow arrays of strings where that needs no Python object for each, else as rows. A line that has
        `long_bytes` or more comes alone: of a text file as a text to be read before the next documents are.

        Raises:
            CorpusError: As `batches`, but for bad rows: those are for `check` to judge.
        """
        for number, path in enumerate(self.files[start.file :], start=start.file):
            for row, texts in self._columns(path, start.row if number == start.file else 0, long_bytes):
                yield texts, Position(number, row + len(texts))

    def _columns(
        self, path: Path, first: int, long_bytes: int | None
    ) -> Iterator[tuple[int, pa.Array | list[Row] | LongText]]:
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
                for row, block in _from_line(first, self.blocks(path, stream, long_bytes=long_bytes)):
                    yield row, self.column_of_lines(path, row, block)

    def blocks(
        self, path: Path, stream: SupportsRead, first: int = 0, *, long_bytes: int | None
    ) -> Iterator[tuple[int, bytes | LongLine]]:
        """Yield the lines of a file in blocks for `column_of_lines`, each with the number of lines before it.

        Raises:
            CorpusError: A line is too long.
        """
        block_bytes = self.column_bytes(path)
        return blocks_and_long_lines(path, stream, self.max_document_bytes, block_bytes, first, long_bytes=long_bytes)

    def arrow_columns(self, path: Path, first: int = 0) -> Iterator[tuple[int, int, pa.Array | list[Row]]]:
        """Yield the texts of a table from about row `first` on: the number of the first row, rows of the file, texts.

        They are a list where rows are bad, which are for `check` to judge.

        Raises:
            CorpusError: The file is damaged, or the column holds no texts.
        """
        return tables.arrow_columns(path, kind_of(path), self.text_column, first)

    def column_bytes(self, path: Path) -> int | None:
        """How much of a file of lines is best read at once for `column_of_lines`; None for what is usual."""
        return _COLUMN_BYTES if kind_of(path) == "text" else None

    def column_of_lines(
        self, path: Path, row: int, block: bytes | LongLine, name: str | None = None
    ) -> pa.Array | list[Row] | LongText:
        """Return the documents of whole lines.

        Args:
            path: A file of text or JSON lines.
            row: The number of the first line, from 0.
            block: The lines.
            name: What bad rows are lines of, where that isn't the file.

        Raises:
            CorpusError: A line is too long.
        """
        of = str(path) if name is None else name
        if isinstance(block, LongLine) and kind_of(path) == "jsonl":
            return [json_text(joined(block), of, row, self.text_column)]
        if isinstance(block, LongLine):
            found = long_row(
                block,
                line_place(of, row),
                self.check,
                skips=self.skip_bad_rows,
                temporary_directory=self.temporary_directory,
            )
            return [found] if isinstance(found, BadRow) else found
        if kind_of(path) == "jsonl":
            return json_texts(self.text_column, of, row, block)
        lines = array_of_lines(block)
        return line_texts(of, row, block) if lines is None else lines

    def check(self, row: BadRow) -> BadRow:
        """Return a bad row, or raise for it.

        Raises:
            CorpusError: Bad rows are not to be skipped.
        """
        if not self.skip_bad_rows:
            raise row.error(self.remedy)
        return row

    def _rows(self, path: Path, first: int) -> Iterator[Rows]:
        kind = kind_of(path)
        if kind in ("parquet", "arrow"):
            return tables.arrow_rows(path, kind, self.text_column, first)
        if kind == "jsonl":
            return self._lines(path, first, partial(json_texts, self.text_column))
        if self.documents == "files":
            return self._whole(path, first)
        return self._lines(path, first, line_texts)

    def _lines(self, path: Path, first: int, read: Callable[[str, int, bytes], list[Row]]) -> Iterator[Rows]:
        with opened(path) as (stream, told):
            for row, block in _from_line(first, blocks_of_lines(path, stream, self.max_document_bytes)):
                assert isinstance(block, bytes)
                yield row, read(str(path), row, block), told()

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
            yield 0, [decoded(b"".join(parts), str(path))], told()


def open_documents(
    files: Sequence[str | Path],
    *,
    text_column: str = "text",
    documents: Literal["lines", "files"] = "lines",
    max_document_bytes: int = MAX_DOCUMENT_BYTES,
    skip_bad_rows: bool = False,
    temporary_directory: str | None = None,
    remedy: str = SKIPPING,
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
        temporary_directory: Where a long line of a compressed file waits until all of it was looked at.
        remedy: What the error of a bad row says that helps.

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
    return Documents(
        tuple(found), text_column, documents, max_document_bytes, skip_bad_rows, temporary_directory, remedy
    )


def _from_line(first: int, blocks: Iterable[tuple[int, bytes | LongLine]]) -> Iterator[tuple[int, bytes | LongLine]]:
    """Leave out the lines before `first`, counted from 0."""
    for row, block in blocks:
        if row >= first:
            yield row, block
        elif isinstance(block, bytes) and row + block.count(b"\n") + (not block.endswith(b"\n")) > first:
            yield first, b"\n".join(block.split(b"\n")[first - row :])


def rows_of_lines(path: Path) -> Iterator[Row]:
    """Yield the lines of a text file, compressed or not, whatever its name; they end at a newline and nowhere else.

    Those that aren't UTF-8 are bad rows.

    Raises:
        CorpusError: A line is too long.
    """
    with opened(path) as (stream, _):
        for row, block in blocks_of_lines(path, stream, MAX_DOCUMENT_BYTES):
            yield from line_texts(str(path), row, block)
