"""What a template is given, as `transformers` gives it: plain JSON values, before anything is traced."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from transformers.utils.chat_template_utils import get_json_schema

from hf_bpe.chat.conversions import DROPS_NONE, REASONING, alias_reasoning, normalize, to_json
from hf_bpe.chat.prefill import with_prefill
from hf_bpe.errors import ChatError

RESERVED = frozenset(
    {
        "conversation",
        "conversations",
        "max_length",
        "padding",
        "return_assistant_tokens_mask",
        "return_dict",
        "return_tensors",
        "sanitize_control_tokens",
        "self",
        "tokenize",
        "tokenizer_kwargs",
        "truncation",
    }
)
"""Keyword arguments of upstream's that are no variables of a template."""

NAMES = frozenset(REASONING)

EXACT = frozenset({str, int, float, bool, type(None), list, dict, tuple})
"""Types of message fields that need no look at their insides before None is dropped."""


class UpstreamError(Exception):
    """Upstream refuses these arguments, and has the words for it."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """The values that a template sees, and the text that a last message goes on from."""

    chat: list[dict[Any, Any]]
    prefill: str | None
    variables: dict[str, Any]


def refuse(messages: Any, kwargs: Mapping[str, Any]) -> None:
    """Raise for arguments that upstream takes and we don't."""
    for name in sorted(kwargs.keys() & RESERVED):
        raise TypeError(f"rendering takes no argument {name!r}: it is none of the template's variables.")
    first = messages[0] if isinstance(messages, list | tuple) and messages else {}
    if isinstance(first, list | tuple) or hasattr(first, "messages"):
        raise ChatError("messages is a batch of conversations; pass one, a list of messages, at a time.")


def arguments(messages: Any, source: str, options: Mapping[str, Any], kwargs: Mapping[str, Any]) -> Arguments:
    """Return what the template is given, or raise anything where upstream raises.

    Messages with tool calls and the like are not copied: tracing does that, and makes the rest of them JSON.
    """
    continued, prompt = options["continue_final_message"], options["add_generation_prompt"]
    if (isinstance(messages, list | tuple) and not messages) or (continued and prompt):
        raise UpstreamError
    chat, prefill = conversation(messages), None
    variables = {
        **kwargs,
        "tools": schemas(options["tools"]),
        "documents": checked(options["documents"]),
        "add_generation_prompt": prompt,
    }
    if continued:
        chat, prefill = with_prefill(chat, continued, source)
    return Arguments(chat, prefill, variables)


def conversation(messages: Any) -> list[dict[Any, Any]]:
    """Return the messages as dicts without None, and reasoning under all its names."""
    if type(messages) is list and all(map(is_simple, messages)):
        messages = map(without_none, messages)
    else:
        messages = normalize(messages)
    return [with_reasoning(message) for message in messages]


def is_simple(message: Any) -> bool:
    """Tell whether a message needs no conversion but that of its values."""
    return type(message) is dict and EXACT.issuperset(map(type, message.values()))


def without_none(message: dict[Any, Any]) -> dict[Any, Any]:
    """Return a message without the keys whose value is None."""
    if not DROPS_NONE or None not in message.values():
        return message
    return {key: value for key, value in message.items() if value is not None}


def with_reasoning(message: dict[Any, Any]) -> dict[Any, Any]:
    """Return a message with its reasoning, if it has some, under all names for it."""
    if NAMES.isdisjoint(message):
        return message
    aliased: dict[Any, Any] = alias_reasoning([to_json(message)])[0]
    return aliased


def schemas(tools: Any) -> list[Any] | None:
    """Return tools as JSON schemas."""
    if tools is None:
        return None
    return [schema(tool) for tool in tools]


def schema(tool: Any) -> Any:
    """Return a tool as its JSON schema."""
    if isinstance(tool, dict):
        return tool
    if inspect.isfunction(tool) or inspect.ismethod(tool):
        return get_json_schema(tool)
    raise UpstreamError


def checked(documents: Any) -> Any:
    """Return documents, all of which are dicts."""
    if documents is not None and not all(isinstance(document, dict) for document in documents):
        raise UpstreamError
    return documents
