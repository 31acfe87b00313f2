"""Counting that a stop costs a few minutes of: checkpoints on the way, and going on from the last one that is whole.

Guarantee: counts, and hence merges, are those of a run without the stop. Counts of a checkpoint belong to the very
place that it names, and a source that isn't the same, as far as it can tell, is refused.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from hf_bpe._native import Counter, SortedCounts
from hf_bpe.bookmarks import Digest, replayed
from hf_bpe.corpus import Corpus
from hf_bpe.counting import count_corpus, taken
from hf_bpe.counting_report import CountingReport
from hf_bpe.errors import CountsError
from hf_bpe.limits import CountingLimits
from hf_bpe.pretoken_counts.checkpoints import Checkpoint, CheckpointFolder, folders_of_sources
from hf_bpe.pretoken_counts.details import report_of
from hf_bpe.pretoken_counts.identities import NamedIdentities, check_identity
from hf_bpe.pretoken_counts.settings import CountSettings
from hf_bpe.text_batches import Batch

CHECKPOINT_MINUTES = 10.0
_VERSION = 1  # of places and digests; another size of batches has other digests


@dataclass(frozen=True)
class Checkpoints:
    """Where checkpoints go, how often, and where the first one to read is.

    Attributes:
        folder: Where they are written.
        seconds: How often.
        resume_from: The folder whose newest one is gone on from; None to begin with the first text.
        may_begin: Whether there may be none to go on from, as that is the folder where they are asked to be written.
        name: Of one source of several: what it is called.
        sources: Of one source of several: what all of them are. Each checkpoint tells that.
    """

    folder: Path
    seconds: float
    resume_from: Path | None = None
    may_begin: bool = True
    name: str | None = None
    sources: NamedIdentities | None = None

    @classmethod
    def of(
        cls, checkpoint_dir: str | Path | None, checkpoint_minutes: float, resume_from: str | Path | None
    ) -> Checkpoints | None:
        """Return what the arguments of `train` mean; None for no checkpoints.

        Raises:
            ValueError: The minutes are negative or no number, or others than by default without a folder.
        """
        if not isinstance(checkpoint_minutes, int | float) or not 0 <= checkpoint_minutes < float("inf"):
            raise ValueError(f"checkpoint_minutes={checkpoint_minutes!r} is no number of minutes; give at least 0")
        if checkpoint_dir is None and resume_from is None and checkpoint_minutes != CHECKPOINT_MINUTES:
            raise ValueError(
                f"checkpoint_minutes={checkpoint_minutes} (--checkpoint-minutes) needs a folder for the checkpoints: "
                "give checkpoint_dir (--checkpoint-dir)"
            )
        seconds = checkpoint_minutes * 60
        if resume_from is None:
            return None if checkpoint_dir is None else cls(Path(checkpoint_dir), seconds)
        source = Path(resume_from)
        if checkpoint_dir is None:
            return cls(source, seconds, source, may_begin=False)
        folder = Path(checkpoint_dir)
        return cls(folder, seconds, source, may_begin=source.resolve() == folder.resolve())


def count_with_checkpoints(
    make_counter: Callable[[CountingLimits], Counter],
    corpus: Corpus,
    checkpoints: Checkpoints,
    *,
    settings: CountSettings,
    limits: CountingLimits,
    progress: bool,
) -> tuple[SortedCounts, CountingReport]:
    """Count a corpus, or what a checkpoint left of it.

    Args:
        make_counter: Makes a counter that keeps to limits: what was counted before the last checkpoint, and the sum of
            both, need their parts of the memory too.
        corpus: The texts, not read yet.
        checkpoints: Where to.
        settings: How texts are cut.
        limits: For all together.
        progress: Whether to show a bar on stderr.

    Raises:
        CountsError: The checkpoints are damaged, of other settings, or would be written over.
        CorpusError: The source isn't the same.
        OSError: A checkpoint can't be written.
    """
    third = replace(limits, max_memory=limits.max_memory // 3)
    with _folders(checkpoints) as (target, source):
        if target.files() and (source is None or source.path != target.path):
            raise target.would_be_written_over()
        saved = None if source is None else source.newest(third)
        run = _Run(make_counter(third), corpus, target, checkpoints, settings, third)
        if saved is not None:
            run.go_on(saved)
        return run.counted(progress=progress)


@contextmanager
def _folders(checkpoints: Checkpoints) -> Iterator[tuple[CheckpointFolder, CheckpointFolder | None]]:
    """Give the folder to write to and the one to go on from, which is looked at before anything is made."""
    source = checkpoints.resume_from
    for folder in {checkpoints.folder, source or checkpoints.folder}:
        if folders_of_sources(folder):
            raise CountsError(
                f"{folder} holds checkpoints of several sources, and one source is given: pass sources={{...}} "
                "(--source NAME=SOURCE) as before, or another folder."
            )
    if source is not None and not checkpoints.may_begin:
        check_begun(source)
    with CheckpointFolder.opened(checkpoints.folder) as target:
        if source is None or source.resolve() == checkpoints.folder.resolve():
            yield target, None if source is None else target
        else:
            yield target, CheckpointFolder(source)


def check_begun(folder: Path) -> None:
    """Raise unless there is a checkpoint in a folder.

    Raises:
        CountsError: There is none.
    """
    if not folder.is_dir():
        raise CountsError(f"there is no folder {str(folder)!r} to go on from.")
    if not CheckpointFolder(folder).files():
        raise CountsError(f"there is no checkpoint in {folder} to go on from.")


class _Run:
    """A count on its way."""

    def __init__(
        self,
        counter: Counter,
        corpus: Corpus,
        folder: CheckpointFolder,
        checkpoints: Checkpoints,
        settings: CountSettings,
        limits: CountingLimits,
    ) -> None:
        self._counter, self._corpus, self._folder = counter, corpus, folder
        self._checkpoints, self._settings, self._limits = checkpoints, settings, limits
        self._identity = corpus.bookmark.identity()
        self._counts: SortedCounts | None = None  # up to the last checkpoint
        self._before = CountingReport()
        self._digest = Digest()
        self._place: Any = None
        self._complete = False
        self._saved = time.monotonic()

    def go_on(self, saved: Checkpoint) -> None:
        """Begin where a checkpoint ends.

        Raises:
            CountsError: It was made with other settings, or of another source.
        """
        told = saved.details["checkpoint"]
        if told.get("version") != _VERSION:
            raise CountsError(
                f"{saved.path} has version {told.get('version')!r}; this version of hf_bpe goes on from {_VERSION}."
            )
        made = CountSettings(**{field.name: saved.details[field.name] for field in fields(CountSettings)})
        made.check_same(self._settings, what=f"{saved.path} can't be gone on from")
        check_identity(saved.path, told["identity"], self._identity)
        self._counts = saved.counts
        self._before = report_of(saved.path, saved.details)
        self._complete, self._place = told["complete"], told["place"]
        if self._complete and not self._corpus.bookmark.hashed:
            return
        bookmark = self._corpus.bookmark
        batches = None
        if bookmark.batches_from is not None and self._place is not None:
            batches = bookmark.batches_from(self._place)
        if batches is None:
            batches = replayed(self._corpus.batches, told["rows"], told["digest"], bookmark.why_unlike)
        self._digest = Digest(told["digest"], told["rows"])
        self._corpus = replace(self._corpus, batches=batches)
        self._complete = False

    def counted(self, *, progress: bool) -> tuple[SortedCounts, CountingReport]:
        """Count what is left, and return everything."""
        if self._complete and self._counts is not None:
            return (self._counts, self._before) if self._folder.files() else self._save(self._before, complete=True)
        report = count_corpus(
            self._counter, self._corpus, progress=progress, before=self._before, after=self._after_batch
        )
        return self._save(report, complete=True)

    def _after_batch(self, batch: Batch, report: CountingReport) -> None:
        bookmark = self._corpus.bookmark
        if bookmark.hashed:
            self._digest.add(batch)
        inside = bookmark.batches_from is not None and bookmark.place is None
        if not inside and time.monotonic() - self._saved >= self._checkpoints.seconds:
            self._save(report, complete=False)

    def _save(self, report: CountingReport, *, complete: bool) -> tuple[SortedCounts, CountingReport]:
        new, report = taken(self._counter, report, self._before)
        parts = [new] if self._counts is None else [self._counts, new]
        if len(parts) > 1:
            new = SortedCounts.sum([(part, 1, 1) for part in parts], **self._limits.memory_arguments())
        self._counts = new
        if (place := self._corpus.bookmark.place) is not None:
            self._place = place()
        where: dict[str, Any] = {
            "version": _VERSION,
            "identity": self._identity,
            "place": self._place,
            "rows": self._digest.rows,
            "digest": self._digest.hexdigest,
            "complete": complete,
        }
        if self._checkpoints.sources is not None:
            where["sources"] = self._checkpoints.sources
        names = [] if self._checkpoints.name is None else [self._checkpoints.name]
        details = asdict(self._settings) | asdict(report) | {"sources": names, "checkpoint": where}
        details["split_pattern"] = self._settings.split_pattern
        self._folder.write(new, details)
        self._saved = time.monotonic()
        return new, report
