"""`hf-bpe resize`, as a process."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from embedding_models import checkpoint, extended, old_tokenizer
from safetensors.numpy import load_file
from test_cli import assert_failed, run


def test_a_checkpoint_is_resized_by_command(tmp_path: Path) -> None:
    old = old_tokenizer()
    checkpoint(tmp_path / "model", old, rows=len(old), tied=False, sharded=False, dtype=np.float32)
    extended(old, ("z", "z")).save_pretrained(tmp_path / "new")
    paths = (tmp_path / "model", tmp_path / "model", tmp_path / "new")

    shown = run("resize", *paths, tmp_path / "out", "--pad-to-multiple-of", "64")
    told = run("resize", *paths, tmp_path / "zeros", "--init", "zeros", "--json")

    assert shown.returncode == 0, shown.stderr
    assert b"280 -> 320 rows: 280 kept, 0 moved, 1 made for new tokens, 39 of padding" in shown.stdout
    assert json.loads(told.stdout)["new_rows"] == 281
    rows = load_file(tmp_path / "zeros" / "model.safetensors")["lm_head.weight"]
    assert not rows[280].any()
    assert_failed(run("resize", *paths, tmp_path / "out"), 1, "exists already")
    assert_failed(run("resize", *paths, tmp_path / "more", "--init", "median"), 1, "init is one of mean_of_parts")
    (tmp_path / "map.json").write_text("[1]")
    failed = run("resize", *paths, tmp_path / "more", "--id-map", tmp_path / "map.json")
    assert_failed(failed, 1, "map.json: holds no object of ids")
