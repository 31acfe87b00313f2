"""`fertility`: how many tokens texts take, by where they are from, by script and by kind; never only an average."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hf_bpe.measure.facts import Facts, Label, Labels, facts_of
from hf_bpe.measure.results import TOTAL, Cell, Column, Result, Table, beside_total
from hf_bpe.measure.text_counts import TextCounts
from hf_bpe.measure.texts import batches
from hf_bpe.measure.tokens import Counts, Ids, Measured, measured
from hf_bpe.measure.words import WordRule, sums, words_of


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
        return [self._table(title, counts) for title, counts in groups.items()]

    def _table(self, title: str, counts: Mapping[str, TextCounts]) -> Table:
        columns = [
            Column(title.removeprefix("by "), "text"),
            *(Column("texts"), Column("words"), Column("bytes"), Column("tokens", compared=True, counts=True)),
            Column("tokens per word", "number", compared=True),
            Column("bytes per token", "number", compared=True),
            Column("chars per token", "number", compared=True),
            Column("one-token words", "share", compared=True),
            Column("fallback tokens", "share", compared=True),
            Column("Renyi efficiency", "number", compared=True),
        ]
        rows = [self._row(beside_total(name), count) for name, count in counts.items()]
        rows.append(self._row(TOTAL, self.total))
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
    found = fertilities([source], texts, words=words, script_of=script_of, kind_of=kind_of, text_column=text_column)
    return found[0]


def fertilities(
    tokenizers: Sequence[Any],
    texts: Any,
    *,
    words: WordRule = words_of,
    script_of: Label | None = None,
    kind_of: Label | None = None,
    text_column: str = "text",
) -> list[Fertility]:
    """Count the tokens of texts with several tokenizers, reading the texts once: see `fertility`.

    Example:
        >>> first, second = fertilities([mine, "llama3"], stream)
        >>> print(first.compared_with(second))
    """
    counted = [_Counted(measured(tokenizer)) for tokenizer in tokenizers]
    for origin, batch in batches(texts, text_column=text_column):
        facts = facts_of(batch, words, script_of, kind_of)
        for count in counted:
            count.add(origin, batch, facts)
    return [count.result() for count in counted]


class _Counted:
    """Counts of one tokenizer that grow batch by batch."""

    def __init__(self, tokenizer: Measured) -> None:
        self._tokenizer = tokenizer
        self._total = TextCounts()
        self._by_source: dict[str, TextCounts] = {}
        self._by_script: dict[str, TextCounts] = {}
        self._by_kind: dict[str, TextCounts] = {}

    def add(self, origin: str, texts: list[str], facts: Facts) -> None:
        """Count texts from one source."""
        ids, lengths = self._tokenizer.encode(texts)
        found = {
            "words": facts.words.counts,
            "characters": facts.characters,
            "bytes": facts.bytes,
            "tokens": lengths,
            "single_token_words": facts.words.single(self._tokenizer),
            "fallback_tokens": sums(self._tokenizer.fallback(ids), lengths),
        }
        for counts, labels in ((self._by_script, facts.scripts), (self._by_kind, facts.kinds)):
            _spread(counts, labels, found, ids)
        for count in (self._total, self._by_source.setdefault(origin, TextCounts())):
            _add(count, found, ids)

    def result(self) -> Fertility:
        """Return what was counted."""
        named = (dict(sorted(counts.items())) for counts in (self._by_script, self._by_kind))
        size = len(self._tokenizer.token_bytes)
        return Fertility(self._tokenizer.name, size, self._total, self._by_source, *named)


def _spread(counts: dict[str, TextCounts], labels: Labels, found: Mapping[str, Counts], ids: Ids) -> None:
    """Add what was found to the counts of the label that each text has."""
    of_token = np.repeat(labels.codes, found["tokens"])
    for code, name in enumerate(labels.names):
        chosen = labels.codes == code
        part = {what: values[chosen] for what, values in found.items()}
        _add(counts.setdefault(name, TextCounts()), part, ids[of_token == code])


def _add(count: TextCounts, found: Mapping[str, Counts], ids: Ids) -> None:
    count.add(texts=len(found["tokens"]), **{name: int(values.sum()) for name, values in found.items()})
    count.add_uses(ids)
