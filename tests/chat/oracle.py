"""Outcomes that can be compared: what upstream's template, or a golden, gives beside what ours gives."""

from __future__ import annotations

import functools
import json
import random
from pathlib import Path
from typing import Any

import tokenizers
from conversations import conversation

from hf_bpe import HfBpeTokenizer

Outcome = str | tuple[str, str, str]

FILES = {
    "chatml": "chatml",
    "llama3": "llama3",
    "llama3.1": "llama3_1",
    "llama3.2": "llama3_2",
    "qwen2.5": "qwen2_5",
    "qwen3": "qwen3",
}
"""The handed-in file of each family's own template, by the name of ours."""


@functools.cache
def speaker(name: str) -> HfBpeTokenizer:
    """Return a tokenizer without tokens that renders templates with the named special tokens of a family."""
    llama = {"bos_token": "<|begin_of_text|>", "eos_token": "<|eot_id|>"}
    named = llama if name.startswith("llama") else {"eos_token": "<|im_end|>"}
    return HfBpeTokenizer(tokenizer_object=tokenizers.Tokenizer(tokenizers.models.BPE()), **named)


def rendered(name: str, template: str, messages: Any, **keywords: Any) -> Outcome:
    """Return the text that `template` gives for a family's tokenizer, or the class, module and text of its error."""
    try:
        text = speaker(name).apply_chat_template(messages, chat_template=template, tokenize=False, **keywords)
    except Exception as error:
        return type(error).__name__, type(error).__module__, str(error)
    assert isinstance(text, str)
    return text


def upstream(shared: Path, file: str) -> str:
    """Return a handed-in template."""
    return (shared / "vectors" / "chat" / "templates" / f"{file}.jinja").read_text(encoding="utf-8")


def goldens(shared: Path) -> dict[str, Any]:
    """Return the handed-in golden renders."""
    data: dict[str, Any] = json.loads((shared / "vectors" / "chat" / "cases.json").read_text(encoding="utf-8"))
    return data


def outcome_of(golden: dict[str, Any]) -> Outcome:
    """Return a golden as `rendered` returns it."""
    error = golden.get("error")
    return golden["text"] if error is None else (error["class"], error["module"], error["message"])


def arguments_of(case: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `apply_chat_template` that a golden case stands for, without the messages."""
    names = ("tools", "add_generation_prompt", "continue_final_message")
    return {name: case[name] for name in names} | case["kwargs"]


def random_arguments(count: int, seed: int) -> list[dict[str, Any]]:
    """Return that many random conversations, half of them odd in many places."""
    rngs = [random.Random(seed * 1_000_003 + index) for index in range(count)]
    return [conversation(rng, odd=0.02 if index % 2 else 0.1) for index, rng in enumerate(rngs)]
