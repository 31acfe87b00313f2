"""Strings that know who wrote them.

Guarantee: trust is given, never guessed. The only strings that a template may match added tokens in are those made here
with a trusted origin: the template's literals, its vocabulary of role names, the tokenizer's own special tokens. What a
filter returns as a plain `str` has no origin, and so counts as the caller's: forgetting an operation can make text lose
its trust, but can't make it gain any.

A traced string is a leaf with one origin, or a rope: a text with the leaves that it was joined from, in nested tuples.
A rope keeps no text of the strings on the way, so that text gathered in a variable costs no more than upstream's.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any

from hf_bpe.chat.limits import FREE, charge
from hf_bpe.chat.rendered import Origin

TEMPLATE = Origin(True)
"""The template's own text."""

LOST = Origin(False, lost=True)
"""Text that came out of a filter without an origin."""

PRINTED = Origin(False)
"""A number, a truth value or None in print: no text of the template's, and harmless."""


class Marker:
    """Stands in a text without width, and says that the turn of a message begins, or that a loop over them ends."""

    __slots__ = ("index", "loop")

    def __init__(self, loop: int, index: int | None) -> None:
        """Mark the turn of message `index` in a loop of the template, or its end if there is no index."""
        self.loop = loop
        self.index = index


Source = Origin | Marker | tuple[Any, ...]


class Traced(str):
    """A string and its source: an origin, a marker, or the strings that it was joined from.

    Its methods, which keep the source, are in [`string_methods`][hf_bpe.chat.string_methods].
    """

    __slots__ = ("source",)

    source: Source


@lru_cache(maxsize=1 << 16)
def caller(message: int | None, field: str | None) -> Origin:
    """Return the origin of a value of the caller's."""
    return Origin(False, message, field)


@lru_cache(maxsize=1 << 14)
def vocabulary(message: int) -> Origin:
    """Return the origin of a role name that the template is written for."""
    return Origin(True, message, "role")


def source_of(text: str) -> Source:
    """Return the source of any string. One without is nobody's, hence the caller's."""
    return getattr(text, "source", LOST) if isinstance(text, Traced) else LOST


def plain(text: str) -> str:
    """Return the characters of a string alone."""
    return "".join((text, ""))


def leaves(text: Any) -> Iterator[str]:
    """Yield the strings of one origin that a string or a tuple of them consists of, and the markers between them."""
    stack = [text]
    while stack:
        piece = stack.pop()
        if type(piece) is tuple:
            stack.extend(reversed(piece))
        elif type(piece) is Traced and type(piece.source) is tuple:
            stack.extend(reversed(piece.source))
        else:
            yield piece


def flat(text: Traced) -> tuple[str, ...]:
    """Return the leaves of a string, and remember them."""
    source = source_of(text)
    if type(source) is not tuple:
        return (text,)
    if not all(type(piece) is str or (type(piece) is Traced and type(piece.source) is not tuple) for piece in source):
        text.source = source = tuple(leaves(source))
    return source


def uniform(text: str) -> Origin | None:
    """Return the one origin of all characters of a string, or None if there are several, or none."""
    source = source_of(text)
    if isinstance(source, Origin):
        return source
    found = {source_of(piece) for piece in leaves(text) if piece}
    return found.pop() if len(found) == 1 else None  # type: ignore[return-value]  # text has no marker's source


NEW = str.__new__


def make(text: str, source: Source) -> Any:
    """Return a traced string."""
    if len(text) > FREE:
        charge(len(text))
    traced = NEW(Traced, text)
    traced.source = source
    return traced


def template(text: str) -> Any:
    """Return a string that the template wrote."""
    return make(text, TEMPLATE)


def rope(text: str, pieces: tuple[Any, ...]) -> Any:
    """Return `text`, which is `pieces` joined."""
    if len(text) > FREE:
        # Short strings may hold on to those that they were made of; long ones would take memory without bound.
        charge(len(text))
        pieces = tuple(
            [piece.source if type(piece) is Traced and type(piece.source) is tuple else piece for piece in pieces]
        )
    elif not text:
        return EMPTY
    traced = NEW(Traced, text)
    traced.source = pieces
    return traced


def join(pieces: Sequence[str]) -> Any:
    """Join strings, each of which keeps its origin."""
    return rope("".join(pieces), tuple(pieces))


def cuts(text: Traced, spans: Iterable[tuple[int, int]]) -> list[Any]:
    """Cut spans, which ascend and don't overlap, out of a string."""
    source = source_of(text)
    if type(source) is not tuple:
        whole = plain(text)
        return [make(whole[start:end], source) for start, end in spans]
    pieces = flat(text)
    ends = list(accumulate(map(len, pieces)))
    return [between(pieces, ends, start, end) for start, end in spans]


def between(pieces: tuple[str, ...], ends: list[int], start: int, end: int) -> Any:
    """Return the characters from `start` to `end` of pieces that end at `ends`."""
    if start >= end:
        return EMPTY
    first, last = bisect_right(ends, start), bisect_left(ends, end)
    parts = list(pieces[first : last + 1])
    parts[-1] = part(parts[-1], 0, len(parts[-1]) - (ends[last] - end))
    parts[0] = part(parts[0], max(start - ends[first] + len(pieces[first]), 0), len(parts[0]))
    return parts[0] if len(parts) == 1 and type(parts[0]) is Traced else join(parts)


def part(piece: str, start: int, end: int) -> str:
    """Return a part of a leaf."""
    if end - start == len(piece):
        return piece
    traced: str = make(str.__getitem__(piece, slice(start, end)), source_of(piece))
    return traced


def cut(text: Traced, start: int, end: int) -> Any:
    """Return the characters from `start` to `end`."""
    return cuts(text, [(start, end)])[0]


EMPTY: Any = make("", TEMPLATE)
"""No text."""
