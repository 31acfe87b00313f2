"""Mistakes that tokenizers of this field have made in public, each with the right value.

Each test is named for the behaviour; the thread where the mistake was reported stands with it. Where the right value
is that of the stock library, the test compares with it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from byte_level_json import BYTES, tokenizer_json
from parity import Pair

import hf_bpe
from hf_bpe import HfBpeTokenizer
from hf_bpe._native import Tokenizer
from hf_bpe.split_patterns import SPLIT_PATTERNS

# --- merging


def test_the_lowest_rank_that_is_there_now_is_merged_first() -> None:
    # https://github.com/osaurus-ai/vmlx-swift/pull/73: GPT-2's loop merges both `a b`, and gives `ab ab`.
    pair = Pair(tokenizer_json([["ab", "a"], ["a", "b"]], vocab=[*BYTES, "ab", "aba"]))

    assert pair.ours.encode("abab").tokens == ["aba", "b"]
    pair.assert_equal(["abab", "ababab", "abaab" * 9])


def test_only_listed_pairs_are_merged() -> None:
    # https://github.com/openai/tiktoken/issues/60: a rank file would merge any two neighbours that make a token.
    tokenizer = Tokenizer.from_json(tokenizer_json(["b c", "a b", "ab c"]))

    assert tokenizer.encode("abc").tokens == ["a", "bc"]


def test_with_ignore_merges_a_whole_pretoken_is_taken_before_any_merge(tmp_path: Path) -> None:
    # https://github.com/ggml-org/llama.cpp/pull/7193
    vocab = [*BYTES, "ab", "bc", "abc"]
    without, flagged = (
        tokenizer_json([["b", "c"], ["a", "b"]], vocab=vocab, ignore_merges=flag) for flag in (False, True)
    )

    assert Tokenizer.from_json(without).encode("abc").tokens == ["a", "bc"]
    assert Tokenizer.from_json(flagged).encode("abc").tokens == ["abc"]
    Pair(flagged).assert_equal(["abc", "abcabc", "ab", "bc"])
    (tmp_path / "tokenizer.json").write_text(flagged, encoding="utf-8")
    HfBpeTokenizer.from_pretrained(tmp_path).save_pretrained(tmp_path / "again")
    assert HfBpeTokenizer.from_pretrained(tmp_path / "again").tokenize("abc") == ["abc"]


@pytest.mark.parametrize("real_vocabulary", ["llama3"], indirect=True)
def test_a_vietnamese_word_of_llama_3_is_one_token(real_vocabulary: Path) -> None:
    # https://github.com/ggml-org/llama.cpp/pull/7193
    ids = Pair.of_file(real_vocabulary).ours.encode_ids(" Việt", add_special_tokens=False)

    assert ids == [101798]


# --- the file


def test_merges_are_read_as_strings_and_as_pairs() -> None:
    # https://github.com/huggingface/tokenizers/pull/909
    strings = Tokenizer.from_json(tokenizer_json(["t h", "th e"]))
    pairs = Tokenizer.from_json(tokenizer_json([["t", "h"], ["th", "e"]]))

    assert strings.encode("the").tokens == pairs.encode("the").tokens == ["the"]
    assert strings.merges() == pairs.merges() == [("t", "h"), ("th", "e")]


def test_a_piece_with_a_space_survives_in_pairs() -> None:
    # https://github.com/huggingface/tokenizers/pull/909: joined to one string, `a ` and `b` can't be told apart.
    vocab = ["a", " ", "b", "a ", "a b"]
    data = tokenizer_json([["a", " "], ["a ", "b"]], vocab=vocab, pre_tokenizer=None)
    once = Tokenizer.from_json(data)
    again = Tokenizer.from_json(once.to_json())

    assert again.merges() == [("a", " "), ("a ", "b")]


# --- memory and time


_MANY_LONG_TEXTS = """
import resource, sys
from hf_bpe._native import Tokenizer
tokenizer = Tokenizer.from_json(sys.stdin.read())
def megabytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6
def texts(start):
    for number in range(start, start + 400):
        tokenizer.encode_ids(f"x{number}y" * 15_000)
    for number in range(start * 500, start * 500 + 200_000, 2_000):
        tokenizer.encode_ids(" ".join(f"q{index}z" for index in range(number, number + 2_000)))
texts(0)
before = megabytes()
texts(1_000), texts(2_000)
print(megabytes() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads the memory of a process from /proc")
def test_the_cache_does_not_grow_with_the_number_and_length_of_words(small_tokenizer_json: Path) -> None:
    # https://github.com/huggingface/tokenizers/issues/1539
    result = subprocess.run(
        [sys.executable, "-c", _MANY_LONG_TEXTS],
        input=small_tokenizer_json.read_text(encoding="utf-8"),
        capture_output=True,
        text=True,
        check=True,
    )

    assert float(result.stdout) < 50, "800 new texts of 100 kB and 400,000 new words stayed in memory"


def seconds(call: Callable[[], object]) -> float:
    """Return the processor time of a call, the least of three."""
    times = []
    for _ in range(3):
        started = time.process_time()
        call()
        times.append(time.process_time() - started)
    return min(times)


@pytest.mark.parametrize(
    "unit", ["a", "_", " ", "\n", "\r\n", "^", "1", "語", "ab", "\u0301", "🙂", "'s", "A", "a\u0301", "\x00"]
)
@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", "llama3", "qwen2", "o200k"])
def test_a_long_run_takes_time_in_proportion(small_tokenizer_json: Path, pattern: str, unit: str) -> None:
    # https://github.com/openai/tiktoken/issues/195
    data = json.loads(small_tokenizer_json.read_text(encoding="utf-8"))
    data["pre_tokenizer"]["pretokenizers"][0]["pattern"] = {"Regex": SPLIT_PATTERNS[pattern]}
    tokenizer = Tokenizer.from_json(json.dumps(data))
    short, long = (unit * (size // len(unit.encode())) for size in (50_000, 800_000))

    assert seconds(lambda: tokenizer.encode_ids(long)) < 64 * seconds(lambda: tokenizer.encode_ids(short)) + 0.05


_ENTRY_POINTS: dict[str, Callable[[Tokenizer, str], object]] = {
    "encode": lambda tokenizer, text: tokenizer.encode(text),
    "encode_ids": lambda tokenizer, text: tokenizer.encode_ids(text),
    "encode_batch": lambda tokenizer, text: tokenizer.encode_batch([text, text]),
    "encode_ids_batch": lambda tokenizer, text: tokenizer.encode_ids_batch([text, text]),
    "encode_to_numpy": lambda tokenizer, text: tokenizer.encode_to_numpy([text, text]),
    "encode_ordinary": lambda tokenizer, text: tokenizer.encode_ordinary(text),
    "encode_ordinary_batch": lambda tokenizer, text: tokenizer.encode_ordinary_batch([text, text]),
    "encode_with_special_tokens": lambda tokenizer, text: tokenizer.encode_with_special_tokens(text, []),
    "encode_bytes": lambda tokenizer, text: tokenizer.encode_bytes(text.encode()),
    "tokenize": lambda tokenizer, text: tokenizer.tokenize(text),
}


@pytest.mark.parametrize("entry_point", sorted(_ENTRY_POINTS))
def test_a_million_carets_pass_every_entry_point(small_tokenizer_json: Path, entry_point: str) -> None:
    # https://github.com/openai/tiktoken/issues/15
    tokenizer = Tokenizer.from_json(small_tokenizer_json.read_text(encoding="utf-8"))

    _ENTRY_POINTS[entry_point](tokenizer, "^" * 1_000_000)


@pytest.mark.parametrize("entry_point", sorted(_ENTRY_POINTS))
def test_a_pattern_that_backtracks_without_end_is_a_normal_error(entry_point: str) -> None:
    # https://github.com/openai/tiktoken/issues/245
    tokenizer = Tokenizer.from_json(tokenizer_json(split={"Regex": r"(x+x+)+y"}))

    started = time.monotonic()
    with pytest.raises(hf_bpe.SplitPatternError, match=r"\(x\+x\+\)\+y"):
        _ENTRY_POINTS[entry_point](tokenizer, "x" * 5_000)
    assert time.monotonic() - started < 10
