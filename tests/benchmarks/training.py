"""`python -m benchmarks.training PLAN --out DIR`: trainers side by side; `--publish` writes BENCHMARKS.md as well.

Each trains in a process of its own, which is all that its memory is measured of; rounds are interleaved. Merges are
compared in order with those of stock's trainer on the same input.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import corpora, machine, report
from benchmarks.__main__ import ROOT, say
from benchmarks.trainers import TRAINERS, Merges
from benchmarks.workers import environment

LIMIT = 900
"""Seconds after which a trainer is ended."""


@dataclass(frozen=True)
class Case:
    """One table: which texts, how many megabytes at most, which pattern, how many tokens."""

    title: str
    kinds: tuple[str, ...]
    megabytes: float
    pattern: str
    vocab_size: int


MIXED = ("english", "code", "chinese", "multilingual", "json_log", "emoji")
PLANS: dict[str, tuple[int, tuple[Case, ...]]] = {
    "full": (
        3,
        (
            Case("GPT-2 pattern, 32,000 tokens", MIXED, 42, "gpt2", 32_000),
            Case("Llama-3 pattern, 128,000 tokens", MIXED, 42, "llama3", 128_000),
            Case("Chinese, Llama-3 pattern, 32,000 tokens", ("chinese",), 42, "llama3", 32_000),
        ),
    ),
    "quick": (1, (Case("GPT-2 pattern, 8,000 tokens", MIXED, 5, "gpt2", 8_000),)),
    "smallest": (1, (Case("GPT-2 pattern, 400 tokens", ("english",), 0.02, "gpt2", 400),)),
}
"""Rounds and cases by name. `smallest` is what the tests run."""


def texts(case: Case) -> tuple[str, str]:
    """Return the texts of a case, and what they are: handed corpora where there are some, else our own."""
    share = int(case.megabytes * 1e6 / (1 if len(case.kinds) == 1 else 3.5))  # some kinds have less than their share
    found = {kind: corpora.handed(kind, share) or corpora.own(kind, share) for kind in case.kinds}
    joined = "\n".join(found.values())[: int(case.megabytes * 1e6)]
    names = ", ".join(f"{kind} {len(text.encode()) / 1e6:.2g} MB" for kind, text in found.items() if text)
    return joined.replace("\r", ""), f"{len(joined.encode()) / 1e6:.1f} MB: {names}"


def measure(case: Case, rounds: int, names: Sequence[str], scratch: Path) -> dict[str, Any]:
    """Train with each of `names`, and return seconds, megabytes and what the merges are, by row."""
    text, description = texts(case)
    file = scratch / "texts.txt"
    file.write_text(text, encoding="utf-8", newline="")
    able = [name for name in names if case.pattern in TRAINERS[name].patterns]
    answers: dict[str, list[dict[str, Any]]] = {}
    failed: dict[str, str] = {}
    for _ in range(rounds):
        for name in (name for name in able if name not in failed):
            say(f"{case.title}: {name}")
            answer = train(name, case, file, scratch)
            if "error" in answer:
                failed[name] = answer["error"]
            else:
                answers.setdefault(name, []).append(answer)
    rows = {name: _row(name, found, scratch) for name, found in answers.items()}
    return {"title": case.title, "texts": description, "rows": rows, "failed": failed}


def merges_file(scratch: Path, name: str) -> Path:
    """Return where the merges of a row are written."""
    return scratch / f"{name.replace(', ', '-').replace(' ', '-')}.json"


def train(name: str, case: Case, file: Path, scratch: Path) -> dict[str, Any]:
    """Train once in a new process."""
    out = str(merges_file(scratch, name))
    order = {"file": str(file), "vocab_size": case.vocab_size, "pattern": case.pattern, "out": out}
    command = [sys.executable, "-m", "benchmarks.trainers", name, json.dumps(order)]
    try:
        result = subprocess.run(
            command, capture_output=True, text=True, timeout=LIMIT, env=environment(machine.cores()), check=False
        )
    except subprocess.TimeoutExpired:
        return {"error": f"not done in {LIMIT} s"}
    if result.returncode:
        return {"error": (result.stderr.strip().splitlines() or [f"ended with {result.returncode}"])[-1][:200]}
    answer: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return answer


def _row(name: str, answers: list[dict[str, Any]], scratch: Path) -> dict[str, Any]:
    """Return the medians of a trainer, and what its merges are."""
    seconds = [answer["seconds"] for answer in answers]
    reference = TRAINERS[name].reference
    verdict = "the reference"
    if reference != name:
        both = [merges_file(scratch, row) for row in (reference, name)]
        present = all(path.is_file() for path in both)
        verdict = (
            compare(*(json.loads(path.read_text(encoding="utf-8")) for path in both)) if present else "not compared"
        )
    return {
        "seconds": statistics.median(seconds),
        "spread": (max(seconds) - min(seconds)) / statistics.median(seconds),
        "megabytes": statistics.median(answer["megabytes"] for answer in answers),
        "merges": verdict,
    }


def compare(expected: list[list[str]], found: Merges) -> str:
    """Say in which way merges are those of stock: pairs in order, or, where only tokens are told, tokens in order."""
    pairs = not found or isinstance(found[0], list)
    wanted: Merges = expected if pairs else ["".join(pair) for pair in expected]
    what = "merges" if pairs else "tokens"
    if found == wanted:
        return f"identical ({len(found):,} {what} in order)"
    alike = next((at for at, both in enumerate(zip(wanted, found, strict=False)) if both[0] != both[1]), None)
    tokens = [{"".join(merge) for merge in merges} for merges in (expected, found)]
    shared = len(tokens[0] & tokens[1]) / max(1, len(tokens[0]))
    if alike is None:
        return f"{len(found):,} {what}, not {len(wanted):,}; the same as far as they go"
    return f"{what} differ from number {alike + 1:,} on; {shared:.2%} of the tokens are the same"


def tables(run: dict[str, Any]) -> str:
    """Return the tables of a run, with where they come from above."""
    versions = ", ".join(f"{name} {version}" for name, version in run["versions"].items())
    parts = [f"{run['machine']}. {versions}."]
    for case in run["cases"]:
        lines = ["| | seconds | MB beyond imports | merges against stock's |", "|---|---|---|---|"]
        for name, row in sorted(case["rows"].items(), key=lambda item: item[1]["seconds"]):
            time = f"{report.number(row['seconds'])} ±{row['spread'] * 50:.0f}%"
            lines.append(f"| {name} | {time} | {row['megabytes']:,.0f} | {row['merges']} |")
        parts += [f"### {case['title']}", case["texts"][0].upper() + case["texts"][1:] + ".", "\n".join(lines)]
        parts += [f"{name} failed: `{error}`." for name, error in case["failed"].items()]
    return "\n\n".join([*parts, "The tables do not show texts larger than memory, or what other patterns take."])


def main() -> None:
    """Measure, print, save and publish."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.training", description=__doc__)
    parser.add_argument("plan", choices=PLANS, help="how much to measure")
    parser.add_argument("--out", type=Path, default=ROOT / ".bench", help="where figures are kept")
    parser.add_argument("--trainers", help="only these rows, with semicolons between")
    parser.add_argument("--publish", action="store_true", help="write BENCHMARKS.md and benchmarks-train.json")
    options = parser.parse_args()
    names = options.trainers.split(";") if options.trainers else list(TRAINERS)
    rounds, cases = PLANS[options.plan]
    with tempfile.TemporaryDirectory() as scratch:
        done = [measure(case, rounds, names, Path(scratch)) for case in cases]
    distributions = dict.fromkeys(TRAINERS[name].distribution for name in names)
    versions = machine.versions([name for name in distributions if name != "hf-bpe"])
    run = {"machine": machine.describe(), "versions": versions, "cases": done}
    options.out.mkdir(parents=True, exist_ok=True)
    paths = [options.out / f"train-{options.plan}.json", *([ROOT / "benchmarks-train.json"] if options.publish else [])]
    for path in paths:
        path.write_text(json.dumps(run, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(tables(run))
    if options.publish:
        report.put(ROOT / "BENCHMARKS.md", "bench-train", tables(run))


if __name__ == "__main__":
    main()
