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
from typing import AnyStr, Generic

from hf_bpe.byte_alphabet import BYTE_TO_CHAR

BYTES: list[bytes] = [bytes([byte]) for byte in sorted(BYTE_TO_CHAR, key=BYTE_TO_CHAR.__getitem__)]
"""All bytes in the order in which byte-level vocabularies number them: by stand-in character."""


@dataclass(frozen=True)
class Bpe(Generic[AnyStr]):
    """A vocabulary and its merges, over bytes or over characters.

    Attributes:
        vocab: The tokens; the position of a token is its id.
        merges: The pairs that training joined; the position of a pair is its rank.
        end_of_word: A symbol that every word ends with, or none.
    """

    vocab: list[AnyStr]
    merges: list[tuple[AnyStr, AnyStr]]
    end_of_word: AnyStr | None = None

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
        # A symbol outside the vocabulary is skipped, as in the stock library.
        symbols: list[AnyStr] = [symbol for symbol in first_symbols(pretoken, self.end_of_word) if symbol in known]
        while True:
            ranked = [(ranks[pair], at) for at, pair in enumerate(pairs(symbols)) if pair in ranks]
            if not ranked:
                return symbols
            _, at = min(ranked)
            symbols[at : at + 2] = [symbols[at] + symbols[at + 1]]


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
    min_frequency: int = 0,
    max_token_length: int | None = None,
    end_of_word: AnyStr | None = None,
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
        min_frequency: A pair less frequent than this is not joined; nor is one that does not occur.
        max_token_length: If given, a pair that holds a joined symbol is itself joined only when the result
            has *fewer* first symbols than this.
        end_of_word: A symbol to end every word with.
        tie: What to do when several pairs are equally frequent.
    """
    counts = words if isinstance(words, Mapping) else Counter(words)
    corpus = [(first_symbols(word, end_of_word), count) for word, count in counts.items()]
    seen: set[AnyStr] = {symbol for word, _ in corpus for symbol in word}
    vocab: list[AnyStr] = list(dict.fromkeys(chain(special_tokens, alphabet, sorted(seen, key=_code_points))))
    ids: dict[AnyStr, int] = {symbol: id for id, symbol in enumerate(vocab)}
    length = dict.fromkeys(seen, 1)
    merges: dict[tuple[AnyStr, AnyStr], None] = {}

    while len(vocab) < vocab_size:
        eligible = {
            pair: count
            for pair, count in count_pairs(corpus).items()
            if count >= max(1, min_frequency) and _is_short(length[pair[0]], length[pair[1]], max_token_length)
        }
        if not eligible:
            break
        most = max(eligible.values())
        pair = tie([pair for pair, count in eligible.items() if count == most], ids)

        token: AnyStr = pair[0] + pair[1]
        if token not in ids:
            ids[token] = len(vocab)
            vocab.append(token)
        length[token] = length[pair[0]] + length[pair[1]]
        merges.pop(pair, None)  # a pair that is joined once more keeps its last rank only
        merges[pair] = None
        corpus = [(join(symbols, pair), count) for symbols, count in corpus]

    return Bpe(vocab, list(merges), end_of_word)


def _is_short(left: int, right: int, max_token_length: int | None) -> bool:
    """Whether symbols of these lengths may be joined: two first symbols always, others below the limit."""
    return max_token_length is None or left == right == 1 or left + right < max_token_length


def _code_points(symbol: str | bytes) -> str:
    return symbol if isinstance(symbol, str) else "".join(BYTE_TO_CHAR[byte] for byte in symbol)
