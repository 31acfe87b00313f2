"""The methods of traced strings that return parts of them: `strip`, `split` and their kin."""

from __future__ import annotations

from typing import Any

from hf_bpe.chat.provenance import Traced, cut, cuts, make, source_of

Spans = list[tuple[int, int]]


def stripped(self: Traced, text: str, start: int) -> Any:
    """Return `text`, which is what is left of a string from `start` on."""
    if len(text) == len(self):
        return self
    source = source_of(self)
    return make(text, source) if type(source) is not tuple else cut(self, start, start + len(text))


def strip(self: Traced, chars: Any = None, /) -> Any:
    """Strip both ends."""
    return stripped(self, str.strip(self, chars), len(self) - len(str.lstrip(self, chars)))


def lstrip(self: Traced, chars: Any = None, /) -> Any:
    """Strip the beginning."""
    text = str.lstrip(self, chars)
    return stripped(self, text, len(self) - len(text))


def rstrip(self: Traced, chars: Any = None, /) -> Any:
    """Strip the end."""
    return stripped(self, str.rstrip(self, chars), 0)


def removeprefix(self: Traced, prefix: Any, /) -> Any:
    """Remove a prefix."""
    text = str.removeprefix(self, prefix)
    return stripped(self, text, len(self) - len(text))


def removesuffix(self: Traced, suffix: Any, /) -> Any:
    """Remove a suffix."""
    return stripped(self, str.removesuffix(self, suffix), 0)


def located(self: Traced, pieces: list[str]) -> list[Any]:
    """Return pieces of a string, which stand in it in this order, each at the first place after the one before."""
    spans: Spans = []
    end = 0
    for piece in pieces:
        start = str.find(self, piece, end)
        end = start + len(piece)
        spans.append((start, end))
    return cuts(self, spans)


def separated(self: Traced, pieces: list[str], width: int) -> list[Any]:
    """Return pieces of a string between separators of a width."""
    spans: Spans = []
    start = 0
    for piece in pieces:
        spans.append((start, start + len(piece)))
        start += len(piece) + width
    return cuts(self, spans)


def split(self: Traced, sep: Any = None, maxsplit: Any = -1) -> list[Any]:
    """Split from the left."""
    pieces = str.split(self, sep, maxsplit)
    return located(self, pieces) if sep is None else separated(self, pieces, len(sep))


def rsplit(self: Traced, sep: Any = None, maxsplit: Any = -1) -> list[Any]:
    """Split from the right."""
    pieces = str.rsplit(self, sep, maxsplit)
    return located(self, pieces) if sep is None else separated(self, pieces, len(sep))


def splitlines(self: Traced, keepends: Any = False) -> list[Any]:
    """Split into lines."""
    spans: Spans = []
    start = 0
    for line, whole in zip(str.splitlines(self, keepends), str.splitlines(self, True), strict=True):
        spans.append((start, start + len(line)))
        start += len(whole)
    return cuts(self, spans)


def partition(self: Traced, sep: Any, /) -> tuple[Any, ...]:
    """Split at the first separator."""
    return tuple(separated(self, list(str.partition(self, sep)), 0))


def rpartition(self: Traced, sep: Any, /) -> tuple[Any, ...]:
    """Split at the last separator."""
    return tuple(separated(self, list(str.rpartition(self, sep)), 0))
