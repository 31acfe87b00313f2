"""What upstream changes of a chat in silence: `check(tokenizer, messages)` lists it, message by message.

No template is known by name. What goes in is compared with what comes out: a mark is put into a field, and it is or
isn't in the text; a value is replaced by what Python would print for it, and the text is or isn't the same; the text
is rendered at two times. So the findings hold for any template, and a chat that comes out as it went in has but notes.
"""

from __future__ import annotations

from typing import Any

from transformers import PreTrainedTokenizerBase

from hf_bpe.chat.checking import tool_use, whole
from hf_bpe.chat.checking.contents import contents
from hf_bpe.chat.checking.control_tokens import control_tokens
from hf_bpe.chat.checking.findings import KINDS, Finding, in_order
from hf_bpe.chat.checking.probing import Chat
from hf_bpe.errors import ChatError

__all__ = ["KINDS", "Finding", "check"]


def check(
    tokenizer: PreTrainedTokenizerBase, messages: Any, tools: list[Any] | None = None, **options: Any
) -> list[Finding]:
    """Return what upstream's `apply_chat_template` changes or loses of a chat in silence.

    A clean chat costs about a dozen renders. A chat that upstream refuses has one finding of the kind `"refused"`, with
    the message from which on it does.

    Args:
        tokenizer: A tokenizer with a chat template, of this package or any other of transformers.
        messages: One chat: a list of messages.
        tools: Tools, as for `apply_chat_template`.
        **options: Its other arguments: `add_generation_prompt`, `continue_final_message`, `documents`,
            `chat_template`, and the variables of the template.

    Returns:
        The findings, by message; those that belong to no message are last. `finding.level` is `"error"`, `"warning"`
        or `"note"`: notes tell what is as the template means it, such as white space that it trims.

    Raises:
        TypeError: `messages` isn't a list of messages.
        ValueError: The tokenizer has no chat template.
        ChatError: The template runs beyond all bounds.

    Example:
        >>> [finding.kind for finding in chat.check(tokenizer, [{"role": "critic", "content": "No."}])]
        ['dropped-message']
    """
    chat = Chat.of(tokenizer, messages, tools, options)
    chat.template  # noqa: B018  (raises where there is none)
    found: list[Finding] = []
    text: str | None
    try:
        text = chat.render()
    except ChatError:
        raise
    except Exception as error:  # of any class: a template raises what it likes
        chat, text, found = _mended(chat, error)
    found += whole.dropped_none(chat, text)
    if text is not None:
        found += _compared(chat, text)
    return in_order(found)


def _mended(chat: Chat, error: Exception) -> tuple[Chat, str | None, list[Finding]]:
    """Return a chat that upstream refuses without its empty lists of tool calls, if it then takes it."""
    mended = tool_use.empty_tool_calls(chat)
    if mended:
        other = Chat(chat.tokenizer, chat.replaced(mended), chat.tools, chat.options)
        if (text := other.tried()) is not None:
            raised = type(error).__name__
            said = f"an empty list of tool calls isn't none to the template, which raises {raised}: leave it out"
            return other, text, [_empty_calls(index, said, str(error)) for index in mended]
    return chat, None, [whole.refused(chat, error)]


def _empty_calls(index: int, said: str, evidence: str) -> Finding:
    return Finding("empty-tool-calls", index, "tool_calls", said, evidence)


def _compared(chat: Chat, text: str) -> list[Finding]:
    found = [*contents(chat, text), *tool_use.tool_calls(chat, text)]
    for index, message in tool_use.empty_tool_calls(chat).items():
        without = chat.tried(messages=chat.replaced({index: message}))
        if without is not None and without != text:
            said = "an empty list of tool calls isn't none to the template; leave it out"
            found.append(_empty_calls(index, said, tool_use.first_difference(text, without)))
    found += [*tool_use.empty_tools(chat, text), *tool_use.tools(chat, text), *tool_use.documents(chat, text)]
    found += [*whole.first_not_user(chat, text), *whole.prefill(chat, text), *control_tokens(chat, text)]
    found += [*whole.unstable_date(chat), *whole.second_bos(chat, text), *whole.unsorted_tool_keys(chat, text)]
    return found
