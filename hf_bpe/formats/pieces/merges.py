"""The merge list that gives the same ids as the scores of a piece model.

SentencePiece joins two neighbours when their joined text is a piece, whatever they were made of, so every split of
a piece into two pieces is a merge. Higher scores come first; what several pieces of one score need is the affair of
`ties`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter

from hf_bpe.errors import ConversionError
from hf_bpe.formats.pieces.model import BYTE_PIECES, PieceModel, PieceType
from hf_bpe.formats.pieces.ties import Pair, Ties

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
    ties = Ties({left + right: rank for rank, _, _, left, right in ranked}, where)
    merges: list[Pair] = []
    for rank, group in groupby(ranked, key=itemgetter(0)):
        pairs = [(left, right) for _, _, _, left, right in group]
        if len(pairs) > LARGEST_TIE:
            raise ConversionError(
                f"{where}: {len(pairs)} merges share the score {-rank!r} ({pairs[0][0]!r} + {pairs[0][1]!r} and "
                f"others). They merge leftmost first; a merge list can say that for {LARGEST_TIE} at most"
            )
        merges += ties.ordered(pairs)
    ties.check_runs(merges)
    return merges


def renamed_bytes(model: PieceModel) -> dict[str, str]:
    """Return the byte pieces that tokenizer.json has to call by their character, with these.

    SentencePiece merges a character with its neighbours even if it is no piece itself (Gemma's tab is one), a merge
    list only if it is. One byte long, it stands for the same text as its byte piece and can be that piece's name.
    """
    if not model.byte_fallback:
        return {}
    return {BYTE_PIECES[ord(char)]: char for char in _missing_characters(model) if ord(char) < 0x80}


def _splits(model: PieceModel, where: str) -> Iterator[tuple[float, int, int, str, str]]:
    """Yield every split of a piece into two pieces, behind what it is sorted by: score, then longer left halves."""
    missing = _missing_characters(model)
    merged = {piece for piece, kind in zip(model.pieces, model.types, strict=True) if model.is_merged(piece, kind)}
    halves = merged | missing
    refused = missing - set(renamed_bytes(model).values())
    for piece, score, kind in zip(model.pieces, model.scores, model.types, strict=True):
        if piece not in merged:
            continue
        if math.isnan(score):
            raise ConversionError(f"{where}: the score of piece {piece!r} is not a number")
        for cut in range(1, len(piece)):
            left, right = piece[:cut], piece[cut:]
            if left not in halves or right not in halves:
                continue
            if kind == PieceType.UNUSED and not model.merges_all:
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
