"""What the chat commands read: messages, tools, templates, variables. Each failure names its file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer

from hf_bpe.cli.output import stdin

STDIN = "-"


def read_json(source: str) -> Any:
    """Return the JSON of a file, or of stdin for `-`.

    Raises:
        ValueError: It isn't UTF-8 or JSON. The text says where.
    """
    data = stdin().read() if source == STDIN else Path(source).read_bytes()
    name = "stdin" if source == STDIN else source
    try:
        return json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} isn't UTF-8: byte {error.start} is {data[error.start]:#04x}") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"{name}, line {error.lineno}, column {error.colno}: not JSON: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name}: not JSON: {error}") from None


def read_chat(source: str) -> tuple[list[Any], Any, dict[str, Any]]:
    """Return the messages of a file, and the tools and other arguments that stand beside them, if they do."""
    value = read_json(source)
    options: dict[str, Any] = {}
    if isinstance(value, dict) and "messages" in value:
        from hf_bpe.chat.prefixes.requests import options_of

        value, options = value["messages"], options_of(value, source)
    if not isinstance(value, list):
        raise ValueError(f"{source}: expected a list of messages, or an object with 'messages', got {_kind(value)}")
    for index, message in enumerate(value):
        if not isinstance(message, dict):
            raise ValueError(f"{source}: message {index} is no object, but {_kind(message)}")
    return value, options.pop("tools", None), options


def read_tools(source: str) -> list[Any]:
    """Return the tools of a file."""
    value = read_json(source)
    if not isinstance(value, list) or not all(isinstance(tool, dict) for tool in value):
        raise ValueError(f"{source}: expected a list of objects, one a tool")
    return value


def read_template(tokenizer: Any, name: str) -> str:
    """Return a template: the file of that name, one of the tokenizer's own, or one of this package."""
    if Path(name).is_file():
        return Path(name).read_text(encoding="utf-8")
    own = tokenizer.chat_template if isinstance(tokenizer.chat_template, dict) else {}
    if name in own:
        return str(own[name])
    from hf_bpe.chat import templates

    if name in templates.NAMES:
        return templates.load(name)
    known = ", ".join(map(repr, [*own, *templates.NAMES]))
    raise ValueError(f"--template {name}: no such file, and the templates are {known}")


def variable(assignment: str) -> tuple[str, Any]:
    """Return the name and value of `NAME=VALUE`. A value that is JSON is read as such; any other is text."""
    name, equals, value = assignment.partition("=")
    if not equals or not name.isidentifier():
        raise typer.BadParameter(f"--set {assignment}: expected NAME=VALUE")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
