"""Where and with what figures were taken: what stands above every table."""

from __future__ import annotations

import datetime
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def processor() -> str:
    """Return the processor's name, as well as the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    flags = next((set(line.split()) for line in lines if line.startswith("flags")), set())
    tier = next((name for flag, name in (("avx512bw", "AVX-512"), ("avx2", "AVX2")) if flag in flags), "no AVX2")
    return f"{names[0] if names else platform.machine()}, {tier}"


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def versions(distributions: list[str]) -> dict[str, str]:
    """Return the versions of what is installed."""
    found = {}
    for name in distributions:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def describe() -> str:
    """Return one line: the processor, the cores, Python, the day."""
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    return f"{processor()}, {cores()} cores, {platform.system()}, Python {platform.python_version()}, {today}"
