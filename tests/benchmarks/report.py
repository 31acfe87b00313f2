"""Tables of figures as Markdown, and their places in README.md and BENCHMARKS.md.

A figure carries its verdict: ✓ its ids (or texts) are those of the reference, ✗ they are not, and then it is no
comparison; nothing where there was nothing to compare. A dash: the library has no such operation, or failed at it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.measuring import DIFFERENT, IDENTICAL, Figure
from benchmarks.plans import ALL_GROUPS

MARKS = {IDENTICAL: " ✓", DIFFERENT: " ✗"}
HIGHER_IS_BETTER = {"MB/s"}

TITLES = {
    "encoding": (
        "Encoding",
        "MB/s. It does not show texts that are mostly repeated, or caches that other work evicts.",
    ),
    "short": ("Short strings", "µs a call. A loop over many strings: it does not show the first call of a process."),
    "classes": (
        "Through transformers' call",
        "µs a text, with attention masks; gigatoken's is a look-alike of its own. It does not show padding or tensors.",
    ),
    "decoding": ("Decoding", "MB/s of text, from lists of ids. It does not show streams or skipped special tokens."),
    "loading": (
        "Loading",
        "Seconds and resident MB until a new process has its first ids, without imports; gpt2-added: with 50,000 added "
        "tokens. It does not show what grows later.",
    ),
    "odd": ("Odd inputs", "ns a character of one long text. It does not show inputs that nobody has thought of."),
    "threads": (
        "Threads",
        "MB/s, flat arrays, warm; one thread by CPU time, two by the wall. Shared machines blur it.",
    ),
    "offsets": ("Offsets", "MB/s. `offsets`: ids and offsets. It does not show what it takes to look at them."),
    "custom": ("A pattern that no library knows", "MB/s. GPT-2's with digits in pairs: one pattern, not all."),
}
"""Of each group: its title; its unit, and one line on what its table doesn't show."""


def number(value: float) -> str:
    """Return a value with three digits that count."""
    for limit, digits in ((100, 0), (10, 1), (1, 2)):
        if value >= limit:
            return f"{value:,.{digits}f}"
    return f"{value:.3f}"


def against_the_best(ours: Figure, others: Iterable[Figure]) -> str:
    """Return how many times as good as the best exact peer ours is."""
    values = [figure.value for figure in others if figure.verdict != DIFFERENT and figure.value]
    if not values or not ours.value or ours.verdict == DIFFERENT:
        return ""
    return f"{ours.value / max(values) if ours.unit in HIGHER_IS_BETTER else min(values) / ours.value:.2f}"


def table(figures: Sequence[Figure], peers: Sequence[str], *, spread: bool) -> str:
    """Return a table with a row for each of what was measured, and a column for each peer that has a figure."""
    found: dict[tuple[str, ...], dict[str, Figure]] = {}
    for figure in figures:
        found.setdefault(figure.row, {})[figure.peer] = figure
    shown = [peer for peer in peers if any(peer in cells for cells in found.values())]
    lines = [f"| | {' | '.join(shown)} | × best |", "|---" * (len(shown) + 2) + "|"]
    for row, cells in found.items():
        texts = [_cell(cells.get(peer), spread=spread) for peer in shown]
        ours = cells.get("hf_bpe")
        ratio = against_the_best(ours, (cell for peer, cell in cells.items() if peer != "hf_bpe")) if ours else ""
        lines.append(f"| {', '.join(row)} | {' | '.join(texts)} | {ratio} |")
    return "\n".join(lines)


def _cell(figure: Figure | None, *, spread: bool) -> str:
    if figure is None:
        return "–"
    steady = f" ±{figure.spread * 50:.0f}%" if spread else ""
    return f"{number(figure.value)}{MARKS.get(figure.verdict, '')}{steady}"


def document(run: dict[str, Any], figures: Sequence[Figure]) -> str:
    """Return every table, with where they come from above and what failed below."""
    parts = [
        f"{run['machine']}. {_versions(run)}. {_made_by(run)}.",
        f"Texts, made as `tests/benchmarks/corpora.py` says: {run['texts']}.",
    ]
    for group, (title, line) in TITLES.items():
        chosen = [figure for figure in figures if figure.group == group]
        if chosen:
            parts += [f"### {title}", line, table(chosen, run["peers"], spread=True)]
    if run["notes"]:
        parts += ["### What could not be measured", "\n".join(f"- {note}" for note in run["notes"])]
    return "\n\n".join(parts)


def _made_by(run: dict[str, Any]) -> str:
    """Return which command made the figures, and what it left out."""
    lacking = [TITLES[name][0].lower() for name in ALL_GROUPS if name not in run["groups"]]
    plan, options = run["plan"], run["options"]
    made = "`make bench`" if plan == "full" else f"`make bench-{plan}`"
    if options:
        made = f"`python -m benchmarks {plan} {options}`"
    return f"Made by {made}{', which leaves out: ' if lacking else ''}{', '.join(lacking)}"


def _versions(run: dict[str, Any]) -> str:
    return ", ".join(f"{name} {version}" for name, version in run["versions"].items())


def readme(run: dict[str, Any], figures: Sequence[Figure]) -> str:
    """Return the README's table: the first vocabulary, the texts that anyone can have, ours beside the peers'."""
    chosen = [_renamed(figure) for figure in figures if _belongs_in_the_readme(figure, run)]
    head = (
        f"{run['vocabularies'][0]}, one thread, medians; ✓: the ids are those of tiktoken, compared before the clock "
        "starts. × best: against the fastest exact peer."
    )
    foot = (
        f"{run['machine']}; {_versions(run)}. The table does not show other vocabularies, two threads or odd inputs.\n"
        f"{_made_by(run)}: [BENCHMARKS.md](BENCHMARKS.md)."
    )
    return f"{head}\n\n{table(chosen, run['peers'], spread=False)}\n\n{foot}"


def _belongs_in_the_readme(figure: Figure, run: dict[str, Any]) -> bool:
    row = figure.row
    if any(part.endswith("(handed)") for part in row):
        return False
    if figure.group == "encoding":
        return row[0] == run["vocabularies"][0] and row[2] == "2 KB" and (row[3] == "flat" or row[1] == "english")
    if figure.group == "loading":
        return row[0] in ("llama3", run["vocabularies"][0]) and row[2] == "time"
    return figure.group in ("short", "classes") or (figure.group == "decoding" and row[0] == "english")


def _renamed(figure: Figure) -> Figure:
    """Say in the row what the heading of a table of its own would say."""
    row = figure.row[1:] if figure.group == "encoding" else figure.row
    units = {"loading": "load", "decoding": "", "short": "", "classes": ""}
    row = tuple(part for part in (units.get(figure.group, ""), *row) if part and part != "time")
    return Figure(figure.group, (*row, figure.unit.replace("us", "µs")), *_rest(figure))


def _rest(figure: Figure) -> tuple[Any, ...]:
    return figure.peer, figure.value, figure.unit, figure.spread, figure.verdict


def put(path: Path, name: str, text: str) -> None:
    """Put text between the markers `<!-- name -->` and `<!-- /name -->` of a file, in place of what stood there.

    Raises:
        ValueError: The file has no such markers.
    """
    old = path.read_text(encoding="utf-8")
    new, count = re.subn(
        rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", lambda m: f"{m[1]}\n{text}\n\n{m[2]}", old, flags=re.S
    )
    if count != 1:
        raise ValueError(f"{path.name} has {count} places between <!-- {name} --> and <!-- /{name} -->, not 1")
    path.write_text(new, encoding="utf-8")
