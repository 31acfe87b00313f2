"""`hf-bpe extend` and `hf-bpe add-words`: what they write, print and refuse."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
import tokenizers
from test_cli import COMMAND, ENVIRONMENT, TEXT, run
from transformers import AutoTokenizer, PreTrainedTokenizerFast

import hf_bpe


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a small tokenizer."""
    folder = tmp_path_factory.mktemp("old") / "tokenizer"
    trained = hf_bpe.train([TEXT], vocab_size=265, eos_token="<|end|>", progress=False)
    trained.save_pretrained(folder)
    return folder


def test_extending_writes_a_directory_that_stock_loads(old: Path, tmp_path: Path) -> None:
    result = run("extend", old, "-", "--num-new-tokens", "4", "--out", tmp_path / "new", stdin=b"zebra okapi\n" * 9)

    assert result.returncode == 0, result.stderr
    assert result.stdout.decode().startswith("265 -> 269 ids: 4 tokens added\nsource: ")
    assert b"Merging" in result.stderr
    ours = AutoTokenizer.from_pretrained(tmp_path / "new")
    stock = PreTrainedTokenizerFast.from_pretrained(tmp_path / "new")
    assert (len(ours), ours.eos_token) == (269, "<|end|>")
    assert ours.encode("a zebra<|end|>") == stock.encode("a zebra<|end|>")


def test_reports_are_written_and_printed_as_json(old: Path, tmp_path: Path) -> None:
    (tmp_path / "english.txt").write_text("the cat\n", encoding="utf-8")
    reports = ("--report", tmp_path / "a.html", "--report", tmp_path / "a.json")
    more = ("--report-on", f"English={tmp_path / 'english.txt'}", "--report-on", tmp_path / "english.txt", "--json")

    result = run(
        "extend",
        old,
        "-",
        "--vocab-size",
        "267",
        "--out",
        tmp_path / "new",
        "--no-progress",
        *reports,
        *more,
        stdin=b"zebra\n" * 9,
    )

    assert result.returncode == 0, result.stderr
    told = json.loads(result.stdout)
    assert told == json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert list(told["texts"]) == ["English", "english"]
    assert (tmp_path / "a.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_padding_rows_are_filled(old: Path, tmp_path: Path) -> None:
    result = run("extend", old, "-", "--fill-padding-rows", "268", "--out", tmp_path / "new", stdin=b"zebra\n" * 9)

    assert result.returncode == 0, result.stderr
    assert len(AutoTokenizer.from_pretrained(tmp_path / "new")) == 268


def test_words_from_arguments_and_files_become_tokens(old: Path, tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text(" okapi\n\nquagga\r\n", encoding="utf-8")

    result = run("add-words", old, "区块链", "--words-file", tmp_path / "words.txt", "--out", tmp_path / "new")

    assert result.returncode == 0, result.stderr
    stock = tokenizers.Tokenizer.from_file(str(tmp_path / "new" / "tokenizer.json"))
    assert [len(stock.encode(word).ids) for word in ("区块链", " okapi", "quagga")] == [1, 1, 1]


@pytest.mark.parametrize(
    "arguments",
    [("a", "--words-file", "bad.txt"), ("a", "--report-on", "bad.txt")],
    ids=["words", "texts"],
)
def test_a_bad_line_of_a_list_is_an_error_that_says_what_helps(
    arguments: tuple[str, ...], old: Path, tmp_path: Path
) -> None:
    (tmp_path / "bad.txt").write_bytes(b"okapi\n\xff\n")
    given = [tmp_path / name if name == "bad.txt" else name for name in arguments]

    result = run("add-words", old, *given, "--out", tmp_path / "new")

    assert result.returncode == 1
    assert result.stderr.decode().splitlines() == [
        f"hf-bpe: error: {tmp_path / 'bad.txt'}, line 2: isn't UTF-8 at byte 0: invalid start byte (every row is "
        "needed here: mend this one, or take it out)"
    ]
    assert not (tmp_path / "new").exists()


def test_a_refused_word_leaves_nothing_unless_it_may_be_skipped(old: Path, tmp_path: Path) -> None:
    arguments = ("add-words", old, "def __init__", " okapi", "--out", tmp_path / "new")

    refused, skipped = run(*arguments), run(*arguments, "--skip-refused", "--leading-space", "add")

    assert refused.returncode == 1
    assert b"hf-bpe: error: a word can't become one token" in refused.stderr
    assert b"'def' | ' __' | 'init' | '__'" in refused.stderr
    assert skipped.returncode == 0, skipped.stderr
    assert b"refused: ' def __init__': the split pattern cuts it" in skipped.stdout
    assert len(AutoTokenizer.from_pretrained(tmp_path / "new").encode(" okapi")) == 1


def test_wrong_usage_is_told(old: Path, tmp_path: Path) -> None:
    out = ("--out", tmp_path / "new")
    cases = {
        ("extend", old, "-", *out): "give --num-new-tokens, --vocab-size or --fill-padding-rows",
        ("extend", old, "no-file", "--num-new-tokens", "1", *out): "'no-file' is no file",
        ("extend", old, "-", "--num-new-tokens", "1", "--report-on", "x=no-file", *out): "'no-file' is no file",
        ("add-words", old, *out): "give words, or a --words-file",
        ("add-words", old, "a", "--leading-space", "no", *out): "--leading-space is one of as_written, add, both",
    }
    for arguments, message in cases.items():
        result = run(*arguments, stdin=b"a\n")

        assert result.returncode == 2, result.stderr
        assert message in " ".join(result.stderr.decode().split())
    assert not (tmp_path / "new").exists()


def test_too_small_a_size_is_one_line(old: Path, tmp_path: Path) -> None:
    result = run("extend", old, "-", "--vocab-size", "9", "--out", tmp_path / "new", stdin=b"a\n")

    assert result.returncode == 1
    assert result.stderr.decode().splitlines()[-1] == (
        "hf-bpe: error: vocab_size=9 is less than the 265 ids that are there, 0 to 264"
    )
    assert not (tmp_path / "new").exists()


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*"))


@pytest.mark.parametrize("command", ["extend", "add-words", "prune"])
@pytest.mark.parametrize("place", ["missing/report.json", "folder", "folder/new/../../missing/x.txt"])
def test_a_report_that_cannot_be_written_leaves_nothing(command: str, place: str, old: Path, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    given = {"extend": ("-", "--num-new-tokens", "1"), "add-words": ("zebra",), "prune": ("-", "--vocab-size", "260")}

    result = run(
        command, old, *given[command], "--out", tmp_path / "new", "--report", tmp_path / place, stdin=b"the cat\n" * 9
    )

    assert result.returncode in (1, 2)
    assert "directory" in " ".join(result.stderr.decode().split())
    assert _names(tmp_path) == ["folder"]


def test_an_id_map_that_cannot_be_written_leaves_nothing(old: Path, tmp_path: Path) -> None:
    ids = ("--id-map", tmp_path / "missing" / "ids.json", "--report", tmp_path / "report.html")

    result = run("prune", old, "-", "--vocab-size", "260", "--out", tmp_path / "new", *ids, stdin=b"the cat\n")

    assert result.returncode == 1
    assert b"missing is no directory" in result.stderr
    assert _names(tmp_path) == []


@pytest.mark.parametrize(
    "arguments",
    [("extend", "-", "--vocab-size", "9"), ("add-words", "def __init__"), ("prune", "-", "--vocab-size", "9")],
)
def test_a_command_that_fails_leaves_older_reports_as_they_were(
    arguments: tuple[str, ...], old: Path, tmp_path: Path
) -> None:
    (tmp_path / "report.json").write_text("older")
    command, *rest = arguments

    result = run(
        command, old, *rest, "--out", tmp_path / "new", "--report", tmp_path / "report.json", stdin=b"the cat\n"
    )

    assert result.returncode == 1
    assert _names(tmp_path) == ["report.json"]
    assert (tmp_path / "report.json").read_text() == "older"


def test_reports_and_ids_may_lie_in_the_new_directory_behind_a_link_and_in_a_pipe(old: Path, tmp_path: Path) -> None:
    (tmp_path / "real.txt").write_text("older")
    (tmp_path / "link.txt").symlink_to("real.txt")
    out = tmp_path / "deep" / "new"
    places = ("--report", out / "more" / "a.html", "--id-map", out / "ids.json", "--report", tmp_path / "link.txt")

    result = run(
        "prune", old, "-", "--vocab-size", "260", "--out", out, *places, "--report", "/dev/stdout", stdin=b"the cat\n"
    )

    assert result.returncode == 0, result.stderr
    assert (out / "more" / "a.html").read_text().startswith("<!DOCTYPE html>")
    assert len(json.loads((out / "ids.json").read_text())) == len(AutoTokenizer.from_pretrained(out)) == 260
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() in result.stdout.decode()
    assert not [name for name in _names(tmp_path) if name.startswith(".")]


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_leaves_nothing(old: Path, tmp_path: Path) -> None:
    arguments = ["extend", str(old), "-", "--num-new-tokens", "9", "--out", "new", "--report", "report.html"]
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=tmp_path,
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stdin is not None
    process.stdin.write(b"the cat\n" * 9)
    process.stdin.flush()
    deadline = time.monotonic() + 60
    while not _names(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert _names(tmp_path)
    time.sleep(0.5)

    process.send_signal(signal.SIGINT)
    process.stdin.close()

    assert process.wait(60) == 130
    assert process.stderr is not None
    assert b"interrupted" in process.stderr.read()
    assert _names(tmp_path) == []
