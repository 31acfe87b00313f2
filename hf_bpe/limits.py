"""How much memory counting may take, and how long a pretoken may be."""

from __future__ import annotations

import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MAX_PRETOKEN_BYTES = 4096
"""How long a pretoken may be unless something else is said: longer ones are cut."""

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}
_UNKNOWN = 8 << 30  # what a machine has that doesn't tell
_CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


@dataclass(frozen=True)
class CountingLimits:
    """What counting keeps to.

    Attributes:
        max_memory: How many bytes the table of distinct pretokens takes at most; the rest goes to temporary files.
        temporary_directory: Where those are made.
        max_pretoken_bytes: How long a pretoken may be; longer ones are cut between characters. None for any length.
    """

    max_memory: int
    temporary_directory: str
    max_pretoken_bytes: int | None = None

    @classmethod
    def of(
        cls,
        *,
        max_memory: int | str | None = None,
        temporary_directory: str | Path | None = None,
        max_pretoken_bytes: int | None = None,
    ) -> CountingLimits:
        """Return limits as people give them: `"8MB"`; None for a quarter of the machine, and the system's directory.

        Raises:
            ValueError: A size is none, or too small, or the directory isn't there.
            TypeError: A size is neither a whole number nor a text.
        """
        memory = machine_memory() // 4 if max_memory is None else memory_size("max_memory", max_memory)
        directory = tempfile.gettempdir() if temporary_directory is None else os.fspath(temporary_directory)
        if not os.path.isdir(directory):
            raise ValueError(f"temporary_directory={directory!r} is no directory")
        if max_pretoken_bytes is not None:
            max_pretoken_bytes = memory_size("max_pretoken_bytes", max_pretoken_bytes)
            if max_pretoken_bytes < 4:
                raise ValueError(
                    f"max_pretoken_bytes={max_pretoken_bytes} has no room for a character; give at least 4"
                )
        return cls(memory, directory, max_pretoken_bytes)

    def memory_arguments(self) -> dict[str, Any]:
        """Return what the native side is told about memory."""
        return {"max_memory": self.max_memory, "temporary_directory": self.temporary_directory}


def memory_size(name: str, size: int | str) -> int:
    """Return a number of bytes, given as such or with a unit: MB has 10^6 bytes, MiB has 2^20.

    Raises:
        ValueError: The text is no size, or it is negative.
        TypeError: It is neither a whole number nor a text.

    Example:
        >>> memory_size("max_memory", "8MB"), memory_size("max_memory", "1.5 GiB"), memory_size("max_memory", 10)
        (8000000, 1610612736, 10)
    """
    if isinstance(size, bool) or not isinstance(size, int | str):
        raise TypeError(f"{name} is a number of bytes or a text such as '8MB', got {size!r}")
    if isinstance(size, int):
        found = size
    else:
        match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]I?|)B?\s*", size.upper())
        if match is None:
            raise ValueError(f"{name}={size!r} is no size; write a number of bytes, or '8MB', '2GiB' and the like")
        found = int(float(match[1]) * _UNITS[match[2]])
    if not 0 <= found < 2**63:
        raise ValueError(f"{name}={size!r} is out of range")
    return found


def machine_memory() -> int:
    """Return how much memory there is for this process: the machine's, or less where a container has a limit."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not a Unix
        total = _UNKNOWN
    for path in _CGROUP_LIMITS:
        try:
            limit = int(Path(path).read_text())
        except (OSError, ValueError):  # no such group, or "max"
            continue
        total = min(total, limit)
    return total
