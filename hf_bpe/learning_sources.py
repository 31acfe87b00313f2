"""Learning merges from several sources, whose counts stay apart."""

from __future__ import annotations

from collections import Counter as Counts
from collections.abc import Callable
from dataclasses import asdict, replace

from hf_bpe import pipeline_json
from hf_bpe._native import Counter, SortedCounts, learn_from_sources
from hf_bpe.corpus import Corpus
from hf_bpe.counting import count_corpus, taken
from hf_bpe.counting_report import CountingReport, warn_of_losses
from hf_bpe.learning import finished, merging_bar
from hf_bpe.learning_memory import warn_of_memory
from hf_bpe.pretoken_counts import PretokenCounts
from hf_bpe.segmenting import cut_at_words
from hf_bpe.telling import warn
from hf_bpe.trainer_settings import TrainerSettings
from hf_bpe.training_report import TrainingReport
from hf_bpe.training_sources import Balance, CountedSource, SourceReport
from hf_bpe.vocabulary_growth import VocabularyGrowth


def counted_source(
    name: str,
    counter: Counter,
    corpus: Corpus | PretokenCounts,
    cut: Callable[[str], list[int]] | None,
    *,
    progress: bool,
) -> CountedSource:
    """Count one source of several."""
    before = 0  # what went to temporary files of other counters
    if isinstance(corpus, PretokenCounts):
        counts, read = corpus._counts, corpus.report
        before = read.spilled_bytes
    else:
        counts, read = taken(counter, count_corpus(counter, corpus, progress=progress))
        warn_of_losses(read, counter.max_pretoken_bytes)
    if cut is not None:
        cut_at_words(counts, cut, counter)
        counts = counter.take_sorted()
    return CountedSource(name, counts, replace(read, spilled_bytes=before + counter.spilled_bytes))


def train_sources(
    pipeline: pipeline_json.Json,
    parts: list[CountedSource],
    balance: Balance,
    trainer: TrainerSettings,
    specials: list[pipeline_json.Json],
    pad: int | None,
    *,
    progress: bool,
    max_memory: int,
) -> tuple[pipeline_json.Json, TrainingReport]:
    """Learn from counts of several sources, and say what each got."""
    names = [part.name for part in parts]
    sizes = [part.counts.corpus_bytes(characters=trainer.characters) for part in parts]
    multipliers, one = balance.multipliers(names, sizes)
    warn_of_memory(SortedCounts.distinct_bytes([part.counts for part in parts]), trainer, max_memory)
    settings = trainer.arguments()
    settings["min_frequency"] = min(max(1, trainer.min_frequency) * one, 2**63 - 1)
    with merging_bar(progress=progress) as show:
        learned, (distinct, symbols, tokens, uses, missing, growth) = learn_from_sources(
            [(part.counts, multiplier) for part, multiplier in zip(parts, multipliers, strict=True)],
            quotas=balance.native_quotas(names),
            settings=settings,
            progress=show,
        )
        show(len(learned[1]), len(learned[1]) + max(0, trainer.vocab_size - len(learned[0])))
    vocab, _ = learned
    used_most: dict[str, str] = {}
    for token, source, _ in uses:  # a token that is made once more keeps the source of its first time
        used_most.setdefault(vocab[token], names[source])
    numbers = Counts(used_most.values())
    total = sum(size * multiplier for size, multiplier in zip(sizes, multipliers, strict=True))
    quotas = balance.quotas or {}
    reports = tuple(
        SourceReport(
            name=part.name,
            texts=part.read.texts,
            bad_rows=part.read.bad_rows,
            bytes=sizes[at],
            share=sizes[at] * multipliers[at] / total if total else 0.0,
            tokens=tokens[at],
            used_most=numbers[part.name],
            quota=quotas.get(part.name),
            missing=missing[at],
            growth=VocabularyGrowth.of(
                sizes[at],
                symbols[at],
                [(size, saved[at]) for (size, _), (_, _, saved) in zip(growth, uses, strict=True)],
                len(vocab),
            ),
        )
        for at, part in enumerate(parts)
    )
    for lacking in (report for report in reports if report.missing):
        warn(
            f"quota: {lacking.name!r} is to use {lacking.quota} of the learned tokens most, and {lacking.missing} are "
            "missing: no pair is left that it uses most. Give it more text or a lower quota."
        )
    report = TrainingReport(
        **asdict(CountingReport.sum(part.read for part in parts)),
        distinct_pretokens=distinct,
        sources=reports,
        used_most_by=used_most,
        growth=VocabularyGrowth.of(sum(sizes), sum(symbols), growth, len(vocab)),
    )
    return finished(pipeline, learned, report, trainer, specials, pad=pad)
