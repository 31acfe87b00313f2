"""Known faults of chat templates elsewhere, which must not be faults here."""

from __future__ import annotations

from typing import Any

import pytest
from chat_families import small_sides
from directories import pair

from hf_bpe import HfBpeTokenizer
from hf_bpe.chat import templates

MARKED = (
    "{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}{{ m.content }}{% endgeneration %}"
    "{% else %}{{ m.content }}{% endif %}{% endfor %}"
)


def masked(tokenizer: HfBpeTokenizer, *contents: tuple[str, str], template: str = MARKED, **keywords: Any) -> list[Any]:
    """Return each token with its place in the mask."""
    chat = [{"role": role, "content": content} for role, content in contents]
    batch = tokenizer.apply_chat_template(chat, chat_template=template, return_assistant_tokens_mask=True, **keywords)
    tokens = tokenizer.convert_ids_to_tokens(batch["input_ids"])
    return list(zip(tokens, batch["assistant_masks"], strict=True))


def test_a_mask_that_starts_with_the_text_ends_with_the_turn() -> None:
    tokenizer = pair("gpt2")[0]

    assert masked(tokenizer, ("assistant", "A"), ("user", "\nB")) == [("A", 1), ("Ċ", 0), ("B", 0)]
    assert masked(tokenizer, ("assistant", "A")) == [("A", 1)]


def test_a_mask_that_ends_on_a_blank_does_not_reach_past_its_token() -> None:
    tokenizer = pair("gpt2")[0]

    assert masked(tokenizer, ("user", "1"), ("assistant", "2 "), ("user", "Ж\n4"))[-2:] == [("Ċ", 0), ("4", 0)]
    # Offsets leave blanks out here, as the post-processor says, so that the blank belongs to nobody.
    assert masked(tokenizer, ("assistant", "2 "), ("user", "\n4")) == [("2", 1), ("Ġ", 0), ("Ċ", 0), ("4", 0)]
    # Where they don't, it belongs to the assistant, and so does its token.
    untrimmed = small_sides("qwen3")[0]
    assert masked(untrimmed, ("assistant", "2 "), ("user", "(4")) == [("2", 1), ("Ġ", 1), ("(", 0), ("4", 0)]


@pytest.mark.parametrize("side", ["right", "left"])
def test_a_mask_that_is_cut_keeps_what_is_left_of_it(side: str) -> None:
    tokenizer = HfBpeTokenizer.from_pretrained(pair("gpt2")[0].name_or_path, truncation_side=side)
    turns = ("user", "1"), ("assistant", "2\n3"), ("user", "4")

    whole = [mask for _, mask in masked(tokenizer, *turns)]
    cut = [mask for _, mask in masked(tokenizer, *turns, truncation=True, max_length=3)]
    assert whole == [0, 1, 1, 1, 0]
    assert cut == ([0, 1, 1] if side == "right" else [1, 1, 0])


def test_a_chat_has_one_bos_and_its_text_is_not_to_be_encoded_with_another() -> None:
    tokenizer = HfBpeTokenizer.from_pretrained(small_sides("llama3")[0].name_or_path, add_bos_token=True)
    chat = [{"role": "user", "content": "Hello"}]
    ids = tokenizer.apply_chat_template(chat)["input_ids"]
    text = tokenizer.apply_chat_template(chat, tokenize=False)

    assert ids.count(tokenizer.bos_token_id) == 1
    assert tokenizer(text)["input_ids"] == [tokenizer.bos_token_id, *ids]
    assert tokenizer(text, add_special_tokens=False)["input_ids"] == ids


@pytest.mark.parametrize("name", [name for name in templates.NAMES if name != "chatml"])
def test_a_call_without_content_says_neither_none_nor_raises(name: str) -> None:
    call = {"type": "function", "function": {"name": "f", "arguments": {}}}
    tokenizer = small_sides("qwen3")[0]
    texts = [
        tokenizer.apply_chat_template(
            [{"role": "user", "content": "q"}, {"role": "assistant", "tool_calls": [call], **content}],
            chat_template=templates.load(name),
            bos_token="",
            tokenize=False,
        )
        for content in ({"content": None}, {})
    ]

    assert texts[0] == texts[1]
    assert "None" not in texts[0]


@pytest.mark.parametrize("name", ["llama3.1", "llama3.2", "qwen2.5", "qwen3"])
def test_tools_are_written_as_json_without_escapes_in_the_order_given(name: str) -> None:
    tool = {"z": "a > b & c — 안녕 'q'", "a": [1.0, True, None]}
    text = small_sides("qwen3")[0].apply_chat_template(
        [{"role": "user", "content": "q"}],
        tools=[tool],
        chat_template=templates.load(name),
        bos_token="",
        tokenize=False,
    )
    indented = '{\n    "z": "a > b & c — 안녕 \'q\'",\n    "a": [\n        1.0,\n        true,\n        null\n    ]\n}'

    one_line = '\n{"z": "a > b & c — 안녕 \'q\'", "a": [1.0, true, null]}\n'
    assert (indented if name.startswith("llama") else one_line) in text


def test_a_prefill_goes_on_where_the_template_trims() -> None:
    def prefilled(name: str, content: str) -> str:
        chat = [{"role": "user", "content": "q"}, {"role": "assistant", "content": content}]
        text = small_sides("llama3")[0].apply_chat_template(
            chat, chat_template=templates.load(name), continue_final_message=True, tokenize=False
        )
        return str(text)

    assert prefilled("llama3", "some text ").endswith("<|end_header_id|>\n\nsome text")
    assert prefilled("chatml", "some text ").endswith("assistant\nsome text ")
    assert prefilled("qwen3", "some\n").endswith("<think>\n\n</think>\n\nsome\n")
