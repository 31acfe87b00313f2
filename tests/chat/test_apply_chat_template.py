"""`apply_chat_template` gives what stock's fast tokenizer gives over the same directory: text, ids, masks, errors."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chat_families import VOCABULARIES, Sides, families, sides, small_sides
from oracle import arguments_of, goldens, outcome_of, random_arguments, upstream
from random_templates import random_template

from hf_bpe.chat import templates

GOLDEN_FILES = {
    "llama3": ["llama3"],
    "llama3.1": ["llama3_1"],
    "qwen2.5": ["qwen2_5"],
    "qwen3": ["qwen3", "chatml"],
}
TRL_FILES = {"llama3": "llama3", "qwen2.5": "qwen2_5", "qwen3": "qwen3"}
VARIANTS: list[dict[str, Any]] = [
    {},
    {"return_dict": False},
    {"tokenize": False},
    {"padding": "max_length", "max_length": 90},
    {"truncation": True, "max_length": 12},
    {"padding": "max_length", "truncation": True, "max_length": 30, "return_tensors": "np"},
    {"return_tensors": "np", "return_dict": False},
    {"tokenizer_kwargs": {"return_offsets_mapping": True, "return_length": True}},
    {"tokenizer_kwargs": {"padding_side": "left"}, "padding": "max_length", "max_length": 90},
    {"tokenizer_kwargs": {"split_special_tokens": True}},
    {"return_assistant_tokens_mask": True},
    {"return_assistant_tokens_mask": True, "truncation": True, "max_length": 25},
    {"return_assistant_tokens_mask": True, "padding": "max_length", "max_length": 90},
    {"return_assistant_tokens_mask": True, "return_tensors": "np"},
    {"return_assistant_tokens_mask": True, "tokenize": False},
    {"return_assistant_tokens_mask": True, "return_dict": False},
    {"sanitize_control_tokens": True},
    {"sanitize_control_tokens": True, "truncation": True, "max_length": 20, "return_tensors": "np"},
]


def plain(value: Any) -> Any:
    """Return a result as values that compare, with the types of arrays."""
    if isinstance(value, np.ndarray):
        return ("array", str(value.dtype), value.tolist())
    if hasattr(value, "data") and hasattr(value, "encodings"):
        return {name: plain(column) for name, column in value.data.items()}
    return value


def told(tokenizer: Any, *args: Any, **keywords: Any) -> Any:
    """Return what a call gives, or the class, module and text of its error."""
    try:
        return plain(tokenizer.apply_chat_template(*args, **keywords))
    except Exception as error:
        return type(error).__name__, type(error).__module__, str(error)


def assert_same(both: Sides, *args: Any, **keywords: Any) -> Any:
    """Assert that a call gives the same with ours as with stock's, order of names included, and return it."""
    ours, stock = (told(tokenizer, *args, **keywords) for tokenizer in both)
    assert ours == stock, (args, keywords)
    assert list(ours) == list(stock)
    return ours


@families
def test_golden_ids_and_errors_come_out(shared: Path, family: str, real_vocabulary: Path) -> None:
    ours, compared = sides(family, real_vocabulary)[0], 0
    for file in GOLDEN_FILES[family]:
        template = upstream(shared, file)
        for case in goldens(shared)["cases"]:
            golden = case["expected"][file]
            got = told(ours, case["messages"], chat_template=template, return_dict=False, **arguments_of(case))
            assert got == golden.get("ids", outcome_of(golden)), case["id"]
            compared += 1

    assert compared >= 80 * len(GOLDEN_FILES[family])


@families
def test_every_case_and_variant_equals_stock(shared: Path, family: str, real_vocabulary: Path) -> None:
    both = sides(family, real_vocabulary)
    sources = [upstream(shared, file) for file in GOLDEN_FILES[family]]
    if family in TRL_FILES:
        sources.append(upstream(shared, f"trl_{TRL_FILES[family]}_training"))
    for case in goldens(shared)["cases"]:
        for template in sources:
            for variant in VARIANTS:
                assert_same(both, case["messages"], chat_template=template, **arguments_of(case), **variant)


@families
def test_golden_masks_come_out(shared: Path, family: str, real_vocabulary: Path) -> None:
    if family not in TRL_FILES:
        pytest.skip("no golden masks for this family")
    path = shared / "vectors" / "chat" / "assistant_masks.json"
    name = f"trl_{TRL_FILES[family]}_training"
    expected = json.loads(path.read_text(encoding="utf-8"))["masks"][name]
    ours, compared = sides(family, real_vocabulary)[0], 0
    for case in goldens(shared)["cases"]:
        if "ids" not in expected.get(case["id"], {}):
            continue
        golden = expected[case["id"]]
        got = ours.apply_chat_template(
            case["messages"],
            chat_template=upstream(shared, name),
            return_assistant_tokens_mask=True,
            **{key: value for key, value in arguments_of(case).items() if key != "continue_final_message"},
        )
        assert (got["input_ids"], got["assistant_masks"]) == (golden["ids"], golden["assistant_masks"]), case["id"]
        compared += 1

    assert compared >= 60


@pytest.mark.parametrize("family", VOCABULARIES)
@pytest.mark.parametrize("training", [False, True])
def test_random_conversations_equal_stock(family: str, training: bool) -> None:
    both, kinds = small_sides(family), set()
    template = templates.load(family, training=training)
    for number, arguments in enumerate(random_arguments(250, seed=3)):
        variant = VARIANTS[number % len(VARIANTS)]
        kinds.add(
            type(
                assert_same(
                    both, chat_template=template, conversation=arguments["messages"], **without(arguments), **variant
                )
            )
        )

    assert kinds == {dict, list, str, tuple}


def without(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if name != "messages"}


BATCHES: list[dict[str, Any]] = [
    {},
    {"return_dict": False},
    {"tokenize": False},
    {"padding": True},
    {"padding": True, "return_tensors": "np"},
    {"truncation": True, "max_length": 15, "padding": "max_length"},
    {"padding": True, "tokenizer_kwargs": {"padding_side": "left", "pad_to_multiple_of": 8}},
    {"return_assistant_tokens_mask": True},
    {"return_assistant_tokens_mask": True, "padding": True, "return_tensors": "np"},
    {"return_assistant_tokens_mask": True, "truncation": True, "max_length": 15},
    {"return_assistant_tokens_mask": True, "truncation": True, "max_length": 15, "padding": True},
    {"add_generation_prompt": True, "padding": True},
    {"continue_final_message": True, "padding": True},
    {"continue_final_message": True, "add_generation_prompt": True},
    {"sanitize_control_tokens": True, "padding": True},
]


@pytest.mark.parametrize("family", VOCABULARIES)
def test_batches_equal_stock(family: str) -> None:
    both = small_sides(family)
    template = templates.load(family, training=True)
    chats = [without_odd_keys(arguments["messages"]) for arguments in random_arguments(60, seed=4)]
    for start in range(0, len(chats), 3):
        for variant in BATCHES:
            assert_same(both, chats[start : start + 3], chat_template=template, **variant)
            assert_same(both, tuple(chats[start : start + 1]), chat_template=template, **variant)
    for nothing in ([], [[]], (), [[], chats[0]]):
        assert_same(both, nothing)


def without_odd_keys(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return messages that most templates render: a batch raises as soon as one of its chats does."""
    kept = [message for message in messages if isinstance(message.get("content"), str) and message.get("role")]
    return [{"role": message["role"], "content": message["content"]} for message in kept] or [
        {"role": "user", "content": "Hello"}
    ]


@pytest.mark.parametrize("seed", range(50))
def test_random_templates_equal_stock(seed: int) -> None:
    rng = random.Random(seed)
    template, both = random_template(rng), small_sides(rng.choice(list(VOCABULARIES)))
    for number, arguments in enumerate(random_arguments(24, seed=seed)):
        given = {"conversation": arguments["messages"], "chat_template": template, **without(arguments)}
        assert_same(both, **given, tokenize=False)
        assert_same(both, **given, **VARIANTS[(seed + number) % len(VARIANTS)])
        if not given.get("continue_final_message"):
            assert_same(both, **given, return_assistant_tokens_mask=True, truncation=True, max_length=20 + number)


@dataclass
class Said:
    """A message as some libraries have it: an object."""

    role: str
    content: str | None
    tool_calls: list[dict[str, Any]] | None = None


class Modelled:
    """A message as pydantic has it."""

    def __init__(self, **fields: Any) -> None:
        """Keep the fields."""
        self._fields = fields

    def model_dump(self) -> dict[str, Any]:
        """Return the fields."""
        return self._fields


class Chat:
    """A conversation as the pipelines of transformers have it."""

    def __init__(self, messages: list[dict[str, Any]]) -> None:
        """Keep the messages."""
        self.messages = messages


def get_weather(place: str, days: int = 1) -> str:
    """
    Tell the weather.

    Args:
        place: Where, a <city>.
        days: How many days ahead.
    """
    raise NotImplementedError


@pytest.mark.parametrize("family", VOCABULARIES)
def test_objects_functions_and_named_templates_equal_stock(family: str) -> None:
    both = small_sides(family)
    objects = [Said("user", "a"), Modelled(role="assistant", content=None, tool_calls=None), Said("assistant", "b")]
    chat = [{"role": "user", "content": "a"}]
    bad = [5], "text", [None], {"role": "user", "content": "a"}, None, [{"role": "user", "content": "\udc00"}]

    assert_same(both, objects, tokenize=False)
    assert_same(both, Chat(chat))
    assert_same(both, [Chat(chat), Chat(chat * 2)], padding=True)
    for tools in ([get_weather], [len], [5], [object()], get_weather, {"a": 1}):
        assert_same(both, chat, tools=tools, tokenize=False)
    assert_same(both, chat, documents=[{"title": "t", "text": "x"}], chat_template="{{ documents }}{{ messages }}")
    assert_same(both, chat, documents=["t"])
    assert_same(both, chat, chat_template="{{ unclosed")
    assert_same(both, chat, chat_template="{{ messages.append(1) }}{{ messages.__class__ }}")
    assert_same(both, chat, return_tensors="pt", max_length=5)
    for messages in bad:
        assert_same(both, messages)


def test_templates_by_name_equal_stock() -> None:
    named = {"default": "{{ 'plain' }}", "tool_use": "{{ 'tools' }}", "rag": "{{ 'rag' }}"}
    both = small_sides("qwen3")
    saved = [tokenizer.chat_template for tokenizer in both]
    try:
        for tokenizer in both:
            tokenizer.chat_template = dict(named)
        chat = [{"role": "user", "content": "a"}]
        assert assert_same(both, chat, tokenize=False) == "plain"
        assert assert_same(both, chat, tools=[], tokenize=False) == "tools"
        assert assert_same(both, chat, chat_template="rag", tokenize=False) == "rag"
        for tokenizer in both:
            tokenizer.chat_template = {"rag": "{{ 'rag' }}"}
        assert_same(both, chat)
        for tokenizer in both:
            tokenizer.chat_template = None
        assert_same(both, chat)
    finally:
        for tokenizer, template in zip(both, saved, strict=True):
            tokenizer.chat_template = template
