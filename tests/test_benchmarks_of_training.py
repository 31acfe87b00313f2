"""The suite that measures trainers runs, in its smallest form, and says in which way merges are stock's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from benchmarks import training
from benchmarks.trainers import TRAINERS, Order

ROOT = Path(__file__).resolve().parents[1]
INSTALLED = ("hf_bpe", "hf_bpe, files", "tokenizers", "tokenizers, files")


@pytest.fixture(scope="module")
def smallest(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], str]:
    """A run of the smallest plan with what the test extra has: its figures, and what it printed."""
    out = tmp_path_factory.mktemp("bench-train")
    result = subprocess.run(
        [sys.executable, "-m", "benchmarks.training", "smallest", "--out", str(out), "--trainers", ";".join(INSTALLED)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])},
        check=True,
        timeout=600,
        capture_output=True,
        text=True,
    )
    return json.loads((out / "train-smallest.json").read_text(encoding="utf-8")), result.stdout


def test_ours_learns_the_merges_of_stock_from_an_iterator_and_from_files(smallest: tuple[dict[str, Any], str]) -> None:
    (case,) = smallest[0]["cases"]

    assert case["failed"] == {}
    assert set(case["rows"]) == set(INSTALLED)
    for name in ("hf_bpe", "hf_bpe, files"):
        assert case["rows"][name]["merges"] == "identical (144 merges in order)"
        assert case["rows"][name]["seconds"] > 0


def test_the_table_has_a_line_for_each_trainer(smallest: tuple[dict[str, Any], str]) -> None:
    run, printed = smallest

    for name, row in run["cases"][0]["rows"].items():
        assert f"| {name} | {training.report.number(row['seconds'])} ±0% |" in printed
    assert f"tokenizers {run['versions']['tokenizers']}" in printed


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ([["61", "62"], ["6162", "63"]], "identical (2 merges in order)"),
        (["6162", "616263"], "identical (2 tokens in order)"),
        ([["61", "62"]], "1 merges, not 2; the same as far as they go"),
        ([["61", "62"], ["61", "6263"]], "merges differ from number 2 on; 100.00% of the tokens are the same"),
        (["6162", "6364"], "tokens differ from number 2 on; 50.00% of the tokens are the same"),
        ([], "0 merges, not 2; the same as far as they go"),
    ],
    ids=["pairs", "tokens", "fewer", "other pair", "other token", "none"],
)
def test_it_is_told_in_which_way_merges_are_those_of_stock(found: Any, told: str) -> None:
    assert training.compare([["61", "62"], ["6162", "63"]], found) == told


def test_documents_join_to_the_file(tmp_path: Path) -> None:
    path = tmp_path / "texts.txt"
    path.write_text("a line of text\n" * 1_000 + "and its end", encoding="utf-8")

    documents = list(Order(str(path), 300, "gpt2", "").documents())

    assert "".join(documents) == path.read_text(encoding="utf-8")
    assert len(documents) == 4


def test_every_trainer_is_compared_with_a_row_that_comes_before_it() -> None:
    names = list(TRAINERS)

    for place, name in enumerate(names):
        assert TRAINERS[name].reference in names[: place + 1]
