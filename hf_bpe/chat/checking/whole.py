"""What is true of a chat as a whole: refused, None, whose turn comes first, the prefill, the clock, BOS, key order."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from hf_bpe.chat.checking.findings import Finding, cut
from hf_bpe.chat.checking.marking import Marker
from hf_bpe.chat.checking.probing import Chat
from hf_bpe.chat.checking.tool_use import first_difference

_SYSTEM = ("system", "developer")
_MOMENTS = (datetime(2001, 2, 3, 4, 5, 6), datetime(2019, 11, 28, 17, 38, 49))
"""Two moments without a digit group in common: any format of them differs."""


def refused(chat: Chat, error: Exception) -> Finding:
    """Return who is to blame for an error: the first message with which the chat doesn't render, or the tools."""
    said = f"upstream raises {type(error).__name__}"
    evidence = cut(str(error))
    if not chat.messages:
        return Finding("refused", None, None, said, evidence)
    last = len(chat.messages) - 1
    if chat.continued and chat.tried(add_generation_prompt=False) is not None:
        return Finding("refused", None, "add_generation_prompt", f"{said}: a turn is continued, or begun", evidence)
    if chat.continued and chat.tried(continue_final_message=False) is not None:
        return Finding("refused", last, chat.continued, f"{said}: this message can't be continued", evidence)
    if chat.tools is not None and chat.tried(tools=None) is not None:
        return Finding("refused", None, "tools", f"{said} with these tools", evidence)
    renders, fails = 0, len(chat.messages)
    while fails - renders > 1:
        middle = (renders + fails) // 2
        text = chat.tried(messages=chat.messages[:middle], continue_final_message=False)
        renders, fails = (renders, middle) if text is None else (middle, fails)
    plain = [{"role": "user", "content": "hello"}]
    if fails == 1 and chat.tried(messages=plain, tools=None, continue_final_message=False) is None:
        return Finding("refused", None, None, f"{said}, whatever the messages are", evidence)
    return Finding("refused", fails - 1, None, f"{said} from this message on", evidence)


def dropped_none(chat: Chat, text: str | None) -> Iterator[Finding]:
    """Yield the values that are None, where that matters: the turn is empty, or a word is printed."""
    for index, message in enumerate(chat.messages):
        if "content" not in message or message["content"] is not None:
            continue
        if not message.get("tool_calls"):
            yield _none(index, "content", "upstream drops the key, so the turn has no content; pass a string")
        elif text is not None and "None" in (kept := chat.with_none(index) or "") and kept != text:
            shown = cut(first_difference(kept, text))
            said = f"upstream drops the key; where it is kept, as in transformers 4, {shown!r} is printed: leave it out"
            yield _none(index, "content", said)
    if text is not None:
        for name in [name for name, value in chat.options.items() if value is None]:
            word = Marker.of(chat.template, text).new()
            probe = chat.tried(**{name: word}) or ""
            if word in probe and probe.replace(word, "None") == text:
                yield _none(None, name, "the template prints the word; leave the argument out")


def _none(index: int | None, name: str, consequence: str) -> Finding:
    return Finding("dropped-none", index, name, f"the value is None: {consequence}", "None")


def first_not_user(chat: Chat, text: str) -> Iterator[Finding]:
    """Yield the first message behind the system's, if it is printed as the user's without being the user's."""
    index = next((at for at, message in enumerate(chat.messages) if message.get("role") not in _SYSTEM), None)
    if index is None or chat.messages[index].get("role") == "user":
        return
    message = chat.messages[index]
    as_user, as_none = (
        chat.tried(messages=chat.replaced({index: {**message, "role": role}})) for role in ("user", "zq7x0z")
    )
    marked = {**message, "role": "user", "content": f"{message.get('content') or ''}zq7x1z"}
    printed = chat.tried(messages=chat.replaced({index: marked}), continue_final_message=False)
    if as_user == text == as_none and printed is not None and "zq7x1z" in printed and _heeds_roles(chat, message):
        said = f"the template takes the first message for the user's, and this one has the role {message.get('role')!r}"
        yield Finding("first-not-user", index, "role", said, cut(str(message.get("content") or message.get("role"))))


def _heeds_roles(chat: Chat, message: dict[str, Any]) -> bool:
    """Return whether the role of a message matters at the end of the chat. To some templates no role ever does."""
    own, users = ([*chat.messages, {**message, "role": role}] for role in (message.get("role"), "user"))
    return chat.tried(messages=own, continue_final_message=False) != chat.tried(
        messages=users, continue_final_message=False
    )


def prefill(chat: Chat, text: str) -> Iterator[Finding]:
    """Yield what continuing changes of the final message: white space that a template cuts, or that upstream cuts."""
    field = chat.continued
    value = chat.messages[-1].get(field) if field and chat.messages else None
    if field is None or not isinstance(value, str):
        return
    mark = Marker.of(chat.template, text).new()
    changed = {**chat.messages[-1], field: mark}
    probe = chat.tried(messages=chat.replaced({len(chat.messages) - 1: changed}))
    if probe is None or not probe.endswith(mark):
        return
    before = probe.removesuffix(mark)
    if text != before + value and text.split() == (before + value).split():
        lost = "the white space in front of it" if not value.strip() else "the white space around it"
        said = f"the answer that is to be continued loses {lost}, so the model goes on from another text"
        yield Finding("trimmed-prefill", len(chat.messages) - 1, field, said, text[-20:])


def unstable_date(chat: Chat) -> Iterator[Finding]:
    """Yield the line that changes with the clock."""
    if "strftime_now" not in chat.template:
        return
    one, two = (chat.at(moment) for moment in _MOMENTS)
    if one is not None and two is not None and one != two:
        said = "the template prints the date of today, so no prefix outlives it; chat.pin_clock stops it"
        yield Finding("unstable-date", None, None, said, cut(first_difference(one, two)))


def second_bos(chat: Chat, text: str) -> Iterator[Finding]:
    """Yield that `tokenizer(text)` puts a BOS in front of the one that the template wrote."""
    bos, bos_id = chat.tokenizer.bos_token, chat.tokenizer.bos_token_id
    if not bos or bos_id is None or not text.startswith(str(bos)):
        return
    ids = list(chat.tokenizer(f"{bos}a")["input_ids"])
    if ids[:2] == [bos_id, bos_id]:
        said = "the template writes BOS, and tokenizer(text) adds one; encode the text with add_special_tokens=False"
        yield Finding("second-bos", None, None, said, f"{bos}{bos}")


_USUAL = ("type", "function", "name", "description", "parameters", "strict", "return", "properties", "required")
"""Keys of tools in the order in which nearly all of them are written, that of upstream's own schemas too."""


def unsorted_tool_keys(chat: Chat, text: str) -> Iterator[Finding]:
    """Yield the tools whose keys stand in no usual order, or in another than the same keys of a tool before."""
    orders: dict[frozenset[str], list[str]] = {}
    for at, tool in enumerate(chat.tools or ()):
        found = next(_disorder(tool, f"tools[{at}]", orders), None)
        if found is None:
            continue
        ordered = [_ordered(other) if place == at else other for place, other in enumerate(chat.tools or ())]
        if _is_sorted(found[1]) or chat.tried(tools=ordered) not in (None, text):
            said = (
                "the keys stand in an order of their own, so no prefix is shared; chat.canonical_tools puts them right"
            )
            yield Finding("unsorted-tool-keys", None, found[0], said, ", ".join(found[1]))


def _disorder(
    value: Any, field: str, orders: dict[frozenset[str], list[str]], *, names: bool = False
) -> Iterator[tuple[str, list[str]]]:
    """Yield the objects out of order. The keys of `properties` are names, whose order is the author's."""
    if isinstance(value, list):
        for at, inner in enumerate(value):
            yield from _disorder(inner, f"{field}[{at}]", orders)
    if not isinstance(value, dict):
        return
    keys = [str(key) for key in value]
    usual = [_USUAL.index(key) for key in keys if key in _USUAL]
    if not names:
        known = orders.setdefault(frozenset(keys), keys)
        if known != keys or (usual != sorted(usual) and not _is_sorted(keys)):
            yield field, keys
    for key, inner in value.items():
        yield from _disorder(inner, f"{field}.{key}", orders, names=key == "properties" and not names)


def _is_sorted(keys: list[str]) -> bool:
    return keys == sorted(keys)


def _ordered(value: Any) -> Any:
    if isinstance(value, list):
        return [_ordered(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    rank = {key: place for place, key in enumerate(_USUAL)}
    return {key: _ordered(value[key]) for key in sorted(value, key=lambda key: rank.get(key, len(rank)))}
