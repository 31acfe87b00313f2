"""The example of four vocabularies: who gets the budget."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_ratio_decides_who_gets_a_small_vocabulary_and_a_large_one_serves_both_better() -> None:
    command = [sys.executable, ROOT / "examples" / "vocabulary_budget.py"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    printed = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout

    header, *rows = [line.split() for line in printed.splitlines()]
    touch, english, chinese = (
        {(row[0], row[1]): float(row[column].rstrip("%")) for row in rows} for column in (2, 3, 4)
    )
    assert header[0] == "size"
    assert len(touch) == 4
    assert touch["400", "95%"] < 2 < 10 < touch["400", "60%"]
    for ratio in ("95%", "60%"):
        assert touch["400", ratio] < touch["1200", ratio]
        assert english["1200", ratio] < english["400", ratio]
        assert chinese["1200", ratio] < chinese["400", ratio]
