"""Word borders while training, for languages that are written without spaces.

Each *distinct* pretoken is cut once, so a slow segmenter costs little, and the result hangs on the counts alone:
batches, threads and the order of texts make no difference. Nothing of it is needed to encode: only merges are learned.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from hf_bpe._native import Counter, SortedCounts

Segmenter: TypeAlias = Callable[[str], Iterable[str] | Iterable[int]] | str
"""What cuts a text: to its words, which make it up, or to the offsets of borders; or `"jieba"` or `"icu"`."""

_WITHOUT_SPACES = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U000323af]"
)
"""Thai, Lao, Myanmar, Khmer, Tai, Hiragana, Katakana and Han."""

_BATCH = 10_000


def segmenter_of(segmenter: Segmenter) -> Callable[[str], list[int]]:
    """Return what gives the borders inside a text, ascending.

    Raises:
        ImportError: The segmenter that was named isn't installed.
        ValueError: There is none of this name.
        TypeError: It is neither a name nor callable.

    Example:
        >>> segmenter_of(lambda text: ["ab", "c"])("abc")
        [2]
    """
    if segmenter == "jieba":
        return _for_scripts_without_spaces(_jieba())
    if segmenter == "icu":
        return _for_scripts_without_spaces(_icu())
    if isinstance(segmenter, str):
        raise ValueError(f"segmenter={segmenter!r} is unknown; give 'jieba', 'icu' or a callable")
    if not callable(segmenter):
        raise TypeError(f"segmenter is a callable, 'jieba' or 'icu', got {type(segmenter).__name__}")
    cut = segmenter
    return lambda text: _borders(text, list(cut(text)))


def cut_at_words(counts: SortedCounts, borders: Callable[[str], list[int]], counter: Counter) -> None:
    """Count the words of pretokens, each as often as its pretoken was seen.

    Args:
        counts: The pretokens.
        borders: What gives the borders inside one.
        counter: An empty counter for the words.
    """
    batch: list[tuple[bytes, int]] = []
    for data, offsets, numbers in counts.chunks():
        ends = memoryview(offsets).cast("Q")
        for at, count in enumerate(memoryview(numbers).cast("Q")):
            batch += ((word, count) for word in _words(data[ends[at] : ends[at + 1]], borders))
            if len(batch) >= _BATCH:
                counter.count_weighted(batch)
                batch = []
    counter.count_weighted(batch)


def _words(pretoken: bytes, borders: Callable[[str], list[int]]) -> Iterator[bytes]:
    try:
        text = pretoken.decode()
    except UnicodeDecodeError:  # a part of a character is no word
        yield pretoken
        return
    start = 0
    for border in [*borders(text), len(text)] if len(text) > 1 else [len(text)]:
        if border > start:
            yield text[start:border].encode()
            start = border


def _borders(text: str, cut: Sequence[Any]) -> list[int]:
    """Return the borders that a segmenter gave, checked."""
    if not cut:
        return []
    if all(isinstance(word, str) for word in cut):
        if "".join(cut) != text:
            raise ValueError(f"the segmenter cut {text!r} into {cut!r}: the words have to make up the text")
        ends, at = [], 0
        for word in cut:
            at += len(word)
            ends.append(at)
        return ends[:-1]
    if not all(isinstance(border, int) for border in cut):
        raise TypeError(f"the segmenter cut {text!r} into {cut!r}: give words (str), or offsets of borders (int)")
    if any(not 0 <= border <= len(text) for border in cut) or sorted(cut) != list(cut):
        raise ValueError(f"the segmenter gave the borders {cut!r} of {text!r}: give ascending offsets inside the text")
    return list(cut)


def _for_scripts_without_spaces(cut: Callable[[str], list[int]]) -> Callable[[str], list[int]]:
    """Leave alone what is written with spaces, and the space before a word on that word."""

    def borders(text: str) -> list[int]:
        if _WITHOUT_SPACES.search(text) is None:
            return []
        first = len(text) - len(text.lstrip(" \u2581"))
        return [border for border in cut(text) if border > first]

    return borders


def _jieba() -> Callable[[str], list[int]]:
    try:
        import jieba
    except ImportError as error:
        raise _missing("jieba", "jieba", error) from None
    jieba.setLogLevel("WARNING")
    return lambda text: _borders(text, list(jieba.cut(text)))


def _icu() -> Callable[[str], list[int]]:
    try:
        from icu4py.breakers import WordBreaker
    except ImportError as error:
        raise _missing("icu", "icu4py", error) from None
    return lambda text: _from_utf16(text, [end for _, end in WordBreaker(text, "root").segments()][:-1])


def _from_utf16(text: str, offsets: list[int]) -> list[int]:
    """Return offsets in characters for those in units of UTF-16, of which some characters have two."""
    if text.isascii() or max(text) <= "\uffff":
        return offsets
    place_of, units = {}, 0
    for place, char in enumerate(text):
        place_of[units] = place
        units += 1 + (char > "\uffff")
    return [place_of[offset] for offset in offsets]


def _missing(name: str, package: str, error: ImportError) -> ImportError:
    return ImportError(
        f"segmenter={name!r} needs {package} ({error}). "
        f"Install it with `pip install hf-bpe[{name}]`, or give a callable."
    )
