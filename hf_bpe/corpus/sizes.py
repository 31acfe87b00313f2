"""How much a batch holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

BATCH_BYTES = 4 << 20
"""How much text a batch holds: enough to keep threads busy, little enough to stop between two."""


def is_full(chars: int, rows: int) -> bool:
    """Whether texts of so many characters, or so many rows, are worth a batch."""
    return chars >= BATCH_BYTES or rows >= BATCH_BYTES // 100


def cuts(offsets: np.ndarray[Any, np.dtype[Any]]) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows of about `BATCH_BYTES` each, at least one row."""
    start, rows = 0, len(offsets) - 1
    while start < rows:
        end = int(np.searchsorted(offsets, int(offsets[start]) + BATCH_BYTES, side="right")) - 1
        end = min(max(end, start + 1), rows)
        yield start, end
        start = end
