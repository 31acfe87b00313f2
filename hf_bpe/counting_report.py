"""What was read of a corpus, and what is to be said of what was left out.

Guarantee: no bad row is left out without a warning that tells the first ones, and a source of nothing else is an error.
Whoever learns from texts keeps it, by `count_corpus`, or by a `Tally` of what else it does with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace

from hf_bpe.documents import TOLD_BAD_ROWS
from hf_bpe.errors import CorpusError
from hf_bpe.telling import warn
from hf_bpe.text_batches import Batch, LongText, Texts

_HOPELESS_ROWS = 100_000
"""How many bad rows without a text before them are enough to give up a source, which may be large."""

_WARNED_OF = 3
"""How many bad rows a warning tells of."""


@dataclass(frozen=True)
class CountingReport:
    """What was read.

    Attributes:
        texts: How many texts.
        null_rows: How many rows that were null, and skipped.
        bad_rows: How many rows that held no text, and were skipped.
        bytes: How many bytes the texts have.
        cut_pretokens: How many pretokens were too long, and counted in parts.
        spilled_bytes: How many bytes of the table of pretokens went to temporary files.
        first_bad_rows: Where the first of the bad rows are, ten at most, and what is wrong with them.
    """

    texts: int = 0
    null_rows: int = 0
    bad_rows: int = 0
    bytes: int = 0
    cut_pretokens: int = 0
    spilled_bytes: int = 0
    first_bad_rows: tuple[str, ...] = ()

    def with_batch(self, batch: Batch, *, texts: int, nulls: int, size: int = 0) -> CountingReport:
        """Return what was read with a batch more.

        Args:
            batch: The batch, which knows what was left out of it before.
            texts: How many texts it has.
            nulls: How many rows of it were found to be null.
            size: How many bytes the texts have.
        """
        left_out = batch if isinstance(batch, Texts) else Texts([])
        return replace(
            self,
            texts=self.texts + texts,
            null_rows=self.null_rows + nulls + left_out.nulls,
            bad_rows=self.bad_rows + left_out.bad,
            bytes=self.bytes + size,
            first_bad_rows=(self.first_bad_rows + left_out.first_bad)[:TOLD_BAD_ROWS],
        )

    @classmethod
    def sum(cls, reports: Iterable[CountingReport]) -> CountingReport:
        """Return what was read of several sources, or parts of one, together."""
        total = cls()
        for read in reports:
            first = total.first_bad_rows + read.first_bad_rows
            numbers = {
                field.name: getattr(total, field.name) + getattr(read, field.name)
                for field in fields(cls)
                if field.name != "first_bad_rows"
            }
            total = cls(**numbers, first_bad_rows=first[:TOLD_BAD_ROWS])
        return total


NOTHING_READ = CountingReport()


def check_texts(report: CountingReport, *, whole: bool = True) -> None:
    """Raise where a source holds bad rows and no texts, so that leaving them out would hide that nothing was read.

    Args:
        report: What was read.
        whole: Whether that is all of the source. Else nothing but bad rows is an error from the 100,000th on.

    Raises:
        CorpusError: The first bad row, and what to do.
    """
    if report.texts or report.bad_rows < (1 if whole else _HOPELESS_ROWS):
        return
    first = report.first_bad_rows[0] if report.first_bad_rows else "before the stop, where it was is not known"
    rows = f"{'' if whole else 'the first '}{report.bad_rows + report.null_rows:,} rows"
    later = "" if whole else ", or name files that hold texts before these"
    raise CorpusError(
        f"none of {rows} holds a text: choose another text_column (--text-column), or pass files of JSON objects in "
        f"lines, Parquet, Arrow, or text in UTF-8{later}. The first bad row: {first}"
    )


class Tally:
    """What was read of a corpus that something else than a counter of pretokens reads, bytes apart.

    Attributes:
        report: What passed `watch`.

    Example:
        >>> tally = Tally()
        >>> for batch in tally.watch(corpus.batches): ...
        >>> warn_of_bad_rows(tally.report)
    """

    def __init__(self) -> None:
        self.report = NOTHING_READ

    def watch(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Yield the batches as they are.

        Raises:
            CorpusError: There are bad rows and no texts: see `check_texts`.
        """
        for batch in batches:
            if isinstance(batch, Texts | LongText):
                texts, nulls = len(batch), 0
            else:
                texts, nulls = batch.length - batch.nulls, batch.nulls
            self.report = self.report.with_batch(batch, texts=texts, nulls=nulls)
            check_texts(self.report, whole=False)
            yield batch
        check_texts(self.report)


def warn_of_losses(report: CountingReport, max_pretoken_bytes: int | None) -> None:
    """Warn of what was not counted, or not as it stands: rows that hold no text, and pretokens that were cut."""
    warn_of_bad_rows(report)
    _warn_of_cuts(report.cut_pretokens, max_pretoken_bytes)


def warn_of_bad_rows(report: CountingReport) -> None:
    """Warn of rows that hold no text and were left out, if there are any."""
    if report.bad_rows:
        rows = report.bad_rows + report.texts + report.null_rows
        places = "; ".join(report.first_bad_rows[:_WARNED_OF])
        more = "" if report.bad_rows <= _WARNED_OF else "; ..."
        warn(
            f"{report.bad_rows:,} of {rows:,} rows hold no text and were left out; skip_bad_rows=False "
            f"(--no-skip-bad-rows) makes the first of them an error: {places}{more}"
        )


def _warn_of_cuts(cut: int, max_pretoken_bytes: int | None) -> None:
    if cut:  # then the vocabulary may be another one than without a limit
        warn(
            f"{cut:,} pretokens were longer than {max_pretoken_bytes:,} bytes and counted in parts: merges across the "
            "cuts are not learned. Set max_pretoken_bytes to another length, or to None for none; a split pattern that "
            "cuts more often needs no limit."
        )
