"""Documents in files larger than memory: text, JSON lines, Parquet and Arrow, compressed or not, from any place on."""

from __future__ import annotations

from hf_bpe.documents.reading import (
    BEGINNING,
    BadRow,
    DocumentBatch,
    Documents,
    Position,
    expanded,
    kind_of,
    lines_of,
    open_documents,
)

__all__ = [
    "BEGINNING",
    "BadRow",
    "DocumentBatch",
    "Documents",
    "Position",
    "expanded",
    "kind_of",
    "lines_of",
    "open_documents",
]
