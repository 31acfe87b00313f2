"""What a training reads: corpora, counts and several sources, and whether they go with what is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from hf_bpe import pipeline_json
from hf_bpe._native import Counter
from hf_bpe.corpus import Corpus, Source, open_corpus
from hf_bpe.counting import counter_of
from hf_bpe.counting_report import warn_of_losses
from hf_bpe.errors import CountsError
from hf_bpe.learning_sources import counted_source
from hf_bpe.limits import MAX_PRETOKEN_BYTES, CountingLimits
from hf_bpe.pretoken_counts import CountSettings, PretokenCounts
from hf_bpe.pretoken_counts.identities import Identity
from hf_bpe.pretoken_counts.resuming import Checkpoints
from hf_bpe.pretoken_counts.resuming_sources import checkpoints_of_sources
from hf_bpe.training_sources import Balance, CountedSource

_UNSAID: Mapping[str, object] = {"text_column": "text", "skip_bad_rows": True}
"""What options of reading are where nothing is said of them, if it isn't None."""

_COUNTED_ALREADY = "checkpoint_dir and resume_from are for counting, and these counts are made already"


def shared_limits(limits: CountingLimits, parts: Sequence[Any]) -> CountingLimits:
    """Return the limits of each source of several: their tables are all there until merges are learned."""
    counted = sum(not isinstance(part, PretokenCounts) for part in parts)
    return replace(limits, max_memory=limits.max_memory // max(1, counted))


def opened_source(part: Any, reading: Mapping[str, Any]) -> Corpus | PretokenCounts:
    """Return one source of several to read: counts as they are, a list of paths as files.

    Args:
        part: The source.
        reading: The options of `open_corpus`.
    """
    if isinstance(part, PretokenCounts):
        return part
    if isinstance(part, list) and part and all(isinstance(path, Path) for path in part):
        return open_corpus(files=part, **reading)
    return open_corpus(part, **reading)


def counted_sources(
    sources: Mapping[str, Any],
    pipeline: pipeline_json.Json,
    num_threads: int | None,
    checkpoints: Checkpoints | None,
    limits: CountingLimits,
    cut: Callable[[str], list[int]] | None,
    reading: Mapping[str, Any],
    *,
    progress: bool,
) -> list[CountedSource]:
    """Count several sources, one after the other, with checkpoints if asked."""
    opened = {name: opened_source(part, reading) for name, part in sources.items()}
    each = shared_limits(limits, [*opened.values()])
    counted = []
    with _checkpoints_of(opened, checkpoints) as stops:
        for (name, part), stop in zip(opened.items(), stops, strict=True):
            if stop is not None:
                part = counted_with_checkpoints(pipeline, num_threads, part, stop, each, progress=progress)
            counter = counter_of(pipeline, num_threads, who="train()", limits=each)
            counted.append(counted_source(name, counter, part, cut, progress=progress))
    return counted


@contextmanager
def _checkpoints_of(
    sources: Mapping[str, Corpus | PretokenCounts], checkpoints: Checkpoints | None
) -> Iterator[list[Checkpoints | None]]:
    """Give the checkpoints of each source that is to be counted."""
    if checkpoints is None:
        yield [None] * len(sources)
        return
    if all(isinstance(part, PretokenCounts) for part in sources.values()):
        raise ValueError(_COUNTED_ALREADY)
    with checkpoints_of_sources(checkpoints, [(name, _identity(part)) for name, part in sources.items()]) as each:
        parts = zip(sources.values(), each, strict=True)
        yield [None if isinstance(part, PretokenCounts) else stop for part, stop in parts]


def _identity(part: Corpus | PretokenCounts) -> Identity:
    if isinstance(part, PretokenCounts):
        return {"kind": "counts", "distinct": len(part), "total": part.total}
    return part.bookmark.identity()


def counted_with_checkpoints(
    pipeline: pipeline_json.Json,
    num_threads: int | None,
    corpus: Corpus | PretokenCounts,
    checkpoints: Checkpoints,
    limits: CountingLimits,
    *,
    progress: bool,
) -> PretokenCounts:
    """Return what a corpus counts to, with a checkpoint every few minutes."""
    if isinstance(corpus, PretokenCounts):
        raise ValueError(_COUNTED_ALREADY)

    def make_counter(limits: CountingLimits) -> Counter:
        return counter_of(pipeline, num_threads, who="train()", limits=limits)

    settings = CountSettings.of_pipeline(pipeline, limits.max_pretoken_bytes)
    counts = PretokenCounts._counted(
        make_counter, corpus, checkpoints, settings=settings, limits=limits, progress=progress
    )
    warn_of_losses(counts.report, limits.max_pretoken_bytes)
    return counts


def check_sources(
    sources: Mapping[str, Any] | None, source: Source, files: Sequence[str | Path] | None, balance: Balance
) -> None:
    """Raise where sources and what is said about them don't go together."""
    if sources is None:
        for name, value in vars(balance).items():
            if value is not None:
                option = "quota" if name == "quotas" else name
                raise ValueError(f"{option} is for several sources: give sources={{name: corpus}}")
        return
    if source is not None or files is not None:
        raise ValueError("sources and a source or files are both given: give one of them")
    if not isinstance(sources, Mapping):
        raise TypeError(f"sources is a dict of corpora by name, got {type(sources).__name__}")
    if not sources or not all(isinstance(name, str) for name in sources):
        raise ValueError(f"sources is a dict of at least one corpus by name, got the names {list(sources)!r}")
    balance.check(list(sources))


def check_alphabet(counts: PretokenCounts, alphabet: str) -> None:
    """Raise where counts are of bytes and characters are asked for, or the other way round."""
    counted = "bytes" if counts.settings.bytes else "characters"
    if counted != alphabet:
        raise CountsError(f"the counts are for alphabet={counted!r}, and alphabet={alphabet!r} is asked for")


def check_reading(
    counts: PretokenCounts,
    limits: CountingLimits,
    *,
    only_counts: bool = True,
    unsaid_length: int | None = MAX_PRETOKEN_BYTES,
    **options: object,
) -> None:
    """Raise where it is said how to read what was read already.

    Args:
        counts: What was counted.
        limits: Those asked for.
        only_counts: Whether there are no texts besides.
        unsaid_length: The `max_pretoken_bytes` that stands for nothing said.
        **options: What reading is told.

    Raises:
        ValueError: An option is for texts, and there are none.
        CountsError: Another length of pretokens is asked for than that of the counts.
    """
    if only_counts:
        for name, value in options.items():
            if value != _UNSAID.get(name):
                raise ValueError(f"{name}={value!r} is for texts, and these counts are made already: leave it out")
    made = counts.settings
    if limits.max_pretoken_bytes not in (unsaid_length, made.max_pretoken_bytes):
        asked = replace(made, max_pretoken_bytes=limits.max_pretoken_bytes)
        made.check_same(asked, what="counts and what is asked for don't go together")


def pipeline_of_counts(
    pipeline: pipeline_json.Json, settings: CountSettings, cut: object, normalizer: object
) -> pipeline_json.Json:
    """Return `pipeline` with the settings of counts, which stand for those that weren't given.

    Raises:
        CountsError: A setting that was given is another one.
    """
    made = pipeline | {"pre_tokenizer": settings.pre_tokenizer, "normalizer": settings.normalizer}
    given = {"pre_tokenizer": cut, "normalizer": normalizer}
    asked = made | {name: pipeline[name] for name, value in given.items() if value is not None}
    wanted = CountSettings.of_pipeline(asked, settings.max_pretoken_bytes)
    settings.check_same(wanted, what="counts and what is asked for don't go together")
    return made
