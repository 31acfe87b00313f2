"""What the installed `transformers` does to a caller's data before a template sees it.

Version 5.24 drops keys whose value is None, copies reasoning to all names for it, and makes everything JSON; versions
before it lack some of this. Text and errors are those of the version that is installed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from transformers.utils import chat_template_utils


def as_it_is(value: Any) -> Any:
    """Return the value."""
    return value


def existing(name: str) -> Callable[[Any], Any]:
    """Return a function of upstream's, or one that changes nothing if upstream has none by this name."""
    function: Callable[[Any], Any] = getattr(chat_template_utils, name, as_it_is)
    return function


normalize = existing("_normalize_chat_messages")
"""Make messages dicts, without the keys whose value is None."""

to_json = existing("_plain_template_data")
"""Make a value one of JSON's, with placeholders for what has no place there."""

alias_reasoning = existing("_alias_reasoning_fields")
"""Give the reasoning in messages all its names."""

DROPS_NONE = normalize is not as_it_is
REASONING: tuple[str, ...] = getattr(chat_template_utils, "_REASONING_FIELDS", ())
"""The names of reasoning, which are copies of each other."""
