"""What made a request part from an earlier one: the field that differs there, and in which way.

The field is the one that wrote the character at which the texts part, as rendering with provenance tells it. The kind
follows from the two values: the same JSON in another order, a date, an id, or simply another text.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from typing import Any

from transformers import PreTrainedTokenizerBase

from hf_bpe.chat.prefixes.overlap import WINDOW, common_behind, common_prefix, first_difference
from hf_bpe.chat.prefixes.report import PrefixBreak
from hf_bpe.chat.prefixes.requests import Request
from hf_bpe.chat.rendered import Origin, Rendered
from hf_bpe.chat.rendering import render

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_CLOCK = r"\d\d?:\d\d(?::\d\d)?(?:[.,]\d+)?"
_TIME = re.compile(
    rf"\d{{4}}-\d\d?-\d\d?(?:[T ]{_CLOCK}(?:Z|[+-]\d\d:?\d\d)?)?|\d\d?[./]\d\d?[./]\d{{2,4}}|{_CLOCK}"
    rf"|\d\d?(?:st|nd|rd|th)? {_MONTH}(?:,? \d{{4}})?|{_MONTH} \d\d?(?:st|nd|rd|th)?(?:,? \d{{4}})?|{_WEEKDAY}"
    r"|(?<!\d)1\d{9}(?:\d{3})?(?!\d)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z0-9_.-]*")
_ID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|(?=[a-z_.-]*\d)[a-z0-9_.-]{8,}|\d{6,}", re.IGNORECASE)
_NAMED_ID = re.compile(
    r"(?:session|request|trace|conversation|thread|user|run|call|id|uuid|nonce)[^\w\n]{0,4}$", re.IGNORECASE
)
_AROUND = 40


def broken(request: Request, earlier: Request, tokenizer: PreTrainedTokenizerBase | None) -> PrefixBreak | None:
    """Return where `request` parts from `earlier`, or None if one of the two goes on from the other."""
    tokens = common_prefix(request.ids, earlier.ids)
    if request.text is None or earlier.text is None:
        if tokens in (len(request.ids), len(earlier.ids)):
            return None
        lost = common_behind(request.ids, earlier.ids, tokens)
        return _of_ids(request, earlier, tokens, lost)
    at = first_difference(request.text, earlier.text)
    if at in (len(request.text), len(earlier.text)):
        return None
    lost = common_behind(request.ids, earlier.ids, tokens)
    origin = _origin(request, at, tokenizer)
    if origin is None or origin.field is None:
        # The caller's value ends here in this request, and goes on in the other.
        other = _origin(earlier, at, tokenizer)
        origin = other if other is not None and other.field is not None else origin or other
    kind = _kind(request, earlier, at, origin, lost)
    before, after = _words(earlier.text, at, kind), _words(request.text, at, kind)
    message, field = (origin.message, origin.field) if origin is not None else (None, "text")
    if field is None and kind.startswith("tools"):
        message, field = None, "tools"
    return PrefixBreak(kind, earlier.index, tokens, lost, message, field, before, after)


def _of_ids(request: Request, earlier: Request, tokens: int, lost: int) -> PrefixBreak:
    before, after = (str(one.ids[tokens : tokens + 4].tolist())[1:-1] for one in (earlier, request))
    kind = "changed-content" if lost >= WINDOW else "new-content"
    return PrefixBreak(kind, earlier.index, tokens, lost, None, "ids", before, after)


def _origin(request: Request, at: int, tokenizer: PreTrainedTokenizerBase | None) -> Origin | None:
    """Return who wrote the character at `at`. None for a request that was logged as text."""
    rendered = _rendered(request, tokenizer)
    if rendered is None or at >= len(rendered.text):
        return None
    starts = [run.start for run in rendered.runs]
    return rendered.runs[bisect_right(starts, at) - 1].origin


def _rendered(request: Request, tokenizer: PreTrainedTokenizerBase | None) -> Rendered | None:
    if request.messages is None or tokenizer is None:
        return None
    try:
        rendered = render(tokenizer, request.messages, tools=request.tools, **request.options)
    except Exception:  # a limit of ours, say: then who wrote it stays unknown
        return None
    return rendered if rendered.text == request.text else None


def _kind(request: Request, earlier: Request, at: int, origin: Origin | None, lost: int) -> str:
    assert request.text is not None
    assert earlier.text is not None
    if _goes_on(request, earlier):
        return "history-rewritten"
    if (structural := _structural(request, earlier, origin)) is not None:
        return structural
    if _match(_TIME, request.text, at) and _match(_TIME, earlier.text, at):
        return "timestamp"
    if _is_id(request.text, at) and _is_id(earlier.text, at):
        return "session-id"
    if (written := _written_otherwise(request.text, earlier.text, at)) is not None:
        return written
    if request.text[at:].split() == earlier.text[at:].split():
        return "white-space"
    if _is_variable(request, earlier, origin):
        return "variable"
    if origin is not None and origin.field is not None and _role(request, origin) in ("system", "developer"):
        return "system-prompt"
    return "changed-content" if lost >= WINDOW else "new-content"


def _is_variable(request: Request, earlier: Request, origin: Origin | None) -> bool:
    """Return whether a template variable made the difference: it is printed there, or the template heeds it there."""
    if origin is None or origin.field is not None:
        return origin is not None and origin.message is None
    return request.options != earlier.options


def _structural(request: Request, earlier: Request, origin: Origin | None) -> str | None:
    """Return what differs in a field that holds JSON: order, spelling or value. None for other fields."""
    if origin is None:
        return None
    if origin.field is None:
        return _tools(request.tools or [], earlier.tools or []) if request.tools != earlier.tools else None
    name = re.split(r"[.\[]", origin.field, maxsplit=1)[0]
    if origin.message is None and name == "tools":
        return _tools(request.tools or [], earlier.tools or [])
    values = [_value(one, origin.message, name) for one in (request, earlier)]
    return _json_difference(*values) if all(isinstance(value, dict | list) for value in values) else None


def _tools(tools: list[Any], others: list[Any]) -> str:
    if tools == others:
        return "key-order"
    if sorted(map(_canonical, tools)) == sorted(map(_canonical, others)):
        return "tools-order"
    return "tools-changed"


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _value(request: Request, message: int | None, name: str) -> Any:
    if message is None:
        return request.options.get(name)
    messages = request.messages or []
    return messages[message].get(name) if message < len(messages) else None


def _json_difference(value: Any, other: Any) -> str | None:
    """Return how two JSON values differ in writing, or None if they differ in what they say, or not at all."""
    if json.dumps(value, default=str) == json.dumps(other, default=str):
        return None
    if _canonical(value) == _canonical(other):
        return "key-order"
    if _canonical(_parsed(value)) == _canonical(_parsed(other)):
        same = json.dumps(_parsed(value), default=str) == json.dumps(_parsed(other), default=str)
        return "json-format" if same else "key-order"
    return None


def _parsed(value: Any) -> Any:
    """Return a value with JSON texts in it read, as tool calls hold them."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    if isinstance(value, dict):
        return {key: _parsed(inner) for key, inner in value.items()}
    return [_parsed(inner) for inner in value] if isinstance(value, list) else value


def _goes_on(request: Request, earlier: Request) -> bool:
    """Return whether a request holds all that an earlier one held, and more."""
    if request.messages is None or earlier.messages is None or request.tools != earlier.tools:
        return False
    begun = request.messages[: len(earlier.messages)]
    own = ("add_generation_prompt", "continue_final_message")
    options = [{name: value for name, value in one.options.items() if name not in own} for one in (request, earlier)]
    return begun == earlier.messages and len(begun) < len(request.messages) and options[0] == options[1]


def _match(pattern: re.Pattern[str], text: str, at: int) -> re.Match[str] | None:
    """Return the match of `pattern` that holds the character at `at`, or ends there."""
    start = max(0, at - _AROUND)
    found = pattern.finditer(text[start : at + _AROUND])
    return next((match for match in found if match.start() <= at - start <= match.end()), None)


def _is_id(text: str, at: int) -> bool:
    begin, end = _bounds(text, at)
    word = text[begin:end]
    if _ID.fullmatch(word):
        return True
    return any(map(str.isdigit, word)) and bool(_NAMED_ID.search(text[max(0, begin - _AROUND) : begin]))


def _bounds(text: str, at: int) -> tuple[int, int]:
    """Return where the word around `at` begins and ends."""
    begin = at
    while begin > 0 and _WORD.fullmatch(text[begin - 1]):
        begin -= 1
    match = _WORD.match(text, at)
    return begin, match.end() if match is not None else at


def _words(text: str, at: int, kind: str) -> str:
    """Return what stands around `at`: a time, a word, or a little of what follows."""
    if kind == "timestamp" and (match := _match(_TIME, text, at)) is not None:
        return match[0]
    begin, end = _bounds(text, at)
    return text[begin:end].rstrip(".-")[:_AROUND] or text[at : at + _AROUND // 2]


def _written_otherwise(text: str, other: str, at: int) -> str | None:
    """Return in which way the lines around `at` are the same JSON. None if they aren't."""
    lines = [one[one.rfind("\n", 0, at) + 1 :].split("\n", 1)[0] for one in (text, other)]
    one, two = (_parsed(line.strip()) for line in lines)
    if not isinstance(one, dict | list) or not isinstance(two, dict | list):
        return None
    return _json_difference(one, two) or ("json-format" if one == two else None)


def _role(request: Request, origin: Origin | None) -> Any:
    if origin is None or origin.message is None or request.messages is None:
        return None
    return request.messages[origin.message].get("role") if origin.message < len(request.messages) else None
