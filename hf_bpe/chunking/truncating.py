"""`truncate_to_tokens`: as much of a text as a budget of tokens holds."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Literal

from hf_bpe.chunking.borders import Borders
from hf_bpe.chunking.budget import Budget, last_fitting
from hf_bpe.tokenizer import HfBpeTokenizer


def truncate_to_tokens(
    text: str,
    tokenizer: HfBpeTokenizer,
    max_tokens: int,
    side: Literal["right", "left"] = "right",
    *,
    add_special_tokens: bool = True,
) -> str:
    """Return as much of a text as fits `max_tokens` tokens when it is encoded again.

    It is cut between characters as readers see them (extended grapheme clusters), never inside an added token; inside
    a character only where not even one fits. If no code point fits, the result is empty.

    Args:
        text: The text.
        tokenizer: What to count with.
        max_tokens: How many tokens the result may have, special tokens that are added included.
        side: Which end is cut off.
        add_special_tokens: Whether the post-processor's special tokens count.

    Raises:
        TypeError: An argument is of another type.
        ValueError: The budget is less than an empty text takes; `side` is neither; the tokenizer has dropout.

    Example:
        >>> truncate_to_tokens("hello world", tokenizer, 1)
        'hello'
    """
    budget = Budget(text, tokenizer, max_tokens, add_special_tokens=add_special_tokens, caller="truncate_to_tokens")
    if budget.room < 0:
        raise ValueError(
            f"truncate_to_tokens(): max_tokens={max_tokens}, and an empty text takes {max_tokens - budget.room}"
        )
    if side not in ("right", "left"):
        raise ValueError(f"truncate_to_tokens(): side is 'right' or 'left', got {side!r:.60}")
    if budget.fits(0, len(text)):
        return text
    borders = Borders(text, "character", budget.uncut)
    for level in range(len(borders.kinds)):
        # What is left of a text from 0 to the end of it; the last of these was tried, and is too long.
        places = [0, *borders[level]]
        kept = _start_of(budget, places) if side == "right" else _end_of(budget, places)
        if kept:
            return kept
    return ""


def _start_of(budget: Budget, places: list[int]) -> str:
    guess = bisect_right(places, budget.about_end(0)) - 1
    kept = last_fitting(0, len(places) - 1, guess, lambda index: budget.fits(0, places[index]))
    return budget.text[: places[kept]]


def _end_of(budget: Budget, places: list[int]) -> str:
    last, end = len(places) - 1, len(budget.text)
    guess = last - bisect_left(places, budget.about_start(end, budget.room))
    kept = last_fitting(0, last, guess, lambda index: budget.fits(places[last - index], end))
    return budget.text[places[last - kept] :]
