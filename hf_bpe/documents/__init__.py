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
    open_documents,
    rows_of_lines,
)
from hf_bpe.documents.rows import MENDING, SKIPPING, TOLD_BAD_ROWS, BadRow, Row, decoded, only_texts

__all__ = [
    "BEGINNING",
    "LONG_BYTES",
    "MENDING",
    "SKIPPING",
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
    "only_texts",
    "open_documents",
    "parts_of",
    "rows_of_lines",
]
