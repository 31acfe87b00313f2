"""From the pieces that a template printed to runs: whose turn is it where the template wrote?

Guarantee: the pieces decide who wrote a character; only the `message` of the template's own text is found here. It is:

1. the message of the loop iteration in which the text was printed, if the template loops over messages;
2. otherwise, the message of the caller's text around it: between two texts of one message, that message; between
   those of two, the first literal goes with the former, as the end of its turn, and the rest with the latter;
3. None before the first message and after the last: after a loop, or after the first literal behind the last text.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, lru_cache

from hf_bpe.chat.provenance import LOST, Marker, Source, Traced, leaves, source_of
from hf_bpe.chat.rendered import Origin, Run


@lru_cache(maxsize=1 << 15)
def in_message(origin: Origin, message: int | None) -> Origin:
    """Return an origin in the turn of a message."""
    return origin._replace(message=message)


class Output:
    """What a template printed, up to a length: who wrote what, which is found when it is asked for."""

    def __init__(self, printed: Iterable[str], length: int) -> None:
        """Hold the pieces."""
        self.printed = printed
        self.length = length

    @cached_property
    def leaves(self) -> list[tuple[int, Source]]:
        """Length and source of each leaf, the markers included."""
        found: list[tuple[int, Source]] = []
        append = found.append
        for text in self.printed:
            source = text.source if type(text) is Traced else LOST
            if type(source) is not tuple:
                append((len(text), source))
                continue
            for piece in source:
                if type(piece) is Traced:
                    source = piece.source
                    if type(source) is not tuple:
                        append((len(piece), source))
                        continue
                found.extend((len(leaf), source_of(leaf)) for leaf in leaves(piece))
        return found

    def may_be_lost(self) -> bool:
        """Tell whether a filter may have hidden who wrote some of it."""
        return any(width and source[3] for width, source in self.leaves)  # type: ignore[index]  # what has a width has an origin

    def trusted(self) -> tuple[tuple[int, int], ...]:
        """Return the longest stretches of trusted text."""
        spans: list[tuple[int, int]] = []
        start = position = 0
        before = False
        for width, source in self.leaves:
            if not width:
                continue
            now = source[0]  # type: ignore[index]  # what has a width has an origin
            if now is not before:
                if now:
                    start = position
                else:
                    spans.append((start, position))
                before = now
            position += width
        if before:
            spans.append((start, position))
        length = self.length
        if position == length:
            return tuple(spans)
        return tuple((start, min(end, length)) for start, end in spans if start < length)

    def runs(self) -> tuple[Run, ...]:
        """Return the runs."""
        lengths, origins = attributed(self.leaves)
        runs: list[Run] = []
        start = end = 0
        last: Origin | None = None
        for width, origin in zip(lengths, origins, strict=True):
            if end >= self.length:
                break
            if last is None:
                last = origin
            elif origin is not last and origin != last:
                runs.append(Run(start, end, last))
                start, last = end, origin
            end += width
        if last is not None:
            runs.append(Run(start, min(end, self.length), last))
        return tuple(runs)


def attributed(found: list[tuple[int, Source]]) -> tuple[list[int], list[Origin]]:
    """Return lengths and origins of leaves, the template's with their messages."""
    lengths: list[int] = []
    origins: list[Origin] = []
    outside: list[int] = []
    foreign: list[tuple[int, int]] = []
    turns: list[Marker] = []
    here: dict[Origin, Origin] = {}
    for width, source in found:
        if type(source) is Marker:
            follow(turns, source)
            here = {}
        elif width:
            origin: Origin = source  # type: ignore[assignment]  # what has a width has an origin
            if origin[1] is None and origin[2] is None and turns:
                inside = here.get(origin)
                if inside is None:
                    inside = here[origin] = in_message(origin, turns[-1].index)
                origin = inside
            elif not turns:
                outside.append(len(lengths))
            elif origin[1] is not None and origin[1] != turns[-1].index:
                foreign.append((len(lengths), turns[-1].index or 0))
            lengths.append(width)
            origins.append(origin)
    quote(origins, foreign)
    give_away(origins, outside)
    return lengths, origins


def quote(origins: list[Origin], foreign: list[tuple[int, int]]) -> None:
    """Note of the caller's texts in turns of other messages whose turns these are, if the texts' own have some."""
    have_turns = {origin.message for origin in origins if origin.field is None} if foreign else set()
    for number, turn in foreign:
        if origins[number].message in have_turns:
            origins[number] = origins[number]._replace(quoted_in=turn)


def follow(turns: list[Marker], marker: Marker) -> None:
    """Begin the turn of a message, or end a loop."""
    if turns and turns[-1].loop == marker.loop:
        turns.pop()
    if marker.index is not None:
        turns.append(marker)


def give_away(origins: list[Origin], outside: list[int]) -> None:
    """Give the template's text outside of loops to the messages around it."""
    unclaimed: list[int] = []
    former: int | None = None
    for place, number in enumerate(outside):
        if place and outside[place - 1] != number - 1:
            claim(origins, unclaimed, former, former)
            unclaimed, former = [], None
        origin = origins[number]
        if origin.message is not None:
            claim(origins, unclaimed, origin.message if former is None else former, origin.message)
            unclaimed, former = [], origin.message
        elif origin.field is None:
            unclaimed.append(number)
    ends_text = bool(outside) and outside[-1] == len(origins) - 1
    claim(origins, unclaimed, former, None if ends_text else former)


def claim(origins: list[Origin], numbers: list[int], first: int | None, rest: int | None) -> None:
    """Give the first of these pieces to one message, and the rest to another."""
    for count, number in enumerate(numbers):
        message = rest if count else first
        if message is not None:
            origins[number] = in_message(origins[number], message)
