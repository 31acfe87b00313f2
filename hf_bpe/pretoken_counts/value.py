"""`PretokenCounts`: the distinct pretokens of a corpus, how often each was seen, and how they came about."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import zip_longest
from numbers import Integral, Real
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex

from hf_bpe import pipeline_json
from hf_bpe import trainer_settings as checks
from hf_bpe._native import Counter, SortedCounts
from hf_bpe.character_pipeline import CharacterOptions
from hf_bpe.corpus import Corpus, Source, open_corpus
from hf_bpe.counting import count_corpus, counter_of, taken
from hf_bpe.counting_report import CountingReport, warn_of_losses
from hf_bpe.errors import CountsError
from hf_bpe.limits import MAX_PRETOKEN_BYTES, CountingLimits
from hf_bpe.pretoken_counts import storage
from hf_bpe.pretoken_counts.details import report_of, settings_of, sources_of
from hf_bpe.pretoken_counts.resuming import CHECKPOINT_MINUTES, Checkpoints, count_with_checkpoints
from hf_bpe.pretoken_counts.settings import CountSettings

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class PretokenCounts:
    """Distinct pretokens and their counts: a value that can be saved, added, weighted, looked at and trained from.

    What doesn't fit into `max_memory` lies in temporary files that are gone with the process. Counts of parts of a
    corpus add up to the counts of the whole, in any order: training from them gives the same vocabulary.

    Attributes:
        settings: How texts were normalized and cut. Only counts of the same settings can be added.
        sources: The names of what was counted, in order.
        report: How many texts, null rows, bad rows and bytes were read, how many pretokens were cut, how many bytes
            went to temporary files, and where the first bad rows are.

    Example:
        >>> counts = PretokenCounts.count(["low lower lowest"], split_pattern="gpt2", progress=False)
        >>> len(counts), counts.most_common(1)
        (3, [(b' lower', 1)])
        >>> both = counts + counts
        >>> both.save("counts.parquet")
        >>> tokenizer = hf_bpe.train(PretokenCounts.load("counts.parquet"), vocab_size=260)
    """

    settings: CountSettings
    sources: tuple[str, ...]
    report: CountingReport
    _counts: SortedCounts
    _limits: CountingLimits

    @classmethod
    def count(
        cls,
        source: Source = None,
        *,
        files: Sequence[str | Path] | None = None,
        tokenizer: Any = None,
        alphabet: str = "bytes",
        split_pattern: str | None = None,
        normalizer: object = None,
        pre_tokenizer: object = None,
        name: str | None = None,
        text_column: str = "text",
        num_threads: int | None = None,
        max_memory: int | str | None = None,
        temporary_directory: str | Path | None = None,
        max_pretoken_bytes: int | None = MAX_PRETOKEN_BYTES,
        skip_bad_rows: bool = True,
        checkpoint_dir: str | Path | None = None,
        checkpoint_minutes: float = CHECKPOINT_MINUTES,
        resume_from: str | Path | None = None,
        progress: bool = True,
    ) -> PretokenCounts:
        """Count the pretokens of a corpus.

        Args:
            source: The texts, as `train` takes them.
            files: Files of texts instead, as `train` takes them.
            tokenizer: A tokenizer whose normalizer and pre-tokenizer cut the texts, instead of the next four.
            alphabet: As in `train`: `"bytes"` or `"characters"`.
            split_pattern: As in `train`; `"llama3"` by default for bytes.
            normalizer: As in `train`.
            pre_tokenizer: As in `train`; for characters, `Metaspace` by default.
            name: What `sources` calls this corpus; by default the names of the files, if any.
            text_column: As in `train`.
            num_threads: As in `train`.
            max_memory: How much memory the table of distinct pretokens takes: bytes, or a text such as `"8MB"`. By
                default a quarter of the machine's. What doesn't fit goes to temporary files, and is merged exactly.
            temporary_directory: Where those are made; by default where the system has them.
            max_pretoken_bytes: The length from which a pretoken is cut between characters, and its parts are counted;
                None for none.
            skip_bad_rows: As in `train`.
            checkpoint_dir: A folder for checkpoints, from which counting can go on after a stop of any kind; the last
                two are kept. By default none are written, or they go to `resume_from`.
            checkpoint_minutes: How often one is written.
            resume_from: A folder of checkpoints to go on from; when it is `checkpoint_dir` as well and there is none in
                it, counting begins with the first text. Settings and source have to be those of the stopped run.
            progress: Whether to show a bar on stderr.

        Raises:
            ValueError: An argument is out of range or contradicts another one, or the corpus can't be read.
            CountsError: The checkpoints can't be gone on from, or would be written over.
            OSError: A file can't be read, or the temporary directory or that of checkpoints is full.
        """
        checks.check_numbers(num_threads=num_threads)
        if name is not None and not isinstance(name, str):
            raise TypeError(f"name is a str, got {name!r:.60}")
        limits = CountingLimits.of(
            max_memory=max_memory, temporary_directory=temporary_directory, max_pretoken_bytes=max_pretoken_bytes
        )
        pipeline = _pipeline(tokenizer, alphabet, split_pattern, normalizer, pre_tokenizer)
        settings = CountSettings.of_pipeline(pipeline, limits.max_pretoken_bytes)
        checkpoints = Checkpoints.of(checkpoint_dir, checkpoint_minutes, resume_from)
        corpus = open_corpus(
            source,
            files=files,
            text_column=text_column,
            skip_bad_rows=skip_bad_rows,
            temporary_directory=limits.temporary_directory,
        )
        make_counter = partial(_counter, pipeline, num_threads)
        counts = cls._counted(make_counter, corpus, checkpoints, settings=settings, limits=limits, progress=progress)
        warn_of_losses(counts.report, limits.max_pretoken_bytes)
        names = [name] if name is not None else map(str, files or ([source] if isinstance(source, Path) else ()))
        return replace(counts, sources=tuple(names))

    @classmethod
    def _counted(
        cls,
        make_counter: Callable[[CountingLimits], Counter],
        corpus: Corpus,
        checkpoints: Checkpoints | None,
        *,
        settings: CountSettings,
        limits: CountingLimits,
        progress: bool,
    ) -> PretokenCounts:
        if checkpoints is None:
            counter = make_counter(limits)
            counts, report = taken(counter, count_corpus(counter, corpus, progress=progress))
            return cls(settings, (), report, counts, limits)
        counts, report = count_with_checkpoints(
            make_counter, corpus, checkpoints, settings=settings, limits=limits, progress=progress
        )
        return cls(settings, (), report, counts, limits)

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        max_memory: int | str | None = None,
        temporary_directory: str | Path | None = None,
    ) -> PretokenCounts:
        """Return the counts in a file that `save` wrote.

        Args:
            path: The file.
            max_memory: As in `count`.
            temporary_directory: As in `count`.

        Raises:
            CountsError: The file is damaged or torn, or of another kind.
            FileNotFoundError: There is no such file.
        """
        limits = CountingLimits.of(max_memory=max_memory, temporary_directory=temporary_directory)
        return cls._of_file(Path(path), limits, *storage.read(Path(path), limits))

    @classmethod
    def from_buffer(
        cls,
        data: Any,
        *,
        max_memory: int | str | None = None,
        temporary_directory: str | Path | None = None,
    ) -> PretokenCounts:
        """Return the counts that `to_buffer` gave, read as `load` reads a file.

        Raises:
            CountsError: The bytes are damaged, or of another kind.
        """
        import pyarrow as pa

        path = Path("the buffer")
        limits = CountingLimits.of(max_memory=max_memory, temporary_directory=temporary_directory)
        return cls._of_file(path, limits, *storage.read_from(pa.BufferReader(data), path, limits))

    @classmethod
    def _of_file(
        cls, path: Path, limits: CountingLimits, counts: SortedCounts, details: dict[str, Any]
    ) -> PretokenCounts:
        settings = settings_of(path, details)
        report, sources = report_of(path, details), sources_of(path, details)
        limits = replace(limits, max_pretoken_bytes=settings.max_pretoken_bytes)
        return cls(settings, sources, report, counts, limits)

    def save(self, path: str | Path) -> None:
        """Write these counts as a Parquet file, whole or not at all; a file that is there is replaced.

        Columns are `pretoken` (bytes, ascending) and `count`; the settings stand as JSON in the metadata of the schema.

        Raises:
            OSError: The file can't be written.
        """
        storage.write(Path(path), self._counts, self._details())

    def to_buffer(self) -> pa.Buffer:
        """Return the bytes that `save` writes, in memory: to send them to another machine."""
        import pyarrow as pa

        sink = pa.BufferOutputStream()
        storage.write_to(sink, self._counts, self._details())
        return sink.getvalue()

    def _details(self) -> dict[str, Any]:
        details = asdict(self.settings) | asdict(self.report) | {"sources": list(self.sources)}
        return details | {"split_pattern": self.settings.split_pattern}

    @classmethod
    def sum(
        cls,
        parts: Iterable[PretokenCounts],
        *,
        max_memory: int | str | None = None,
        temporary_directory: str | Path | None = None,
    ) -> PretokenCounts:
        """Return the sum of counts, made in one go, in bounded memory.

        Args:
            parts: The counts, at least one.
            max_memory: As in `count`; by default as for the first of them.
            temporary_directory: As in `count`; by default as for the first of them.

        Raises:
            CountsError: Their settings differ, or there are none.
            TypeError: A part is something else.
            ValueError: A count is more than 64 bits hold.
        """
        counts = list(parts)
        if not counts:
            raise CountsError("the sum of no counts has no settings; give at least one")
        for part in counts:
            if not isinstance(part, cls):
                raise TypeError(f"sum() takes PretokenCounts, got {type(part).__name__}")
        first = counts[0]
        for other in counts[1:]:
            first.settings.check_same(
                other.settings, what=f"counts of {first._named()} and {other._named()} can't be added"
            )
        limits = CountingLimits.of(
            max_memory=first._limits.max_memory if max_memory is None else max_memory,
            temporary_directory=temporary_directory or first._limits.temporary_directory,
            max_pretoken_bytes=first._limits.max_pretoken_bytes,
        )
        total = SortedCounts.sum([(part._counts, 1, 1) for part in counts], **limits.memory_arguments())
        report = CountingReport.sum(part.report for part in counts)
        sources = tuple(name for part in counts for name in part.sources)
        return cls(first.settings, sources, report, total, limits)

    def __add__(self, other: PretokenCounts) -> PretokenCounts:
        """Return the sum of two counts: see `sum`."""
        if not isinstance(other, PretokenCounts):
            return NotImplemented
        return self.sum([self, other])

    def weighted(self, weight: float | Fraction | Decimal) -> PretokenCounts:
        """Return these counts times `weight`, each rounded to the nearest whole number, halves up.

        A float means the decimal number that it prints as: 0.1 is a tenth. Pretokens whose count comes to 0 are left
        out; a whole weight rounds nothing. What was read stays as it is in `report`.

        Raises:
            ValueError: The weight is negative, not finite, or has more than 64 bits; or a count has, times the weight.
            TypeError: It is no number.
        """
        fraction = _fraction(weight)
        part = (self._counts, fraction.numerator, fraction.denominator)
        return replace(self, _counts=SortedCounts.sum([part], **self._limits.memory_arguments()))

    def most_common(self, number: int = 10) -> list[tuple[bytes, int]]:
        """Return the pretokens of the highest counts, of equal counts the first in order of bytes."""
        if not isinstance(number, SupportsIndex):
            raise TypeError(f"number is a whole number, got {number!r:.60}")
        if index(number) < 0:
            raise ValueError(f"number={number} is negative")
        return self._counts.most_common(min(index(number), len(self)))

    @property
    def total(self) -> int:
        """How many pretokens there are, all counts together."""
        return self._counts.total

    @property
    def text_bytes(self) -> int:
        """How many bytes the distinct pretokens have. Learning merges takes 10 to 25 times as much memory."""
        return self._counts.text_bytes

    def __len__(self) -> int:
        """Return how many distinct pretokens there are."""
        return len(self._counts)

    def __iter__(self) -> Iterator[tuple[bytes, int]]:
        """Yield the pretokens in order of bytes, each with its count; a few MB of them are in memory at a time."""
        for data, offsets, counts in self._counts.chunks():
            ends = memoryview(offsets).cast("Q")
            for at, count in enumerate(memoryview(counts).cast("Q")):
                yield data[ends[at] : ends[at + 1]], count

    def __eq__(self, other: object) -> bool:
        """Whether settings, pretokens and counts are the same; names and reports don't matter."""
        if not isinstance(other, PretokenCounts):
            return NotImplemented
        if self.settings != other.settings or (len(self), self.total) != (len(other), other.total):
            return False
        chunks = zip_longest(self._counts.chunks(), other._counts.chunks())
        return all(mine == others for mine, others in chunks)

    __hash__ = None  # type: ignore[assignment]  # too large to be a key

    def __repr__(self) -> str:
        """Return what they are, without the pretokens."""
        return f"<PretokenCounts of {self._named()}: {len(self):,} distinct, {self.total:,} in all>"

    def _named(self) -> str:
        names = ", ".join(self.sources[:3]) or "a corpus without a name"
        return names if len(self.sources) <= 3 else f"{names} and {len(self.sources) - 3} more"


def _counter(pipeline: pipeline_json.Json, num_threads: int | None, limits: CountingLimits) -> Counter:
    return counter_of(pipeline, num_threads, who="PretokenCounts.count()", limits=limits)


def _fraction(weight: object) -> Fraction:
    if isinstance(weight, bool) or not isinstance(weight, Real | Decimal):
        raise TypeError(f"weight={weight!r:.60} is a {type(weight).__name__}; give a number")
    try:
        # The numbers of numpy print as a call when they are asked for their repr.
        fraction = Fraction(int(weight)) if isinstance(weight, Integral) else Fraction(str(weight))
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"weight={weight} is no finite number") from None
    if fraction < 0 or max(fraction.numerator, fraction.denominator) >= 2**64:
        raise ValueError(f"weight={weight} is out of range; give a number of at least 0 with at most 64 bits")
    return fraction


def _pipeline(
    tokenizer: Any, alphabet: str, split_pattern: str | None, normalizer: object, pre_tokenizer: object
) -> pipeline_json.Json:
    if alphabet not in ("bytes", "characters"):
        raise ValueError(f"alphabet is 'bytes' or 'characters', got {alphabet!r}")
    options = CharacterOptions(split_pattern=split_pattern, pre_tokenizer=pre_tokenizer)
    if tokenizer is not None:
        given = {"split_pattern": split_pattern, "normalizer": normalizer, "pre_tokenizer": pre_tokenizer}
        for name, value in given.items():
            if value is not None:
                raise ValueError(f"{name}={value!r} and a tokenizer both say how texts are cut: give one of them")
        inner = getattr(tokenizer, "backend_tokenizer", tokenizer)
        if not hasattr(inner, "to_str"):
            raise TypeError(
                "PretokenCounts.count() takes a tokenizer of hf_bpe, tokenizers or transformers (a fast one), got "
                f"{type(tokenizer).__name__}"
            )
        text = inner.to_str()
        return pipeline_json.counting_pipeline(json.loads(text))
    if alphabet == "characters":
        options.check()
        return options.pipeline(normalizer)
    options.check_for_bytes()
    return pipeline_json.byte_level_pipeline("llama3" if split_pattern is None else split_pattern, normalizer)
