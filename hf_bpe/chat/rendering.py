"""Renders a chat to text that knows who wrote which character.

Guarantee: the text is that of `transformers` 5 `apply_chat_template(tokenize=False)`, and so are the errors: whatever
fails here is rendered by upstream once more, which raises what it raises. Only [`Limits`][hf_bpe.chat.limits.Limits] are
ours. If upstream succeeds where we failed, its text is returned, and all of it counts as the caller's.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from transformers import PreTrainedTokenizerBase
from transformers.utils import get_json_schema
from transformers.utils.chat_template_utils import (
    _REASONING_FIELDS,
    _alias_reasoning_fields,
    _normalize_chat_messages,
    _plain_template_data,
)

from hf_bpe.chat.containers import trace, trace_messages
from hf_bpe.chat.environment import TracingContext, compiled
from hf_bpe.chat.limits import METER, Limits, Meter
from hf_bpe.chat.prefill import cut_prefill, with_prefill
from hf_bpe.chat.provenance import LOST, template
from hf_bpe.chat.rendered import Rendered, Run
from hf_bpe.chat.roles import known_roles
from hf_bpe.chat.turns import runs_of, trusted_of
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

Messages = Sequence[Mapping[str, Any]]
Tools = Sequence[dict[str, Any] | Callable[..., Any]]


def render(
    tokenizer: PreTrainedTokenizerBase,
    messages: Messages,
    *,
    tools: Tools | None = None,
    documents: Sequence[dict[str, str]] | None = None,
    chat_template: str | None = None,
    add_generation_prompt: bool = False,
    continue_final_message: bool | str = False,
    limits: Limits = Limits(),  # noqa: B008  # immutable
    **kwargs: Any,
) -> Rendered:
    """Render one conversation with the chat template of a tokenizer.

    The tokenizer's own special tokens (`bos_token` and so on) are trusted. A keyword argument of the same name replaces
    one, and is the caller's, unless it says just what the tokenizer says.

    Args:
        tokenizer: Whose chat template and special tokens to use.
        messages: The conversation, as for `apply_chat_template`. One, not a batch.
        tools: JSON schemas, or functions to make them from.
        documents: Documents for templates that retrieve.
        chat_template: A template, or the name of one of the tokenizer's, in place of its default.
        add_generation_prompt: Whether the template should begin the assistant's turn.
        continue_final_message: Whether to leave the last message open, or the name of the field to go on with.
        limits: How many iterations and characters the template may use.
        **kwargs: Variables of the template.

    Returns:
        The text, and its runs.

    Raises:
        ChatError: If the template goes beyond `limits`, or `messages` is a batch.
        Exception: Whatever upstream raises for the same arguments, with its class and message.

    Example:
        >>> rendered = render(tokenizer, [{"role": "user", "content": "hi"}])
        >>> [rendered.text[start:end] for start, end in rendered.trusted]
        ['<|im_start|>user\\n', '<|im_end|>\\n']
    """
    refuse(messages, kwargs)
    options = {
        "tools": tools,
        "documents": documents,
        "chat_template": chat_template,
        "add_generation_prompt": add_generation_prompt,
        "continue_final_message": continue_final_message,
    }
    token = METER.set(Meter(limits))
    try:
        return rendered(tokenizer, messages, kwargs, **options)
    except ChatError:
        raise
    except Exception:  # noqa: BLE001  # upstream says which
        text = tokenizer.apply_chat_template(messages, tokenize=False, **options, **kwargs)
    finally:
        METER.reset(token)
    return Rendered(text, [Run(0, len(text), LOST)] if text else [])


def refuse(messages: Any, kwargs: Mapping[str, Any]) -> None:
    """Raise for arguments that upstream takes and we don't."""
    for name in kwargs.keys() & RESERVED:
        raise TypeError(f"rendering takes no argument {name!r}: it is none of the template's variables.")
    if (
        isinstance(messages, list | tuple)
        and messages
        and (isinstance(messages[0], list | tuple) or hasattr(messages[0], "messages"))
    ):
        raise ChatError("messages is a batch of conversations; pass one conversation, a list of messages, at a time.")


def rendered(
    tokenizer: Any,
    messages: Any,
    kwargs: dict[str, Any],
    *,
    tools: Any,
    documents: Any,
    chat_template: Any,
    add_generation_prompt: Any,
    continue_final_message: Any,
) -> Rendered:
    """Render, or raise anything at all."""
    source = tokenizer.get_chat_template(chat_template, tools)
    if (isinstance(messages, list | tuple) and not messages) or (continue_final_message and add_generation_prompt):
        raise ValueError("upstream has the words for it")
    program = compiled(source)
    chat, prefill = conversation(messages, continue_final_message, source), None
    if continue_final_message:
        chat, prefill = with_prefill(chat, continue_final_message, source)
    variables = {
        **{name: template(token) for name, token in tokenizer.special_tokens_map.items()},
        **own(kwargs, tokenizer),
        "messages": trace_messages(chat, known_roles(program.words)),
        "tools": trace(schemas(tools), None, "tools"),
        "documents": trace(checked(documents), None, "documents"),
        "add_generation_prompt": trace(add_generation_prompt, None, "add_generation_prompt"),
    }
    pieces = run(program.template, variables)
    text = "".join(pieces)
    length = len(text) if prefill is None else cut_prefill(text, prefill)
    return Rendered(text[:length], lambda: runs_of(pieces, length), lambda: trusted_of(pieces, length))


def run(program: Any, variables: dict[str, Any]) -> list[str]:
    """Return what a template prints, piece by piece."""
    meter = METER.get()
    context = program.new_context(variables)
    assert isinstance(context, TracingContext)
    context.start(meter)
    pieces: list[str] = []
    left = meter.limits.characters
    for piece in program.root_render_func(context):
        pieces.append(piece)
        left -= len(piece)
        if left < 0:
            meter.charge(meter.limits.characters - left)
    return pieces


def conversation(messages: Any, continued: Any, source: str) -> list[dict[Any, Any]]:
    """Return the messages as plain dicts without None, and reasoning under all its names."""
    if type(messages) is not list or any(type(message) is not dict for message in messages):
        messages = _normalize_chat_messages(messages)
    elif not all(type(value) in EXACT for message in messages for value in message.values()):
        messages = _normalize_chat_messages(messages)
    chat = [
        {_plain_template_data(key): value for key, value in message.items() if value is not None}
        for message in messages
    ]
    return [
        _alias_reasoning_fields([_plain_template_data(message)])[0] if has_reasoning(message) else message
        for message in chat
    ]


EXACT = frozenset({str, int, float, bool, type(None), list, dict, tuple})


def has_reasoning(message: Mapping[Any, Any]) -> bool:
    """Tell whether a message holds reasoning under any of its names."""
    return any(name in message for name in _REASONING_FIELDS)


def own(kwargs: dict[str, Any], tokenizer: Any) -> dict[str, Any]:
    """Return the keyword arguments, traced, without those that say what the tokenizer says."""
    special = tokenizer.special_tokens_map
    return {
        name: trace(value, None, name)
        for name, value in kwargs.items()
        if not (isinstance(value, str) and special.get(name) == value)
    }


def schemas(tools: Any) -> list[dict[str, Any]] | None:
    """Return tools as JSON schemas."""
    if tools is None:
        return None
    made = []
    for tool in tools:
        if isinstance(tool, dict):
            made.append(tool)
        elif inspect.isfunction(tool) or inspect.ismethod(tool):
            made.append(get_json_schema(tool))
        else:
            raise ValueError("upstream has the words for it")
    return made


def checked(documents: Any) -> Any:
    """Return documents, all of which are dicts."""
    if documents is not None and not all(isinstance(document, dict) for document in documents):
        raise TypeError("upstream has the words for it")
    return documents
