"""The rows of text and JSON lines: texts, nulls, and rows that are bad."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from hf_bpe.errors import CorpusError

if TYPE_CHECKING:
    import pyarrow as pa


TOLD_BAD_ROWS = 10
"""Of how many bad rows a report says where they are."""

SKIPPING = "skip_bad_rows leaves such rows out"
"""What helps where that is an option."""

MENDING = "every row is needed here: mend this one, or take it out"
"""What helps where no row is left out."""

_REASON = 200


class BadRow(NamedTuple):
    """A row without a text: where it is and what is wrong with it."""

    place: str
    reason: str

    @property
    def told(self) -> str:
        """What a report says of it: the names of many columns, for instance, are shortened."""
        reason = self.reason if len(self.reason) <= _REASON else f"{self.reason[:_REASON]}..."
        return f"{self.place}: {reason}"

    def error(self, remedy: str) -> CorpusError:
        """Return what is raised where no row may be left out, with what helps there."""
        return CorpusError(f"{self.place}: {self.reason} ({remedy})")


Row: TypeAlias = str | BadRow | None
"""A text, what is wrong with the row, or a null."""

Rows: TypeAlias = tuple[int, list[Row], int]
"""The number of the first row, rows, and how much of the file was read."""


def decoded(data: bytes, place: str) -> str | BadRow:
    """Return a text, or what is wrong with the row at `place`."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        return BadRow(place, f"isn't UTF-8 at byte {error.start}: {error.reason}")


def only_texts(rows: Iterable[Row], remedy: str) -> Iterator[str]:
    """Yield the texts of rows of which none may be bad.

    Raises:
        CorpusError: One is. The message ends with the remedy.
    """
    for row in rows:
        if isinstance(row, BadRow):
            raise row.error(remedy)
        if row is not None:
            yield row


def _split(block: bytes) -> list[bytes]:
    """Return the lines of a block, each with its newline."""
    found = block.split(b"\n")
    return [line + b"\n" for line in found[:-1]] + ([found[-1]] if found[-1] else [])


def line_texts(file: str, row: int, block: bytes) -> list[Row]:
    """Return the lines of a block, the first of which is line `row`, each with its newline."""
    try:
        *whole, rest = block.decode("utf-8").split("\n")
    except UnicodeDecodeError:
        return [decoded(line, line_place(file, number)) for number, line in enumerate(_split(block), start=row)]
    texts: list[Row] = [line + "\n" for line in whole]
    return [*texts, rest] if rest else texts


def array_of_lines(block: bytes) -> pa.Array | None:
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


def json_texts(column: str, file: str, row: int, block: bytes) -> list[Row]:
    """Return the texts of JSON lines, the first of which is line `row`."""
    return [json_text(line, file, number, column) for number, line in enumerate(_split(block), start=row)]


def json_text(line: bytes | str, file: str, row: int, column: str) -> Row:
    """Return the text of one line of JSON, which is line `row` of a file.

    It is UTF-8: `json.loads` takes bytes for UTF-16 that begin as it may, and lines of such a file are cut inside of
    characters, so that it would read other ones.
    """
    if line.isspace():
        return None
    try:
        text = line if isinstance(line, str) else line.decode("utf-8-sig")
        if not text.strip():
            return None  # a byte order mark
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        return BadRow(line_place(file, row), f"is no JSON: {error}")
    if not isinstance(found, dict):
        return BadRow(line_place(file, row), f"is no JSON object, but {type(found).__name__}")
    if column not in found:
        return BadRow(line_place(file, row), f"has no {column!r}; it has {', '.join(map(repr, found)) or 'nothing'}")
    value = found[column]
    if value is None or isinstance(value, str):
        return value
    return BadRow(line_place(file, row), f"has {type(value).__name__} in {column!r}, not a text")


def line_place(file: str, row: int) -> str:
    """Return what messages call line `row` of a file."""
    return f"{file}, line {row + 1:,}"
