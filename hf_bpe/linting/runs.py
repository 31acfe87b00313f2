"""A merge list applied to symbols in two ways: as a heap does it, and by a replay of all merges in order.

On a list that training made they give the same. They part where a merge stands before one that makes its halves: a
heap comes back to it, a replay is past it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

Pair = tuple[str, str]


def heap(symbols: Sequence[str], ranks: Mapping[Pair, int]) -> list[str]:
    """Join the pair of the lowest rank that is there now, leftmost first, until none is left.

    Example:
        >>> heap("abc", {("ab", "c"): 0, ("a", "b"): 1})
        ['abc']
    """
    symbols = list(symbols)
    while found := _lowest(symbols, ranks, 0):
        at = found[1]
        symbols[at : at + 2] = [symbols[at] + symbols[at + 1]]
    return symbols


def replay(symbols: Sequence[str], ranks: Mapping[Pair, int]) -> list[str]:
    """Go through the merges once, in order, and join each pair wherever it is then, from left to right.

    Example:
        >>> replay("abc", {("ab", "c"): 0, ("a", "b"): 1})
        ['ab', 'c']
    """
    symbols, rank = list(symbols), 0
    while found := _lowest(symbols, ranks, rank):
        rank, at = found
        pair = symbols[at], symbols[at + 1]
        symbols = _joined(symbols, pair)
        rank += 1
    return symbols


def _lowest(symbols: Sequence[str], ranks: Mapping[Pair, int], least: int) -> tuple[int, int] | None:
    """Return the lowest rank, from `least` up, of two neighbours, and where they first are."""
    best: tuple[int, int] | None = None
    for at, pair in enumerate(pairwise(symbols)):
        rank = ranks.get(pair)
        if rank is not None and rank >= least and (best is None or rank < best[0]):
            best = rank, at
    return best


def _joined(symbols: list[str], pair: Pair) -> list[str]:
    joined: list[str] = []
    at = 0
    while at < len(symbols):
        whole = at + 1 < len(symbols) and (symbols[at], symbols[at + 1]) == pair
        joined.append(pair[0] + pair[1] if whole else symbols[at])
        at += 2 if whole else 1
    return joined
