"""`hf-bpe train` with several sources and with rules for tokens."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import hf_bpe
from hf_bpe.cli import app

EN = "the lowest tower of the town, the newest tower\n" * 30
ZH = "最低的塔和最新的塔\n" * 10


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("en.txt").write_text(EN, encoding="utf-8")
    Path("zh-1.txt").write_text(ZH, encoding="utf-8")
    Path("zh-2.jsonl").write_text(json.dumps({"text": ZH}) + "\n", encoding="utf-8")
    return tmp_path


def run(*arguments: str, size: int = 290) -> Any:
    return CliRunner().invoke(app, ["train", *arguments, "--vocab-size", str(size), "--out", "out", "--no-progress"])


def model() -> Any:
    return json.loads(Path("out/tokenizer.json").read_text(encoding="utf-8"))


def test_named_sources_train_as_in_python() -> None:
    arguments = ["--source", "en=en.txt", "--source", "zh=zh-1.txt", "--source", "zh=zh-2.jsonl"]
    result = run(*arguments, "--weight", "en=0.5", "--weight", "zh=0.5", "--quota", "zh=0.5")

    assert result.exit_code == 0, result.output
    expected = hf_bpe.train(
        sources={"en": [Path("en.txt")], "zh": [Path("zh-1.txt"), Path("zh-2.jsonl")]},
        weights={"en": 0.5, "zh": 0.5},
        quota={"zh": 0.5},
        vocab_size=290,
        progress=False,
    )
    assert model() == json.loads(expected.backend_tokenizer.to_str())
    assert "zh: 50.0% of the training, " in result.stderr


def test_named_sources_have_a_page() -> None:
    sources = ["--source", "en=en.txt", "--source", "zh=zh-1.txt", "--source", "<ja>=zh-2.jsonl"]
    result = run(*sources, "--temperature", "2", "--report", "report.html")

    assert result.exit_code == 0, result.output
    page = Path("report.html").read_text(encoding="utf-8")
    assert "By source" in page
    curves = page.partition("Bytes per token by source and vocabulary size")[2].partition("</table>")[0]
    assert [curves.count(f'<td class="text">{name}</td>') for name in ("en", "zh", "&lt;ja&gt;")] == [18, 18, 18]


def test_named_sources_may_be_counts() -> None:
    for name in ("en", "zh"):
        text = {"en": EN, "zh": ZH}[name].splitlines(keepends=True)
        hf_bpe.PretokenCounts.count(text, progress=False).save(f"{name}.parquet")

    result = run("--from-counts", "--source", "en=en.parquet", "--source", "zh=zh.parquet", "--temperature", "2")

    assert result.exit_code == 0, result.output
    counted = model()
    assert run("--source", "en=en.txt", "--source", "zh=zh-1.txt", "--temperature", "2", "--overwrite").exit_code == 0
    assert model() == counted


def test_rules_are_options() -> None:
    rules = ["--within-scripts", "--max-digits", "1", "--protect", "tower", "--pad-to-multiple-of", "64"]
    result = run("en.txt", *rules, size=270)

    assert result.exit_code == 0, result.output
    expected = hf_bpe.train(
        files=["en.txt"],
        vocab_size=270,
        within_scripts=True,
        max_digits=1,
        protected=["tower"],
        pad_to_multiple_of=64,
        progress=False,
    )
    assert model() == json.loads(expected.backend_tokenizer.to_str())
    assert len(expected) == 320


def test_a_segmenter_is_an_option() -> None:
    pytest.importorskip("jieba")

    assert run("zh-1.txt", "--segmenter", "jieba", size=265).exit_code == 0
    expected = hf_bpe.train(files=["zh-1.txt"], vocab_size=265, segmenter="jieba", progress=False)
    assert model() == json.loads(expected.backend_tokenizer.to_str())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give SOURCE, or --source NAME=SOURCE for each of several, and not both"),
        (["en.txt", "--source", "zh=zh-1.txt"], "and not both"),
        (["--source", "en.txt"], "--source en.txt: write NAME=VALUE"),
        (["--source", "en=en.txt", "--weight", "en=much"], "--weight en=much: 'much' is no number"),
        (["-", "en.txt", "-"], "- is named twice, and stdin can be read once"),
        (["--source", "a=-", "--source", "a=-"], "- is named twice"),
        (["--source", "a=-", "--source", "b=-"], "- is named twice"),
        (["en.txt", "--weight", "en=1"], "weights is for several sources"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_told(arguments: list[str], message: str) -> None:
    result = run(*arguments)

    assert result.exit_code != 0
    assert message in " ".join(result.output.replace("│", " ").split())


@pytest.mark.parametrize(
    "option",
    [
        "--text-column=body",
        "--text-column=text",
        "--skip-bad-rows",
        "--no-skip-bad-rows",
        "--max-pretoken-bytes=9",
        "--threads=2",
        "--checkpoint-dir=stops",
        "--checkpoint-minutes=10",
        "--resume-from=stops",
    ],
)
def test_options_for_reading_texts_are_refused_with_counts(option: str) -> None:
    hf_bpe.PretokenCounts.count(EN, progress=False).save("en.parquet")

    for sources in (["en.parquet"], ["--source", "en=en.parquet"]):
        result = run("--from-counts", *sources, option)

        assert result.exit_code == 2
        told = " ".join(result.output.replace("│", " ").split())
        assert f"{option.partition('=')[0]} is for texts, and with --from-counts they are counted already" in told
    assert not [path for path in Path.cwd().iterdir() if path.name in ("out", "stops")]


@pytest.mark.parametrize("command", [["train", "--vocab-size", "290"], ["count"]], ids=str)
def test_minutes_without_a_folder_for_checkpoints_are_refused(command: list[str]) -> None:
    result = CliRunner().invoke(app, [*command, "en.txt", "--out", "made", "--checkpoint-minutes", "5"])

    assert result.exit_code == 1
    assert "(--checkpoint-minutes) needs a folder" in result.stderr
    assert not Path("made").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["en.txt"],
        ["en*"],
        ["zh-1.txt", "link"],
        ["--source", "zh=zh-1.txt", "--source", "en=en.txt"],
        ["--from-counts", "en.txt"],
        ["--from-counts", "--source", "en=en.txt"],
        ["-", "en.txt"],
    ],
    ids=str,
)
def test_the_page_does_not_replace_what_is_read(arguments: list[str]) -> None:
    Path("link").symlink_to("en.txt")
    result = run(*arguments, "--report", "en.txt")

    assert result.exit_code == 1
    assert "en.txt is one of the files that are read; name another file to write" in result.stderr
    assert Path("en.txt").read_text(encoding="utf-8") == EN
    assert not Path("out").exists()


def test_counting_does_not_replace_what_it_reads_beside_stdin() -> None:
    result = CliRunner().invoke(app, ["count", "-", "en.txt", "--out", "en.txt"], input="low lower\n")

    assert "en.txt is one of the files that are read" in result.stderr
    assert Path("en.txt").read_text(encoding="utf-8") == EN


def test_the_page_is_written_through_links_and_to_devices() -> None:
    Path("link.html").symlink_to("page.html")

    assert run("en.txt", "--report", "link.html").exit_code == 0
    assert Path("link.html").is_symlink()
    assert Path("page.html").read_text(encoding="utf-8").startswith("<!")
    assert run("en.txt", "--report", "/dev/null", "--overwrite").exit_code == 0
    assert not Path("/dev/null").is_file()


def test_a_training_that_fails_leaves_the_page_as_it_was() -> None:
    Path("page.html").write_text("before", encoding="utf-8")

    assert run("en.txt", "--split-pattern", "(", "--report", "page.html").exit_code == 1
    assert Path("page.html").read_text(encoding="utf-8") == "before"
    assert not [*Path.cwd().glob(".*")]


BAD = "good, 低\n".encode() + b"\xff bad\n\r\n\xe4\xbd\n\0 good\n\n" + b"cut off \xe4\xbd"


def of_stdin(*arguments: str) -> Any:
    return CliRunner().invoke(app, [*arguments, "--out", "made", "--no-progress"], input=BAD)


@pytest.mark.parametrize("files", [[], ["bad.txt", "en.txt"]], ids=str)
def test_bad_rows_of_stdin_are_counted_and_left_out_as_those_of_a_file(files: list[str]) -> None:
    Path("bad.txt").write_bytes(BAD)
    Path("stdin.txt").write_bytes(BAD)

    result = of_stdin("count", *files, "-")

    assert result.exit_code == 0, result.output
    bad = 3 * (1 + files.count("bad.txt"))
    assert f", {bad} bad rows skipped" in result.stderr
    assert f"warning: {bad} of " in result.stderr
    counts = hf_bpe.PretokenCounts.load("made")
    with pytest.warns(UserWarning, match=f"{bad} of "):
        expected = hf_bpe.PretokenCounts.count(files=[*files, "stdin.txt"], skip_bad_rows=True, progress=False)
    assert counts == expected
    told = tuple(row.replace("stdin.txt, ", "stdin, ") for row in expected.report.first_bad_rows)
    assert counts.report == replace(expected.report, first_bad_rows=told)
    assert (counts.report.bad_rows, len(told)) == (bad, bad)


@pytest.mark.parametrize("sources", [["-"], ["--source", "en=en.txt", "--source", "b=-"]], ids=str)
def test_bad_rows_of_stdin_are_left_out_of_training(sources: list[str]) -> None:
    result = of_stdin("train", *sources, "--vocab-size", "258", "--min-frequency", "1")

    assert result.exit_code == 0, result.output
    assert ", 3 bad rows skipped" in result.stderr


@pytest.mark.parametrize("command", [["train", "--vocab-size", "290"], ["count"]], ids=str)
def test_bad_rows_of_stdin_are_an_error_unless_they_are_skipped(command: list[str]) -> None:
    result = of_stdin(*command, "-", "--no-skip-bad-rows")

    assert result.exit_code == 1
    assert (
        "stdin, line 2: isn't UTF-8 at byte 0: invalid start byte (skip_bad_rows leaves such rows out)" in result.stderr
    )
    assert not Path("made").exists()


def test_stdin_with_bad_rows_goes_on_from_its_checkpoint() -> None:
    where = ("--checkpoint-dir", "stops", "--resume-from", "stops")

    results = [of_stdin("count", "-", "--skip-bad-rows", *where) for _ in range(2)]

    assert all(", 3 bad rows skipped" in result.stderr for result in results)
