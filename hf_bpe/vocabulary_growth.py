"""How a corpus shrinks while a vocabulary grows: what each merge saved, as learning counted it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

_MOST_POINTS = 2000
_STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


@dataclass(frozen=True)
class VocabularyGrowth:
    """How many tokens a corpus takes with the first merges alone, as pretokens were counted.

    Attributes:
        bytes: How many bytes the pretokens have.
        points: Sizes of the vocabulary, ascending, and how many tokens the corpus takes with each. The first is the
            size before any merge, the last the whole one; between them, at most 2,000 multiples of a round number.
    """

    bytes: int
    points: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, size: int, symbols: int, merges: Sequence[tuple[int, int]], vocab_size: int) -> VocabularyGrowth:
        """Return the growth that learning tells of.

        Args:
            size: The bytes of the corpus.
            symbols: How many tokens it takes before any merge.
            merges: For each merge, the size of the vocabulary after it, and how many tokens it saves.
            vocab_size: The size without merges, for when there are none.
        """
        if not merges:
            return cls(size, ((vocab_size, symbols),))
        step = next((step for step in _STEPS if len(merges) <= step * _MOST_POINTS), _STEPS[-1])
        tokens = symbols
        points = {merges[0][0] - 1: symbols}
        for at, saved in merges:
            tokens -= saved
            if at % step == 0 or at == merges[-1][0]:
                points[at] = tokens
        return cls(size, tuple(points.items()))

    @property
    def sizes(self) -> tuple[int, int]:
        """The vocabulary before any merge, and the whole one."""
        return self.points[0][0], self.points[-1][0]

    def tokens_at(self, vocab_size: int) -> float | None:
        """Return how many tokens the corpus takes with a smaller vocabulary; None for one that was not learned.

        Between two points it is on the line between them.
        """
        first, last = self.sizes
        if not first <= vocab_size <= last:
            return None
        at = bisect_right(self.points, (vocab_size, float("inf"))) - 1
        size, tokens = self.points[at]
        if size == vocab_size:
            return tokens
        next_size, next_tokens = self.points[at + 1]
        return tokens + (next_tokens - tokens) * (vocab_size - size) / (next_size - size)

    def gain_at(self, vocab_size: int, merges: int = 1000) -> float | None:
        """Return which share of the tokens the next merges save; None where they were not learned."""
        now, then = self.tokens_at(vocab_size), self.tokens_at(vocab_size + merges)
        return None if not now or then is None else 1 - then / now
