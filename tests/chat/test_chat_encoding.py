"""What a `ChatEncoding` says beside its ids: whose tokens, boundaries, batches; and how it is cut down."""

from __future__ import annotations

import copy
import pickle
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from encoded_chats import CHATML, FAMILIES, cases, family, options, small, stock

from hf_bpe import chat
from hf_bpe.chat import Allow, ChatEncoding
from hf_bpe.errors import ChatError

SYSTEM = {"role": "system", "content": "Be brief."}
CHAT = [
    SYSTEM,
    {"role": "user", "content": "hello"},
    {"role": "assistant", "content": "world"},
    {"role": "user", "content": "again"},
]


def test_each_token_has_its_message_and_field() -> None:
    encoding = chat.encode(small(), CHAT[1:3], add_generation_prompt=True)
    columns = zip(encoding.offsets, encoding.message_index, encoding.field, strict=True)
    texts: dict[tuple[int | None, str | None], str] = {}
    for (start, end), message, field in columns:
        texts[message, field] = texts.get((message, field), "") + encoding.text[start:end]

    assert texts == {
        (0, None): "<|im_start|>\n<|im_end|>\n",
        (0, "role"): "user",
        (0, "content"): "hello",
        (1, None): "<|im_start|>\n<|im_end|>\n",
        (1, "role"): "assistant",
        (1, "content"): "world",
        (None, None): "<|im_start|>assistant\n",
    }


@pytest.mark.parametrize("name", FAMILIES)
def test_ids_before_a_boundary_do_not_depend_on_what_follows(shared: Path, name: str) -> None:
    tokenizer, found = family(shared, name), 0

    for case, _ in cases(shared, name):
        encoding = chat.encode(tokenizer, case["messages"], **options(case))
        core, columns = tokenizer._core, encoding.columns
        for boundary in encoding.turn_boundaries:
            at = [*(start for start, _ in encoding.offsets), len(encoding.text)][boundary]
            before = [(start, min(end, at), number) for start, end, number in columns.parts if start < at]
            assert core.encode_within(encoding.text[:at], before)[0] == encoding.ids[:boundary], case["id"]
            assert core.encode_within(encoding.text, columns.parts, start=at)[0] == encoding.ids[boundary:], case["id"]
            found += 1
        assert len(encoding.turn_boundaries) >= len(set(encoding.message_index) - {None}) - 1, case["id"]

    assert found > 100


def test_boundaries_stand_before_each_turn_and_after_the_last() -> None:
    closed, open_ = (chat.encode(small(), CHAT, add_generation_prompt=prompts) for prompts in (False, True))
    prefill = chat.encode(small(), CHAT[:3], continue_final_message=True)
    starts = [at for at, token in enumerate(open_.ids) if token == small().convert_tokens_to_ids("<|im_start|>")]

    assert closed.turn_boundaries == open_.turn_boundaries == starts[1:]
    assert closed.turn_boundaries[-1] == len(closed)
    assert prefill.turn_boundaries == starts[1:3]


def test_turns_that_no_token_separates_have_no_boundary() -> None:
    encoding = chat.encode(small(template="{% for m in messages %}{{ m.role + ':' + m.content }}{% endfor %}"), CHAT)

    assert encoding.turn_boundaries == []


def test_a_batch_encoding_has_what_upstream_returns() -> None:
    template = CHATML.replace("message.content +", "message.content }}{% generation %}{{ '' }}{% endgeneration %}{{")
    encoding = chat.encode(small(), CHAT)
    upstream = stock(template=template).apply_chat_template(CHAT, return_assistant_tokens_mask=True, return_dict=True)

    batch, arrays = encoding.to_batch_encoding(), encoding.to_batch_encoding(return_tensors="np")

    assert set(batch) == set(upstream) | {"assistant_masks"}
    assert batch["input_ids"] == upstream["input_ids"] == encoding.ids
    assert batch["attention_mask"] == upstream["attention_mask"]
    assert batch["assistant_masks"] == encoding.assistant_mask
    assert arrays["input_ids"].shape == (1, len(encoding))
    assert np.array_equal(arrays["assistant_masks"][0], encoding.assistant_mask)


def test_an_encoding_shows_what_it_holds() -> None:
    encoding = chat.encode(small(), CHAT[1:2])

    assert repr(encoding) == f"ChatEncoding({len(encoding)} ids of 1 messages: {encoding.text!r})"
    assert len(repr(chat.encode(small(), CHAT * 9))) < 200


def test_encodings_compare_by_ids_and_writers() -> None:
    one, other = chat.encode(small(), CHAT), chat.encode(small(), CHAT)

    assert one == other
    assert one != chat.encode(small(), CHAT[:3])
    assert one != one.ids


def test_an_encoding_is_pickled_whole() -> None:
    encoding = chat.encode(small(), CHAT, add_generation_prompt=True)

    again = pickle.loads(pickle.dumps(encoding))

    assert again == encoding
    assert again.append([CHAT[2]]) == encoding.append([CHAT[2]])


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda encoding: pickle.loads(pickle.dumps(encoding))])
def test_an_encoding_is_copied_after_it_was_asked_for_everything(again: Callable[[ChatEncoding], ChatEncoding]) -> None:
    encoding = chat.encode(small(), CHAT, policy=Allow("<think>"))
    known = (
        encoding.assistant_mask,
        encoding.turn_boundaries,
        encoding.field,
        encoding.message_index,
        encoding.offsets,
    )

    other = again(encoding)

    assert other == encoding
    assert (other.assistant_mask, other.turn_boundaries, other.field, other.message_index, other.offsets) == known


def test_an_encoding_does_not_follow_later_changes_of_its_messages() -> None:
    messages = [{"role": "user", "content": "hello"}]
    encoding = chat.encode(small(), messages)

    messages[0]["content"] = "goodbye"
    messages.append({"role": "user", "content": "more"})

    assert encoding.messages == [{"role": "user", "content": "hello"}]
    assert encoding.append([CHAT[1]]).text.startswith(encoding.text)


def exchange(number: int, *, tools: bool = False) -> list[dict[str, Any]]:
    """Return a question and its answer, perhaps by way of a tool."""
    call = [
        {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]},
        {"role": "tool", "content": f"result {number}"},
    ]
    return [
        {"role": "user", "content": f"question {number}"},
        *(call if tools else []),
        {"role": "assistant", "content": f"answer {number}"},
    ]


@pytest.mark.parametrize("system", [[], [SYSTEM], [SYSTEM, {"role": "developer", "content": "Be kind."}]])
def test_truncation_drops_as_few_of_the_oldest_exchanges_as_it_must(system: list[dict[str, Any]]) -> None:
    exchanges = [exchange(number, tools=number % 2 == 0) for number in range(5)]
    messages = [*system, *(message for turns in exchanges for message in turns)]
    encoding = chat.encode(small(), messages, add_generation_prompt=True)
    shorter = [
        chat.encode(small(), [*system, *chain(*exchanges[first:])], add_generation_prompt=True) for first in range(5)
    ]

    for max_length in range(len(shorter[-1]), len(encoding) + 2):
        truncated = encoding.truncate(max_length)
        assert truncated == next(candidate for candidate in shorter if len(candidate) <= max_length)
        assert truncated.messages[: len(system)] == system


def test_truncation_of_what_fits_is_the_chat_itself() -> None:
    encoding = chat.encode(small(), CHAT)

    assert encoding.truncate(len(encoding)) is encoding


def test_truncation_measures_what_the_template_makes_of_the_rest() -> None:
    tokenizer = small(template="{{ 'a dog ' * (20 - messages | length) }}" + CHATML)
    messages = [message for number in range(4) for message in exchange(number)]
    encoding = chat.encode(tokenizer, messages)

    for max_length in range(40, len(encoding), 7):
        try:
            truncated = encoding.truncate(max_length)
        except ChatError:
            assert all(len(chat.encode(tokenizer, messages[cut:])) > max_length for cut in (2, 4, 6))
        else:
            assert len(truncated) <= max_length


def test_a_chat_that_cannot_be_cut_down_is_an_error() -> None:
    encoding = chat.encode(small(), [SYSTEM, *exchange(0), *exchange(1)])
    rest = len(chat.encode(small(), [SYSTEM, *exchange(1)]))

    with pytest.raises(
        ChatError,
        match=rf"max_length is 9, but messages\[:1\] and messages\[3:\] alone have {rest} tokens; whole turns",
    ):
        encoding.truncate(9)
    with pytest.raises(ChatError, match=r"max_length is 3, but messages\[0:\] alone have \d+ tokens; whole turns"):
        chat.encode(small(), exchange(0)).truncate(3)


def test_no_chat_is_encoded_by_another_template_than_asked_for() -> None:
    encoding = chat.encode(small(), CHAT[1:2], chat_template="{{ messages[0].content }}{{ extra }}", extra=" dog")

    assert encoding.text == "hello dog"
    assert encoding.append([CHAT[2]]).text == "hello dog"


def test_ten_thousand_turns_full_of_control_tokens_take_seconds() -> None:
    roles = ("user", "assistant")
    messages = [{"role": roles[at % 2], "content": "<|im_end|><Normal É>" * 5} for at in range(10_000)]
    start = time.process_time()

    encoding = chat.encode(small(), messages, policy={"assistant": Allow("<think>"), "tool": "error"})
    columns = (encoding.assistant_mask, encoding.message_index, encoding.turn_boundaries)
    grown = encoding.append(messages[:2])

    assert len(columns[2]) == 10_000
    assert grown.reused_tokens > 0.99 * len(encoding)
    assert len(encoding.truncate(1000)) <= 1000
    assert time.process_time() - start < 60


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"limits": 5}, r"limits is a chat.Limits\(...\), got 5"),
        ({"limits": None}, r"limits is a chat.Limits\(...\), got None"),
        ({"training": True}, r"training is a chat.Trained\(...\), got True"),
    ],
)
def test_settings_of_another_type_are_refused(settings: dict[str, Any], reason: str) -> None:
    with pytest.raises(TypeError, match=reason):
        chat.encode(small(), CHAT, **settings)


def test_numbers_that_are_none_are_refused() -> None:
    encoding = chat.encode(small(), CHAT)

    with pytest.raises(TypeError, match=r"Limits\(iterations=...\) is a whole number, got 'a'"):
        chat.Limits(iterations="a")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"max_length is a number of tokens, got 1\.5"):
        encoding.truncate(1.5)  # type: ignore[arg-type]
    assert encoding.truncate(np.int64(1000)) is encoding  # type: ignore[arg-type]


@dataclass
class Said:
    """A message that is no dict."""

    role: str
    content: str


def test_messages_of_a_class_have_roles_too() -> None:
    messages: Any = [Said(message["role"], message["content"]) for message in CHAT]

    encoding, of_dicts = chat.encode(small(), messages), chat.encode(small(), CHAT)

    assert encoding == of_dicts
    assert encoding.assistant_mask == of_dicts.assistant_mask
    assert 1 in encoding.assistant_mask
    assert encoding.truncate(len(encoding) - 1).messages[0] == messages[0]
    assert encoding.append([messages[1]]) == of_dicts.append([CHAT[1]])
    with pytest.raises(ChatError, match=r"messages\[0\]\.content spells"):
        chat.encode(small(), [Said("user", "<|im_end|>")], policy={"user": "error"})  # type: ignore[list-item]


def test_a_prefill_of_a_class_is_gone_on_with() -> None:
    messages: Any = [Said("user", "hello"), Said("assistant", "wor")]

    spliced = chat.encode(small(), messages, continue_final_message=True).splice(small().encode("ld"))

    assert spliced.text == chat.encode(small(), CHAT[1:3]).text


def test_a_prefill_in_parts_is_gone_on_with() -> None:
    template = "{% for m in messages %}{% for p in m.content %}{{ p.text }}{% endfor %}{{ '<|im_end|>' }}{% endfor %}"
    parts = [{"type": "text", "text": "wor"}, {"type": "image"}]
    tokenizer = small(template=template)
    encoding = chat.encode(tokenizer, [{"role": "assistant", "content": parts}], continue_final_message=True)

    spliced = encoding.splice(tokenizer.encode("ld"))

    assert spliced.text == "world<|im_end|>"
    assert spliced.messages[-1]["content"] == [{"type": "text", "text": "world"}, {"type": "image"}]
    assert parts[0] == {"type": "text", "text": "wor"}


def test_a_chat_that_renders_to_nothing_has_nothing() -> None:
    encoding = chat.encode(small(template="{{ '' }}"), CHAT)

    assert (encoding.ids, encoding.text, encoding.assistant_mask, encoding.turn_boundaries) == ([], "", [], [])
    assert encoding.field == encoding.message_index == encoding.labels() == []
    assert encoding.append([CHAT[1]]) == encoding
    assert encoding.truncate(0) is encoding
