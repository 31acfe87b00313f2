"""The caller's data as a template sees it: the same dicts, lists and strings, which know where they came from."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from hf_bpe.chat.conversions import to_json
from hf_bpe.chat.limits import charge
from hf_bpe.chat.provenance import LOST, PRINTED, TEMPLATE, Traced, caller, make, uniform, vocabulary
from hf_bpe.chat.rendered import Origin


class TracedDict(dict[Any, Any]):
    """A dict of the caller's. In print, it's the caller's text as a whole."""

    __slots__ = ("origin", "weight")

    origin: Origin
    weight: int

    def __str__(self) -> str:
        """Return what a dict prints, traced."""
        text: str = make(dict.__repr__(self), self.origin)
        return text


class TracedList(list[Any]):
    """A list of the caller's. In print, it's the caller's text as a whole."""

    __slots__ = ("origin", "weight")

    origin: Origin
    weight: int

    def __str__(self) -> str:
        """Return what a list prints, traced."""
        text: str = make(list.__repr__(self), self.origin)
        return text


class Message(TracedDict):
    """A message of the conversation."""

    __slots__ = ("index",)

    index: int


def trace(value: Any, message: int | None, path: str) -> Any:
    """Return a copy of a value of the caller's, in which every string knows its path.

    Whatever is not JSON becomes what `transformers` makes of it.
    """
    kind = type(value)
    if kind is str:
        return make(value, caller(message, path))
    if value is None or kind is int or kind is bool or kind is float:
        return value
    if kind is dict:
        traced = TracedDict(
            {trace(key, message, f"{path}.{key}"): trace(item, message, f"{path}.{key}") for key, item in value.items()}
        )
        traced.origin = caller(message, path)
        return traced
    if kind is list:
        items = TracedList([trace(item, message, f"{path}[{index}]") for index, item in enumerate(value)])
        items.origin = caller(message, path)
        return items
    if kind is tuple:
        return tuple(trace(item, message, f"{path}[{index}]") for index, item in enumerate(value))
    plain = to_json(value)
    return value if plain is value else trace(plain, message, path)


def trace_message(message: dict[Any, Any], index: int, roles: Collection[str]) -> Message:
    """Return a copy of a message. Its keys stay plain strings: in print, they are the caller's."""
    traced = Message()
    for key, value in message.items():
        if type(value) is str and type(key) is str:
            known = key == "role" and value in roles
            traced[key] = make(value, vocabulary(index) if known else caller(index, key))
        else:
            traced[key] = trace(value, index, str(key))
    traced.index = index
    traced.origin = caller(index, None)
    return traced


def trace_messages(messages: Iterable[dict[Any, Any]], roles: Collection[str]) -> TracedList:
    """Return a copy of a conversation."""
    traced = TracedList([trace_message(message, index, roles) for index, message in enumerate(messages)])
    traced.origin = caller(None, "messages")
    return traced


def weigh(value: Any, seen: dict[int, int]) -> int:
    """Return about how much text a value is in print; `seen` holds the weights of values that were met before.

    Lists that a template puts into lists again and again grow like powers of two, although each is in memory once.
    """
    if isinstance(value, str | bytes):
        return len(value) + 1
    if not isinstance(value, dict | list | tuple):
        return 1
    weight = seen.get(id(value)) or getattr(value, "weight", None)
    if weight is None:
        weight = 1 + sum(weigh(item, seen) for item in value)
        if isinstance(value, dict):
            weight += sum(weigh(item, seen) for item in value.values())
        seen[id(value)] = weight
        if isinstance(value, TracedDict | TracedList):
            value.weight = weight
    return weight


def built(value: Any) -> Any:
    """Return a list, tuple or dict that a template made, after it was weighed."""
    charge(weigh(value, {}))
    return value


def origin_of(value: Any) -> Origin:
    """Return the origin of a value that is printed as a whole: the template's only if all in it is."""
    if isinstance(value, Traced):
        origin = uniform(value)
        return origin or (LOST if value else TEMPLATE)
    if isinstance(value, TracedDict | TracedList):
        return value.origin
    if value is None or isinstance(value, bool | int | float):
        return PRINTED
    if isinstance(value, dict):
        return together([*value.keys(), *value.values()])
    if isinstance(value, list | tuple):
        return together(value)
    return LOST


def together(values: Iterable[Any]) -> Origin:
    """Return the one origin of several values, or that it was lost."""
    origins = {origin_of(value) for value in values}
    if len(origins) <= 1:
        return origins.pop() if origins else PRINTED
    if any(origin.trusted or origin.lost for origin in origins):
        return LOST
    messages = {origin.message for origin in origins}
    return caller(messages.pop() if len(messages) == 1 else None, None)
