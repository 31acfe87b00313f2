"""Bad rows of a corpus that a vocabulary learns from, or is pruned or retrained by, are those of training."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import hf_bpe
from hf_bpe import CorpusError, HfBpeTokenizer, extension
from hf_bpe.cli import app

GOOD = ["low lower lowest", "new newer newest", "wide wider widest"] * 40


def lines(texts: list[str]) -> bytes:
    return b"".join(json.dumps({"text": text}).encode() + b"\n" for text in texts)


@pytest.fixture(scope="module")
def old() -> HfBpeTokenizer:
    return hf_bpe.train(["low lower wide wider"] * 9, vocab_size=262, split_pattern="gpt2", progress=False)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A file with two bad rows among 120 good ones, and one that is null."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines(GOOD[:50]) + b"one\n" + lines(GOOD[50:]) + b'{"text": null}\n{"content": 2}\n')
    return path


def told_of(path: Path | str) -> tuple[str, ...]:
    return (
        f"{path}, line 51: is no JSON: Expecting value: line 1 column 1 (char 0)",
        f"{path}, line 123: has no 'text'; it has 'content'",
    )


def extend(old: HfBpeTokenizer, source: Any = None, **options: Any) -> tuple[HfBpeTokenizer, Any]:
    return hf_bpe.extend(old, source, num_new_tokens=4, progress=False, **options)


def prune(old: HfBpeTokenizer, source: Any = None, **options: Any) -> tuple[HfBpeTokenizer, Any]:
    return extension.prune(old, source, vocab_size=258, progress=False, **options)


def add_words(old: HfBpeTokenizer, source: Any = None, **options: Any) -> tuple[HfBpeTokenizer, Any]:
    return hf_bpe.add_words(old, ["lowest", " newer"], source=source, **options)


def retrain_for(old: HfBpeTokenizer, source: Any = None, **options: Any) -> tuple[HfBpeTokenizer, Any]:
    return extension.retrain_for(old, source, 258, progress=False, **options)


def retrain(old: HfBpeTokenizer, source: Any = None, **options: Any) -> tuple[HfBpeTokenizer, Any]:
    path = options.pop("files", [source])
    return old.train_new_from_iterator(path, 264, show_progress=False, **options), None


LEARNING: dict[str, Callable[..., Any]] = {
    "extend": extend,
    "prune": prune,
    "add_words": add_words,
    "retrain_for": retrain_for,
    "train_new_from_iterator": retrain,
}


@pytest.mark.parametrize("name", LEARNING)
def test_bad_rows_are_left_out_and_told_once(name: str, old: HfBpeTokenizer, corpus: Path) -> None:
    for source in ({"source": corpus}, {"files": [corpus]}):
        with pytest.warns(UserWarning, match=r"^2 of 123 rows hold no text and were left out") as warned:
            made, report = LEARNING[name](old, **source)

        (told,) = [str(warning.message) for warning in warned if "hold no text" in str(warning.message)]
        assert "; ".join(told_of(corpus)) in told
        assert warned[0].filename == __file__
        expected, _ = LEARNING[name](old, GOOD)
        assert made._core.to_json() == expected._core.to_json()
        if report is not None:
            assert (report.bad_rows, tuple(report.first_bad_rows)) == (2, told_of(corpus))
            assert (report.as_json()["bad_rows"], report.as_json()["first_bad_rows"]) == (2, [*told_of(corpus)])
            assert "hold no text, and were left out: 2" in str(report)
            assert f"left out: {told_of(corpus)[1]}" in str(report)


@pytest.mark.parametrize("name", LEARNING)
def test_the_first_bad_row_is_an_error_if_asked(name: str, old: HfBpeTokenizer, corpus: Path) -> None:
    with pytest.raises(CorpusError, match=r"a\.jsonl, line 51: is no JSON: .* \(skip_bad_rows leaves such rows out\)"):
        LEARNING[name](old, corpus, skip_bad_rows=False)


@pytest.mark.parametrize("name", LEARNING)
def test_a_corpus_without_a_text_is_an_error(name: str, old: HfBpeTokenizer, corpus: Path) -> None:
    told = r"none of 123 rows holds a text: choose another text_column .*line 1: has no 'txet'; it has 'text'"
    with pytest.raises(CorpusError, match=told):
        LEARNING[name](old, corpus, text_column="txet")


@pytest.mark.parametrize("name", LEARNING)
def test_bad_rows_without_end_are_given_up(name: str, old: HfBpeTokenizer, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xff no text, and so on\n" * 300_000 + b"low\n")

    with pytest.raises(CorpusError, match=r"none of the first \d+,\d+ rows holds a text.*line 1: isn't UTF-8"):
        LEARNING[name](old, tmp_path / "a.txt")


@pytest.mark.parametrize("name", LEARNING)
def test_nothing_is_told_where_no_row_is_bad(name: str, old: HfBpeTokenizer, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(lines(GOOD) + b"\n")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, report = LEARNING[name](old, tmp_path / "a.jsonl")

    assert report is None or (report.bad_rows, "left out" in str(report)) == (0, False)


def test_pruning_tells_how_many_texts_were_counted_beside_nulls(old: HfBpeTokenizer, tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": [None, *GOOD, None]}), tmp_path / "a.parquet")

    _, report = prune(old, tmp_path / "a.parquet")

    assert report.notes == ("120 texts of the source were counted",)


def test_the_page_tells_what_was_left_out(old: HfBpeTokenizer, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(lines(GOOD) + b'{"<b>": 2}\n')
    with pytest.warns(UserWarning, match="1 of 121 rows"):
        _, report = extend(old, tmp_path / "a.jsonl")

    page = report.to_html()

    assert "<h2>Bad rows, left out</h2>\n<p>1 rows of the source hold no text. The first:</p>" in page
    assert "line 121: has no &#x27;text&#x27;; it has &#x27;&lt;b&gt;&#x27;" in page


COMMANDS = {
    "extend": ["extend", "old", "a.jsonl", "--num-new-tokens", "4", "--no-progress"],
    "prune": ["prune", "old", "a.jsonl", "--vocab-size", "258", "--no-progress"],
    "add-words": ["add-words", "old", "lowest", "--source", "a.jsonl"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_leave_bad_rows_out_and_say_how_to_be_strict(
    command: str, old: HfBpeTokenizer, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(corpus.parent)
    old.save_pretrained("old")
    run = CliRunner().invoke

    result = run(app, [*COMMANDS[command], "--out", "made"])

    assert result.exit_code == 0, result.output
    assert result.stderr.count("hf-bpe: warning: 2 of 123 rows hold no text and were left out") == 1
    assert "(--no-skip-bad-rows) makes the first of them an error: a.jsonl, line 51: is no JSON" in result.stderr
    assert f"left out: {told_of('a.jsonl')[1]}" in result.stdout
    strict = run(app, [*COMMANDS[command], "--out", "strict", "--no-skip-bad-rows"])
    assert (strict.exit_code, os.path.exists("strict")) == (1, False)
    assert "hf-bpe: error: a.jsonl, line 51: is no JSON" in strict.stderr
    none = run(app, [*COMMANDS[command], "--out", "none", "--text-column", "txet"])
    assert (none.exit_code, os.path.exists("none")) == (1, False)
    assert "none of 123 rows holds a text: choose another text_column (--text-column)" in none.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_leave_bad_lines_of_stdin_out(
    command: str, old: HfBpeTokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    old.save_pretrained("old")
    arguments = ["-" if word == "a.jsonl" else word for word in COMMANDS[command]]
    stdin = "\n".join(GOOD).encode() + b"\n\xff\n"

    result = CliRunner().invoke(app, [*arguments, "--out", "made"], input=stdin)

    assert result.exit_code == 0, result.output
    assert "hf-bpe: warning: 1 of 121 rows hold no text" in result.stderr
    assert "stdin, line 121: isn't UTF-8 at byte 0" in result.stderr
    strict = CliRunner().invoke(app, [*arguments, "--out", "strict", "--no-skip-bad-rows"], input=stdin)
    assert strict.exit_code == 1
    assert "stdin, line 121" in strict.stderr
