"""Documents in files larger than memory: text, JSON lines, Parquet and Arrow, compressed or not, from any place on."""

from __future__ import annotations

from hf_bpe.documents.finding import expanded, kind_of
from hf_bpe.documents.long_rows import LONG_BYTES
from hf_bpe.documents.parts import Part, columns_of_part, parts_of
from hf_bpe.documents.reading import (
    BEGINNING,
    DocumentBatch,
    Documents,
    Position,
    lines_of,
    open_documents,
    rows_of_lines,
)
from hf_bpe.documents.rows import TOLD_BAD_ROWS, BadRow, Row, decoded

__all__ = [
    "BEGINNING",
    "LONG_BYTES",
    "TOLD_BAD_ROWS",
    "BadRow",
    "DocumentBatch",
    "Documents",
    "Part",
    "Position",
    "Row",
    "columns_of_part",
    "decoded",
    "expanded",
    "kind_of",
    "lines_of",
    "open_documents",
    "parts_of",
    "rows_of_lines",
]
