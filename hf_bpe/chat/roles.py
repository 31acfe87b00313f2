"""Which role names are a template's vocabulary, not the caller's text."""

from __future__ import annotations

import re
from collections.abc import Iterable

ROLES = frozenset(
    {
        "assistant",
        "bot",
        "developer",
        "environment",
        "function",
        "gpt",
        "human",
        "ipython",
        "model",
        "observation",
        "system",
        "tool",
        "user",
    }
)
"""Role names that chat templates are written for. Any other is the caller's text, unless the template spells it."""

WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
"""What a role name looks like. A literal such as `<|im_end|>` in a template makes no role name of it."""


def known_roles(literals: Iterable[str]) -> frozenset[str]:
    """Return the role names that are trusted: those of the table, and words that are literals of the template."""
    return ROLES.union(literal for literal in literals if WORD.fullmatch(literal))
