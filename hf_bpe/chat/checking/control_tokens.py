"""Text of the caller that upstream turns into control tokens: in contents, roles, JSON keys, tools, arguments.

What a token's text does is told by breaking it: a letter more inside it, and if the broken text comes out at the same
place, the whole one came from the caller.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hf_bpe.chat.checking.findings import Finding, cut
from hf_bpe.chat.checking.marking import Marker
from hf_bpe.chat.checking.probing import Chat

_OF_THE_MODEL = ("content", "reasoning_content", "thinking", "reasoning")
"""Fields in which an assistant's own tokens come back, such as `<think>`."""

_LIKE_CONTROL = re.compile(r"[<\[|{].*[>\]|}]", re.DOTALL)
_AROUND = 20


def control_tokens(chat: Chat, text: str) -> Iterator[Finding]:
    """Yield where the caller's text holds a control token that comes out in `text`, the text of `chat`."""
    tokens = {token: special for token, special in _controls(chat).items() if token in text}
    if not tokens:
        return
    yield from _joined(chat, tokens)
    breaker = _Breaker(chat, tokens, Marker.of(chat.template, text + repr((chat.messages, chat.tools))))
    changes = breaker.broken()
    if not breaker.places:
        return
    probe = chat.tried(**changes)
    for field, (message, token, mark, around) in breaker.places.items():
        broken = _break(token, mark)
        shown = probe if probe is not None else breaker.alone(field)
        if shown is not None and broken in shown:
            said = f"upstream makes {token!r} a token, whoever wrote it; chat.encode doesn't"
            yield Finding("control-token", message, field[1], said, cut(around))


def _joined(chat: Chat, tokens: Mapping[str, bool]) -> Iterator[Finding]:
    """Yield the tokens that are the template's text and the caller's in one: `'<|' + message.role + '|>'`."""
    rendered = chat.rendered()
    starts = [run.start for run in rendered.runs]
    for match in _pattern(tokens).finditer(rendered.text):
        first, last = (bisect_right(starts, at) - 1 for at in (match.start(), match.end() - 1))
        origins = [run.origin for run in rendered.runs[first : last + 1]]
        callers = [origin for origin in origins if not origin.trusted and not origin.lost and origin.field is not None]
        if callers and len(origins) > 1:
            said = (
                f"with what the template writes beside it, it becomes the token {match[0]!r}; chat.encode writes text"
            )
            around = rendered.text[max(0, match.start() - _AROUND) : match.end() + _AROUND]
            yield Finding("control-token", callers[0].message, callers[0].field, said, cut(around))


def _pattern(tokens: Mapping[str, bool]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, sorted(tokens, key=len, reverse=True))))


def _controls(chat: Chat) -> dict[str, bool]:
    """Return the added tokens that steer a model, and whether they are special. Plain words and spaces aren't such."""
    added = chat.tokenizer.added_tokens_decoder.values()
    return {
        token.content: token.special
        for token in added
        if len(token.content) > 1
        and not token.content.isspace()
        and (token.special or _LIKE_CONTROL.fullmatch(token.content))
    }


def _break(token: str, mark: str) -> str:
    return f"{token[0]}{mark}{token[1:]}"


class _Breaker:
    """Breaks the tokens in all strings of a chat, and knows which mark stands for which place."""

    def __init__(self, chat: Chat, tokens: Mapping[str, bool], marker: Marker) -> None:
        self.chat, self.tokens, self.marker = chat, tokens, marker
        self.pattern = _pattern(tokens)
        self.places: dict[tuple[int | None, str, int], tuple[int | None, str, str, str]] = {}

    def broken(self) -> dict[str, Any]:
        """Return the arguments of `render` with every token broken."""
        named = set(self.chat.tokenizer.special_tokens_map) | {"chat_template", "continue_final_message"}
        changes: dict[str, Any] = {"messages": list(self._messages())}
        if self.chat.tools is not None:
            changes["tools"] = self._value(self.chat.tools, None, "tools", "")
        for name, value in self.chat.options.items():
            if name not in named:
                changes[name] = self._value(value, None, name, "")
        return changes

    def alone(self, place: tuple[int | None, str, int]) -> str | None:
        """Return the text where only one place is broken. None where that can't be rendered, or isn't of a message."""
        message, _, number = place
        if message is None:
            return None
        mark = self.places[place][2]
        other = self._only(self.chat.messages[message], self.places[place][1], mark, number)
        return self.chat.tried(messages=self.chat.replaced({message: other}))

    def _only(self, message: Any, token: str, mark: str, _number: int) -> Any:
        def replaced(value: Any) -> Any:
            if isinstance(value, str):
                return value.replace(token, _break(token, mark))
            if isinstance(value, dict):
                return {replaced(key): replaced(inner) for key, inner in value.items()}
            return [replaced(inner) for inner in value] if isinstance(value, list | tuple) else value

        return replaced(message)

    def _messages(self) -> Iterator[dict[str, Any]]:
        for index, message in enumerate(self.chat.messages):
            role = str(message.get("role"))
            yield {key: self._value(value, index, key, role) for key, value in message.items()}

    def _value(self, value: Any, message: int | None, field: str, role: str) -> Any:
        if isinstance(value, str):
            return self.pattern.sub(self._replace(value, message, field, role), value)
        if isinstance(value, dict):
            return {
                self._value(key, message, f"{field} (a key)", role): self._value(inner, message, f"{field}.{key}", role)
                for key, inner in value.items()
            }
        if isinstance(value, list | tuple):
            return [self._value(inner, message, f"{field}[{at}]", role) for at, inner in enumerate(value)]
        return value

    def _replace(self, text: str, message: int | None, field: str, role: str) -> Callable[[re.Match[str]], str]:
        known: dict[str, str] = {}

        def replace(match: re.Match[str]) -> str:
            token = match[0]
            own = role == "assistant" and field.partition("[")[0] in _OF_THE_MODEL and not self.tokens[token]
            if own:
                return token
            if token not in known:
                known[token] = self.marker.new()
                around = text[max(0, match.start() - _AROUND) : match.end() + _AROUND]
                self.places[message, field, len(self.places)] = (message, token, known[token], around)
            return _break(token, known[token])

        return replace
