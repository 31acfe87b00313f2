"""Safe strings of Jinja's that know who wrote them, as long as they are only printed.

`markupsafe.Markup` escapes what it is joined with. Its methods return plain `Markup`, which counts as the caller's.
"""

from __future__ import annotations

from typing import Any

from markupsafe import Markup, escape

from hf_bpe.chat.provenance import Source, Traced, plain, source_of, uniform


class TracedMarkup(Markup):
    """A safe string and its source. Those that `Markup` makes of it have none."""

    __slots__ = ("source",)

    source: Source


MARKUP: frozenset[type] = frozenset({Markup, TracedMarkup})
"""The types of safe strings."""


def marked(text: str, source: Source) -> TracedMarkup:
    """Return a safe string with a source."""
    safe = TracedMarkup(text)
    safe.source = source
    return safe


def safe(value: Any) -> Markup:
    """Mark a value as safe, as Jinja's filter does."""
    return marked(plain(value), source_of(value)) if type(value) is Traced else Markup(value)


def escaped(value: Any) -> Markup:
    """Escape a value, as Jinja's filter does."""
    result = escape(value)
    origin = uniform(value) if type(value) is Traced else None
    return marked(result, origin) if origin else result
