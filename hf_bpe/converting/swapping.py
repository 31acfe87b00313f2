"""Puts a directory into the place of another in one step, together with the files of others that lay in the old one.

Whoever looks, or is left behind by a process that was killed, finds the old directory or the new one, whole. This takes
hard links and a system call that Linux has; elsewhere files are replaced one by one (`staging`).
"""

from __future__ import annotations

import ctypes
import os
import shutil
from collections.abc import Set
from pathlib import Path

_HERE = -100  # AT_FDCWD: paths are relative to the working directory
_EXCHANGE = 2  # RENAME_EXCHANGE


def swapped(new: Path, old: Path, stale: Set[Path]) -> bool:
    """Let `new` and `old` change places, and return whether they did. What is in `old` stays, but for what is stale.

    Args:
        new: The directory that was made, on the same file system.
        old: The directory that is there, or a link to it.
        stale: Files of `old`, relative to it, that go.
    """
    place = old.resolve()
    try:
        _take_along(place, new, stale)
        shutil.copystat(place, new)
    except OSError:  # a file system without hard links, or another one mounted inside
        return False
    if not _exchange(new, place):
        return False
    _take_along(new, place, stale)  # what came in the meantime
    return True


def _take_along(source: Path, target: Path, left_out: Set[Path]) -> None:
    """Link what `target` lacks of the files in `source`."""
    for folder, folders, files in os.walk(source, onerror=_raise):
        inside = Path(folder).relative_to(source)
        links = [name for name in folders if Path(folder, name).is_symlink()]
        for name in (*files, *links):
            if inside / name not in left_out and not os.path.lexists(target / inside / name):
                os.link(Path(folder, name), target / inside / name, follow_symlinks=False)
        for name in set(folders).difference(links):
            if not (target / inside / name).is_dir():
                (target / inside / name).mkdir()
                shutil.copystat(Path(folder, name), target / inside / name)


def _raise(error: OSError) -> None:
    raise error


def _exchange(one: Path, other: Path) -> bool:
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):  # another system, or an old library
        return False
    done: int = rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE)
    return done == 0
