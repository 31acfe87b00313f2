"""Fits a chat into a number of tokens by dropping its oldest turns whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hf_bpe.errors import ChatError

KEPT = ("system", "developer")


def cuts_of(roles: Sequence[str]) -> tuple[int, list[int]]:
    """Return how many messages at the start are always kept, and where the kept rest may begin.

    It begins with a message of the user, so that an answer never stands without its question, nor the result of a tool
    without its call: most templates refuse such chats or write them wrongly.
    """
    kept = next((at for at, role in enumerate(roles) if role not in KEPT), len(roles))
    return kept, [at for at, role in enumerate(roles) if role == "user" and at > kept]


def first_that_fits(
    cuts: Sequence[int], dropped: Sequence[int], excess: int, fits: Callable[[int], bool]
) -> int | None:
    """Return the first of `cuts` from which on the chat fits, or None.

    Args:
        cuts: Where the rest may begin.
        dropped: How many tokens each cut drops, if the template writes the rest as before.
        excess: How many tokens have to go.
        fits: Tells whether the chat fits when the rest begins there.
    """
    guess = next((at for at, tokens in enumerate(dropped) if tokens >= excess), max(len(cuts) - 1, 0))
    at = next((at for at in range(guess, len(cuts)) if fits(cuts[at])), None)
    if at is None:
        return None
    while at == guess and guess > 0 and fits(cuts[guess - 1]):
        at = guess = guess - 1
    return cuts[at]


def too_long(max_length: int, kept: int, last: int, count: int) -> ChatError:
    """Return the error for a chat that no cut makes fit."""
    system = f"messages[:{kept}] and " if kept else ""
    return ChatError(
        f"max_length is {max_length}, but {system}messages[{last}:] alone have {count} tokens; whole turns are dropped "
        "only before a message of the user, so raise max_length or shorten these messages."
    )
