"""Training that recounts everything at every merge, with sources, quotas and rules: the oracle of their tests."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import ceil

from hf_bpe.reference import BYTES

Pair = tuple[bytes, bytes]


@dataclass
class Slow:
    """What was learned from sources.

    Attributes:
        vocab: The tokens by id.
        merges: The merges by rank.
        most: For each merge, the source that it was made in most.
        tokens: How many tokens each source takes.
        missing: What quotas lack.
    """

    vocab: list[bytes]
    merges: list[Pair] = field(default_factory=list)
    most: list[int] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    missing: list[int] = field(default_factory=list)


def train(
    sources: Sequence[Mapping[bytes, int]],
    weights: Sequence[int],
    *,
    vocab_size: int,
    quotas: Mapping[int, Fraction] | None = None,
    min_frequency: int = 1,
    allow: Callable[[bytes], bool] = lambda token: True,
) -> Slow:
    """Learn from sources of words with counts; `allow` says which tokens may be made."""
    words = [[([bytes([byte]) for byte in word], count) for word, count in source.items()] for source in sources]
    made = Slow(list(BYTES))
    room = vocab_size - len(BYTES)
    needs = [ceil(share * room) for share in ((quotas or {}).get(at, Fraction(0)) for at in range(len(sources)))]
    over = [need - (quotas or {}).get(at, Fraction(0)) * room for at, need in enumerate(needs)]
    while sum(needs) > room:
        last = max((missing, at) for at, missing in enumerate(over) if missing > 0)[1]
        needs[last], over[last] = needs[last] - 1, Fraction(0)
    made.missing = [0] * len(sources)
    while room > 0:
        total: Counter[Pair] = Counter()
        for source, weight in zip(words, weights, strict=True):
            for symbols, count in source:
                for pair in pairwise(symbols):
                    total[pair] += count * weight
        pairs = [pair for pair, count in total.items() if count >= min_frequency and allow(pair[0] + pair[1])]
        pairs.sort(key=lambda pair: (-total[pair], made.vocab.index(pair[0]), made.vocab.index(pair[1])))
        if sum(needs) >= room and sum(needs):
            lacking = [pair for pair in pairs if needs[_most(words, weights, pair)]]
            if not lacking:
                made.missing, needs = [a + b for a, b in zip(made.missing, needs, strict=True)], [0] * len(needs)
            pairs = lacking or pairs
        if not pairs:
            break
        best = pairs[0]
        most = _most(words, weights, best)
        if needs[most]:
            needs[most] -= 1
        elif made.missing[most]:
            made.missing[most] -= 1
        made.merges.append(best)
        made.most.append(most)
        made.vocab.append(best[0] + best[1])
        words = [[(_joined(symbols, best), count) for symbols, count in source] for source in words]
        room -= 1
    made.missing = [a + b for a, b in zip(made.missing, needs, strict=True)]
    made.tokens = [sum(len(symbols) * count for symbols, count in source) for source in words]
    return made


def _joined(symbols: list[bytes], pair: Pair) -> list[bytes]:
    joined: list[bytes] = []
    for symbol in symbols:
        if joined and (joined[-1], symbol) == pair and not isinstance(joined[-1], _Made):
            joined[-1] = _Made(joined[-1] + symbol)
        else:
            joined.append(symbol)
    return [bytes(symbol) for symbol in joined]


class _Made(bytes):
    """A symbol that this very pass has made, which doesn't merge again in it."""


def _most(words: list[list[tuple[list[bytes], int]]], weights: Sequence[int], pair: Pair) -> int:
    uses = [
        weight * sum((len(symbols) - len(_joined(symbols, pair))) * count for symbols, count in source)
        for source, weight in zip(words, weights, strict=True)
    ]
    return uses.index(max(uses))


def digits(token: bytes) -> int:
    """Return how many digits a token holds, but for a character alone."""
    text = token.decode(errors="replace")
    if len(text) == 1:
        return 0
    return sum(unicodedata.category(char)[0] == "N" for char in text)


def is_within_a_script(token: bytes) -> bool:
    """Whether a token is of letters of one script and of what has none, by the names of its characters."""
    try:
        text = token.decode()
    except UnicodeDecodeError:
        return all(0x80 <= byte < 0xC0 for byte in token[1:]) and not _holds_a_character(token)
    scripts = set()
    for char in text:
        name = unicodedata.name(char, "").split(" ")[0].split("-")[0]
        if unicodedata.category(char)[0] == "L" or name == "ARABIC":
            scripts.add({"CJK": "JAPANESE", "HIRAGANA": "JAPANESE", "KATAKANA": "JAPANESE"}.get(name, name))
    return len(scripts) <= 1


def _holds_a_character(token: bytes) -> bool:
    return any(_is_text(token[start:end]) for start in range(len(token)) for end in range(start + 1, len(token) + 1))


def _is_text(part: bytes) -> bool:
    try:
        part.decode()
    except UnicodeDecodeError:
        return False
    return True
