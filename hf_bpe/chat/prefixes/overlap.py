"""What two requests have in common: their prefix, and what stands in both behind it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hf_bpe.chat.prefixes.requests import Ids

WINDOW = 16
"""How many tokens in a row must be the same to count as common: fewer are found by chance, or are a template's."""

_BASE = np.uint64(0x9E3779B97F4A7C15)


def common_prefix(one: Ids, other: Ids) -> int:
    """Return how many ids two requests begin with in common."""
    length = min(len(one), len(other))
    differing = np.flatnonzero(one[:length] != other[:length])
    return int(differing[0]) if len(differing) else length


def common_behind(ids: Ids, earlier: Ids, start: int) -> int:
    """Return how many of the ids from `start` on stand in `earlier` too, from `start` on, in runs of `WINDOW`.

    These are the tokens that a cache would have reused if what differs stood behind them.
    """
    mine, theirs = _windows(ids[start:]), _windows(earlier[start:])
    hits = np.flatnonzero(np.isin(mine, theirs))
    if not len(hits):
        return 0
    covered = np.zeros(len(ids) - start + 1, dtype=np.int64)
    np.add.at(covered, hits, 1)
    np.add.at(covered, hits + WINDOW, -1)
    return int(np.count_nonzero(np.cumsum(covered)))


def _windows(ids: Ids) -> NDArray[np.uint64]:
    """Return a hash of each run of `WINDOW` ids."""
    count = len(ids) - WINDOW + 1
    if count <= 0:
        return np.empty(0, dtype=np.uint64)
    values = ids.astype(np.uint64) + np.uint64(1)
    hashes = np.zeros(count, dtype=np.uint64)
    for offset in range(WINDOW):
        hashes = (hashes * _BASE) ^ values[offset : offset + count]
        hashes ^= hashes >> np.uint64(29)
    return hashes


def first_difference(text: str, other: str) -> int:
    """Return the first place where two texts differ, or the length of the shorter one."""
    low, high = 0, min(len(text), len(other))
    while low < high:  # comparing slices is a hundred times as fast as comparing characters
        middle = (low + high + 1) // 2
        low, high = (middle, high) if text[low:middle] == other[low:middle] else (low, middle - 1)
    return low
