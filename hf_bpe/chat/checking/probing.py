"""One chat, and what upstream makes of it or of a variant of it.

What is compared is upstream's text, rendered within bounds: a template that runs away is stopped.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from inspect import isfunction, ismethod
from typing import Any

from transformers import PreTrainedTokenizerBase
from transformers.utils import chat_template_utils

from hf_bpe.chat.rendered import Rendered
from hf_bpe.chat.rendering import render
from hf_bpe.errors import ChatError

Json = dict[str, Any]

_NOT_OF_THE_TEXT = frozenset(
    {
        *("tokenize", "return_dict", "return_tensors", "padding", "truncation", "max_length", "tokenizer_kwargs"),
        *("return_assistant_tokens_mask", "sanitize_control_tokens"),
    }
)
"""Arguments of `apply_chat_template` that say what becomes of the text, not what the text is."""


_OF_UPSTREAM = ("chat_template", "continue_final_message")


@dataclass(frozen=True)
class Chat:
    """A chat as upstream is given it.

    Attributes:
        tokenizer: Whose template is looked at.
        messages: The messages as dictionaries, with the keys whose value is None.
        tools: The tools.
        options: The other arguments of `apply_chat_template`.
    """

    tokenizer: PreTrainedTokenizerBase
    messages: Sequence[Json]
    tools: list[Any] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, tokenizer: PreTrainedTokenizerBase, messages: Any, tools: Any, options: Mapping[str, Any]) -> Chat:
        """Return the chat, with messages that are objects made dictionaries, as upstream makes them.

        Raises:
            TypeError: `messages` is no list of messages. The text names the first one that is none.
        """
        kept = {name: value for name, value in options.items() if name not in _NOT_OF_THE_TEXT}
        schemas = [_schema(tool) for tool in tools] if isinstance(tools, list | tuple) else tools
        return cls(tokenizer, as_messages(messages), schemas, kept)

    @property
    def template(self) -> str:
        """The source of the template."""
        found: str = self.tokenizer.get_chat_template(self.options.get("chat_template"), self.tools)
        return found

    @property
    def probes(self) -> int:
        """How many messages may be looked at one by one, where a look at all of them at once doesn't tell."""
        return min(64, max(2, 2_000 // (len(self.messages) or 1)))

    @property
    def continued(self) -> str | None:
        """The field that is continued, if any."""
        asked = self.options.get("continue_final_message")
        return (asked if isinstance(asked, str) else "content") if asked else None

    def render(self, **changes: Any) -> str:
        """Return upstream's text, with `messages`, `tools` or options replaced."""
        arguments = {**self.options, **changes}
        messages = arguments.pop("messages", self.messages)
        tools = arguments.pop("tools", self.tools)
        return render(self.tokenizer, list(messages), tools=tools, **arguments).text

    def rendered(self) -> Rendered:
        """Return upstream's text, and who wrote which part of it."""
        return render(self.tokenizer, list(self.messages), tools=self.tools, **self.options)

    def tried(self, **changes: Any) -> str | None:
        """Return what `render` returns, or None where it raises."""
        try:
            return self.render(**changes)
        except ChatError:  # it never ends: no other probe will
            raise
        except Exception:  # a template may raise anything
            return None

    def with_none(self, index: int) -> str | None:
        """Return the text where one message keeps its keys whose value is None, as all do in release 4 of transformers.

        None where that raises.
        """
        variables = {**self.tokenizer.special_tokens_map, **self.options, "chat_template": self.template}
        messages = self.replaced(
            {at: _without_none(message) for at, message in enumerate(self.messages) if at != index}
        )
        try:
            rendered = chat_template_utils.render_jinja_template([messages], tools=self.tools, **variables)
        except Exception:
            return None
        return str(rendered[0][0])

    def at(self, moment: datetime) -> str | None:
        """Return the text that the template gives at `moment`. None where it raises."""
        options = {name: value for name, value in self.options.items() if name not in _OF_UPSTREAM}
        variables = {"documents": None, "add_generation_prompt": False, **self.tokenizer.special_tokens_map, **options}
        messages = [_without_none(message) for message in self.messages]
        variables |= {"messages": messages, "tools": self.tools, "strftime_now": moment.strftime}
        try:
            return str(chat_template_utils._compile_jinja_template(self.template).render(**variables))
        except Exception:
            return None

    def replaced(self, changes: Mapping[int, Json]) -> list[Json]:
        """Return the messages with some of them replaced."""
        return [changes.get(index, message) for index, message in enumerate(self.messages)]

    def without(self, dropped: Callable[[int], bool]) -> list[Json]:
        """Return the messages without some of them."""
        return [message for index, message in enumerate(self.messages) if not dropped(index)]


def _without_none(message: Json) -> Json:
    return {key: value for key, value in message.items() if value is not None}


def _schema(tool: Any) -> Any:
    return chat_template_utils.get_json_schema(tool) if isfunction(tool) or ismethod(tool) else tool


def as_messages(messages: Any) -> list[Json]:
    """Return messages as dictionaries, or say which one is none."""
    listed = getattr(messages, "messages", messages)
    if isinstance(listed, str | bytes | Mapping) or not isinstance(listed, Sequence):
        raise TypeError(f"a chat is a list of messages, got {type(messages).__name__}")
    return [_as_message(index, message) for index, message in enumerate(listed)]


def _as_message(index: int, message: Any) -> Json:
    if dataclasses.is_dataclass(message) and not isinstance(message, type):
        message = dataclasses.asdict(message)
    elif callable(getattr(message, "model_dump", None)):
        message = message.model_dump()
    if not isinstance(message, Mapping):
        inner = ": this is a batch of chats; look at one at a time" if isinstance(message, list | tuple) else ""
        raise TypeError(f"message {index} is no dictionary, but {type(message).__name__}{inner}")
    return dict(message)
