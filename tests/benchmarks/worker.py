"""The process that one peer works in: reads orders from stdin, a line of JSON each, and answers on stdout.

It is told `python -m benchmarks.worker SET PEER FOLDER` which peer to load, and pins itself before that. An order that
raises is answered with the error; what kills the process is seen by who gave the order.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from benchmarks.operations import OPERATIONS
from benchmarks.peers import PEERS, Peer, threads

FIRST_WORDS = "A few words first."


def pin() -> None:
    """Stay on as many cores, from the last one down, as there are threads, where the system can do that."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-threads() :])


def resident() -> float:
    """Return the memory of this process in MB, or 0 where the system doesn't tell."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS")), 0.0)


class Desk:
    """What a peer has in its process: itself, once loaded, and the texts last read."""

    def __init__(self, kind: type[Peer], folder: Path) -> None:
        self.kind, self.folder = kind, folder
        self.clock = time.process_time if threads() == 1 else time.perf_counter
        self.peer: Peer | None = None
        self.file, self.texts = "", list[str]()

    def load(self) -> dict[str, Any]:
        """Make the peer, with caches that hold no more than a few words, and time it: without the import, and until it
        has given its first ids, since some make their tables only then."""
        if self.peer is None:
            self.kind.imported()
        self.peer = None
        gc.collect()
        before, started = resident(), self.clock()
        self.peer = self.kind(self.folder)
        self.peer.one(FIRST_WORDS)
        answer = {"seconds": self.clock() - started, "megabytes": resident() - before}
        for operation in ("flat", "lists"):  # what these make ready at their first call is no matter of speed
            if hasattr(self.peer, operation):
                getattr(self.peer, operation)([FIRST_WORDS])
        return answer

    def run(self, operation: str, file: str, count: int | None = None, *, digest: bool = False) -> dict[str, Any]:
        """Run an operation on the first `count` texts of a file."""
        assert self.peer is not None
        todo = OPERATIONS[operation]
        if not hasattr(self.peer, todo.needs):
            return {"missing": True}
        if file != self.file:
            self.file, self.texts = file, json.loads(Path(file).read_text(encoding="utf-8"))
        items = todo.ready(self.peer, self.texts if count is None else self.texts[:count])
        gc.collect()
        started = self.clock()
        result = todo.run(self.peer, items)
        taken = self.clock() - started
        return {"seconds": taken} | ({"digest": todo.digest(self.peer, result)} if digest else {})


def serve(desk: Desk, orders: TextIO, answers: TextIO) -> None:
    """Answer orders until there are no more."""
    doors: dict[str, Callable[..., dict[str, Any]]] = {"load": desk.load, "run": desk.run}
    for line in orders:
        order = json.loads(line)
        try:
            answer = doors[order.pop("do")](**order)
        except BaseException as error:  # a panic of PyO3 is no Exception
            answer = {"error": f"{type(error).__name__}: {error}"[:300]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def main() -> None:
    """Serve on the process's own stdout, out of reach of what libraries print."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    pin()
    kinds = PEERS
    if sys.argv[1] == "class":
        from benchmarks.classes import CLASSES

        kinds = CLASSES
    serve(Desk(kinds[sys.argv[2]], Path(sys.argv[3])), sys.stdin, answers)


if __name__ == "__main__":
    main()
