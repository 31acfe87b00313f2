"""What parts of a text cost in tokens.

The tokens of a part are not a slice of the tokens of the whole: a pattern may look beyond the cut, a prefix space may
be added, a merge may cross. So one encoding of the whole, with offsets, says about where a budget ends, and each part
is then encoded by itself.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from itertools import accumulate

from hf_bpe.tokenizer import HfBpeTokenizer


class Budget:
    """A text and how many tokens a part of it may take, special tokens that are added included.

    Attributes:
        room: What is left for the part itself.
        uncut: Where added tokens of more than one character stand in the text.
    """

    def __init__(
        self, text: str, tokenizer: HfBpeTokenizer, max_tokens: int, *, add_special_tokens: bool, caller: str
    ) -> None:
        _check(text, tokenizer, max_tokens, caller)
        self.text = text
        self.max_tokens = max_tokens
        self._core = tokenizer._core
        self._add = add_special_tokens
        self._split = bool(tokenizer.split_special_tokens)
        self.room = max_tokens - (self._core.num_special_tokens_to_add() if add_special_tokens else 0)
        self._known: dict[tuple[int, int], list[int]] = {}
        whole = self._core.encode(text, add_special_tokens=False, split_special_tokens=self._split)
        offsets = whole.offsets
        self._starts = list(accumulate((start for start, _ in offsets), max))
        added = {token_id for token_id, _ in self._core.added_tokens()}
        found = (span for token_id, span in zip(whole.ids, offsets, strict=True) if token_id in added)
        self.uncut = [(start, end) for start, end in found if end - start > 1]

    def ids(self, start: int, end: int) -> list[int]:
        """Return the ids of a part, encoded by itself."""
        if (start, end) not in self._known:
            self._known[start, end] = self._encode(start, end, self._add)
        return self._known[start, end]

    def fits(self, start: int, end: int) -> bool:
        """Whether the encoding of a part fits."""
        return len(self.ids(start, end)) <= self.max_tokens

    def bare_length(self, start: int, end: int) -> int:
        """Return how many tokens a part takes by itself, without special tokens that are added."""
        return len(self._encode(start, end, False))

    def forget(self) -> None:
        """Drop the ids of parts that were looked at."""
        self._known.clear()

    def about(self, start: int, end: int) -> int:
        """Return about how many tokens a part takes."""
        return bisect_left(self._starts, end) - bisect_left(self._starts, start)

    def about_end(self, start: int) -> int:
        """Return about where the largest part ends that starts here."""
        token = bisect_left(self._starts, start) + self.room
        return self._starts[token] if token < len(self._starts) else len(self.text)

    def about_start(self, end: int, tokens: int) -> int:
        """Return about where the largest part of so many tokens starts that ends here."""
        token = bisect_left(self._starts, end) - tokens
        return self._starts[token] if token > 0 else 0

    def _encode(self, start: int, end: int, add_special_tokens: bool) -> list[int]:
        part = self.text[start:end]
        return self._core.encode_ids(part, add_special_tokens=add_special_tokens, split_special_tokens=self._split)


def last_fitting(low: int, high: int, guess: int, fits: Callable[[int], bool]) -> int:
    """Return the last number below `high` that fits, looked for near a guess.

    Args:
        low: A number that fits; it isn't tried.
        high: One that doesn't, or that there is not; it isn't tried.
        guess: Where to begin.
        fits: Whether a number fits. Where it isn't monotone, the result fits, and the number after it doesn't.
    """
    at, step = min(max(guess, low + 1), high - 1), 1
    while high - low > 1:
        if not low < at < high:
            at = (low + high) // 2
        if fits(at):
            low, at = at, at + step
        else:
            high, at = at, at - step
        step *= 2
    return low


def _check(text: str, tokenizer: HfBpeTokenizer, max_tokens: int, caller: str) -> None:
    if not isinstance(text, str):
        raise TypeError(f"{caller}() takes a str, got {type(text).__name__}")
    if not isinstance(tokenizer, HfBpeTokenizer):
        raise TypeError(f"{caller}() takes an HfBpeTokenizer, got {type(tokenizer).__name__}")
    if not isinstance(max_tokens, int) or isinstance(max_tokens, bool):
        raise TypeError(f"{caller}(): max_tokens is an int, got {max_tokens!r:.60}")
    if tokenizer._core.dropout:
        raise ValueError(
            f"{caller}(): this tokenizer has a dropout of {tokenizer._core.dropout:g}, so that no text has one length "
            "in tokens. Set model.dropout to null in its tokenizer.json."
        )
