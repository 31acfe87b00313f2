"""Damaged files that every reader has to refuse, fast and in bounded memory."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 30)


def _bomb(path: Path) -> None:
    path.write_bytes(gzip.compress(bytes(1 << 26)))


DAMAGED: dict[str, tuple[Callable[[Path], object], str]] = {
    "0 bytes": (lambda path: path.write_bytes(b""), "is empty"),
    "1 GB of zeros": (_sparse, "has 1,073,741,824 bytes"),
    "zeros": (lambda path: path.write_bytes(bytes(4096)), "begins with 16 zero bytes"),
    "a gzip bomb": (_bomb, "is packed with gzip"),
    "a zip file": (lambda path: path.write_bytes(b"PK\x03\x04rest"), "is packed with zip"),
    "a directory": (lambda path: path.mkdir(), "is a directory"),
    "nothing": (lambda path: None, "there is no such file"),
    "a pipe": (os.mkfifo, "is a device or a pipe"),
}
"""How to make each kind of damage, and what the error says of it."""
