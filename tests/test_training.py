"""Merges against the stock trainer and the reference, on any corpus, threads and batches."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trainings import counter, learn_words, ours, stdlib_sources, stock_training

from hf_bpe import reference
from hf_bpe.byte_alphabet import bytes_to_token
from hf_bpe.split_patterns import SPLIT_PATTERNS

small_words = st.dictionaries(st.text("ab c", min_size=1, max_size=9), st.integers(1, 4), max_size=9)
colliding_specials = st.lists(st.sampled_from(["a", "b", "ab", "aa", "Ġ", "Ġa", "<s>", "abc", "é"]), max_size=4)
stock_settings = st.fixed_dictionaries(
    {
        "vocab_size": st.integers(0, 40),
        "min_frequency": st.integers(0, 5),
        "max_token_length": st.none() | st.integers(0, 7),
        "special_tokens": colliding_specials,
        "initial_alphabet": st.sampled_from([[], ["c"], ["z", "a"], ["ab", "é"]]),
    }
)


@given(words=small_words, options=stock_settings)
@settings(max_examples=300, deadline=None)
def test_merges_equal_the_stock_trainer(words: dict[str, int], options: dict[str, Any]) -> None:
    texts = [word for word, count in words.items() for _ in range(count)]

    assert ours(texts, **options) == stock_training(texts, **options)


def test_merges_equal_the_stock_trainer_on_a_thousand_tie_ridden_corpora() -> None:
    chance = random.Random(7)
    for _ in range(1000):
        letters = "abcdefgh"[: chance.randint(1, 8)]
        texts = ["".join(chance.choices(letters, k=chance.randint(1, 14))) for _ in range(chance.randint(1, 12))]
        options: dict[str, Any] = {
            "vocab_size": chance.randint(1, 60),
            "min_frequency": chance.choice([0, 1, 2, 3]),
            "max_token_length": chance.choice([None, None, 2, 3, 4, 5, 8]),
            "special_tokens": chance.sample(["a", "b", "ab", "ba", "aab", "<s>"], chance.randint(0, 3)),
            "initial_alphabet": [],
        }

        assert ours(texts, **options) == stock_training(texts, **options), (texts, options)


@given(words=st.dictionaries(st.binary(max_size=7), st.integers(1, 5), max_size=8), options=stock_settings)
@settings(deadline=None)
def test_merges_equal_the_reference_on_any_bytes(words: dict[bytes, int], options: dict[str, Any]) -> None:
    del options["initial_alphabet"], options["special_tokens"]
    options["vocab_size"] += 256

    expected = reference.train(words, alphabet=reference.BYTES, **options)
    vocab, merges = learn_words(words, **options)

    assert vocab == [bytes_to_token(token) for token in expected.vocab]
    assert merges == [(bytes_to_token(left), bytes_to_token(right)) for left, right in expected.merges]


@pytest.mark.parametrize("split_pattern", sorted(SPLIT_PATTERNS))
def test_merges_equal_stock_on_real_text_with_each_pattern(split_pattern: str) -> None:
    texts = stdlib_sources(300_000) + ["Größe naïve 你好世界，你好 🙂👩‍👩‍👧 مرحبا \u0085\u2028\ufeff\x00 1234567"] * 20
    options = {"vocab_size": 3000, "min_frequency": 2}

    assert ours(texts, split_pattern, **options) == stock_training(texts, split_pattern, **options)


@pytest.mark.parametrize(
    "split_pattern",
    [
        r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        r"[\p{L}&&[^\p{Han}]]+|\p{N}{2}",
        r"\b\p{L}+|\P{L}",
    ],
    ids=["gpt2-single-numbers", "cl100k-without-contractions", "with-gaps", "by-the-regex-engine"],
)
def test_merges_equal_stock_on_real_text_with_a_pattern_of_ones_own(split_pattern: str) -> None:
    texts = stdlib_sources(300_000) + ["Größe naïve 你好世界，你好 🙂👩‍👩‍👧 مرحبا \u0085\u2028\ufeff\x00 1234567"] * 20
    options = {"vocab_size": 2000, "min_frequency": 2}

    assert ours(texts, split_pattern, **options) == stock_training(texts, split_pattern, **options)


@pytest.mark.parametrize("limit", [2, 5, 16])
def test_merges_equal_stock_on_real_text_with_short_tokens(limit: int) -> None:
    texts = stdlib_sources(200_000)
    options: dict[str, Any] = {"vocab_size": 2000, "max_token_length": limit, "special_tokens": ["import", "e", "Ġ"]}

    assert ours(texts, **options) == stock_training(texts, **options)


def test_any_thread_count_order_and_batching_gives_the_same_merges() -> None:
    texts = stdlib_sources(400_000)
    expected = ours(texts, vocab_size=2000)

    for threads in (1, 2, 3, 8):
        shuffled = random.Random(threads).sample(texts, len(texts))
        counts = counter(num_threads=threads)
        for start in range(0, len(shuffled), threads):
            counts.count(shuffled[start : start + threads])

        assert counts.learn(vocab_size=2000) == expected


def test_learning_twice_from_the_same_counts_is_possible() -> None:
    counts = counter()
    counts.count(["abab abab"])

    assert counts.learn(vocab_size=257)[1] == [("a", "b")]
    assert counts.learn(vocab_size=258)[1] == [("a", "b"), ("ab", "ab")]


def test_counts_beyond_32_bits_are_right_where_those_of_stock_wrap() -> None:
    words = {b"the": 3_000_000_000, b"of": 2**31, b"at": 5}

    _, merges = learn_words(words, vocab_size=300)

    assert merges == [("h", "e"), ("t", "he"), ("o", "f"), ("a", "t")]


def test_counts_beyond_64_bits_are_refused() -> None:
    with pytest.raises(ValueError, match="add up to"):
        learn_words({b"ab": 2**63, b"cd": 2**63}, vocab_size=300)
