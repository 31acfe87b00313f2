"""Peers side by side: checked first, then timed in turns, round by round."""

from __future__ import annotations

import contextlib
import json
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.peers import REFERENCE
from benchmarks.plans import Plan
from benchmarks.workers import Worker, WorkerDied

IDENTICAL, DIFFERENT, UNCHECKED = "identical", "different", "unchecked"


@dataclass(frozen=True)
class Figure:
    """One number of a table: whose, of what, how much, how steady, and whether what came out was right."""

    group: str
    row: tuple[str, ...]
    peer: str
    value: float
    unit: str
    spread: float
    verdict: str


@dataclass
class Bench:
    """What groups share: the plan, the vocabularies, a place for texts, and what they leave."""

    plan: Plan
    folders: dict[str, Path]
    scratch: Path
    say: Callable[[str], None]
    figures: list[Figure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    texts: dict[str, int] = field(default_factory=dict)
    written: int = 0

    def note(self, text: str) -> None:
        """Keep something that stands below the tables."""
        if text not in self.notes:
            self.notes.append(text)

    def add(self, group: str, row: Sequence[str], peer: str, values: Sequence[float], unit: str, verdict: str) -> None:
        """Keep the median of samples."""
        middle = statistics.median(values)
        spread = (max(values) - min(values)) / middle if middle else 0.0
        self.figures.append(Figure(group, tuple(row), peer, middle, unit, spread, verdict))

    def write(self, name: str, texts: Sequence[str]) -> str:
        """Write texts where workers find them, in place of the last ones of this name."""
        for old in self.scratch.glob(f"{name}-*.json"):
            old.unlink()
        self.written += 1  # a worker reads a file again only if its name is new
        path = self.scratch / f"{name}-{self.written}.json"
        path.write_text(json.dumps(list(texts)), encoding="utf-8")
        return str(path)

    @contextlib.contextmanager
    def crew(self, vocabulary: str, *, kind: str = "core", threads: int = 1) -> Iterator[Crew]:
        """A worker for each peer that can load the vocabulary; those that can't are noted."""
        with contextlib.ExitStack() as stack:
            crew = Crew(self, vocabulary)
            for peer in self.plan.peers:
                if kind == "core" or peer in CLASS_NAMES:
                    worker = Worker(peer, self.folders[vocabulary], kind=kind, threads=threads)
                    crew.workers[peer] = stack.enter_context(worker)
            for peer in list(crew.workers):
                crew.ask(peer, "load")
            yield crew


CLASS_NAMES = ("hf_bpe", "gigatoken", "fastokens", "tokenizers")
"""Peers of the set "class", known here without importing transformers."""


class Crew:
    """The workers of one vocabulary. One that raises or dies is noted, and has no figure from there on."""

    def __init__(self, bench: Bench, vocabulary: str) -> None:
        self.bench, self.vocabulary = bench, vocabulary
        self.workers: dict[str, Worker] = {}

    def ask(self, peer: str, do: str, *, label: str = "", **order: Any) -> dict[str, Any] | None:
        """Return a worker's answer, or None where it has none to give. `label` is what a note says it was about."""
        if peer not in self.workers:
            return None
        try:
            answer = self.workers[peer].ask(do, **order)
        except WorkerDied as error:
            answer = {"error": str(error)}
        if "error" in answer:
            what = label or order.get("operation", do)
            self.bench.note(f"{peer}, {self.vocabulary}, {what}: {answer['error'].strip()[:160]!r}")
            self.workers.pop(peer).close()
            return None
        return None if answer.get("missing") else answer

    def check(self, operation: str, file: str, expected: str | None) -> dict[str, tuple[str, float]]:
        """Return, for each peer that has the operation, whether its answer is as expected, and the seconds it took."""
        found = {}
        for peer in list(self.workers):
            answer = self.ask(peer, "run", operation=operation, file=file, digest=True)
            if answer is not None:
                verdict = UNCHECKED if expected is None else IDENTICAL if answer["digest"] == expected else DIFFERENT
                found[peer] = verdict, answer["seconds"]
        return found

    def expected_ids(self, file: str, operation: str = "lists") -> str | None:
        """Return the digest of the reference's ids, or of how many there are (`lengths`)."""
        answer = self.ask(REFERENCE, "run", operation=operation, file=file, digest=True)
        return answer["digest"] if answer else None


def rates(
    crew: Crew, group: str, row: Sequence[str], operation: str, file: str, texts: Sequence[str], expected: str | None,
    *, fresh: bool,
) -> None:  # fmt: skip
    """Take megabytes per second: each round every peer once with empty caches, if `fresh`, then all warm rounds."""
    bench, plan = crew.bench, crew.bench.plan
    checked = crew.check(operation, file, expected)
    counts = {peer: affordable(len(texts), taken, plan.seconds) for peer, (_, taken) in checked.items()}
    sizes = [len(text.encode()) for text in texts]
    samples: dict[tuple[str, str], list[float]] = {}
    for state in ("fresh", "warm") if fresh else ("warm",):
        for _ in range(plan.rounds):
            for peer, count in counts.items():
                if state == "fresh":
                    crew.ask(peer, "load")
                answer = crew.ask(peer, "run", operation=operation, file=file, count=count)
                if answer is not None:
                    speed = sum(sizes[:count]) / 1e6 / max(answer["seconds"], 1e-9)
                    samples.setdefault((state, peer), []).append(speed)
    for (state, peer), values in samples.items():
        bench.add(group, [*row, state], peer, values, "MB/s", checked[peer][0])


def affordable(count: int, taken: float, seconds: float) -> int:
    """Return how many of `count` texts can be done in `seconds`, at least one."""
    return count if taken <= seconds else max(1, int(count * seconds / taken))
