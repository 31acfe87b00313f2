"""Trainings that are stopped after a checkpoint: by an exception in this process, or by a signal to another one."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hf_bpe.pretoken_counts import resuming


class Stopped(Exception):
    """Stands for the end of a process."""


def stopper(monkeypatch: pytest.MonkeyPatch) -> Callable[[int | None], None]:
    """Return what lets counting stop after a number of checkpoints, with small batches so that there are many."""
    monkeypatch.setattr("hf_bpe.corpus.sizes.BATCH_BYTES", 20_000)
    monkeypatch.setattr("hf_bpe.documents.reading._COLUMN_BYTES", 20_000)
    monkeypatch.setattr("hf_bpe.documents.streams.BLOCK_BYTES", 20_000)
    save = resuming._Run._save

    def set_stop(number: int | None) -> None:
        left = [number]

        def counted(self: Any, report: Any, *, complete: bool) -> Any:
            saved = save(self, report, complete=complete)
            if left[0] is not None:
                left[0] -= 1
                if left[0] == 0:
                    raise Stopped
            return saved

        monkeypatch.setattr(resuming._Run, "_save", counted)

    return set_stop


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
