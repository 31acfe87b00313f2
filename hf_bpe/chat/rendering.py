"""Renders a chat to text that knows who wrote which character.

Guarantee: the text is that of `apply_chat_template(tokenize=False)` of the installed `transformers` (made with 5.24),
and so are the errors: what fails here is rendered by upstream once more, which raises what it raises. Only
[`Limits`][hf_bpe.chat.limits.Limits] are ours. If upstream succeeds where we failed, its text is returned, and all of
it counts as the caller's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from transformers import PreTrainedTokenizerBase

from hf_bpe.chat.arguments import Arguments, arguments, refuse
from hf_bpe.chat.compiling import Compiled, compiled, traced_clock
from hf_bpe.chat.containers import trace, trace_messages
from hf_bpe.chat.environment import TracingContext
from hf_bpe.chat.limits import METER, Limits, Meter
from hf_bpe.chat.prefill import cut_prefill
from hf_bpe.chat.provenance import LOST, template
from hf_bpe.chat.rendered import Rendered, Run
from hf_bpe.chat.turns import Output
from hf_bpe.chat.upstream import render_plainly, upstreams_time
from hf_bpe.errors import ChatError

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
    clock: datetime | None = None,
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
        clock: What `strftime_now` in templates should take for now. By default, it's the time.
        limits: How many iterations and characters the template may use.
        **kwargs: Variables of the template.

    Returns:
        The text, and who wrote which part of it.

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
        "tools": list(tools) if isinstance(tools, Iterator) else tools,
        "documents": documents,
        "chat_template": chat_template,
        "add_generation_prompt": add_generation_prompt,
        "continue_final_message": continue_final_message,
    }
    if isinstance(messages, Iterator):
        messages = list(messages) or iter(())  # type: ignore[assignment]  # upstream refuses only a list that is empty
    token = METER.set(Meter(limits))
    try:
        return rendered(tokenizer, messages, options, kwargs, clock)
    finally:
        METER.reset(token)


def rendered(
    tokenizer: Any, messages: Any, options: dict[str, Any], kwargs: dict[str, Any], clock: datetime | None
) -> Rendered:
    """Render, or raise what upstream raises."""
    source = tokenizer.get_chat_template(options["chat_template"], options["tools"])
    program = None
    try:
        program = compiled(source)
        given = arguments(messages, source, options, {**tokenizer.special_tokens_map, **kwargs})
        variables = traced(given, program, tokenizer.special_tokens_map)
    except Exception as error:
        return by_upstream(tokenizer, messages, {**options, **kwargs}, program, error)
    if program.has_clock and "strftime_now" not in variables:
        clock = clock or upstreams_time()
        variables["strftime_now"] = traced_clock(clock.strftime)
    pieces = run(program, variables, lambda: render_plainly(source, given, clock))
    text = "".join(pieces)
    try:
        length = len(text) if given.prefill is None else cut_prefill(text, given.prefill)
    except Exception as error:
        return by_upstream(tokenizer, messages, {**options, **kwargs}, program, error)
    output = Output(pieces, length)
    return Rendered(text[:length], output.runs, output.trusted, output.may_be_lost)


def traced(given: Arguments, program: Compiled, special: Mapping[str, str]) -> dict[str, Any]:
    """Return the variables of the template, whose strings know where they come from."""
    variables = {
        name: template(value) if type(value) is str and special.get(name) == value else trace(value, None, name)
        for name, value in given.variables.items()
    }
    variables["messages"] = trace_messages(given.chat, program.roles)
    return variables


def run(program: Compiled, variables: dict[str, Any], otherwise: Callable[[], str]) -> list[str]:
    """Return what a template prints, piece by piece, or in one piece that upstream printed if we can't."""
    meter = METER.get()
    context = program.template.new_context(variables)
    assert isinstance(context, TracingContext)
    context.start(meter)
    pieces: list[str] = []
    left = meter.limits.characters
    try:
        for piece in program.template.root_render_func(context):
            pieces.append(piece)
            left -= len(piece)
            if left < 0:
                meter.charge(meter.limits.characters - left)
    except ChatError:
        raise
    except Exception:
        if not program.is_repeatable:
            raise
        return [otherwise()]  # upstream meets the same, and its words are those that callers know
    return pieces


def by_upstream(
    tokenizer: Any, messages: Any, options: dict[str, Any], program: Compiled | None, error: Exception
) -> Rendered:
    """Return what upstream renders, which is most likely to be an error."""
    if program is not None and program.folds_large:
        raise ChatError(
            "these arguments can't be rendered, and why is not asked of transformers, because its compiler would first "
            "compute the large literals of this chat template; correct the arguments."
        ) from error
    text: str = tokenizer.apply_chat_template(messages, tokenize=False, **options)
    return Rendered(text, [Run(0, len(text), LOST)] if text else [])
