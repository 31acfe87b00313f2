"""From a corpus or counts to the vocabulary that a pipeline gets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace

from tqdm.auto import tqdm

from hf_bpe import pipeline_json
from hf_bpe import trainer_settings as checks
from hf_bpe._native import Counter
from hf_bpe.corpus import Corpus
from hf_bpe.counting import count_corpus
from hf_bpe.counting_report import CountingReport, warn_of_losses
from hf_bpe.errors import TrainingError
from hf_bpe.learning_memory import warn_of_memory
from hf_bpe.pretoken_counts import PretokenCounts
from hf_bpe.segmenting import cut_at_words
from hf_bpe.telling import warn
from hf_bpe.trainer_settings import TrainerSettings
from hf_bpe.training_report import TrainingReport
from hf_bpe.training_tokens import added_token_json
from hf_bpe.vocabulary_growth import VocabularyGrowth


def train_pipeline(
    pipeline: pipeline_json.Json,
    counter: Counter,
    corpus: Corpus | PretokenCounts,
    trainer: TrainerSettings,
    specials: list[pipeline_json.Json],
    *,
    progress: bool,
    length: int | None = None,
    renamed: Mapping[str, str] | None = None,
    may_exceed: bool = False,
    cut: Callable[[str], list[int]] | None = None,
    pad: int | None = None,
    max_memory: int,
) -> tuple[pipeline_json.Json, TrainingReport]:
    """Read a corpus and return `pipeline` with the vocabulary that it gives, and what was read and made.

    Args:
        pipeline: The JSON around the vocabulary.
        counter: A counter of its pretokens.
        corpus: The texts, or counts that the same pipeline made.
        trainer: What to learn.
        specials: The special tokens, as in `tokenizer.json` but without ids.
        progress: Whether to show a bar on stderr.
        length: The number of texts, for the bar.
        renamed: New names for special tokens that the pipeline speaks of, by their old names.
        may_exceed: Whether characters that are more than the tokens asked for are a warning, not an error.
        cut: What gives the borders of words in a pretoken; None for none.
        pad: A number that the vocabulary is to be a multiple of; None for any.
        max_memory: What counting was allowed. More for learning is told.
    """
    read = _count(counter, corpus, progress=progress, length=length)
    before = corpus.report.spilled_bytes if isinstance(corpus, PretokenCounts) else 0  # in other counters
    if cut is not None:
        cut_at_words(counter.take_sorted(), cut, counter)
    distinct = len(counter)
    warn_of_memory(counter.distinct_bytes(), trainer, max_memory)
    vocab, merges = _learn(counter, trainer, progress=progress)
    report = TrainingReport(
        **asdict(replace(read, spilled_bytes=before + counter.spilled_bytes)),
        distinct_pretokens=distinct,
        growth=VocabularyGrowth.of(*counter.growth(), len(vocab)),
    )
    return finished(pipeline, (vocab, merges), report, trainer, specials, renamed, may_exceed=may_exceed, pad=pad)


def finished(
    pipeline: pipeline_json.Json,
    learned: tuple[list[str], list[tuple[str, str]]],
    report: TrainingReport,
    trainer: TrainerSettings,
    specials: list[pipeline_json.Json],
    renamed: Mapping[str, str] | None = None,
    *,
    may_exceed: bool = False,
    pad: int | None = None,
) -> tuple[pipeline_json.Json, TrainingReport]:
    """Return `pipeline` with what was learned, padded, and the report; warn or raise where the size is another."""
    vocab, merges = learned
    shortfall = _shortfall(len(vocab), trainer)
    if trainer.characters and not may_exceed and len(vocab) > trainer.vocab_size:
        raise TrainingError(
            f"vocab_size={trainer.vocab_size} is too small: special tokens and the characters of the corpus take "
            f"{len(vocab)}. Use a larger vocab_size, or limit_alphabet to keep the most frequent characters."
        )
    if shortfall is not None:
        warn(shortfall)
    padding = checks.padding_tokens(vocab, pad)
    vocab = vocab + padding
    specials = specials + [added_token_json(token) for token in padding]
    report = replace(report, merges=len(merges), vocab_size=len(vocab), shortfall=shortfall)
    affixes = {
        "continuing_subword_prefix": trainer.continuing_subword_prefix,
        "end_of_word_suffix": trainer.end_of_word_suffix,
    }
    return pipeline_json.with_vocabulary(pipeline, vocab, merges, specials, renamed, affixes), report


def _count(counter: Counter, corpus: Corpus | PretokenCounts, *, progress: bool, length: int | None) -> CountingReport:
    if isinstance(corpus, PretokenCounts):
        counter.count_sorted(corpus._counts)
        return corpus.report
    read = count_corpus(counter, corpus, progress=progress, length=length)
    warn_of_losses(read, counter.max_pretoken_bytes)
    return read


def _learn(counter: Counter, trainer: TrainerSettings, *, progress: bool) -> tuple[list[str], list[tuple[str, str]]]:
    """Learn with a bar whose total is the number of merges to come, which depends on the first tokens."""
    with merging_bar(progress=progress) as show:
        vocab, merges = counter.learn(**trainer.arguments(), keep=False, progress=show)
        show(len(merges), len(merges) + max(0, trainer.vocab_size - len(vocab)))
    return vocab, merges


@contextmanager
def merging_bar(*, progress: bool) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on stderr, moved by the number of merges so far and how many it may become."""
    with tqdm(desc="Merging", unit=" merges", disable=not progress) as bar:

        def show(merges: int, expected: int) -> None:
            if bar.total != expected:
                bar.reset(expected)
            bar.update(merges - bar.n)

        yield show


def _shortfall(made: int, trainer: TrainerSettings) -> str | None:
    asked = trainer.vocab_size
    if made < asked:
        return (
            f"the vocabulary has {made} tokens, not the {asked} asked for: no pair is left that occurs at least "
            f"{max(1, trainer.min_frequency)} times and may be merged. Use more text or a lower min_frequency."
        )
    if made > asked:
        alphabet = "the characters of the corpus" if trainer.characters else "the 256 bytes"
        return (
            f"the vocabulary has {made} tokens, not the {asked} asked for: special tokens and {alphabet} "
            "alone are as many."
        )
    return None
