"""The encodings behind a `BatchEncoding`: lazy where the call wants ids alone, equal to stock's in every answer."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from directories import HOSTILE, KINDS, pair
from transformers import BatchEncoding

from hf_bpe.encoding import LazyEncodings

kinds = pytest.mark.parametrize("kind", KINDS)
TEXT = "The naïve fox <s> 漢字 🙂  12345 doesn't."


def answers(encoding: BatchEncoding, row: int, length: int) -> dict[str, Any]:
    """Return everything that can be asked about one row of a batch encoding."""
    tokens, chars = range(len(encoding.encodings[row].ids)), range(length + 1)
    words = {word for word in encoding.word_ids(row) if word is not None}
    return {
        "tokens": encoding.tokens(row),
        "word_ids": encoding.word_ids(row),
        "sequence_ids": encoding.sequence_ids(row),
        "offsets": encoding.encodings[row].offsets,
        "token_to_sequence": [encoding.token_to_sequence(row, token) for token in tokens],
        "token_to_word": [encoding.token_to_word(row, token) for token in tokens],
        "token_to_chars": [encoding.encodings[row].token_to_chars(token) for token in tokens],
        "char_to_token": [encoding.char_to_token(row, char) for char in chars],
        "char_to_word": [encoding.char_to_word(row, char) for char in chars],
        "word_to_tokens": [encoding.word_to_tokens(row, word) for word in words],
        "word_to_chars": [encoding.word_to_chars(row, word) for word in words],
    }


@kinds
def test_a_lazy_encoding_answers_as_stock(kind: str) -> None:
    ours, stock = pair(kind)

    for text in [*HOSTILE, TEXT]:
        assert answers(ours(text), 0, len(text)) == answers(stock(text), 0, len(text))


@kinds
def test_an_encoding_of_a_batch_answers_as_stock(kind: str) -> None:
    ours, stock = pair(kind)
    calls: list[dict[str, Any]] = [{}, {"truncation": True, "max_length": 6}, {"add_special_tokens": False}]
    if stock.pad_token is not None:
        calls.append({"padding": True, "padding_side": "left"})

    for call in calls:
        got, expected = ours(HOSTILE, return_token_type_ids=False, **call), stock(HOSTILE, **call)
        assert isinstance(got.encodings, LazyEncodings)
        for row, text in enumerate(HOSTILE):
            assert answers(got, row, len(text)) == answers(expected, row, len(text))


@kinds
def test_an_encoding_of_a_pair_answers_as_stock(kind: str) -> None:
    ours, stock = pair(kind)
    got, expected = ours(TEXT, "second text"), stock(TEXT, "second text")

    assert answers(got, 0, len(TEXT)) == answers(expected, 0, len(TEXT))
    assert got.n_sequences == expected.n_sequences == 2
    for char in range(len("second text")):
        assert got.char_to_token(0, char, sequence_index=1) == expected.char_to_token(0, char, sequence_index=1)


@kinds
def test_lazy_encodings_are_a_sequence(kind: str) -> None:
    encodings = pair(kind)[0](HOSTILE, return_token_type_ids=False).encodings

    assert len(encodings) == len(HOSTILE)
    assert encodings[-1].ids == encodings[len(HOSTILE) - 1].ids
    assert [encoding.ids for encoding in encodings[2:4]] == [encodings[2].ids, encodings[3].ids]
    assert [encoding.ids for encoding in encodings] == pair(kind)[0](HOSTILE)["input_ids"]
    assert repr(encodings) == f"LazyEncodings({len(HOSTILE)} texts)"
    with pytest.raises(IndexError):
        encodings[len(HOSTILE)]


@kinds
def test_a_batch_encoding_pickles_with_its_encodings(kind: str) -> None:
    ours, _ = pair(kind)

    for encoding in (ours(HOSTILE), ours(TEXT), ours(TEXT, return_offsets_mapping=True)):
        loaded = pickle.loads(pickle.dumps(encoding))
        assert dict(loaded) == dict(encoding)
        assert isinstance(loaded.encodings, list)
        assert answers(loaded, 0, 5) == answers(encoding, 0, 5)
        assert dict(copy.deepcopy(encoding)) == dict(encoding)


@kinds
def test_items_of_a_batch_encoding_are_those_of_stock(kind: str) -> None:
    ours, stock = pair(kind)
    got, expected = ours(HOSTILE), stock(HOSTILE)

    assert got[1].ids == expected[1].ids
    assert [item.ids for item in got[1:3]] == [item.ids for item in expected[1:3]]
    assert got.input_ids == expected.input_ids
    assert ours("one").n_sequences == ours(["one"]).n_sequences == 1


def test_an_encoding_keeps_the_settings_of_its_call() -> None:
    ours, _ = pair("gpt2")
    encoding = ours("a<|end|>", split_special_tokens=True)
    count = len(ours)

    ours.truncation_side = "left"
    try:
        assert encoding.encodings[0].ids == encoding["input_ids"]
        assert len(encoding["input_ids"]) > 2
    finally:
        ours.truncation_side = "right"
    assert len(ours) == count
