"""Ids on their way to a file: appended to a spool beside it, with a checkpoint to go on from.

The spool is a folder `.NAME.encoding` beside the target, with `ids` (numbers, little-endian), `bounds` (where each
document ends, 64 bits) and `checkpoint.json`. A checkpoint is written after the data that it tells of has reached
the disk, and by renaming, so that a process that is killed at any moment leaves one that holds: what lies behind it is
cut off.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from hf_bpe.documents import BEGINNING, Position
from hf_bpe.errors import CorpusError
from hf_bpe.token_files.targets import json_bytes
from hf_bpe.whole_files import locked, replaced

_VERSION = 1
_BOUND = np.dtype("<u8")


class Spool:
    """Where ids wait for their file.

    Args:
        target: The file to be.
        dtype: Of the ids.
        settings: All that decides the ids and their order. A spool of other settings is not gone on with.
        restart: Whether a spool that is there is thrown away.
        seconds: How often a checkpoint is written.

    Raises:
        CorpusError: The spool that is there has other settings, is damaged, or another process writes to it.
    """

    def __init__(
        self, target: Path, dtype: np.dtype[Any], settings: Mapping[str, Any], *, restart: bool, seconds: float
    ) -> None:
        self.folder = target.with_name(f".{target.name}.encoding")
        self.position = BEGINNING
        self.documents = self.ids = self.bad_rows = 0
        self.resumed = False
        self._dtype = dtype
        self._settings = json.loads(json.dumps(settings))
        self._seconds = seconds
        self.folder.mkdir(exist_ok=True)
        self._lock = locked_for(target, self.folder)
        try:
            if restart:
                self._forget()
            self._load(target)
            self._ids_file = self._opened("ids", self.ids * dtype.itemsize)
            self._bounds_file = self._opened("bounds", self.documents * _BOUND.itemsize)
        except BaseException:
            self._lock.close()
            raise
        self._saved = time.monotonic()

    def _forget(self) -> None:
        for name in ("checkpoint.json", "ids", "bounds"):
            (self.folder / name).unlink(missing_ok=True)

    def _load(self, target: Path) -> None:
        path = self.folder / "checkpoint.json"
        if not path.exists():
            return
        try:
            saved = json.loads(path.read_text(encoding="utf-8"))
            if saved["version"] != _VERSION:
                raise ValueError(f"version {saved['version']}")
            settings = dict(saved["settings"])
            self.position = Position(*map(int, saved["position"]))
            self.documents, self.ids, self.bad_rows = (int(saved[name]) for name in ("documents", "ids", "bad_rows"))
        except (KeyError, TypeError, ValueError) as error:
            raise CorpusError(f"{path} is damaged ({error}); begin anew with restart=True (--restart).") from None
        if settings != self._settings:
            name = next(key for key in self._settings if settings.get(key) != self._settings[key])
            raise CorpusError(
                f"{target} was begun with {name}={_short(settings.get(name))}, and is to be gone on with "
                f"{name}={_short(self._settings[name])}; begin anew with restart=True (--restart)."
            )
        self.resumed = True

    def _opened(self, name: str, size: int) -> IO[bytes]:
        path = self.folder / name
        path.touch()
        if path.stat().st_size < size:
            raise CorpusError(f"{path} is shorter than its checkpoint says; begin anew with restart=True (--restart).")
        os.truncate(path, size)
        return path.open("ab")

    def append(self, ids: NDArray[Any], bounds: NDArray[Any], position: Position, bad_rows: int) -> None:
        """Append documents.

        Args:
            ids: The ids of all of them.
            bounds: Where each document begins in `ids`, and where the last one ends.
            position: Where reading goes on after them.
            bad_rows: How many rows were left out.
        """
        self._ids_file.write(ids.astype(self._dtype, copy=False).tobytes())
        self._bounds_file.write((bounds[1:].astype(_BOUND) + _BOUND.type(self.ids)).tobytes())
        self.ids += len(ids)
        self.documents += len(bounds) - 1
        self.bad_rows += bad_rows
        self.position = position
        if time.monotonic() - self._saved >= self._seconds:
            self.save()

    def save(self) -> None:
        """Write a checkpoint."""
        for file in (self._ids_file, self._bounds_file):
            file.flush()
            os.fsync(file.fileno())
        checkpoint = {
            "version": _VERSION,
            "settings": self._settings,
            "position": list(self.position),
            "documents": self.documents,
            "ids": self.ids,
            "bad_rows": self.bad_rows,
        }
        with replaced(self.folder / "checkpoint.json") as file:
            file.write(json_bytes(checkpoint))
        self._saved = time.monotonic()

    def finished(self) -> tuple[Path, Path]:
        """Write everything out, and return the files with the ids and with the end of each document."""
        self.save()
        self._ids_file.close()
        self._bounds_file.close()
        return self.folder / "ids", self.folder / "bounds"

    def remove(self) -> None:
        """Throw the spool away. The checkpoint goes first: a run that is killed here leaves none without its files."""
        self.close()
        (self.folder / "checkpoint.json").unlink()
        shutil.rmtree(self.folder)

    def close(self) -> None:
        """Close the files; what is in them stays."""
        for file in (self._ids_file, self._bounds_file, self._lock):
            file.close()

    def __enter__(self) -> Spool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None and not self._ids_file.closed:
            self.save()
        self.close()


def locked_for(target: Path, folder: Path) -> IO[bytes]:
    """Open the lock of a folder beside `target`, which one process at a time may hold.

    Raises:
        CorpusError: Another process holds it, and so encodes to `target`.
    """
    lock = locked(folder / "lock")
    if lock is None:
        raise CorpusError(f"another process is encoding to {target}.")
    return lock


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
