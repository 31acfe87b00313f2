"""The methods of traced strings: those of `str`, with the same results and errors, keeping who wrote what.

A method that is missing here is `str`'s own, which returns a plain string, and that counts as the caller's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from hf_bpe.chat.limits import charge
from hf_bpe.chat.printf import formatted
from hf_bpe.chat.provenance import LOST, Traced, cut, cuts, flat, join, make, rope, source_of, uniform
from hf_bpe.chat.string_parts import (
    lstrip,
    partition,
    removeprefix,
    removesuffix,
    rpartition,
    rsplit,
    rstrip,
    separated,
    split,
    splitlines,
    strip,
)


def add(self: Traced, other: Any) -> Any:
    """Concatenate."""
    if isinstance(other, str) and not hasattr(other, "__html__"):
        return rope(str.__add__(self, other), (self, other))
    if hasattr(type(other), "__radd__"):
        return NotImplemented
    return str.__add__(self, other)


def radd(self: Traced, other: Any) -> Any:
    """Concatenate with a string on the left that is not traced."""
    if isinstance(other, str):
        return rope(str.__add__(other, self), (other, self))
    return NotImplemented


def multiply(self: Traced, count: Any) -> Any:
    """Repeat."""
    if isinstance(count, int):
        charge(max(len(self) * count, 0))
    text = str.__mul__(self, count)
    if text is NotImplemented:
        return text
    origin = uniform(self)
    return make(text, origin) if origin else rope(text, flat(self) * max(int(count), 0))


def item(self: Traced, index: Any) -> Any:
    """Return a character, or a slice."""
    text = str.__getitem__(self, index)
    source = source_of(self)
    if type(source) is not tuple:
        return make(text, source)
    if not isinstance(index, slice):
        position = range(len(self))[index]
        return cut(self, position, position + 1)
    indices = range(len(self))[index]
    if indices.step == 1:
        return cut(self, indices.start, max(indices.stop, indices.start))
    return join(pick(self, indices))


def pick(self: Traced, indices: range) -> list[str]:
    """Return the characters at these positions, as runs of one origin."""
    if indices.step < 0:
        return [
            make(str.__getitem__(piece, slice(None, None, -1)), source_of(piece))
            for piece in reversed(pick(self, indices[::-1]))
        ]
    pieces, offset = [], 0
    for piece in flat(self):
        first = max(-((offset - indices.start) // -indices.step), 0)
        chosen = indices[first:]
        inner = (
            str.__getitem__(piece, slice(chosen.start - offset, max(indices.stop - offset, 0), indices.step))
            if chosen
            else ""
        )
        if inner:
            pieces.append(make(inner, source_of(piece)))
        offset += len(piece)
    return pieces


def characters(self: Traced) -> Iterator[Any]:
    """Yield the characters."""
    for piece in flat(self):
        source = source_of(piece)
        for character in str.__iter__(piece):
            yield make(character, source)


def join_all(self: Traced, items: Iterable[Any], /) -> Any:
    """Join the items with this string between them."""
    values = list(items)
    charge(len(self) * len(values))
    text = str.join(self, values)
    pieces: list[str] = []
    for value in values:
        pieces += (self, value) if pieces else (value,)
    return rope(text, tuple(pieces))


def replace(self: Traced, old: Any, new: Any, count: Any = -1, /) -> Any:
    """Replace, where the new text keeps its own origin."""
    if isinstance(old, str) and isinstance(new, str):
        charge(len(self) + max(str.count(self, old), 0) * len(new))
    text = str.replace(self, old, new, count)
    if old not in self:
        return self
    origin = uniform(self)
    if origin and uniform(new) == origin:
        return make(text, origin)
    return rope(text, tuple(between(self, old, new, count)))


def between(self: Traced, old: str, new: str, count: int) -> list[str]:
    """Return the pieces of a string with `new` in place of the first `count` of `old`."""
    if old:
        kept = separated(self, str.split(self, old, count), len(old))
    else:
        limit = len(self) + 1 if count < 0 else min(count, len(self) + 1)
        bounds = [0, *range(max(limit, 1))][: limit + 1]
        kept = cuts(self, [(start, end) for start, end in zip(bounds, [*bounds[1:], len(self)], strict=True)])
    pieces: list[str] = []
    for piece in kept:
        pieces += (new, piece) if pieces else (piece,)
    return pieces


def padded(name: str) -> Callable[..., Any]:
    """Return a method that pads to a width."""
    plain = getattr(str, name)

    def method(self: Traced, width: Any, fill: Any = " ", /) -> Any:
        if isinstance(width, int):
            charge(max(width, 0))
        text = plain(self, width, fill) if name != "zfill" else plain(self, width)
        if len(text) == len(self):
            return self
        padding = source_of(fill) if isinstance(fill, Traced) else uniform(self) or LOST
        if name == "zfill":
            origin = uniform(self)
            return make(text, origin) if origin else text
        margin = len(text) - len(self)
        # CPython puts the odd blank of center() on the left if the width is odd.
        left = {"center": margin // 2 + (margin & int(width) & 1), "ljust": 0, "rjust": margin}[name]
        right = margin - left
        return rope(text, (make(text[:left], padding), self, make(text[len(text) - right :], padding)))

    return method


def recased(name: str) -> Callable[..., Any]:
    """Return a method that changes the case of letters, whose length may change with it."""
    plain = getattr(str, name)

    def method(self: Traced) -> Any:
        text = plain(self)
        origin = uniform(self)
        if origin or not text:
            return make(text, origin or LOST)
        pieces = flat(self)
        if len(text) == len(self):
            # No character becomes none, so each became one.
            return rope(text, aligned(text, pieces))
        parts = [make(plain(piece), source_of(piece)) for piece in pieces]
        return rope(text, tuple(parts)) if "".join(parts) == text else make(text, LOST)

    return method


def aligned(text: str, pieces: tuple[str, ...]) -> tuple[str, ...]:
    """Cut `text` as `pieces` are cut."""
    parts, start = [], 0
    for piece in pieces:
        parts.append(make(text[start : start + len(piece)], source_of(piece)))
        start += len(piece)
    return tuple(parts)


def expandtabs(self: Traced, tabsize: Any = 8) -> Any:
    """Expand tabs."""
    if isinstance(tabsize, int):
        charge(len(self) + str.count(self, "\t") * max(tabsize, 0))
    text = str.expandtabs(self, tabsize)
    return make(text, uniform(self) or LOST)


def modulo(self: Traced, values: Any) -> Any:
    """Format like printf."""
    return formatted(self, values)


def rmodulo(self: Traced, other: Any) -> Any:
    """Format a string that is not traced with one that is."""
    return formatted(other, self) if isinstance(other, str) else NotImplemented


def itself(self: Traced) -> Any:
    """Return the string itself."""
    return self


METHODS: dict[str, Callable[..., Any]] = {
    "__add__": add,
    "__radd__": radd,
    "__mul__": multiply,
    "__rmul__": multiply,
    "__getitem__": item,
    "__iter__": characters,
    "__mod__": modulo,
    "__rmod__": rmodulo,
    "__str__": itself,
    "strip": strip,
    "lstrip": lstrip,
    "rstrip": rstrip,
    "removeprefix": removeprefix,
    "removesuffix": removesuffix,
    "split": split,
    "rsplit": rsplit,
    "splitlines": splitlines,
    "partition": partition,
    "rpartition": rpartition,
    "join": join_all,
    "replace": replace,
    "expandtabs": expandtabs,
    **{name: padded(name) for name in ("center", "ljust", "rjust", "zfill")},
    **{name: recased(name) for name in ("upper", "lower", "casefold", "swapcase", "title", "capitalize")},
}


def install() -> None:
    """Give traced strings their methods."""
    for name, method in METHODS.items():
        setattr(Traced, name, method)
