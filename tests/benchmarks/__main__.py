"""`python -m benchmarks PLAN --out DIR`: measures, prints the tables, and writes them where they belong.

`--publish` puts them into README.md and BENCHMARKS.md as well. `python -m benchmarks tables --out DIR --publish` does
that with the figures of an earlier run.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import machine, report, vocabs
from benchmarks.classes import CLASSES
from benchmarks.groups import GROUPS
from benchmarks.measuring import Bench, Figure
from benchmarks.peers import PEERS
from benchmarks.plans import PLANS, Plan

ROOT = Path(__file__).resolve().parents[2]


def measure(plan: Plan, cache: Path) -> tuple[dict[str, Any], list[Figure]]:
    """Run the groups of a plan, and return what was measured with what, and the figures."""
    wanted = dict.fromkeys(plan.vocabularies)
    wanted |= dict.fromkeys(plan.loaded if "loading" in plan.groups else ())
    wanted |= dict.fromkeys(["gpt2-digits"] if "custom" in plan.groups else [])
    folders = {name: folder for name in wanted if (folder := vocabs.prepare(name, cache)) is not None}
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(plan, folders, Path(scratch), say)
        for name in wanted.keys() - folders.keys():
            bench.note(f"{name}: the package with this vocabulary isn't installed")
        for name in plan.groups:
            GROUPS[name](bench)
    return describe(plan, bench), bench.figures


def describe(plan: Plan, bench: Bench) -> dict[str, Any]:
    """Return what figures were taken with."""
    distributions = [PEERS[name].distribution for name in plan.peers]
    distributions += [kind.distribution for kind in CLASSES.values()]
    names = list(dict.fromkeys(name for name in distributions if name != "hf-bpe"))
    sizes = ", ".join(f"{name} {size / 1e6:.2g} MB" for name, size in bench.texts.items())
    return {
        "groups": list(bench.plan.groups),
        "machine": machine.describe(),
        "versions": machine.versions(names),
        "texts": sizes,
        "peers": list(plan.peers),
        "vocabularies": list(plan.vocabularies),
        "notes": bench.notes,
    }


def say(text: str) -> None:
    """Tell what is being measured."""
    print(f"{time.strftime('%H:%M:%S')}  {text}", file=sys.stderr, flush=True)


def save(run: dict[str, Any], figures: list[Figure], path: Path) -> None:
    """Write a run as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = run | {"figures": [dataclasses.asdict(figure) for figure in figures]}
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read(path: Path) -> tuple[dict[str, Any], list[Figure]]:
    """Return a run that `save` wrote."""
    run = json.loads(path.read_text(encoding="utf-8"))
    return run, [Figure(**figure | {"row": tuple(figure["row"])}) for figure in run.pop("figures")]


def with_kept(run: dict[str, Any], figures: list[Figure], path: Path) -> tuple[dict[str, Any], list[Figure]]:
    """Return a run with the figures of an earlier one for groups that it has none of, if that was of this machine.

    Raises:
        ValueError: The earlier run was of another machine or day, or of other versions.
    """
    old, earlier = read(path)
    for key in ("machine", "versions", "peers"):
        if old[key] != run[key]:
            raise ValueError(f"{path.name} can't be added to: its {key} is {old[key]!r}, now it is {run[key]!r}")
    groups = {figure.group for figure in figures}
    run["groups"] = list(dict.fromkeys(old["groups"] + run["groups"]))
    run |= {key: old[key] for key in ("texts", "vocabularies")} | {
        "notes": list(dict.fromkeys(old["notes"] + run["notes"]))
    }
    return run, [*(figure for figure in earlier if figure.group not in groups), *figures]


def chosen_plan(options: argparse.Namespace) -> Plan:
    """Return the plan that the options ask for."""
    names = {key: tuple(value.split(",")) for key in ("groups", "vocabularies") if (value := getattr(options, key))}
    numbers = {key: value for key in ("megabytes", "rounds") if (value := getattr(options, key)) is not None}
    return dataclasses.replace(PLANS[options.plan], **names, **numbers)


def narrowed(options: argparse.Namespace) -> str:
    """Return the options by which less than the plan is measured, as they are written in a command."""
    given = {key: getattr(options, key) for key in ("groups", "vocabularies", "megabytes", "rounds")}
    return " ".join(f"--{key} {value}" for key, value in given.items() if value is not None)


def main() -> None:
    """Measure or read, print, and publish."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("plan", choices=[*PLANS, "tables"], help="how much to measure, or the tables of an earlier run")
    parser.add_argument("--out", type=Path, default=ROOT / ".bench", help="where vocabularies and figures are kept")
    parser.add_argument("--groups", help="only these groups, with commas between")
    parser.add_argument("--vocabularies", help="only these vocabularies, with commas between")
    parser.add_argument("--megabytes", type=float, help="of each kind of text, at most; for a first look at the tables")
    parser.add_argument("--rounds", type=int, help="how often each figure is taken")
    parser.add_argument("--keep", action="store_true", help="keep the last run's figures of groups not measured now")
    parser.add_argument("--publish", action="store_true", help="write README.md, BENCHMARKS.md and benchmarks.json")
    options = parser.parse_args()
    if options.plan == "tables":
        run, figures = read(options.out / "full.json")
    else:
        path = options.out / f"{options.plan}.json"
        run, figures = measure(chosen_plan(options), options.out / "vocabularies")
        run |= {"plan": options.plan, "options": narrowed(options)}
        if options.keep:
            run, figures = with_kept(run, figures, path)
        save(run, figures, path)
    print(report.document(run, figures))
    if options.publish:
        report.put(ROOT / "README.md", "bench", report.readme(run, figures))
        report.put(ROOT / "BENCHMARKS.md", "bench", report.document(run, figures))
        save(run, figures, ROOT / "benchmarks.json")


if __name__ == "__main__":
    main()
