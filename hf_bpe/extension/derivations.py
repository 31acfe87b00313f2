"""How each token comes about: the one way in which merging its own text makes it.

A token that stands in an encoding was made inside its own borders, by the steps that its text alone would take: a merge
across a border would have left another token there, and merges inside do not depend on what lies outside. So each token
has one derivation, whatever else the merge list could make it of, and a vocabulary in which every token that stays has
the tokens of its derivation, in which merges keep their order, gives the same ids for every text that is made of tokens
that stay: at each step the merge that came first is still there, and none has come on top.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise

from hf_bpe._native import Tokenizer

_BYTE_TOKENS = re.compile("(<0x[0-9A-F]{2}>)+")


class Derivations:
    """The derivations of the tokens of one vocabulary.

    Affixes and byte tokens may be spelled by text too: with the prefix `##`, the token `##a` is an `a` inside of a
    word, or what merging makes of a word that begins with `##a`. Such a token has a derivation for each way to read it.

    Args:
        core: The vocabulary.
    """

    def __init__(self, core: Tokenizer) -> None:
        settings = core.model_settings()
        self._prefix = settings["continuing_subword_prefix"] or ""
        self._suffix = settings["end_of_word_suffix"] or ""
        self._fallback = bool(settings["byte_fallback"])
        self._vocab = core.get_vocab(with_added_tokens=False)
        self._merges: Sequence[tuple[str, str]] = core.merges()
        self._found: dict[str, tuple[str, ...]] = {}

    @cached_property
    def _ranks(self) -> Mapping[tuple[str, str], int]:
        return {pair: rank for rank, pair in enumerate(self._merges)}

    @cached_property
    def _made(self) -> Mapping[str, list[tuple[str, str]]]:
        """The merges that make each token."""
        found: dict[str, list[tuple[str, str]]] = {}
        for pair in self._merges:
            found.setdefault(self.result(pair), []).append(pair)
        return found

    def result(self, pair: tuple[str, str]) -> str:
        """Return the token that a merge makes."""
        return merged(*pair, self._prefix)

    def is_symbol(self, token: str) -> bool:
        """Whether a token can be what merging starts from: one character beside affixes, or a byte."""
        return any(len(symbols) == 1 for symbols in self._readings(token))

    def halves(self, token: str) -> tuple[str, ...]:
        """Return what the last merge of a token's derivation joins, or of each, where there are several.

        Returns:
            Nothing for a token that merging starts from, and for one that merging its text does not make.
        """
        if token not in self._found:
            self._found[token] = self._parts(token)
        return self._found[token]

    def _parts(self, token: str) -> tuple[str, ...]:
        if token not in self._made or token not in self._vocab:
            return ()
        last = [self._last_merge(symbols) for symbols in self._readings(token)]
        pairs = [pair for pair in last if pair is not None]
        if not pairs and (self._prefix or self._suffix or self._fallback):
            # Not spelled by its symbols, as where byte tokens meet a prefix: it may come about by any of its merges.
            pairs = self._made[token]
        return tuple(half for pair in dict.fromkeys(pairs) for half in pair)

    def _last_merge(self, symbols: list[str]) -> tuple[str, str] | None:
        """Merge symbols into one and return the last merge; None where they don't become one."""
        last = None
        while len(symbols) > 1:
            pairs = list(pairwise(symbols))
            rank, place = min((self._ranks.get(pair, len(self._ranks)), place) for place, pair in enumerate(pairs))
            if rank == len(self._ranks):
                return None
            last = pairs[place]
            symbols[place : place + 2] = [self.result(last)]
        return last

    def _readings(self, token: str) -> Iterator[list[str]]:
        """Yield the symbols that a token's text may be before any merge: by whether affixes and bytes are such."""
        for prefix in {"", self._prefix if len(token) > len(self._prefix) else ""}:
            for suffix in {"", self._suffix}:
                if token.startswith(prefix) and token.endswith(suffix) and len(prefix) + len(suffix) < len(token):
                    yield self._symbols(token[len(prefix) : len(token) - len(suffix)], prefix, suffix)
        if self._fallback and _BYTE_TOKENS.fullmatch(token):
            yield [token[start : start + 6] for start in range(0, len(token), 6)]

    def _symbols(self, body: str, prefix: str, suffix: str) -> list[str]:
        symbols = [prefix + body[0], *(self._prefix + character for character in body[1:])]
        symbols[-1] += suffix
        return symbols

    def closure(self, tokens: Iterable[str]) -> set[str]:
        """Return these tokens and all that their derivations go through."""
        found: set[str] = set()
        waiting = list(tokens)
        while waiting:
            token = waiting.pop()
            if token not in found:
                found.add(token)
                waiting.extend(self.halves(token))
        return found


def merged(left: str, right: str, prefix: str) -> str:
    """Return the token that a merge makes. As in stock, as many bytes as the prefix has go, whatever they are."""
    return left + right.encode()[len(prefix.encode()) :].decode() if prefix else left + right
