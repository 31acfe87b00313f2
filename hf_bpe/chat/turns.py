"""From the pieces that a template printed to runs: whose turn is it where the template wrote?

Guarantee: the pieces decide who wrote a character; only the `message` of the template's own text is found here. It is:

1. the message of the loop iteration in which the text was printed, if the template loops over messages;
2. otherwise, the message of the caller's text around it: between two texts of one message, that message; between those of
   two, the first literal goes with the former, as the end of its turn, and the rest with the latter;
3. None before the first message and after the last: a loop's end, or the first literal after the last text.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from hf_bpe.chat.provenance import LOST, Marker, leaves, source_of
from hf_bpe.chat.rendered import Origin, Run


class Piece(NamedTuple):
    """Characters of one origin, and whether a loop over messages says whose turn it is."""

    length: int
    origin: Origin
    in_turn: bool


@lru_cache(maxsize=1 << 15)
def in_message(origin: Origin, message: int | None) -> Origin:
    """Return an origin in the turn of a message."""
    return origin._replace(message=message)


def trusted_of(printed: Iterable[str], length: int) -> tuple[tuple[int, int], ...]:
    """Return the longest stretches of trusted text in the first `length` characters."""
    spans: list[tuple[int, int]] = []
    start = end = position = 0
    for text in printed:
        for piece in leaves(text):
            width = len(piece)
            if not width:
                continue
            source = source_of(piece)
            if isinstance(source, Origin) and source.trusted:
                if end != position:
                    spans.append((start, end))
                    start = position
                elif end == start:
                    start = position
                end = position + width
            position += width
    spans.append((start, end))
    return tuple((start, min(end, length)) for start, end in spans if start < min(end, length))


def runs_of(printed: Iterable[str], length: int) -> tuple[Run, ...]:
    """Return the runs of the first `length` characters of a printed text."""
    runs: list[Run] = []
    position = 0
    for width, origin, _ in attributed(list(pieces_of(printed))):
        end = min(position + width, length)
        if end == position:
            break
        if runs and runs[-1].origin == origin:
            runs[-1] = Run(runs[-1].start, end, origin)
        else:
            runs.append(Run(position, end, origin))
        position = end
    return tuple(runs)


def pieces_of(printed: Iterable[str]) -> Iterable[Piece]:
    """Yield the pieces, with the message of the innermost loop over messages that they were printed in."""
    turns: list[Marker] = []
    for text in printed:
        for piece in leaves(text):
            source = source_of(piece)
            if isinstance(source, Marker):
                follow(turns, source)
            elif piece:
                origin = source if isinstance(source, Origin) else LOST
                if turns and origin.message is None and origin.field is None:
                    yield Piece(len(piece), in_message(origin, turns[-1].index), True)
                else:
                    yield Piece(len(piece), origin, bool(turns))


def follow(turns: list[Marker], marker: Marker) -> None:
    """Begin the turn of a message, or end a loop."""
    if turns and turns[-1].loop == marker.loop:
        turns.pop()
    if marker.index is not None:
        turns.append(marker)


def attributed(pieces: list[Piece]) -> list[Piece]:
    """Give the template's text outside of loops to the messages around it."""
    anchors = [number for number, piece in enumerate(pieces) if piece.origin.message is not None]
    for before, after in zip([None, *anchors], [*anchors, None], strict=True):
        first = 0 if before is None else before + 1
        last = len(pieces) if after is None else after
        open_ = [number for number in range(first, last) if pieces[number].origin.field is None]
        if open_:
            share(pieces, open_, None if before is None else pieces[before], None if after is None else pieces[after])
    return pieces


def share(pieces: list[Piece], numbers: list[int], before: Piece | None, after: Piece | None) -> None:
    """Share pieces out between the messages on both sides of them."""
    former = before.origin.message if before and not before.in_turn else None
    latter = after.origin.message if after and not after.in_turn else None
    if before and after and before.in_turn and not after.in_turn:
        former = latter
    if before and after and after.in_turn and not before.in_turn:
        latter = former
    for count, number in enumerate(numbers):
        message = former if count == 0 and before is not None else latter
        if message is not None:
            piece = pieces[number]
            pieces[number] = Piece(piece.length, in_message(piece.origin, message), piece.in_turn)
