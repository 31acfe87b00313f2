"""Byte pair encoding in plain Python: the specification that the native core is held to.

Read this file to understand BPE; the tests read it as the oracle. It shares no code with what it judges, and
it is slow on purpose: where the core updates counts, this recounts everything; where the core keeps a heap,
this looks at every pair.

BPE in three sentences. *Training* starts from words cut into symbols (bytes or characters) and, again and
again, joins the most frequent pair of neighbours into a new symbol. *Encoding* cuts a new word into the same
first symbols and joins pairs in the order in which training found them. *Decoding* writes the symbols in a row.

Words come from outside (as **pretokens**): how a text is cut into words is the business of a split pattern.

Example:
    >>> bpe = train(["low", "low", "lower", "lowest"], vocab_size=9)
    >>> bpe.merges
    [('l', 'o'), ('lo', 'w')]
    >>> bpe.tokens(["slow", "lower"])
    ['s', 'low', 'low', 'e', 'r']
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import AnyStr, Generic, TypeAlias

from hf_bpe.byte_alphabet import BYTE_TO_CHAR

BYTES: list[bytes] = [bytes([byte]) for byte in sorted(BYTE_TO_CHAR, key=BYTE_TO_CHAR.__getitem__)]
"""All bytes in the order in which byte-level vocabularies number them: by stand-in character."""


@dataclass(frozen=True)
class Affixes(Generic[AnyStr]):
    """What symbols carry that says where in a word they are.

    Attributes:
        prefix: Written before every symbol but the first of a word, as `##` is.
        suffix: Written after the last symbol of a word, as `</w>` is.
    """

    prefix: AnyStr | None = None
    suffix: AnyStr | None = None

    def first_symbols(self, word: AnyStr) -> list[tuple[AnyStr, AnyStr]]:
        """Return the bytes or characters of `word`, each with the symbol that it is at its place.

        Example:
            >>> Affixes("##", "</w>").first_symbols("abc")
            [('a', 'a'), ('b', '##b'), ('c', '##c</w>')]
        """
        symbols = []
        for at, char in enumerate(first_symbols(word)):
            symbol = char
            if at > 0 and self.prefix is not None:
                symbol = self.prefix + symbol
            if at == len(word) - 1 and self.suffix is not None:
                symbol = symbol + self.suffix
            symbols.append((char, symbol))
        return symbols

    def joined(self, left: AnyStr, right: AnyStr) -> AnyStr:
        """Return the symbol that `left` and `right` make: the prefix inside is dropped.

        Example:
            >>> Affixes("##").joined("a", "##b"), Affixes("##").joined("##a", "##b")
            ('ab', '##ab')
        """
        return left + (right if self.prefix is None else right.removeprefix(self.prefix))


@dataclass(frozen=True)
class Bpe(Generic[AnyStr]):
    """A vocabulary and its merges, over bytes or over characters.

    Attributes:
        vocab: The tokens; the position of a token is its id.
        merges: The pairs that training joined; the position of a pair is its rank.
        end_of_word: A symbol that every word ends with, or none.
        affixes: What symbols carry inside and at the end of words.
    """

    vocab: list[AnyStr]
    merges: list[tuple[AnyStr, AnyStr]]
    end_of_word: AnyStr | None = None
    affixes: Affixes[AnyStr] = Affixes()

    def tokens(self, pretokens: Iterable[AnyStr]) -> list[AnyStr]:
        """Return the tokens of `pretokens`, each encoded by itself."""
        return [token for pretoken in pretokens for token in self._tokens_of(pretoken)]

    def encode(self, pretokens: Iterable[AnyStr]) -> list[int]:
        """Return the ids of `pretokens`."""
        ids = {token: id for id, token in enumerate(self.vocab)}
        return [ids[token] for token in self.tokens(pretokens)]

    def decode(self, ids: Iterable[int]) -> list[AnyStr]:
        """Return the tokens behind `ids`, without end-of-word symbols: joined, they are the text."""
        tokens = [self.vocab[id] for id in ids]
        if self.end_of_word is None:
            return tokens
        return [token.removesuffix(self.end_of_word) for token in tokens]

    def _tokens_of(self, pretoken: AnyStr) -> list[AnyStr]:
        """Join, as long as any pair has a rank, the pair of lowest rank; the leftmost if it is there twice.

        The ranks are looked at afresh after every join. On trained merges, joining all copies of a pair at
        once gives the same; on merges edited by hand it may not, and this is what the stock library does.
        """
        ranks = {pair: rank for rank, pair in enumerate(self.merges)}
        known = set(self.vocab)
        first = [symbol for _, symbol in self.affixes.first_symbols(pretoken)]
        if self.end_of_word is not None:
            first.append(self.end_of_word)
        # A symbol outside the vocabulary is skipped, as in the stock library.
        symbols: list[AnyStr] = [symbol for symbol in first if symbol in known]
        while True:
            ranked = [(ranks[pair], at) for at, pair in enumerate(pairs(symbols)) if pair in ranks]
            if not ranked:
                return symbols
            _, at = min(ranked)
            symbols[at : at + 2] = [self.affixes.joined(symbols[at], symbols[at + 1])]


def first_symbols(word: AnyStr, end_of_word: AnyStr | None = None) -> list[AnyStr]:
    """Return `word` as single bytes or characters, and the end-of-word symbol.

    Example:
        >>> first_symbols("ab", end_of_word="</w>")
        ['a', 'b', '</w>']
        >>> first_symbols(b"ab")
        [b'a', b'b']
    """
    symbols: list[AnyStr] = [word[at : at + 1] for at in range(len(word))]
    if end_of_word is not None:
        symbols.append(end_of_word)
    return symbols


def pairs(symbols: Sequence[AnyStr]) -> list[tuple[AnyStr, AnyStr]]:
    """Return the pairs of neighbours, overlapping ones included.

    Example:
        >>> pairs(["a", "a", "a"])
        [('a', 'a'), ('a', 'a')]
    """
    return list(pairwise(symbols))


def count_pairs(words: Iterable[tuple[Sequence[AnyStr], int]]) -> dict[tuple[AnyStr, AnyStr], int]:
    """Return how often each pair occurs in `words`, where a word with a count occurs that often.

    Example:
        >>> count_pairs([(["c", "a", "t"], 3), (["c", "a", "r"], 2)])
        {('c', 'a'): 5, ('a', 't'): 3, ('a', 'r'): 2}
    """
    counts: dict[tuple[AnyStr, AnyStr], int] = {}
    for symbols, count in words:
        for pair in pairs(symbols):
            counts[pair] = counts.get(pair, 0) + count
    return counts


def join(symbols: Sequence[AnyStr], pair: tuple[AnyStr, AnyStr]) -> list[AnyStr]:
    """Return `symbols` with `pair` joined wherever it occurs, from left to right.

    Example:
        >>> join(["a", "a", "a"], ("a", "a"))
        ['aa', 'a']
    """
    joined: list[AnyStr] = []
    at = 0
    while at < len(symbols):
        if tuple(symbols[at : at + 2]) == pair:
            joined.append(pair[0] + pair[1])
            at += 2
        else:
            joined.append(symbols[at])
            at += 1
    return joined


TieRule = Callable[[list[tuple[AnyStr, AnyStr]], Mapping[AnyStr, int]], tuple[AnyStr, AnyStr]]
"""Chooses among the pairs that are equally frequent, given in corpus order, with the ids of all tokens."""


def smallest_ids(candidates: list[tuple[AnyStr, AnyStr]], ids: Mapping[AnyStr, int]) -> tuple[AnyStr, AnyStr]:
    """The stock rule: the pair with the lowest left id, then the lowest right id."""
    return min(candidates, key=lambda pair: (ids[pair[0]], ids[pair[1]]))


def smallest_pair(candidates: list[tuple[AnyStr, AnyStr]], ids: Mapping[AnyStr, int]) -> tuple[AnyStr, AnyStr]:
    """The first pair of the dictionary."""
    return min(candidates)


def largest_pair(candidates: list[tuple[AnyStr, AnyStr]], ids: Mapping[AnyStr, int]) -> tuple[AnyStr, AnyStr]:
    """The last pair of the dictionary."""
    return max(candidates)


def first_seen(candidates: list[tuple[AnyStr, AnyStr]], ids: Mapping[AnyStr, int]) -> tuple[AnyStr, AnyStr]:
    """The pair that occurs first in the corpus."""
    return candidates[0]


def train(
    words: Iterable[AnyStr] | Mapping[AnyStr, int],
    *,
    vocab_size: int,
    alphabet: Iterable[AnyStr] = (),
    special_tokens: Iterable[AnyStr] = (),
    reserved_tokens: Iterable[AnyStr] = (),
    min_frequency: int = 0,
    max_token_length: int | None = None,
    limit_alphabet: int | None = None,
    end_of_word: AnyStr | None = None,
    affixes: Affixes[AnyStr] | None = None,
    tie: TieRule[AnyStr] = smallest_ids,
) -> Bpe[AnyStr]:
    """Learn a vocabulary: join the most frequent pair until the vocabulary is full or no pair is left.

    With the default tie rule, and `alphabet=BYTES` for byte-level vocabularies, this is the stock trainer.

    Args:
        words: The pretokens of the corpus, or how often each occurs.
        vocab_size: How many tokens to stop at. Special tokens and single symbols may already be more.
        alphabet: Symbols that get the first ids after the special tokens, in this order. Symbols of `words`
            that are not among them follow, in order of code points (of stand-in characters, for bytes).
        special_tokens: Tokens with the lowest ids.
        reserved_tokens: Tokens with the ids after those, which no pair is joined to spell.
        min_frequency: A pair less frequent than this is not joined; nor is one that does not occur.
        max_token_length: If given, a pair that holds a joined symbol is itself joined only when the result
            has *fewer* first symbols than this.
        limit_alphabet: How many characters to keep: those of `alphabet`, then the most frequent, and of equally
            frequent ones those of the lowest code points. The others are skipped.
        end_of_word: A symbol to end every word with.
        affixes: What symbols carry inside and at the end of words. Symbols with an affix have the ids after all
            characters, in order of code points.
        tie: What to do when several pairs are equally frequent.
    """
    counts = words if isinstance(words, Mapping) else Counter(words)
    affixes = affixes or Affixes()
    reserved = set(reserved_tokens)
    vocab: list[AnyStr] = list(dict.fromkeys(chain(special_tokens, reserved_tokens)))
    vocab = list(dict.fromkeys(chain(vocab, _alphabet(counts, alphabet, end_of_word, limit_alphabet))))
    known = set(vocab)
    corpus: list[tuple[list[_Placed[AnyStr]], int]] = []
    for word, count in counts.items():
        symbols = [symbol for char, symbol in affixes.first_symbols(word) if char in known]
        symbols += [] if end_of_word is None else [end_of_word]
        corpus.append(([(symbol, 1) for symbol in symbols], count))
    affixed = {symbol for word, _ in corpus for symbol, _ in word}
    vocab = list(dict.fromkeys(chain(vocab, sorted(affixed, key=_code_points))))
    ids: dict[AnyStr, int] = {symbol: id for id, symbol in enumerate(vocab)}
    merges: dict[tuple[AnyStr, AnyStr], None] = {}

    while len(vocab) < vocab_size:
        eligible = {
            pair: count
            for pair, count in _count_short_pairs(corpus, max_token_length).items()
            if count >= max(1, min_frequency) and affixes.joined(*pair) not in reserved
        }
        if not eligible:
            break
        most = max(eligible.values())
        pair = tie([pair for pair, count in eligible.items() if count == most], ids)

        token = affixes.joined(*pair)
        if token not in ids:
            ids[token] = len(vocab)
            vocab.append(token)
        merges.pop(pair, None)  # a pair that is joined once more keeps its last rank only
        merges[pair] = None
        corpus = [(_join_short(symbols, pair, token, max_token_length), count) for symbols, count in corpus]

    return Bpe(vocab, list(merges), end_of_word, affixes)


_Placed: TypeAlias = tuple[AnyStr, int]
"""A symbol in a word, and how many first symbols it was joined from: with affixes, equal symbols may differ in it."""


def _alphabet(
    counts: Mapping[AnyStr, int], initial: Iterable[AnyStr], end_of_word: AnyStr | None, limit: int | None
) -> list[AnyStr]:
    """Return the single symbols: initial ones as they are given, then those of the words by code point."""
    frequency: dict[AnyStr, float] = {}
    for word, count in counts.items():
        for symbol in first_symbols(word, end_of_word):
            frequency[symbol] = frequency.get(symbol, 0) + count
    given = list(dict.fromkeys(initial))
    frequency |= dict.fromkeys(given, float("inf"))
    ranked = sorted(frequency, key=lambda symbol: (-frequency[symbol], _code_points(symbol)))
    kept = set(ranked[:limit])
    return [symbol for symbol in chain(given, sorted(frequency, key=_code_points)) if symbol in kept]


def _count_short_pairs(
    words: Iterable[tuple[Sequence[_Placed[AnyStr]], int]], limit: int | None
) -> dict[tuple[AnyStr, AnyStr], int]:
    counts: dict[tuple[AnyStr, AnyStr], int] = {}
    for symbols, count in words:
        for (left, left_length), (right, right_length) in pairwise(symbols):
            if _is_short(left_length, right_length, limit):
                counts[left, right] = counts.get((left, right), 0) + count
    return counts


def _join_short(
    symbols: Sequence[_Placed[AnyStr]], pair: tuple[AnyStr, AnyStr], token: AnyStr, limit: int | None
) -> list[_Placed[AnyStr]]:
    """Return what `join` returns for symbols of which only short ones may be joined."""
    joined: list[_Placed[AnyStr]] = []
    at = 0
    while at < len(symbols):
        (left, length), (right, more) = symbols[at], symbols[at + 1] if at + 1 < len(symbols) else (symbols[at][0], 0)
        if more and (left, right) == pair and _is_short(length, more, limit):
            joined.append((token, length + more))
            at += 2
        else:
            joined.append(symbols[at])
            at += 1
    return joined


def _is_short(left: int, right: int, max_token_length: int | None) -> bool:
    """Whether symbols of these lengths may be joined: two first symbols always, others below the limit."""
    return max_token_length is None or left == right == 1 or left + right < max_token_length


def _code_points(symbol: str | bytes) -> str:
    return symbol if isinstance(symbol, str) else "".join(BYTE_TO_CHAR[byte] for byte in symbol)
