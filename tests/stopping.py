"""Trainings that are stopped after a checkpoint: by an exception in this process, or by a signal to another one."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from hf_bpe.pretoken_counts import resuming

StopAfter: TypeAlias = Callable[[int], AbstractContextManager[None]]
"""Lets what is counted inside of it stop after a number of checkpoints, and fails where it doesn't."""

DAMAGES = ["torn", "flipped", "empty"]
"""What `damage` makes of a file."""


class Stopped(Exception):
    """Stands for the end of a process."""


def stopper(monkeypatch: pytest.MonkeyPatch) -> StopAfter:
    """Return what lets counting stop, and make batches small, so that there are many checkpoints."""
    monkeypatch.setattr("hf_bpe.corpus.sizes.BATCH_BYTES", 20_000)
    monkeypatch.setattr("hf_bpe.documents.reading._COLUMN_BYTES", 20_000)
    monkeypatch.setattr("hf_bpe.documents.streams.BLOCK_BYTES", 20_000)
    save = resuming._Run._save

    @contextmanager
    def stop_after(number: int) -> Iterator[None]:
        left = number

        def counted(self: Any, report: Any, *, complete: bool) -> Any:
            nonlocal left
            saved = save(self, report, complete=complete)
            left -= 1
            if left == 0:
                raise Stopped
            return saved

        with monkeypatch.context() as patched:
            patched.setattr(resuming._Run, "_save", counted)
            with pytest.raises(Stopped):
                yield

    return stop_after


def damage(path: Path, how: str) -> None:
    """Damage a file of counts as a crash or a disk does."""
    data = bytearray(path.read_bytes())
    data[200] ^= 4  # of the counts: much of a small file is what stands beside them
    path.write_bytes({"torn": data[: len(data) // 2], "flipped": bytes(data), "empty": b""}[how])


def kept(folder: Path) -> list[Path]:
    """Return the checkpoints in a folder and those in it."""
    return sorted(folder.rglob("checkpoint-*.parquet"))


def killed_at_random_moments(command: list[str], folder: Path, seed: int, times: int = 3) -> int:
    """Start a command again and again and kill it, each time after one more checkpoint; return how often it was."""
    draw, kills = random.Random(seed), 0
    while kills < times:
        before = kept(folder)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            deadline = time.monotonic() + 60
            while kept(folder) == before and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.01)
            assert process.poll() is not None or kept(folder) != before, "there is no new checkpoint after a minute"
            time.sleep(draw.random() * 0.05)
            process.send_signal(signal.SIGKILL)
            process.wait()
            assert process.returncode in (0, -signal.SIGKILL), process.stderr and process.stderr.read()
        finally:
            process.kill()
        if process.returncode == 0:
            break
        kills += 1
    return kills
