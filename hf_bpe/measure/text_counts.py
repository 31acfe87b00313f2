"""What is counted in texts, and the figures that follow."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hf_bpe.measure.results import ratio
from hf_bpe.measure.tokens import Counts, Ids

_ALPHA = 2.5
"""The order of the Renyi entropy: with it the efficiency goes best with translation quality (Zouhar et al., 2023)."""


@dataclass
class TextCounts:
    """What was counted in some texts.

    Attributes:
        texts: How many there are.
        words: How many words they have.
        characters: How many code points.
        bytes: How many bytes, as UTF-8.
        tokens: How many tokens they take.
        single_token_words: How many words are one token, alone or behind a space.
        fallback_tokens: How many tokens are byte pieces, or stand for a part of a character.
        uses: How often each id is used.
    """

    texts: int = 0
    words: int = 0
    characters: int = 0
    bytes: int = 0
    tokens: int = 0
    single_token_words: int = 0
    fallback_tokens: int = 0
    uses: Counts = field(default_factory=lambda: np.zeros(0, np.int64), repr=False)

    @property
    def tokens_per_word(self) -> float | None:
        """The fertility. None without a word."""
        return ratio(self.tokens, self.words)

    @property
    def bytes_per_token(self) -> float | None:
        """How much text a token holds. None without a token."""
        return ratio(self.bytes, self.tokens)

    @property
    def characters_per_token(self) -> float | None:
        """The same in characters."""
        return ratio(self.characters, self.tokens)

    @property
    def single_token_share(self) -> float | None:
        """The share of words that are one token."""
        return ratio(self.single_token_words, self.words)

    @property
    def fallback_share(self) -> float | None:
        """The share of tokens that are part of a character."""
        return ratio(self.fallback_tokens, self.tokens)

    def renyi_efficiency(self, vocab_size: int) -> float | None:
        """Return how evenly the ids are used: the Renyi entropy of order 2.5 over the highest one possible.

        1 is every id as often as any other; None where there is no token, or one id only to choose from.
        """
        if not self.tokens or vocab_size < 2:
            return None
        shares = self.uses[self.uses > 0] / self.tokens
        entropy = np.log(np.sum(shares**_ALPHA)) / (1 - _ALPHA)
        return max(0.0, float(entropy / np.log(vocab_size)))

    def add(self, **more: int) -> None:
        """Add to the counts of these names."""
        for name, count in more.items():
            setattr(self, name, getattr(self, name) + count)

    def add_uses(self, ids: Ids) -> None:
        """Count ids."""
        more = np.bincount(ids, minlength=len(self.uses))
        more[: len(self.uses)] += self.uses
        self.uses = more
