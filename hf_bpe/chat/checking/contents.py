"""What becomes of contents and reasoning: dropped, cut at the ends, printed as Python shows it, encoded twice.

One render with marks in all contents answers for clean chats. Only what seems lost is looked at once more, by itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from hf_bpe.chat.checking.findings import Finding, cut
from hf_bpe.chat.checking.marking import Marker, Piece, spellings
from hf_bpe.chat.checking.probing import Chat, Json

_REASONING = ("reasoning_content", "thinking", "reasoning")
_SYSTEM = ("system", "developer")
_LEFT_OUT = "the template leaves this out; it is not in the prompt"


def contents(chat: Chat, text: str) -> Iterator[Finding]:
    """Yield what becomes of the contents of `chat`, whose text is `text`."""
    marker = Marker.of(chat.template, text + repr(chat.messages))
    marked = {index: _marked(marker, index, message) for index, message in enumerate(chat.messages)}
    probe = _probed(chat, marked)
    if probe is not None:
        printed = marker.found(probe)
        yield from _printed_repr(chat, marker, probe)
        yield from _double_encoded(chat, marked, probe)
        yield from _trimmed(chat, marker, marked, printed, probe)
        yield from _dropped(chat, text, [piece for piece in marker.pieces if piece.mark not in printed])
    yield from _unmarked(chat, text)


def _marked(marker: Marker, index: int, message: Json) -> Json:
    """Return a message with marks in its content and reasoning."""
    changes = {}
    if message.get("content") is not None:
        changes["content"] = marker.value(message["content"], index, "content")
    named = next((name for name in _REASONING if isinstance(message.get(name), str)), None)
    if named is not None:
        reasoning = marker.string(message[named], index, named)
        changes |= {name: reasoning for name in _REASONING if message.get(name) == message[named]}
    return {**message, **changes}


def _probed(chat: Chat, marked: Mapping[int, Json]) -> str | None:
    """Return the text of the marked messages. Nothing is continued: what stands there must only be printed."""
    return chat.tried(messages=chat.replaced(marked), continue_final_message=False)


def _printed_repr(chat: Chat, marker: Marker, probe: str) -> Iterator[Finding]:
    for (index, field), shown in marker.containers.items():
        if index is not None and shown in probe:
            yield _repr_finding(index, field, chat.messages[index][field])


def _unmarked(chat: Chat, text: str) -> Iterator[Finding]:
    """Yield what becomes of contents that can't be marked, only replaced: numbers, True and False, and images."""
    scalars = [at for at, message in enumerate(chat.messages) if isinstance(message.get("content"), int | float)]
    for index in scalars[: chat.probes]:
        value = chat.messages[index]["content"]
        other, as_text, as_json = (
            _with_content(chat, index, content) for content in (_another(value), str(value), json.dumps(value))
        )
        if other == text:
            yield Finding("dropped-content", index, "content", _LEFT_OUT, str(value))
        elif as_text == text != as_json and isinstance(value, bool):
            yield _repr_finding(index, "content", value)
    yield from _lost_media(chat, text)


def _lost_media(chat: Chat, text: str) -> Iterator[Finding]:
    """Yield the images and such that aren't printed: without them the text is the same."""
    media = {index: found for index, message in enumerate(chat.messages) if (found := _media(message.get("content")))}
    without = {index: _without_parts(chat.messages[index], parts) for index, parts in media.items()}
    all_lost = bool(media) and chat.tried(messages=chat.replaced(without)) == text
    alone = [(index, at) for index, parts in media.items() for at in parts]
    for index, at in alone if all_lost else alone[: chat.probes]:
        message = chat.messages[index]
        if all_lost or chat.tried(messages=chat.replaced({index: _without_parts(message, [at])})) == text:
            yield Finding("dropped-content", index, f"content[{at}]", _LEFT_OUT, cut(str(message["content"][at])))


def _without_parts(message: Json, dropped: list[int]) -> Json:
    return {**message, "content": [part for at, part in enumerate(message["content"]) if at not in dropped]}


def _another(value: float) -> float:
    return not value if isinstance(value, bool) else value + 17.5


def _with_content(chat: Chat, index: int, content: Any) -> str | None:
    return chat.tried(messages=chat.replaced({index: {**chat.messages[index], "content": content}}))


def _media(content: Any) -> list[int]:
    """Return the places of the parts of a content that hold no text."""
    parts = content if isinstance(content, list) else []
    return [at for at, part in enumerate(parts) if isinstance(part, dict) and part.get("type") not in ("text", None)]


def _repr_finding(index: int, field: str, value: Any) -> Finding:
    said = f"the template wants text and prints {type(value).__name__} the way Python shows it; pass a string"
    return Finding("printed-repr", index, field, said, cut(str(value)))


def _double_encoded(chat: Chat, marked: Mapping[int, Json], probe: str) -> Iterator[Finding]:
    for index, message in enumerate(chat.messages):
        content = message.get("content")
        if isinstance(content, str) and is_json(content):
            again = json.dumps(marked[index]["content"], ensure_ascii=False)
            if again in probe:
                said = "the content is JSON, and the template encodes it as JSON once more; pass the object itself"
                yield Finding("double-encoded", index, "content", said, cut(json.dumps(content, ensure_ascii=False)))


def is_json(text: str) -> bool:
    """Return whether a text is the JSON of an object or a list."""
    if text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        return isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False


def _trimmed(
    chat: Chat, marker: Marker, marked: Mapping[int, Json], printed: frozenset[str], probe: str
) -> Iterator[Finding]:
    """Yield the contents whose white space isn't printed.

    The template may write white space of its own beside it, so the text is compared with what it is without.
    """
    reprs = {key for key, shown in marker.containers.items() if shown in probe}
    pieces = [
        piece
        for piece in marker.pieces
        if piece.message is not None and piece.field not in _REASONING and piece.mark in printed
        # The ends of what is continued are looked at by themselves.
        if (piece.message, "content") not in reprs and not (chat.continued and piece.message == len(chat.messages) - 1)
    ]
    lost: dict[tuple[int, str], None] = {}
    for front in (True, False):
        spaces = {piece.edge(front=front): piece for piece in pieces if piece.space(front=front)}
        bare = {index: marker.without_space(message, spaces, front=front) for index, message in marked.items()}
        without = _probed(chat, bare) if spaces else None
        if without is None:
            continue
        beside, alone = (marker.neighbours(text, front=front) for text in (probe, without))
        for mark, piece in spaces.items():
            if mark in beside and mark in alone and not _added(beside[mark], alone[mark], piece, front=front):
                lost[piece.message or 0, piece.field] = None
    for index, field in sorted(lost):
        value = _at(chat.messages[index], field)
        said = "the template cuts off the white space around it; what was there is not in the prompt"
        yield Finding("trimmed-content", index, field, said, cut(value if isinstance(value, str) else str(value)))


def _added(text: str, without: str, piece: Piece, *, front: bool) -> bool:
    """Return whether the text beside a mark is that of the chat without the white space, and the white space."""
    spaces = spellings(piece.space(front=front))
    return any(text == (f"{without}{space}" if front else f"{space}{without}") for space in spaces)


def _at(message: Json, field: str) -> Any:
    return message.get(field) if field in message else message.get("content")


def _dropped(chat: Chat, text: str, gone: list[Piece]) -> Iterator[Finding]:
    """Yield what is lost, told by message. A piece that only its mark drove away isn't lost."""
    by_message: dict[int, list[Piece]] = {}
    for piece in gone:
        if piece.message is not None and piece.text:
            by_message.setdefault(piece.message, []).append(piece)
    lost: dict[int, list[Piece]] = {}
    for count, (index, pieces) in enumerate(by_message.items()):
        # That the text is nowhere is proof enough. If it stands somewhere, it may be another message's.
        absent = [piece for piece in pieces if piece.text not in text]
        if len(absent) < len(pieces):
            absent = _lost_alone(chat, text, index, pieces) if count < chat.probes else pieces
        if absent:
            lost[index] = absent
    left_out = _left_out(chat, text, list(lost))
    for index, pieces in lost.items():
        yield from _told(chat.messages[index], index, pieces, index in left_out)


def _lost_alone(chat: Chat, text: str, index: int, pieces: list[Piece]) -> list[Piece]:
    """Return those of the lost pieces that are lost even if no other message is marked."""
    marker = Marker.of(chat.template, text + repr(chat.messages[index]))
    alone = _probed(chat, {index: _marked(marker, index, chat.messages[index])})
    if alone is None:
        return []
    printed = marker.found(alone)
    lost = {(piece.field, piece.text) for piece in marker.pieces if piece.mark not in printed}
    return [piece for piece in pieces if (piece.field, piece.text) in lost]


def _left_out(chat: Chat, text: str, suspects: list[int]) -> frozenset[int]:
    """Return the messages of which nothing is printed, not even an empty turn."""
    if suspects and chat.tried(messages=chat.without(set(suspects).__contains__)) == text:
        return frozenset(suspects)
    known: dict[tuple[str, type], bool] = {}
    for index in suspects:
        message = chat.messages[index]
        kind = repr(message.get("role")), type(message.get("content"))
        if kind not in known:
            known[kind] = len(known) < chat.probes and _is_left_out(chat, text, index)
    return frozenset(
        index
        for index in suspects
        if known[repr(chat.messages[index].get("role")), type(chat.messages[index].get("content"))]
    )


def _is_left_out(chat: Chat, text: str, index: int) -> bool:
    if chat.tried(messages=chat.without(index.__eq__)) == text:
        return True
    # Without it another message may be the last one, and look otherwise. A stranger in its place changes nothing else.
    word = Marker.of(chat.template, text).new()
    return chat.tried(messages=chat.replaced({index: {"role": word, "content": word}})) == text


def _told(message: Json, index: int, pieces: list[Piece], left_out: bool) -> Iterator[Finding]:
    role = message.get("role")
    content = [piece for piece in pieces if piece.field not in _REASONING and not piece.reasoning]
    if content:
        evidence = cut(" … ".join(piece.text for piece in content))
        if role in _SYSTEM:
            yield Finding("ignored-system", index, "content", f"the template leaves out the {role} message", evidence)
        elif left_out:
            named = f"of the role {role!r}" if "role" in message else "without a role"
            said = f"the template leaves out messages {named}; use a role that it knows"
            yield Finding("dropped-message", index, None, said, evidence)
        else:
            field = content[0].field
            yield Finding("dropped-content", index, field, _LEFT_OUT, evidence)
    thoughts = [piece for piece in pieces if piece not in content]
    if thoughts and not (content and left_out):
        said = "the template leaves out the reasoning of this turn"
        evidence = cut(" … ".join(piece.text for piece in thoughts))
        yield Finding("dropped-reasoning", index, thoughts[0].field, said, evidence)
