"""Columns of strings to columns of ids."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import datasets
import numpy as np
import pyarrow as pa
import pytest
from directories import HOSTILE, KINDS, pair
from hypothesis import given
from hypothesis import strategies as st

from hf_bpe import HfBpeTokenizer, columns

kinds = pytest.mark.parametrize("kind", KINDS)
ROWS = [*HOSTILE, None, "", "a<s>b", None, "語" * 40, None]
TYPES = {
    "string": lambda rows: pa.array(rows, pa.string()),
    "large_string": lambda rows: pa.array(rows, pa.large_string()),
    "string_view": lambda rows: pa.array(rows, pa.string_view()),
    "dictionary": lambda rows: pa.array(rows, pa.string()).dictionary_encode(),
    "chunked": lambda rows: pa.chunked_array([rows[:3], [], rows[3:4], rows[4:]], pa.string()),
    "sliced": lambda rows: pa.array(["before", None, *rows, "after"], pa.string()).slice(2, len(rows)),
    "sliced chunks": lambda rows: pa.chunked_array(
        [pa.array(["x", *rows[:2], "y"]).slice(1, 2), pa.array([None, *rows[2:]]).slice(1)]
    ),
}


def expected(tokenizer: HfBpeTokenizer, rows: list[str | None], **options: Any) -> list[list[int] | None]:
    return [None if row is None else tokenizer(row, **options)["input_ids"] for row in rows]


@pytest.fixture
def tokenizer() -> HfBpeTokenizer:
    return pair("gpt2")[0]


@kinds
@pytest.mark.parametrize("type_name", TYPES)
def test_a_column_has_the_ids_of_its_rows(kind: str, type_name: str) -> None:
    ours, _ = pair(kind)
    rows = [row for row in ROWS if row is None or row.isprintable() or len(row) < 2000]

    encoded = ours.encode_arrow(TYPES[type_name](rows))

    encoded.validate(full=True)
    assert encoded.type == pa.list_(pa.int32())
    assert encoded.to_pylist() == expected(ours, rows)
    bare = ours.encode_arrow(TYPES[type_name](rows), add_special_tokens=False, split_special_tokens=True)
    assert bare.to_pylist() == expected(ours, rows, add_special_tokens=False, split_special_tokens=True)


@given(
    rows=st.lists(st.none() | st.text(max_size=8), max_size=30),
    start=st.integers(0, 30),
    length=st.integers(0, 30),
    cuts=st.lists(st.integers(0, 30), max_size=3),
)
def test_slices_and_chunks_at_any_place_lose_nothing(
    rows: list[str | None], start: int, length: int, cuts: list[int]
) -> None:
    ours, _ = pair("gpt2")
    array = pa.array(rows, pa.string())
    edges = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    chunks = [array.slice(begin, end - begin) for begin, end in itertools.pairwise(edges)]

    encoded = ours.encode_arrow(pa.chunked_array(chunks, pa.string()).slice(start, length))

    encoded.validate(full=True)
    assert encoded.to_pylist() == expected(ours, rows[start : start + length])


def test_columns_without_rows_or_texts_stay_so(tokenizer: HfBpeTokenizer) -> None:
    kind = pa.list_(pa.int32())
    empty = [pa.array([], pa.string()), pa.chunked_array([], pa.string()), pa.array(["a"]).slice(1), pa.array([])]

    assert [tokenizer.encode_arrow(column) for column in empty] == [pa.array([], kind)] * 4
    for nulls in (pa.nulls(3), pa.nulls(3, pa.string()), pa.chunked_array([pa.nulls(1), pa.nulls(2)])):
        assert tokenizer.encode_arrow(nulls) == pa.array([None] * 3, kind)


def test_what_another_library_exports_is_read(tokenizer: HfBpeTokenizer) -> None:
    class Exported:
        def __init__(self, inner: Any, name: str) -> None:
            self.inner = inner
            self.name = name

        def __getattr__(self, name: str) -> Any:
            if name != self.name:
                raise AttributeError(name)
            return getattr(self.inner, name)

    whole = pa.array(["a", None, "b c"])
    chunked = pa.chunked_array([whole, whole])

    assert tokenizer.encode_arrow(Exported(whole, "__arrow_c_array__")) == tokenizer.encode_arrow(whole)
    assert tokenizer.encode_arrow(Exported(chunked, "__arrow_c_stream__")) == tokenizer.encode_arrow(chunked)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["a"], r"takes an Arrow array of strings.*got list\. For a list of str call encode_to_numpy"),
        (pa.array([1]), r"of type string, large_string or string_view.*got one of int64\."),
        (pa.array([b"a"]), r"got one of binary\."),
        (pa.table({"text": ["a"]}), r"takes one column, got a Table: pass it as table\['text'\]\."),
    ],
    ids=["a list", "numbers", "bytes", "a table"],
)
def test_what_is_no_column_of_strings_is_refused(tokenizer: HfBpeTokenizer, given: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        tokenizer.encode_arrow(given)


def test_a_damaged_column_names_the_row(tokenizer: HfBpeTokenizer) -> None:
    def column(data: bytes, ends: list[int]) -> pa.Array:
        offsets = pa.py_buffer(np.array(ends, np.int32))
        return pa.Array.from_buffers(pa.string(), len(ends) - 1, [None, offsets, pa.py_buffer(data)])

    good = pa.array(["a", "b"])
    with pytest.raises(ValueError, match="row 1 of the Arrow column is not valid UTF-8 at byte 1"):
        tokenizer.encode_arrow(column(b"aa\xff", [0, 1, 3]))
    with pytest.raises(ValueError, match="row 2 of the Arrow column is not valid UTF-8 at byte 0"):
        tokenizer.encode_arrow(pa.chunked_array([good, column(b"\xc3", [0, 1])]))
    with pytest.raises(ValueError, match="row 0 of the Arrow column points outside its data, to bytes 2 to 1"):
        tokenizer.encode_arrow(column(b"aaa", [2, 1, 3]))


@pytest.mark.parametrize("large", [False, True])
def test_a_number_of_rows_that_no_memory_holds_is_refused(tokenizer: HfBpeTokenizer, *, large: bool) -> None:
    offsets = np.array([0, 1, 2], np.int64 if large else np.int32).tobytes()

    with pytest.raises(ValueError, match="row 2 of the Arrow column has no valid offsets"):
        tokenizer._core.encode_arrow([(b"ab", offsets, None, 0, 0, 1 << 62, large)])


def _view(*numbers: int) -> pa.Array:
    """A column with one text of more than 12 bytes: their number, the first 4, their buffer, their place in it."""
    buffers = [None, pa.py_buffer(np.array(numbers, np.int32).tobytes()), pa.py_buffer(b"abcd" * 5)]
    return pa.Array.from_buffers(pa.string_view(), 1, buffers)


_START = int.from_bytes(b"abcd", "little")


@pytest.mark.parametrize(
    "damaged",
    [
        lambda: _view(20, _START, 7, 0),
        lambda: _view(20, _START, 0, 1 << 30),
        lambda: _view(1 << 30, _START, 0, 0),
        lambda: _view(-20, _START, 0, 0),
        lambda: pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), _view(20, _START, 7, 0)),
        lambda: pa.DictionaryArray.from_arrays(pa.array([0, 7]), pa.array(["a"]), safe=False),
        lambda: pa.chunked_array([_view(20, _START, 0, 0), _view(20, _START, 7, 0)]),
    ],
    ids=["buffer", "place", "length", "negative length", "dictionary of views", "index", "second chunk"],
)
def test_views_and_indices_that_point_nowhere_are_refused(
    tokenizer: HfBpeTokenizer, damaged: Callable[[], pa.Array]
) -> None:
    assert tokenizer.encode_arrow(_view(20, _START, 0, 0)).to_pylist() == [tokenizer.encode("abcd" * 5)]
    column = damaged()

    with pytest.raises(ValueError, match=r"the Arrow column of type .* is damaged: "):
        tokenizer.encode_arrow(column)


def test_bounds_of_64_bits_become_a_large_list() -> None:
    ids = np.array([7, 8, 9], np.uint32)

    lists = columns.lists_of(ids, np.array([0, 2, 3], np.int64), None, pa.int32())

    lists.validate(full=True)
    assert lists.type == pa.large_list(pa.int32())
    assert lists.to_pylist() == [[7, 8], [9]]


def test_the_arrays_of_the_core_are_not_copied() -> None:
    ids, bounds = np.array([7, 8], np.uint32), np.array([0, 2], np.int32)

    lists = columns.lists_of(ids, bounds, None, pa.int32())

    assert lists.buffers()[1].address == bounds.ctypes.data
    assert lists.values.buffers()[1].address == ids.ctypes.data


def test_mapping_a_dataset_by_arrow_batches_equals_plain_encoding(tokenizer: HfBpeTokenizer) -> None:
    rows = datasets.Dataset.from_dict({"text": [f"row {n} é\n" * (n % 5) for n in range(50)]})

    def encode(table: pa.Table) -> pa.Table:
        return table.append_column("input_ids", tokenizer.encode_arrow(table["text"]))

    mapped = rows.with_format("arrow").map(encode, batched=True, batch_size=7)
    plain = rows.map(lambda batch: {"input_ids": tokenizer(batch["text"])["input_ids"]}, batched=True)

    assert mapped.with_format(None)[:] == plain[:]
    assert mapped.features == plain.features


def test_a_seed_drops_the_merges_of_a_batch(small_tokenizer_json: Any) -> None:
    from hf_bpe._native import Tokenizer

    json = small_tokenizer_json.read_text(encoding="utf-8").replace('"dropout": null', '"dropout": 0.5')
    ours = HfBpeTokenizer(tokenizer_object=Tokenizer.from_json(json, 7))
    texts = ["return the value"] * 20
    rows = pa.chunked_array([texts[:9], [None], texts[9:]], pa.string())

    encoded = ours.encode_arrow(rows).drop_null().to_pylist()

    assert encoded == ours._core.encode_ids_batch(texts)
    assert len(set(map(tuple, encoded))) > 1


def test_the_type_of_a_column_without_chunks_is_looked_at(tokenizer: HfBpeTokenizer) -> None:
    assert tokenizer.encode_arrow(pa.chunked_array([], pa.string())).to_pylist() == []
    with pytest.raises(TypeError, match="got one of int32"):
        tokenizer.encode_arrow(pa.chunked_array([], pa.int32()))
