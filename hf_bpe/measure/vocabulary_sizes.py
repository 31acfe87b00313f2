"""`vocabulary_sizes`: how large should a vocabulary be? What each size gains, and what it costs a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hf_bpe.measure.pages import page_of
from hf_bpe.measure.results import Cell, Column, Result, Table, ratio
from hf_bpe.training_sources import SourceReport
from hf_bpe.vocabulary_growth import VocabularyGrowth

HIDDEN_SIZES: Mapping[int, int] = {768: 12, 2048: 24, 4096: 32, 8192: 80}
"""Hidden sizes of models and their numbers of layers, unless others are given."""

_ROWS = 20
_NEXT = 1000
_GAINS = (
    Column("vocabulary", "text"),
    Column("bytes per token", "number"),
    Column("tokens of the corpus"),
    Column(f"saved by the next {_NEXT:,}", "share"),
)
_READ = {
    "texts": "texts",
    "bytes": "bytes",
    "null_rows": "null rows, left out",
    "bad_rows": "bad rows, left out",
    "cut_pretokens": "pretokens that were cut",
}
"""Of what a report tells how much was read, and what tables call it."""


@dataclass(frozen=True)
class VocabularySizes(Result):
    """What vocabularies of some sizes make of the corpus that they were learned from.

    Attributes:
        growth: What learning told.
        hidden_sizes: The hidden sizes of models and their numbers of layers.
        sources: What each source gave and got, where there are several.
        read: How much was read of what, and left out, by name.
        first_bad_rows: Where the first rows are that held no text, and what is wrong with them.
    """

    growth: VocabularyGrowth
    hidden_sizes: Mapping[int, int]
    sources: tuple[SourceReport, ...] = ()
    read: Mapping[str, int] = field(default_factory=dict)
    first_bad_rows: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What was measured."""
        return "How large should the vocabulary be?"

    def sizes(self) -> list[int]:
        """Return the sizes that tables have: the first, some round ones, and the last."""
        first, last = self.growth.sizes
        steps = (step * 10**power for power in range(20) for step in (1, 2, 5))
        step = next(step for step in steps if last - first <= step * _ROWS)
        return [first, *range(first - first % step + step, last, step), *([last] if last > first else [])]

    def tables(self) -> list[Table]:
        """Return the gains, the sources where there are several, what was read, and the share of embeddings."""
        return [self._gains(), *self._by_source(), *self._read(), self._shares(1), self._shares(2)]

    def _rows_of(self, growth: VocabularyGrowth) -> list[list[Cell]]:
        rows: list[list[Cell]] = []
        for size in self.sizes():
            tokens = growth.tokens_at(size) or 0
            rows.append([f"{size:,}", ratio(growth.bytes, tokens), round(tokens), growth.gain_at(size)])
        return rows

    def _gains(self) -> Table:
        rows = self._rows_of(self.growth)
        return Table("Bytes per token by vocabulary size", _GAINS, rows, plotted=["bytes per token"])

    def _by_source(self) -> list[Table]:
        if not self.sources:
            return []
        rows: list[list[Cell]] = [
            [part.name, part.bytes, part.tokens, ratio(part.bytes, part.tokens), part.share, part.used_most]
            for part in self.sources
        ]
        columns = [
            Column("source", "text"),
            Column("bytes"),
            Column("tokens"),
            Column("bytes per token", "number"),
            Column("share of the training", "share"),
            Column("learned tokens that it uses most"),
        ]
        if any(part.quota is not None for part in self.sources):
            columns += [Column("quota of them", "share"), Column("missing to it")]
            rows = [[*row, part.quota, part.missing] for row, part in zip(rows, self.sources, strict=True)]
        return [Table("By source", columns, rows, plotted=["bytes per token"]), self._gains_by_source()]

    def _gains_by_source(self) -> Table:
        rows: list[list[Cell]] = []
        for part in self.sources:
            if part.growth is not None and part.bytes:
                rows += [[part.name, *row] for row in self._rows_of(part.growth)]
        size, ratios, _, gain = _GAINS
        columns = [Column("source", "text"), size, ratios, Column("tokens of the source"), gain]
        return Table("Bytes per token by source and vocabulary size", columns, rows, plotted=["bytes per token"])

    def _read(self) -> list[Table]:
        tables: list[Table] = []
        if self.read:
            rows: list[list[Cell]] = [[name, number] for name, number in self.read.items()]
            tables.append(Table("What was read", [Column("what", "text"), Column("how many")], rows))
        if self.first_bad_rows:
            bad: list[list[Cell]] = [[row] for row in self.first_bad_rows]
            tables.append(Table("The first bad rows that were left out", [Column("row", "text")], bad))
        return tables

    def _shares(self, matrices: int) -> Table:
        columns = [Column("vocabulary", "text")]
        columns += [Column(f"{hidden:,} x {layers} layers", "share") for hidden, layers in self.hidden_sizes.items()]
        rows: list[list[Cell]] = [
            [f"{size:,}", *(_share(size * matrices, *model) for model in self.hidden_sizes.items())]
            for size in self.sizes()
        ]
        tied = "input and output tied" if matrices == 1 else "input and output apart"
        title = f"Share of embeddings, {tied}; the rest of the model has 12 x layers x hidden²"
        return Table(title, columns, rows)


def _share(rows: int, hidden: int, layers: int) -> float:
    embedding = rows * hidden
    return embedding / (embedding + 12 * layers * hidden * hidden)


def vocabulary_sizes(report: Any, *, hidden_sizes: Mapping[int, int] | None = None) -> VocabularySizes:
    """Return what smaller vocabularies would have made of a training's corpus, and what each size costs a model.

    Args:
        report: What `tokenizer.training_report` is.
        hidden_sizes: Hidden sizes of models, and the number of layers of each.

    Raises:
        ValueError: The report doesn't know, or a size is none.

    Example:
        >>> print(vocabulary_sizes(tokenizer.training_report, hidden_sizes={2048: 24}))
    """
    growth = getattr(report, "growth", None)
    if growth is None:
        raise ValueError("this training report doesn't tell what each merge saved; train with hf_bpe.train.")
    models = dict(HIDDEN_SIZES if hidden_sizes is None else hidden_sizes)
    for number in [number for model in models.items() for number in model]:
        if not isinstance(number, int) or number < 1:
            raise ValueError(f"hidden_sizes maps hidden sizes to numbers of layers, got {hidden_sizes!r}.")
    read = {what: getattr(report, name, 0) for name, what in _READ.items()}
    bad = tuple(getattr(report, "first_bad_rows", ()))
    return VocabularySizes(growth, models, tuple(getattr(report, "sources", ())), read, bad)


def page_of_training(report: Any, *, hidden_sizes: Mapping[int, int] | None = None) -> str:
    """Return a training report as one page of HTML."""
    return page_of([vocabulary_sizes(report, hidden_sizes=hidden_sizes)], title="Training report")
