"""`hf-bpe chat`: what it prints where, in colours only on a terminal, its exit codes, and one line for a failure."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from chat_families import small_sides
from typer.testing import CliRunner

from hf_bpe import chat
from hf_bpe.cli import app

COMMAND = [sys.executable, "-c", "from hf_bpe.cli import main; main()"]
ENVIRONMENT = os.environ | {"TRANSFORMERS_VERBOSITY": "error", "COLUMNS": "200"}
CLEAN = [{"role": "user", "content": "What?"}, {"role": "assistant", "content": "A [bold]cat[/bold]."}]
TOOL = {"type": "function", "function": {"name": "look", "description": "Look.", "parameters": {}}}


@dataclass
class Done:
    """What a command did."""

    returncode: int
    stdout: bytes
    stderr: bytes


def run(*arguments: str | Path, stdin: bytes = b"") -> Done:
    """Run `hf-bpe chat` in this process: a new one takes seconds to import what it needs."""
    words = ["chat", *map(str, arguments)]
    result = CliRunner().invoke(app, words, input=stdin, env={"COLUMNS": "200"}, prog_name="hf-bpe")
    return Done(result.exit_code, result.stdout_bytes, result.stderr_bytes)


@pytest.fixture(scope="module")
def llama() -> Path:
    """The directory of a small Llama 3.1 tokenizer."""
    return Path(small_sides("llama3.1")[0].name_or_path)


@pytest.fixture(scope="module")
def qwen() -> Path:
    """The directory of a small Qwen 3 tokenizer."""
    return Path(small_sides("qwen3")[0].name_or_path)


def written(folder: Path, value: Any, name: str = "messages.json") -> Path:
    """Return a JSON file."""
    (folder / name).write_text(json.dumps(value), encoding="utf-8")
    return folder / name


def failed(result: Done, code: int, reason: str) -> None:
    """Assert that a command failed with `code`, said `reason` in a line, and printed no result."""
    assert result.returncode == code, result.stderr
    assert reason in result.stderr.decode()
    assert b"Traceback" not in result.stderr
    assert result.stdout == b""
    if code == 1:
        assert len([line for line in result.stderr.splitlines() if line.startswith(b"hf-bpe: ")]) == 1


def test_a_pipe_gets_upstreams_text_to_the_byte(qwen: Path, tmp_path: Path) -> None:
    messages = [*CLEAN, {"role": "user", "content": "\x1b[31m\x9b ☃ \u202e"}]

    result = run(qwen, written(tmp_path, messages), "--generation-prompt")

    expected = small_sides("qwen3")[1].apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
    assert result.stdout.decode() == expected
    assert result.stderr == b""


def test_the_short_form_and_stdin_are_the_long_form(qwen: Path, tmp_path: Path) -> None:
    path = written(tmp_path, CLEAN)

    long = run("show", qwen, path)

    assert long.returncode == 0
    assert long.stdout == run(qwen, path).stdout != b""
    assert long.stdout == run(qwen, stdin=path.read_bytes()).stdout
    assert long.stdout == run("--set", "unused=1", qwen, "-", stdin=path.read_bytes()).stdout


def test_a_terminal_gets_two_colours_and_no_escapes_of_the_caller(qwen: Path, tmp_path: Path) -> None:
    path = written(tmp_path, [*CLEAN, {"role": "user", "content": "\x1b[35m[red]hi"}])

    shown = on_terminal("chat", qwen, path)

    colours = re.findall(r"\x1b\[([0-9;]*)m", shown)
    assert set(colours) == {"36", "1;33", "0"}
    assert "\x1b[1;33mA [bold]cat[/bold].\x1b[0m" in shown
    assert "\x1b[1;33m\\x1b[35m[red]hi\x1b[0m" in shown
    assert "\x1b[36m<|im_end|>\x1b[0m" in shown


def on_terminal(*arguments: Any) -> str:
    """Return what a command writes to a terminal."""
    controller, terminal = pty.openpty()
    environment = {name: value for name, value in ENVIRONMENT.items() if name != "NO_COLOR"} | {"TERM": "xterm"}
    try:
        command = [*COMMAND, *map(str, arguments)]
        subprocess.run(command, stdout=terminal, stdin=subprocess.DEVNULL, env=environment, timeout=120, check=True)
        return os.read(controller, 100_000).decode()
    finally:
        os.close(terminal)
        os.close(controller)


def test_show_prints_a_row_for_each_token_and_no_colour_in_a_pipe(qwen: Path, tmp_path: Path) -> None:
    result = run(qwen, written(tmp_path, CLEAN), "--show")

    encoding = chat.encode(small_sides("qwen3")[0], CLEAN)
    rows = [line.split() for line in result.stdout.decode().splitlines() if re.match(r" *\d+ +\d+ ", line)]
    assert [int(row[1]) for row in rows] == encoding.ids
    assert [int(row[-1]) for row in rows] == list(encoding.assistant_mask)
    assert {row[-2] for row in rows} >= {"template", "content"}
    assert b"\x1b" not in result.stdout
    assert b"A [bold]cat[/bold]." in result.stdout


def test_show_calls_unknown_what_a_filter_hides_the_writer_of(qwen: Path, tmp_path: Path) -> None:
    template = "{% for m in messages %}{{ (m.content ~ '!') | urlize }}{% endfor %}"
    path = tmp_path / "urlize.jinja"
    path.write_text(template, encoding="utf-8")

    result = run(qwen, written(tmp_path, CLEAN), "--show", "--template", path)

    rows = [line.split() for line in result.stdout.decode().splitlines() if re.match(r" *\d+ +\d+ ", line)]
    assert {row[-2] for row in rows} == {"unknown"}


def test_show_escapes_the_names_of_fields(qwen: Path, tmp_path: Path) -> None:
    template = "{% for m in messages %}{{ m.deep | items | list | last | last }}{% endfor %}"
    path = tmp_path / "deep.jinja"
    path.write_text(template, encoding="utf-8")

    result = run(
        qwen, written(tmp_path, [{"role": "user", "deep": {"a\x1b[31m\nb": "x"}}]), "--show", "--template", path
    )

    assert b"\x1b" not in result.stdout
    assert b"deep.a\\x1b[31m" in result.stdout


def test_many_tokens_are_shown_in_blocks_of_lines(qwen: Path, tmp_path: Path) -> None:
    many = [{"role": "user", "content": "漢 a " * 4000}]

    result = run(qwen, written(tmp_path, many), "--show")

    rows = [line.split() for line in result.stdout.decode().splitlines() if re.match(r" *\d+ +\d+ ", line)]
    assert [int(row[1]) for row in rows] == chat.encode(small_sides("qwen3")[0], many).ids
    assert [int(row[0]) for row in rows] == list(range(len(rows)))


def test_json_holds_text_ids_origins_mask_and_findings(llama: Path, tmp_path: Path) -> None:
    messages = [{"role": "user", "content": " What<|eot_id|>"}, *CLEAN[1:]]

    result = run(llama, written(tmp_path, messages), "--json")
    shown = json.loads(result.stdout)

    encoding = chat.encode(small_sides("llama3.1")[0], messages)
    assert shown["ids"] == encoding.ids
    assert shown["text"] == encoding.text
    assert shown["field"] == encoding.field
    assert shown["message_index"] == encoding.message_index
    assert shown["assistant_mask"] == list(encoding.assistant_mask)
    assert shown["turn_boundaries"] == encoding.turn_boundaries
    assert [(found["kind"], found["message"]) for found in shown["findings"]] == [
        ("control-token", 0),
        ("trimmed-content", 0),
    ]
    assert "".join(shown["text"][run["start"] : run["end"]] for run in shown["runs"]) == shown["text"]


def test_warnings_go_to_stderr_and_notes_only_to_check(llama: Path, tmp_path: Path) -> None:
    path = written(tmp_path, [{"role": "user", "content": " What<|eot_id|>"}])

    shown, checked = run(llama, path), run(llama, path, "--check")

    assert shown.returncode == 0
    assert b"hf-bpe: warning: message 0, content: upstream makes '<|eot_id|>' a token" in shown.stderr
    assert b"note" not in shown.stderr
    assert checked.returncode == 1
    assert [line.split(b":")[0] for line in checked.stdout.splitlines()] == [b"warning", b"note"]


def test_check_exits_with_0_where_there_are_at_most_notes(llama: Path, tmp_path: Path) -> None:
    clean, noted = (
        run(llama, written(tmp_path, CLEAN), "--check"),
        run(llama, "--check", stdin=b'[{"role":"a","content":" "}]'),
    )

    assert (clean.returncode, clean.stdout) == (0, b"nothing is changed or lost\n")
    assert noted.returncode == 0
    assert noted.stdout.startswith(b"note: message 0, content: ")
    assert json.loads(run(llama, written(tmp_path, CLEAN), "--check", "--json").stdout) == []


def test_check_tells_what_upstream_refuses(llama: Path, tmp_path: Path) -> None:
    path = written(tmp_path, [*CLEAN, {"content": "hi"}])

    checked = run(llama, path, "--check", "--json")

    assert checked.returncode == 1
    assert [(found["kind"], found["message"]) for found in json.loads(checked.stdout)] == [("refused", 2)]
    failed(run(llama, path), 1, "hf-bpe: error: message 2: upstream raises UndefinedError from this message on: 'dict")


def test_tools_come_from_a_file_or_from_the_request(qwen: Path, tmp_path: Path) -> None:
    tools, request = written(tmp_path, [TOOL], "tools.json"), {"messages": CLEAN, "tools": [TOOL], "model": "some"}

    given, inside = (
        run(qwen, written(tmp_path, CLEAN), "--tools", tools),
        run(qwen, written(tmp_path, request, "r.json")),
    )

    assert given.stdout == inside.stdout
    assert b'"name": "look"' in given.stdout


def test_templates_and_variables_are_given_by_name_and_by_file(qwen: Path, tmp_path: Path) -> None:
    path = written(tmp_path, CLEAN)
    (tmp_path / "mine.jinja").write_text("{{ messages[0].content }}{{ count + 1 }}{{ word }}", encoding="utf-8")

    by_name = run(qwen, path, "--template", "chatml")
    by_file = run(qwen, path, "--template", tmp_path / "mine.jinja", "--set", "count=41", "--set", "word=x=y")

    assert by_name.stdout.decode() == "".join(
        f"<|im_start|>{message['role']}\n{message['content']}<|im_end|>\n" for message in CLEAN
    )
    assert by_file.stdout == b"What?42x=y"


def test_the_last_message_can_be_left_open(qwen: Path, tmp_path: Path) -> None:
    result = run(qwen, written(tmp_path, CLEAN), "--continue-final-message", "--template", "chatml")

    assert result.stdout.endswith(b"assistant\nA [bold]cat[/bold].")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"[{]", "messages.json, line 1, column 3: not JSON"),
        (b"[\n\xff]", "messages.json isn't UTF-8: byte 2 is 0xff"),
        (b"5", "messages.json: expected a list of messages, or an object with 'messages', got a number"),
        (b'{"text": "a"}', "messages.json: expected a list of messages, or an object with 'messages', got an object"),
        (b'[{"role": "user", "content": "a"}, "b"]', "messages.json: message 1 is no object, but a text"),
        (b"[]", "Cannot apply chat template to an empty conversation"),
        (b"[" * 100_000, "messages.json: not JSON"),
        (b'{"messages": [], "kwargs": 1}', "messages.json: 'kwargs' is int, and template variables are an object"),
    ],
)
def test_damaged_messages_are_one_clear_line(qwen: Path, tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "messages.json").write_bytes(content)

    failed(run(qwen, tmp_path / "messages.json"), 1, reason)


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        (["DIR", "missing.json"], 1, "missing.json: No such file"),
        (["DIR", "GOOD", "--tools", "GOOD", "--show", "--json"], 2, "--show goes with neither"),
        (["DIR", "GOOD", "--set", "x"], 2, "--set x: expected NAME=VALUE"),
        (["DIR", "GOOD", "--set", "tools=[]"], 2, "--set tools: that is no variable of a template; give a file with"),
        (["DIR", "GOOD", "--set", "limits=3"], 2, "--set limits: that is no variable of a template"),
        (["DIR", "GOOD", "--template", "nope"], 1, "--template nope: no such file, and the templates are 'chatml'"),
        (["DIR", "GOOD", "--tools", "OBJECT"], 1, "tools.json: expected a list of objects, one a tool"),
        (["no-such-directory", "GOOD"], 2, "no-such-directory"),
        (["prefixes", "DIR", "missing.jsonl"], 2, "missing.jsonl"),
        (["prefixes", "DIR", "OBJECT"], 1, "tools.json, line 1: expected one of 'messages', 'text' and 'ids'"),
        (["conformance", "DIR"], 2, "--cases"),
    ],
)
def test_a_failure_is_one_clear_line(qwen: Path, tmp_path: Path, arguments: list[str], code: int, reason: str) -> None:
    files = {"GOOD": written(tmp_path, CLEAN), "OBJECT": written(tmp_path, {"a": 1}, "tools.json"), "DIR": qwen}

    failed(run(*(files.get(word, word) for word in arguments)), code, reason)


def test_a_directory_without_a_template_is_one_clear_line(small_tokenizer_json: Path, tmp_path: Path) -> None:
    failed(run(small_tokenizer_json.parent, written(tmp_path, CLEAN)), 1, "chat_template is not set")


def test_prefixes_prints_the_report_as_a_table_and_as_json(qwen: Path, tmp_path: Path) -> None:
    rules = "You answer questions about cats. " * 10
    log = [{"messages": [{"role": "system", "content": f"It is 11:20:0{at}. {rules}"}, *CLEAN]} for at in range(3)]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, log)), encoding="utf-8")

    table, whole = (
        run("prefixes", qwen, tmp_path / "log.jsonl"),
        run("prefixes", qwen, tmp_path / "log.jsonl", "--json"),
    )

    assert b"timestamp" in table.stdout
    assert b"message 0, content" in table.stdout
    assert b"\x1b" not in table.stdout
    expected = chat.prefix_report(log, tokenizer=small_sides("qwen3")[0])
    assert json.loads(whole.stdout) == json.loads(json.dumps(expected.as_json()))
    by_token = json.loads(run("prefixes", qwen, tmp_path / "log.jsonl", "--block-size", "1", "--json").stdout)
    assert by_token["reused"] > expected.reused


def test_conformance_prints_what_agrees_and_exits_by_it(qwen: Path, tmp_path: Path) -> None:
    text = small_sides("qwen3")[1].apply_chat_template(CLEAN, tokenize=False)
    good = written(tmp_path, [{"id": "a", "messages": CLEAN, "expected": {"text": text}}], "good.json")
    bad = written(tmp_path, [{"id": "a", "messages": CLEAN, "expected": {"text": f"{text}!"}}], "bad.json")

    agreeing, differing = run("conformance", qwen, "--cases", good), run("conformance", qwen, "--cases", bad, "--json")

    assert (agreeing.returncode, agreeing.stdout) == (0, b"1 of 1 cases come out as expected\n")
    assert differing.returncode == 1
    assert json.loads(differing.stdout)["differences"][0]["case"] == "a"
    assert b"some cases differ" in differing.stderr


def test_a_directory_that_is_named_as_a_command_is_shown_by_the_long_form(qwen: Path, tmp_path: Path) -> None:
    (tmp_path / "prefixes").symlink_to(qwen)
    path = written(tmp_path, CLEAN)
    command = [*COMMAND, "chat", "show", "prefixes", str(path)]

    result = subprocess.run(command, cwd=tmp_path, capture_output=True, env=_absolute(), timeout=120, check=False)

    assert result.returncode == 0, result.stderr
    assert result.stdout == run(qwen, path).stdout


def _absolute() -> dict[str, str]:
    return ENVIRONMENT | {"PYTHONPATH": os.pathsep.join(map(os.path.abspath, filter(None, sys.path)))}


@pytest.mark.parametrize("command", [(), ("show",), ("prefixes",), ("conformance",)])
def test_help_is_on_stdout_and_shows_an_example(command: tuple[str, ...]) -> None:
    result = run(*command, "--help")

    assert result.returncode == 0
    assert "Usage: hf-bpe chat" in result.stdout.decode()
    assert f"Examples:\n\n      hf-bpe chat {' '.join(command)}" in result.stdout.decode()
