"""Random normalizers."""

from __future__ import annotations

import base64
import random

from pipelines.charsmap import charsmap
from pipelines.choices import PATTERNS, WORDS, Json, Maker, flag, sequence

_REPLACED: list[Json] = [
    *({"String": text} for text in (" ", "a", "the", "\n", "  ", "``", "é", "語", "")),
    *({"Regex": pattern} for pattern in (r"\s+", " {2,}", r"(?<=a)b", r"\p{M}", r"[A-Z]", "^", r"$", "x*", "(a)|b")),
    *PATTERNS,
]
_FORMS = ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt")
_MAPPED = (
    "a",
    "ab",
    "A",
    "é",
    "e\u0301",
    "ﬁ",
    "\u00a0",
    "\u3000",
    "Ⅷ",
    "語",
    "🙂",
    "\u200d",
    "\u0301",
    "☺",
    "\r\n",
    "the",
)
_MAPPED_TO = ("", " ", "a", "fi", "VIII", "é", "x y", "語", "e\u0301")


def _form(rng: random.Random) -> Json:
    return {"type": rng.choice(_FORMS)}


def _strip(rng: random.Random) -> Json:
    return {"type": "Strip", "strip_left": flag(rng), "strip_right": flag(rng)}


def _replace(rng: random.Random) -> Json:
    return {"type": "Replace", "pattern": rng.choice(_REPLACED), "content": rng.choice(WORDS)}


def _prepend(rng: random.Random) -> Json:
    return {"type": "Prepend", "prepend": rng.choice(("▁", "▁", "▁", *WORDS))}


def _precompiled(rng: random.Random) -> Json:
    table = {text: rng.choice(_MAPPED_TO) for text in rng.sample(_MAPPED, rng.randint(1, len(_MAPPED)))}
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(charsmap(table)).decode()}


def _bert(rng: random.Random) -> Json:
    flags = {name: flag(rng) for name in ("clean_text", "handle_chinese_chars", "lowercase")}
    return {"type": "BertNormalizer", **flags, "strip_accents": rng.choice((None, True, False))}


def _byte_level(_rng: random.Random) -> Json:
    return {"type": "ByteLevel"}


MAKERS: tuple[Maker, ...] = (
    _form,
    _form,
    _form,
    _strip,
    _replace,
    _replace,
    _prepend,
    _precompiled,
    _bert,
    _byte_level,
)


def random_normalizer(rng: random.Random) -> Json | None:
    """Return none, one, or a Sequence of some."""
    kind = rng.random()
    if kind < 0.3:
        return None
    if kind < 0.4:  # Llama 2 and Gemma
        spaces = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
        return rng.choice((spaces, {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, spaces]}))
    if kind < 0.65:
        return rng.choice(MAKERS)(rng)
    return sequence(rng, "normalizers", MAKERS)
