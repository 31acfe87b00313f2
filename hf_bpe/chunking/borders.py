"""Where a text may be cut, from coarse to fine: lines, sentences, words, the pieces of words, characters.

Every kind is a list of ends, in ascending order, whose last is the end of the text. None lies inside an added token,
such as `<|im_end|>`, but for the last kind, which is every code point.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Literal

import regex

from hf_bpe.chunking.sentences import sentence_ends

Boundary = Literal["sentence", "word", "line"]

_LINE_END = regex.compile(r"\r\n|[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
# A word takes along the white space and the closing marks behind it, and opening marks before it.
_WORD_START = regex.compile(
    r"""(?w) (?: (?<=\s) \b (?!\s) | (?<![\s\p{Ps}\p{Pi}"']) \b (?![\s\p{Pe}\p{Pf}\p{Po}]) )""", regex.VERBOSE
)
_PIECE_START = regex.compile(r"(?w)\b")
_CHARACTER = regex.compile(r"\X")
# To see where a pair of letters of a flag begins, regex goes back to the first of a run of flags. And two surrogates
# are two characters for it, where they are one for the tokenizer.
_SURROGATES = regex.compile(r"[\ud800-\udbff][\udc00-\udfff]")
_PAIR = regex.compile(
    rf"[\U0001f1e6-\U0001f1ff][\p{{GCB=Extend}}\p{{GCB=ZWJ}}]*+[\U0001f1e6-\U0001f1ff]|{_SURROGATES.pattern}"
)


def line_ends(text: str) -> list[int]:
    """Return where lines end: behind what `str.splitlines` splits at."""
    return _with_end([match.end() for match in _LINE_END.finditer(text)], text)


def word_ends(text: str) -> list[int]:
    """Return where words end, by Unicode Standard Annex #29, each with the white space and closing marks behind it."""
    return _with_end([match.start() for match in _WORD_START.finditer(_without_pairs(text))], text)


def piece_ends(text: str) -> list[int]:
    """Return where words, marks and runs of spaces end, by Unicode Standard Annex #29."""
    return _with_end([match.start() for match in _PIECE_START.finditer(_without_pairs(text))], text)


def character_ends(text: str) -> list[int]:
    """Return where characters end as readers see them: extended grapheme clusters of Unicode Standard Annex #29."""
    return [match.end() for match in _CHARACTER.finditer(_without_pairs(text))]


def code_point_ends(text: str) -> Sequence[int]:
    """Return the end of every code point; two surrogates that make one are one."""
    inside = {match.start() + 1 for match in _SURROGATES.finditer(text)}
    every = range(1, len(text) + 1)
    return [end for end in every if end not in inside] if inside else every


_KINDS: tuple[tuple[str, Callable[[str], Sequence[int]]], ...] = (
    ("line", line_ends),
    ("sentence", sentence_ends),
    ("word", word_ends),
    ("piece", piece_ends),
    ("character", character_ends),
    ("added token", code_point_ends),
    ("code point", code_point_ends),
)
_NAMES = [name for name, _ in _KINDS]


class Borders:
    """The borders of one text, kind by kind, each found when it is asked for.

    Args:
        text: The text.
        boundary: The coarsest kind.
        uncut: Where added tokens stand, in ascending order.
    """

    def __init__(self, text: str, boundary: str, uncut: Sequence[tuple[int, int]] = ()) -> None:
        kinds = _KINDS[_NAMES.index(boundary) :]
        self.kinds = [name for name, _ in kinds]
        self._finders = [finder for _, finder in kinds]
        self._text = text
        self._uncut = uncut
        self._found: dict[int, Sequence[int]] = {}

    def __getitem__(self, level: int) -> Sequence[int]:
        """Return the ends of one kind; 0 is the coarsest."""
        if level not in self._found:
            self._found[level] = self._find(level)
        return self._found[level]

    def _find(self, level: int) -> Sequence[int]:
        ends = self._finders[level](self._text)
        if not self._uncut or level == len(self.kinds) - 1:
            return ends
        starts = [start for start, _ in self._uncut]
        return [end for end in ends if not self._is_inside(end, starts)]

    def _is_inside(self, place: int, starts: list[int]) -> bool:
        before = bisect_left(starts, place) - 1
        return before >= 0 and place < self._uncut[before][1]


def _with_end(ends: list[int], text: str) -> list[int]:
    inner = [end for end in ends if 0 < end < len(text)]
    return [*inner, len(text)] if text else []


def _without_pairs(text: str) -> str:
    """Return a text with the same borders, but no flags and surrogates: an ideograph with marks is a word, too."""
    masked: str = _PAIR.sub(lambda match: "\u4e2d" + "\u0301" * (len(match[0]) - 1), text)
    return masked
