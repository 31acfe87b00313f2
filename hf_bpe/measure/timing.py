"""`throughput`: how fast this tokenizer encodes this text, on this machine, now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from hf_bpe.measure.results import Cell, Column, Result, Table, ratio
from hf_bpe.measure.texts import batches
from hf_bpe.measure.tokens import measured

_MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Speed:
    """How fast texts of one source were encoded.

    Attributes:
        bytes: How many bytes they have.
        tokens: How many tokens they take.
        first: The seconds that the first run took, caches cold as far as nothing else filled them.
        best: The seconds of the fastest run.
    """

    bytes: int
    tokens: int
    first: float
    best: float


@dataclass(frozen=True)
class Throughput(Result):
    """How fast a tokenizer is.

    Attributes:
        tokenizer: The tokenizer.
        runs: How often each text was encoded.
        speeds: The speed by source.
    """

    tokenizer: str
    runs: int
    speeds: Mapping[str, Speed]

    @property
    def megabytes_per_second(self) -> float | None:
        """The speed of all sources together, each at its best. None without a text."""
        total = sum(speed.bytes for speed in self.speeds.values())
        seconds = sum(speed.best for speed in self.speeds.values())
        return ratio(total / _MEGABYTE, seconds) if total else None

    @property
    def title(self) -> str:
        """What was measured."""
        return f"Throughput, {self.tokenizer}, best of {self.runs}"

    def tables(self) -> list[Table]:
        """Return a row for each source."""
        fast = (Column("MB/s, first", "number", compared=True), Column("MB/s, best", "number", compared=True))
        columns = [Column("source", "text"), Column("bytes"), Column("tokens", compared=True), *fast]
        rows: list[list[Cell]] = [
            [name, speed.bytes, speed.tokens, *(_rate(speed.bytes, spent) for spent in (speed.first, speed.best))]
            for name, speed in self.speeds.items()
        ]
        return [Table("Throughput", columns, rows, plotted=["MB/s, best"])]


def _rate(size: int, seconds: float) -> float | None:
    return ratio(size / _MEGABYTE, seconds) if size else None


def throughput(
    tokenizer: Any, texts: Any, *, runs: int = 3, text_column: str = "text", name: str | None = None
) -> Throughput:
    """Measure how fast texts are encoded, in batches, with all threads that the library uses.

    Args:
        tokenizer: A tokenizer of any library, or the path of one.
        texts: Texts, as `fertility` takes them.
        runs: How often each batch is encoded.
        text_column: The column with the text, in rows.
        name: How the tokenizer is named.

    Raises:
        ValueError: `runs` isn't positive.
        TypeError: An argument has a wrong type.
        CorpusError: A file can't be read, or isn't UTF-8.

    Example:
        >>> throughput(tokenizer, pathlib.Path("corpus.txt")).megabytes_per_second
        31.4
    """
    if runs < 1:
        raise ValueError(f"runs={runs}: each text is encoded at least once.")
    source = measured(tokenizer, name=name)
    speeds: dict[str, Speed] = {}
    for origin, batch in batches(texts, text_column=text_column):
        spent, tokens = [], 0
        for _ in range(runs):
            start = perf_counter()
            tokens = int(source.lengths(batch).sum())
            spent.append(perf_counter() - start)
        size = sum(len(text.encode("utf-8", "surrogatepass")) for text in batch)
        old = speeds.get(origin, Speed(0, 0, 0.0, 0.0))
        speeds[origin] = Speed(old.bytes + size, old.tokens + tokens, old.first + spent[0], old.best + min(spent))
    return Throughput(source.name, runs, speeds)
