"""What a check of a chat found: `Finding`, one thing that is lost or changed in silence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Level = Literal["error", "warning", "note"]

KINDS: Mapping[str, tuple[Level, str]] = {
    "refused": ("error", "the template raises an error"),
    "dropped-message": ("warning", "the whole message is left out"),
    "ignored-system": ("warning", "the system message is left out"),
    "dropped-content": ("warning", "content, or a part of it, is left out"),
    "dropped-tool-calls": ("warning", "tool calls are left out"),
    "dropped-tools": ("warning", "tools are left out"),
    "dropped-documents": ("warning", "documents are left out"),
    "dropped-none": ("warning", "a value is None, which is dropped, or printed as a word"),
    "printed-repr": ("warning", "a value that is no text is printed the way Python shows it"),
    "double-encoded": ("warning", "JSON text is encoded as JSON once more"),
    "empty-tools": ("warning", "tools=[] announces tools, and there are none"),
    "empty-tool-calls": ("warning", "an empty list of tool calls isn't taken for none"),
    "first-not-user": ("warning", "the first message is printed as the user's, and is not"),
    "trimmed-prefill": ("warning", "the answer to continue is changed at its ends"),
    "control-token": ("warning", "text of the caller becomes a control token"),
    "trimmed-content": ("note", "spaces or newlines around content are cut off"),
    "dropped-reasoning": ("note", "reasoning is left out"),
    "unsorted-tool-keys": ("note", "keys of tools stand in an order of their own, which no cache shares"),
    "unstable-date": ("note", "the text changes with the clock"),
    "second-bos": ("note", "encoding the text once more adds a second BOS"),
}
"""Each kind of finding, how grave it is, and what it means. A note tells what is as the template means it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that comes out otherwise than it went in.

    Attributes:
        kind: One of `KINDS`.
        message: The index of the message. None for what belongs to none: tools, the date, BOS.
        field: The field: `"content"`, `"content[1].text"`, `"tool_calls[0].function.arguments"`, `"tools"`. None for
            the message as a whole.
        explanation: What happens to it, and what to do.
        evidence: The text that shows it: what was lost, or what is printed instead.
    """

    kind: str
    message: int | None
    field: str | None
    explanation: str
    evidence: str

    @property
    def level(self) -> Level:
        """How grave it is."""
        return KINDS[self.kind][0]

    @property
    def place(self) -> str:
        """Where it is, for people: `message 2, content`."""
        named = [] if self.message is None else [f"message {self.message}"]
        return ", ".join(named + ([] if self.field is None else [self.field])) or "chat"

    def as_json(self) -> dict[str, Any]:
        """Return the finding as JSON."""
        return {
            "kind": self.kind,
            "level": self.level,
            "message": self.message,
            "field": self.field,
            "explanation": self.explanation,
            "evidence": self.evidence,
        }

    def __str__(self) -> str:
        return f"{self.level}: {self.place}: {self.explanation} ({self.kind}): {self.evidence!r}"


_EVIDENCE = 80


def cut(text: str) -> str:
    """Return `text`, or its ends where it is long: evidence is to be looked at."""
    return text if len(text) <= _EVIDENCE else f"{text[: _EVIDENCE // 2]}…{text[-_EVIDENCE // 2 :]}"


def in_order(findings: list[Finding]) -> list[Finding]:
    """Return findings by message, those of the whole chat last; in a message, the gravest kinds first."""
    kinds = list(KINDS)
    last = 1 + max((finding.message or 0 for finding in findings), default=0)
    return sorted(
        findings, key=lambda found: (last if found.message is None else found.message, kinds.index(found.kind))
    )
