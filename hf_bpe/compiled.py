"""Keeps compiled forms of large tokenizer.json files, which load in a fifth of the time.

A form is named by the BLAKE3 of the file that it was made from, and holds that, the version of hf_bpe and a checksum of
itself: what doesn't match in every way is made anew. It never changes what loads. Forms lie in one folder that only the
user may enter, are written beside and moved into place, and never take more than `_MOST_BYTES`: those that were used
least lately go. Whatever the disk does, a tokenizer loads; at worst it is as slow as without.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from huggingface_hub import constants
from transformers.utils import logging

from hf_bpe._native import Tokenizer, compile_json, digest_of_file, load_compiled

# Smaller files are read about as fast as their forms; larger ones are no vocabulary that anybody has.
_WORTH_BYTES = 1 << 19
_LARGEST_SOURCE = 1 << 28
_MOST_BYTES = 1 << 28
# What a process that was killed left behind.
_STALE_SECONDS = 3600
_OFF = frozenset({"", "0", "off", "false", "no"})

logger = logging.get_logger(__name__)


def read(path: str, read_json: Callable[[str], bytes], *, compiled: bool = True) -> Tokenizer:
    """Return the core of a tokenizer.json, by its compiled form where there is one.

    Args:
        path: The file.
        read_json: Reads it, where there is none.
        compiled: Whether forms are read and written.

    Raises:
        TokenizerFileError: The file is damaged.
        UnsupportedComponentError: The core can't run what it describes.
    """
    folder = _folder() if compiled and _is_worth_it(path) else None
    if folder is None:
        return Tokenizer.from_json(read_json(path))
    if (core := _load(folder, path)) is not None:
        return core
    # Named by what is read now: the file may have changed since it was looked at.
    core, digest, form = compile_json(read_json(path))
    if form is not None:
        _store(folder / _name(digest), form)
    return core


def _is_worth_it(path: str) -> bool:
    try:
        found = os.stat(path)
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and _WORTH_BYTES <= found.st_size <= _LARGEST_SOURCE


def _folder() -> Path | None:
    """Return the folder of forms, made when absent; None where it is switched off or can't be trusted."""
    asked = os.environ.get("HF_BPE_CACHE")
    if asked is not None and asked.strip().lower() in _OFF:
        return None
    try:
        folder = Path(asked).expanduser() if asked else Path(constants.HF_HOME) / "hf_bpe"
    except RuntimeError:
        logger.warning_once(
            f"hf_bpe keeps no compiled vocabularies: HF_BPE_CACHE is {asked!r}, in the home of a user that isn't "
            "there. Set it to another folder, or to 'off'."
        )
        return None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        found = folder.lstat()
    except OSError:
        return None  # a disk that is read-only or full
    if fault := _fault(found):
        logger.warning_once(
            f"hf_bpe keeps no compiled vocabularies in {str(folder)!r}: it {fault}. They go to a folder that only you "
            "can enter: make it one, or set HF_BPE_CACHE to another folder, or to 'off'."
        )
        return None
    return folder


def _fault(found: os.stat_result) -> str | None:
    """Return why what was found can't be trusted: another user could put vocabularies there that give other ids."""
    if not stat.S_ISDIR(found.st_mode):
        return "is a link or no folder"
    if os.name != "posix":
        return None  # the folders of a user's profile are closed to others there
    if found.st_uid != os.geteuid():
        return "belongs to another user"
    if found.st_mode & 0o077:
        return f"is open to others, its mode being {stat.S_IMODE(found.st_mode):04o} and not 0700"
    return None


def _name(digest: bytes) -> str:
    return f"{digest.hex()}.bin"


def _load(folder: Path, path: str) -> Tokenizer | None:
    try:
        digest = digest_of_file(path)
        place = folder / _name(digest)
        core = load_compiled(_read_form(place), digest)
    except OSError:
        return None
    if core is not None:
        # So that what is in use is not what goes.
        with contextlib.suppress(OSError):
            os.utime(place)
    return core


def _read_form(place: Path) -> bytes:
    """Return what a form holds; nothing of what can be none: a pipe would never end, a sparse file fill the memory."""
    found = os.stat(place)
    return place.read_bytes() if stat.S_ISREG(found.st_mode) and found.st_size <= _MOST_BYTES else b""


def _store(place: Path, form: bytes) -> None:
    """Write a form. A reader sees all of it or nothing, and many may write it at once."""
    if len(form) > _MOST_BYTES:
        return
    try:
        handle, beside = tempfile.mkstemp(prefix=".", suffix=".part", dir=place.parent)
    except OSError:
        return
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(form)
        os.replace(beside, place)
    except OSError:
        return
    finally:
        with contextlib.suppress(OSError):
            os.unlink(beside)
    _remove_oldest(place)


def _remove_oldest(newest: Path) -> None:
    """Remove the forms that were used longest ago, until the rest fits beside the newest one."""
    used = 0
    for when, size, path in sorted(_found_in(newest.parent), reverse=True):
        if path.suffix == ".part":
            is_over = when < time.time() - _STALE_SECONDS
        else:
            used += size
            is_over = used > _MOST_BYTES and path != newest
        if is_over:
            with contextlib.suppress(OSError):
                path.unlink()


def _found_in(folder: Path) -> list[tuple[float, int, Path]]:
    """Return the time, the size and the path of each of our files, as far as others haven't removed them meanwhile."""
    found = []
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            with contextlib.suppress(OSError):
                if path.suffix in (".bin", ".part"):
                    status = path.lstat()
                    found.append((status.st_mtime, status.st_size, path))
    return found
