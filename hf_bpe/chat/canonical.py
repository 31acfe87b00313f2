"""Prompts that come out the same each time, so that their prefixes can be shared: tools in one order, and one date.

A prefix cache is lost at the first token that differs. What differs without meaning anything is the order of keys in
the schemas of tools, and the clock of templates that write today's date. Both are put right here where a caller asks
for it; nothing else in this package changes either.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from jinja2 import nodes
from transformers.utils.chat_template_utils import _compile_jinja_template, get_json_schema

_ORDER = ("type", "function", "name", "description", "parameters", "properties", "required", "return", "items", "enum")
"""Keys in the order in which `transformers` writes the schema of a function, which is what models were trained on."""

_NAMES_INSIDE = ("properties", "patternProperties", "$defs", "definitions")
"""Keys whose values map names to schemas."""


def canonical_tools(tools: Sequence[dict[str, Any] | Callable[..., Any]]) -> list[dict[str, Any]]:
    """Return the schemas of `tools` in an order that doesn't depend on how they were written.

    Keys of a schema come as `type`, `function`, `name`, `description`, `parameters`, `properties`, `required`,
    `return`, `items`, `enum`, and then by code point. Names of parameters are ordered by code point, and so is what
    `required` lists, and the tools themselves are ordered by name. Other lists keep their order, since it may mean
    something.

    Args:
        tools: JSON schemas, or functions to make them from, as for `apply_chat_template`.

    Returns:
        New schemas. Those given aren't changed.

    Raises:
        TypeError: A tool is neither a dict nor a function.

    Example:
        >>> canonical_tools([{"function": {"name": "b"}}, {"parameters": {}, "name": "a"}])
        [{'name': 'a', 'parameters': {}}, {'function': {'name': 'b'}}]
    """
    return sorted((_ordered(_schema(tool, index)) for index, tool in enumerate(tools)), key=_name)


def _schema(tool: Any, index: int) -> dict[str, Any]:
    if isinstance(tool, dict):
        return tool
    if callable(tool):
        schema: dict[str, Any] = get_json_schema(tool)
        return schema
    raise TypeError(f"tools[{index}] is a {type(tool).__name__}; a tool is a JSON schema, as a dict, or a function")


def _name(tool: dict[str, Any]) -> str:
    function = tool.get("function")
    return str((function if isinstance(function, dict) else tool).get("name", ""))


def _ordered(value: Any, *, names: bool = False) -> Any:
    """Return a copy of `value` with its keys in order; `names` says that they are names, not words of a schema."""
    if isinstance(value, list | tuple):
        return [_ordered(item) for item in value]
    if not isinstance(value, dict):
        return value
    keys = sorted(value, key=str if names else _rank)
    return {key: _member(key, value[key], names=names) for key in keys}


def _member(key: Any, value: Any, *, names: bool) -> Any:
    if names:
        return _ordered(value)
    if key == "required" and isinstance(value, list | tuple) and all(isinstance(name, str) for name in value):
        return sorted(value)
    return _ordered(value, names=key in _NAMES_INSIDE)


def _rank(key: Any) -> tuple[int, str]:
    return (_ORDER.index(key) if key in _ORDER else len(_ORDER), str(key))


def clock(now: datetime) -> Callable[[str], str]:
    """Return what a template calls as `strftime_now`, for a clock that stands still.

    Example:
        >>> clock(datetime(2024, 7, 26))("%d %m %Y")
        '26 07 2024'
    """

    def strftime_now(format: str) -> str:
        return now.strftime(format)

    return strftime_now


def pin_clock(template: str, now: datetime) -> str:
    """Return a chat template that writes what `template` writes at the moment `now`, whenever it runs.

    `apply_chat_template` of `transformers`, and any other engine, then renders the same text each day. A template that
    doesn't look at the clock comes back as it is.

    Args:
        template: A chat template.
        now: The moment.

    Raises:
        ValueError: The template makes up the format of a date as it runs, so that it isn't known beforehand.
        TemplateSyntaxError: It is no template.

    Example:
        >>> tokenizer.chat_template = pin_clock(tokenizer.chat_template, datetime(2024, 7, 26))
    """
    program = _parsed(template)
    if not any(name.name == "strftime_now" for name in program.find_all(nodes.Name)):
        return template
    formats = sorted({_format(call) for call in _looks_at_clock(program)})
    told = ", ".join(f"{_literal(format)}: {_literal(clock(now)(format))}" for format in formats)
    # The empty output keeps a line end at the start of the template from being trimmed with the tag.
    return f"{{%- macro strftime_now(format) %}}{{{{- {{{told}}}[format] }}}}{{%- endmacro %}}{{{{- '' }}}}{template}"


def _looks_at_clock(program: nodes.Template) -> list[nodes.Call]:
    """Return the calls of `strftime_now`, which is used for nothing else but to ask whether it is there."""
    calls = [call for call in program.find_all(nodes.Call) if _is_clock(call.node)]
    asked = [test for test in program.find_all(nodes.Test) if test.name == "defined" and _is_clock(test.node)]
    if len(calls) + len(asked) < sum(map(_is_clock, program.find_all(nodes.Name))):
        raise ValueError("the chat template hands strftime_now on, so that what it is called with can't be known.")
    return calls


def _is_clock(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Name) and node.name == "strftime_now"


def _format(call: nodes.Call) -> str:
    given = [*call.args, *(keyword.value for keyword in call.kwargs)]
    if len(given) != 1 or not isinstance(given[0], nodes.Const) or not isinstance(given[0].value, str):
        raise ValueError(
            f"line {call.lineno} of the chat template calls strftime_now with a format that isn't a plain string, so "
            "that its dates can't be written down beforehand. Pass the date as a keyword argument, if it takes one."
        )
    return given[0].value


def _parsed(template: str) -> nodes.Template:
    # The environment of upstream knows its tags.
    program: nodes.Template = _compile_jinja_template("").environment.parse(template)
    return program


def _literal(text: str) -> str:
    """Return `text` as a string of a template, whatever it holds."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"
