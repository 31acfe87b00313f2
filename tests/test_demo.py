"""`make demo`, with a smaller vocabulary."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from transformers import PreTrainedTokenizerFast

ROOT = Path(__file__).resolve().parents[1]


def test_the_demonstration_trains_on_the_standard_library_and_shows_what_came_out(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, ROOT / "examples" / "demo.py", "--vocab-size", "2000", "--out", tmp_path / "demo"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )

    rows = {line[:10].strip(): line[10:].split() for line in result.stdout.splitlines()}
    for name in ("Llama 3", "GPT-2"):
        vocab_size, _, bytes_per_token = rows[name]
        assert vocab_size == "2,000"
        assert 2 < float(bytes_per_token) < 5
    assert "The two vocabularies share" in result.stdout
    assert "def|" in result.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"demo"}
    for pattern in ("llama3", "gpt2"):
        assert len(PreTrainedTokenizerFast.from_pretrained(tmp_path / "demo" / pattern)) == 2000
