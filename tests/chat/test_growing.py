"""Chats that go on: `append` equals encoding everything, `splice` keeps what was sampled."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from encoded_chats import CHATML, FAMILIES, FORGETFUL, RETURNING, cases, family, options, small

from hf_bpe import HfBpeTokenizer, chat
from hf_bpe.chat import Allow, ChatEncoding

USER, ASSISTANT = ({"role": role, "content": "hello dog"} for role in ("user", "assistant"))


def long_chat(turns: int) -> list[dict[str, Any]]:
    """Return a chat of user and assistant in turn."""
    words = ["the", "quick", "brown", "fox", "jumps", "over", "a", "lazy", "dog,", "then", "it", "reads", "42", "lines"]
    draw = random.Random(turns)
    contents = (" ".join(draw.choices(words, k=25)) for _ in range(turns))
    return [{"role": ("user", "assistant")[at % 2], "content": content} for at, content in enumerate(contents)]


COLUMNS = ("ids", "text", "offsets", "message_index", "assistant_mask", "turn_boundaries")


def assert_same(grown: ChatEncoding, whole: ChatEncoding) -> None:
    """Assert that two encodings say the same in everything."""
    assert grown == whole
    for column in (*COLUMNS, "field"):
        assert getattr(grown, column) == getattr(whole, column), column
    assert grown.columns.anchors == whole.columns.anchors


@pytest.mark.parametrize("name", FAMILIES)
def test_append_equals_encoding_everything(shared: Path, name: str) -> None:
    tokenizer, compared = family(shared, name), 0

    for case, _ in cases(shared, name):
        whole = chat.encode(tokenizer, case["messages"], **options(case))
        for count in range(1, len(case["messages"])):
            try:
                start = chat.encode(tokenizer, case["messages"][:count], **options(case))
            except Exception:  # half a chat may be none
                continue
            grown = start.append(case["messages"][count:])
            assert_same(grown, whole)
            compared += 1

    assert compared > 60


@pytest.mark.parametrize("template", [CHATML, FORGETFUL, RETURNING])
@pytest.mark.parametrize("kind", ["bytes", "lowercase", "metaspace"])
def test_append_one_by_one_equals_encoding_everything(kind: str, template: str) -> None:
    tokenizer = small(kind, template)
    contents = ["hello", "<think>a dog</think>É", "\n\nx ", "<|im_", "end|>", "<Normal É>", "", "<think>b</think>"]
    messages = [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(contents)]

    grown = chat.encode(tokenizer, messages[:1], policy={"assistant": Allow("<think>", "<Normal É>")})
    for count in range(2, len(messages) + 1):
        grown = grown.append(messages[count - 1 : count], add_generation_prompt=count % 3 == 0)
        whole = chat.encode(
            tokenizer,
            messages[:count],
            policy={"assistant": Allow("<think>", "<Normal É>")},
            add_generation_prompt=count % 3 == 0,
        )
        assert_same(grown, whole)


def test_append_of_one_turn_encodes_a_tenth_at_most() -> None:
    messages = long_chat(82)
    start = chat.encode(small(), messages[:81], add_generation_prompt=True)

    answered = start.append(messages[81:], add_generation_prompt=False)
    asked = answered.append([USER], add_generation_prompt=True)

    assert answered.reused_tokens > 0.9 * len(answered)
    assert asked.reused_tokens > 0.9 * len(asked)
    assert answered.changed_message is asked.changed_message is None
    assert start.reused_tokens == 0


def test_append_names_the_first_message_that_the_template_rewrites() -> None:
    answer = {"role": "assistant", "content": "<think>a dog</think>fox"}
    start = chat.encode(small(template=FORGETFUL), [USER, ASSISTANT, USER, answer])

    grown = start.append([USER])

    assert grown.changed_message == 3
    assert 0 < grown.reused_tokens < len(start)
    assert_same(grown, chat.encode(small(template=FORGETFUL), [USER, ASSISTANT, USER, answer, USER]))


def test_append_names_an_answer_that_ends_otherwise_once_it_is_not_the_last() -> None:
    start = chat.encode(small(template=RETURNING), [USER, ASSISTANT])

    assert start.append([USER]).changed_message == 1


def test_append_names_message_0_where_the_text_before_it_changes() -> None:
    tokenizer = small(template="{{ messages | length }} turns" + CHATML)

    assert chat.encode(tokenizer, [USER]).append([ASSISTANT]).changed_message == 0


def test_append_to_a_prefill_closes_it() -> None:
    start = chat.encode(small(), [USER, ASSISTANT], continue_final_message=True)

    grown = start.append([USER], continue_final_message=False)

    assert_same(grown, chat.encode(small(), [USER, ASSISTANT, USER]))
    assert grown.changed_message is None


@pytest.mark.parametrize(
    "text", ["hello dog<|im_end|>", "hello dog", "", "<|im_end|>", "<think>x</think>é 漢<|im_end|>"]
)
def test_splice_keeps_what_was_sampled_and_closes_the_turn(text: str) -> None:
    tokenizer = small()
    start = chat.encode(tokenizer, [USER], add_generation_prompt=True)
    sampled = tokenizer.encode(text, add_special_tokens=False)

    spliced = start.splice(sampled)

    said = text.removesuffix("<|im_end|>")
    assert spliced.messages == [USER, {"role": "assistant", "content": said}]
    assert spliced.text == start.text + said + "<|im_end|>\n"
    assert spliced.ids[: len(start) + len(sampled)] == start.ids + sampled
    assert tokenizer.decode(spliced.ids) == spliced.text
    assert spliced.reused_tokens == len(start) + len(sampled)
    assert {len(spliced.offsets), len(spliced.field), len(spliced.assistant_mask)} == {len(spliced)}
    masked = [token for token, masks in zip(spliced.ids, spliced.assistant_mask, strict=True) if masks]
    assert tokenizer.decode(masked) == said + "<|im_end|>"


def test_splice_of_the_usual_ids_equals_encoding_everything() -> None:
    tokenizer = small()
    start = chat.encode(tokenizer, long_chat(5), add_generation_prompt=True)

    spliced = start.splice(tokenizer.encode("hello dog<|im_end|>", add_special_tokens=False))
    whole = chat.encode(tokenizer, [*long_chat(5), ASSISTANT])

    for column in COLUMNS:
        assert getattr(spliced, column) == getattr(whole, column), column
    whole = chat.encode(tokenizer, [*long_chat(5), ASSISTANT, USER], add_generation_prompt=True)
    for column in COLUMNS:
        assert getattr(spliced.append([USER]), column) == getattr(whole, column), column


def test_unusual_ids_of_a_model_stay_in_the_history() -> None:
    tokenizer = small()
    letters = [tokenizer.encode(letter, add_special_tokens=False)[0] for letter in "hello"]
    end = tokenizer.convert_tokens_to_ids("<|im_end|>")
    start = chat.encode(tokenizer, [USER], add_generation_prompt=True)

    grown = start.splice([*letters, end]).append([USER])
    again = grown.splice([*letters, end]).append([USER])

    assert letters != tokenizer.encode("hello", add_special_tokens=False)
    assert grown.ids[: len(start) + 6] == [*start.ids, *letters, end]
    assert grown.text == chat.encode(tokenizer, grown.messages, add_generation_prompt=True).text
    assert again.ids[: len(grown)] == grown.ids
    assert again.changed_message is None


def test_thoughts_that_the_template_would_drop_stay_after_a_splice() -> None:
    tokenizer = small(template=FORGETFUL)
    sampled = tokenizer.encode("<think>dog</think>fox<|im_end|>", add_special_tokens=False)
    start = chat.encode(tokenizer, [USER], add_generation_prompt=True)

    grown = start.splice(sampled).append([USER])

    assert grown.text.count("<think>dog</think>") == 1
    assert grown.ids[: len(start) + len(sampled)] == start.ids + sampled
    assert grown.text.endswith("<|im_end|>\n<|im_start|>user\nhello dog<|im_end|>\n<|im_start|>assistant\n")
    assert grown.changed_message == 1


def test_splice_after_a_prefill_goes_on_with_its_message() -> None:
    tokenizer = small()
    start = chat.encode(tokenizer, [USER, ASSISTANT], continue_final_message=True)

    spliced = start.splice(tokenizer.encode(" over<|im_end|>", add_special_tokens=False))

    assert spliced.messages[-1] == {"role": "assistant", "content": "hello dog over"}
    assert spliced.text == chat.encode(tokenizer, [USER, {**ASSISTANT, "content": "hello dog over"}]).text


def test_splice_takes_the_message_that_the_ids_spell() -> None:
    tokenizer = small()
    call = {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]}

    spliced = chat.encode(tokenizer, [USER], add_generation_prompt=True).splice([1, 2], message=call)

    assert spliced.messages[-1] == call


def test_another_end_of_the_turn_is_kept() -> None:
    tokenizer = small(template=CHATML)
    other = tokenizer.convert_tokens_to_ids("<|return|>")

    spliced = chat.encode(tokenizer, [USER], add_generation_prompt=True).splice([5, other])

    assert spliced.text.endswith("<|return|>\n")
    assert spliced.ids[-2] == other


def test_half_a_character_is_spliced_as_it_is() -> None:
    tokenizer = small("bytes")
    half = tokenizer.encode("漢", add_special_tokens=False)[:2]

    spliced = chat.encode(tokenizer, [USER], add_generation_prompt=True).splice(half)

    assert spliced.ids[-4:-2] == half
    assert "\ufffd<|im_end|>\n" in spliced.text
    assert len(spliced.offsets) == len(spliced)


def test_splice_needs_an_open_turn() -> None:
    tokenizer: HfBpeTokenizer = small()
    prompted = chat.encode(tokenizer, [USER], add_generation_prompt=True)

    for closed in (chat.encode(tokenizer, [USER]), prompted.splice([5])):
        with pytest.raises(
            ValueError, match=r"splice\(\) goes on in an open turn of the assistant: encode with add_gen"
        ):
            closed.splice([5])


@pytest.mark.parametrize("ids", [np.array([5, 6]), iter([5, 6]), (np.int64(5), np.int32(6))])
def test_splice_takes_the_ids_that_models_give(ids: Any) -> None:
    encoding = chat.encode(small(), [{"role": "user", "content": "hi"}], add_generation_prompt=True)

    spliced = encoding.splice(ids)

    assert spliced == encoding.splice([5, 6])
    assert all(type(token) is int for token in spliced.ids)


@pytest.mark.parametrize("ids", [None, 5, "ab", [5.0], [None], np.array([[5, 6]])])
def test_splice_refuses_what_are_no_ids(ids: Any) -> None:
    encoding = chat.encode(small(), [{"role": "user", "content": "hi"}], add_generation_prompt=True)

    with pytest.raises(TypeError, match=r"splice\(\) takes a list of ids, of one chat"):
        encoding.splice(ids)
    with pytest.raises(TypeError, match=r"splice\(message=...\) takes a message, got int"):
        encoding.splice([5], message=5)  # type: ignore[arg-type]


@pytest.mark.parametrize("messages", [None, "hi", {"role": "user", "content": "hi"}])
def test_append_refuses_what_is_no_list(messages: Any) -> None:
    encoding = chat.encode(small(), [{"role": "user", "content": "hi"}])

    with pytest.raises(TypeError, match=r"append\(\) takes a list of messages, got .*: put one message in a list"):
        encoding.append(messages)


@pytest.mark.parametrize("name", ["policy", "limits", "training", "tokenizer"])
def test_append_refuses_what_stays(name: str) -> None:
    encoding = chat.encode(small(), [{"role": "user", "content": "hi"}])

    with pytest.raises(TypeError, match=f"takes no argument '{name}': it stays as it was"):
        encoding.append([], **{name: "text"})


def test_an_appended_message_does_not_follow_later_changes() -> None:
    message = {"role": "user", "content": "more"}
    encoding = chat.encode(small(), [{"role": "user", "content": "hi"}]).append([message])

    message["content"] = "changed"

    assert encoding.messages[-1]["content"] == "more"


@pytest.mark.parametrize("said", ["", "hello"])
def test_a_prompt_that_is_written_in_the_last_turn_belongs_to_the_answer(said: str) -> None:
    template = (
        "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>' }}"
        "{% if loop.last and add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}{% endfor %}"
    )
    tokenizer, chat_ = small(template=template), [{"role": "user", "content": "hi"}]
    encoding = chat.encode(tokenizer, chat_, add_generation_prompt=True)

    spliced = encoding.splice(tokenizer.encode(said))

    whole = chat.encode(tokenizer, [*chat_, {"role": "assistant", "content": said}])
    assert encoding.generation_prompt == "<|im_start|>assistant\n"
    assert (spliced.ids, spliced.message_index) == (whole.ids, whole.message_index)
    assert spliced.assistant_mask == whole.assistant_mask
    assert spliced.turn_boundaries == whole.turn_boundaries


def test_splice_closes_a_turn_whose_template_wants_parts() -> None:
    template = (
        "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' }}"
        "{{ m.content[0].text + '' if m.role == 'assistant' else m.content }}{{ '<|im_end|>' }}{% endfor %}"
        "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
    )
    tokenizer = small(template=template)
    encoding = chat.encode(tokenizer, [{"role": "user", "content": "hi"}], add_generation_prompt=True)

    spliced = encoding.splice(tokenizer.encode("hello"))

    assert spliced.text.endswith("<|im_start|>assistant\nhello<|im_end|>")
