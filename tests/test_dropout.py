"""BPE dropout: the distribution of the stock library, and one result for a seed."""

from __future__ import annotations

import copy
import itertools
import json
import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from tokenizers.models import BPE

from hf_bpe import HfBpeTokenizer, TokenizerFileError
from hf_bpe._native import Tokenizer

TOKENS = [*"abcd", "ab", "cd", "bc", "abc", "abcd", "bcd"]
MERGES = [("a", "b"), ("c", "d"), ("b", "c"), ("ab", "c"), ("ab", "cd"), ("bc", "d"), ("a", "bcd")]

# How often tokenizers 0.23.3 cut "abcd" in which way, of 1,000,000 times each.
COUNTED = {
    0.1: {
        **{"a b c d": 992, "a b cd": 1721, "a bc d": 947, "a bcd": 785},
        **{"ab c d": 1680, "ab cd": 96961, "abc d": 15330, "abcd": 881584},
    },
    0.5: {
        **{"a b c d": 124898, "a b cd": 94054, "a bc d": 62375, "a bcd": 31620},
        **{"ab c d": 93704, "ab cd": 234020, "abc d": 93955, "abcd": 265374},
    },
    0.9: {
        **{"a b c d": 728901, "a b cd": 80145, "a bc d": 72868, "a bcd": 7210},
        **{"ab c d": 80774, "ab cd": 18330, "abc d": 8950, "abcd": 2822},
    },
}


def model_json(dropout: float | None, **settings: Any) -> str:
    """Return a model of four letters with this rate of dropout."""
    vocab = {token: id for id, token in enumerate(TOKENS)}
    model = {"type": "BPE", "dropout": dropout, "vocab": vocab, "merges": [list(pair) for pair in MERGES]}
    return json.dumps({"version": "1.0", "model": model | settings})


def cuts(tokenizer: Tokenizer, count: int) -> Counter[str]:
    """Return how often "abcd" is cut in which way."""
    rows = tokenizer.encode_ids_batch(["abcd"] * count)
    return Counter(" ".join(TOKENS[token_id] for token_id in row) for row in rows)


@pytest.mark.parametrize("rate", COUNTED)
def test_segmentations_are_as_frequent_as_in_stock(rate: float) -> None:
    counts = cuts(Tokenizer.from_json(model_json(rate), 1), 100_000)

    assert counts.keys() == COUNTED[rate].keys()
    for cut, stock in COUNTED[rate].items():
        expected = stock / 10
        # Five standard deviations of both counts together; the numbers are those of a seed, so it never flakes.
        assert abs(counts[cut] - expected) < 5 * (1.1 * expected) ** 0.5, cut


@pytest.mark.parametrize("rate", [None, 0, 0.0])
def test_no_rate_means_no_dropout(rate: float | None) -> None:
    tokenizer = Tokenizer.from_json(model_json(rate))

    assert tokenizer.dropout is None
    assert cuts(tokenizer, 50) == {"abcd": 50}
    assert json.loads(tokenizer.to_json())["model"]["dropout"] == rate


def test_a_rate_of_one_gives_symbols() -> None:
    tokenizer = Tokenizer.from_json(model_json(1))

    assert cuts(tokenizer, 50) == {"a b c d": 50}
    assert tokenizer.encode("abcd" * 30).tokens == list("abcd" * 30)


def test_whole_tokens_are_not_taken_where_merges_are_dropped() -> None:
    data = model_json(1.0, ignore_merges=True)

    assert Tokenizer.from_json(data).encode("abcd").tokens == tokenizers.Tokenizer.from_str(data).encode("abcd").tokens


@pytest.mark.parametrize("rate", [-0.1, 1.5, "0.5", True])
def test_a_rate_out_of_range_is_refused_as_in_stock(rate: Any) -> None:
    with pytest.raises(Exception, match=r"."):
        tokenizers.Tokenizer.from_str(model_json(rate))
    with pytest.raises(TokenizerFileError, match=r"model\.dropout should be a number from 0 to 1, found "):
        Tokenizer.from_json(model_json(rate))


@pytest.mark.parametrize("rate", [0.1, 0.5, 1.0, 0.0])
def test_the_rate_is_saved_as_stock_saves_it(rate: float) -> None:
    data = model_json(rate)

    assert Tokenizer.from_json(data).to_json() == tokenizers.Tokenizer.from_str(data).to_str(pretty=True)
    assert tokenizers.Tokenizer(BPE(dropout=rate)).to_str() == Tokenizer.from_json(
        tokenizers.Tokenizer(BPE(dropout=rate)).to_str()
    ).to_json(pretty=False)


def test_ids_are_a_function_of_seed_text_and_place(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = Tokenizer.from_json(model_json(0.9), 7)
    texts = ["abcd" * 40] * 600
    rows = tokenizer.encode_ids_batch(texts)

    monkeypatch.setenv("RAYON_NUM_THREADS", "3")
    assert tokenizer.encode_ids_batch(texts) == rows
    assert [encoding.ids for encoding in tokenizer.encode_batch(texts)] == rows
    ids, bounds = tokenizer.encode_to_numpy(texts)
    assert [ids[start:end].tolist() for start, end in itertools.pairwise(bounds)] == rows
    assert tokenizer.encode_ids(texts[0]) == tokenizer.encode(texts[0]).ids == rows[0]
    assert len({tuple(row) for row in rows}) > 500
    assert tokenizer.with_dropout_seed(8).encode_ids_batch(texts) != rows
    assert tokenizer.with_dropout_seed(8).with_dropout_seed(7).encode_ids_batch(texts) == rows


def test_a_seed_survives_pickling_copies_and_new_tokens() -> None:
    tokenizer = Tokenizer.from_json(model_json(0.9), 7)
    text = "abcd" * 100
    added, _ = tokenizer.with_added_tokens([("<x>", True, False, False, False, False)])
    without = pickle.loads(pickle.dumps(tokenizer.with_dropout_seed(None)))

    for other in (pickle.loads(pickle.dumps(tokenizer)), copy.deepcopy(tokenizer), added):
        assert other.dropout_seed == 7
        assert other.encode_ids(text) == tokenizer.encode_ids(text)
    assert without.dropout_seed is None
    assert without != tokenizer != tokenizer.with_dropout_seed(8)


def test_without_a_seed_each_call_differs() -> None:
    tokenizer = Tokenizer.from_json(model_json(0.5))

    # 40 times the same of eight cuts, the most frequent of which has 27 %: that won't happen.
    assert len({tuple(tokenizer.encode_ids("abcd")) for _ in range(40)}) > 1


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tokenizer.json").write_text(model_json(0.9), encoding="utf-8")
    return tmp_path


def test_offsets_belong_to_the_ids_of_the_call(folder: Path) -> None:
    tokenizer = HfBpeTokenizer.from_pretrained(folder)
    text = "abcd" * 20

    for result, row in ((tokenizer(text), None), (tokenizer([text, text]), 1)):
        ids = result["input_ids"] if row is None else result["input_ids"][row]
        assert tokenizer.convert_ids_to_tokens(ids) == result.tokens(row or 0)
        assert [text[start:end] for start, end in result.encodings[row or 0].offsets] == result.tokens(row or 0)


def test_the_class_takes_a_seed(folder: Path, tmp_path: Path) -> None:
    tokenizer = HfBpeTokenizer.from_pretrained(folder, dropout_seed=5)
    text = "abcd" * 50
    ids = tokenizer(text)["input_ids"]

    assert tokenizer.dropout_seed == 5
    assert tokenizer.encode(text) == ids == pickle.loads(pickle.dumps(tokenizer)).encode(text)
    assert copy.deepcopy(tokenizer).encode(text) == ids
    other = tokenizer.with_dropout_seed(6)
    assert (other.dropout_seed, tokenizer.dropout_seed) == (6, 5)
    assert other.encode(text) != ids
    assert other.with_dropout_seed(5).encode(text) == ids
    tokenizer.save_pretrained(tmp_path / "saved")
    assert HfBpeTokenizer.from_pretrained(tmp_path / "saved").dropout_seed is None
