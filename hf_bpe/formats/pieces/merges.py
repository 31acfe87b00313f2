"""The merge list that gives the same ids as the scores of a piece model.

SentencePiece joins two neighbours when their joined text is a piece, whatever they were made of, so every split of
a piece into two pieces is a merge. Higher scores come first. Pieces of equal score merge leftmost first, which a
merge list can't say in general; `_leftmost_first` puts them in an order that says it where one exists. Where none
does (runs of one character: Llama 2 gives all runs of spaces one score), longer left halves come first: a run then
grows from its left end, as it does in SentencePiece.
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, groupby, pairwise
from operator import itemgetter

from hf_bpe.errors import ConversionError
from hf_bpe.formats.pieces.model import BYTE_PIECES, PieceModel, PieceType

Pair = tuple[str, str]

LARGEST_TIE = 4096
"""How many merges may share a score. Real models have at most 120; ordering them takes a graph of their overlaps."""


def merges_of(model: PieceModel, where: str) -> list[Pair]:
    """Return the merges of `model`, first rank first.

    Args:
        model: The piece model.
        where: The file that it came from, for errors.

    Raises:
        ConversionError: No merge list gives the ids that the scores give. The message names the pieces.
    """
    ranked = sorted(_splits(model, where), key=itemgetter(0, 1, 2))
    scores = {left + right: -rank for rank, _, _, left, right in ranked}
    merges: list[Pair] = []
    halves: set[str] = set()
    for rank, group in groupby(ranked, key=itemgetter(0)):
        pairs = [(left, right) for _, _, _, left, right in group]
        if len(pairs) > LARGEST_TIE:
            raise ConversionError(
                f"{where}: {len(pairs)} merges share the score {-rank!r} ({pairs[0][0]!r} + {pairs[0][1]!r} and others). "
                f"They merge leftmost first, which a merge list can't say; at most {LARGEST_TIE} are supported."
            )
        halves.update(chain.from_iterable(pairs))
        if len(pairs) > 1:
            _check_chains(pairs, halves, where)
            pairs = _leftmost_first(pairs, scores, where)
        merges += pairs
    return merges


def aliases_of(model: PieceModel) -> dict[str, int]:
    """Return the characters that only occur inside pieces, with the ids that they have alone.

    Such a character is no piece, yet SentencePiece merges it with its neighbours. One byte long, it gets its byte
    piece's id as a second name (Gemma's tab is one), after which an ordinary merge can name it.
    """
    if not model.byte_fallback:
        return {}
    ids = {piece: piece_id for piece_id, piece in enumerate(model.pieces)}
    return {char: ids[BYTE_PIECES[ord(char)]] for char in _missing_characters(model) if ord(char) < 0x80}


def _splits(model: PieceModel, where: str) -> Iterator[tuple[float, int, int, str, str]]:
    """Yield every split of a piece into two pieces, behind what it is sorted by: score, then longer left halves."""
    missing = _missing_characters(model)
    halves = {*model.of_type(PieceType.NORMAL, PieceType.UNUSED), *missing}
    refused = missing - aliases_of(model).keys()
    for piece, score, kind in zip(model.pieces, model.scores, model.types, strict=True):
        if kind not in (PieceType.NORMAL, PieceType.UNUSED):
            continue
        if math.isnan(score):
            raise ConversionError(f"{where}: the score of piece {piece!r} is not a number")
        for cut in range(1, len(piece)):
            left, right = piece[:cut], piece[cut:]
            if left not in halves or right not in halves:
                continue
            if kind == PieceType.UNUSED:
                raise ConversionError(
                    f"{where}: piece {piece!r} is marked unused; SentencePiece makes it and takes it apart again, "
                    f"which tokenizer.json can't say. The text {piece!r} would change."
                )
            if left in refused or right in refused:
                raise ConversionError(
                    f"{where}: piece {piece!r} is made of {left!r} and {right!r}, one of which is no piece; "
                    f"a merge list only joins pieces. The text {piece!r} would change."
                )
            yield -score, -cut, cut - len(piece), left, right


def _missing_characters(model: PieceModel) -> set[str]:
    """Return the characters of mergeable pieces that aren't pieces."""
    normal = model.of_type(PieceType.NORMAL)
    return set().union(*normal) - set(model.of_type(PieceType.NORMAL, PieceType.USER_DEFINED, PieceType.UNUSED))


def _check_chains(pairs: list[Pair], halves: set[str], where: str) -> None:
    """Raise if several pieces share a score, and one merges on as soon as it is made: who comes first then matters.

    Args:
        pairs: The merges of one score.
        halves: What merges of this score and higher ones join.
        where: The file, for errors.
    """
    products = {left + right for left, right in pairs}
    chained = products & halves
    if len(products) > 1 and chained and any(len(set(product)) > 1 for product in products):
        one, other = min(chained), min(products - {min(chained)})
        raise ConversionError(
            f"{where}: pieces {one!r} and {other!r} have one score and merge leftmost first, and the former merges on "
            "with no lower score, which a merge list can't say"
        )


def _leftmost_first(pairs: list[Pair], scores: Mapping[str, float], where: str) -> list[Pair]:
    """Order merges of one score so that, of two that overlap in a text, the left one has the lower rank.

    Among symbols x y z, the pairs (x, y) and (y, z) compete for y. The order stays as it is where it already agrees.
    Where the wishes contradict each other, it stays as well if no text brings such symbols together.
    """
    ending_in: dict[str, list[int]] = defaultdict(list)
    for place, (_, right) in enumerate(pairs):
        ending_in[right].append(place)
    before = [[other for other in ending_in.get(left, ()) if other != place] for place, (left, _) in enumerate(pairs)]
    wrong = [(other, place) for place, others in enumerate(before) for other in others if other > place]
    if not wrong:
        return pairs
    ordered = _sorted_topologically(pairs, before)
    if ordered is None:
        _check_apart([(*pairs[other], pairs[place][1]) for other, place in wrong], scores, where)
    return ordered or pairs


def _check_apart(triples: Sequence[tuple[str, str, str]], scores: Mapping[str, float], where: str) -> None:
    """Raise if one of `triples` stands in a text. Merges inside it don't look beyond it, so its own text decides."""
    met: dict[str, list[str]] = {}
    for triple in sorted(triples, key=lambda symbols: sum(map(len, symbols))):
        text = "".join(triple)
        if text not in met:
            met[text] = _three_symbols(text, scores)
        if met[text] == list(triple):
            left, middle, right = triple
            raise ConversionError(
                f"{where}: pieces {left + middle!r} and {middle + right!r} have one score and merge leftmost first, "
                f"which a merge list can't say. The text {text!r} would change."
            )


def _three_symbols(text: str, scores: Mapping[str, float]) -> list[str]:
    """Return the three symbols that `text` consists of on its way through merging, or more if it never gets there."""
    symbols = list(text)
    while len(symbols) > 3:
        joined = [(scores.get(left + right), place) for place, (left, right) in enumerate(pairwise(symbols))]
        best = max(((score, -place) for score, place in joined if score is not None), default=None)
        if best is None:
            break
        place = -best[1]
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
