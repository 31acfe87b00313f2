"""Directories and files that a command writes: whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_directory(out: Path, *, overwrite: bool) -> Iterator[Path]:
    """Give a directory to write to, which becomes `out` when the block succeeds, and is gone when it fails.

    Into a directory that holds something already, the tokenizer itself writes file by file, each whole: other
    files there, such as a model's weights, stay.
    """
    if out.is_dir() and any(out.iterdir()):
        if not overwrite:
            raise ValueError(f"{out} is not empty; name another --out, or add --overwrite")
        yield out
        return
    if out.exists() and not out.is_dir():
        raise ValueError(f"{out} is a file, not a directory")
    out.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    try:
        yield beside
        beside.chmod(0o777 & ~_umask())
        os.replace(beside, out)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


@contextmanager
def whole_files(places: Iterable[Path]) -> Iterator[Mapping[Path, Path]]:
    """Give a file beside each place to write to, which is put there when the block succeeds, and is gone when it fails.

    Pipes and devices, such as `/dev/stdout`, stand for themselves.

    Raises:
        ValueError: A place is a directory, or in none.
    """
    beside: dict[Path, Path] = {}
    try:
        for place in places:
            beside[place] = _file_beside(place)
        yield beside
        for place, file in beside.items():
            if file != place:
                file.chmod(0o666 & ~_umask())
                os.replace(file, place.resolve())
    finally:
        for place, file in beside.items():
            if file != place:
                file.unlink(missing_ok=True)


def _file_beside(place: Path) -> Path:
    if place.is_dir():
        raise ValueError(f"{place} is a directory; name a file to write")
    if place.exists() and not place.is_file():
        return place
    target = place.resolve()
    if not target.parent.is_dir():
        raise ValueError(f"{place} can't be written: {target.parent} is no directory")
    handle, name = tempfile.mkstemp(prefix=f".{target.stem[:50]}-", suffix=target.suffix, dir=target.parent)
    os.close(handle)
    return Path(name)


def _umask() -> int:
    """Return the process's umask, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
