"""`fertility`: how many tokens texts take, by where they are from, by script and by kind; never only an average."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hf_bpe.characters import scripts_of
from hf_bpe.measure.kinds import kinds_of
from hf_bpe.measure.results import Cell, Column, Result, Table, ratio
from hf_bpe.measure.texts import batches
from hf_bpe.measure.tokens import Counts, Ids, Measured, measured
from hf_bpe.measure.words import WordRule, count_words, words_of

Label = Callable[[str], str]

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


@dataclass(frozen=True)
class Fertility(Result):
    """How many tokens texts take.

    Attributes:
        tokenizer: The tokenizer.
        vocab_size: How many ordinary tokens it has.
        total: All texts.
        by_source: Texts by the name that they were given.
        by_script: By the script that most of their letters have.
        by_kind: By kind of content.
    """

    tokenizer: str
    vocab_size: int
    total: TextCounts
    by_source: Mapping[str, TextCounts]
    by_script: Mapping[str, TextCounts]
    by_kind: Mapping[str, TextCounts]

    @property
    def title(self) -> str:
        """What was measured."""
        return f"Tokens of texts, {self.tokenizer}"

    def tables(self) -> list[Table]:
        """Return a table by source, by script and by kind."""
        groups = {"by source": self.by_source, "by script": self.by_script, "by kind of content": self.by_kind}
        return [self._table(title, {**counts, "all": self.total}) for title, counts in groups.items()]

    def _table(self, title: str, counts: Mapping[str, TextCounts]) -> Table:
        columns = [
            Column(title.removeprefix("by "), "text"),
            *(Column("texts"), Column("words"), Column("bytes"), Column("tokens", compared=True)),
            Column("tokens per word", "number", compared=True),
            Column("bytes per token", "number", compared=True),
            Column("chars per token", "number", compared=True),
            Column("one-token words", "share", compared=True),
            Column("fallback tokens", "share", compared=True),
            Column("Renyi efficiency", "number", compared=True),
        ]
        rows = [self._row(name, count) for name, count in counts.items()]
        return Table(f"Tokens {title}", columns, rows, plotted=["bytes per token"])

    def _row(self, name: str, count: TextCounts) -> list[Cell]:
        return [
            *(name, count.texts, count.words, count.bytes, count.tokens, count.tokens_per_word),
            *(count.bytes_per_token, count.characters_per_token, count.single_token_share, count.fallback_share),
            count.renyi_efficiency(self.vocab_size),
        ]


def fertility(
    tokenizer: Any,
    texts: Any,
    *,
    words: WordRule = words_of,
    script_of: Label | None = None,
    kind_of: Label | None = None,
    text_column: str = "text",
    name: str | None = None,
) -> Fertility:
    """Count the tokens of texts, by source, by script or language, and by kind of content.

    The script of a text is that of most of its letters; its kind follows a rule of thumb (`hf_bpe.measure.kinds`); a
    word is what stands between white space (`hf_bpe.measure.words`). Each of these you may give.

    Args:
        tokenizer: A tokenizer of hf_bpe, `tokenizers`, `transformers` (a fast one), tiktoken, sentencepiece or
            mistral-common, or the path of one.
        texts: A str, an iterable of str or of rows, a `Path`, a list of these, or a mapping from names to any of them.
        words: Cuts a text into words.
        script_of: Tells the script, or the language, of a text.
        kind_of: Tells the kind of a text.
        text_column: The column with the text, in rows.
        name: How the tokenizer is named.

    Returns:
        The counts. What there is nothing to divide by is None.

    Raises:
        TypeError: An argument has a wrong type.
        CorpusError: A file can't be read, or isn't UTF-8.

    Example:
        >>> found = fertility(tokenizer, {"en": english, "zh": chinese})
        >>> found.by_source["zh"].bytes_per_token
        3.1
    """
    source = measured(tokenizer, name=name)
    counted = _Counted(source, words, script_of, kind_of)
    for origin, batch in batches(texts, text_column=text_column):
        counted.add(origin, batch)
    named = (dict(sorted(counts.items())) for counts in (counted.by_script, counted.by_kind))
    return Fertility(source.name, len(source.token_bytes), counted.total, counted.by_source, *named)


class _Counted:
    """Counts that grow batch by batch."""

    def __init__(self, tokenizer: Measured, words: WordRule, script_of: Label | None, kind_of: Label | None) -> None:
        self._tokenizer, self._words, self._script_of, self._kind_of = tokenizer, words, script_of, kind_of
        self.total = TextCounts()
        self.by_source: dict[str, TextCounts] = {}
        self.by_script: dict[str, TextCounts] = {}
        self.by_kind: dict[str, TextCounts] = {}

    def add(self, origin: str, texts: list[str]) -> None:
        """Count texts from one source."""
        ids, lengths = self._tokenizer.encode(texts)
        words, singles = count_words(self._tokenizer, texts, self._words)
        found = {
            "words": words,
            "characters": np.fromiter(map(len, texts), np.int64, len(texts)),
            "bytes": np.fromiter((len(text.encode("utf-8", "surrogatepass")) for text in texts), np.int64, len(texts)),
            "tokens": lengths,
            "single_token_words": singles,
            "fallback_tokens": _sums(self._tokenizer.fallback(ids), lengths),
        }
        scripts = scripts_of(texts) if self._script_of is None else [self._script_of(text) for text in texts]
        kinds: Sequence[str] = kinds_of(texts) if self._kind_of is None else [self._kind_of(text) for text in texts]
        for counts, labels in ((self.by_script, scripts), (self.by_kind, kinds)):
            _spread(counts, labels, found, ids)
        for count in (self.total, self.by_source.setdefault(origin, TextCounts())):
            _add(count, found, ids)


def _spread(counts: dict[str, TextCounts], labels: Sequence[str], found: Mapping[str, Counts], ids: Ids) -> None:
    """Add what was found to the counts of the label that each text has."""
    names, codes = np.unique(np.array(labels, dtype=object).astype(str), return_inverse=True)
    of_token = np.repeat(codes, found["tokens"])
    for code, name in enumerate(names.tolist()):
        chosen = codes == code
        part = {what: values[chosen] for what, values in found.items()}
        _add(counts.setdefault(name, TextCounts()), part, ids[of_token == code])


def _add(count: TextCounts, found: Mapping[str, Counts], ids: Ids) -> None:
    count.add(texts=len(found["tokens"]), **{name: int(values.sum()) for name, values in found.items()})
    count.add_uses(ids)


def _sums(flags: Any, lengths: Counts) -> Counts:
    """Return how many flags are set in each stretch of these lengths."""
    until = np.concatenate([[0], np.cumsum(flags, dtype=np.int64)])
    ends = np.cumsum(lengths)
    sums: Counts = until[ends] - until[ends - lengths]
    return sums
