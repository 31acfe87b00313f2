"""Counting: from batches of texts to a native table of pretokens."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace

from tqdm.auto import tqdm

from hf_bpe import pipeline_json
from hf_bpe._native import Counter, SortedCounts, Tokenizer
from hf_bpe.corpus import Corpus
from hf_bpe.documents import TOLD_BAD_ROWS
from hf_bpe.errors import CorpusError, HfBpeError
from hf_bpe.limits import CountingLimits
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


def counter_of(
    pipeline: pipeline_json.Json, num_threads: int | None, *, who: str, limits: CountingLimits | None = None
) -> Counter:
    """Return a counter of the pretokens that `pipeline` makes. What is wrong with its parts is told of `who`."""
    try:
        core = Tokenizer.from_json(json.dumps(pipeline_json.counting_pipeline(pipeline)))
    except HfBpeError as error:
        told = re.sub(r"^tokenizer\.json: (pre_tokenizer\S*\.pattern: )?", f"{who}: ", str(error))
        raise type(error)(told.removesuffix(" Load this file with tokenizers.Tokenizer.from_file instead.")) from None
    return Counter(core, num_threads=num_threads, **(vars(limits) if limits is not None else {}))


def count_corpus(
    counter: Counter,
    corpus: Corpus,
    *,
    progress: bool,
    length: int | None = None,
    before: CountingReport = CountingReport(),
    after: Callable[[Batch, CountingReport], None] | None = None,
) -> CountingReport:
    """Count every batch. Ctrl-C stops between two batches, and inside one as often as the native counter asks.

    Bad rows are left out, but a source that holds nothing else is an error: as soon as it shows, see
    `check_texts`.

    Args:
        counter: What counts.
        corpus: The texts.
        progress: Whether to show a bar on stderr.
        length: The number of texts, for the bar.
        before: What had been read before, which this goes on with.
        after: Called after each batch with it, and with all that has been read so far.

    Raises:
        CorpusError: There are bad rows, and no texts.
    """
    texts, nulls, bad, size = before.texts, before.null_rows, before.bad_rows, before.bytes
    told = before.first_bad_rows
    report = before
    total = corpus.total_bytes if length is None else length
    unit = {"unit": "B", "unit_scale": True} if length is None else {"unit": " texts"}
    done = size if length is None else texts
    with tqdm(total=total, initial=done, desc="Counting", disable=not progress, **unit) as bar:
        for batch in corpus.batches:
            if isinstance(batch, Texts):
                counted = counter.count(batch.texts)
                nulls += batch.nulls
                bad += batch.bad
                told = (told + batch.first_bad)[:TOLD_BAD_ROWS]
            elif isinstance(batch, LongText):
                counted = counter.count_parts(batch.parts)
            else:
                counted = counter.count_arrow(**vars(batch))
            texts, nulls, size = texts + counted[0], nulls + counted[1], size + counted[2]
            bar.update(counted[2] if length is None else counted[0])
            cut, spilled = counter.cut_pretokens + before.cut_pretokens, counter.spilled_bytes + before.spilled_bytes
            report = CountingReport(texts, nulls, bad, size, cut, spilled, told)
            if not corpus.is_part:
                check_texts(report, whole=False)
            if after is not None:
                after(batch, report)
    if not corpus.is_part:
        check_texts(report)
    return report


def taken(
    counter: Counter, report: CountingReport, before: CountingReport = CountingReport()
) -> tuple[SortedCounts, CountingReport]:
    """Return what was counted, and the report with what went to temporary files on the way; the counter begins anew.

    Args:
        counter: What counted, all of it since `before`.
        report: What was read, from `count_corpus`.
        before: What had been read before.
    """
    counts = counter.take_sorted()
    return counts, replace(report, spilled_bytes=before.spilled_bytes + counter.spilled_bytes)


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
    raise CorpusError(
        f"none of {rows} holds a text: choose another text_column (--text-column), or pass files of JSON objects in "
        f"lines, Parquet, Arrow, or text in UTF-8. The first bad row: {first}"
    )


def check_beginning(corpus: Corpus) -> None:
    """Raise where a source begins with so many bad rows that counting it would raise; it is read up to the first text.

    Raises:
        CorpusError: As `check_texts`.
    """
    read = CountingReport()
    for batch in corpus.batches:
        if not isinstance(batch, Texts) or batch.texts:
            return
        empty = CountingReport(null_rows=batch.nulls, bad_rows=batch.bad, first_bad_rows=batch.first_bad)
        read = CountingReport.sum([read, empty])
        check_texts(read, whole=False)


def warn_of_losses(report: CountingReport, max_pretoken_bytes: int | None) -> None:
    """Warn of what was not counted, or not as it stands: rows that hold no text, and pretokens that were cut."""
    _warn_of_bad_rows(report)
    _warn_of_cuts(report.cut_pretokens, max_pretoken_bytes)


def _warn_of_bad_rows(report: CountingReport) -> None:
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
