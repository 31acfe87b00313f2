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
from collections.abc import Iterator
from itertools import groupby
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
    merges: list[Pair] = []
    for rank, group in groupby(ranked, key=itemgetter(0)):
        pairs = [(left, right) for _, _, _, left, right in group]
        if len(pairs) > LARGEST_TIE:
            raise ConversionError(
                f"{where}: {len(pairs)} merges share the score {-rank!r} ({pairs[0][0]!r} + {pairs[0][1]!r} and others). "
                f"They merge leftmost first, which a merge list can't say; at most {LARGEST_TIE} are supported."
            )
        merges += _leftmost_first(pairs) if len(pairs) > 1 else pairs
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


def _leftmost_first(pairs: list[Pair]) -> list[Pair]:
    """Order merges of one score so that, of two that overlap in a text, the left one has the lower rank.

    Among symbols x y z, the pairs (x, y) and (y, z) compete for y. The order stays as it is where it already agrees,
    and where the wishes contradict each other.
    """
    ending_in: dict[str, list[int]] = defaultdict(list)
    for place, (_, right) in enumerate(pairs):
        ending_in[right].append(place)
    before = [[other for other in ending_in.get(left, ()) if other != place] for place, (left, _) in enumerate(pairs)]
    if all(other < place for place, others in enumerate(before) for other in others):
        return pairs
    return _sorted_topologically(pairs, before) or pairs


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
