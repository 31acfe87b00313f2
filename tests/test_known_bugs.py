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
from typing import Any

import pytest
from parity import Pair

import hf_bpe
from hf_bpe import HfBpeTokenizer
from hf_bpe._native import DecodeStream, Tokenizer
from hf_bpe.byte_alphabet import BYTE_TO_CHAR
from hf_bpe.split_patterns import SPLIT_PATTERNS

BYTES = sorted(BYTE_TO_CHAR.values())
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}


def tokenizer_json(
    merges: list[Any] | None = None,
    *,
    vocab: list[str] | None = None,
    split: Any = None,
    added: list[dict[str, Any]] | None = None,
    normalizer: dict[str, Any] | None = None,
    pre_tokenizer: dict[str, Any] | None = None,
    ignore_merges: bool = False,
) -> str:
    """Return a byte-level tokenizer.json: 256 bytes, then what `merges` make (or `vocab` as it is)."""
    pairs = [merge.split(" ") if isinstance(merge, str) else merge for merge in merges or []]
    tokens = vocab or [*BYTES, *dict.fromkeys(left + right for left, right in pairs)]
    steps = [{"type": "Split", "pattern": split, "behavior": "Isolated", "invert": False}] if split else []
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": False}
    numbered = [{"id": len(tokens) + index, **flags, **token} for index, token in enumerate(added or [])]
    return json.dumps(
        {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": numbered,
            "normalizer": normalizer,
            "pre_tokenizer": pre_tokenizer or {"type": "Sequence", "pretokenizers": [*steps, BYTE_LEVEL]},
            "post_processor": None,
            "decoder": BYTE_LEVEL,
            "model": {
                "type": "BPE",
                "dropout": None,
                "unk_token": None,
                "continuing_subword_prefix": None,
                "end_of_word_suffix": None,
                "fuse_unk": False,
                "byte_fallback": False,
                "ignore_merges": ignore_merges,
                "vocab": {token: id for id, token in enumerate(tokens)},
                "merges": merges or [],
            },
        }
    )


def pretokens(tokenizer: Tokenizer, text: str) -> list[str]:
    """Return the pretokens of `text`, seen through the word ids of its tokens."""
    encoding = tokenizer.encode(text, add_special_tokens=False)
    spans: dict[int, list[tuple[int, int]]] = {}
    for word, span in zip(encoding.word_ids, encoding.offsets, strict=True):
        assert word is not None
        spans.setdefault(word, []).append(span)
    return [text[parts[0][0] : parts[-1][1]] for parts in spans.values()]


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


# --- split patterns


def test_digits_are_grouped_as_the_pattern_of_the_file_says(tmp_path: Path) -> None:
    # https://github.com/ggml-org/llama.cpp/pull/6920
    groups = {
        "llama3": ["501", " ", "333", "333", "3", " ", "123", "456", "78"],
        "qwen2": [*"501", " ", *"3333333", " ", *"12345678"],
        "gpt2": ["501", " 3333333", " 12345678"],
    }
    for pattern, expected in groups.items():
        trained = hf_bpe.train(["1 2"], vocab_size=256, split_pattern=pattern, progress=False)
        trained.save_pretrained(tmp_path / pattern)
        core = Tokenizer.from_json((tmp_path / pattern / "tokenizer.json").read_text(encoding="utf-8"))
        assert pretokens(core, "501 3333333 12345678") == expected


def test_a_bare_byte_level_splits_by_the_pattern_of_gpt2() -> None:
    # https://github.com/JustVugg/colibri/pull/1656
    pair = Pair(tokenizer_json(pre_tokenizer=BYTE_LEVEL | {"use_regex": True}))

    assert pretokens(pair.ours, "x 4 (abc") == ["x", " 4", " (", "abc"]
    pair.assert_equal([" 4", "(abc", "x 4 (abc", "don't"])


def test_after_byte_level_a_space_is_a_letter_as_in_stock() -> None:
    # https://github.com/PythonNut/superbpe/issues/1
    split = {"type": "Split", "pattern": {"Regex": r"\s+"}, "behavior": "Isolated", "invert": False}
    steps = {"type": "Sequence", "pretokenizers": [BYTE_LEVEL, split]}
    pair = Pair(tokenizer_json(["Ġ a", "t Ġa"], pre_tokenizer=steps))

    assert pair.ours.encode("t a").tokens == ["tĠa"]
    pair.assert_equal(["at all", "t a", " t  a "])


@pytest.mark.parametrize("pattern", ["llama3", "o200k"])
def test_every_code_point_has_the_classes_that_stock_gives_it(pattern: str) -> None:
    # https://github.com/marcelroed/gigatoken/issues/35: Python's own `regex` has another version of Unicode.
    pair = Pair(tokenizer_json(split={"Regex": SPLIT_PATTERNS[pattern]}))
    planes = [range(0xD800), range(0xE000, 0x32000), range(0xE0000, 0xE0200), range(0x10FFF0, 0x110000)]

    for plane in planes:
        for start in range(plane.start, plane.stop, 4096):
            codes = range(start, min(start + 4096, plane.stop))
            text = "".join(f"a{chr(code)}B1{chr(code)} {chr(code)}." for code in codes)
            got, expected = pair.ours.encode(text).word_ids, pair.stock.encode(text).word_ids
            assert got == expected, f"between U+{codes.start:04X} and U+{codes.stop:04X}"


def test_posix_classes_hold_what_they_hold_in_stock() -> None:
    # https://github.com/huggingface/tokenizers.js/pull/35
    pair = Pair(tokenizer_json(split={"Regex": "[[:punct:]]"}))

    pair.assert_equal(["!+$|§©™😀", "a!b+c$d|e§f©g™h😀i-j_k«l»"])


# --- added tokens


def test_spaces_around_stripping_tokens_are_taken_as_stock_takes_them() -> None:
    # https://github.com/huggingface/transformers/issues/33371
    both = {"lstrip": True, "rstrip": True}
    left, right = {"content": "<|l|>", "lstrip": True}, {"content": "<|r|>", "rstrip": True}
    pair = Pair(tokenizer_json(added=[{"content": "<|a|>", **both}, {"content": "<|b|>", **both}, left, right]))

    encoding = pair.ours.encode("   <|a|> <|b|>   ")
    assert encoding.ids == [256, 257]
    pair.assert_equal(["   <|a|> <|b|>   ", "x <|l|> y <|r|> z", " <|r|> <|l|> <|a|>\n\t<|a|>", "<|r|>\u3000<|l|>"])


def test_no_space_is_put_around_a_special_token() -> None:
    # https://github.com/huggingface/transformers/issues/25814
    pair = Pair(tokenizer_json(added=[{"content": "<s>", "special": True}]))

    encoding = pair.ours.encode("a:<s>->")
    assert encoding.tokens == ["a", ":", "<s>", "-", ">"]
    assert pair.ours.decode(encoding.ids) == "a:<s>->"


def test_normalized_decides_in_which_text_a_token_is_found() -> None:
    # https://github.com/huggingface/tokenizers/issues/1027
    added = [{"content": "ﬁ", "normalized": True}, {"content": "Ⅷ", "normalized": False}]
    pair = Pair(tokenizer_json(added=added, normalizer={"type": "NFKC"}))

    assert [id for id in pair.ours.encode_ids("fi ﬁ Ⅷ VIII") if id > 255] == [256, 256, 257]
    pair.assert_equal(["fi ﬁ Ⅷ VIII", "eﬁn", "ⅧⅧ"])


def test_of_two_tokens_with_one_normal_form_the_lower_id_wins_always() -> None:
    # Stock chooses by the order of a hash map, another one each time that it loads.
    data = tokenizer_json(
        added=[{"content": "\u2126", "normalized": True}, {"content": "\u03a9", "normalized": True}],
        normalizer={"type": "NFC"},
    )

    for _ in range(20):
        assert Tokenizer.from_json(data).encode_ids("\u2126\u03a9") == [256, 256]


def test_ids_stay_unique_when_tokens_were_added_before_training(small_tokenizer_json: Path, tmp_path: Path) -> None:
    # https://github.com/huggingface/tokenizers/issues/1169
    (tmp_path / "tokenizer.json").write_bytes(small_tokenizer_json.read_bytes())
    tokenizer = HfBpeTokenizer.from_pretrained(tmp_path)
    tokenizer.add_tokens(["~ing"])

    trained = tokenizer.train_new_from_iterator(["singing ~ing"] * 9, 262, new_special_tokens=["<new>"])

    ids = list(trained.get_vocab().values())
    assert sorted(ids) == list(range(len(trained)))


# --- offsets and decoding


@pytest.mark.parametrize("real_vocabulary", ["gpt2"], indirect=True)
def test_each_part_of_a_split_character_carries_its_whole_span(real_vocabulary: Path) -> None:
    # https://github.com/huggingface/tokenizers/issues/156
    tokenizer = Pair.of_file(real_vocabulary).ours
    untrimmed = tokenizer.with_component("post_processor", None)

    assert untrimmed.encode("i ⭢ j").offsets == [(0, 1), (1, 3), (2, 3), (2, 3), (3, 5)]
    assert tokenizer.encode("i ⭢ j").offsets == [(0, 1), (2, 3), (2, 3), (2, 3), (4, 5)]


def test_a_stream_holds_half_a_character_and_replaces_only_what_cannot_become_one() -> None:
    # https://github.com/Blaizzy/mlx-vlm/issues/1665
    tokenizer = Tokenizer.from_json(tokenizer_json())
    ids = tokenizer.encode_bytes("🙂".encode() + b"\xff" + b" a" + b"\xe6\xbc")
    stream = DecodeStream(tokenizer)

    parts = [stream.step(id) for id in ids]

    assert parts[:4] == ["", "", "", "🙂"]
    assert "".join(parts) == "🙂\ufffd a"
    assert "".join([*parts, stream.flush()]) == tokenizer.decode(ids) == "🙂\ufffd a\ufffd"
