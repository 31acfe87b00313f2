"""`split_by_tokens`: a text in chunks, each of which fits a budget by its own encoding."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import get_args

from hf_bpe.chunking.borders import Borders, Boundary
from hf_bpe.chunking.budget import Budget, last_fitting
from hf_bpe.tokenizer import HfBpeTokenizer


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a text.

    Attributes:
        text: The part.
        start: Where it starts in the text, in characters.
        end: Where it ends.
        ids: What it is encoded to by itself.
    """

    text: str
    start: int
    end: int
    ids: list[int]


def split_by_tokens(
    text: str,
    tokenizer: HfBpeTokenizer,
    max_tokens: int,
    *,
    overlap: int = 0,
    boundary: Boundary = "sentence",
    add_special_tokens: bool = True,
) -> Iterator[Chunk]:
    """Cut a text into chunks of at most `max_tokens` tokens.

    Each chunk's ids are what `tokenizer.encode(chunk.text)` gives, BOS and EOS included, and they fit. Without overlap
    the chunks, one after the other, are the text.

    A text is cut at the borders that are asked for. Only what is longer than the budget by itself is cut at finer ones:
    lines at sentences, sentences at words, words between letters and marks, then between characters as readers see
    them, then between code points. An added token is one character. Sentences, words and characters are those of
    Unicode Standard Annex #29; a word takes the white space and the closing marks behind it along.

    Args:
        text: The text. An empty one has no chunks.
        tokenizer: What to count with.
        max_tokens: How many tokens a chunk may have, special tokens that are added included.
        overlap: How many tokens a chunk may share with the one before. It begins where a sentence (line) does, or else
            where a word does; where neither leaves room for what comes next, chunks share less, or nothing.
        boundary: Where to cut: `"sentence"`, `"word"`, `"line"`.
        add_special_tokens: Whether the post-processor's special tokens count and are among the ids.

    Yields:
        The chunks, in order.

    Raises:
        TypeError: An argument is of another type.
        ValueError: The budget has no room for a token, or one character is longer; an argument is out of range; the
            tokenizer has dropout.

    Example:
        >>> for chunk in split_by_tokens("One. Two three.", tokenizer, 4):
        ...     print(repr(chunk.text), chunk.start, len(chunk.ids))
        'One. ' 0 3
        'Two three.' 5 3
    """
    budget = Budget(text, tokenizer, max_tokens, add_special_tokens=add_special_tokens, caller="split_by_tokens")
    if budget.room < 1:
        raise ValueError(
            f"split_by_tokens(): max_tokens={max_tokens} leaves no room for a token beside the "
            f"{max_tokens - budget.room} special tokens that are added"
        )
    if not isinstance(overlap, int) or isinstance(overlap, bool) or not 0 <= overlap < budget.room:
        raise ValueError(f"split_by_tokens(): overlap is from 0 to {budget.room - 1} here, got {overlap!r:.60}")
    if boundary not in get_args(Boundary):
        raise ValueError(f"split_by_tokens(): boundary is 'sentence', 'word' or 'line', got {boundary!r:.60}")
    return _Splitter(budget, Borders(text, boundary, budget.uncut), overlap).chunks()


class _Splitter:
    def __init__(self, budget: Budget, borders: Borders, overlap: int) -> None:
        self._budget = budget
        self._borders = borders
        self._overlap = overlap
        # Up to where a piece of each kind is known to be longer than the budget.
        self._too_long_up_to = [0] * len(borders.kinds)

    def chunks(self) -> Iterator[Chunk]:
        start = end = 0
        budget = self._budget
        while end < len(budget.text):
            level, first_stop = self._first_piece(end)
            start = self._shared_from(start, end, first_stop) if self._overlap and end else end
            end = self._furthest(start, end, first_stop, level)
            yield Chunk(budget.text[start:end], start, end, budget.ids(start, end))
            budget.forget()

    def _first_piece(self, at: int) -> tuple[int, int]:
        """Return the kind and the end of the coarsest piece from here that fits."""
        far_too_long = 2 * self._budget.room + 16
        for level in range(len(self._borders.kinds)):
            ends = self._borders[level]
            end = ends[bisect_right(ends, at)]
            known = at < self._too_long_up_to[level]
            if known and self._budget.about(at, end) > far_too_long:
                # Not encoded again for each chunk of a long piece, which may be all of the text.
                continue
            if self._budget.fits(at, end):
                return level, end
            self._too_long_up_to[level] = end
        raise ValueError(
            f"split_by_tokens(): character {at}, {self._budget.text[at:end]!r}, takes {len(self._budget.ids(at, end))} "
            f"tokens by itself, and max_tokens is {self._budget.max_tokens}"
        )

    def _furthest(self, start: int, at: int, first_stop: int, level: int) -> int:
        """Return the last end that fits, of the kind's, up to the end of the piece that is being cut."""
        ends = self._borders[level]
        limit = len(self._budget.text)
        if level:
            coarser = self._borders[level - 1]
            limit = coarser[bisect_right(coarser, at)]
        low, high = bisect_left(ends, first_stop), bisect_right(ends, limit)
        guess = bisect_right(ends, self._budget.about_end(start)) - 1
        return ends[last_fitting(low, high, guess, lambda index: self._budget.fits(start, ends[index]))]

    def _shared_from(self, last_start: int, end: int, first_stop: int) -> int:
        """Return where the next chunk starts: before the end of the last one, if there is room."""
        for level in dict.fromkeys((0, self._borders.kinds.index("word"))):
            start = self._shared_at(self._borders[level], last_start, end, first_stop)
            if start < end:
                return start
        return end

    def _shared_at(self, ends: Sequence[int], last_start: int, end: int, first_stop: int) -> int:
        """Return the first border between the last chunk's start and end from which all fits, or else that end."""
        budget = self._budget
        starts = [end, *reversed(ends[bisect_right(ends, last_start) : bisect_left(ends, end)])]
        about = budget.about_start(end, self._overlap)
        guess = sum(start >= about for start in starts) - 1

        def fits(index: int) -> bool:
            start = starts[index]
            return budget.bare_length(start, end) <= self._overlap and budget.fits(start, first_stop)

        return starts[last_fitting(0, len(starts), guess, fits)]
