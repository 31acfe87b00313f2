"""How many tokens an extension is to make, and which ids they get."""

from __future__ import annotations

from hf_bpe.trainer_settings import check_numbers
from hf_bpe.vocabulary import Vocabulary

_IDS = 2**32


def room_for(
    vocabulary: Vocabulary, *, num_new_tokens: int | None, vocab_size: int | None, fill_padding_rows: int | None
) -> int:
    """Return how many tokens to make: their ids follow the highest one that is used, by added tokens too.

    Args:
        vocabulary: The old vocabulary.
        num_new_tokens: The number itself.
        vocab_size: Instead of it, the highest id plus one to end with.
        fill_padding_rows: How many rows the model's embedding has. New ids stay below; without one of the others,
            they take all that are free.

    Raises:
        TypeError: None of them is given, both of the first two are, or one is no whole number.
        ValueError: There is no room.
    """
    given = {"num_new_tokens": num_new_tokens, "vocab_size": vocab_size, "fill_padding_rows": fill_padding_rows}
    named = {name: number for name, number in given.items() if number is not None}
    if not named or (num_new_tokens is not None and vocab_size is not None):
        raise TypeError(
            "give one of num_new_tokens and vocab_size, or fill_padding_rows, to say how many tokens to add"
        )
    check_numbers(**named)
    used = len(vocabulary)
    for name in ("vocab_size", "fill_padding_rows"):
        if name in named and named[name] < used:
            raise ValueError(f"{name}={named[name]} is less than the {used} ids that are there, 0 to {used - 1}")
    free = (fill_padding_rows or _IDS) - used
    wanted = num_new_tokens if num_new_tokens is not None else vocab_size and vocab_size - used
    if wanted is None:
        return free
    if wanted > free:
        limit = f"fill_padding_rows={fill_padding_rows}" if fill_padding_rows is not None else "32 bits for an id"
        raise ValueError(f"{wanted} new tokens don't fit: {limit} leaves {free}, from id {used} on")
    return wanted
