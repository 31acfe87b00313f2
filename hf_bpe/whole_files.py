"""Files that are there whole or not at all, and folders that one process at a time writes to."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def replaced(path: Path) -> Iterator[IO[bytes]]:
    """Open a file beside `path` that takes its place when all went well, and is removed when not.

    The bytes are on the disk before the name is: a process that is killed at any moment, or a machine without power,
    leaves the file that was there before, or the new one. What a killed one leaves besides is `leftovers`.

    Raises:
        OSError: The file can't be written; what was there before is as it was.
    """
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".new")
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)  # as any new file; a temporary one is for its owner alone
        os.replace(name, path)
        _sync_folder(path.parent)
    except BaseException as error:
        Path(name).unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None and error.filename in (None, name):
            raise OSError(error.errno, os.strerror(error.errno), str(path)) from None  # not of the temporary name
        raise


def leftovers(folder: Path, names: str) -> list[Path]:
    """Return what `replaced` had begun in a folder when its process was killed, of files whose names match a glob.

    Others may lie there too: those that another process is writing just now.
    """
    return [*folder.glob(f".{names}.*.new")]


def locked(path: Path) -> IO[bytes] | None:
    """Open a file that one process at a time may hold, where the platform has such locks; None when another has it.

    The lock is gone with the process, however that ends.
    """
    file = path.open("ab")
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:
        pass
    except OSError:
        file.close()
        return None
    return file


def _sync_folder(folder: Path) -> None:
    """Bring a new name to the disk, where the platform lets a folder be opened."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:  # a file system that has no such thing
        pass
    finally:
        os.close(descriptor)
