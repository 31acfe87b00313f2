"""Messages about a tokenizer.json quote the start of what is wrong, however long that is, and say how long."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hf_bpe import HfBpeError
from hf_bpe._native import Tokenizer

LONG = "x" * 5_000
LONGEST_MESSAGE = 500
MODEL: dict[str, Any] = {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}
SPLIT = {"type": "Split", "pattern": {"String": "a"}, "behavior": "Isolated", "invert": False}
TEMPLATE = {"type": "TemplateProcessing", "single": [], "pair": [], "special_tokens": {}}
FLAGS = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False) | {"special": True}


def model(**changes: Any) -> dict[str, Any]:
    return {"model": MODEL | changes}


DAMAGED: dict[str, dict[str, Any]] = {
    "version": {"version": LONG},
    "an unknown key": {LONG: 1},
    "the model": {"model": LONG},
    "the model's type": model(type=LONG),
    "a token's id": model(vocab={LONG: "x"}),
    "an id that is text": model(vocab={"a": LONG}),
    "the vocabulary": model(vocab=LONG),
    "merges": model(merges=LONG),
    "a merge without a space": model(merges=[LONG]),
    "the left half of a merge": model(merges=[[LONG, "a"]]),
    "the right half of a merge": model(merges=[["a", LONG]]),
    "a prefix": model(merges=[["a", "b"]], continuing_subword_prefix=LONG),
    "a switch": model(fuse_unk=LONG),
    "dropout": model(dropout=LONG),
    "a suffix": model(end_of_word_suffix=[LONG]),
    "a normalizer": {"normalizer": LONG},
    "a normalizer's type": {"normalizer": {"type": LONG}},
    "a pattern": {"normalizer": {"type": "Replace", "pattern": {"Regex": f"({LONG}"}, "content": ""}},
    "a split pattern": {"pre_tokenizer": SPLIT | {"pattern": {"Regex": f"({LONG}"}}},
    "a behavior": {"pre_tokenizer": SPLIT | {"behavior": LONG}},
    "a replacement": {"pre_tokenizer": {"type": "Metaspace", "replacement": LONG, "prepend_scheme": "first"}},
    "a scheme": {"pre_tokenizer": {"type": "Metaspace", "replacement": "_", "prepend_scheme": LONG}},
    "a length": {"pre_tokenizer": {"type": "FixedLength", "length": LONG}},
    "steps": {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": LONG}]}},
    "a key of a template": {"post_processor": TEMPLATE | {"special_tokens": {LONG: {"id": LONG, "ids": [LONG]}}}},
    "a piece of a template": {"post_processor": TEMPLATE | {"single": [LONG]}},
    "a decoder's type": {"decoder": {"type": LONG}},
    "a decoder's content": {"decoder": {"type": "Strip", "content": LONG, "start": 0, "stop": 0}},
    "added tokens": {"added_tokens": LONG},
    "an added token": {"added_tokens": [LONG]},
    "an added token's id": {"added_tokens": [{"id": LONG, "content": "a", **FLAGS}]},
    "a strategy": {"padding": {"strategy": LONG}},
    "a direction": {"truncation": {"direction": LONG, "max_length": 3, "strategy": "LongestFirst", "stride": 0}},
}


def check_message(message: str) -> None:
    assert len(message) <= LONGEST_MESSAGE
    assert "x" * 20 in message
    assert "…" in message


@pytest.mark.parametrize("name", DAMAGED)
def test_an_error_quotes_the_start_of_a_long_value(name: str) -> None:
    with pytest.raises(HfBpeError) as caught:
        Tokenizer.from_json(json.dumps(model() | DAMAGED[name]))

    check_message(str(caught.value))


@pytest.mark.parametrize("text", ['{"normalizer": {"KEY": 1, "KEY": 2}}', '{"model": {"vocab": {"KEY": 1, "KEY": 2}}}'])
def test_a_long_key_that_stands_twice_is_quoted_by_its_start(text: str) -> None:
    with pytest.raises(HfBpeError, match=rf"has '{'x' * 80}…' \(5000 characters\) twice"):
        Tokenizer.from_json(text.replace("KEY", LONG))


def test_warnings_about_long_tokens_quote_their_start() -> None:
    tokens = [{"id": 7, "content": content, **FLAGS} for content in (LONG, LONG + "y")]
    vocab = {"a": 0, LONG * 2: 0}

    warnings = Tokenizer.from_json(json.dumps(model(vocab=vocab) | {"added_tokens": tokens})).warnings()

    assert len(warnings) == 2
    for warning in warnings:
        check_message(warning)


def test_errors_about_a_text_quote_the_start_of_a_long_token() -> None:
    core = Tokenizer.from_json(json.dumps(model(unk_token=LONG)))

    with pytest.raises(KeyError, match=r"model.unk_token 'x{80}…' \(5000 characters\), which should stand for it"):
        core.encode_ids("c")
    with pytest.raises(ValueError, match=r"'x{80}…' \(5000 characters\) in allowed_special is not an added token"):
        core.encode_with_special_tokens("a", [LONG])


def test_a_short_value_is_quoted_whole() -> None:
    with pytest.raises(HfBpeError, match=r"model.vocab\['a'\] should be an id from 0 to 4294967295, found \"b\"$"):
        Tokenizer.from_json(json.dumps(model(vocab={"a": "b"})))
