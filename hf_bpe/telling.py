"""Warnings that point at the line that called this package, however deep inside they are given."""

from __future__ import annotations

import sys
import warnings


def warn(message: str) -> None:
    """Warn at the first line outside `hf_bpe`.

    `stacklevel` would have to know how many calls are between, which differs by the way that was taken, and by Python:
    from 3.12 on a comprehension is no call. `skip_file_prefixes` is of 3.12.
    """
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "hf_bpe":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level)
