"""Chats that go on: more messages, or ids that a model sampled, without encoding the past again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import index
from typing import Any, NamedTuple, SupportsIndex

import numpy as np

from hf_bpe._native import DecodeStream
from hf_bpe.chat import columns as column
from hf_bpe.chat.columns import Columns
from hf_bpe.chat.policy import Part, check, parts_of, refuse
from hf_bpe.chat.prompts import PROMPT, prompt_of, written_last
from hf_bpe.chat.rendered import Origin, Rendered, Run
from hf_bpe.chat.request import Message, Request, check_addition, fields_of, owned
from hf_bpe.chat.training import turns_of


class Before(NamedTuple):
    """An earlier text, and what the template writes about the same messages now, and perhaps about more."""

    rendered: Rendered
    text: str

    def changed_message(self) -> int | None:
        """Return the first message that isn't as it was; 0 where what stands before the messages isn't."""
        if self.text.startswith(self.rendered.text):
            return None
        same = column.common_prefix(self.rendered.text, self.text)
        turns = (turn for turn in turns_of(self.rendered.runs) if turn.message is not None)
        return next((turn.message for turn in turns if same < turn.end), None)


class Grown(NamedTuple):
    """A chat that went on.

    Attributes:
        request: The whole chat.
        columns: Its ids.
        before: What it was before, if the template may have rewritten it.
    """

    request: Request
    columns: Columns
    before: Before | None


def plan(request: Request, rendered: Rendered) -> tuple[list[Part], list[tuple[str, ...]]]:
    """Return where added tokens may be found, after a look at what the policy refuses."""
    core, rules, roles = request.tokenizer._core, request.rules, request.roles
    check(core, rules)
    parts, lists = parts_of(rendered, rules, roles)
    refuse(core, rendered, parts, rules, roles)
    return parts, lists


def append(request: Request, old: Columns, messages: Sequence[Message], options: dict[str, Any]) -> Grown:
    """Encode a chat with more messages."""
    check_addition(messages, options)
    grown = request.with_messages([*request.messages, *owned(messages)], **options)
    rendered = grown.render()
    parts, lists = plan(grown, rendered)
    if old.pinned:
        return _append_to_pinned(grown, old, len(request.messages), rendered, parts, lists)
    columns = column.encode_after(old, rendered, parts, lists)
    return Grown(grown, columns, Before(old.rendered, rendered.text))


def _append_to_pinned(
    grown: Request, old: Columns, count: int, rendered: Rendered, parts: list[Part], lists: column.Lists
) -> Grown:
    """Go on after given ids: what the template writes about the first `count` messages now is left aside."""
    start = next((run.start for run in rendered.runs if (run.origin.message or 0) >= count), len(rendered.text))
    shift = len(old.text) - start
    after = [(max(first, start) + shift, last + shift, number) for first, last, number in parts if last > start]
    runs = [
        Run(max(first, start) + shift, last + shift, origin) for first, last, origin in rendered.runs if last > start
    ]
    whole = Rendered(old.text + rendered.text[start:], merged([*old.rendered.runs, *runs]))
    columns = _continued(old, whole, after, lists)
    return Grown(grown, columns, Before(old.rendered, rendered.text[:start]))


def _continued(old: Columns, whole: Rendered, after: list[Part], lists: column.Lists) -> Columns:
    """Encode what `whole` has behind the text of `old`."""
    start, kept = len(old.text), len(old.ids)
    ids, offsets = column.align(old.core, whole.text, after, lists, start)
    anchors = old.core.encode_within(whole.text, after, lists, start=start)[1]
    places = np.searchsorted(offsets[:, 0], [first for _, first, _ in anchors]).tolist()
    anchors = [(place + kept, first, last) for place, (_, first, last) in zip(places, anchors, strict=True)]
    return Columns(
        old.core,
        whole,
        old.parts + after,
        lists,
        old.ids + ids,
        old.anchors + anchors,
        reused=kept,
        pinned=True,
        given_offsets=np.concatenate([old.offsets, offsets]),
    )


def splice(request: Request, old: Columns, sampled: Iterable[SupportsIndex], message: Message | None) -> Grown:
    """Go on after sampled ids.

    Raises:
        ValueError: No turn of the assistant is open.
        TypeError: The ids are none, or the message is none.
    """
    sampled = _ids(sampled)
    if message is not None and not isinstance(message, Mapping):
        raise TypeError(f"splice(message=...) takes a message, got {type(message).__name__}.")
    if not (written_last(old.rendered) if old.pinned else request.prompts or request.continues):
        raise ValueError(
            "splice() goes on in an open turn of the assistant: encode with add_generation_prompt=True, or with "
            "continue_final_message=True."
        )
    number = len(request.messages) - request.continues
    texts = _decoded(old, sampled)
    text = "".join(texts)
    ended = bool(sampled) and old.core.is_special_token(old.core.id_to_token(sampled[-1]) or "")
    said = text[: len(text) - len(texts[-1])] if ended else text
    closing = _closing(request, old, number, ended=ended, text=text)
    spoken = _spoken(request, said) if message is None else message
    options: dict[str, Any] = {"continue_final_message": False}
    grown = request.with_messages([*request.messages[:number], spoken], **options)
    prompt = "" if request.continues else prompt_of(request, old.rendered)
    return Grown(grown, _spliced(old, sampled, texts, number, len(said), closing, prompt), None)


def _ids(sampled: Iterable[SupportsIndex]) -> list[int]:
    """Return ids as plain numbers: models give arrays."""
    try:
        return [index(token) for token in sampled]
    except TypeError as error:
        raise TypeError(f"splice() takes a list of ids, of one chat: {error}.") from None


def _decoded(old: Columns, sampled: Sequence[int]) -> list[str]:
    """Return what each sampled id adds to the text."""
    stream = DecodeStream(old.core)
    for before in old.ids[-1:]:
        stream.step(before)
    texts = [stream.step(token) for token in sampled]
    if texts:
        texts[-1] += stream.flush()
    return texts


def _spoken(request: Request, said: str) -> Message:
    """Return the message that was sampled, or the one that was gone on with."""
    if not request.continues:
        return {"role": "assistant", "content": said}
    field = _continued_field(request)
    message = dict(fields_of(request.messages[-1]))
    return {**message, field: _lengthened(message[field], said)}


def _lengthened(value: Any, said: str) -> Any:
    """Return a text, or the parts of one, with more at its end: in the last part of text, as the prefill has it."""
    if not isinstance(value, list | tuple):
        return f"{value}{said}"
    parts = list(value)
    at = max(at for at, part in enumerate(parts) if "text" in part)
    parts[at] = {**parts[at], "text": f"{parts[at]['text']}{said}"}
    return parts


def _continued_field(request: Request) -> str:
    field = request.options["continue_final_message"]
    return field if isinstance(field, str) else "content"


def _closing(request: Request, old: Columns, number: int, *, ended: bool, text: str) -> str:
    """Return what the template writes behind the sampled text, up to the next turn."""
    rendered = _probed(request, number)
    turn = next((turn for turn in turns_of(rendered.runs) if turn.message == number), None)
    said = [run for run in rendered.runs if run.origin.message == number and not run.origin.trusted]
    closing = rendered.text[said[-1].end : turn.end] if turn and said else ""
    if not ended:
        return closing
    if text.endswith(closing):
        return ""
    # The model has ended its turn by a token of its own choice: the rest stands behind the template's.
    tokens = [found for found in old.core.find_added_tokens(closing) if old.core.is_special_token(found[2])]
    return closing[tokens[0][1] :] if tokens else closing


def _probed(request: Request, number: int) -> Rendered:
    """Return the chat with a word in the place of what was sampled, and with an answer if the template takes one."""
    field = _continued_field(request) if request.continues else "content"
    in_parts = bool(request.messages) and isinstance(fields_of(request.messages[-1]).get(field), list | tuple)
    words: list[Any] = ["x", [{"type": "text", "text": "x"}]]
    plain = {"add_generation_prompt": False, "continue_final_message": False}
    chats = [
        [*request.messages[:number], {**_spoken(request, ""), field: word}, *answer]
        for word in (reversed(words) if in_parts else words)
        for answer in ([{"role": "user", "content": word}], [])
    ]
    for chat in chats[:-1]:
        try:
            return request.render(chat, **plain)
        except Exception:  # a template may want the roles in another order, or contents in parts
            continue
    return request.render(chats[-1], **plain)


def _spliced(
    old: Columns, sampled: list[int], texts: list[str], number: int, said: int, closing: str, prompt: str
) -> Columns:
    """Put sampled ids behind `old`, and what closes the turn behind them."""
    start, text, before = len(old.text), "".join(texts), old.offsets
    ends = start + np.cumsum([len(piece) for piece in texts], dtype=np.int64)
    starts = np.concatenate([np.array([start], np.int64), ends])[: len(ends)]
    said, end = start + said, start + len(text)
    runs = [*_in_turn(old.rendered, number, prompt), Run(start, said, Origin(False, number, "content"))]
    pinned = Columns(
        old.core,
        Rendered(old.text + text, merged([*runs, Run(said, end, Origin(True, number))])),
        old.parts,
        old.lists,
        old.ids + sampled,
        old.anchors + ([(len(old.ids) + len(sampled) - 1, said, end)] if said < end else []),
        reused=len(old.ids) + len(sampled),
        pinned=True,
        given_offsets=np.concatenate([before, np.stack([starts, ends], axis=1)]),
    )
    whole = merged([*runs, Run(said, end + len(closing), Origin(True, number))])
    return _continued(pinned, Rendered(pinned.text + closing, whole), [(end, end + len(closing), None)], old.lists)


def _in_turn(rendered: Rendered, number: int, prompt: str) -> list[Run]:
    """Give the prompt, which stands behind the last message or ends its turn, to the message that is sampled after."""
    runs = rendered.runs
    start = len(rendered.text) - len(prompt) if rendered.text.endswith(prompt) else len(rendered.text)
    last = next((at for at in range(len(runs), 0, -1) if runs[at - 1].origin != PROMPT), 0)
    start = min(start, runs[last].start if last < len(runs) else start)
    before = [run._replace(end=min(run.end, start)) for run in runs if run.start < start]
    after = [run._replace(start=max(run.start, start)) for run in runs if run.end > start]
    return [*before, *(Run(run.start, run.end, Origin(run.origin.trusted, number)) for run in after)]


def merged(runs: Sequence[Run]) -> list[Run]:
    """Return runs of which none is empty and no neighbours have the same origin."""
    result: list[Run] = []
    for run in runs:
        if result and result[-1].origin == run.origin:
            result[-1] = result[-1]._replace(end=run.end)
        elif run.start < run.end:
            result.append(run)
    return result
