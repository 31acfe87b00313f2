"""`vocabulary`: what a vocabulary spends its tokens on, and which of them a corpus never uses; what two share."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hf_bpe.characters import scripts_of
from hf_bpe.measure.fertilities import Fertility
from hf_bpe.measure.results import Cell, Column, Result, Table, ratio
from hf_bpe.measure.text_counts import TextCounts
from hf_bpe.measure.texts import batches
from hf_bpe.measure.tokens import Counts, Measured, measured

PARTIAL = "part of a character"

_SHOWN = 20
_SINGLE_LENGTHS = 16


@dataclass(frozen=True)
class CorpusUse:
    """What a corpus uses of a vocabulary.

    Attributes:
        tokens: How many tokens the corpus takes.
        unused: The ids that it never uses.
        rare: The ids that it uses less often than was asked for, the unused ones left out.
    """

    tokens: int
    unused: Sequence[int]
    rare: Sequence[int]


@dataclass(frozen=True)
class VocabularyReport(Result):
    """What a vocabulary holds, added tokens left out.

    Attributes:
        tokenizer: The tokenizer.
        tokens: The bytes of each token, by its id.
        by_script: How many tokens there are of each script.
        by_length: How many have so many bytes.
        longest: The ids of the longest tokens.
        near_duplicates: Ids of tokens that differ in case or outer white space alone, the largest groups first.
        unreachable: Ids of tokens whose own text gives other tokens: candidates that no model has learned.
        use: What a corpus uses. None where none was given.
    """

    tokenizer: str
    tokens: Mapping[int, bytes]
    by_script: Mapping[str, int]
    by_length: Mapping[int, int]
    longest: Sequence[int]
    near_duplicates: Sequence[Sequence[int]]
    unreachable: Sequence[int]
    use: CorpusUse | None = None

    @property
    def under_trained(self) -> list[int]:
        """Ids that training may have left untouched: unreachable, or never used by the corpus that was given."""
        return sorted({*self.unreachable, *(() if self.use is None else self.use.unused)})

    @property
    def title(self) -> str:
        """What was measured."""
        return f"The vocabulary of {self.tokenizer}"

    def tables(self) -> list[Table]:
        """Return tables: tokens by script and by length, what is odd, and the longest tokens."""
        size = len(self.tokens)
        scripts = [(name, count, ratio(count, size)) for name, count in self.by_script.items()]
        lengths = [(name, count, ratio(count, size)) for name, count in self._lengths().items()]
        figures = (Column("tokens", compared=True, counts=True), Column("share", "share", compared=True, counts=True))
        longest = [(self._text(id), str(id), len(self.tokens[id])) for id in self.longest]
        return [
            Table("Tokens by script", [Column("script", "text"), *figures], scripts, plotted=["tokens"]),
            Table("Tokens by their length in bytes", [Column("bytes", "text"), *figures], lengths, plotted=["tokens"]),
            Table("What stands out", [Column("what", "text"), *figures, Column("some", "text")], self._odd(size)),
            Table("Longest tokens", [Column("token", "text"), Column("id", "text"), Column("bytes")], longest),
        ]

    def _lengths(self) -> dict[str, int]:
        """Return how many tokens have so many bytes, those of the rare lengths together."""
        counts: Counter[str] = Counter()
        for length, count in self.by_length.items():
            until = 1 << (length - 1).bit_length()
            counts[str(length) if length <= _SINGLE_LENGTHS else f"{until // 2 + 1}-{until}"] += count
        return dict(counts)

    def _odd(self, size: int) -> list[list[Cell]]:
        doubles = [id for group in self.near_duplicates for id in group]
        found: dict[str, Sequence[int]] = {
            "near duplicates (case, outer white space)": doubles,
            "no text gives them": self.unreachable,
        }
        if self.use is not None:
            found |= {"unused by the corpus": self.use.unused, "rarely used by the corpus": self.use.rare}
            found["under-trained candidates"] = self.under_trained
        return [[what, len(ids), ratio(len(ids), size), self._some(ids)] for what, ids in found.items()]

    def _some(self, ids: Sequence[int]) -> str:
        return ", ".join(self._text(id) for id in ids[:5])

    def _text(self, id: int) -> str:
        return repr(self.tokens[id].decode("utf-8", "backslashreplace"))


@dataclass(frozen=True)
class SharedTokens(Result):
    """What two vocabularies share.

    Attributes:
        first: The first tokenizer.
        second: The second.
        shared: How many tokens both have.
        same_id: How many of these have the same id in both.
        only_first: How many only the first has.
        only_second: How many only the second has.
    """

    first: str
    second: str
    shared: int
    same_id: int
    only_first: int
    only_second: int

    @property
    def share(self) -> float | None:
        """The share of all tokens that both have."""
        return ratio(self.shared, self.shared + self.only_first + self.only_second)

    @property
    def title(self) -> str:
        """What was measured."""
        return f"Tokens that {self.first} and {self.second} share"

    def tables(self) -> list[Table]:
        """Return one table."""
        first, second = (self.first, self.second) if self.first != self.second else ("the first", "the second")
        rows = [
            ("both", self.shared),
            ("both, with the same id", self.same_id),
            (f"only {first}", self.only_first),
            (f"only {second}", self.only_second),
        ]
        return [Table("Tokens shared", [Column("tokens of", "text"), Column("tokens")], rows)]


def vocabulary(
    tokenizer: Any, corpus: Any = None, *, rare: int = 5, text_column: str = "text", name: str | None = None
) -> VocabularyReport:
    """Return what a vocabulary spends its tokens on, and what a corpus uses of it.

    Args:
        tokenizer: A tokenizer of any library, or the path of one.
        corpus: Texts, as `fertility` takes them, or what `fertility` found with this tokenizer.
        rare: Tokens that the corpus uses less often than this are rare.
        text_column: The column with the text, in rows.
        name: How the tokenizer is named.

    Raises:
        TypeError: An argument has a wrong type.
        CorpusError: A file can't be read, or isn't UTF-8.

    Example:
        >>> vocabulary(tokenizer).by_script["Han"]
        871
    """
    source = measured(tokenizer, name=name)
    texts = {id: _text_of(token) for id, token in source.token_bytes.items()}
    whole = {id: text for id, text in texts.items() if text is not None}
    scripts = Counter(scripts_of(list(whole.values())))
    if len(whole) < len(texts):
        scripts[PARTIAL] = len(texts) - len(whole)
    tokens = source.token_bytes
    return VocabularyReport(
        source.name,
        tokens,
        dict(sorted(scripts.items(), key=lambda item: (-item[1], item[0]))),
        dict(sorted(Counter(map(len, tokens.values())).items())),
        sorted(tokens, key=lambda id: (-len(tokens[id]), id))[:_SHOWN],
        _near_duplicates(whole),
        _unreachable(source, whole),
        None if corpus is None else _use(source, corpus, rare, text_column),
    )


def shared_tokens(
    first: Any, second: Any, *, first_name: str | None = None, second_name: str | None = None
) -> SharedTokens:
    """Return what two vocabularies share, by the bytes of their tokens.

    Example:
        >>> shared_tokens(tiktoken.get_encoding("cl100k_base"), tokenizer).share
        0.42
    """
    one, two = measured(first, name=first_name), measured(second, name=second_name)
    ids, others = ({token: id for id, token in side.token_bytes.items()} for side in (one, two))
    both = ids.keys() & others.keys()
    same = sum(ids[token] == others[token] for token in both)
    return SharedTokens(one.name, two.name, len(both), same, len(ids) - len(both), len(others) - len(both))


def _text_of(token: bytes) -> str | None:
    try:
        return token.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _near_duplicates(texts: Mapping[int, str]) -> list[list[int]]:
    groups = defaultdict(list)
    for id, text in texts.items():
        if key := text.strip().casefold():
            groups[key].append(id)
    return sorted((group for group in groups.values() if len(group) > 1), key=lambda group: (-len(group), group))


def _unreachable(tokenizer: Measured, texts: Mapping[int, str]) -> list[int]:
    """Return the ids that don't come up when their own text is encoded, alone or behind a letter."""
    found = sorted(texts)
    missed = _missed(tokenizer, found, [texts[id] for id in found])
    return _missed(tokenizer, missed, [f"a{texts[id]}" for id in missed])


def _missed(tokenizer: Measured, ids: list[int], texts: list[str]) -> list[int]:
    encoded, lengths = tokenizer.encode(texts)
    rows = np.repeat(np.arange(len(ids)), lengths)
    hits = set(rows[encoded == np.array(ids, np.uint32)[rows]].tolist()) if ids else set()
    return [id for row, id in enumerate(ids) if row not in hits]


def _use(tokenizer: Measured, corpus: Any, rare: int, text_column: str) -> CorpusUse:
    if isinstance(corpus, Fertility):
        counted = corpus.total
    else:
        counted = TextCounts()
        for _, batch in batches(corpus, text_column=text_column):
            ids, _ = tokenizer.encode(batch)
            counted.add(tokens=len(ids))
            counted.add_uses(ids)
    uses: Counts = np.zeros(max(tokenizer.rows, len(counted.uses)), np.int64)
    uses[: len(counted.uses)] = counted.uses
    ids_of_tokens = list(tokenizer.token_bytes)
    unused = [id for id in ids_of_tokens if uses[id] == 0]
    return CorpusUse(counted.tokens, unused, [id for id in ids_of_tokens if 0 < uses[id] < rare])
