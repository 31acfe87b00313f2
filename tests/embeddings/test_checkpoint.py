"""Checkpoints on disk: what must change does, and nothing else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from embedding_models import DIMENSIONS, checkpoint, extended, numbers, old_tokenizer
from safetensors import safe_open
from safetensors.numpy import save_file

from hf_bpe import CheckpointError, HfBpeTokenizer
from hf_bpe.embeddings import plan_rows, resize_checkpoint, resize_rows


@pytest.fixture(scope="module")
def old() -> HfBpeTokenizer:
    return old_tokenizer()


@pytest.fixture(scope="module")
def new(old: HfBpeTokenizer) -> HfBpeTokenizer:
    return extended(old, ("Ġthe", "Ġcat"), ("z", "z"), ("zz", "q"))


def tensors_of(directory: Path) -> dict[str, np.ndarray[Any, Any]]:
    found = {}
    for path in sorted(directory.glob("*.safetensors")):
        with safe_open(path, framework="np") as file:
            found |= {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    return found


def bytes_of(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32])
@pytest.mark.parametrize("sharded", [False, True])
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("padding", [0, 2, 40])
def test_token_tensors_follow_and_all_others_keep_their_bits(
    dtype: Any, sharded: bool, tied: bool, padding: int, old: HfBpeTokenizer, new: HfBpeTokenizer, tmp_path: Path
) -> None:
    rows = len(old) + padding
    source = checkpoint(tmp_path / "model", old, rows=rows, tied=tied, sharded=sharded, dtype=dtype)
    before = bytes_of(source)

    report = resize_checkpoint(source, old, new, tmp_path / "out", pad_to_multiple_of=16, progress=False)

    assert bytes_of(source) == before
    was, now = tensors_of(source), tensors_of(tmp_path / "out")
    plan = plan_rows(old, new, num_old_rows=rows, pad_to_multiple_of=16)
    token_tensors = ["model.embed_tokens.weight"] + ([] if tied else ["lm_head.weight"])
    assert list(was) == list(now)
    for name, tensor in was.items():
        wanted = resize_rows(tensor, plan) if name in token_tensors else tensor
        assert now[name].dtype == tensor.dtype
        assert now[name].tobytes() == wanted.tobytes(), name
    assert report.tensors == {name: (len(plan.copied), DIMENSIONS) for name in token_tensors}
    assert report.made == 3
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert config["vocab_size"] == len(plan.copied)
    assert config["eos_token_id"] == new.eos_token_id
    assert (tmp_path / "out" / "LICENSE").read_text() == "terms\n"
    assert HfBpeTokenizer.from_pretrained(tmp_path / "out").encode("the cat zzq") == new.encode("the cat zzq")


def test_headers_and_the_index_change_in_their_total_size_alone(
    old: HfBpeTokenizer, new: HfBpeTokenizer, tmp_path: Path
) -> None:
    source = checkpoint(tmp_path / "model", old, rows=len(old), tied=False, sharded=True)
    single = checkpoint(tmp_path / "single", old, rows=len(old), tied=False, sharded=False)

    resize_checkpoint(source, old, new, tmp_path / "out", progress=False)
    resize_checkpoint(single, old, new, tmp_path / "out-single", progress=False)

    name = "model.safetensors.index.json"
    was, now = (tmp_path / folder / name for folder in ("model", "out"))
    size = sum(tensor.nbytes for tensor in tensors_of(tmp_path / "out").values())
    old_size = json.loads(was.read_text())["metadata"]["total_size"]
    assert now.read_text() == was.read_text().replace(str(old_size), str(size))
    with safe_open(tmp_path / "out-single" / "model.safetensors", framework="np") as file:
        assert file.metadata() == {"format": "pt", "made": "by a test"}


def test_special_ids_follow_a_token_that_moved_and_a_role_that_passed_on(old: HfBpeTokenizer, tmp_path: Path) -> None:
    new = extended(old)
    new.add_special_tokens({"eos_token": "<|stop|>"})
    source = checkpoint(tmp_path / "model", old, rows=len(old), tied=True, sharded=False)

    report = resize_checkpoint(source, old, new, tmp_path / "out", progress=False)

    stop = new.convert_tokens_to_ids("<|stop|>")
    assert json.loads((tmp_path / "out" / "config.json").read_text())["eos_token_id"] == stop
    assert json.loads((tmp_path / "out" / "generation_config.json").read_text()) == {"eos_token_id": [stop]}
    assert report.config["generation_config.json eos_token_id"] == ([old.eos_token_id], [stop])


def test_a_config_of_several_parts_says_the_size_of_its_text_part(
    old: HfBpeTokenizer, new: HfBpeTokenizer, tmp_path: Path
) -> None:
    source = checkpoint(tmp_path / "model", old, rows=len(old), tied=True, sharded=False)
    config = {"text_config": {"vocab_size": len(old), "eos_token_id": 3}, "vision_config": {"vocab_size": len(old)}}
    (source / "config.json").write_text(json.dumps(config))

    resize_checkpoint(source, old, new, tmp_path / "out", progress=False)

    after = json.loads((tmp_path / "out" / "config.json").read_text())
    assert after == {
        "text_config": {"vocab_size": len(new), "eos_token_id": 3},
        "vision_config": {"vocab_size": len(old)},
    }


def _index(source: Path, weight_map: object) -> None:
    (source / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))


def _cut(source: Path) -> None:
    data = (source / "model.safetensors").read_bytes()
    (source / "model.safetensors").write_bytes(data[:-10])


def _quantized(source: Path) -> None:
    save_file({"model.embed_tokens.weight": np.zeros((300, 4), np.int8)}, source / "model.safetensors")


def _unknown(source: Path) -> None:
    tensors = {"model.embed_tokens.weight": numbers(300, 4), "medusa.weight": numbers(300, 4)}
    save_file(tensors, source / "model.safetensors")


def _none(source: Path) -> None:
    save_file({"a.weight": numbers(3, 4)}, source / "model.safetensors")


def _short(source: Path) -> None:
    save_file({"wte.weight": numbers(10, 4)}, source / "model.safetensors")


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda source: (source / "model.safetensors").unlink(), "has neither model.safetensors nor"),
        (_cut, "can't be read as a safetensors file"),
        (_quantized, "model.embed_tokens.weight has type I8"),
        (_unknown, r"medusa.weight has shape \[300, 4\]"),
        (_none, "found no token embeddings"),
        (_short, "has 10 rows, but the old tokenizer has ids up to"),
        (lambda source: _index(source, {"a": "/etc/passwd"}), "weight_map names '/etc/passwd'"),
        (lambda source: _index(source, {"a": "../model.safetensors"}), r"weight_map names '../model.safetensors'"),
        (lambda source: _index(source, {"a": "..safetensors"}), r"weight_map names '..safetensors'"),
        (lambda source: _index(source, {"a": "x.safetensors"}), "'x.safetensors', which is not there"),
        (lambda source: _index(source, {"a": "model.safetensors"}), "is not where weight_map says"),
        (lambda source: _index(source, [1]), "weight_map is no object"),
        (lambda source: (source / "config.json").write_text("["), "config.json: no JSON"),
    ],
)
def test_a_checkpoint_that_is_not_right_is_refused_and_nothing_is_left(
    damage: Any, reason: str, old: HfBpeTokenizer, new: HfBpeTokenizer, tmp_path: Path
) -> None:
    source = checkpoint(tmp_path / "model", old, rows=300, tied=True, sharded=False)
    damage(source)

    with pytest.raises(CheckpointError, match=reason):
        resize_checkpoint(source, old, new, tmp_path / "out", progress=False)

    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_tensors_may_be_named(old: HfBpeTokenizer, new: HfBpeTokenizer, tmp_path: Path) -> None:
    source = checkpoint(tmp_path / "model", old, rows=300, tied=True, sharded=False)
    _unknown(source)
    names = ["model.embed_tokens.weight", "medusa.weight"]

    report = resize_checkpoint(source, old, new, tmp_path / "out", tensors=names, pad_to_multiple_of=64, progress=False)

    assert list(report.tensors) == names
    assert {tensor.shape[0] for tensor in tensors_of(tmp_path / "out").values()} == {320}
    with pytest.raises(CheckpointError, match="has no tensor 'x'"):
        resize_checkpoint(source, old, new, tmp_path / "more", tensors=["x"], progress=False)


def test_a_directory_with_something_in_it_is_not_written_to(
    old: HfBpeTokenizer, new: HfBpeTokenizer, tmp_path: Path
) -> None:
    source = checkpoint(tmp_path / "model", old, rows=300, tied=True, sharded=False)
    before = bytes_of(source)

    with pytest.raises(match="exists already"):
        resize_checkpoint(source, old, new, source, progress=False)

    assert bytes_of(source) == before


def test_killed_while_it_writes_it_leaves_the_source_whole_and_no_output(
    old: HfBpeTokenizer, new: HfBpeTokenizer, tmp_path: Path
) -> None:
    source = checkpoint(tmp_path / "model", old, rows=300, tied=True, sharded=True)
    before = bytes_of(source)
    for name, tokenizer in (("old", old), ("new", new)):
        tokenizer.save_pretrained(tmp_path / name)
    script = (
        "import sys, time\n"
        "from hf_bpe import HfBpeTokenizer\n"
        "from hf_bpe.embeddings import checkpoint\n"
        "write = checkpoint._write\n"
        "def slowly(file, path, changed):\n"
        "    write(file, path, changed)\n"
        "    print(path, flush=True)\n"
        "    time.sleep(60)\n"
        "checkpoint._write = slowly\n"
        "old, new = (HfBpeTokenizer.from_pretrained(path) for path in sys.argv[2:4])\n"
        "checkpoint.resize_checkpoint(sys.argv[1], old, new, sys.argv[4], progress=False)\n"
    )
    arguments = [str(tmp_path / name) for name in ("model", "old", "new", "out")]
    process = subprocess.Popen([sys.executable, "-c", script, *arguments], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process:
        written = process.stdout.readline()
        os.kill(process.pid, signal.SIGKILL)

    assert Path(written.strip()).is_file()
    assert process.returncode == -signal.SIGKILL
    assert bytes_of(source) == before
    assert not (tmp_path / "out").exists()
    resize_checkpoint(source, old, new, tmp_path / "out", progress=False)
    assert (tmp_path / "out" / "config.json").is_file()


def test_memory_is_needed_for_one_tensor_not_for_the_file(
    old: HfBpeTokenizer, new: HfBpeTokenizer, tmp_path: Path
) -> None:
    """A file of 400 MB, most of it in tensors that stay: what the process allocates stays far below that."""
    if not Path("/proc/self/status").exists():
        pytest.skip("reads what Linux tells of memory")
    source = checkpoint(tmp_path / "model", old, rows=len(old), tied=True, sharded=False)
    tensors = {f"model.layers.{n}.weight": np.zeros((1 << 20, 10), np.float32) for n in range(10)}
    save_file(tensors | {"model.embed_tokens.weight": numbers(len(old), 16)}, source / "model.safetensors")
    del tensors
    for name, tokenizer in (("old", old), ("new", new)):
        tokenizer.save_pretrained(tmp_path / name)
    script = (
        "import resource, sys\n"
        "from hf_bpe import HfBpeTokenizer\n"
        "from hf_bpe.embeddings import resize_checkpoint\n"
        "old, new = (HfBpeTokenizer.from_pretrained(path) for path in sys.argv[2:4])\n"
        "used = int(next(l for l in open('/proc/self/status') if l.startswith('VmData')).split()[1]) * 1024\n"
        "resource.setrlimit(resource.RLIMIT_DATA, (used + (64 << 20),) * 2)\n"
        "resize_checkpoint(sys.argv[1], old, new, sys.argv[4], progress=False)\n"
    )
    arguments = [str(tmp_path / name) for name in ("model", "old", "new", "out")]

    started = time.monotonic()
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "model.safetensors").stat().st_size > 400 << 20
    assert time.monotonic() - started < 120
