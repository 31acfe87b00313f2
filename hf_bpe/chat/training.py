"""Which characters of a chat a model is trained on: the assistant's turns, without their headers.

The header is what the template writes when it begins the assistant's turn for generation, so no `{% generation %}` tag
is needed. What the template writes inside the turn (`<tool_call>`, an empty think block) is trained: the model has to
write it too.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hf_bpe.chat.rendered import Run

Span = tuple[int, int]
Anchor = tuple[int, int, int]
"""An added token that splits the text: its place among the ids, and its characters."""


@dataclass(frozen=True, slots=True)
class Trained:
    """What of an assistant's turn is trained, beside what it says.

    Attributes:
        end_of_turn: The token that ends the turn (`<|eot_id|>`, `<|im_end|>`): a model that isn't trained on it never
            stops.
        newline: The white space that the template writes after it. A model stops before it, so it can't be sampled.
        header_newline: The white space that ends the header, as some training templates have it.

    Example:
        >>> chat.encode(tokenizer, messages, training=Trained(newline=True)).assistant_mask
        [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1]
    """

    end_of_turn: bool = True
    newline: bool = False
    header_newline: bool = False


class Turn(NamedTuple):
    """The characters of one message, or of what the template writes before the first and after the last."""

    message: int | None
    runs: Sequence[Run]

    @property
    def start(self) -> int:
        """The first character."""
        return self.runs[0].start

    @property
    def end(self) -> int:
        """The character behind the last."""
        return self.runs[-1].end


def turns_of(runs: Sequence[Run]) -> list[Turn]:
    """Return the turns. What the caller gave beside the messages (tools, variables) belongs to the turn around it."""
    begins: list[tuple[int, int | None]] = []
    for at, (_, _, (_, message, field, _, quoted_in)) in enumerate(runs):
        message = message if quoted_in is None else quoted_in
        apart = message is None and field is not None
        if not begins or not (apart or begins[-1][1] == message):
            begins.append((at, message))
    ends = [at for at, _ in begins[1:]] + [len(runs)] * bool(begins)
    return [Turn(message, runs[at:end]) for (at, message), end in zip(begins, ends, strict=True)]


class Header(NamedTuple):
    """What begins a turn of the assistant, and how much of it has to be there at least."""

    text: str
    least: int

    def end_in(self, text: str, start: int, end: int) -> int | None:
        """Return where this header, or as much of it as is there, ends in the template's characters `start:end`."""
        for length in range(len(self.text), self.least - 1, -1):
            at = text.find(self.text[:length], start, end)
            if at >= 0:
                return at + length
        return None


@dataclass(frozen=True, slots=True)
class Bodies:
    """Finds what is trained in the turns of a text.

    Attributes:
        text: The text.
        anchors: The added tokens in it.
        header: How the assistant's turns begin; None where nobody knows.
        ends_turn: Tells whether an added token may end a turn.
    """

    text: str
    anchors: Sequence[Anchor]
    header: Header | None
    ends_turn: Callable[[str], bool]

    def spans(self, turn: Turn, trained: Trained) -> list[Span]:
        """Return the trained characters of a turn of the assistant."""
        said = [run for run in turn.runs if not run.origin.trusted and run.origin.field != "role"]
        start = self._start(turn, said[0].start if said else turn.end, trained)
        closing = self._closing(turn, max(start, said[-1].end if said else start))
        if closing is None:
            return [(start, turn.end)]
        spans = [(start, closing[0])]
        spans += [closing] if trained.end_of_turn else []
        spans += [(closing[1], turn.end)] if trained.newline else []
        return spans

    def _start(self, turn: Turn, lead: int, trained: Trained) -> int:
        end = None if self.header is None else self.header.end_in(self.text, turn.start, lead)
        start = lead if end is None else end
        header = self.text[turn.start : start]
        return start - (len(header) - len(header.rstrip())) if trained.header_newline else start

    def _closing(self, turn: Turn, after: int) -> Span | None:
        """Return the characters of the token that ends a turn, behind which there is nothing but white space."""
        last = bisect_right(self.anchors, turn.end, key=lambda anchor: anchor[2]) - 1
        if last < 0 or self.anchors[last][1] < after:
            return None
        _, start, end = self.anchors[last]
        closes = self.ends_turn(self.text[start:end].strip()) and not self.text[end : turn.end].strip()
        return (start, end) if closes else None
