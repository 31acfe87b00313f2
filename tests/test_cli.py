"""The command line: what it prints where, its exit codes, and what it leaves behind."""

from __future__ import annotations

import gzip
import json
import lzma
import os
import pty
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoTokenizer, PreTrainedTokenizerFast

import hf_bpe
from hf_bpe import HfBpeTokenizer
from hf_bpe._advice import is_command_line
from hf_bpe.cli.output import json_line, printable

COMMAND = [sys.executable, "-c", "from hf_bpe.cli import main; main()"]
ENVIRONMENT = os.environ | {"TRANSFORMERS_VERBOSITY": "error", "COLUMNS": "200"}
TEXT = "the cat sat on the mat, the cat sat\n" * 50


def run(*arguments: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run `hf-bpe` in a process of its own."""
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, env=ENVIRONMENT, timeout=120, check=False)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory that `hf-bpe train` made, with a special token that a terminal would obey."""
    folder = tmp_path_factory.mktemp("cli")
    (folder / "corpus.txt").write_text(TEXT, encoding="utf-8")
    arguments = ("--vocab-size", "270", "--eos-token", "<|end|>", "--special-token", "\x1b[31m\x9b")
    result = run("train", folder / "corpus.txt", *arguments, "--out", folder / "made" / "tokenizer")
    assert result.returncode == 0, result.stderr
    return folder / "made" / "tokenizer"


def test_training_makes_a_directory_that_auto_tokenizer_loads(directory: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(directory)

    assert isinstance(tokenizer, HfBpeTokenizer)
    assert len(tokenizer) == 270
    assert tokenizer.eos_token == "<|end|>"
    assert [path.name for path in directory.parent.iterdir()] == ["tokenizer"], "something was left beside it"


def test_training_installs_a_chat_format(tmp_path: Path) -> None:
    train = ("train", "-", "--vocab-size", "270", "--eos-token", "<|end|>", "--out", tmp_path / "new")
    result = run(*train, "--chat-template", "chatml", stdin=TEXT.encode())
    unknown = run(*train, "--chat-template", "alpaca", "--overwrite", stdin=TEXT.encode())
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "new")

    assert b"generation stops at 2, 0; EOS is <|im_end|>\n" in result.stderr
    assert tokenizer.decode(tokenizer.apply_chat_template([{"role": "user", "content": "cat"}])["input_ids"]) == (
        "<|im_start|>user\ncat<|im_end|>\n"
    )
    assert (unknown.returncode, b"no chat template 'alpaca'; there are 'chatml'" in unknown.stderr) == (1, True)


def test_training_prints_the_directory_on_stdout_and_the_rest_on_stderr(tmp_path: Path) -> None:
    result = run("train", "-", "--vocab-size", "260", "--out", tmp_path / "new", stdin=TEXT.encode())

    assert result.stdout.decode() == f"{tmp_path / 'new'}\n"
    assert b"Merging" in result.stderr
    assert b"260 tokens" in result.stderr


def test_training_from_stdin_equals_training_from_the_file(directory: Path, tmp_path: Path) -> None:
    arguments = ("--vocab-size", "270", "--eos-token", "<|end|>", "--special-token", "\x1b[31m\x9b")
    result = run("train", "-", *arguments, "--out", tmp_path / "piped", "--no-progress", stdin=TEXT.encode())

    assert result.returncode == 0, result.stderr
    assert (tmp_path / "piped" / "tokenizer.json").read_bytes() == (directory / "tokenizer.json").read_bytes()


@pytest.mark.parametrize(
    "options",
    [
        {"byte_fallback": True, "unk_token": "<unk>", "fuse_unk": True, "initial_alphabet": "☃", "limit_alphabet": 12},
        {"end_of_word_suffix": "</w>", "special_tokens": ["<s>"], "max_token_length": 3},
        {"continuing_subword_prefix": "##", "pre_tokenizer": "BertPreTokenizer"},
        {"pre_tokenizer": '{"type": "Metaspace", "replacement": "_", "prepend_scheme": "always", "split": true}'},
        {"split_pattern": "gpt2"},
    ],
)
def test_characters_are_trained_as_the_function_trains_them(options: dict[str, Any], tmp_path: Path) -> None:
    arguments = ["--alphabet", "characters", "--vocab-size", "300", "--out", str(tmp_path / "new")]
    for name, value in options.items():
        option = "--special-token" if name == "special_tokens" else "--" + name.replace("_", "-")
        arguments += [option] if value is True else [option, str(value[0] if isinstance(value, list) else value)]

    result = run("train", "-", *arguments, stdin=TEXT.encode())
    with pytest.warns(UserWarning, match="tokens, not the 300 asked for"):
        expected = hf_bpe.train(
            TEXT.splitlines(keepends=True), vocab_size=300, alphabet="characters", progress=False, **options
        )

    assert result.returncode == 0, result.stderr
    assert AutoTokenizer.from_pretrained(tmp_path / "new")._core.to_json() == expected._core.to_json()


def test_json_lines_are_streamed_and_nulls_counted(tmp_path: Path) -> None:
    rows = [{"content": "ab ab ab"}, {"content": None}, {"content": "cd cd"}]
    (tmp_path / "a[1].jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")

    result = run(
        "train", tmp_path / "a[1].jsonl", "--text-column", "content", "--vocab-size", "257", "--out", tmp_path / "new"
    )

    assert result.returncode == 0, result.stderr
    assert b"1 null rows skipped" in result.stderr


def test_training_from_files_of_counts_equals_training_from_the_texts(directory: Path, tmp_path: Path) -> None:
    lines = TEXT.splitlines(keepends=True)
    (tmp_path / "a.txt").write_text("".join(lines[:20]), encoding="utf-8")
    (tmp_path / "b.jsonl").write_text("".join(json.dumps({"text": line}) + "\n" for line in lines[20:]) + "no\n")
    counted = [
        run("count", tmp_path / "a.txt", "-o", tmp_path / "a.parquet"),
        run("count", tmp_path / "b.jsonl", "--max-memory", "0", "--out", tmp_path / "b.parquet"),
    ]
    refused = run("count", tmp_path / "b.jsonl", "--no-skip-bad-rows", "--out", tmp_path / "c.parquet")

    options = ("--vocab-size", "270", "--eos-token", "<|end|>", "--special-token", "\x1b[31m\x9b")
    counts = ("--from-counts", tmp_path / "a.parquet", tmp_path / "b.parquet")
    result = run("train", *counts, *options, "--out", tmp_path / "made")

    assert [(made.returncode, made.stdout) for made in counted] == [
        (0, f"{tmp_path / name}.parquet\n".encode()) for name in "ab"
    ]
    assert b"distinct pretokens of 720 bytes in" in counted[0].stderr
    assert b", 1 bad rows skipped\n" in counted[1].stderr
    assert_failed(refused, 1, "b.jsonl, line 31: is no JSON")
    assert not (tmp_path / "c.parquet").exists()
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "made" / "tokenizer.json").read_bytes() == (directory / "tokenizer.json").read_bytes()


def test_counts_that_do_not_go_together_are_one_clear_line(tmp_path: Path) -> None:
    for pattern in ("gpt2", "llama3"):
        made = run("count", "-", "--split-pattern", pattern, "--out", tmp_path / f"{pattern}.parquet", stdin=b"a b")
        assert made.returncode == 0, made.stderr

    counts = ("--from-counts", tmp_path / "gpt2.parquet", tmp_path / "llama3.parquet")
    result = run("train", *counts, "--vocab-size", "300", "--out", tmp_path / "made")

    assert_failed(result, 1, "of the split pattern 'gpt2' and of the split pattern 'llama3'")
    assert not (tmp_path / "made").exists()


def test_long_pretokens_are_told_and_may_be_left_whole(tmp_path: Path) -> None:
    text = b"a" * 5000
    cut = run("count", "-", "--no-progress", "--out", tmp_path / "cut.parquet", stdin=text)
    whole = run(
        "count", "-", "--no-progress", "--max-pretoken-bytes", "none", "--out", tmp_path / "whole.parquet", stdin=text
    )

    assert b"2 distinct pretokens of 5,000 bytes" in cut.stderr
    assert b", 1 pretokens cut\n" in cut.stderr
    assert b"warning: 1 pretokens were longer than 4,096 bytes" in cut.stderr
    assert b"1 distinct pretokens of 5,000 bytes" in whole.stderr
    assert b"cut" not in whole.stderr


def test_a_directory_means_its_text_files(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    (corpus / "inner").mkdir(parents=True)
    (corpus / "inner" / "a.txt").write_text(TEXT, encoding="utf-8")
    (corpus / ".hidden").write_bytes(b"\xff")
    (corpus / "image.bin").write_bytes(b"\x89\0\xff")

    result = run("train", corpus, "--vocab-size", "260", "--out", tmp_path / "new", "--no-progress")

    assert result.returncode == 0, result.stderr
    assert f"binary files left out of {corpus}: 1".encode() in result.stderr


def test_a_short_corpus_warns_in_one_line(tmp_path: Path) -> None:
    result = run("train", "-", "--vocab-size", "5000", "--out", tmp_path / "new", "--no-progress", stdin=b"ab ab")

    assert result.returncode == 0
    assert b"hf-bpe: warning: the vocabulary has 257 tokens, not the 5000 asked for" in result.stderr


def assert_failed(result: subprocess.CompletedProcess[bytes], code: int, reason: str) -> None:
    """Assert that a command failed with `code`, said `reason`, showed no traceback and printed no result."""
    assert result.returncode == code, result.stderr
    assert reason in result.stderr.decode()
    assert b"Traceback" not in result.stderr
    assert result.stdout == b""
    if code == 1:
        assert len([line for line in result.stderr.splitlines() if line.startswith(b"hf-bpe: ")]) == 1


@pytest.mark.parametrize(
    ("arguments", "stdin", "code", "reason"),
    [
        (["-", "--vocab-size", "100"], b"ab", 1, "vocab_size=100 is too small"),
        (
            ["-", "--vocab-size", "300", "--no-skip-bad-rows"],
            b"fine\nx \xff",
            1,
            "stdin, line 2: isn't UTF-8 at byte 2: invalid start byte (skip_bad_rows",
        ),
        (["-", "--vocab-size", "300"], b"x \xff", 1, "none of 1 rows holds a text"),
        (["-", "--vocab-size", "300", "--split-pattern", "("], b"ab", 1, "hf-bpe: error: "),
        (["-", "--vocab-size", "300", "--split-pattern", "lama3"], b"ab", 1, "'lama3' is not one of"),
        (["-", "--vocab-size", "300", "--normalizer", "NFX"], b"ab", 1, "NFX"),
        (["-", "--vocab-size", "300", "--normalizer", "NFX"], b"ab", 1, "train(): normalizer has type 'NFX'"),
        (["-", "--vocab-size", "300", "--alphabet", "words"], b"ab", 1, "alphabet is 'bytes' or 'characters'"),
        (["-", "--vocab-size", "300", "--byte-fallback"], b"ab", 1, "byte_fallback=True is for alphabet='characters'"),
        (["missing-file", "--vocab-size", "300"], b"", 2, "'missing-file' is no file"),
        (["-"], b"", 2, "--vocab-size"),
        (["--vocab-size", "300"], b"", 2, "SOURCE"),
    ],
)
def test_a_training_that_fails_says_why_and_leaves_nothing(
    arguments: list[str], stdin: bytes, code: int, reason: str, tmp_path: Path
) -> None:
    result = run("train", *arguments, "--out", tmp_path / "out" / "new", "--no-progress", stdin=stdin)

    assert_failed(result, code, reason)
    assert [path for path in tmp_path.rglob("*") if path.name != "out"] == []


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("empty.jsonl", b"", "there is no row in"),
        (
            "cut.jsonl.gz",
            gzip.compress(b'{"text": "a"}\n' * 99, mtime=0)[:20],
            "the compressed data is damaged: Compressed file ended",
        ),
        ("no-text.jsonl", b'{"a": "b"}\n', "line 1: has no 'text'; it has 'a'"),
        ("number.jsonl", b'{"text": 5}\n', "line 1: has int in 'text', not a text"),
        ("no.parquet", b"no", "Parquet"),
    ],
)
def test_a_damaged_table_is_one_clear_line(name: str, data: bytes, reason: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)

    result = run("train", tmp_path / name, "--vocab-size", "300", "--out", tmp_path / "out", "--no-progress")

    assert_failed(result, 1, reason)
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("arguments", "redirection", "code", "reason"),
    [
        ("train corpus.txt --vocab-size 256 --no-progress --out made1", ">/dev/full", 1, "No space left"),
        ("train corpus.txt --vocab-size 256 --no-progress --out made2", ">&-", 1, "stdout is closed"),
        ("train - --vocab-size 256 --no-progress --out made3", "<&-", 1, "stdin is closed"),
        ("encode tokenizer a", ">/dev/full", 1, "No space left"),
        ("encode tokenizer a", ">&-", 1, "stdout is closed"),
        ("encode tokenizer", "<&-", 1, "stdin is closed"),
        ("encode tokenizer --lines", "<&-", 1, "stdin is closed"),
        ("decode tokenizer 1", ">&-", 1, "stdout is closed"),
        ("decode tokenizer", "<&-", 1, "stdin is closed"),
        ("decode tokenizer x", ">out 2>&-", 1, ""),
    ],
)
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs Linux's /dev/full")
def test_closed_and_full_streams_are_one_clear_line(
    directory: Path, tmp_path: Path, arguments: str, redirection: str, code: int, reason: str
) -> None:
    (tmp_path / "corpus.txt").write_text("a b\n")
    (tmp_path / "tokenizer").symlink_to(directory)
    command = f"{shlex.join(COMMAND)} {arguments} {redirection}"
    environment = ENVIRONMENT | {"PYTHONPATH": os.pathsep.join(map(os.path.abspath, filter(None, sys.path)))}
    result = subprocess.run(
        ["sh", "-c", command], cwd=tmp_path, env=environment, capture_output=True, timeout=120, check=False
    )

    assert result.returncode == code, result.stderr
    assert reason in result.stderr.decode()
    assert b"Traceback" not in result.stderr
    assert result.stdout == b""
    if "2>&-" in redirection:
        assert (tmp_path / "out").read_bytes() == b""


def test_training_for_a_reader_that_went_away_exits_quietly(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [*COMMAND, "train", "-", "--vocab-size", "256", "--no-progress", "--out", str(tmp_path / "new")]
    result = subprocess.run(
        command, stdout=writer, stderr=subprocess.PIPE, input=b"ab", env=ENVIRONMENT, timeout=120, check=False
    )
    os.close(writer)

    assert result.returncode == 141
    assert b"Traceback" not in result.stderr
    assert len(HfBpeTokenizer.from_pretrained(tmp_path / "new")) == 256


@pytest.mark.skipif(os.name == "nt", reason="arguments are text there")
def test_arguments_that_are_not_utf8_are_refused(directory: Path, tmp_path: Path) -> None:
    encoding = [*COMMAND, "encode", str(directory), b"a\xff"]
    training = [*COMMAND, "train", "-", "--vocab-size", "300", "--out", str(tmp_path / "new"), "--eos-token", b"\xff"]

    for command, reason in ((encoding, "TEXT isn't UTF-8: byte 1 is 0xff"), (training, "surrogates not allowed")):
        result = subprocess.run(command, input=b"a", capture_output=True, env=ENVIRONMENT, timeout=120, check=False)
        assert_failed(result, 1, reason)


def test_a_directory_with_files_is_only_written_to_when_asked(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    arguments = ("train", "-", "--vocab-size", "256", "--out", tmp_path, "--no-progress")

    refused = run(*arguments, stdin=b"ab")
    assert_failed(refused, 1, "is not empty")
    assert [path.name for path in tmp_path.iterdir()] == ["model.safetensors"]

    assert run(*arguments, "--overwrite", stdin=b"ab").returncode == 0
    assert len(AutoTokenizer.from_pretrained(tmp_path)) == 256
    assert (tmp_path / "model.safetensors").read_bytes() == b"weights"


def test_an_interrupt_stops_within_a_second_and_leaves_nothing(tmp_path: Path) -> None:
    command = [*COMMAND, "train", "-", "--vocab-size", "300", "--out", str(tmp_path / "new")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(TEXT.encode())
        process.stdin.flush()
        assert process.stderr.read(9).strip(b"\r\n").startswith(b"Counting"), "the bar tells that training has begun"
        asked = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=30)

    assert process.returncode == 130
    assert time.monotonic() - asked < 1.5
    assert b"hf-bpe: interrupted" in stderr
    assert b"Traceback" not in stderr
    assert list(tmp_path.iterdir()) == []


def test_ids_are_those_of_stock(directory: Path) -> None:
    text = "the cat — naïve 漢字 <|end|> ate\n"
    stock = PreTrainedTokenizerFast.from_pretrained(directory)

    assert list(map(int, run("encode", directory, text).stdout.split())) == stock.encode(text)
    assert list(map(int, run("encode", directory, stdin=text.encode()).stdout.split())) == stock.encode(text)
    split = run("encode", directory, "--split-special-tokens", "-", stdin=text.encode())
    assert list(map(int, split.stdout.split())) == stock.encode(text, split_special_tokens=True)


def test_tokens_are_printed_one_a_line(directory: Path) -> None:
    result = run("encode", directory, "--tokens", "the cat<|end|>")

    assert result.stdout.decode().splitlines() == ["the", "Ġcat", "<|end|>", ""]


def test_json_holds_ids_tokens_and_offsets_of_each_line(directory: Path) -> None:
    result = run("encode", directory, "--json", "--lines", stdin="é the\n\nthe".encode())
    first, second, third = map(json.loads, result.stdout.splitlines())

    assert first["tokens"] == ["Ã", "©", "Ġthe"]
    assert first["offsets"] == [[0, 1], [0, 1], [1, 5]]
    assert second == {"ids": [], "tokens": [], "offsets": []}
    assert third["tokens"] == ["the"]


def test_a_pipe_carries_any_text_there_and_back(directory: Path) -> None:
    text = "\x00\x1b[31m\x9b ☃ 👩‍👩‍👧\r\n\n\u2028 end without newline".encode()

    encoded = run("encode", directory, stdin=text)
    decoded = run("decode", directory, stdin=encoded.stdout)

    assert decoded.stdout == text
    assert encoded.stderr == decoded.stderr == b""


def test_decode_takes_ids_as_arguments_and_leaves_special_tokens_out_when_asked(directory: Path) -> None:
    ids = run("encode", directory, "the<|end|> cat").stdout.decode().split()

    assert run("decode", directory, *ids).stdout == b"the<|end|> cat"
    assert run("decode", directory, "--skip-special-tokens", *ids).stdout == b"the cat"
    assert run("decode", directory, "--lines", stdin=f"{ids[0]}\n{ids[0]}\n".encode()).stdout == b"the\nthe\n"


@pytest.mark.parametrize("option", ["--tokens", "--json"])
def test_escapes_in_tokens_cannot_reach_a_terminal(directory: Path, option: str) -> None:
    output = run("encode", directory, option, "a\x1b[31m\x9bb").stdout.decode()

    assert not {"\x1b", "\x9b"} & set(output)
    assert "[31m" in output


def test_decoded_escapes_reach_a_terminal_only_when_asked(directory: Path) -> None:
    ids = run("encode", directory, stdin="\x1b[31m\x9b\n".encode()).stdout.decode().split()

    assert on_terminal("decode", directory, *ids) == b"\\x1b[31m\\x9b\r\n\r\n"
    assert on_terminal("decode", directory, "--raw", *ids) == "\x1b[31m\x9b\r\n\r\n".encode()


def on_terminal(*arguments: Any) -> bytes:
    """Return what a command writes to a terminal."""
    controller, terminal = pty.openpty()
    try:
        command = [*COMMAND, *map(str, arguments)]
        subprocess.run(command, stdout=terminal, stdin=subprocess.DEVNULL, env=ENVIRONMENT, timeout=120, check=True)
        return os.read(controller, 10_000)
    finally:
        os.close(terminal)
        os.close(controller)


@pytest.mark.parametrize(
    ("arguments", "stdin", "code", "reason"),
    [
        (["encode", "DIR", "--ids", "--tokens", "a"], b"", 2, "choose one of"),
        (["encode", "DIR", "--lines", "a"], b"", 2, "--lines reads stdin"),
        (["encode", "DIR"], b"\xff", 1, "stdin isn't UTF-8: byte 0 is 0xff"),
        (["encode", "no-such-directory", "a"], b"", 2, "no-such-directory"),
        (["encode", "EMPTY", "a"], b"", 1, "tokenizer.json"),
        (["decode", "DIR", "1", "x"], b"", 1, "'x' is no id"),
        (["decode", "DIR", "99999999999999999999999"], b"", 1, "hf-bpe: error: "),
        (["no-such-command"], b"", 2, "no-such-command"),
    ],
)
def test_a_failure_is_one_clear_line(
    directory: Path, tmp_path: Path, arguments: list[str], stdin: bytes, code: int, reason: str
) -> None:
    folders = {"DIR": str(directory), "EMPTY": str(tmp_path)}

    assert_failed(run(*(folders.get(word, word) for word in arguments), stdin=stdin), code, reason)


def test_a_reader_that_goes_away_is_no_error_message(directory: Path) -> None:
    command = [*COMMAND, "encode", str(directory), "--lines"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        process.stdout = None
        _, stderr = process.communicate(b"the cat sat\n" * 50_000, timeout=60)

    assert process.returncode == 141
    assert stderr == b""


@pytest.mark.parametrize("command", [(), ("train",), ("encode",), ("decode",)])
def test_help_is_on_stdout_and_shows_an_example(command: tuple[str, ...]) -> None:
    result = run(*command, "--help")

    assert result.returncode == 0
    assert "Usage: hf-bpe" in result.stdout.decode()
    if command:
        assert f"Examples:\n\n      hf-bpe {command[0]} " in result.stdout.decode()


def test_control_characters_are_written_as_escapes() -> None:
    assert printable("a\x1b[0m\n\x85\u202eb\u2028") == "a\\x1b[0m\\n\\x85\\u202eb\\u2028"
    assert printable("a\n\tb\x07", keep_lines=True) == "a\n\tb\\x07"
    assert json.loads(json_line("\x9b\u202e漢\n")) == "\x9b\u202e漢\n"
    assert json_line("\x9b漢") == '"\\u009b漢"'


@pytest.mark.parametrize(
    ("argv", "orig_argv", "expected"),
    [
        (["/bin/hf-bpe", "train"], ["python", "/bin/hf-bpe", "train"], True),
        (["C:/Scripts/hf-bpe.exe"], ["C:/Scripts/hf-bpe.exe"], True),
        (["-m", "train"], ["python", "-W", "ignore", "-m", "hf_bpe.cli", "train"], True),
        (["-m"], ["python", "-mhf_bpe.cli"], True),
        (["-m", "hf_bpe.cli"], ["python", "-m", "pytest", "hf_bpe.cli"], False),
        (["mine.py", "hf-bpe"], ["python", "mine.py", "hf-bpe"], False),
        ([""], ["python"], False),
        ([], ["python"], False),
    ],
)
def test_the_command_line_is_told_by_how_it_was_started(argv: list[str], orig_argv: list[str], expected: bool) -> None:
    assert is_command_line(argv, orig_argv) is expected


def test_a_command_prints_no_advice_of_transformers() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TRANSFORMERS_")}

    result = subprocess.run(
        [sys.executable, "-m", "hf_bpe.cli", "--version"], env=environment, capture_output=True, text=True, check=True
    )

    assert (result.stdout, result.stderr) == (f"hf-bpe {hf_bpe.__version__}\n", "")


def test_names_that_are_imported_late_are_listed() -> None:
    assert {"__version__", "chat", "convert", "embeddings"} <= set(dir(hf_bpe))
    assert all(getattr(hf_bpe, name) for name in ("__version__", "chat", "convert", "embeddings"))


def test_counting_neither_replaces_what_it_reads_nor_counts_for_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("low lower\n", encoding="utf-8")

    over = run("count", tmp_path / "a.txt", "--out", tmp_path / "a.txt")
    nowhere = run("count", tmp_path / "a.txt", "--out", tmp_path / "none" / "a.parquet", "--split-pattern", "(")

    assert (over.returncode, nowhere.returncode) == (1, 1)
    assert b"a.txt is one of the files that are read; name another file to write" in over.stderr
    assert b"none is no directory" in nowhere.stderr  # before anything is looked at
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "low lower\n"


def test_compressed_texts_of_a_directory_are_no_binary_files(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "a.txt.gz").write_bytes(gzip.compress(b"low lower\n", mtime=0))
    (corpus / "b.txt.xz").write_bytes(lzma.compress(b"low lower\n"))
    (corpus / "c.bin.gz").write_bytes(gzip.compress(b"\0\1\2", mtime=0))

    result = run("count", corpus, "--no-progress", "--out", tmp_path / "counts.parquet")

    assert f"binary files left out of {corpus}: 1\n".encode() in result.stderr
    assert hf_bpe.PretokenCounts.load(tmp_path / "counts.parquet").report.texts == 2
