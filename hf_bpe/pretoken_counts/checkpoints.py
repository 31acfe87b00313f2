"""Checkpoints of counting: files of counts that also say where in its source the reader stood.

A folder holds the last two that are whole, so that one that is damaged has one before it. Each is a file that
`PretokenCounts.load` reads, written under another name until it is on the disk.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hf_bpe._native import SortedCounts
from hf_bpe.errors import CountsError
from hf_bpe.limits import CountingLimits
from hf_bpe.pretoken_counts import storage
from hf_bpe.telling import warn
from hf_bpe.whole_files import leftovers, locked

_KEPT = 2
_NAME = re.compile(r"checkpoint-([0-9]+)\.parquet")
_NAME_OF_A_SOURCE = re.compile(r"source-([0-9]+)")  # names of sources may hold what those of folders can't


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint that was read.

    Attributes:
        path: Its file.
        counts: What had been counted.
        details: What else the file says.
    """

    path: Path
    counts: SortedCounts
    details: Mapping[str, Any]


@dataclass(frozen=True)
class CheckpointFolder:
    """A folder of checkpoints, which one process at a time writes to: see `opened`."""

    path: Path
    _damaged: set[Path] = field(default_factory=set)  # as far as `newest` has looked

    @classmethod
    @contextmanager
    def opened(cls, path: Path) -> Iterator[CheckpointFolder]:
        """Make the folder where it isn't there, and hold it.

        Raises:
            CountsError: Another process holds it.
            OSError: It can't be written to.
        """
        try:
            path.mkdir(parents=True, exist_ok=True)
            lock = locked(path / "lock")
        except OSError as error:
            raise _told(error, path, "checkpoints can't be written there") from None
        if lock is None:
            raise CountsError(f"another process writes checkpoints to {path}; give each its own folder.")
        with lock:
            for begun in leftovers(path, "checkpoint-*.parquet"):
                begun.unlink(missing_ok=True)
            yield cls(path)

    def files(self) -> list[Path]:
        """Return the checkpoints, the newest first."""
        return sorted((path for path in self.path.iterdir() if _NAME.fullmatch(path.name)), key=_number, reverse=True)

    def newest(self, limits: CountingLimits) -> Checkpoint | None:
        """Return the newest checkpoint that is whole, with a warning for each that isn't; None where there is none.

        Raises:
            CountsError: There are some, and all are damaged.
        """
        damaged: list[CountsError] = []
        for path in self.files():
            try:
                counts, details = storage.read(path, limits)
                if "checkpoint" not in details:
                    raise CountsError(f"{path} holds counts, and doesn't say where they end.")
            except CountsError as error:
                damaged.append(error)
                self._damaged.add(path)
                continue
            for told in damaged:
                warn(f"{told} The one before it is gone on from: {path.name}.")
            return Checkpoint(path, counts, details)
        if damaged:
            raise CountsError(
                f"no checkpoint in {self.path} is whole, so that nothing can be gone on with: {damaged[0]}"
            )
        return None

    def would_be_written_over(self) -> CountsError:
        """Return what to raise where this folder has checkpoints that aren't to be gone on from."""
        return CountsError(
            f"{self.path} holds checkpoints; pass resume_from={str(self.path)!r} (--resume-from) to go on from them, "
            "or remove them."
        )

    def write(self, counts: SortedCounts, details: Mapping[str, Any]) -> None:
        """Write a checkpoint, and remove all but the one before it that is whole.

        Raises:
            OSError: It can't be written; those that are there are as they were.
        """
        files = self.files()
        whole = [path for path in files if path not in self._damaged]
        number = _number(files[0]) + 1 if files else 1
        try:
            storage.write(self.path / f"checkpoint-{number:08}.parquet", counts, details)
        except OSError as error:
            kept = f"the last good one is {whole[0].name}" if whole else "there is none yet"
            raise _told(error, self.path, f"no checkpoint can be written, and {kept}") from None
        for old in {*files} - {*whole[: _KEPT - 1]}:
            old.unlink(missing_ok=True)


def folder_of_source(path: Path, number: int) -> Path:
    """Return the folder in `path` for one source of several, counted from 1."""
    return path / f"source-{number}"


def folders_of_sources(path: Path) -> list[Path]:
    """Return the folders of single sources in `path` that hold checkpoints."""
    named = [folder for folder in path.glob("source-*/") if _NAME_OF_A_SOURCE.fullmatch(folder.name)]
    return sorted(folder for folder in named if CheckpointFolder(folder).files())


def _number(path: Path) -> int:
    match = _NAME.fullmatch(path.name)
    assert match is not None  # `files` found it
    return int(match[1])


def _told(error: OSError, path: Path, what: str) -> OSError:
    """Return an error of the same kind that says what it means here."""
    text = f"{what}: {error.strerror or error}"
    return OSError(f"{path}: {text}") if error.errno is None else OSError(error.errno, text, str(path))
