"""The example of four vocabularies: who gets the budget."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_a_small_vocabulary_goes_to_the_larger_language_and_a_large_one_to_both() -> None:
    printed = subprocess.run(
        [sys.executable, ROOT / "examples" / "vocabulary_budget.py"], check=True, capture_output=True, text=True
    ).stdout

    rows = [line.split() for line in printed.splitlines()[1:]]
    shares = {(row[0], row[1]): float(row[2].rstrip("%")) for row in rows}
    small, large = [[shares[size, ratio] for ratio in ("95%", "60%")] for size in ("400", "1200")]
    assert len(rows) == 4
    assert small[0] < small[1], "at 400 the ratio decides"
    assert abs(large[0] - large[1]) < abs(small[0] - small[1]), "at 1,200 it matters less"
