"""Reads files of strangers: bounded in size, and with an error that says which file and what was found there."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hf_bpe.errors import ConversionError

LIMIT = 1 << 29
"""No vocabulary comes near half a gigabyte; a file of this size is something else, and is not read."""

_PACKED = {b"\x1f\x8b": "gzip", b"PK\x03\x04": "zip", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"\x28\xb5\x2f\xfd": "zstd"}


def head(path: Path, size: int = 4096) -> bytes:
    """Return how a file begins, or nothing where there is no readable file. Never raises."""
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            return file.read(size)
    except (OSError, ValueError):
        return b""


def is_directory(path: Path) -> bool:
    """Whether `path` is a directory.

    Raises:
        ConversionError: It is no name that the system takes: too long, or with a NUL.
    """
    try:
        path.lstat()
    except FileNotFoundError:
        return False
    except (OSError, ValueError) as error:
        raise ConversionError(f"{str(path)!r:.200} can't be read: {_said(error)}.") from error
    return path.is_dir()


def is_there(path: Path) -> bool:
    """Whether something lies at `path`. A name that the system doesn't take is the name of nothing."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def refuse_device(path: Path, *, kind: str) -> None:
    """Raise for a device or a pipe, which might never end.

    Raises:
        ConversionError: It is one, or no name that the system takes.
    """
    if not is_directory(path) and path.exists() and not path.is_file():
        raise ConversionError(f"{path} is a device or a pipe; {kind} is a file.")


def _said(error: OSError | ValueError) -> str:
    if isinstance(error, UnicodeError):
        return "it holds a lone surrogate, which is no character"
    return str(getattr(error, "strerror", None) or error)


def read_bytes(path: Path, *, kind: str, limit: int = LIMIT) -> bytes:
    """Return the content of a file.

    Args:
        path: The file.
        kind: What it should be, for the error.
        limit: The largest size that is read.

    Raises:
        ConversionError: It is absent, a directory, empty, too large, packed, or full of zeros.
    """
    try:
        if is_directory(path):
            raise ConversionError(f"{path} is a directory; {kind} is a file.")
        if not path.exists():
            raise ConversionError(f"{path}: there is no such file.")
        refuse_device(path, kind=kind)
        _check_size(path, kind, limit)
        _check_head(path, kind)
        return path.read_bytes()
    except (OSError, ValueError) as error:
        if isinstance(error, ConversionError):
            raise
        raise ConversionError(f"{path} can't be read: {error}") from error


def _check_size(path: Path, kind: str, limit: int) -> None:
    size = path.stat().st_size
    if size == 0:
        raise ConversionError(f"{path} is empty; {kind} was expected.")
    if size > limit:
        raise ConversionError(f"{path} has {size:,} bytes; {kind} of more than {limit:,} bytes is not read.")


def _check_head(path: Path, kind: str) -> None:
    start = head(path, 16)
    for mark, name in _PACKED.items():
        if start.startswith(mark):
            raise ConversionError(f"{path} is packed with {name}; unpack it first: {kind} was expected.")
    if start.strip(b"\0") == b"":
        raise ConversionError(f"{path} begins with {len(start)} zero bytes; {kind} was expected.")


def read_text(path: Path, *, kind: str) -> str:
    """Return the content of a UTF-8 file, without a byte order mark.

    Raises:
        ConversionError: As for `read_bytes`, or the bytes aren't UTF-8.
    """
    data = read_bytes(path, kind=kind)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConversionError(
            f"{path}, line {line}: not UTF-8: the byte 0x{data[error.start]:02x} at offset {error.start}."
        ) from error


def read_json(path: Path, *, kind: str) -> Any:
    """Return the parsed content of a JSON file.

    Raises:
        ConversionError: As for `read_text`, or it isn't JSON, or one object has a key twice.
    """
    text = read_text(path, kind=kind)

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) < len(items):
            raise ConversionError(f"{path}: an object has the key {_first_double(name for name, _ in items)!r} twice.")
        return found

    try:
        return json.loads(text, object_pairs_hook=pairs)
    except json.JSONDecodeError as error:
        raise ConversionError(
            f"{path}, line {error.lineno}, column {error.colno}: not JSON: {error.msg}; {kind} was expected."
        ) from error
    except (RecursionError, ValueError) as error:
        if isinstance(error, ConversionError):
            raise
        raise ConversionError(f"{path}: not JSON that can be read: {error}") from error


def _first_double(names: Iterable[str]) -> str:
    seen: set[str] = set()
    return next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
