"""Files of ids: the same as encoding in memory, whatever happens on the way."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from test_cli import assert_failed, run

from hf_bpe import CorpusError, HfBpeTokenizer, encode_files, fingerprint, train
from hf_bpe.documents import reading, streams
from hf_bpe.token_files.spool import Spool
from hf_bpe.token_files.targets import SUFFIXES

TEXTS = [f"text {number} é 😀 and some more\n" * (1 + number % 7) for number in range(2000)]


@pytest.fixture(scope="module")
def tokenizer() -> HfBpeTokenizer:
    return train(TEXTS, vocab_size=300, eos_token="<|end|>", progress=False)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS), encoding="utf-8")
    return path


def loaded(out: Path) -> list[list[int]]:
    if out.suffix == ".parquet":
        return [row.tolist() for row in pq.read_table(out)["input_ids"].to_numpy()]
    dtype = json.loads(out.with_suffix(".json").read_text())["dtype"]
    ids = np.load(out, mmap_mode="r") if out.suffix == ".npy" else np.fromfile(out, dtype)
    bounds = np.load(out.with_suffix(".bounds.npy"))
    assert ids.dtype == np.dtype(dtype)
    return [ids[start:end].tolist() for start, end in pairwise(bounds)]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("append_eos", [False, True])
def test_a_file_of_ids_holds_what_encoding_gives(
    suffix: str, append_eos: bool, tokenizer: HfBpeTokenizer, corpus: Path, tmp_path: Path
) -> None:
    out = tmp_path / f"tokens{suffix}"

    report = encode_files(tokenizer, [corpus], out, append_eos=append_eos, progress=False)

    eos = [tokenizer.eos_token_id] if append_eos else []
    wanted = [tokenizer.encode(text) + eos for text in TEXTS]
    assert loaded(out) == wanted
    assert (report.documents, report.ids) == (len(TEXTS), sum(map(len, wanted)))
    assert report.dtype == "uint16"
    details = json.loads(out.with_suffix(".json").read_text())
    assert (details["tokenizer"], details["documents_are"]) == (fingerprint(tokenizer), "lines")
    assert (details["documents"], details["ids"]) == (len(TEXTS), sum(map(len, wanted)))
    assert not report.resumed
    assert sorted(report.files) == sorted(path for path in tmp_path.iterdir() if path != corpus)


def test_ids_beyond_16_bits_are_kept_in_32(tokenizer: HfBpeTokenizer, corpus: Path, tmp_path: Path) -> None:
    large = HfBpeTokenizer.from_vocabulary(tokenizer.vocabulary)
    content = json.loads(large._core.to_json())
    content["added_tokens"].append(content["added_tokens"][0] | {"id": 70_000, "content": "<|far|>"})
    content["model"]["vocab"]["<|far|>"] = 70_000
    (tmp_path / "t.json").write_text(json.dumps(content))
    large = HfBpeTokenizer(tokenizer_file=str(tmp_path / "t.json"))
    (tmp_path / "far.txt").write_text("a<|far|>b")

    encode_files(large, [tmp_path / "far.txt"], tmp_path / "far.bin", progress=False)

    assert loaded(tmp_path / "far.bin") == [large.encode("a<|far|>b")]
    assert 70_000 in loaded(tmp_path / "far.bin")[0]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_no_documents_are_a_file_too(suffix: str, tokenizer: HfBpeTokenizer, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").touch()

    encode_files(tokenizer, [tmp_path / "empty.txt"], tmp_path / f"tokens{suffix}", progress=False)

    assert loaded(tmp_path / f"tokens{suffix}") == []


class Stopped(Exception):
    pass


def test_a_run_that_failed_goes_on_where_it_stopped(
    tokenizer: HfBpeTokenizer, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped after every batch in turn; each time only what is left is encoded."""
    monkeypatch.setattr(reading, "BATCH_BYTES", 20_000)
    monkeypatch.setattr(streams, "BLOCK_BYTES", 4_000)
    encoded: list[int] = []
    out = tmp_path / "tokens.bin"
    encode_to_numpy = HfBpeTokenizer.encode_to_numpy

    def stops_after_one(self: HfBpeTokenizer, texts: list[str], **options: Any) -> Any:
        if len(encoded) and encoded[-1] < 0:
            encoded[-1] = 0
            raise Stopped
        encoded.extend([len(texts), -1])
        return encode_to_numpy(self, texts, **options)

    monkeypatch.setattr(HfBpeTokenizer, "encode_to_numpy", stops_after_one)
    runs = 0
    while not out.exists():
        runs += 1
        try:
            report = encode_files(tokenizer, [corpus], out, progress=False)
        except Stopped:
            assert not out.exists()

    assert runs > 1
    assert sum(count for count in encoded if count > 0) == len(TEXTS)
    assert report.resumed
    assert loaded(out) == [encode_to_numpy(tokenizer, [text])[0].tolist() for text in TEXTS]


def test_a_run_that_was_killed_makes_the_same_file_when_it_goes_on(tokenizer: HfBpeTokenizer, tmp_path: Path) -> None:
    tokenizer.save_pretrained(tmp_path / "tokenizer")
    lines = [f"{number} and some words of no meaning at all\n" for number in range(200_000)]
    (tmp_path / "corpus.txt").write_text("".join(lines))
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from hf_bpe import HfBpeTokenizer, encode_files\n"
        "import time\n"
        "from hf_bpe.documents import reading\n"
        "from hf_bpe.token_files.spool import Spool\n"
        "reading.BATCH_BYTES = 100_000\n"
        "append = Spool.append\n"
        "def slowly(*arguments):\n"
        "    append(*arguments)\n"
        "    time.sleep(0.03)\n"
        "Spool.append = slowly\n"
        "folder = Path(sys.argv[1])\n"
        "tokenizer = HfBpeTokenizer.from_pretrained(folder / 'tokenizer')\n"
        "print('begun', flush=True)\n"
        "out = folder / 'tokens.bin'\n"
        "encode_files(tokenizer, [folder / 'corpus.txt'], out, checkpoint_seconds=0, progress=False)\n"
    )
    draw = random.Random(5)
    killed = 0
    for _ in range(3):
        process = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE)
        with process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(draw.uniform(0.05, 0.4))
            os.kill(process.pid, signal.SIGKILL)
        killed += not (tmp_path / "tokens.bin").exists()
    assert killed > 0

    encode_files(tokenizer, [tmp_path / "corpus.txt"], tmp_path / "tokens.bin", progress=False)

    ids, bounds = tokenizer.encode_to_numpy(lines)
    assert np.array_equal(np.fromfile(tmp_path / "tokens.bin", np.uint16), ids)
    assert np.array_equal(np.load(tmp_path / "tokens.bounds.npy"), bounds)
    assert not (tmp_path / ".tokens.bin.encoding").exists()


def test_a_run_that_was_killed_while_it_cleans_up_can_be_begun_again(
    tokenizer: HfBpeTokenizer, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(folder: Path) -> None:
        (folder / "ids").unlink()
        raise Stopped

    out = tmp_path / "tokens.bin"
    with monkeypatch.context() as patch:
        patch.setattr("hf_bpe.token_files.spool.shutil.rmtree", killed)
        with pytest.raises(Stopped):
            encode_files(tokenizer, [corpus], out, progress=False)
    assert loaded(out) == [tokenizer.encode(text) for text in TEXTS]

    encode_files(tokenizer, [corpus], out, progress=False)

    assert loaded(out) == [tokenizer.encode(text) for text in TEXTS]
    assert not (tmp_path / ".tokens.bin.encoding").exists()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_run_that_was_killed_when_all_was_written_ends_at_the_next_call(
    suffix: str, tokenizer: HfBpeTokenizer, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*arguments: object) -> None:
        raise Stopped

    out = tmp_path / f"tokens{suffix}"
    with monkeypatch.context() as patch:
        patch.setattr(Spool, "remove", killed)
        with pytest.raises(Stopped):
            encode_files(tokenizer, [corpus], out, progress=False)

    assert encode_files(tokenizer, [corpus], out, progress=False).resumed

    assert loaded(out) == [tokenizer.encode(text) for text in TEXTS]
    assert not (tmp_path / f".tokens{suffix}.encoding").exists()


def test_a_run_with_other_settings_is_not_gone_on_with(
    tokenizer: HfBpeTokenizer, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "tokens.bin"
    corpus.write_text(corpus.read_text() + "no json")
    with pytest.raises(CorpusError, match=r"corpus.jsonl, line 2,001: is no JSON"):
        encode_files(tokenizer, [corpus], out, progress=False)

    with pytest.raises(CorpusError, match="was begun with append_eos=False, and is to be gone on with append_eos=True"):
        encode_files(tokenizer, [corpus], out, append_eos=True, progress=False)
    report = encode_files(tokenizer, [corpus], out, append_eos=True, skip_bad_rows=True, restart=True, progress=False)

    assert report.bad_rows == 1
    assert "line 2,001: is no JSON" in str(report)
    assert len(loaded(out)) == len(TEXTS)


def test_a_file_whose_name_is_no_utf8_is_encoded(tokenizer: HfBpeTokenizer, corpus: Path, tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"\xff.jsonl")
    path.write_bytes(corpus.read_bytes() + b"no JSON")
    out = tmp_path / "tokens.bin"
    with pytest.raises(CorpusError, match="line 2,001: is no JSON"):
        encode_files(tokenizer, [path], out, progress=False)

    report = encode_files(tokenizer, [path], out, skip_bad_rows=True, restart=True, progress=False)

    assert report.first_bad_rows[0].startswith(f"{path}, line 2,001: is no JSON")
    assert len(loaded(out)) == len(TEXTS)
    assert json.loads(out.with_suffix(".json").read_bytes())["files"][0][0] == str(path)


@pytest.mark.parametrize("damage", [b"", b"{", b'{"version": 9}', b'{"version": 1, "settings": 5}'])
def test_a_damaged_checkpoint_is_named(damage: bytes, tokenizer: HfBpeTokenizer, corpus: Path, tmp_path: Path) -> None:
    folder = tmp_path / ".tokens.bin.encoding"
    folder.mkdir()
    (folder / "checkpoint.json").write_bytes(damage)

    with pytest.raises(CorpusError, match=r"checkpoint.json is damaged .*restart"):
        encode_files(tokenizer, [corpus], tmp_path / "tokens.bin", progress=False)

    assert encode_files(tokenizer, [corpus], tmp_path / "tokens.bin", restart=True, progress=False).documents == 2000


def test_two_processes_do_not_write_to_one_file(tokenizer: HfBpeTokenizer, corpus: Path, tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    folder = tmp_path / ".tokens.bin.encoding"
    folder.mkdir()
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(CorpusError, match="another process is encoding to"):
            encode_files(tokenizer, [corpus], tmp_path / "tokens.bin", progress=False)


def test_wrong_arguments_are_named(tokenizer: HfBpeTokenizer, corpus: Path, tmp_path: Path) -> None:
    no_eos = train(TEXTS[:50], vocab_size=270, progress=False)

    with pytest.raises(CorpusError, match=r"tokens.txt must end in .bin, .npy or .parquet"):
        encode_files(tokenizer, [corpus], tmp_path / "tokens.txt")
    with pytest.raises(CorpusError, match="is no directory"):
        encode_files(tokenizer, [corpus], tmp_path / "nowhere" / "tokens.bin")
    with pytest.raises(TypeError, match=r"encode_files\(\) takes an HfBpeTokenizer first, got list"):
        encode_files([corpus], tokenizer, tmp_path / "tokens.bin")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="append_eos needs a tokenizer with an eos_token"):
        encode_files(no_eos, [corpus], tmp_path / "tokens.bin", append_eos=True)
    with pytest.raises(ValueError, match="checkpoint_seconds must not be negative"):
        encode_files(tokenizer, [corpus], tmp_path / "tokens.bin", checkpoint_seconds=-1)


def test_files_are_encoded_by_command(tokenizer: HfBpeTokenizer, corpus: Path, tmp_path: Path) -> None:
    tokenizer.save_pretrained(tmp_path / "t")

    done = run("encode", tmp_path / "t", corpus, "--out", tmp_path / "tokens.npy", "--append-eos")

    assert done.returncode == 0, done.stderr
    assert b"2,000 documents, uint16" in done.stdout
    assert loaded(tmp_path / "tokens.npy") == [[*tokenizer.encode(text), tokenizer.eos_token_id] for text in TEXTS]
    assert_failed(run("encode", tmp_path / "t", "--out", tmp_path / "a.bin"), 2, "--out needs FILES")
    assert_failed(run("encode", tmp_path / "t", corpus, "--out", tmp_path / "a.bin", "--json"), 2, "doesn't go with")
    assert_failed(run("encode", tmp_path / "t", "a", "b"), 2, "TEXT is one argument")
