"""What a word is to a measure.

A word is what stands between white space; in scripts that are written without spaces, each letter with its marks is a
word by itself. Whoever has a better rule, such as `jieba.lcut`, passes it as `words=`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import regex

from hf_bpe.measure.tokens import Counts, Measured

WordRule: TypeAlias = Callable[[str], Iterable[str]]

_WITHOUT_SPACES = ("Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar", "Tibetan")
_CLASS = "".join(rf"\p{{Script={name}}}" for name in _WITHOUT_SPACES)
_WORD: Any = regex.compile(rf"(?:(?=\p{{L}})[{_CLASS}])\p{{M}}*|(?:(?!(?=\p{{L}})[{_CLASS}])\S)+")


def words_of(text: str) -> list[str]:
    """Return the words of a text.

    Example:
        >>> words_of("we like 大模型, really")
        ['we', 'like', '大', '模', '型', ',', 'really']
    """
    if text.isascii():
        return text.split()
    found: list[str] = _WORD.findall(text)
    return found


def count_words(tokenizer: Measured, texts: Sequence[str], rule: WordRule) -> tuple[Counts, Counts]:
    """Return how many words each text has, and how many of these are one token, alone or behind a space."""
    listed = [list(rule(text)) for text in texts]
    single = _single(tokenizer, list({word for words in listed for word in words}))
    counts = np.fromiter(map(len, listed), np.int64, len(listed))
    singles = np.fromiter((sum(map(single.__contains__, words)) for words in listed), np.int64, len(listed))
    return counts, singles


def _single(tokenizer: Measured, words: list[str]) -> set[str]:
    if not words:
        return set()
    alone = tokenizer.lengths(words) == 1
    behind = tokenizer.lengths([f" {word}" for word in words]) == 1
    return {word for word, is_single in zip(words, (alone | behind).tolist(), strict=True) if is_single}
