"""`hf-bpe extend` and `hf-bpe add-words`: what they write, print and refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tokenizers
from test_cli import TEXT, run
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
