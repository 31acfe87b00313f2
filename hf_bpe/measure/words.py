"""What a word is to a measure.

A word is what stands between white space; in scripts that are written without spaces, each letter with its marks is a
word by itself. Whoever has a better rule, such as `jieba.lcut`, passes it as `words=`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import regex
from numpy.typing import NDArray

from hf_bpe.measure.tokens import Counts, Measured

WordRule: TypeAlias = Callable[[str], Iterable[str]]

_WITHOUT_SPACES = ("Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar", "Tibetan")
_CLASS = "".join(rf"\p{{Script={name}}}" for name in _WITHOUT_SPACES)
_WORD: Any = regex.compile(
    rf"(?:(?=\p{{L}})[{_CLASS}])\p{{M}}*|(?:(?!(?=\p{{L}})[{_CLASS}])[^\s\x1c-\x1f])+"
)  # white space as str.split has it


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


@dataclass(frozen=True)
class Words:
    """The words of a batch of texts.

    Attributes:
        counts: How many words each text has.
        distinct: Each word that there is, once.
        codes: Which of these each word is, text after text.
    """

    counts: Counts
    distinct: Sequence[str]
    codes: NDArray[np.int64]

    @classmethod
    def of(cls, texts: Sequence[str], rule: WordRule) -> Words:
        """Return the words of texts by a rule."""
        listed = [list(rule(text)) for text in texts]
        counts = np.fromiter(map(len, listed), np.int64, len(listed))
        flat = list(chain.from_iterable(listed))
        places = {word: place for place, word in enumerate(dict.fromkeys(flat))}
        return cls(counts, list(places), np.fromiter(map(places.__getitem__, flat), np.int64, len(flat)))

    def single(self, tokenizer: Measured) -> Counts:
        """Return how many words of each text are one token, alone or behind a space."""
        if not self.distinct:
            return np.zeros(len(self.counts), np.int64)
        alone = tokenizer.lengths(self.distinct) == 1
        behind = tokenizer.lengths([f" {word}" for word in self.distinct]) == 1
        return sums((alone | behind)[self.codes], self.counts)


def sums(flags: NDArray[np.bool_], lengths: Counts) -> Counts:
    """Return how many flags are set in each stretch of these lengths."""
    until = np.concatenate([[0], np.cumsum(flags, dtype=np.int64)])
    ends = np.cumsum(lengths)
    found: Counts = until[ends] - until[ends - lengths]
    return found
