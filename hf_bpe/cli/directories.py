"""Directories that a command writes: whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
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


def _umask() -> int:
    """Return the process's umask, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
