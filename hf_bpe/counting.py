"""Counting: from batches of texts to a native table of pretokens."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace

from tqdm.auto import tqdm

from hf_bpe import pipeline_json
from hf_bpe._native import Counter, SortedCounts, Tokenizer
from hf_bpe.corpus import Corpus
from hf_bpe.counting_report import NOTHING_READ, CountingReport, check_texts
from hf_bpe.errors import HfBpeError
from hf_bpe.limits import CountingLimits
from hf_bpe.text_batches import Batch, LongText, Texts


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
    before: CountingReport = NOTHING_READ,
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
    report = before
    total = corpus.total_bytes if length is None else length
    unit = {"unit": "B", "unit_scale": True} if length is None else {"unit": " texts"}
    done = before.bytes if length is None else before.texts
    with tqdm(total=total, initial=done, desc="Counting", disable=not progress, **unit) as bar:
        for batch in corpus.batches:
            if isinstance(batch, Texts):
                counted = counter.count(batch.texts)
            elif isinstance(batch, LongText):
                counted = counter.count_parts(batch.parts)
            else:
                counted = counter.count_arrow(**vars(batch))
            texts, nulls, size = counted
            bar.update(size if length is None else texts)
            report = replace(
                report.with_batch(batch, texts=texts, nulls=nulls, size=size),
                cut_pretokens=before.cut_pretokens + counter.cut_pretokens,
                spilled_bytes=before.spilled_bytes + counter.spilled_bytes,
            )
            if not corpus.is_part:
                check_texts(report, whole=False)
            if after is not None:
                after(batch, report)
    if not corpus.is_part:
        check_texts(report)
    return report


def taken(
    counter: Counter, report: CountingReport, before: CountingReport = NOTHING_READ
) -> tuple[SortedCounts, CountingReport]:
    """Return what was counted, and the report with what went to temporary files on the way; the counter begins anew.

    Args:
        counter: What counted, all of it since `before`.
        report: What was read, from `count_corpus`.
        before: What had been read before.
    """
    counts = counter.take_sorted()
    return counts, replace(report, spilled_bytes=before.spilled_bytes + counter.spilled_bytes)


def check_beginning(corpus: Corpus) -> None:
    """Raise where a source begins with so many bad rows that counting it would raise; it is read up to the first text.

    Raises:
        CorpusError: As `check_texts`.
    """
    read = NOTHING_READ
    for batch in corpus.batches:
        if not isinstance(batch, Texts) or batch.texts:
            return
        empty = CountingReport(null_rows=batch.nulls, bad_rows=batch.bad, first_bad_rows=batch.first_bad)
        read = CountingReport.sum([read, empty])
        check_texts(read, whole=False)
