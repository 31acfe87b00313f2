"""Marks in the caller's strings, to see which of them come out.

A mark is a word of ASCII letters and digits that stands nowhere in the chat. It goes behind the text that it marks, so
no prefix that a template asks for is lost; and text is cut at the tags that the template itself names (`</think>`),
because what stands between them may have a fate of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

_TAG = re.compile(r"<[^<>\s]{1,40}>|\[/?[A-Z_]{2,40}\]")
_NAMES = frozenset({"type", "id", "tool_call_id", "role"})
"""Keys whose values are words that a template compares, and that nobody misses."""

_MOST_PIECES = 32


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a string of the caller, with the mark that tells whether it comes out.

    Attributes:
        message: The index of its message. None for tools and documents.
        field: Where the string is in the message.
        text: The part.
        mark: What stands behind it in the marked string.
        reasoning: It stands between a tag and its end, such as `<think>` and `</think>`.
        before: The white space in front of the whole string, if this is its first part, and `start` marks its end.
        after: The white space behind the whole string, if this is its last part.
        start: The mark in front of the first part. Empty where there is no white space to lose.
    """

    message: int | None
    field: str
    text: str
    mark: str
    reasoning: bool = False
    before: str = ""
    after: str = ""
    start: str = ""

    def space(self, *, front: bool) -> str:
        """The white space at one end."""
        return self.before if front else self.after

    def edge(self, *, front: bool) -> str:
        """The mark beside that white space."""
        return (self.start or self.mark) if front else self.mark


@dataclass
class Marker:
    """Marks strings, and remembers the pieces.

    Attributes:
        tags: The tags that the template names.
        pieces: What was marked.
        containers: What was marked that is no string, by message and field: how Python shows it, marked.
    """

    tags: frozenset[str]
    stem: str
    pieces: list[Piece] = field(default_factory=list)
    containers: dict[tuple[int | None, str], str] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=count)

    @classmethod
    def of(cls, template: str, text: str) -> Marker:
        """Return a marker whose marks stand neither in the template nor in the text."""
        whole = f"{template}{text}".casefold()
        stem = next(stem for number in count(7) if (stem := f"zq{number}x") not in whole)
        return cls(frozenset(_TAG.findall(template)), stem)

    def new(self) -> str:
        """Return a mark that was not used yet."""
        return f"{self.stem}{next(self._numbers)}z"

    def found(self, text: str) -> frozenset[str]:
        """Return the marks that stand in a text, in whatever case."""
        return frozenset(re.findall(rf"{self.stem}[0-9]+z", text.casefold()))

    def neighbours(self, text: str, *, front: bool) -> dict[str, str]:
        """Return what stands before each mark of a text, or behind it, up to the next mark."""
        between = re.split(rf"({self.stem}[0-9]+z)", text)
        return {between[at]: between[at - 1 if front else at + 1] for at in range(1, len(between), 2)}

    def without_space(self, value: Any, marks: Container[str], *, front: bool) -> Any:
        """Return a marked value without the white space before `marks`, or behind them."""
        if isinstance(value, str):
            mark = rf"({self.stem}[0-9]+z)"
            pattern = rf"\s+{mark}" if front else rf"{mark}\s+"
            return re.sub(pattern, lambda match: match[1] if match[1] in marks else match[0], value)
        if isinstance(value, dict):
            return {key: self.without_space(inner, marks, front=front) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.without_space(inner, marks, front=front) for inner in value]
        return value

    def value(self, value: Any, message: int | None, field: str) -> Any:
        """Return `value` with a mark in each of its strings but names."""
        if isinstance(value, str):
            return self.string(value, message, field)
        marked = self._inside(value, message, field)
        if isinstance(value, dict | list | tuple) and value:
            self.containers[message, field] = str(marked)
        return marked

    def _inside(self, value: Any, message: int | None, field: str) -> Any:
        if isinstance(value, str):
            return self.string(value, message, field)
        if isinstance(value, dict):
            return {
                key: inner if key in _NAMES else self._inside(inner, message, f"{field}.{key}")
                for key, inner in value.items()
            }
        if isinstance(value, list | tuple):
            return [self._inside(inner, message, f"{field}[{at}]") for at, inner in enumerate(value)]
        return value

    def string(self, text: str, message: int | None, field: str) -> str:
        """Return `text` with a mark behind each of its parts."""
        parts = self._parts(text)
        marked = []
        for at, part in enumerate(parts):
            core = part.strip()
            first, last = at == 0, at == len(parts) - 1
            if part in self.tags or not (core or (first and last and part)):
                marked.append(part)
                continue
            lead = part[: len(part) - len(part.lstrip())]
            trail = part[len(lead) + len(core) :]
            start = self.new() if first and lead and core else ""
            piece = Piece(
                message,
                field,
                core,
                self.new(),
                reasoning=_encloses(parts, at),
                before=lead if first else "",
                after=trail if last else "",
                start=start,
            )
            self.pieces.append(piece)
            marked.append(f"{lead}{start}{core}{piece.mark}{trail}")
        return "".join(marked)

    def _parts(self, text: str) -> list[str]:
        cuts = [match for match in _TAG.finditer(text) if match[0] in self.tags]
        if len(cuts) > _MOST_PIECES:
            return [text]
        parts, end = [], 0
        for match in cuts:
            parts += [text[end : match.start()], match[0]]
            end = match.end()
        return [part for part in [*parts, text[end:]] if part]


def _encloses(parts: list[str], at: int) -> bool:
    """Return whether a part stands in front of the end of a tag, and behind its begin or no tag at all."""
    end = next((part for part in parts[at + 1 :] if _TAG.fullmatch(part)), "")
    begin = next((part for part in reversed(parts[:at]) if _TAG.fullmatch(part)), None)
    if "/" not in end:
        return False
    return begin is None or begin == end.replace("/", "", 1)


def spellings(text: str) -> set[str]:
    """Return how a text may stand in JSON, in JSON within JSON, and as it is."""
    once = json.dumps(text, ensure_ascii=False)[1:-1]
    return {text, once, json.dumps(once, ensure_ascii=False)[1:-1]}
