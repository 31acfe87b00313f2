"""Random pre-tokenizers."""

from __future__ import annotations

import random

from pipelines.choices import BEHAVIORS, PATTERNS, Json, Maker, byte_level, flag, metaspace, sequence

_PLAIN = ("Whitespace", "WhitespaceSplit", "BertPreTokenizer", "UnicodeScripts")


def _split(rng: random.Random) -> Json:
    return {"type": "Split", "pattern": rng.choice(PATTERNS), "behavior": rng.choice(BEHAVIORS), "invert": flag(rng)}


def _digits(rng: random.Random) -> Json:
    return {"type": "Digits", "individual_digits": flag(rng)}


def _punctuation(rng: random.Random) -> Json:
    behavior = rng.choice((None, *BEHAVIORS))
    return {"type": "Punctuation", **({"behavior": behavior} if behavior else {})}


def _plain(rng: random.Random) -> Json:
    return {"type": rng.choice(_PLAIN)}


def _delimiter(rng: random.Random) -> Json:
    return {"type": "CharDelimiterSplit", "delimiter": rng.choice(" ▁a-\n語\u0301🙂Ġ")}


def _fixed_length(rng: random.Random) -> Json:
    return {"type": "FixedLength", **rng.choice(({}, {"length": rng.randint(1, 9)}))}


MAKERS: tuple[Maker, ...] = (
    *(_split, _split, _digits, byte_level, byte_level, metaspace, metaspace),
    *(_punctuation, _plain, _plain, _delimiter, _fixed_length),
)


def random_pre_tokenizer(rng: random.Random) -> Json | None:
    """Return none, one, some before a ByteLevel as published files have them, or any Sequence."""
    kind = rng.random()
    if kind < 0.12:
        return None
    if kind < 0.25:
        return byte_level(rng)
    if kind < 0.45:
        made = sequence(rng, "pretokenizers", (_split, _split, _digits), most=2)
        made["pretokenizers"].append(byte_level(rng) | {"use_regex": flag(rng, 0.2)})
        return made
    if kind < 0.65:
        return rng.choice(MAKERS)(rng)
    return sequence(rng, "pretokenizers", MAKERS)
