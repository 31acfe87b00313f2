"""What one chat is encoded from: everything that `chat.encode` was given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from hf_bpe.chat.conversions import normalize
from hf_bpe.chat.limits import Limits
from hf_bpe.chat.policy import Rules
from hf_bpe.chat.rendered import Rendered
from hf_bpe.chat.rendering import render
from hf_bpe.chat.training import Trained
from hf_bpe.tokenizer import HfBpeTokenizer

Message = Mapping[str, Any]


STAYING = ("limits", "policy", "tokenizer", "training")
"""What a chat is encoded with that is no argument of its template, and can't change from turn to turn."""


def check_settings(limits: object, training: object) -> None:
    """Refuse settings of another type.

    Raises:
        TypeError: One isn't what it should be.
    """
    if not isinstance(limits, Limits):
        raise TypeError(f"limits is a chat.Limits(...), got {limits!r}")
    if not isinstance(training, Trained):
        raise TypeError(f"training is a chat.Trained(...), got {training!r}")


def check_addition(messages: object, options: Mapping[str, Any]) -> None:
    """Refuse what can't be appended to a chat.

    Raises:
        TypeError: It is no list of messages, or an option can't change any more.
    """
    if messages is None or isinstance(messages, str | bytes | Mapping):
        raise TypeError(f"append() takes a list of messages, got {type(messages).__name__}: put one message in a list.")
    for name in STAYING:
        if name in options:
            raise TypeError(f"append() takes no argument {name!r}: it stays as it was when the chat was first encoded.")


def owned(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Return messages that don't change when the caller's do."""
    return tuple(dict(message) if type(message) is dict else message for message in messages)


def fields_of(message: object) -> Mapping[str, Any]:
    """Return the fields of a message, which may be an object of a class with such fields."""
    if isinstance(message, Mapping):
        return message
    fields: Mapping[str, Any] = normalize([message])[0]
    return fields


@dataclass(frozen=True)
class Request:
    """A chat, and how to render and encode it.

    Attributes:
        tokenizer: Whose template and vocabulary are used.
        messages: The conversation.
        options: The keyword arguments of `render`, limits aside.
        limits: The bounds of a render.
        rules: What becomes of control tokens in the caller's data.
        training: What of an assistant's turn is trained.
    """

    tokenizer: HfBpeTokenizer
    messages: tuple[Message, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    limits: Limits = Limits()  # noqa: RUF009  # immutable
    rules: Rules = Rules({}, None)  # noqa: RUF009  # immutable
    training: Trained = Trained()  # noqa: RUF009  # immutable

    def render(self, messages: Sequence[Message] | None = None, **options: Any) -> Rendered:
        """Render the chat, or other messages, with some options replaced."""
        chat = list(self.messages if messages is None else messages)
        return render(self.tokenizer, chat, limits=self.limits, **{**self.options, **options})

    def with_messages(self, messages: Sequence[Message], **options: Any) -> Request:
        """Return the same request for other messages."""
        return replace(self, messages=tuple(messages), options={**self.options, **options})

    @cached_property
    def roles(self) -> list[str]:
        """The role of each message."""
        return [str(fields_of(message).get("role", "")) for message in self.messages]

    @property
    def continues(self) -> bool:
        """Whether the last message is left open."""
        return bool(self.options.get("continue_final_message"))

    @property
    def prompts(self) -> bool:
        """Whether the template begins the assistant's turn at the end."""
        return bool(self.options.get("add_generation_prompt"))
