"""Figures that were published about real vocabularies and models come out of the measures."""

from __future__ import annotations

import lzma
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers

from hf_bpe import measure
from hf_bpe.vocabulary import Vocabulary

QWEN = {
    **{"model_type": "qwen2", "num_hidden_layers": 28, "hidden_size": 3584, "num_attention_heads": 28},
    **{"num_key_value_heads": 4, "intermediate_size": 18944, "vocab_size": 152064, "torch_dtype": "bfloat16"},
    **{"sliding_window": 131072, "use_sliding_window": False, "max_window_layers": 28, "tie_word_embeddings": False},
}


def split(tokenizer: Any, text: str) -> str:
    """Return a text with a bar between two tokens."""
    return b"|".join(measure.measured(tokenizer).pieces(text)).decode()


@pytest.mark.parametrize(
    ("real_vocabulary", "pieces"), [("cl100k", "123|456|7"), ("gpt2", "123|45|67")], indirect=["real_vocabulary"]
)
def test_a_number_is_split_as_published(real_vocabulary: Path, pieces: str) -> None:
    found = measure.numbers(real_vocabulary, ["1234567"])

    assert split(real_vocabulary, "1234567") == pieces
    assert found[7].ways == {tuple(map(len, pieces.split("|"))): 1}


@pytest.mark.parametrize("real_vocabulary", ["cl100k"], indirect=True)
def test_texts_take_as_many_tokens_as_published(real_vocabulary: Path) -> None:
    texts = {"def train_bpe(text):": 6, "大模型": 3, "手撕BPE分词器": 9}

    found = measure.fertility(real_vocabulary, {text: [text] for text in texts})

    assert {name: count.tokens for name, count in found.by_source.items()} == texts


@pytest.mark.parametrize("number", ["1|024", "12|345", "1|234|567", "20|261|002"])
def test_digits_are_grouped_from_the_right_as_published(number: str) -> None:
    assert "|".join(measure.grouped(number.replace("|", ""))) == number


def numbers_vocabulary(tokens: list[str]) -> Vocabulary:
    """Return a vocabulary of bytes and of some numbers, that takes digits together."""
    ranks = {bytes([byte]): byte for byte in range(256)}
    ranks |= {token.encode(): 256 + index for index, token in enumerate(tokens)}
    return Vocabulary.from_ranks(ranks, split_pattern=r"\p{N}+|[^\p{N}]+", added_tokens={})


FREQUENT = ["34", "20", "24", "2024", "12", "1234", "12345", "56", "567"]
WAYS = {
    4: {"1111": "1-1-1-1", "1134": "1-1-2", "1341": "1-2-1", "3411": "2-1-1", "2024": "4"},
    5: {"11111": "1-1-1-1-1", "13411": "1-2-1-1", "12345": "5"},
    6: {"111111": "1-1-1-1-1-1", "134341": "1-2-2-1", "567134": "3-1-2", "123459": "5-1"},
}
"""A number for each way in which a vocabulary of frequent numbers was published to split some of 4 to 6 digits."""


def test_frequent_numbers_split_in_the_ways_published() -> None:
    made = numbers_vocabulary(FREQUENT)
    # Each way once, and some often enough for the published means: 2.86 pieces a number, 2.07 in groups of three.
    given = [number for ways in WAYS.values() for number in ways] + 10 * ["1341"] + 5 * ["123459"] + 2 * ["1234534"]

    found = measure.numbers(made, given)

    for digits, ways in WAYS.items():
        assert {measure.spelled(shape) for shape in found[digits].ways} == set(ways.values())
        assert found[digits].grouping == "mixed"
    assert {number: split(made, number).count("|") for number in WAYS[6]} == {
        number: way.count("-") for number, way in WAYS[6].items()
    }
    assert f"{found.pieces:.2f}" == "2.86"
    assert f"{sum(len(measure.grouped(number)) for number in given) / len(given):.2f}" == "2.07"


def test_the_kv_cache_of_qwen_is_as_published() -> None:
    found = measure.kv_cache(QWEN, context=32_768)

    assert found.attention == "GQA"
    assert found.bytes_per_token == 2 * 28 * 4 * 128 * 2 == 57_344
    assert found.bytes_of(8_192) == 448 * 2**20
    assert found.bytes_of(32_768) == 1.75 * 2**30
    by_attention_heads = measure.kv_cache(QWEN | {"num_key_value_heads": 28})
    assert by_attention_heads.bytes_per_token == 7 * found.bytes_per_token


def test_the_parameters_of_qwen_are_as_published() -> None:
    found = measure.embedding_share(QWEN)

    assert found.parameters == 7_615_616_512
    assert found.embedding_parameters == 2 * 152_064 * 3_584
    assert found.share == pytest.approx(0.1431, abs=1e-4)


@pytest.mark.parametrize(("reused", "total", "share"), [(946, 969, "97.6%"), (11, 1_035, "1.1%")])
def test_shares_of_a_prefix_cache_are_as_published(reused: int, total: int, share: str) -> None:
    first = range(2_000)
    second = chain(range(reused), range(3_000, 3_000 + total - reused))

    found = measure.prefix([list(first), list(second)], block_size=1)

    assert found.report.requests[1].reused == reused
    assert found.report.requests[1].tokens == total
    assert f"{found.report.requests[1].share:.1%}" == share


def test_the_published_prompts_reuse_as_much_by_the_order_of_their_fields() -> None:
    # Counted in bytes, one a token: 946 of 969 with what changes last, 11 of 1,035 with a session id first.
    rules = "r" * 945
    last = [{"rules": rules, "question": f"{number}" + "q" * 22} for number in range(2)]
    first = [{"session": f"session_id={number}" + "s" * 77, "rules": rules} for number in range(2)]

    good, bad = measure.field_order(last, block_size=1), measure.field_order(first, block_size=1)

    assert (good.before.requests[1].reused, good.before.requests[1].tokens) == (946, 969)
    assert (bad.before.requests[1].reused, bad.before.requests[1].tokens) == (11, 1_035)
    assert (good.given, good.gain) == (good.stable, 0)
    assert bad.stable == ["rules", "session"]
    assert bad.after.requests[1].reused == 946 + 11
    assert bad.gain == pytest.approx((946 + 11 - 11) / (2 * 1_035))


@pytest.mark.parametrize("real_vocabulary", ["gpt2", "llama3"], indirect=True)
def test_figures_over_the_corpora_equal_an_independent_count(
    real_vocabulary: Path, shared: Path, tmp_path: Path
) -> None:
    theirs = tokenizers.Tokenizer.from_file(str(real_vocabulary))
    theirs.encode_special_tokens = True
    lines = {path.name: first_lines(path) for path in sorted((shared / "bench" / "corpora").glob("*.txt*"))}
    for name, texts in lines.items():
        (tmp_path / name).with_suffix(".txt").write_text("".join(texts), encoding="utf-8", newline="")

    found = measure.fertility(real_vocabulary, {name: (tmp_path / name).with_suffix(".txt") for name in lines})

    assert len(lines) == 6
    for name, texts in lines.items():
        count = found.by_source[name]
        rows = [encoding.ids for encoding in theirs.encode_batch(texts, add_special_tokens=False)]
        assert (count.texts, count.tokens) == (len(texts), sum(map(len, rows)))
        assert count.bytes == len("".join(texts).encode())
        assert np.array_equal(np.flatnonzero(count.uses), sorted({id for row in rows for id in row}))


def first_lines(path: Path) -> list[str]:
    """Return the first lines of a corpus, each with its newline."""
    with (lzma.open if path.suffix == ".xz" else open)(path, "rb") as file:
        head = file.read(200_000)
    return [f"{line}\n" for line in head[: head.rindex(b"\n")].decode("utf-8").split("\n")]
