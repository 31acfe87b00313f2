"""Which kind of content a text is: prose, code, numbers or JSON, by a rule of thumb that is stated here.

- JSON: an object or an array that parses.
- numbers: at least half of what isn't white space is digits.
- code: at least 8 % of what isn't white space is one of ``{}[]()=<>;_*\\/|&+#@$^~` ``.
- blank: nothing but white space.
- prose: everything else.

A line of code may look like prose. Whoever knows better passes `kind_of=` to a measure.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hf_bpe.characters import class_counts, class_table

Kind = Literal["JSON", "numbers", "code", "blank", "prose"]

_SPACE, _DIGIT, _SYMBOL = 1, 2, 3
_CLASSES = 4
_PATTERNS = {_SPACE: r"\s", _DIGIT: r"\p{Nd}", _SYMBOL: r"[{}\[\]()=<>;_*\\/|&+#@$^~`]"}
_LEAST_SYMBOLS = 0.08
_LONGEST_JSON = 1 << 20


def kind_of(text: str) -> Kind:
    """Return the kind of content that a text is.

    Example:
        >>> kind_of("for (i = 0; i < n; i++) {"), kind_of('{"a": 1}')
        ('code', 'JSON')
    """
    return kinds_of([text])[0]


def kinds_of(texts: Sequence[str]) -> list[Kind]:
    """Return the kind of each text: see `kind_of`."""
    counts = class_counts(texts, _table(), _CLASSES)
    visible = counts.sum(axis=1) - counts[:, _SPACE]
    numbers = (2 * counts[:, _DIGIT] >= visible).tolist()
    code = (counts[:, _SYMBOL] >= _LEAST_SYMBOLS * visible).tolist()
    return [
        "blank" if not some else "JSON" if _is_json(text) else "numbers" if number else "code" if symbols else "prose"
        for text, some, number, symbols in zip(texts, visible.tolist(), numbers, code, strict=True)
    ]


def _is_json(text: str) -> bool:
    text = text.strip()
    if text[:1] + text[-1:] not in ("{}", "[]") or len(text) > _LONGEST_JSON:
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


@cache
def _table() -> NDArray[np.uint8]:
    return class_table(_PATTERNS, 0x20000)
