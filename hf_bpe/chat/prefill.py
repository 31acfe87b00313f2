"""`continue_final_message`: the text is rendered with a tag behind the last message, and cut where the tag stands."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from hf_bpe.chat.conversions import REASONING, to_json

TAG = "CONTINUE_FINAL_MESSAGE_TAG "
"""The tag of `transformers` 5.24. A template that trims leaves its last character off."""


def with_prefill(chat: list[dict[Any, Any]], wanted: bool | str, source: str) -> tuple[list[dict[Any, Any]], str]:
    """Return the chat with the tag at its end, and the text that it goes on from.

    Raises:
        Exception: Any, where upstream raises one.
    """
    field = wanted if isinstance(wanted, str) else "content"
    last = deepcopy(to_json(chat[-1]))
    text = last[field]
    fields = [field]
    if field in REASONING:
        fields = [name for name in REASONING if last.get(name) == text]
    if not any(name in source for name in fields):
        raise ValueError(f"the template reads no field {field!r}")
    if isinstance(text, list | tuple):
        block = next(block for block in reversed(text) if "text" in block)
        text = block["text"]
        block["text"] = text + TAG
    else:
        last.update({name: last[name] + TAG for name in fields})
    return [*chat[:-1], last], text


def cut_prefill(text: str, prefill: str) -> int:
    """Return where to cut the rendered text, or raise where upstream raises."""
    if prefill.strip() not in text:
        raise ValueError("the template changed the message to go on with")
    place = text.rindex(TAG.strip())
    if text.startswith(TAG, place):
        return place
    return len(text[:place].rstrip())
