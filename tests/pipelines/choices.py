"""What the makers of random components share."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from hf_bpe.split_patterns import SPLIT_PATTERNS

Json = dict[str, Any]
Maker = Callable[[random.Random], Json]

BEHAVIORS = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")

PATTERNS: list[Json] = [
    *({"Regex": pattern} for pattern in SPLIT_PATTERNS.values()),
    *(
        {"Regex": pattern}
        for pattern in (r"\s+", r"\s+(?!\S)|\s", r"[a-z]", r"\p{L}|\p{N}+", r"(?=a)", "Ġ|Ċ", "Ã.", "x*", " {2,}")
    ),
    *({"String": text} for text in (" ", "a", "the", "\n", "Ġ", "ÃĹ", "  ", "", "▁", ".", "+", "e\u0301")),
]
"""Patterns of Split and Replace: published ones, and such as match nothing, spaces, or parts of a character."""

WORDS = ("", " ", "▁", "a", "x", "é", "e\u0301", "</w>", "##", "Ġ", "語", "\u0301", "a b", "  ", "\n", "<0x41>", "🙂")
"""Strings for contents, prefixes and suffixes."""


def flag(rng: random.Random, chance: float = 0.5) -> bool:
    """Return true with a chance."""
    return rng.random() < chance


def byte_level(rng: random.Random) -> Json:
    """Return a ByteLevel of any use: its options are the same everywhere."""
    return {"type": "ByteLevel", **{name: flag(rng) for name in ("add_prefix_space", "trim_offsets", "use_regex")}}


def metaspace(rng: random.Random) -> Json:
    """Return a Metaspace: the same as pre-tokenizer and as decoder, in today's form or in an older one."""
    made = {"type": "Metaspace", "replacement": rng.choice("▁▁▁▁▁_a")}
    scheme = rng.choice(("always", "first", "never"))
    form = rng.random()
    if form < 0.7:
        return made | {"prepend_scheme": scheme, "split": flag(rng)}
    if form < 0.85:
        return made | {"str_rep": made["replacement"], "add_prefix_space": True}
    return made | {"add_prefix_space": scheme != "never", "prepend_scheme": scheme}


def sequence(rng: random.Random, key: str, makers: tuple[Maker, ...], *, least: int = 0, most: int = 3) -> Json:
    """Return a Sequence of random steps; one in eight times with a Sequence as a step."""
    steps = [rng.choice(makers)(rng) for _ in range(rng.randint(least, most))]
    if flag(rng, 0.12):
        steps.insert(rng.randint(0, len(steps)), {"type": "Sequence", key: [rng.choice(makers)(rng)]})
    return {"type": "Sequence", key: steps}
