"""Cuts a text that shows something down to a short one that still does."""

from __future__ import annotations

from collections.abc import Callable

MOST_TRIES = 20_000
"""After so many tries the shortest text so far is good enough."""


def shrink(text: str, shows: Callable[[str], bool]) -> str:
    """Return a part of `text` that `shows` still holds for, and from which no character can be left out.

    Pieces are left out, half of the text first, then smaller ones down to single characters.

    Args:
        text: A text that `shows` holds for.
        shows: Whether a text still has what is looked for.

    Example:
        >>> shrink("some text with an x in it", lambda text: "x" in text)
        'x'
    """
    tries = 0
    size = max(1, len(text) // 2)
    while tries < MOST_TRIES:
        shorter, used = _without_pieces(text, size, shows, MOST_TRIES - tries)
        tries += used
        if shorter == text and size == 1:
            break
        size = max(1, min(size // 2, len(shorter) // 2)) if shorter == text or size > 1 else 1
        text = shorter
    return text


def _without_pieces(text: str, size: int, shows: Callable[[str], bool], most: int) -> tuple[str, int]:
    """Leave out each piece of `size` characters that isn't needed; return what is left and how many were tried."""
    at = tries = 0
    while at < len(text) and tries < most:
        shorter = text[:at] + text[at + size :]
        tries += 1
        if shows(shorter):
            text = shorter
        else:
            at += size
    return text, tries
