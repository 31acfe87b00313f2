"""`train_new_from_iterator` keeps what stock's keeps: pipeline, special tokens, their flags and places."""

from __future__ import annotations

from typing import Any

import pytest
from directories import CORPUS, HOSTILE, KINDS, directory
from tokenizers import AddedToken
from transformers import PreTrainedTokenizerFast

from hf_bpe import HfBpeTokenizer

CALLS: list[dict[str, Any]] = [
    {},
    {"length": len(CORPUS)},
    {"new_special_tokens": ["<new>", AddedToken("<strip!>", lstrip=True)]},
    {"min_frequency": 3},
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("call", CALLS)
def test_a_retrained_tokenizer_is_that_of_stock(kind: str, call: dict[str, Any]) -> None:
    settings: dict[str, Any] = {
        "extra_special_tokens": ["<x>"],
        "mask_token": AddedToken("<mask>", lstrip=True),
        "chat_template": "{{ 'a' }}",
        "padding_side": "left",
        "model_max_length": 99,
    }
    ours = HfBpeTokenizer.from_pretrained(directory(kind), **settings)
    stock = PreTrainedTokenizerFast.from_pretrained(directory(kind), **settings)
    before = (ours._core, dict(ours.init_kwargs))

    with pytest.warns(UserWarning, match="tokens, not the 500 asked for: no pair is left"):
        got = ours.train_new_from_iterator([CORPUS[:7], CORPUS[7:]], 500, **call)
    expected = stock.train_new_from_iterator([CORPUS[:7], CORPUS[7:]], 500, show_progress=False, **call)

    assert type(got) is HfBpeTokenizer
    assert got.get_vocab() == expected.get_vocab()
    assert repr(got.added_tokens_decoder) == repr(expected.added_tokens_decoder)
    assert got.special_tokens_map == expected.special_tokens_map
    assert repr(got._special_tokens_map) == repr(expected._special_tokens_map)
    assert got.chat_template == "{{ 'a' }}"
    assert (got.padding_side, got.model_max_length) == ("left", 99)
    for text in [*HOSTILE, "<new>  <strip!> <mask> <x>"]:
        assert got(text)["input_ids"] == expected(text)["input_ids"]
        assert got(text, "b")["input_ids"] == expected(text, "b")["input_ids"]
    assert (ours._core, dict(ours.init_kwargs)) == before


@pytest.mark.parametrize("kind", KINDS)
def test_renamed_special_tokens_take_the_places_of_the_old(kind: str) -> None:
    """Stock leaves the old names behind as added tokens, and in a post-processor that is a sequence."""
    renamed = {"<s>": "<bos>", "<|end|>": "<eos>", "</s>": "<EOS>", "<pad>": "<PAD>"}
    ours = HfBpeTokenizer.from_pretrained(directory(kind))
    stock = PreTrainedTokenizerFast.from_pretrained(directory(kind))

    with pytest.warns(UserWarning, match="tokens, not the 500 asked for: no pair is left"):
        got = ours.train_new_from_iterator(CORPUS, 500, special_tokens_map=renamed)
    expected = stock.train_new_from_iterator(CORPUS, 500, special_tokens_map=renamed, show_progress=False)

    assert got.special_tokens_map == expected.special_tokens_map
    assert got.all_special_ids == expected.all_special_ids
    assert not renamed.keys() & got.get_vocab().keys()
    for text in HOSTILE:
        if "<" not in text:
            assert got(text).tokens() == [renamed.get(token, token) for token in expected(text).tokens()]
            assert got(text, "b").tokens() == [renamed.get(token, token) for token in expected(text, "b").tokens()]
            assert got.convert_tokens_to_ids(got(text).tokens()) == got(text)["input_ids"]


def test_extra_special_tokens_follow_their_new_names() -> None:
    ours = HfBpeTokenizer.from_pretrained(directory("gpt2"), extra_special_tokens=["<x>", "<y>"])

    got = ours.train_new_from_iterator(CORPUS, 400, new_special_tokens=["<z>"], special_tokens_map={"<x>": "<X>"})

    assert got.extra_special_tokens == ["<X>", "<y>", "<z>"]
    assert None not in got.all_special_ids
