"""Training anew in the pipeline of an old tokenizer, against upstream."""

from __future__ import annotations

import json
from typing import Any

import pytest
import tokenizers
from tokenizers import AddedToken, pre_tokenizers
from trainings import quietly, quietly_retrained, stdlib_sources, stock_training
from transformers import PreTrainedTokenizerFast

from hf_bpe.pipeline_json import byte_level_pipeline
from hf_bpe.retraining import retrain

SPECIAL = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}


def old_tokenizer() -> dict[str, Any]:
    pipeline = byte_level_pipeline("gpt2", "NFC")
    tokens = ["<s>", "</s>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    template = {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [300], "tokens": ["<s>"]}},
    }
    return pipeline | {
        "added_tokens": [
            {"id": 0, "content": "<s>", **SPECIAL, "lstrip": True},
            {"id": 1, "content": "</s>", **SPECIAL},
            {"id": 258, "content": "~ing", **SPECIAL, "special": False},
        ],
        "post_processor": {"type": "Sequence", "processors": [pipeline["post_processor"], template]},
        "model": pipeline["model"] | {"vocab": {token: index for index, token in enumerate(tokens)}},
    }


def test_retraining_looks_up_every_id_anew() -> None:
    trained = json.loads(
        retrain(
            json.dumps(old_tokenizer() | {"padding": padding("</s>", 77)}),
            [["some text", "and some more text"]],
            270,
            new_special_tokens=["<new>", AddedToken("<flags>", rstrip=True)],
            special_tokens_map={"<s>": "<bos>"},
            special_tokens_last=True,
            show_progress=False,
        )
    )

    ids = trained["model"]["vocab"]
    special = trained["post_processor"]["processors"][1]["special_tokens"]["<s>"]
    assert special == {"id": "<s>", "ids": [ids["<bos>"]], "tokens": ["<bos>"]}
    assert ids["<bos>"] > 255
    assert trained["padding"]["pad_id"] == ids["</s>"]
    assert [(token["content"], token["lstrip"], token["rstrip"]) for token in trained["added_tokens"]] == [
        ("<bos>", True, False),
        ("</s>", False, False),
        ("<new>", False, False),
        ("<flags>", False, True),
    ]
    assert all(token["id"] == ids[token["content"]] for token in trained["added_tokens"])
    assert "~ing" not in ids
    assert len(set(ids.values())) == len(ids)


def padding(token: str, token_id: int) -> dict[str, Any]:
    layout = {"strategy": "BatchLongest", "direction": "Right", "pad_to_multiple_of": None}
    return layout | {"pad_id": token_id, "pad_type_id": 0, "pad_token": token}


def test_a_token_that_the_post_processor_misses_is_an_error() -> None:
    old = old_tokenizer()
    old["added_tokens"] = old["added_tokens"][1:]

    with pytest.raises(ValueError, match="the post-processor adds '<s>', which is not a token"):
        retrain(json.dumps(old), ["text"], 258, show_progress=False)


def test_retraining_equals_upstream_with_its_defaults() -> None:
    old = old_tokenizer()
    old["post_processor"] = old["post_processor"]["processors"][1]  # upstream keeps old ids inside a Sequence
    old["post_processor"]["special_tokens"]["<s>"]["ids"] = [0]
    texts = stdlib_sources(100_000)
    arguments: dict[str, Any] = {
        "vocab_size": 700,
        "new_special_tokens": ["<x>"],
        "special_tokens_map": {"</s>": "<e>"},
    }

    upstream = PreTrainedTokenizerFast(tokenizer_object=tokenizers.Tokenizer.from_str(json.dumps(old)))
    upstream = upstream.train_new_from_iterator(iter([texts]), show_progress=False, **arguments)
    trained = json.loads(retrain(json.dumps(old), iter([texts]), show_progress=False, **arguments))

    assert tokenizers.Tokenizer.from_str(json.dumps(trained)).to_str() == upstream.backend_tokenizer.to_str()


def test_settings_that_a_byte_level_vocabulary_cannot_follow_are_refused() -> None:
    with pytest.raises(ValueError, match="limit_alphabet=5 is for vocabularies of characters; this one has all 256"):
        retrain(json.dumps(old_tokenizer()), ["text"], 300, limit_alphabet=5)
    with pytest.raises(
        TypeError, match=r"train_new_from_iterator\(\) got an unexpected keyword argument 'dropout'; it t"
    ):
        retrain(json.dumps(old_tokenizer()), ["text"], 300, dropout=5)
    with pytest.raises(TypeError, match=r"argument 'max_tokn_length'; did you mean 'max_token_length'\?"):
        retrain(json.dumps(old_tokenizer()), ["text"], 300, max_tokn_length=5)
    with pytest.raises(TypeError, match="end_of_word_suffix is a str, got 5"):
        retrain(json.dumps(old_tokenizer()), ["text"], 300, end_of_word_suffix=5)


@pytest.mark.parametrize("affix", ["continuing_subword_prefix", "end_of_word_suffix"])
@pytest.mark.parametrize("given", [False, True], ids=["of the model", "as a setting"])
def test_affixes_of_bytes_are_trained_as_upstream_trains_them(affix: str, given: bool) -> None:
    old = old_tokenizer()
    old["post_processor"] = old["post_processor"]["processors"][0]
    arguments: dict[str, Any] = {"vocab_size": 275, "new_special_tokens": ["<x>"]}
    if given:
        arguments[affix] = "@@"
    else:
        old["model"][affix] = "@@"
    # One symbol with an affix: upstream draws lots for the ids of several.
    texts = ["xbbb" * 3, "bb bb bbb", "bb", "bbbb"] if affix.startswith("cont") else ["ab", "abb ab bab", "bbb cb"]

    upstream = PreTrainedTokenizerFast(tokenizer_object=tokenizers.Tokenizer.from_str(json.dumps(old)))
    upstream = upstream.train_new_from_iterator(iter([texts]), show_progress=False, **arguments)
    trained = json.loads(quietly_retrained(json.dumps(old), iter([texts]), **arguments))

    assert tokenizers.Tokenizer.from_str(json.dumps(trained)).to_str() == upstream.backend_tokenizer.to_str()


def test_the_method_of_the_class_trains_in_the_pipeline_of_the_tokenizer() -> None:
    tokenizer = quietly(["one corpus"], vocab_size=260, special_tokens=["<s>"], eos_token="<s>", split_pattern="gpt2")
    texts = stdlib_sources(50_000)

    anew = tokenizer.train_new_from_iterator(iter(texts), 500, show_progress=False)

    assert (len(anew), anew.eos_token, anew.eos_token_id) == (500, "<s>", 0)
    assert anew._core.merges() == stock_training(texts, vocab_size=500, special_tokens=["<s>"])[1]


def test_retraining_warns_of_a_vocabulary_larger_than_asked() -> None:
    with pytest.warns(UserWarning, match="has 256 tokens, not the 5 asked for"):
        trained = json.loads(retrain(json.dumps(byte_level_pipeline("gpt2")), ["ab"], 5, show_progress=False))

    assert len(trained["model"]["vocab"]) == 256
