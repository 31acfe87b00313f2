"""Texts on which two lists of merges part: three tokens in a row, of which the middle one can join either neighbour.

Which neighbour it joins is a matter of rank. Two lists that differ in the places of a few merges give the same ids on
most texts, and on the tokens themselves; what shows the difference is such a row whose two merges changed order.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

Pair = tuple[str, str]

_NEVER = 1 << 40


def rows(first: Sequence[Pair], second: Sequence[Pair]) -> Iterator[str]:
    """Yield three tokens each, joined, whose two merges stand in another order in `second` than in `first`.

    Example:
        >>> list(rows([("a", "b"), ("b", "c")], [("b", "c"), ("a", "b")]))
        ['abc']
    """
    ranks = [{pair: rank for rank, pair in enumerate(merges)} for merges in (first, second)]
    ending, beginning = defaultdict(list), defaultdict(list)
    for left, right in ranks[0] | ranks[1]:
        ending[right].append(left)
        beginning[left].append(right)
    seen: set[str] = set()
    for left, right in moved(ranks[0], ranks[1]):
        others = [((before, left), before + left + right) for before in ending[left]]
        others += [((right, behind), left + right + behind) for behind in beginning[right]]
        for other, text in others:
            if text not in seen and _turned((left, right), other, ranks):
                seen.add(text)
                yield text


def moved(first: Mapping[Pair, int], second: Mapping[Pair, int]) -> list[Pair]:
    """Return the merges that only one list has, and as few others as have to move to make the lists equal.

    Example:
        >>> moved({("a", "b"): 0, ("b", "c"): 1, ("c", "d"): 2}, {("b", "c"): 0, ("c", "d"): 1, ("a", "b"): 2})
        [('a', 'b')]
    """
    shared = [pair for pair in first if pair in second]
    kept = {shared[place] for place in _longest_rise([second[pair] for pair in shared])}
    return [pair for pair in dict.fromkeys([*first, *second]) if pair not in kept]


def _longest_rise(numbers: Sequence[int]) -> Iterator[int]:
    """Yield the places of a longest rising subsequence of different numbers, the last first."""
    tails: list[int] = []
    places: list[int] = []
    before: list[int] = []
    for place, number in enumerate(numbers):
        at = bisect_left(tails, number)
        before.append(places[at - 1] if at else -1)
        tails[at : at + 1] = [number]
        places[at : at + 1] = [place]
    place = places[-1] if places else -1
    while place >= 0:
        yield place
        place = before[place]


def _turned(one: Pair, other: Pair, ranks: Sequence[Mapping[Pair, int]]) -> bool:
    orders = [found.get(one, _NEVER) < found.get(other, _NEVER) for found in ranks]
    return orders[0] != orders[1]
