"""What a prefix cache would have reused of a log, and what kept it from reusing more: `PrefixReport`."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from rich.console import RenderableType

BREAKS: Mapping[str, str] = {
    "session-id": "an id that is new in each request: put it behind what stays the same, or leave it out",
    "timestamp": "a date or a time: put it behind what stays the same, or round it",
    "key-order": "the same JSON with its keys in another order: write them in one order",
    "json-format": "the same JSON, written otherwise: encode it in one place",
    "tools-order": "the same tools in another order: sort them",
    "tools-changed": "other tools: offer the same ones in each request, or put those that vary last",
    "variable": "another value of a template variable: keep it, or put it last",
    "white-space": "white space alone",
    "history-rewritten": "the template prints older messages otherwise once others follow",
    "system-prompt": "another system prompt: put what varies last",
    "changed-content": "other text, with much behind it that is the same: put what varies last",
    "new-content": "new text, and nothing behind it that was there before",
}
"""Each kind of break, and what it means. The last one costs nothing."""

_SHOWN = 20
_WIDTH = 120


@dataclass(frozen=True, slots=True)
class PrefixBreak:
    """The place where a request parts from the earlier one that it is most like.

    Attributes:
        kind: One of `BREAKS`.
        earlier: The index of the earlier request.
        tokens: How many tokens the two have in common before it.
        lost: How many tokens behind it stand in both: what a cache could have reused besides.
        message: The index of the message. None if it is in none, or the request was logged as text.
        field: The caller's field, such as `"content"` or `"tools[0].function.name"`. None for the template's own text.
        before: The differing words of the earlier request.
        after: Those of this one.
    """

    kind: str
    earlier: int
    tokens: int
    lost: int
    message: int | None
    field: str | None
    before: str
    after: str

    @property
    def place(self) -> str:
        """Where it is, for people."""
        named = [] if self.message is None else [f"message {self.message}"]
        return ", ".join(named + ([] if self.field is None else [self.field])) or "the template's text"


@dataclass(frozen=True, slots=True)
class RequestReuse:
    """What a cache would have reused of one request.

    Attributes:
        index: Its place in the log.
        tokens: How many tokens it has.
        reused: How many of these the cache holds when it comes.
        broken: Where it parts from an earlier request. None if it goes on from one, or is like none.
    """

    index: int
    tokens: int
    reused: int
    broken: PrefixBreak | None = None

    @property
    def share(self) -> float:
        """The share of its tokens that are reused."""
        return self.reused / self.tokens if self.tokens else 0.0


@dataclass(frozen=True)
class PrefixReport:
    """What a prefix cache would have reused of a log of requests. Prints as a table, also through `rich`.

    Attributes:
        requests: The requests, in order.
        block_size: How many tokens a block of the cache has.
        unit: `"tokens"`; `"bytes"` where texts were given without a tokenizer.
    """

    requests: Sequence[RequestReuse]
    block_size: int
    unit: Literal["tokens", "bytes"] = "tokens"

    @property
    def tokens(self) -> int:
        """How many tokens all requests have."""
        return sum(request.tokens for request in self.requests)

    @property
    def reused(self) -> int:
        """How many of them a cache would have reused."""
        return sum(request.reused for request in self.requests)

    @property
    def share(self) -> float:
        """The share of tokens that a cache would have reused, from 0 to 1."""
        return self.reused / self.tokens if self.tokens else 0.0

    @property
    def breaks(self) -> list[tuple[int, PrefixBreak]]:
        """The breaks that cost something, with the index of their request: the most costly first."""
        found = [(request.index, request.broken) for request in self.requests if request.broken is not None]
        costly = [(index, broken) for index, broken in found if broken.kind != "new-content"]
        return sorted(costly, key=lambda pair: -pair[1].lost)

    @property
    def lost(self) -> dict[tuple[str, str], int]:
        """How many tokens are lost to each kind of break in each field, the most costly first."""
        totals: dict[tuple[str, str], int] = {}
        for _, broken in self.breaks:
            key = broken.kind, broken.place
            totals[key] = totals.get(key, 0) + broken.lost
        return dict(sorted(totals.items(), key=lambda pair: -pair[1]))

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON."""
        return {
            "block_size": self.block_size,
            "unit": self.unit,
            "tokens": self.tokens,
            "reused": self.reused,
            "share": self.share,
            "lost": [{"kind": kind, "place": place, "tokens": lost} for (kind, place), lost in self.lost.items()],
            "requests": [asdict(request) for request in self.requests],
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the report to a file, as JSON."""
        Path(path).write_text(json.dumps(self.as_json(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")

    def __rich__(self) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        reused = f"{self.reused:,} of {self.tokens:,} {self.unit} ({self.share:.1%})"
        summary = f"{len(self.requests):,} requests, {reused} reused in blocks of {self.block_size}"
        return Group(Text(summary), *self._tables())

    def _tables(self) -> list[RenderableType]:
        from rich.text import Text

        if not self.breaks:
            return [Text("no prefix breaks before its time")]
        causes = _table("what breaks prefixes", "where", "times", f"{self.unit} lost")
        times = [(broken.kind, broken.place) for _, broken in self.breaks]
        for (kind, place), lost in self.lost.items():
            causes.add_row(
                Text(f"{kind}: {BREAKS[kind]}"), Text(_shown(place)), f"{times.count((kind, place)):,}", f"{lost:,}"
            )
        places = _table("request", "breaks after", "like request", "kind", "before", "after")
        for index, broken in self.breaks[:_SHOWN]:
            words = (Text(repr(broken.before)), Text(repr(broken.after)))
            places.add_row(str(index), f"{broken.tokens:,}", str(broken.earlier), broken.kind, *words)
        more = len(self.breaks) - _SHOWN
        return [causes, places, *([Text(f"… and {more:,} more; as_json() has all")] if more > 0 else [])]

    def __str__(self) -> str:
        from rich.console import Console

        file = StringIO()
        Console(file=file, width=_WIDTH, color_system=None, legacy_windows=False).print(self)
        return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def _shown(text: str) -> str:
    """Return `text` with what could not be seen, or could steer a terminal, as escapes."""
    return text if text.isprintable() else repr(text)[1:-1]


def _table(*names: str) -> Any:
    from rich.box import SIMPLE
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE, pad_edge=False)
    for name in names:
        table.add_column(Text(name), overflow="fold", justify="right" if name in ("times", "request") else "left")
    return table
