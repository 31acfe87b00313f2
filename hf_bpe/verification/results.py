"""What a comparison found: `Agreement`, which is true, or `Difference`, which is false. Both print as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

_SHOWN_IDS = 12
_SHOWN_TEXT = 200


@dataclass(frozen=True)
class Agreement:
    """Two tokenizers gave the same ids and decoded them to the same text, every time.

    Attributes:
        first: The first tokenizer, by library and version.
        second: The second.
        texts: How many texts were tried, by what they are.
        identical: Whether the two are one and the same core, so that nothing had to be tried.
    """

    first: str
    second: str
    texts: Mapping[str, int] = field(default_factory=dict)
    identical: bool = False

    @property
    def total(self) -> int:
        """How many texts were tried."""
        return sum(self.texts.values())

    def as_json(self) -> dict[str, Any]:
        """Return the agreement as JSON."""
        return {
            "agree": True,
            "first": self.first,
            "second": self.second,
            "identical": self.identical,
            "texts": dict(self.texts),
            "total": self.total,
        }

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        if self.identical:
            return f"{self.first} and {self.second} hold the same vocabulary and pipeline, byte for byte"
        rows = [(group, f"{count:,}") for group, count in self.texts.items()]
        return _table(f"{self.first} and {self.second} agree on {self.total:,} texts", rows)


@dataclass(frozen=True)
class Difference:
    """Two tokenizers differ on a text, which is as short as could be found.

    Attributes:
        first: The first tokenizer, by library and version.
        second: The second.
        kind: `"ids"`, or `"text"` where equal ids are decoded to different texts.
        group: Among which texts it was found, such as `"tokens"`.
        text: The text. Empty where ids were decoded that come from no text.
        first_ids: What the first tokenizer makes of it.
        second_ids: What the second makes of it.
        first_text: What the first decodes its ids to.
        second_text: What the second decodes its ids to.
    """

    first: str
    second: str
    kind: Literal["ids", "text"]
    group: str
    text: str
    first_ids: Sequence[int]
    second_ids: Sequence[int]
    first_text: str
    second_text: str

    def as_json(self) -> dict[str, Any]:
        """Return the difference as JSON."""
        return {
            "agree": False,
            "first": self.first,
            "second": self.second,
            "kind": self.kind,
            "group": self.group,
            "text": self.text,
            "first_ids": list(self.first_ids),
            "second_ids": list(self.second_ids),
            "first_text": self.first_text,
            "second_text": self.second_text,
        }

    def summary(self) -> str:
        """Return the difference as one sentence."""
        if self.kind == "ids":
            return f"{_quoted(self.text)} is {_ids(self.first_ids)} and would become {_ids(self.second_ids)}"
        return (
            f"the ids {_ids(self.first_ids)} are decoded to {_quoted(self.first_text)} and would be decoded to "
            f"{_quoted(self.second_text)}"
        )

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        rows = [
            ("text", _quoted(self.text)),
            (f"ids, {self.first}", _ids(self.first_ids)),
            (f"ids, {self.second}", _ids(self.second_ids)),
            (f"decoded, {self.first}", _quoted(self.first_text)),
            (f"decoded, {self.second}", _quoted(self.second_text)),
        ]
        what = "give different ids" if self.kind == "ids" else "decode the same ids differently"
        return _table(f"{self.first} and {self.second} {what} (found among {self.group})", rows)


def _table(head: str, rows: Sequence[tuple[str, str]]) -> str:
    width = max((len(name) for name, _ in rows), default=0)
    return "\n".join([head, *(f"  {name:<{width}}  {value}" for name, value in rows)])


def _ids(ids: Sequence[int]) -> str:
    shown = ", ".join(map(str, ids[:_SHOWN_IDS]))
    return f"[{shown}, … {len(ids):,} ids]" if len(ids) > _SHOWN_IDS else f"[{shown}]"


def _quoted(text: str) -> str:
    return repr(text) if len(text) <= _SHOWN_TEXT else f"{text[:_SHOWN_TEXT]!r}… ({len(text):,} characters)"
