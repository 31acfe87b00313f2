"""Ids on their way to text: in lists, tuples and arrays, one text and many, known and unknown."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers
from directories import directory, pair
from hypothesis import given
from hypothesis import strategies as st

from hf_bpe._native import Tokenizer

KIND = "added"
DTYPES = (np.int64, np.uint32, np.int32, np.uint16, np.uint64, np.int8)


def core() -> Tokenizer:
    return pair(KIND)[0]._core


def outcome(tokenizer: Tokenizer, ids: Any) -> object:
    try:
        return (
            tokenizer.decode(ids),
            tokenizer.decode_batch([ids, ids]),
            tokenizer.decode(ids, skip_special_tokens=True),
        )
    except (TypeError, ValueError) as error:
        return repr(error)


@given(st.lists(st.one_of(st.integers(0, 600), st.integers(0, 2**32 - 1))))
def test_a_list_gives_what_a_tuple_and_an_array_give(ids: list[int]) -> None:
    expected = outcome(core(), tuple(ids))

    assert outcome(core(), ids) == expected
    for dtype in DTYPES:
        if max(ids, default=0) <= np.iinfo(dtype).max:
            array = np.array(ids, dtype=dtype)
            assert outcome(core(), array) == expected
            assert outcome(core(), np.repeat(array, 3)[::3]) == expected
            array.flags.writeable = False
            assert outcome(core(), array[::-1]) == outcome(core(), tuple(ids[::-1]))


class _Own(int):
    """An int of another class, whose index is another number."""

    def __index__(self) -> int:
        return 7


@pytest.mark.parametrize(
    "wrong",
    [-1, 2**32, 2**64, -(2**70), "a", None, 1.5, True, _Own(3), np.int64(3), np.float32(1), [1]],
    ids=lambda wrong: f"{type(wrong).__name__} {wrong}",
)
@pytest.mark.parametrize("at", [0, 2])
def test_what_is_no_plain_int_is_taken_or_refused_as_in_a_tuple(wrong: object, at: int) -> None:
    ids: list[Any] = [5, 6, 7]
    ids[at] = wrong

    assert outcome(core(), ids) == outcome(core(), tuple(ids))


@pytest.mark.parametrize("wrong", [-1, 2**32])
def test_an_array_is_refused_by_the_number_that_is_no_id(wrong: int) -> None:
    with pytest.raises(ValueError, match=f"{wrong} is no id: ids go from 0 to 4294967295"):
        core().decode(np.array([1, wrong]))


@pytest.mark.parametrize("real_vocabulary", ["gpt2", "llama3", "qwen2", "o200k", "deepseek"], indirect=True)
def test_all_tokens_in_any_order_decode_as_in_stock(real_vocabulary: Path) -> None:
    text = real_vocabulary.read_text(encoding="utf-8")
    ours, stock = Tokenizer.from_json(text), tokenizers.Tokenizer.from_str(text)
    rng = random.Random(1)
    specials = [token_id for token_id, flags in ours.added_tokens() if flags[1]]
    ids = [*range(ours.max_id + 300), *specials * 50]
    rng.shuffle(ids)
    at = 0
    while at < len(ids):
        part = ids[at : at + rng.choice([1, 2, 30, 255, 256, 257, 5_000])]
        at += len(part)
        for skip in (True, False):
            expected = stock.decode(part, skip_special_tokens=skip)
            assert ours.decode(part, skip_special_tokens=skip) == expected
            assert ours.decode_batch([part, part[:1]], skip_special_tokens=skip)[0] == expected


def test_a_batch_is_what_its_texts_are_one_by_one() -> None:
    ours, _ = pair(KIND)
    rng = random.Random(2)
    batch = [[rng.randrange(len(ours)) for _ in range(rng.choice([0, 1, 9, 900]))] for _ in range(300)]
    for skip in (True, False):
        expected = [ours.decode(ids, skip_special_tokens=skip) if ids else "" for ids in batch]

        assert ours.batch_decode(batch, skip_special_tokens=skip) == expected
        assert ours.batch_decode([tuple(ids) for ids in batch], skip_special_tokens=skip) == expected
        assert ours.batch_decode([np.array(ids, dtype=np.int64) for ids in batch], skip_special_tokens=skip) == expected
        assert ours.decode(batch, skip_special_tokens=skip) == expected


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_decode_as_in_the_stock_class(dtype: type[np.integer[Any]]) -> None:
    ours, stock = pair(KIND)
    rows = np.array([[5, 60, 7, 0], [9, 8, 100, 3]], dtype=dtype)

    for ids in (rows[0], rows[:, 1], rows[:0], rows[0][:0], rows, list(rows), np.array(5, dtype=dtype)):
        assert ours.decode(ids) == stock.decode(ids)
        if ids.ndim > 0 if isinstance(ids, np.ndarray) else True:
            assert ours.batch_decode(ids) == stock.batch_decode(ids)


def test_cut_characters_become_one_replacement_each_as_in_stock() -> None:
    ours = core()
    stock = tokenizers.Tokenizer.from_file(str(directory(KIND) / "tokenizer.json"))
    single = {ours.get_token_bytes(token_id): token_id for token_id in range(ours.vocab_size)}
    raw = "é漢🙂".encode()
    for data in (raw[1:], raw[:-1], raw[:-2] + b"a", b"\xff\xfe", b"\xf0\x9f\x99", b"\xed\xa0\x80", raw[::-1]):
        ids = [single[bytes([byte])] for byte in data]

        assert ours.decode(ids) == stock.decode(ids) == data.decode("utf-8", "replace")
