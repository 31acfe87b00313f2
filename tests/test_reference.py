"""The reference against published examples, against its own laws, and against the stock library."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

from hf_bpe import reference
from hf_bpe.byte_alphabet import bytes_to_token

SHARED = Path(os.environ.get("HF_BPE_SHARED", Path(__file__).parents[1] / ".." / "shared"))
PUBLISHED = SHARED / "vectors" / "published"


def published(name: str) -> Any:
    path = PUBLISHED / name
    if not path.exists():
        pytest.skip(f"{path} is not on this machine")
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_published_byte_level_example_comes_out() -> None:
    example = published("bytes.json")
    words = [word.encode() for line in example["corpus_lines"] for word in line.split()] * example["repeat"]

    bpe = reference.train(
        words,
        vocab_size=example["vocab_size"],
        alphabet=[bytes([byte]) for byte in range(256)],
        tie=reference.largest_pair,
    )

    assert bpe.merges == [(left.encode(), right.encode()) for left, right in example["merges"]]
    assert len(example["encodings"]) == 3
    for encoding in example["encodings"]:
        pretokens = [part.encode() for part in re.findall(r"\S+|\s+", encoding["text"])]
        assert bpe.encode(pretokens) == encoding["ids"]
        assert b"".join(bpe.decode(encoding["ids"])).decode() == encoding["text"]


def test_the_published_example_compresses_its_corpus_as_published() -> None:
    example = published("bytes.json")
    lines = example["corpus_lines"] * example["repeat"]
    merges = [(left.encode(), right.encode()) for left, right in example["merges"]]
    vocab = [bytes([byte]) for byte in range(256)] + [left + right for left, right in merges]
    corpus = "".join(line + "\n" for line in lines)

    ids = reference.Bpe(vocab, merges).encode(part.encode() for part in re.findall(r"\S+|\s+", corpus))

    assert (len(corpus), len(ids)) == (example["corpus_chars"], example["corpus_tokens"])


def test_the_published_character_example_comes_out() -> None:
    example = published("chars.json")
    alphabet = {char for word in example["corpus"] for char in word} | {example["end_of_word"]}

    bpe = reference.train(
        example["corpus"],
        vocab_size=len(alphabet) + len(example["merges"]),
        end_of_word=example["end_of_word"],
        tie=reference.first_seen,
    )

    assert bpe.merges == [tuple(pair) for pair in example["merges"]]
    assert len(example["encodings"]) == 5
    for encoding in example["encodings"]:
        assert bpe.tokens([encoding["text"]]) == encoding["tokens"]
        assert "".join(bpe.decode(bpe.encode([encoding["text"]]))) == encoding["text"]


def test_the_published_weighted_example_comes_out() -> None:
    example = published("weighted.json")
    words = [(list(word), count) for word, count in example["words"].items()]
    overlap = example["overlap"]

    counts = reference.count_pairs(words)
    bpe = reference.train(example["words"], vocab_size=5, tie=reference.smallest_pair)
    after = [[reference.join(symbols, bpe.merges[0]), count] for symbols, count in words]

    assert [[list(pair), count] for pair, count in counts.items()] == example["pair_counts"]
    assert bpe.merges == [tuple(example["first_merge"])]
    assert after == example["after"]
    assert reference.join(overlap["symbols"], tuple(overlap["pair"])) == overlap["after"]


@pytest.mark.parametrize("words", [{}, {"a": 5}, {"": 3}, {"ab": 0}])
def test_without_pairs_there_is_nothing_to_join(words: dict[str, int]) -> None:
    bpe = reference.train(words, vocab_size=100)

    assert bpe.merges == []


@pytest.mark.parametrize(
    ("tie", "first"),
    [
        (reference.smallest_ids, ("z", "a")),
        (reference.smallest_pair, ("a", "b")),
        (reference.largest_pair, ("z", "a")),
        (reference.first_seen, ("m", "n")),
    ],
)
def test_ties_follow_the_rule_asked_for(tie: reference.TieRule[str], first: tuple[str, str]) -> None:
    bpe = reference.train(["mn", "ab", "za"], vocab_size=7, special_tokens=["z"], tie=tie)

    assert bpe.merges[0] == first


def test_the_lowest_rank_now_wins_even_when_it_appears_late() -> None:
    bpe = reference.Bpe(["a", "b", "ab", "aba"], [("ab", "a"), ("a", "b")])

    assert bpe.tokens(["abab"]) == ["aba", "b"]


few_words = st.dictionaries(st.text("abc", max_size=8), st.integers(1, 4), max_size=8)


@given(words=few_words, texts=st.lists(st.text("abc", max_size=12)), size=st.integers(0, 20))
def test_decoding_undoes_encoding(words: dict[str, int], texts: list[str], size: int) -> None:
    bpe = reference.train(words, vocab_size=size, alphabet="abc")

    assert "".join(bpe.decode(bpe.encode(texts))) == "".join(texts)


@given(corpus=st.lists(st.binary(max_size=6), max_size=8), text=st.binary(max_size=40))
def test_any_bytes_survive(corpus: list[bytes], text: bytes) -> None:
    bpe = reference.train(corpus, vocab_size=270, alphabet=reference.BYTES)

    assert b"".join(bpe.decode(bpe.encode([text]))) == text


@given(words=few_words, text=st.text("abcd", max_size=30), size=st.integers(0, 20))
def test_encoding_equals_the_stock_model(words: dict[str, int], text: str, size: int) -> None:
    bpe = reference.train(words, vocab_size=size)
    stock = tokenizers.models.BPE({token: id for id, token in enumerate(bpe.vocab)}, bpe.merges)

    assert bpe.encode([text]) == [token.id for token in stock.tokenize(text)]


@given(data=st.data(), text=st.text("ab", max_size=20))
def test_encoding_equals_the_stock_model_on_any_order_of_merges(data: st.DataObject, text: str) -> None:
    bpe = reference.train(["ababab", "aabb", "bba", "abba"], vocab_size=12)
    merges = data.draw(st.permutations(bpe.merges))
    stock = tokenizers.models.BPE({token: id for id, token in enumerate(bpe.vocab)}, merges)

    assert reference.Bpe(bpe.vocab, merges).encode([text]) == [token.id for token in stock.tokenize(text)]


@given(
    words=st.dictionaries(st.text("abc d", max_size=9), st.integers(1, 3), max_size=8),
    size=st.integers(0, 30),
    min_frequency=st.integers(0, 4),
    limit=st.none() | st.integers(1, 6),
    special_tokens=st.lists(st.sampled_from(["b", "ab", "<s>", "ca"]), max_size=3),
)
def test_training_equals_the_stock_trainer(
    words: dict[str, int], size: int, min_frequency: int, limit: int | None, special_tokens: list[str]
) -> None:
    stock = tokenizers.Tokenizer(tokenizers.models.BPE())
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=size,
        min_frequency=min_frequency,
        max_token_length=limit,
        special_tokens=special_tokens,
        show_progress=False,
    )
    stock.train_from_iterator([word for word, count in words.items() for _ in range(count)], trainer)
    trained = json.loads(stock.to_str())["model"]

    bpe = reference.train(
        words, vocab_size=size, min_frequency=min_frequency, max_token_length=limit, special_tokens=special_tokens
    )

    assert {token: id for id, token in enumerate(bpe.vocab)} == trained["vocab"]
    assert [list(pair) for pair in bpe.merges] == trained["merges"]


def test_bytes_are_numbered_as_byte_level_vocabularies_number_them() -> None:
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())

    assert [bytes_to_token(byte) for byte in reference.BYTES] == alphabet
