"""The value between rendering a chat and encoding it: text, and who wrote which part of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple


class Origin(NamedTuple):
    """Who wrote a run of characters.

    Attributes:
        trusted: The template wrote it, or it is a word that the template is written for (a known role name). Only
            here may added tokens be found.
        message: The index of the message that it came from, or in whose turn the template wrote it. None before the
            first message, after the last, and for what belongs to no message (tools, keyword arguments).
        field: The caller's value that it came from: `"content"`, `"role"`, `"tool_calls[0].function.arguments"`,
            `"tools[0].function.name"`, `"date_string"`. None for the template's own text.
        lost: A filter hid who wrote which part, so all of it counts as the caller's.
        quoted_in: The message in whose turn it stands, if its own message has another turn: the name of a tool, taken
            from the call, in the turn of the result.
    """

    trusted: bool
    message: int | None = None
    field: str | None = None
    lost: bool = False
    quoted_in: int | None = None


class Run(NamedTuple):
    """Characters `start` to `end` (end excluded) of a rendered text, of one origin."""

    start: int
    end: int
    origin: Origin


class Rendered:
    """A rendered chat. It never changes.

    Attributes:
        text: What upstream's `apply_chat_template(tokenize=False)` gives for the same arguments, to the byte.
    """

    __slots__ = ("_find_lost", "_find_runs", "_find_trusted", "_runs", "_trusted", "text")

    def __init__(
        self,
        text: str,
        runs: Iterable[Run] | Callable[[], tuple[Run, ...]],
        trusted: Callable[[], tuple[tuple[int, int], ...]] | None = None,
        may_be_lost: Callable[[], bool] | None = None,
    ) -> None:
        """Hold a text and its runs, or what finds them when they are first asked for."""
        self.text = text
        self._find_runs = runs if callable(runs) else None
        self._runs = None if callable(runs) else tuple(runs)
        self._find_trusted = trusted
        self._find_lost = may_be_lost
        self._trusted: tuple[tuple[int, int], ...] | None = None

    @property
    def runs(self) -> tuple[Run, ...]:
        """Who wrote the text: runs in order, which touch, cover it, are not empty, and whose neighbours differ."""
        if self._runs is None:
            assert self._find_runs is not None
            self._runs, self._find_runs = self._find_runs(), None
        return self._runs

    @property
    def trusted(self) -> tuple[tuple[int, int], ...]:
        """The start and end of each longest stretch that is trusted: cheaper than `runs`, which also say whose turn."""
        if self._trusted is None:
            self._trusted = self._find_trusted() if self._find_trusted else trusted_spans(self.runs)
        return self._trusted

    @property
    def may_be_lost(self) -> bool:
        """Whether some of it may be lost: cheaper than `runs`."""
        if self._runs is None and self._find_lost is not None:
            return self._find_lost()
        return any(run.origin.lost for run in self.runs)

    def __eq__(self, other: object) -> bool:
        """Compare text and runs."""
        return isinstance(other, Rendered) and self.text == other.text and self.runs == other.runs

    def __hash__(self) -> int:
        """Return the hash of the text."""
        return hash(self.text)

    def __reduce__(self) -> tuple[type[Rendered], tuple[str, tuple[Run, ...]]]:
        """Return what a copy is made of, in another process, too."""
        return Rendered, (self.text, self.runs)

    def __repr__(self) -> str:
        """Show text and runs."""
        return f"Rendered(text={self.text!r}, runs={self.runs!r})"


def trusted_spans(runs: Iterable[Run]) -> tuple[tuple[int, int], ...]:
    """Return the longest stretches of trusted runs."""
    spans: list[tuple[int, int]] = []
    for start, end, origin in runs:
        if not origin.trusted:
            continue
        if spans and spans[-1][1] == start:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return tuple(spans)
