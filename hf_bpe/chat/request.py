"""What one chat is encoded from: everything that `chat.encode` was given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from hf_bpe.chat.limits import Limits
from hf_bpe.chat.policy import Rules
from hf_bpe.chat.rendered import Rendered
from hf_bpe.chat.rendering import render
from hf_bpe.chat.training import Trained
from hf_bpe.tokenizer import HfBpeTokenizer

Message = Mapping[str, Any]


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
        return [str(message.get("role", "")) if isinstance(message, Mapping) else "" for message in self.messages]

    @property
    def continues(self) -> bool:
        """Whether the last message is left open."""
        return bool(self.options.get("continue_final_message"))

    @property
    def prompts(self) -> bool:
        """Whether the template begins the assistant's turn at the end."""
        return bool(self.options.get("add_generation_prompt"))
