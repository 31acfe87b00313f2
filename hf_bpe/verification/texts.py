"""The texts that two tokenizers are compared on, group by group."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TypeVar

from hf_bpe.verification.hostile_texts import HOSTILE_TEXTS, random_texts

T = TypeVar("T")

_RANDOM = 1_000
_PAIRS = 20_000
_ADDED = 1_024
_AROUND = ("{}", "a{}", "{}a", " {} ", "{}{}", "\n{}\n", "a {} b", "1{}1", "é{}語", "<{}>")
_SEED = 20_240


def groups(
    tokens: Iterable[str], added_tokens: Sequence[str], corpus: Iterable[str] | None, sample: int | None
) -> Iterator[tuple[str, list[str]]]:
    """Yield each group's name and its texts. The same arguments give the same texts.

    Args:
        tokens: The text of each ordinary token that has one.
        added_tokens: The added tokens.
        corpus: The caller's texts.
        sample: How many texts a group has at most, but for those by hand and the caller's. None is all.
    """
    rng = random.Random(_SEED)
    yield "hostile texts", [*HOSTILE_TEXTS, *random_texts(_limit(_RANDOM, sample), rng)]
    if corpus is not None:
        yield "given texts", list(corpus)
    around = _in_context(_some(list(dict.fromkeys(added_tokens)), _limit(_ADDED, sample), rng))
    if around:
        yield "added tokens", around
    words = sorted(set(tokens))
    yield "tokens", _some(words, sample, rng)
    yield "splits of tokens", _some(_splits(_some(words, sample, rng)), sample, rng)
    if words:
        yield "pairs of tokens", _pairs(words, _limit(_PAIRS, sample), rng)


def _limit(count: int, sample: int | None) -> int:
    return count if sample is None else min(count, sample)


def _some(texts: list[T], sample: int | None, rng: random.Random) -> list[T]:
    return texts if sample is None or len(texts) <= sample else rng.sample(texts, sample)


def _pairs(words: list[str], count: int, rng: random.Random) -> list[str]:
    if len(words) ** 2 <= count:
        return [first + second for first in words for second in words]
    return [rng.choice(words) + rng.choice(words) for _ in range(count)]


def _splits(words: list[str]) -> list[str]:
    """Return what is left and right of each cut through each word, where that is no word itself."""
    halves = {half for word in words for cut in range(1, len(word)) for half in (word[:cut], word[cut:])}
    return sorted(halves.difference(words))


def _in_context(added_tokens: list[str]) -> list[str]:
    """Return each added token alone, between others, cut short and in other letters."""
    found = [form.replace("{}", token) for token in added_tokens for form in _AROUND]
    for token in added_tokens:
        found += [token[:-1], token[1:], token.upper(), token.lower(), token[:1] + " " + token[1:], token + token[:-1]]
    found += [one + other for one, other in pairwise(added_tokens)]
    return list(dict.fromkeys(found))
