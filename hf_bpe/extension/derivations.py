"""How each token comes about: the one way in which merging its own text makes it.

A token that stands in an encoding was made inside its own borders, by the steps that its text alone would take: a merge
across a border would have left another token there, and merges inside do not depend on what lies outside. So each token
has one derivation, whatever else the merge list could make it of, and a vocabulary in which every token that stays has
the tokens of its derivation, in which merges keep their order, gives the same ids for every text that is made of tokens
that stay: at each step the merge that came first is still there, and none has come on top.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise

from hf_bpe._native import Tokenizer


class Derivations:
    """The derivations of the tokens of one vocabulary.

    Args:
        core: The vocabulary.
    """

    def __init__(self, core: Tokenizer) -> None:
        settings = core.model_settings()
        self._prefix = settings["continuing_subword_prefix"] or ""
        self._suffix = settings["end_of_word_suffix"] or ""
        self._vocab = core.get_vocab(with_added_tokens=False)
        self._merges: Sequence[tuple[str, str]] = core.merges()
        self._halves: dict[str, tuple[str, str] | None] = {}

    @cached_property
    def _ranks(self) -> Mapping[tuple[str, str], int]:
        return {pair: rank for rank, pair in enumerate(self._merges)}

    @cached_property
    def _only(self) -> Mapping[str, tuple[str, str] | None]:
        """Each token that some merge makes, with its halves if there is one merge alone."""
        found: dict[str, tuple[str, str] | None] = {}
        for pair in self._merges:
            token = self.result(pair)
            found[token] = None if token in found else pair
        return found

    def result(self, pair: tuple[str, str]) -> str:
        """Return the token that a merge makes."""
        left, right = pair
        return left + right.removeprefix(self._prefix)

    def is_made(self, token: str) -> bool:
        """Whether any merge makes this token. Others are what merging starts from, or are reached by no merge."""
        return token in self._only

    def halves(self, token: str) -> tuple[str, str] | None:
        """Return what the last merge of a token's derivation joins.

        Returns:
            None for a token that merging starts from, and for one that merging its text does not make.
        """
        if token not in self._halves:
            self._halves[token] = self._last_merge(token)
        return self._halves[token]

    def _last_merge(self, token: str) -> tuple[str, str] | None:
        if token not in self._only or token not in self._vocab:
            return None
        symbols = list(self._symbols(token))
        last = None
        while len(symbols) > 1:
            pairs = list(pairwise(symbols))
            rank, place = min((self._ranks.get(pair, len(self._ranks)), place) for place, pair in enumerate(pairs))
            if rank == len(self._ranks):
                return None
            last = pairs[place]
            symbols[place : place + 2] = [self.result(last)]
        return last

    def _symbols(self, token: str) -> Iterator[str]:
        """Yield the characters that a token's text is before any merge, with their affixes."""
        inside = token.removeprefix(self._prefix)
        first = self._prefix if len(inside) < len(token) else ""
        body = inside.removesuffix(self._suffix) if self._suffix else inside
        last = inside[len(body) :]
        for place, character in enumerate(body):
            prefix = first if place == 0 else self._prefix
            yield prefix + character + (last if place == len(body) - 1 else "")

    def closure(self, tokens: Iterable[str]) -> set[str]:
        """Return these tokens and all that their derivations go through."""
        found: set[str] = set()
        waiting = list(tokens)
        while waiting:
            token = waiting.pop()
            if token not in found:
                found.add(token)
                waiting.extend(self.halves(token) or ())
        return found
