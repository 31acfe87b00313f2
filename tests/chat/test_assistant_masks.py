"""What of a chat is trained, without `{% generation %}`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from encoded_chats import RETURNING, cases, family, golden, options, small

from hf_bpe import chat
from hf_bpe.chat import ChatEncoding, Trained

# What TRL's training templates put between their generation tags.
TRAINING = {
    "trl_llama3_training": ("llama3", Trained()),
    "trl_qwen2_5_training": ("qwen2_5", Trained(newline=True, header_newline=True)),
    "trl_qwen3_training": ("qwen3", Trained(newline=True)),
}
CHAT = [
    {"role": "user", "content": "hello"},
    {"role": "assistant", "content": "world"},
    {"role": "user", "content": "again"},
]


def trained(encoding: ChatEncoding) -> str:
    """Return the characters that the mask covers."""
    masked = zip(encoding.offsets, encoding.assistant_mask, strict=True)
    return "".join(encoding.text[start:end] for (start, end), masks in masked if masks)


@pytest.mark.parametrize("template", TRAINING)
def test_masks_are_those_of_training_templates(shared: Path, template: str) -> None:
    name, training = TRAINING[template]
    tokenizer = family(shared, name)
    source = (shared / "vectors" / "chat" / "templates" / f"{template}.jinja").read_text(encoding="utf-8")
    conversations = {case["id"]: case for case in golden(shared)["cases"]}
    compared = 0

    for name, expected in golden(shared, "assistant_masks.json")["masks"][template].items():
        if "ids" not in expected:
            continue
        case = conversations[name]
        encoding = chat.encode(tokenizer, case["messages"], chat_template=source, training=training, **options(case))
        assert trained(encoding) == expected["masked"], name
        if encoding.ids == expected["ids"]:
            assert encoding.assistant_mask == expected["assistant_masks"], name
            compared += 1

    assert compared > 60


@pytest.mark.parametrize("plain", ["llama3", "qwen2_5"])
def test_a_template_without_generation_tags_gives_the_same_masks(shared: Path, plain: str) -> None:
    template = f"trl_{plain}_training"
    tokenizer, masks = family(shared, plain), golden(shared, "assistant_masks.json")["masks"][template]
    compared = 0

    for case, expected in cases(shared, plain):
        mask = masks.get(case["id"], {})
        if mask.get("text") == expected["text"]:
            encoding = chat.encode(tokenizer, case["messages"], training=TRAINING[template][1], **options(case))
            assert trained(encoding) == mask["masked"], case["id"]
            compared += 1

    assert compared > 60


@pytest.mark.parametrize(
    ("training", "expected"),
    [
        (Trained(), "world<|im_end|>"),
        (Trained(end_of_turn=False), "world"),
        (Trained(newline=True), "world<|im_end|>\n"),
        (Trained(end_of_turn=False, header_newline=True), "\nworld"),
    ],
)
def test_options_say_what_is_trained_around_an_answer(training: Trained, expected: str) -> None:
    encoding = chat.encode(small(), CHAT, training=training)

    assert trained(encoding) == expected
    assert encoding.assistant_mask == chat.encode(small(), CHAT).with_training(training).assistant_mask


def test_a_prefill_is_trained_and_has_no_end() -> None:
    encoding = chat.encode(small(), CHAT[:2], continue_final_message=True)

    assert encoding.text.endswith("assistant\nworld")
    assert trained(encoding) == "world"


def test_a_generation_prompt_is_not_trained() -> None:
    encoding = chat.encode(small(), CHAT, add_generation_prompt=True)

    assert trained(encoding) == "world<|im_end|>"


def test_an_answer_at_the_first_token_is_trained_from_there() -> None:
    encoding = chat.encode(
        small(template="{% for m in messages %}{{ m.content + '<|im_end|>' }}{% endfor %}"),
        [{"role": "assistant", "content": "A"}, {"role": "user", "content": "B"}],
    )

    assert encoding.assistant_mask == [1, 1, 0, 0]


def test_an_answer_that_begins_with_a_space_is_trained_alone() -> None:
    template = "{% for m in messages %}{{ m.role + ':' + m.content }}{% endfor %}"
    chat_ = [{"role": "user", "content": " Hi"}, {"role": "assistant", "content": " the dog"}]

    encoding = chat.encode(small(template=template), chat_)

    assert trained(encoding) == " the dog"


def test_a_template_that_ends_the_last_turn_otherwise_is_trained_on_that() -> None:
    encoding = chat.encode(small(template=RETURNING), CHAT[:2])

    assert trained(encoding) == "world<|return|>"


def test_thoughts_that_the_prompt_writes_are_header_where_they_stand(shared: Path) -> None:
    messages = [{"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "4"}]
    tokenizer = family(shared, "qwen3")

    assert trained(chat.encode(tokenizer, messages)) == "<think>\n\n</think>\n\n4<|im_end|>"
    assert trained(chat.encode(tokenizer, messages, enable_thinking=False)) == "4<|im_end|>"


def test_the_name_of_a_tool_is_not_trained_where_the_result_repeats_it() -> None:
    template = (
        "{% set ns = namespace(name='') %}{% for m in messages %}{{ '<|im_start|>' }}{% if m.role == 'tool' %}"
        "functions.{{ ns.name }} says {{ m.content }}{% else %}{{ m.role + '\\n' }}{{ m.content }}"
        "{% for c in m.tool_calls or [] %}{% set ns.name = c.name %}{{ c | tojson }}{% endfor %}{% endif %}"
        "{{ '<|im_end|>' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
    )
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "2+2?"},
        {"role": "assistant", "content": "", "tool_calls": [{"name": "add"}]},
        {"role": "tool", "content": "4"},
        {"role": "assistant", "content": "It is 4."},
    ]

    encoding = chat.encode(small(template=template), messages)

    assert "functions.add says 4" in encoding.text
    assert trained(encoding) == '{"name": "add"}<|im_end|>It is 4.<|im_end|>'
    assert len(encoding.turn_boundaries) == 4


def test_labels_keep_the_trained_ids_alone() -> None:
    encoding = chat.encode(small(), CHAT)

    for ignored in (-100, -1):
        labels = encoding.labels(ignore_index=ignored)
        expected = [i if masks else ignored for i, masks in zip(encoding.ids, encoding.assistant_mask, strict=True)]
        assert labels == expected
