"""The other end of `worker`: starts the process of a peer, gives it orders, and ends it when it is late."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any

HERE = Path(__file__).resolve().parent
QUIET = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_NO_ADVISORY_WARNINGS": "1", "TRANSFORMERS_VERBOSITY": "error"}
PATIENCE = 120.0
"""Seconds for one answer, where no other limit is given."""


def environment(threads: int) -> dict[str, str]:
    """Return the environment of a process that shall use so many threads, and find what it imports here."""
    paths = os.pathsep.join([str(HERE.parents[1]), str(HERE.parent), os.environ.get("PYTHONPATH", "")])
    counts = ("RAYON_NUM_THREADS", "RAYON_RS_NUM_THREADS", "OMP_NUM_THREADS")
    parallel = {"TOKENIZERS_PARALLELISM": "false" if threads == 1 else "true"}
    return os.environ | QUIET | parallel | dict.fromkeys(counts, str(threads)) | {"PYTHONPATH": paths}


class WorkerDied(Exception):
    """The process is gone, or was late and was ended. The message says which."""


class Worker:
    """A peer in a process of its own. Used in a `with`, so that no process stays behind."""

    def __init__(self, peer: str, folder: Path, *, kind: str = "core", threads: int = 1, forms: str = "off") -> None:
        self.peer = peer
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.worker", kind, peer, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment(threads) | {"HF_BPE_CACHE": forms},
        )

    def ask(self, do: str, *, patience: float = PATIENCE, **order: Any) -> dict[str, Any]:
        """Give an order and return the answer, which has the key `error` where the peer raised.

        Raises:
            WorkerDied: The process ended, or took longer than `patience`.
        """
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps({"do": do} | order) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise WorkerDied(f"the process ended with {self.process.wait()}") from None
        if not select.select([self.process.stdout], [], [], patience)[0]:
            self.close()
            raise WorkerDied(f"no answer in {patience:.0f} s")
        line = self.process.stdout.readline()
        if not line:
            raise WorkerDied(f"the process ended with {self.process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
