"""Where each token of a text stands in it, whatever library the tokenizer is of."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import Any, TypeAlias

from hf_bpe._native import Tokenizer
from hf_bpe.measure.tokens import Measured, measured
from hf_bpe.tokenizer import HfBpeTokenizer
from hf_bpe.verification import sides

Place: TypeAlias = tuple[int, int] | None
Token: TypeAlias = tuple[Place, str, int]
"""Where a token stands, None where it was added; its spelling; its id."""


def tokens_of(tokenizer: Any, text: str, *, add_special_tokens: bool) -> tuple[str, list[Token]]:
    """Return the name of a tokenizer, and the tokens of a text.

    Args:
        tokenizer: A tokenizer of any library, the path of one, or one that is measured.
        text: The text.
        add_special_tokens: Whether those that an `HfBpeTokenizer` adds are among them.

    Raises:
        TypeError: It is of no known kind.
    """
    source = measured(tokenizer)
    side = source.side
    if isinstance(tokenizer, HfBpeTokenizer):
        split = bool(tokenizer.split_special_tokens)
        return source.name, _ours(tokenizer._core, text, add_special_tokens=add_special_tokens, split=split)
    if isinstance(side, sides.Ours):
        return source.name, _ours(side.core, text, add_special_tokens=False, split=True)
    return source.name, _of_other_library(source, text)


def _ours(core: Tokenizer, text: str, *, add_special_tokens: bool, split: bool) -> list[Token]:
    encoding = core.encode(text, add_special_tokens=add_special_tokens, split_special_tokens=split)
    inside = [sequence is not None for sequence in encoding.sequence_ids]
    # A post-processor may trim spaces from offsets; here they belong to their tokens.
    ids, aligned = core.align_within(text, [(0, len(text), None)])
    places = aligned.tolist()
    untrimmed = iter(zip(places[::2], places[1::2], strict=True))
    # Other tokens are found where special tokens are split.
    same = ids == [token_id for token_id, is_inside in zip(encoding.ids, inside, strict=True) if is_inside]
    rows = zip(encoding.offsets, encoding.tokens, encoding.ids, inside, strict=True)
    return [
        ((next(untrimmed) if same else offsets) if is_inside else None, token, token_id)
        for offsets, token, token_id, is_inside in rows
    ]


def _of_other_library(source: Measured, text: str) -> list[Token]:
    ids = source.encode([text])[0].tolist()
    pieces = [source.token_bytes.get(token_id, b"") for token_id in ids]
    places = list(_places(text, pieces)) if b"".join(pieces) == _utf8(text) else _told(source, text, len(ids))
    spelled = [piece.decode("utf-8", "backslashreplace") or "added token" for piece in pieces]
    return list(zip(places, spelled, ids, strict=True))


def _places(text: str, pieces: list[bytes]) -> Iterator[Place]:
    """Yield where each piece stands, by the bytes before it."""
    starts = list(accumulate((len(_utf8(char)) for char in text), initial=0))
    at = 0
    for piece in pieces:
        first, last = bisect_right(starts, at) - 1, bisect_right(starts, at + len(piece) - 1)
        yield first, last
        at += len(piece)


def _told(source: Measured, text: str, count: int) -> list[Place]:
    """Return what the library says where a text is normalized, or no place where it doesn't say."""
    if isinstance(source.side, sides.Stock):
        offsets: list[Place] = list(source.side._tokenizer.encode(text, add_special_tokens=False).offsets)
        return offsets
    if isinstance(source.side, sides.SentencePiece):
        found = source.side._processor.encode(text, out_type="immutable_proto")
        return [(piece.begin, piece.end) for piece in found.pieces]
    return [None] * count


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
