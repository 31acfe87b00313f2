"""`HfBpeTokenizer` over vocabularies that aren't byte-level equals the stock class."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from hf_bpe import HfBpeTokenizer, TokenizerFileError, UnsupportedComponentError
from hf_bpe._native import Tokenizer

FLAGS = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
MERGES = ["▁ ▁", "▁ h", "e l", "l o", "▁h el", "▁hel lo", "w o", "▁ wo", "r l", "▁wo rl", "▁worl d"]
VOCAB = ["<unk>", "<s>", "</s>", *BYTES, *"▁helowrdé語", *(merge.replace(" ", "") for merge in MERGES)]
TEXTS = [
    "",
    "▁hello▁world",
    "▁▁▁hello▁",
    "hello world",
    "<s>▁hello</s>▁x",
    "語🙂é\x00\n",
    "▁hello" * 50,
    "<unk>",
    "\ufeffİſ가",
]


def model(**settings: Any) -> dict[str, Any]:
    """Return a model with byte fallback."""
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": "<unk>",
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": True,
        "byte_fallback": True,
        "ignore_merges": False,
        "vocab": {token: id for id, token in enumerate(VOCAB)},
        "merges": [merge.split(" ") for merge in MERGES],
    } | settings


def tokenizer_json(**settings: Any) -> dict[str, Any]:
    """Return a tokenizer.json without pre-tokenizer, in SentencePiece's manner."""

    def special(name: str) -> dict[str, Any]:
        return {"SpecialToken": {"id": name, "type_id": 0}}

    first, second = ({"Sequence": {"id": id, "type_id": type_id}} for id, type_id in (("A", 0), ("B", 1)))
    template = {
        "type": "TemplateProcessing",
        "single": [special("<s>"), first],
        "pair": [special("<s>"), first, special("</s>"), second],
        "special_tokens": {
            name: {"id": name, "ids": [VOCAB.index(name)], "tokens": [name]} for name in ("</s>", "<s>")
        },
    }
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": id, "content": content, **FLAGS} for id, content in enumerate(VOCAB[:3])],
        "normalizer": None,
        "pre_tokenizer": None,
        "post_processor": template,
        "decoder": None,
        "model": model(),
    } | settings


@pytest.fixture(params=["fallback", "unknown"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A directory; where the vocabulary lacks a character it spells bytes, or has an unknown token."""
    data = tokenizer_json(model=model(byte_fallback=request.param == "fallback"))
    (tmp_path / "tokenizer.json").write_text(json.dumps(data), encoding="utf-8")
    config = {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>", "pad_token": "</s>"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    return tmp_path


@pytest.fixture
def ours(folder: Path) -> HfBpeTokenizer:
    return HfBpeTokenizer.from_pretrained(folder)


@pytest.fixture
def stock(folder: Path) -> Any:
    return PreTrainedTokenizerFast.from_pretrained(folder)


def test_calls_equal_the_stock_class(ours: HfBpeTokenizer, stock: Any) -> None:
    for call in (
        {"return_offsets_mapping": True, "return_special_tokens_mask": True, "return_token_type_ids": True},
        {"padding": True, "truncation": True, "max_length": 7},
        {"add_special_tokens": False},
        {"split_special_tokens": True},
        {"truncation": True, "max_length": 6, "stride": 1, "return_overflowing_tokens": True},
    ):
        for texts in ((TEXTS, None), (TEXTS, TEXTS[::-1])):
            assert dict(ours(*texts, **call)) == dict(stock(*texts, **call)), call
    for text in TEXTS:
        assert dict(ours(text)) == dict(stock(text))
        assert ours(text).tokens() == stock(text).tokens()
        assert ours(text).word_ids() == stock(text).word_ids()
        assert ours.tokenize(text, add_special_tokens=True) == stock.tokenize(text, add_special_tokens=True)
        assert ours.decode(ours.encode(text)) == stock.decode(stock.encode(text))


def test_the_vocabulary_equals_the_stock_class(ours: HfBpeTokenizer, stock: Any) -> None:
    assert ours.get_vocab() == stock.get_vocab()
    assert (len(ours), ours.vocab_size, ours.unk_token_id) == (len(stock), stock.vocab_size, stock.unk_token_id)
    tokens = ["▁hello", "nothing", "<s>", "<0x0A>", ""]
    assert (
        ours.convert_tokens_to_ids(tokens)
        == stock.convert_tokens_to_ids(tokens)
        == [VOCAB.index("▁hello"), 0, 1, 13, 0]
    )
    ids = list(range(len(VOCAB)))
    assert ours.convert_ids_to_tokens(ids) == stock.convert_ids_to_tokens(ids) == VOCAB


def test_added_tokens_equal_the_stock_class(ours: HfBpeTokenizer, stock: Any) -> None:
    for tokenizer in (ours, stock):
        assert tokenizer.add_tokens(["worl", "<new>"]) == 2
        assert tokenizer.add_special_tokens({"extra_special_tokens": ["[X]"]}) == 1

    for text in (*TEXTS, "▁world<new>[X]▁hello[X]"):
        assert dict(ours(text)) == dict(stock(text))
    assert ours.added_tokens_decoder.keys() == stock.added_tokens_decoder.keys()


def test_encode_ordinary_finds_no_special_token(ours: HfBpeTokenizer) -> None:
    ids = ours.encode_ordinary("<s>▁hello")

    assert 1 not in ids
    assert ours.convert_ids_to_tokens(ids)[-1] == "▁hello"
    assert ours.encode_ordinary_batch(["<s>▁hello", ""]) == [ids, []]


def test_bytes_need_a_byte_level_vocabulary(ours: HfBpeTokenizer) -> None:
    with pytest.raises(ValueError, match=r"encode_bytes needs a byte-level vocabulary with all 256 bytes"):
        ours.encode_bytes(b"hello")


def test_a_lone_surrogate_becomes_a_replacement_character(ours: HfBpeTokenizer) -> None:
    assert ours.encode("▁h\ud800") == ours.encode("▁h\ufffd")
    assert ours("▁h\ud800\u8a9e", return_offsets_mapping=True)["offset_mapping"][-1] == (3, 4)


def test_assistant_masks_equal_the_stock_class(ours: HfBpeTokenizer, stock: Any) -> None:
    template = (
        "{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}{{ m.content }}{% endgeneration %}"
        "{% else %}{{ m.content }}{% endif %}{% endfor %}"
    )
    chat = [
        {"role": "user", "content": "▁hello"},
        {"role": "assistant", "content": "▁world🙂é"},
        {"role": "user", "content": "▁h語"},
    ]
    call: dict[str, Any] = {"chat_template": template, "return_assistant_tokens_mask": True, "return_dict": True}

    got = ours.apply_chat_template(chat, **call)

    assert dict(got) == dict(stock.apply_chat_template(chat, **call))
    assert 0 < sum(got["assistant_masks"]) < len(got["assistant_masks"])


def test_saving_twice_writes_the_same_bytes(ours: HfBpeTokenizer, stock: Any, tmp_path: Path) -> None:
    ours.save_pretrained(tmp_path / "first")
    HfBpeTokenizer.from_pretrained(tmp_path / "first").save_pretrained(tmp_path / "second")
    stock.save_pretrained(tmp_path / "stock")

    for file in ("tokenizer.json", "tokenizer_config.json"):
        assert (tmp_path / "first" / file).read_bytes() == (tmp_path / "second" / file).read_bytes()
    assert (tmp_path / "first" / "tokenizer.json").read_bytes() == (tmp_path / "stock" / "tokenizer.json").read_bytes()


def test_auto_tokenizer_loads_what_either_class_saved(ours: HfBpeTokenizer, stock: Any, tmp_path: Path) -> None:
    ours.save_pretrained(tmp_path / "ours")
    stock.save_pretrained(tmp_path / "stock")

    loaded = AutoTokenizer.from_pretrained(tmp_path / "ours")
    assert type(loaded) is HfBpeTokenizer
    for tokenizer in (
        loaded,
        AutoTokenizer.from_pretrained(tmp_path / "stock"),
        HfBpeTokenizer.from_pretrained(tmp_path / "stock"),
        PreTrainedTokenizerFast.from_pretrained(tmp_path / "ours"),
    ):
        assert tokenizer(TEXTS)["input_ids"] == ours(TEXTS)["input_ids"]


def test_an_unknown_token_that_is_missing_raises_where_it_is_needed() -> None:
    data = json.dumps(tokenizer_json(model=model(unk_token="[UNK]", byte_fallback=False)))
    ours, stock = Tokenizer.from_json(data), tokenizers.Tokenizer.from_str(data)

    assert ours.encode("▁hello").ids == stock.encode("▁hello").ids
    with pytest.raises(Exception, match=r"Unk token `\[UNK\]` not found in the vocabulary"):
        stock.encode("▁x")
    for encode in (ours.encode, ours.encode_ids):
        with pytest.raises(KeyError, match=r"model\.unk_token '\[UNK\]', which should stand for it, is not in the"):
            encode("▁x")


def test_a_right_half_shorter_than_the_prefix_is_refused() -> None:
    # Stock panics.
    data = tokenizer_json(model=model(continuing_subword_prefix="##", merges=[["▁", "h"]]))

    with pytest.raises(TokenizerFileError, match=r"merge 0 is '▁ h', but 'h' is shorter than model\.continuing"):
        Tokenizer.from_json(json.dumps(data))


OTHERS = {
    "WordPiece": {
        "unk_token": "a",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 9,
        "vocab": {"a": 0},
    },
    "WordLevel": {"unk_token": "a", "vocab": {"a": 0}},
    "Unigram": {"unk_id": 0, "vocab": [["a", 0.0]]},
}


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("named", [True, False])
def test_other_models_are_refused_by_name(kind: str, named: bool) -> None:
    body = ({"type": kind} if named else {}) | OTHERS[kind]
    data = json.dumps({"version": "1.0", "model": body})
    message = rf"model\.type is '{kind}'; hf_bpe supports 'BPE'\. Load this file with tokenizers\.Tokenizer\.from_file"

    assert type(tokenizers.Tokenizer.from_str(data).model).__name__ == kind
    with pytest.raises(UnsupportedComponentError, match=message) as raised:
        Tokenizer.from_json(data)
    assert "transformers.PreTrainedTokenizerFast" in str(raised.value)


def test_an_old_file_without_type_is_read_as_bpe() -> None:
    data = tokenizer_json()
    del data["model"]["type"]

    assert Tokenizer.from_json(json.dumps(data)) == Tokenizer.from_json(json.dumps(tokenizer_json()))
    with pytest.raises(TokenizerFileError, match=r"model\.type should be a string, found null"):
        Tokenizer.from_json(json.dumps(tokenizer_json(model=model(type=None))))


def test_two_added_tokens_may_share_an_id(tmp_path: Path) -> None:
    twins = [{"id": 900, "content": content, **FLAGS} for content in ("<|end|>", "<|also|>")]
    data = tokenizer_json()
    data["added_tokens"] += twins
    (tmp_path / "tokenizer.json").write_text(json.dumps(data), encoding="utf-8")
    with pytest.warns(UserWarning, match="'<|end|>' and '<|also|>' share id 900".replace("|", r"\|")):
        tokenizer = HfBpeTokenizer.from_pretrained(tmp_path)

    assert tokenizer.encode("<|end|><|also|>", add_special_tokens=False) == [900, 900]
    assert tokenizer.convert_tokens_to_ids(["<|end|>", "<|also|>"]) == [900, 900]
    assert tokenizer.decode([900]) == tokenizer.added_tokens_decoder[900].content == "<|end|>"
    assert tokenizer._core.warnings() == [
        "added tokens '<|end|>' and '<|also|>' share id 900: both are found, and it decodes to the first"
    ]
    tokenizer.add_tokens(["<x>"])
    assert len(tokenizer._core.warnings()) == 1
    tokenizer.save_pretrained(tmp_path / "saved")
    with pytest.warns(UserWarning, match="share id 900"):
        again = HfBpeTokenizer.from_pretrained(tmp_path / "saved")
    assert again._core == tokenizer._core
    assert again.encode("<|end|><|also|>", add_special_tokens=False) == [900, 900]
