"""Pieces of one score: SentencePiece merges them leftmost first, a merge list by rank.

A merge list can say the same if the pairs that compete for a symbol can be ranked so that the left one wins, and if
no pair merges on as soon as it is made, before one further left had its turn. Whether two such pairs ever meet can be
decided: merges inside neighbouring symbols never look beyond them, so the text of the symbols alone tells.

Runs of one character are an exception that published models need: Llama 2 gives all runs of spaces one score. With
longer left halves first a run grows from its left end, as it does in SentencePiece; all runs are tried, up to three
times the longest piece.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, pairwise

from hf_bpe.errors import ConversionError

Pair = tuple[str, str]
Priority = Callable[[Pair], "float | None"]


class Ties:
    """Orders the merges of one score after the other, best score first.

    Args:
        ranks: The negative score of each piece that is made by merging.
        where: The file, for errors.
    """

    def __init__(self, ranks: Mapping[str, float], where: str) -> None:
        self._ranks = ranks
        self._where = where
        self._halves: set[str] = set()
        self._halves_of_words: set[str] = set()
        self._runs: set[str] = set()

    def ordered(self, pairs: list[Pair]) -> list[Pair]:
        """Return the merges of the next score in an order that says "leftmost first".

        Raises:
            ConversionError: There is none.
        """
        self._halves.update(chain.from_iterable(pairs))
        self._halves_of_words.update(chain.from_iterable(pair for pair in pairs if len(set("".join(pair))) > 1))
        if len(pairs) < 2:
            return pairs
        self._check_chains({left + right for left, right in pairs})
        return self._leftmost_first(pairs)

    def check_runs(self, merges: Sequence[Pair]) -> None:
        """Raise if some run of one character, whose pieces share a score, comes out differently by `merges`."""
        ranks = {pair: rank for rank, pair in enumerate(merges) if pair[0][0] in self._runs}
        for char in sorted(self._runs):
            longest = max(len(piece) for piece in self._ranks if set(piece) == {char})
            for count in range(2, 3 * longest + 1):
                text = char * count
                if merged(text, self._by_score) != merged(text, ranks.get):
                    raise self._error(char * 2, char * longest, text)

    def _by_score(self, pair: Pair) -> float | None:
        return self._ranks.get(pair[0] + pair[1])

    def _check_chains(self, products: set[str]) -> None:
        """Raise if one of several pieces merges on as soon as it is made: who comes first then matters."""
        chained = products & self._halves
        if len(products) < 2 or not chained:
            return
        if len(set().union(*products)) == 1 and not products & self._halves_of_words:
            self._runs |= {product[0] for product in products}
            return
        one, other = min(chained), min(products - {min(chained)})
        raise ConversionError(
            f"{self._where}: pieces {one!r} and {other!r} have one score and merge leftmost first, and the former "
            "merges on with no lower score, which a merge list can't say"
        )

    def _leftmost_first(self, pairs: list[Pair]) -> list[Pair]:
        """Order merges so that, among symbols x y z, the pair (x, y) comes before (y, z).

        The order stays as it is where it already agrees. Where the wishes contradict each other, it stays as well if
        no text brings such symbols together.
        """
        ending_in: dict[str, list[int]] = defaultdict(list)
        for place, (_, right) in enumerate(pairs):
            ending_in[right].append(place)
        before = [[one for one in ending_in.get(left, ()) if one != place] for place, (left, _) in enumerate(pairs)]
        wrong = [(one, place) for place, others in enumerate(before) for one in others if one > place]
        if not wrong:
            return pairs
        ordered = _sorted_topologically(pairs, before)
        if ordered is None:
            self._check_apart([(*pairs[one], pairs[place][1]) for one, place in wrong])
        return ordered or pairs

    def _check_apart(self, triples: Sequence[tuple[str, str, str]]) -> None:
        """Raise if the symbols of one of `triples` ever stand side by side."""
        met: dict[str, list[str]] = {}
        for triple in sorted(triples, key=lambda symbols: sum(map(len, symbols))):
            text = "".join(triple)
            if text not in met:
                met[text] = merged(text, self._by_score, until=3)
            if met[text] == list(triple):
                left, middle, right = triple
                raise self._error(left + middle, middle + right, text)

    def _error(self, one: str, other: str, text: str) -> ConversionError:
        return ConversionError(
            f"{self._where}: pieces {one!r} and {other!r} have one score and merge leftmost first, which a merge list "
            f"can't say. The text {text!r} would change."
        )


def merged(text: str, priority: Priority, *, until: int = 1) -> list[str]:
    """Return the symbols of `text` after merging, at each step the pair of lowest priority, leftmost first.

    Args:
        text: A short text.
        priority: The priority of a pair, None where it doesn't merge.
        until: Stop when as many symbols are left.
    """
    symbols = list(text)
    while len(symbols) > until:
        found = ((priority(pair), place) for place, pair in enumerate(pairwise(symbols)))
        best = min(((rank, place) for rank, place in found if rank is not None), default=None)
        if best is None:
            break
        place = best[1]
        symbols[place : place + 2] = [symbols[place] + symbols[place + 1]]
    return symbols


def _sorted_topologically(pairs: list[Pair], before: list[list[int]]) -> list[Pair] | None:
    """Return `pairs` with each behind those that `before` lists for it, or None where that is impossible."""
    after: list[list[int]] = [[] for _ in pairs]
    for place, others in enumerate(before):
        for other in others:
            after[other].append(place)
    waiting = [len(others) for others in before]
    ready = [place for place, count in enumerate(waiting) if count == 0]
    ordered: list[Pair] = []
    while ready:
        place = heapq.heappop(ready)
        ordered.append(pairs[place])
        for other in after[place]:
            waiting[other] -= 1
            if waiting[other] == 0:
                heapq.heappush(ready, other)
    return ordered if len(ordered) == len(pairs) else None
