"""What can be said of a merge list for which neither a proof nor a text is at hand that it equals a rank file.

The proof fails on tokens that the list joins of other halves than ranks do, or by a merge that stands before one which
makes a part of it. If a text shows a difference, it is likely to hold such a token: each is tried beside every other
token, and if none shows one, the token itself is the reason that is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, islice, pairwise

from hf_bpe.byte_alphabet import CHAR_TO_BYTE
from hf_bpe.formats import differences
from hf_bpe.vocabulary import Vocabulary

_TOKENS = 8
"""Of more tokens a text is no likelier to come."""
_AT_ONCE = 10_000

Pair = tuple[bytes, bytes]
Priority = Callable[[Pair], "int | None"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was found: a text, or the reason why nothing was proved."""

    text: str | None
    reason: str


def evidence(vocabulary: Vocabulary) -> Evidence:
    """Return a text to which ranks give other ids, or why there is neither one nor a proof.

    Args:
        vocabulary: A byte-level vocabulary whose merges were neither proved to equal its ranks nor to differ.
    """
    odd = list(islice(_odd_tokens(vocabulary), _TOKENS))
    if not odd:
        return Evidence(
            None, "too many of its merges stand in another order than the ids of their tokens to try them all"
        )
    texts = differences.as_texts(_beside(vocabulary, [token for token, _ in odd]))
    found = _different(vocabulary, texts)
    token, why = odd[0]
    return Evidence(found, f"the token {token!r} {why}, and none of {len(texts):,} texts around such tokens changes")


def _odd_tokens(vocabulary: Vocabulary) -> Iterator[tuple[bytes, str]]:
    """Yield the tokens on which the proof fails, the shortest first, each with what is odd about it."""
    ranks = vocabulary.ranks()
    listed = {(_bytes_of(left), _bytes_of(right)): rank for rank, (left, right) in enumerate(vocabulary.merges)}
    for token in sorted(ranks, key=len):
        one, rises = _last_step(token, listed.get)
        other, rises_by_ranks = _last_step(token, lambda pair: ranks.get(pair[0] + pair[1]))
        if one != other and one and other:
            yield token, f"is joined of {one[0]!r} + {one[1]!r}, and by ranks of {other[0]!r} + {other[1]!r}"
        elif one is not None and not (rises and rises_by_ranks):
            where = "the list" if not rises else "the ranks"
            yield token, f"is joined by a merge that stands in {where} before one that makes a part of it"


def _last_step(token: bytes, priority: Priority) -> tuple[Pair | None, bool]:
    """Return the halves that a token is joined of, if it is, and whether no step had a lower rank than one before."""
    parts = [token[at : at + 1] for at in range(len(token))]
    last: Pair | None = None
    highest, rises = -1, True
    while len(parts) > 1:
        found = ((rank, at) for at, pair in enumerate(pairwise(parts)) if (rank := priority(pair)) is not None)
        best = min(found, default=None)
        if best is None:
            return None, rises
        rank, at = best
        rises, highest = rises and rank >= highest, rank
        last = (parts[at], parts[at + 1])
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return last, rises


def _bytes_of(token: str) -> bytes:
    return bytes(CHAR_TO_BYTE[char] for char in token)


def _beside(vocabulary: Vocabulary, odd: list[bytes]) -> Iterator[bytes]:
    """Yield each odd token before and behind each token."""
    others = sorted(vocabulary.ranks(), key=len)
    return chain.from_iterable((token + other, other + token) for token in odd for other in others)


def _different(vocabulary: Vocabulary, texts: list[str]) -> str | None:
    listed, ranked = vocabulary.core, vocabulary.core.as_rank_file()
    for start in range(0, len(texts), _AT_ONCE):
        batch = texts[start : start + _AT_ONCE]
        rows = zip(batch, listed.encode_ordinary_batch(batch), ranked.encode_ordinary_batch(batch), strict=True)
        if (text := next((text for text, one, other in rows if one != other), None)) is not None:
            return differences.shrink(text, differences.encoder(listed), differences.encoder(ranked))
    return None
