"""`HfBpeTokenizer` returns what stock's fast tokenizer returns over the same directory."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from directories import HOSTILE, KINDS, directory, pair
from tokenizers import AddedToken
from transformers import PreTrainedTokenizerFast

from hf_bpe import HfBpeTokenizer

kinds = pytest.mark.parametrize("kind", KINDS)
LONG = "The quick brown fox jumps over the lazy dog and 12345 naïve cafés — 漢字 🙂. " * 3
PAIRS = [(text, other) for text, other in zip(HOSTILE, HOSTILE[::-1], strict=True)]

ALL_OUTPUTS: dict[str, Any] = {
    "return_offsets_mapping": True,
    "return_special_tokens_mask": True,
    "return_token_type_ids": True,
    "return_length": True,
}


def outcome(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the data of a call as plain values, or the kind of error it raises."""
    try:
        result = function(*args, **kwargs)
    except (ValueError, TypeError) as error:
        return type(error).__name__
    if hasattr(result, "data"):
        return {key: value.tolist() if hasattr(value, "tolist") else value for key, value in result.data.items()}
    return result


def assert_same(kind: str, *args: Any, **kwargs: Any) -> None:
    ours, stock = pair(kind)
    got, expected = ours(*args, **kwargs), stock(*args, **kwargs)
    assert dict(got) == dict(expected)
    assert list(got) == list(expected)
    assert len(got.encodings) == len(expected.encodings)
    for one, other in zip(got.encodings, expected.encodings, strict=True):
        for name in ("ids", "tokens", "offsets", "word_ids", "sequence_ids", "type_ids", "attention_mask"):
            assert getattr(one, name) == getattr(other, name), name
        assert one.special_tokens_mask == other.special_tokens_mask


@kinds
@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_is_encoded_as_stock_does(kind: str, text: str) -> None:
    assert_same(kind, text)
    assert_same(kind, text, add_special_tokens=False)
    assert_same(kind, text, split_special_tokens=True)
    assert_same(kind, text, **ALL_OUTPUTS)
    assert_same(kind, text, return_attention_mask=False)


@kinds
def test_a_batch_is_encoded_as_stock_does(kind: str) -> None:
    assert_same(kind, HOSTILE)
    assert_same(kind, HOSTILE, **ALL_OUTPUTS)
    assert_same(kind, tuple(HOSTILE), add_special_tokens=False, split_special_tokens=True)
    assert_same(kind, [HOSTILE[0]])


@kinds
def test_pairs_are_encoded_as_stock_does(kind: str) -> None:
    for text, other in PAIRS:
        assert_same(kind, text, other)
    assert_same(kind, *map(list, zip(*PAIRS, strict=True)))
    assert_same(kind, PAIRS, **ALL_OUTPUTS)
    assert_same(kind, [list(item) for item in PAIRS])
    assert_same(kind, ["lonely", ("a", "pair")], return_special_tokens_mask=True)


@kinds
def test_words_are_encoded_as_stock_does(kind: str) -> None:
    words = [text.split() for text in HOSTILE]

    assert_same(kind, words, is_split_into_words=True)
    assert_same(kind, words[6], is_split_into_words=True, return_offsets_mapping=True)
    assert_same(kind, words[6], words[4], is_split_into_words=True)
    assert_same(kind, words, words[::-1], is_split_into_words=True)
    assert_same(kind, [(words[6], words[4])], is_split_into_words=True)
    assert_same(kind, [], is_split_into_words=True)


@kinds
@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("truncation", [True, "only_first", "longest_first"])
@pytest.mark.parametrize("max_length", [4, 7, 20, 1000])
def test_truncation_cuts_as_stock_does(kind: str, side: str, truncation: Any, max_length: int) -> None:
    ours, stock = pair(kind)
    ours.truncation_side = stock.truncation_side = side
    try:
        for text in [*HOSTILE, LONG]:
            assert_same(kind, text, truncation=truncation, max_length=max_length)
        assert_same(kind, [*HOSTILE, LONG], truncation=truncation, max_length=max_length)
        assert_same(kind, HOSTILE, truncation=truncation, max_length=max_length, add_special_tokens=False)
        assert_same(kind, [*HOSTILE, LONG], truncation=truncation, max_length=max_length, **ALL_OUTPUTS)
    finally:
        ours.truncation_side = stock.truncation_side = "right"


@kinds
@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("truncation", [True, "only_first", "only_second"])
def test_truncation_of_pairs_cuts_as_stock_does(kind: str, side: str, truncation: Any) -> None:
    ours, stock = pair(kind)
    ours.truncation_side = stock.truncation_side = side
    try:
        for first, second, max_length in itertools.product((LONG, "short text"), (LONG, "other"), (60, 66, 2000)):
            call = {"truncation": truncation, "max_length": max_length}
            try:
                stock(first, second, **call)
            except Exception as error:  # stock raises nothing narrower
                with pytest.raises(ValueError, match=str(error).removeprefix("Truncation error: ")):
                    ours(first, second, **call)
            else:
                assert_same(kind, first, second, **call)
    finally:
        ours.truncation_side = stock.truncation_side = "right"


@kinds
@pytest.mark.parametrize("stride", [0, 2, 5])
def test_overflow_gives_the_windows_of_stock(kind: str, stride: int) -> None:
    call = {"truncation": True, "max_length": 12, "stride": stride, "return_overflowing_tokens": True}

    assert_same(kind, LONG, **call)
    assert_same(kind, LONG, **call, **ALL_OUTPUTS)
    assert_same(kind, [*HOSTILE, LONG], **call)
    assert_same(kind, [*HOSTILE, LONG], **call, add_special_tokens=False)
    assert_same(kind, LONG, **call, add_special_tokens=False, return_offsets_mapping=True)
    assert_same(kind, LONG.split(), **call, add_special_tokens=False, is_split_into_words=True)
    assert_same(kind, "short", **call)


@kinds
@pytest.mark.parametrize("truncation", ["only_first", "only_second", "longest_first"])
def test_overflow_of_pairs_gives_the_windows_of_stock(kind: str, truncation: str) -> None:
    call = {"truncation": truncation, "max_length": 80, "stride": 3, "return_overflowing_tokens": True}

    first, second = (LONG, "what about dogs?") if truncation != "only_second" else ("what about dogs?", LONG)
    assert_same(kind, first, second, **call, return_offsets_mapping=True)
    assert_same(kind, [first, first], [second, "x"], **call)


@pytest.mark.parametrize("kind", ["gpt2", "template"])
@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("multiple", [None, 8])
@pytest.mark.parametrize("padding", [True, "longest", "max_length"])
def test_padding_fills_as_stock_does(kind: str, side: str, multiple: int | None, padding: Any) -> None:
    call = {"padding": padding, "padding_side": side, "pad_to_multiple_of": multiple, "max_length": 32}

    assert_same(kind, HOSTILE, **call)
    assert_same(kind, HOSTILE, **call, truncation=True)
    assert_same(kind, HOSTILE, **call, truncation=True, **ALL_OUTPUTS)
    assert_same(kind, LONG, **call, truncation=True, return_overflowing_tokens=True, stride=1)
    assert_same(kind, "one", **call)
    assert_same(kind, PAIRS, **call)


@kinds
def test_tensors_have_the_shape_and_type_of_stock(kind: str) -> None:
    ours, stock = pair(kind)

    for args, call in [
        (("one text",), {}),
        ((["as long", "as long"],), {"truncation": True, "max_length": 5}),
        (
            (LONG,),
            {"truncation": True, "max_length": 8, "return_overflowing_tokens": True, "add_special_tokens": False},
        ),
    ]:
        if call.get("return_overflowing_tokens") and stock.pad_token is None:
            continue
        padding = {"padding": True} if stock.pad_token is not None else {}
        got, expected = (each(*args, return_tensors="np", **call, **padding) for each in (ours, stock))
        assert got.keys() == expected.keys()
        for name in expected:
            assert isinstance(got[name], np.ndarray)
            assert got[name].dtype == expected[name].dtype
            np.testing.assert_array_equal(got[name], expected[name])


@kinds
def test_encode_and_tokenize_equal_stock(kind: str) -> None:
    ours, stock = pair(kind)

    for text, other in PAIRS:
        assert ours.encode(text) == stock.encode(text)
        assert ours.encode(text, add_special_tokens=False) == stock.encode(text, add_special_tokens=False)
        assert ours.encode(text, other) == stock.encode(text, other)
        assert ours.encode(text, max_length=5, truncation=True) == stock.encode(text, max_length=5, truncation=True)
        assert ours.tokenize(text) == stock.tokenize(text)
        assert ours.tokenize(text, add_special_tokens=True) == stock.tokenize(text, add_special_tokens=True)
        assert ours.tokenize(text, other, True) == stock.tokenize(text, other, True)
        assert ours.tokenize(text, split_special_tokens=True) == stock.tokenize(text, split_special_tokens=True)
        assert ours._encode_without_added_tokens(text) == stock._encode_without_added_tokens(text)


@kinds
def test_split_special_tokens_of_the_tokenizer_is_the_default_of_calls(kind: str) -> None:
    folder = directory(kind)
    ours = HfBpeTokenizer.from_pretrained(folder, split_special_tokens=True)
    stock = PreTrainedTokenizerFast.from_pretrained(folder, split_special_tokens=True)

    for text in HOSTILE:
        assert ours(text)["input_ids"] == ours(text, verbose=False)["input_ids"] == stock(text)["input_ids"]
        assert ours.encode(text) == stock.encode(text)
        assert ours.tokenize(text) == stock.tokenize(text)
        assert (
            ours(text, split_special_tokens=False)["input_ids"] == stock(text, split_special_tokens=False)["input_ids"]
        )


@kinds
def test_decoding_equals_stock(kind: str) -> None:
    ours, stock = pair(kind)
    batch = [ours.encode(text) for text in HOSTILE]

    for ids in batch:
        for skip in (False, True):
            expected = stock.decode(ids, skip_special_tokens=skip)
            assert ours.decode(ids, skip_special_tokens=skip) == expected
            assert ours.decode(np.array(ids, dtype=np.int64), skip_special_tokens=skip) == expected
            assert ours.decode(ids, skip_special_tokens=skip, spaces_between_special_tokens=True) == expected
            assert ours.convert_ids_to_tokens(ids, skip) == stock.convert_ids_to_tokens(ids, skip)
        assert ours.convert_tokens_to_string(ours.tokenize("a b")) == stock.convert_tokens_to_string(
            stock.tokenize("a b")
        )
    for skip in (False, True):
        assert ours.batch_decode(batch, skip_special_tokens=skip) == stock.batch_decode(batch, skip_special_tokens=skip)
        assert ours.decode(batch, skip_special_tokens=skip) == stock.decode(batch, skip_special_tokens=skip)
    assert ours.batch_decode(np.array([[5, 6], [7, 8]])) == stock.batch_decode(np.array([[5, 6], [7, 8]]))
    assert ours.decode(7) == stock.decode(7)
    assert ours.decode([]) == stock.decode([]) == ""
    assert ours.batch_decode([]) == stock.batch_decode([]) == []
    assert ours.decode({"input_ids": [5, 6]}["input_ids"]) == stock.decode([5, 6])


@kinds
def test_unknown_ids_decode_to_nothing_and_impossible_ones_raise(kind: str) -> None:
    ours, stock = pair(kind)
    beyond = len(ours) + 5

    assert ours.decode([beyond]) == stock.decode([beyond]) == ""
    assert ours.decode([5, beyond, 6]) == stock.decode([5, beyond, 6])
    assert ours.convert_ids_to_tokens(beyond) is stock.convert_ids_to_tokens(beyond) is None
    for impossible in (-1, 2**32, 2**70):
        for call in (
            lambda wrong: ours.decode([wrong]),
            lambda wrong: ours.decode(wrong),
            lambda wrong: ours.batch_decode([[5], [wrong]]),
            ours.convert_ids_to_tokens,
            lambda wrong: ours.convert_ids_to_tokens([5, wrong]),
        ):
            with pytest.raises(ValueError, match=f"{impossible} is no id"):
                call(impossible)


@kinds
def test_vocabulary_equals_stock(kind: str) -> None:
    ours, stock = pair(kind)

    assert ours.get_vocab() == ours.vocab == stock.get_vocab()
    assert len(ours) == len(stock)
    assert ours.vocab_size == stock.vocab_size
    assert ours.get_added_vocab() == stock.get_added_vocab()
    assert repr(ours.added_tokens_decoder) == repr(stock.added_tokens_decoder)
    assert list(ours.added_tokens_encoder.items()) == list(stock.added_tokens_encoder.items())
    assert ours.all_special_tokens == stock.all_special_tokens
    assert ours.all_special_ids == stock.all_special_ids
    assert ours.special_tokens_map == stock.special_tokens_map
    assert ours.eos_token_id == stock.eos_token_id
    for pair_of in (False, True):
        assert ours.num_special_tokens_to_add(pair_of) == stock.num_special_tokens_to_add(pair_of)
    assert ours.max_len_single_sentence == stock.max_len_single_sentence
    assert ours.convert_tokens_to_ids("the") == stock.convert_tokens_to_ids("the")
    tokens = ["a", "no such token", *ours.all_special_tokens]
    assert ours.convert_tokens_to_ids(tokens) == stock.convert_tokens_to_ids(tokens)
    assert ours.convert_tokens_to_ids("no such token") == stock.convert_tokens_to_ids("no such token")


def test_an_unknown_token_has_the_id_of_unk_token_without_recursion() -> None:
    tokenizer = HfBpeTokenizer.from_pretrained(directory("gpt2"), unk_token="<unk>")

    assert tokenizer.convert_tokens_to_ids("no such token") == tokenizer.unk_token_id == len(tokenizer) - 1
    tokenizer.unk_token = "absent"
    assert tokenizer.unk_token_id is None
    assert tokenizer.convert_tokens_to_ids(["no such token", "a"]) == [None, tokenizer.convert_tokens_to_ids("a")]


@kinds
def test_special_tokens_around_ids_are_those_around_texts(kind: str) -> None:
    ours, _ = pair(kind)
    first, second = (ours.encode(text, add_special_tokens=False) for text in ("one text", "another"))

    for text_pair, second_ids in ((None, None), ("another", second)):
        whole = ours("one text", text_pair, return_token_type_ids=True, return_special_tokens_mask=True)
        assert ours.build_inputs_with_special_tokens(first, second_ids) == whole["input_ids"]
        assert ours.create_token_type_ids_from_sequences(first, second_ids) == whole["token_type_ids"]
        assert ours.get_special_tokens_mask(first, second_ids) == whole["special_tokens_mask"]
    special = ours.get_special_tokens_mask(ours.encode("one text"), already_has_special_tokens=True)
    assert special == pair(kind)[1].get_special_tokens_mask(ours.encode("one text"), already_has_special_tokens=True)


ADDITIONS: list[tuple[list[Any], bool]] = [
    (["newtoken"], False),
    (["newtoken", "newtoken", "", "the"], False),
    (["<new>"], True),
    ([AddedToken("<new>")], True),
    ([AddedToken("<new>", normalized=True)], True),
    ([AddedToken("stripped", lstrip=True, rstrip=True), AddedToken("word", single_word=True)], False),
    ([AddedToken("NAI\u0308VE漢", normalized=True), AddedToken("12", normalized=False, special=True)], False),
]


@kinds
@pytest.mark.parametrize(("tokens", "special"), ADDITIONS)
def test_added_tokens_are_those_of_stock(kind: str, tokens: list[Any], special: bool) -> None:
    folder = directory(kind)
    ours, stock = HfBpeTokenizer.from_pretrained(folder), PreTrainedTokenizerFast.from_pretrained(folder)
    before = ours._core

    def fresh() -> list[Any]:
        return [token if isinstance(token, str) else AddedToken(**token.__getstate__()) for token in tokens]

    assert ours.add_tokens(fresh(), special_tokens=special) == stock.add_tokens(fresh(), special_tokens=special)
    assert ours.add_tokens(fresh(), special_tokens=special) == stock.add_tokens(fresh(), special_tokens=special) == 0
    assert repr(ours.added_tokens_decoder) == repr(stock.added_tokens_decoder)
    assert len(ours) == len(stock)
    assert ours.all_special_tokens == stock.all_special_tokens
    for text in [*HOSTILE, "a newtoken the<new>x <new> stripped  word words NA\u00cfVE漢 NAI\u0308VE漢 12 123"]:
        got = ours(text, return_offsets_mapping=True)
        assert dict(got) == dict(stock(text, return_offsets_mapping=True))
        assert ours.decode(got["input_ids"], True) == stock.decode(got["input_ids"], skip_special_tokens=True)
    assert before is not ours._core
    assert before == HfBpeTokenizer.from_pretrained(folder)._core


@kinds
def test_add_special_tokens_is_that_of_stock(kind: str) -> None:
    folder = directory(kind)
    ours, stock = HfBpeTokenizer.from_pretrained(folder), PreTrainedTokenizerFast.from_pretrained(folder)

    for tokens, replace in [
        ({"pad_token": "<pad!>", "cls_token": AddedToken("<cls>", lstrip=True)}, True),
        ({"extra_special_tokens": ["<x>", "<y>"]}, True),
        ({"extra_special_tokens": ["<z>"]}, False),
        ({"extra_special_tokens": ["<only>"]}, True),
    ]:
        results = [each.add_special_tokens(tokens, replace_extra_special_tokens=replace) for each in (ours, stock)]
        assert results[0] == results[1]
        assert ours.all_special_tokens == stock.all_special_tokens
        assert ours.all_special_ids == stock.all_special_ids
        assert repr(ours.added_tokens_decoder) == repr(stock.added_tokens_decoder)
    text = "a <cls> <x><z>b <only>"
    assert ours.decode(ours.encode(text), True) == stock.decode(stock.encode(text), skip_special_tokens=True)


@pytest.mark.parametrize("kwargs", [{"add_bos_token": True}, {"add_eos_token": True}, {"add_bos_token": False}])
@kinds
def test_bos_and_eos_asked_by_argument_are_those_of_stock(kind: str, kwargs: dict[str, bool]) -> None:
    settings = {"bos_token": "<s>", "eos_token": "<|end|>", **kwargs}
    ours = HfBpeTokenizer.from_pretrained(directory(kind), **settings)
    stock = PreTrainedTokenizerFast.from_pretrained(directory(kind), **settings)

    assert ours("a b")["input_ids"] == stock("a b")["input_ids"]
    assert ours("a b", "c")["input_ids"] == stock("a b", "c")["input_ids"]
    ours.add_bos_token = stock.add_bos_token = True
    ours.add_eos_token = stock.add_eos_token = True
    assert ours("a b", "c")["input_ids"] == stock("a b", "c")["input_ids"]
    ours.bos_token = stock.bos_token = None
    ours.update_post_processor()
    stock.update_post_processor()
    assert ours("a b")["input_ids"] == stock("a b")["input_ids"]
    assert ours.add_bos_token is stock.add_bos_token is False


BAD_INPUTS: list[Any] = [5, None, [5.5], [None], ["a", None], ["a", 5], [["a", "b", "c"]], [[5.5]], b"bytes", {"a": 1}]


@pytest.mark.parametrize("text", BAD_INPUTS)
@pytest.mark.parametrize("words", [False, True])
def test_what_is_no_text_raises_as_in_stock(text: Any, words: bool) -> None:
    ours, stock = pair("gpt2")

    expected = outcome(stock, text, is_split_into_words=words)
    assert outcome(ours, text, is_split_into_words=words) == expected
    assert isinstance(expected, str) or words


def test_second_texts_must_match_the_first() -> None:
    ours, stock = pair("gpt2")

    for args in [(["a", "b"], ["c"]), (["a"], "c"), (["a"], 5), ("a", 5)]:
        assert outcome(ours, *args) == outcome(stock, *args)
    with pytest.raises(ValueError, match="`text` has 2 items and `text_pair` has 1"):
        ours(["a", "b"], ["c"])
    with pytest.raises(TypeError, match="item 1 of the batch must be a str"):
        ours(["a", None])


def test_padding_without_a_pad_token_raises() -> None:
    with pytest.raises(ValueError, match="does not have a padding token"):
        pair("added")[0](["a", "b c"], padding=True)


def test_an_empty_batch_gives_an_empty_encoding() -> None:
    ours, _ = pair("gpt2")

    assert dict(ours([])) == {"input_ids": [], "attention_mask": []}
    assert dict(ours([], padding=True, truncation=True, max_length=4)) == {"input_ids": [], "attention_mask": []}


def test_a_list_of_ids_counts_as_encoded() -> None:
    ours, _ = pair("template")
    ids = ours.encode("one text", add_special_tokens=False)

    assert ours(ids)["input_ids"] == ours("one text")["input_ids"]
    assert ours.prepare_for_model(ids, max_length=3, truncation=True)["input_ids"] == [0, ids[0], 1]


def test_a_stride_as_long_as_the_window_raises() -> None:
    with pytest.raises(ValueError, match=r"stride=2 must be smaller than the 2 tokens .*max_length=4 minus 2"):
        pair("template")[0](LONG, truncation=True, max_length=4, stride=2, return_overflowing_tokens=True)
    with pytest.raises(ValueError, match="stride=3 must be smaller than the 2"):
        pair("template")[0](["a"], truncation=True, max_length=4, stride=3)


def test_a_negative_stride_raises() -> None:
    with pytest.raises(ValueError, match="stride=-1 is negative; give the number of tokens that windows share"):
        pair("template")[0](LONG, truncation=True, max_length=8, stride=-1)


def test_tokenize_says_what_to_do_with_ids_and_has_no_tokens_for_no_text() -> None:
    ours = pair("template")[0]
    with pytest.raises(TypeError, match=r"tokenize takes a text, got a list of ids: call convert_ids_to_tokens\(\)"):
        ours.tokenize([5, 6])
    assert ours.tokenize([]) == []
    assert ours.tokenize([], is_split_into_words=True, add_special_tokens=True) == ["<s>", "</s>"]


@pytest.mark.parametrize(("tokens", "name"), [("a", "str"), (None, "NoneType"), (5, "int")])
def test_only_lists_of_tokens_become_a_string(tokens: object, name: str) -> None:
    with pytest.raises(TypeError, match=f"tokens must be a list of str, got {name}: put one token into a list"):
        pair("template")[0].convert_tokens_to_string(tokens)  # type: ignore[arg-type]
    assert pair("template")[0].convert_tokens_to_string(("a", "b")) == "ab"


def test_a_window_without_room_for_the_special_tokens_raises() -> None:
    tokenizer = pair("template")[0]

    with pytest.raises(ValueError, match="max_length=1 has no room for the 2 special tokens"):
        tokenizer(LONG, truncation=True, max_length=1)
    assert tokenizer(LONG, truncation=True, max_length=2)["input_ids"] == [0, 1]
    assert tokenizer(LONG, truncation=True, max_length=1, add_special_tokens=False)["input_ids"]


def test_overflow_of_one_bare_text_is_flat() -> None:
    tokenizer = pair("gpt2")[0]
    ids = tokenizer.encode(LONG)

    got = tokenizer(
        LONG, add_special_tokens=False, truncation=True, max_length=10, stride=2, return_overflowing_tokens=True
    )

    assert got["input_ids"] == ids[:10]
    assert got["overflowing_tokens"] == ids[8:]
    assert got["num_truncated_tokens"] == len(ids) - 10


@pytest.mark.parametrize("call", [{}, {"return_length": True}])
def test_too_long_texts_warn_once(call: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    messages: list[str] = []
    monkeypatch.setattr("transformers.tokenization_utils_base.logger.warning", messages.append)
    tokenizer = HfBpeTokenizer.from_pretrained(directory("gpt2"))

    tokenizer(LONG * 5, **call)
    tokenizer(LONG * 5, **call)

    assert len(messages) == 1
    assert "longer than the specified maximum sequence length for this model" in messages[0]


@kinds
def test_lone_surrogates_become_replacement_characters(kind: str) -> None:
    ours, stock = pair(kind)
    broken, repaired = "a\ud83d b \ud83d\udc4d c\udc4d", "a\ufffd b \U0001f44d c\ufffd"

    assert ours(broken)["input_ids"] == stock(repaired)["input_ids"]
    assert ours([broken, broken])["input_ids"] == stock([repaired, repaired])["input_ids"]
    assert ours.encode(broken) == ours.encode(broken, verbose=False) == stock.encode(repaired)
    assert ours.tokenize(broken) == stock.tokenize(repaired)
    assert ours(broken, broken)["input_ids"] == stock(repaired, repaired)["input_ids"]
    assert (
        ours([broken], is_split_into_words=True)["input_ids"]
        == stock([repaired], is_split_into_words=True)["input_ids"]
    )
    assert ours.encode_ordinary(broken) == ours.encode_ordinary(repaired)
    assert ours.encode_ordinary_batch([broken]) == [ours.encode_ordinary(repaired)]
    assert ours.encode(broken, allowed_special="all") == ours.encode(repaired, allowed_special="all")


@pytest.mark.parametrize("kind", ["gpt2", "template"])
def test_offsets_count_the_positions_of_a_text_with_surrogates(kind: str) -> None:
    ours = pair(kind)[0]
    text = "a\ud83d\udc4db"

    offsets = ours(text, return_offsets_mapping=True, add_special_tokens=False)["offset_mapping"]

    assert offsets[0] == (0, 1)
    assert set(offsets[1:-1]) == {(1, 3)}
    assert offsets[-1] == (3, 4)


def test_chat_templates_treat_surrogates_as_upstream() -> None:
    ours, stock = pair("gpt2")
    chat = [{"role": "user", "content": "a\ud83db"}]
    template = "{% for m in messages %}{{ m.content }}{% endfor %}"

    assert ours.apply_chat_template(chat, chat_template=template, tokenize=False) == "a\ud83db"
    for tokenizer in (ours, stock):
        with pytest.raises(TypeError, match=r"TextEncodeInput must be Union") as caught:
            tokenizer.apply_chat_template(chat, chat_template=template)
        assert tokenizer is stock or caught.value.__notes__ == [
            "The chat holds the lone surrogate '\\ud83d', which no text can."
        ]


CHAT = [
    {"role": "user", "content": "Which fox jumps?"},
    {"role": "assistant", "content": "The quick brown fox <s>."},
    {"role": "user", "content": "Over 12345 dogs 🙂?"},
    {"role": "assistant", "content": "naïve café"},
]
CHAT_TEMPLATE = (
    "{% for m in messages %}{{ '<s>' + m.role + ': ' }}{% if m.role == 'assistant' %}{% generation %}"
    "{{ m.content + '<|end|>' }}{% endgeneration %}{% else %}{{ m.content }}{% endif %}{% endfor %}"
)


@kinds
@pytest.mark.parametrize("call", [{}, {"truncation": True, "max_length": 60}, {"return_tensors": "np"}])
def test_chats_and_assistant_masks_equal_stock(kind: str, call: dict[str, Any]) -> None:
    ours, stock = pair(kind)
    call = {**call, "chat_template": CHAT_TEMPLATE, "return_assistant_tokens_mask": True}

    assert outcome(ours.apply_chat_template, CHAT, **call) == outcome(stock.apply_chat_template, CHAT, **call)
    if "return_tensors" not in call:
        batch = [CHAT, CHAT[:2]]
        assert outcome(ours.apply_chat_template, batch, **call) == outcome(stock.apply_chat_template, batch, **call)
    masks = np.ravel(ours.apply_chat_template(CHAT, **call)["assistant_masks"])
    assert 0 < masks.sum() < len(masks)


@kinds
def test_sanitized_chats_equal_stock(kind: str) -> None:
    ours, stock = pair(kind)
    for call in ({}, {"truncation": True, "max_length": 12}, {"return_tensors": "np"}):
        expected = outcome(
            stock.apply_chat_template, CHAT, chat_template=CHAT_TEMPLATE, sanitize_control_tokens=True, **call
        )
        got = outcome(ours.apply_chat_template, CHAT, chat_template=CHAT_TEMPLATE, sanitize_control_tokens=True, **call)
        assert got["input_ids"] == expected["input_ids"]
        assert got["attention_mask"] == expected["attention_mask"]


def test_clean_up_is_refused_for_bpe_unless_forced() -> None:
    ids = pair("gpt2")[0].encode("a , b")
    for kwargs, expected in [
        ({}, "a , b"),
        ({"clean_up_tokenization_spaces": True}, "a , b"),
        (
            {
                "clean_up_tokenization_spaces": True,
                "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output": True,
            },
            "a, b",
        ),
    ]:
        ours = HfBpeTokenizer.from_pretrained(directory("gpt2"), **kwargs)
        stock = PreTrainedTokenizerFast.from_pretrained(directory("gpt2"), **kwargs)
        assert ours.decode(ids) == stock.decode(ids) == ours.batch_decode([ids])[0] == expected


def test_backend_tokenizer_is_a_stock_twin_that_follows_added_tokens() -> None:
    tokenizer = HfBpeTokenizer.from_pretrained(directory("template"))
    state = dict(tokenizer.__dict__)

    assert tokenizer.backend_tokenizer is tokenizer.backend_tokenizer
    assert tokenizer.backend_tokenizer.encode("a b").ids == tokenizer.encode("a b")
    assert tokenizer.__dict__ == state
    tokenizer.add_tokens(["another"])
    assert tokenizer.backend_tokenizer.token_to_id("another") == len(tokenizer) - 1


def test_conflicting_arguments_raise() -> None:
    with pytest.raises(AttributeError, match="conflicts with the method"):
        HfBpeTokenizer.from_pretrained(directory("gpt2"), get_vocab=True)


def test_our_class_tells_what_it_can_do() -> None:
    ours, _ = pair("gpt2")

    assert ours.is_fast is True
    assert ours("a").is_fast is True
    assert ours.backend == "tokenizers"
    assert bool(ours) is True
    assert "HfBpeTokenizer(name_or_path=" in repr(ours)
    assert not hasattr(ours, "_tokenizer")


@pytest.mark.parametrize("step", ["_encode_plus", "_get_padding_truncation_strategies"])
def test_a_subclass_may_replace_a_step_of_plain_calls(step: str) -> None:
    seen: list[str] = []

    def noticed(self: HfBpeTokenizer, *args: Any, **kwargs: Any) -> Any:
        seen.append(step)
        return getattr(HfBpeTokenizer, step)(self, *args, **kwargs)

    plain = HfBpeTokenizer.from_pretrained(directory("gpt2"))
    theirs = type("Theirs", (HfBpeTokenizer,), {step: noticed}).from_pretrained(directory("gpt2"))

    assert theirs("a b").data == plain("a b").data
    assert theirs("a b", add_special_tokens=False).data == plain("a b", add_special_tokens=False).data
    assert theirs.encode("a b") == plain.encode("a b")
    assert theirs(["a", "b"]).data == plain(["a", "b"]).data
    assert seen == [step] * 4


def test_a_subclass_hears_of_every_length() -> None:
    lengths: list[int] = []

    class Counting(HfBpeTokenizer):
        def _eventual_warn_about_too_long_sequence(self, ids: list[int], max_length: int | None, verbose: bool) -> None:
            lengths.append(len(ids))

    tokenizer = Counting.from_pretrained(directory("gpt2"))

    assert [len(tokenizer("a b")["input_ids"])] == lengths
