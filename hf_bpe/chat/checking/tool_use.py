"""What becomes of tools, tool calls and documents: left out, encoded twice, announced where there are none."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from hf_bpe.chat.checking.contents import is_json
from hf_bpe.chat.checking.findings import Finding, cut
from hf_bpe.chat.checking.marking import Marker
from hf_bpe.chat.checking.probing import Chat, Json


def tool_calls(chat: Chat, text: str) -> Iterator[Finding]:
    """Yield what becomes of the tool calls of `chat`, whose text is `text`."""
    marker = Marker.of(chat.template, text + repr(chat.messages))
    marked = {index: _marked(marker, index, message) for index, message in _callers(chat)}
    probe = chat.tried(messages=chat.replaced(marked), continue_final_message=False) if marked else None
    if probe is None:
        return
    printed = marker.found(probe)
    for index, message in _callers(chat):
        names = [piece for piece in marker.pieces if piece.message == index and piece.field.endswith("name")]
        lost = [piece for piece in names if piece.mark not in printed]
        if lost:
            said = "the template doesn't print this call; the model sees an answer to nothing"
            yield Finding("dropped-tool-calls", index, lost[0].field.rpartition(".")[0], said, cut(lost[0].text))
        yield from _arguments(message, marked[index], index, probe)


def _callers(chat: Chat) -> Iterator[tuple[int, Json]]:
    for index, message in enumerate(chat.messages):
        if _calls(message):
            yield index, message


def _calls(message: Json) -> list[Any]:
    calls = message.get("tool_calls")
    return calls if isinstance(calls, list) else []


def _function(call: Any) -> Json:
    inner = call.get("function", call) if isinstance(call, dict) else {}
    return inner if isinstance(inner, dict) else {}


def _marked(marker: Marker, index: int, message: Json) -> Json:
    calls = []
    for at, call in enumerate(_calls(message)):
        field = f"tool_calls[{at}].function" if isinstance(call, dict) and "function" in call else f"tool_calls[{at}]"
        function = _function(call)
        changes = {}
        if isinstance(function.get("name"), str):
            changes["name"] = marker.string(function["name"], index, f"{field}.name")
        if "arguments" in function:
            changes["arguments"] = _marked_arguments(marker, function["arguments"])
        inner = {**function, **changes}
        calls.append({**call, "function": inner} if "function" in field else inner if function else call)
    return {**message, "tool_calls": calls}


def _marked_arguments(marker: Marker, arguments: Any) -> Any:
    """Return arguments with one more entry, whose name is a mark."""
    if isinstance(arguments, dict):
        return {**arguments, marker.new(): ""}
    if isinstance(arguments, str) and is_json(arguments):
        parsed = json.loads(arguments)
        if isinstance(parsed, dict):
            return json.dumps({**parsed, marker.new(): ""}, ensure_ascii=False)
    return arguments


def _arguments(message: Json, marked: Json, index: int, probe: str) -> Iterator[Finding]:
    for at, (call, other) in enumerate(zip(_calls(message), _calls(marked), strict=True)):
        arguments, shown = _function(call).get("arguments"), _function(other).get("arguments")
        where = "tool_calls[{}]{}.arguments".format(at, ".function" if "function" in call else "")
        if arguments is None or arguments == shown:
            continue
        if isinstance(arguments, dict) and str(shown) in probe:
            said = "the template prints the arguments the way Python shows them; pass them as the template wants them"
            yield Finding("printed-repr", index, where, said, cut(str(arguments)))
        elif isinstance(arguments, str) and json.dumps(shown, ensure_ascii=False) in probe:
            said = "the arguments are JSON text, and the template encodes them once more; pass the object itself"
            yield Finding("double-encoded", index, where, said, cut(json.dumps(arguments, ensure_ascii=False)))


def empty_tool_calls(chat: Chat) -> dict[int, Json]:
    """Return the messages with an empty list of tool calls, without it."""
    return {
        index: {key: value for key, value in message.items() if key != "tool_calls"}
        for index, message in enumerate(chat.messages)
        if message.get("tool_calls") == []
    }


def empty_tools(chat: Chat, text: str) -> Iterator[Finding]:
    """Yield what `tools=[]` does, if it is not what no tools do."""
    if chat.tools == [] and (without := chat.tried(tools=None)) is not None and without != text:
        said = "with tools=[] the template announces tools, and there are none; pass tools=None"
        yield Finding("empty-tools", None, "tools", said, cut(first_difference(text, without)))


def first_difference(text: str, other: str) -> str:
    """Return the line of `text` in which it begins to differ from `other`."""
    start = next((at for at, (one, two) in enumerate(zip(text, other, strict=False)) if one != two), len(other))
    begin = text.rfind("\n", 0, start) + 1
    return text[begin:].split("\n", 1)[0] or text[start:]


def tools(chat: Chat, text: str) -> Iterator[Finding]:
    """Yield the tools that aren't printed, or are printed as Python shows them."""
    yield from _printed(chat, text, "tools", chat.tools)


def documents(chat: Chat, text: str) -> Iterator[Finding]:
    """Yield the documents that aren't printed."""
    yield from _printed(chat, text, "documents", chat.options.get("documents"))


def _printed(chat: Chat, text: str, name: str, values: Any) -> Iterator[Finding]:
    if not isinstance(values, list) or not values or not all(isinstance(value, Mapping) for value in values):
        return
    kind = f"dropped-{name}"
    if chat.tried(**{name: None}) == text:
        yield Finding(
            kind, None, name, f"the template doesn't print {name}; the model never sees them", cut(str(values))
        )
        return
    marker = Marker.of(chat.template, text + repr(values))
    marked = [marker.value(value, None, f"{name}[{at}]") for at, value in enumerate(values)]
    probe = chat.tried(**{name: marked})
    if probe is None:
        return
    printed = marker.found(probe)
    for at, value in enumerate(values):
        pieces = [piece for piece in marker.pieces if piece.field.startswith(f"{name}[{at}]")]
        if pieces and not any(piece.mark in printed for piece in pieces):
            yield Finding(kind, None, f"{name}[{at}]", "the template doesn't print this one", cut(str(value)))
        elif marker.containers.get((None, f"{name}[{at}]"), "\0") in probe:
            said = "the template prints it the way Python shows it, not as JSON"
            yield Finding("printed-repr", None, f"{name}[{at}]", said, cut(str(value)))
