"""A log of requests: each a chat, a rendered text, or ids; from memory or from a file of JSON lines."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerBase

from hf_bpe.chat.rendering import render

Ids = NDArray[np.int64]
Json = dict[str, Any]

_TEXTS = ("text", "prompt", "rendered")
_IDS = ("ids", "input_ids", "prompt_token_ids")
_VARIABLES = ("kwargs", "chat_template_kwargs")
_OF_THE_SERVER = frozenset(
    {
        *(
            "model",
            "temperature",
            "top_p",
            "top_k",
            "min_p",
            "max_tokens",
            "max_completion_tokens",
            "n",
            "stop",
            "seed",
        ),
        *("stream", "stream_options", "user", "logprobs", "top_logprobs", "logit_bias", "presence_penalty"),
        *("frequency_penalty", "response_format", "tool_choice", "parallel_tool_calls", "metadata", "store", "id"),
        *("object", "created", "timestamp", "time", "request_id", "service_tier", "response", "usage"),
    }
)
"""Keys of a request that steer a server or a log, and have no part in the prompt."""


@dataclass(frozen=True)
class Request:
    """One request of a log.

    Attributes:
        index: Its place in the log, from 0.
        ids: Its ids; its bytes, where there is no tokenizer.
        text: Its text. None if only ids were logged.
        messages: Its messages. None if it was logged as text or ids.
        tools: Its tools.
        options: The other arguments of `apply_chat_template`.
    """

    index: int
    ids: Ids
    text: str | None = None
    messages: list[Json] | None = None
    tools: list[Any] | None = None
    options: Json = field(default_factory=dict)


def read_requests(log: Any, tokenizer: PreTrainedTokenizerBase | None) -> Iterator[Request]:
    """Yield the requests of a log.

    Raises:
        TypeError: `log` is neither a path nor an iterable.
        ValueError: A request can't be read or rendered. The text names it, or its line.
    """
    if isinstance(log, str | os.PathLike):
        entries = _lines(Path(log))
    elif isinstance(log, Mapping | bytes) or not isinstance(log, Iterable):
        raise TypeError(f"a log is a path of JSON lines or a list of requests, got {type(log).__name__}")
    else:
        entries = ((f"request {index}", entry) for index, entry in enumerate(log))
    for index, (where, entry) in enumerate(entries):
        yield _read(index, where, entry, tokenizer)


def _lines(path: Path) -> Iterator[tuple[str, Any]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                where = f"{path}, line {number}"
                try:
                    yield where, json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
                except UnicodeDecodeError as error:
                    raise ValueError(f"{where}: not UTF-8: {error.reason} at byte {error.start}") from None
                except (ValueError, RecursionError) as error:
                    raise ValueError(f"{where}: not JSON: {error}") from None


def _read(index: int, where: str, entry: Any, tokenizer: PreTrainedTokenizerBase | None) -> Request:
    if isinstance(entry, str):
        return _of_text(index, where, entry, tokenizer)
    if isinstance(entry, Mapping):
        return _of_mapping(index, where, dict(entry), tokenizer)
    if isinstance(entry, Sequence | np.ndarray) and len(entry):
        if isinstance(entry[0], Mapping):
            return _of_chat(index, where, {"messages": list(entry)}, tokenizer)
        return _of_ids(index, where, entry)
    raise ValueError(
        f"{where}: expected a text, messages, ids, or an object with one of 'messages', 'text' and 'ids', "
        f"got {type(entry).__name__}{'' if entry else ', empty'}"
    )


def _of_mapping(index: int, where: str, entry: Json, tokenizer: PreTrainedTokenizerBase | None) -> Request:
    given = [name for name in ("messages", *_TEXTS, *_IDS) if entry.get(name) is not None]
    if "messages" in given:
        return _of_chat(index, where, entry, tokenizer)
    if len(given) != 1:
        keys = ", ".join(map(repr, sorted(map(str, entry)))) or "no keys"
        raise ValueError(f"{where}: expected one of 'messages', 'text' and 'ids', got {keys}")
    value = entry[given[0]]
    if given[0] in _IDS:
        return _of_ids(index, where, value)
    if not isinstance(value, str):
        raise ValueError(f"{where}: {given[0]!r} is no text, but {type(value).__name__}")
    return _of_text(index, where, value, tokenizer)


def _of_ids(index: int, where: str, ids: Any) -> Request:
    try:
        array = np.asarray(ids)
    except ValueError:
        array = np.empty(0)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError(f"{where}: ids are a list of numbers, got {str(ids)[:40]!r}")
    return Request(index, array.astype(np.int64))


def _of_text(index: int, where: str, text: str, tokenizer: PreTrainedTokenizerBase | None, **chat: Any) -> Request:
    if tokenizer is None:
        found: Any = np.frombuffer(text.encode("utf-8", "replace"), dtype=np.uint8)
    else:
        try:
            found = tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        except Exception as error:  # such as stock's, for lone surrogates
            raise ValueError(f"{where}: the text can't be encoded: {error}") from error
    return Request(index, np.asarray(found, dtype=np.int64), text, **chat)


def _of_chat(index: int, where: str, entry: Json, tokenizer: PreTrainedTokenizerBase | None) -> Request:
    messages, tools = entry["messages"], entry.get("tools")
    if not isinstance(messages, list) or not all(isinstance(message, Mapping) for message in messages):
        wrong = messages if not isinstance(messages, list) else next(m for m in messages if not isinstance(m, Mapping))
        place = "'messages'" if wrong is messages else f"message {messages.index(wrong)}"
        raise ValueError(f"{where}: {place} is {type(wrong).__name__}, and a chat is a list of objects")
    if tokenizer is None:
        raise ValueError(f"{where}: messages need a template: pass tokenizer=, or log the rendered text")
    options = options_of(entry, where)
    options.pop("tools", None)
    try:
        text = render(tokenizer, messages, tools=tools, **options).text
    except Exception as error:  # a template may raise anything
        raise ValueError(f"{where}: upstream refuses the chat: {type(error).__name__}: {error}") from error
    chat = {"messages": [dict(message) for message in messages], "tools": tools, "options": options}
    return _of_text(index, where, text, tokenizer, **chat)


def options_of(entry: Mapping[str, Any], where: str) -> Json:
    """Return the arguments of `apply_chat_template` that a request holds beside its messages, tools among them."""
    skipped = _OF_THE_SERVER | {"messages", *_VARIABLES, *_TEXTS, *_IDS}
    options = {name: value for name, value in entry.items() if name not in skipped}
    for name in _VARIABLES:
        more = entry.get(name) or {}
        if not isinstance(more, Mapping):
            raise ValueError(f"{where}: {name!r} is {type(more).__name__}, and template variables are an object")
        options |= more
    return options
