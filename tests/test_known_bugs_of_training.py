"""Bugs that trainers have had, and this one doesn't: each test names where it was reported."""

from __future__ import annotations

import json
import random
import warnings
from typing import Any

import pytest
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

import hf_bpe
from hf_bpe import PretokenCounts, TrainingError
from hf_bpe.split_patterns import SPLIT_PATTERNS


def merges_of(source: object, vocab_size: int, **options: Any) -> list[list[str]]:
    given: dict[str, Any] = {"split_pattern": "gpt2", "progress": False} | options
    tokenizer = hf_bpe.train(source, vocab_size=vocab_size, **given)
    return [list(pair) for pair in tokenizer._core.merges()]


def stock_merges(texts: list[str], vocab_size: int) -> list[list[str]]:
    tokenizer = Tokenizer(models.BPE())
    pattern = pre_tokenizers.Split(Regex(SPLIT_PATTERNS["gpt2"]), "isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pattern, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        min_frequency=2,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return [list(pair) for pair in json.loads(tokenizer.to_str())["model"]["merges"]]


def test_a_pair_seen_three_billion_times_is_merged_first() -> None:
    # https://github.com/huggingface/tokenizers/issues/2058: 32-bit counts wrap, and the pair vanishes
    counts = PretokenCounts.count(["the", "xy" * 2], split_pattern="gpt2", progress=False).weighted(3_000_000_000)

    assert counts.total == 6_000_000_000
    assert merges_of(counts, 260, split_pattern=None) == [["x", "y"], ["h", "e"], ["t", "he"], ["xy", "xy"]]


@pytest.mark.parametrize("num_threads", [1, 2, 8])
def test_order_threads_and_memory_make_no_difference(num_threads: int) -> None:
    # https://github.com/huggingface/tokenizers/issues/903, https://github.com/huggingface/tokenizers/pull/2066
    draw = random.Random(5)
    texts = [" ".join(draw.choices(["ab", "ba", "abc", "cab", "äb", "語語"], k=20)) for _ in range(2000)]
    expected = stock_merges(texts, 270)

    draw.shuffle(texts)
    for max_memory in (None, 0):
        assert merges_of(texts, 270, num_threads=num_threads, max_memory=max_memory) == expected


def test_a_vocabulary_too_small_for_its_alphabet_is_an_error() -> None:
    # https://github.com/huggingface/tokenizers/issues/670, 886 and 1514: 256 tokens where 5 were asked for
    with pytest.raises(TrainingError, match="vocab_size=5 is too small: the 256 bytes and 0 special tokens take 256"):
        hf_bpe.train(["a"], vocab_size=5, progress=False)
    counts = PretokenCounts.count(["a b c d"], alphabet="characters", progress=False)
    with pytest.raises(TrainingError, match="vocab_size=3 is too small"):
        hf_bpe.train(counts, alphabet="characters", vocab_size=3, progress=False)


@pytest.mark.parametrize("text", ["a" * 2_000_000, "語" * 400_000 + "界" * 300_000], ids=["a", "chinese"])
def test_a_line_without_spaces_is_counted_in_parts(text: str) -> None:
    # https://github.com/huggingface/tokenizers/issues/422, 994 and 1395: out of memory on long lines
    with pytest.warns(UserWarning, match="1 pretokens were longer than 4,096 bytes"):
        counts = PretokenCounts.count([text], split_pattern="gpt2", progress=False)

    assert counts.text_bytes < 20_000
    assert sum(len(pretoken) * count for pretoken, count in counts) == len(text.encode())


def test_what_was_not_cut_is_as_stock_has_it() -> None:
    # the bound on long pretokens changes nothing below it
    texts = ["ab" * 2048, "low lower lowest " * 50, "語" * 1365]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert merges_of(texts, 284) == stock_merges(texts, 284)
