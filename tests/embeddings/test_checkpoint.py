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

from hf_bpe import CheckpointError, HfBpeTokenizer, prune
from hf_bpe.embeddings import plan_rows, resize_checkpoint, resize_rows
from hf_bpe.embeddings.safetensors_files import TensorFile


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


def _raw(source: Path, length: int, rest: bytes) -> None:
    (source / "model.safetensors").write_bytes(length.to_bytes(8, "little") + rest)


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
        (lambda source: (source / "config.json").write_text("[" * 100_000), "config.json: no JSON"),
        (lambda source: (source / "config.json").write_text("[]"), "config.json: holds no JSON object"),
        (lambda source: _raw(source, 2**40, b"{}"), "can't be read as a safetensors file: .*header too large"),
        (lambda source: _raw(source, 2, b"{}1"), "can't be read as a safetensors file"),
        (lambda source: _raw(source, 200, b"{}"), "can't be read as a safetensors file"),
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


def test_tensors_of_every_shape_and_type_keep_their_bits(
    old: HfBpeTokenizer, new: HfBpeTokenizer, tmp_path: Path
) -> None:
    """GPT-2 as the hub has it, a scalar under the name of an output head, tensors without a number, eight bits."""
    source = checkpoint(tmp_path / "model", old, rows=len(old), tied=True, sharded=False)
    tensors = {
        "wte.weight": numbers(len(old), DIMENSIONS),
        "wpe.weight": numbers(64, DIMENSIONS),
        "h.0.attn.bias": numbers(1, 1, 64, 64),
        "lm_head.bias": numbers(len(old)),
        "output.weight": np.array(3, np.float32),
        "h.0.none": np.zeros((0, 4), np.float16),
        "h.0.int8": np.arange(5, dtype=np.int8),
        "h.0.float8": np.arange(5).astype(ml_dtypes.float8_e4m3fn),
    }
    save_file(tensors, source / "model.safetensors")

    report = resize_checkpoint(source, old, new, tmp_path / "out", progress=False)

    was, now = (TensorFile.open(folder / "model.safetensors") for folder in (source, tmp_path / "out"))
    assert report.tensors == {"wte.weight": (len(new), DIMENSIONS), "lm_head.bias": (len(new),)}
    assert was.shapes["h.0.float8"].dtype == "F8_E4M3"
    for name in was.shapes.keys() - report.tensors.keys():
        assert now.shapes[name] == was.shapes[name]
        assert now.raw(name).tobytes() == was.raw(name).tobytes()


def test_embeddings_without_dimensions_stay_without(old: HfBpeTokenizer, new: HfBpeTokenizer, tmp_path: Path) -> None:
    source = checkpoint(tmp_path / "model", old, rows=len(old), tied=True, sharded=False)
    save_file({"wte.weight": np.zeros((len(old), 0), np.float32)}, source / "model.safetensors")

    resize_checkpoint(source, old, new, tmp_path / "out", progress=False)

    assert tensors_of(tmp_path / "out")["wte.weight"].shape == (len(new), 0)


def test_ids_follow_wherever_a_config_has_them(old: HfBpeTokenizer, tmp_path: Path) -> None:
    """All ids behind the dropped token move by one; numbers that are no ids, and what is odd, stay."""
    small, report = prune(old, drop=["Ġcat"])
    end = len(old) - 1
    source = checkpoint(tmp_path / "model", old, rows=len(old), tied=True, sharded=False)

    def content(stop: int, size: int) -> dict[str, Any]:
        return {
            "vocab_size": size,
            "max_length": end,
            "eos_token_id": [stop, None, True],
            "pad_token_id": None,
            "bos_token_id": -1,
            "suppress_tokens": [-1, stop],
            "begin_suppress_tokens": None,
            "forced_bos_token_id": stop,
            "forced_decoder_ids": [[1, stop], [end, None], 5],
            "bad_words_ids": [[stop, stop], [5]],
            "force_words_ids": [[[stop], [1, stop]], [stop]],
            "sequence_bias": [[[stop, stop], -1.5]],
            "lang_to_id": {"<|en|>": stop},
            "decoder": end,
            "encoder": True,
            "text_config": None,
            "thinker_config": {"text_config": {"vocab_size": size, "eos_token_id": stop}},
            "odd": "\ud83d",
        }

    for name in ("config.json", "generation_config.json"):
        (source / name).write_text(json.dumps(content(end, len(old))))

    resize_checkpoint(source, old, small, tmp_path / "out", id_map=report.id_map, progress=False)

    for name in ("config.json", "generation_config.json"):
        assert json.loads((tmp_path / "out" / name).read_text()) == content(end - 1, len(old) - 1)


def test_the_size_of_the_text_part_of_a_part_is_found(old: HfBpeTokenizer, new: HfBpeTokenizer, tmp_path: Path) -> None:
    """Of two tensors of embeddings, the one of text has as many rows as its config says."""
    source = checkpoint(tmp_path / "model", old, rows=len(old), tied=True, sharded=False)
    tensors = {"a.embed_tokens.weight": numbers(900, 4), "b.embed_tokens.weight": numbers(300, 4)}
    save_file(tensors, source / "model.safetensors")
    (source / "config.json").write_text(json.dumps({"thinker_config": {"text_config": {"vocab_size": 300}}}))

    report = resize_checkpoint(source, old, new, tmp_path / "out", progress=False)

    assert list(report.tensors) == ["b.embed_tokens.weight"]


def test_a_checkpoint_is_not_written_into(old: HfBpeTokenizer, new: HfBpeTokenizer, tmp_path: Path) -> None:
    source = checkpoint(tmp_path / "model", old, rows=len(old), tied=True, sharded=False)
    (tmp_path / "link").symlink_to(source)
    before = bytes_of(source)

    for out in (source / "new", source / "deep" / "new", tmp_path / "link" / "new", source / ".." / "model" / "new"):
        with pytest.raises(CheckpointError, match=r"is inside of .*, which is only read"):
            resize_checkpoint(source, old, new, out, progress=False)

    assert bytes_of(source) == before


def test_a_cache_of_links_gives_files(old: HfBpeTokenizer, new: HfBpeTokenizer, tmp_path: Path) -> None:
    """As the hub's cache lays it out: the files of a snapshot are links to blobs that nothing may change."""
    source = checkpoint(tmp_path / "model", old, rows=len(old), tied=False, sharded=True)
    (tmp_path / "blobs").mkdir()
    for number, path in enumerate(sorted(source.iterdir())):
        path.rename(tmp_path / "blobs" / str(number))
        path.symlink_to(Path("..", "blobs", str(number)))
        (tmp_path / "blobs" / str(number)).chmod(0o444)
    before = bytes_of(tmp_path / "blobs")

    resize_checkpoint(source, old, new, tmp_path / "out", progress=False)

    assert bytes_of(tmp_path / "blobs") == before
    assert not [path for path in (tmp_path / "out").iterdir() if path.is_symlink()]
    assert tensors_of(tmp_path / "out")["lm_head.weight"].shape == (len(new), DIMENSIONS)


@pytest.mark.parametrize("metadata", ["x", [1], 5, None, {"total_size": "12"}, {"total_size": True}])
def test_an_index_with_odd_metadata_keeps_it(
    metadata: Any, old: HfBpeTokenizer, new: HfBpeTokenizer, tmp_path: Path
) -> None:
    source = checkpoint(tmp_path / "model", old, rows=len(old), tied=False, sharded=True)
    index = source / "model.safetensors.index.json"
    index.write_text(json.dumps(json.loads(index.read_text()) | {"metadata": metadata, "more": [1]}))

    resize_checkpoint(source, old, new, tmp_path / "out", progress=False)

    assert (tmp_path / "out" / index.name).read_bytes() == index.read_bytes()


def test_a_full_disk_leaves_nothing(old: HfBpeTokenizer, new: HfBpeTokenizer, tmp_path: Path) -> None:
    source = checkpoint(tmp_path / "model", old, rows=len(old), tied=False, sharded=False)
    tensors = tensors_of(source) | {"model.large": numbers(1 << 18)}
    save_file(tensors, source / "model.safetensors")
    new.save_pretrained(tmp_path / "new")
    code = """
import resource, sys
from hf_bpe import CheckpointError, HfBpeTokenizer
from hf_bpe.embeddings import resize_checkpoint
old, new = map(HfBpeTokenizer.from_pretrained, sys.argv[1:3])
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[4]), int(sys.argv[4])))
try:
    resize_checkpoint(sys.argv[1], old, new, sys.argv[3], progress=False)
except (CheckpointError, OSError) as error:
    sys.exit(type(error).__name__)
"""
    before = bytes_of(source)

    for limit in (0, 1000, 12_000, 1 << 20):
        paths = [str(source), str(tmp_path / "new"), str(tmp_path / "out"), str(limit)]
        done = subprocess.run([sys.executable, "-c", code, *paths], capture_output=True, text=True, timeout=120)
        assert done.returncode == 1, done.stderr
        assert done.stderr.strip().splitlines()[-1] in ("CheckpointError", "OSError")

    assert bytes_of(source) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "new"]


@pytest.mark.parametrize(
    ("options", "error", "reason"),
    [
        ({"pad_to_multiple_of": 64.0}, TypeError, "pad_to_multiple_of is a whole number, got 64.0"),
        ({"pad_to_multiple_of": True}, TypeError, "pad_to_multiple_of is a whole number, got True"),
        ({"pad_to_multiple_of": 0}, ValueError, "pad_to_multiple_of must be at least 1, got 0"),
        ({"seed": 1.5}, TypeError, "seed is a whole number, got 1.5"),
        ({"seed": -1}, ValueError, "seed must be at least 0, got -1"),
        ({"init": None}, ValueError, "init is one of .*, got None"),
        ({"tensors": "lm_head.weight"}, TypeError, "tensors is a list of names"),
        ({"tensors": []}, ValueError, "tensors names no tensor"),
        ({"id_map": [1]}, TypeError, "id_map is a mapping of old ids to new ones, got list"),
        ({"id_map": {"5": 5}}, TypeError, "id_map maps ids to ids, got '5'; in JSON keys are str"),
        ({"id_map": {5: True}}, TypeError, "id_map maps ids to ids, got True"),
        ({"old": "gpt2"}, TypeError, "the old tokenizer is an HfBpeTokenizer, got str"),
        ({"new": None}, TypeError, "the new tokenizer is an HfBpeTokenizer, got NoneType"),
    ],
)
def test_arguments_of_the_wrong_kind_are_named_before_anything_is_written(
    options: dict[str, Any], error: type[Exception], reason: str, old: HfBpeTokenizer, tmp_path: Path
) -> None:
    source = checkpoint(tmp_path / "model", old, rows=len(old), tied=False, sharded=False)

    with pytest.raises(error, match=reason):
        resize_checkpoint(source, **({"old": old, "new": old, "out": tmp_path / "out"} | options))

    assert [path.name for path in tmp_path.iterdir()] == ["model"]
