"""Training anew in pipelines of characters: what upstream's `train_new_from_iterator` makes, with the same pipeline."""

from __future__ import annotations

import json
from typing import Any

import pytest
import tokenizers
from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers, processors
from trainings import stdlib_sources
from transformers import PreTrainedTokenizerFast

from hf_bpe import HfBpeTokenizer

METASPACE = pre_tokenizers.Metaspace(prepend_scheme="first")

PIPELINES: dict[str, dict[str, Any]] = {
    "metaspace": {"pre_tokenizer": METASPACE, "decoder": decoders.Metaspace(prepend_scheme="first")},
    "always": {"pre_tokenizer": pre_tokenizers.Metaspace(), "decoder": decoders.Metaspace()},
    "llama": {
        "normalizer": normalizers.NFKC(),
        "pre_tokenizer": METASPACE,
        "decoder": decoders.Sequence(
            [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
        ),
        "model": {"byte_fallback": True, "fuse_unk": True},
    },
    "suffix": {
        "pre_tokenizer": pre_tokenizers.WhitespaceSplit(),
        "decoder": decoders.BPEDecoder("</w>"),
        "model": {"end_of_word_suffix": "</w>"},
    },
    "prefix": {
        "pre_tokenizer": pre_tokenizers.BertPreTokenizer(),
        "normalizer": normalizers.NFC(),
        "decoder": decoders.WordPiece(),
        "model": {"continuing_subword_prefix": "##"},
    },
    "bytes with a suffix": {
        "normalizer": normalizers.NFC(),
        "pre_tokenizer": pre_tokenizers.Sequence(
            [
                pre_tokenizers.Split(Regex(r"'s|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"), behavior="removed", invert=True),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
            ]
        ),
        "decoder": decoders.ByteLevel(),
        "model": {"end_of_word_suffix": "</w>"},
    },
    "digits": {
        "pre_tokenizer": pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), METASPACE]),
        "decoder": decoders.Metaspace(),
    },
    "punctuation": {"pre_tokenizer": pre_tokenizers.Punctuation(), "decoder": decoders.Fuse()},
    "nothing": {"decoder": decoders.Fuse()},
}

TEXTS = [*stdlib_sources(40_000), *["你好世界，你好 Größe 🙂 ▁a"] * 20]


def old_tokenizer(kind: str) -> tokenizers.Tokenizer:
    parts = PIPELINES[kind]
    vocab = {"<unk>": 0, "<s>": 1, "a": 2}
    tokenizer = tokenizers.Tokenizer(models.BPE(vocab, [], unk_token="<unk>", **parts.get("model", {})))
    for name in ("normalizer", "pre_tokenizer", "decoder"):
        if name in parts:
            setattr(tokenizer, name, parts[name])
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    tokenizer.add_special_tokens(["<unk>", "<s>"])
    return tokenizer


def symbols_with_affixes(kind: str) -> list[str]:
    """Return the symbols for whose ids upstream draws lots; given as special tokens, they have fixed ones."""
    model = PIPELINES[kind].get("model", {})
    suffix, prefix = model.get("end_of_word_suffix", ""), model.get("continuing_subword_prefix", "")
    if not suffix and not prefix:
        return []
    old = old_tokenizer(kind)
    texts = [old.normalizer.normalize_str(text) if old.normalizer else text for text in TEXTS]
    words = [word for text in texts for word, _ in old.pre_tokenizer.pre_tokenize_str(text)]
    ends = {word[-1] + suffix for word in words} if suffix else set()
    inner = {prefix + char for word in words for char in word[1:]} if prefix else set()
    return sorted(ends | inner)


@pytest.mark.parametrize("kind", PIPELINES)
@pytest.mark.parametrize(
    "call",
    [
        {"new_special_tokens": ["<new>"], "special_tokens_map": {"<unk>": "<UNK>"}, "min_frequency": 3},
        {"initial_alphabet": ["☃", "zebra", ""], "limit_alphabet": 1000, "max_token_length": 5},
        {},
    ],
    ids=["special tokens", "alphabet", "plain"],
)
def test_a_pipeline_of_characters_is_trained_anew_as_upstream_does(kind: str, call: dict[str, Any]) -> None:
    if kind.startswith("bytes"):
        call = {name: value for name, value in call.items() if "alphabet" not in name}
    new = call.get("new_special_tokens", []) + symbols_with_affixes(kind)
    arguments = call | {"vocab_size": 700, "new_special_tokens": new}
    ours = HfBpeTokenizer(tokenizer_object=old_tokenizer(kind), unk_token="<unk>", bos_token="<s>")
    stock = PreTrainedTokenizerFast(tokenizer_object=old_tokenizer(kind), unk_token="<unk>", bos_token="<s>")
    stock.backend_tokenizer.post_processor = old_tokenizer(kind).post_processor

    got = ours.train_new_from_iterator([TEXTS[:3], TEXTS[3:]], show_progress=False, **arguments)
    arguments["initial_alphabet"] = [text for text in arguments.get("initial_alphabet", []) if text]
    expected = stock.train_new_from_iterator([TEXTS[:3], TEXTS[3:]], show_progress=False, **arguments)

    assert json.loads(got._core.to_json())["model"] == json.loads(expected.backend_tokenizer.to_str())["model"]
    assert got.get_vocab() == expected.get_vocab()
    assert got.special_tokens_map == expected.special_tokens_map
    for text in [*TEXTS[:1], *TEXTS[-1:], "a ☃ <s> b"]:
        assert got(text)["input_ids"] == expected(text)["input_ids"]
        if not kind.startswith("bytes"):  # special tokens in the byte alphabet are decoded as they are written
            assert got.decode(got(text)["input_ids"]) == expected.decode(expected(text)["input_ids"])


def test_affixes_may_be_given_anew() -> None:
    ours = HfBpeTokenizer(tokenizer_object=old_tokenizer("suffix"))

    got = ours.train_new_from_iterator(["ab abab ab"] * 3, 6, end_of_word_suffix=None, show_progress=False)
    other = ours.train_new_from_iterator(["ab abab ab"] * 3, 7, end_of_word_suffix="_", show_progress=False)

    assert json.loads(got._core.to_json())["model"]["end_of_word_suffix"] is None
    assert json.loads(other._core.to_json())["model"]["end_of_word_suffix"] == "_"
    assert "ab_" in other.get_vocab()


def test_an_alphabet_larger_than_the_size_is_kept_with_a_warning_as_upstream_keeps_it() -> None:
    ours = HfBpeTokenizer(tokenizer_object=old_tokenizer("metaspace"))

    with pytest.warns(UserWarning, match="has 7 tokens, not the 5 asked for: special tokens and the characters of"):
        got = ours.train_new_from_iterator(["abcd"], 5, show_progress=False)

    assert got.get_vocab() == {"<unk>": 0, "<s>": 1, "a": 2, "b": 3, "c": 4, "d": 5, "▁": 6}
