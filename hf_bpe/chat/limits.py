"""What a chat template may cost: iterations, and characters.

A template is a program that came with a model, and Jinja's sandbox bounds neither its loops nor its strings. Each
render has a [`Meter`][hf_bpe.chat.limits.Meter]; the template's code ticks it, and strings are charged to it.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import NoReturn

from hf_bpe.errors import ChatError

FREE = 256
"""Strings up to this length are not charged: what they can cost is bounded by the iterations."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of one render.

    The defaults leave room for 10,000 turns and 10 MB of content, even if the template gathers 10,000 turns of a few
    hundred characters in one variable, and writes it anew for each.

    Attributes:
        iterations: How often loop bodies, macros and call blocks may run, all together.
        characters: How long a string, a list or the rendered text may become.
        work: How many characters may be written in all, counting every string on the way.
    """

    iterations: int = 1_000_000
    characters: int = 100_000_000
    work: int = 40_000_000_000

    def __post_init__(self) -> None:
        """Refuse what is no number.

        Raises:
            TypeError: A bound is something else.
        """
        for name in ("iterations", "characters", "work"):
            if not isinstance(getattr(self, name), int):
                raise TypeError(f"Limits({name}=...) is a whole number, got {getattr(self, name)!r}")


class Meter:
    """Counts what one render costs, and stops it with a `ChatError`."""

    __slots__ = ("iterations", "limits", "message", "work")

    def __init__(self, limits: Limits) -> None:
        """Start at zero."""
        self.limits = limits
        self.iterations = limits.iterations
        self.work = limits.work
        self.message: int | None = None

    def tick(self) -> None:
        """Count one iteration."""
        self.iterations -= 1
        if self.iterations < 0:
            self.stop(f"runs more than {self.limits.iterations:,} iterations", "iterations")

    def charge(self, length: int) -> None:
        """Count a string or a list of this length, before or after it is made."""
        if length > self.limits.characters:
            self.stop(
                f"makes a string or list of {length:,} items, over {self.limits.characters:,}",
                "characters",
            )
        self.work -= length
        if self.work < 0:
            self.stop(f"writes more than {self.limits.work:,} characters in all", "work")

    def stop(self, what: str, setting: str) -> NoReturn:
        """Raise the error, which names the message whose turn it was."""
        where = "" if self.message is None else f", in the turn of messages[{self.message}]"
        raise ChatError(
            f"the chat template {what}{where}; shorten the chat, correct the template, or pass "
            f"limits=Limits({setting}=...) with a higher bound."
        )


METER: ContextVar[Meter] = ContextVar("METER")


def charge(length: int) -> None:
    """Count a string of this length against the render that is going on, if one is."""
    meter = METER.get(None)
    if meter is not None:
        meter.charge(length)
