"""The value between rendering a chat and encoding it: text, and who wrote which part of it."""

from __future__ import annotations

from dataclasses import dataclass
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
    """

    trusted: bool
    message: int | None = None
    field: str | None = None
    lost: bool = False


class Run(NamedTuple):
    """Characters `start` to `end` (end excluded) of a rendered text, of one origin."""

    start: int
    end: int
    origin: Origin


@dataclass(frozen=True, slots=True)
class Rendered:
    """A rendered chat.

    Attributes:
        text: What upstream's `apply_chat_template(tokenize=False)` gives for the same arguments, to the byte.
        runs: Who wrote it. The runs are in order, touch each other, cover `text`, and no two neighbours have the
            same origin. No run is empty.
    """

    text: str
    runs: tuple[Run, ...]
