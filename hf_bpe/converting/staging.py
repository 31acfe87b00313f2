"""Writes beside the target and puts it into place, whole or not at all.

A process that is killed leaves the old target or the new one, and at most a folder `.NAME-converting-XXXX` beside it.
A directory that is replaced changes places with the new one (`swapping`). Where the system can't do that, files are
replaced one by one: the old ones are kept in that folder first, and put back if anything fails.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from hf_bpe.converting.swapping import swapped
from hf_bpe.errors import ConversionError
from hf_bpe.formats import files
from hf_bpe.saving import own_files

_LONGEST_NAME = 100


@contextmanager
def staged(destination: Path, *, overwrite: bool) -> Iterator[Path]:
    """Give a folder to write into; what lies in it when the block ends is put beside, and in place of, `destination`.

    An existing directory keeps the files that aren't replaced, such as a model's weights; files of an older tokenizer
    that the new one doesn't have are removed.

    Args:
        destination: The file or the directory to make. The block makes it in the folder, under its name.
        overwrite: Whether something that exists is replaced.

    Raises:
        ConversionError: `destination` exists and isn't to be replaced, a directory is where a file is written, or the
            system refuses.
    """
    check_free(destination, overwrite=overwrite)
    made: list[Path] = []
    done = False
    folder = None
    try:
        try:
            made = _make_parents(destination.parent)
            prefix = f".{destination.name[:_LONGEST_NAME]}-converting-"
            folder = Path(tempfile.mkdtemp(prefix=prefix, dir=destination.parent))
            new, old = folder / "new", folder / "old"
            new.mkdir()
            old.mkdir()
        except OSError as error:
            raise ConversionError(f"{destination} can't be written: {error.filename}: {error.strerror}.") from error
        yield new
        with _signals_held():
            check_free(destination, overwrite=overwrite)
            try:
                moves = _moves(new, destination)
                if not _swapped(new / destination.name, destination, moves):
                    _put_into_place(moves, old)
            except OSError as error:
                place = error.filename2 or error.filename or destination
                raise ConversionError(f"{place} can't be written: {error.strerror or error}.") from error
            done = True
    finally:
        with _signals_held():
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)
            if not done:
                _remove_empty(made)


def check_free(destination: Path, *, overwrite: bool) -> None:
    """Raise if `destination` can't be written to. An empty directory can.

    Raises:
        ConversionError: See `staged`.
    """
    if destination.name in ("", ".."):
        raise ConversionError(f"{destination} names no file and no directory to write.")
    files.refuse_device(destination, kind="what is written")
    if not os.path.lexists(destination) or overwrite:
        return
    if destination.is_dir() and not any(destination.iterdir()):
        return
    raise ConversionError(f"{destination} exists already; name another destination, or pass overwrite (--overwrite).")


@dataclass(frozen=True)
class _Move:
    """A file or directory to put into place; None to remove what is there."""

    new: Path | None
    place: Path


def _moves(new: Path, destination: Path) -> list[_Move]:
    made = new / destination.name
    if made.is_dir() and destination.is_dir():
        files = [path.relative_to(made) for path in sorted(made.rglob("*")) if path.is_file()]
        stale = own_files(destination, None) - {destination / file for file in files}
        moves = [_Move(made / file, destination / file) for file in files]
        moves += [_Move(None, path) for path in sorted(stale)]
    elif made.is_dir() != destination.is_dir() and os.path.lexists(destination):
        is_directory = destination.is_dir()
        raise ConversionError(
            f"{destination} is {'a directory, and a file' if is_directory else 'a file, and a directory'} is to be "
            "written; name another destination."
        )
    else:
        moves = [_Move(made, destination)]
    beside = [path for path in sorted(new.iterdir()) if path != made]
    moves += [_Move(path, destination.parent / path.name) for path in beside]
    for move in moves:
        if move.new is not None and move.new.is_file() and move.place.is_dir():
            raise ConversionError(
                f"{move.place} is a directory, and a file is to be written there; move it, or name another destination."
            )
    return moves


def _swapped(made: Path, destination: Path, moves: list[_Move]) -> bool:
    """Replace a directory in one step, where that is possible."""
    if not (made.is_dir() and destination.is_dir()):
        return False
    stale = {move.place.relative_to(destination) for move in moves if move.new is None}
    return swapped(made, destination, stale)


def _put_into_place(moves: list[_Move], old: Path) -> None:
    done: list[tuple[Path, Path | None]] = []
    try:
        for number, move in enumerate(moves):
            kept = old / str(number) if os.path.lexists(move.place) else None
            move.place.parent.mkdir(parents=True, exist_ok=True)
            done.append((move.place, kept))
            if kept is not None:
                _keep(move.place, kept, moved=move.new is None)
            if move.new is not None:
                os.replace(move.new, move.place)
    except BaseException:
        for place, kept in reversed(done):
            _put_back(place, kept)
        raise


def _keep(place: Path, kept: Path, *, moved: bool) -> None:
    """Keep what is in a place. A file stays there until the new one replaces it, so that its name is never free."""
    if moved or place.is_symlink() or not place.is_file():
        os.rename(place, kept)
        return
    try:
        os.link(place, kept)
    except OSError:  # a file system without hard links
        shutil.copy2(place, kept)


def _put_back(place: Path, kept: Path | None) -> None:
    if kept is not None and not os.path.lexists(kept):
        return  # it was never moved
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    elif kept is None:
        place.unlink(missing_ok=True)
    if kept is not None:
        os.replace(kept, place)


def _make_parents(folder: Path) -> list[Path]:
    """Make a folder, and return those of its parents and itself that had to be made, the innermost first."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return missing


def _remove_empty(folders: list[Path]) -> None:
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()


@contextmanager
def _signals_held() -> Iterator[None]:
    """Let Ctrl-C wait until the block is over, where the platform can."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
