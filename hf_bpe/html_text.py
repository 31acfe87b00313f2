"""Any text inside a page: nothing in it is markup, and a reader sees all of it."""

from __future__ import annotations

import html
import re

# Controls, and what reorders a line: shown as escapes, since a browser would drop or obey them.
_CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufffe\uffff]")
_SURROGATES = re.compile("[\ud800-\udfff]")


def visible(text: str) -> str:
    """Return a text without controls: they are written as escapes, but for newlines, and lone surrogates as U+FFFD."""
    shown = _CONTROLS.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)
    return _SURROGATES.sub("\ufffd", shown)


def escaped(text: str) -> str:
    r"""Return a text for the inside of an element or of a quoted attribute, made `visible`.

    Example:
        >>> escaped("</script>\t")
        '&lt;/script&gt;\\t'
    """
    return html.escape(visible(text))
