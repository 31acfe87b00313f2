"""How many characters of each class texts have, and so which script they are written in.

The scripts are those of Unicode, as the `regex` library knows them. Counting is done on arrays: there may be
millions of texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import regex
from numpy.typing import NDArray

SCRIPTS = (
    *("Latin", "Cyrillic", "Greek", "Arabic", "Hebrew", "Devanagari", "Bengali", "Tamil", "Telugu", "Thai", "Georgian"),
    *("Armenian", "Ethiopic", "Khmer", "Myanmar", "Sinhala", "Hangul", "Hiragana", "Katakana", "Han"),
    *("Gujarati", "Gurmukhi", "Kannada", "Malayalam", "Oriya", "Lao", "Tibetan", "Mongolian"),
)
KANA_AND_HAN = "Kana and Han"
OTHER = "other scripts"
NO_LETTERS = "no letters"

_NAMES = (NO_LETTERS, *SCRIPTS, OTHER, KANA_AND_HAN)
_LOOKED_AT = 2_000
_LAST = 0x33480  # behind the last letter that Unicode 17 has, but for tags and private use


def script_of(text: str) -> str:
    """Return the script that most letters of a text have; kana beside Han is `"Kana and Han"`.

    Example:
        >>> script_of("Привет, world")
        'Cyrillic'
    """
    return scripts_of([text])[0]


def scripts_of(texts: Sequence[str]) -> list[str]:
    """Return the script of each text: see `script_of`. Only the first 2,000 characters are looked at."""
    counts = class_counts([text[:_LOOKED_AT] for text in texts], _script_table(), len(_NAMES))
    hiragana, katakana, han = (counts[:, _NAMES.index(name)] for name in ("Hiragana", "Katakana", "Han"))
    kana = hiragana + katakana
    both = counts[:, _NAMES.index(KANA_AND_HAN)]
    both[:] = np.where(kana > 0, kana + han, 0)
    han[kana > 0] = 0
    hiragana[:] = katakana[:] = counts[:, 0] = 0
    best = counts.argmax(axis=1)
    return [_NAMES[code] for code in best.tolist()]


def class_counts(texts: Sequence[str], table: NDArray[np.uint8], classes: int) -> NDArray[np.int64]:
    """Return how many characters of each class each text has, one row a text.

    Args:
        texts: The texts.
        table: The class of each code point; what is behind its end is of class 0.
        classes: How many classes there are.
    """
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    found = np.where(codes < len(table), table[np.minimum(codes, len(table) - 1)], 0)
    rows = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    cells = np.bincount(rows * classes + found, minlength=len(texts) * classes)
    return cells.reshape(len(texts), classes).astype(np.int64, copy=False)


def class_table(patterns: Mapping[int, str], upto: int) -> NDArray[np.uint8]:
    """Return the class of each code point below `upto`: the last pattern that matches it, else 0."""
    everything = "".join(map(chr, range(upto)))
    table = np.zeros(upto, np.uint8)
    for code, pattern in patterns.items():
        for run in _runs(pattern, everything):
            table[run.start() : run.end()] = code
    return table


def _runs(pattern: str, text: str) -> Any:
    return regex.finditer(f"(?:{pattern})+", text)


@cache
def _script_table() -> NDArray[np.uint8]:
    named = {code: rf"\p{{Script={name}}}" for code, name in enumerate(_NAMES) if name in SCRIPTS}
    return class_table({_NAMES.index(OTHER): r"\p{L}", **named}, _LAST)
