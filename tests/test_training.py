"""Training against the stock trainer and the reference; sources, settings, reports, interruption."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import sysconfig
import textwrap
import time
import warnings
from collections import Counter as Tally
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, pre_tokenizers, trainers

from hf_bpe import HfBpeTokenizer, reference
from hf_bpe._native import Counter, Tokenizer
from hf_bpe.byte_alphabet import bytes_to_token
from hf_bpe.errors import SplitPatternError, TrainingError, UnsupportedComponentError
from hf_bpe.pipeline_json import byte_level_pipeline, counting_pipeline
from hf_bpe.split_patterns import SPLIT_PATTERNS
from hf_bpe.training import retrain, train

Merges = list[tuple[str, str]]


def counter(split_pattern: str = "gpt2", **options: Any) -> Counter:
    pipeline = counting_pipeline(byte_level_pipeline(split_pattern))
    return Counter(Tokenizer.from_json(json.dumps(pipeline)), **options)


def learn_words(words: dict[bytes, int], **options: Any) -> tuple[list[str], Merges]:
    counts = counter()
    counts.count_weighted(list(words.items()))
    return counts.learn(**options)


def stock_pipeline(split_pattern: str = "gpt2") -> tokenizers.Tokenizer:
    return tokenizers.Tokenizer.from_str(json.dumps(byte_level_pipeline(split_pattern)))


def stock_training(texts: list[str], split_pattern: str = "gpt2", **options: Any) -> tuple[list[str], Merges]:
    """Train the stock trainer; return what `learn` returns."""
    stock = stock_pipeline(split_pattern)
    options.setdefault("initial_alphabet", pre_tokenizers.ByteLevel.alphabet())
    stock.train_from_iterator(iter(texts), trainers.BpeTrainer(show_progress=False, **options))
    model = json.loads(stock.to_str())["model"]
    return sorted(model["vocab"], key=model["vocab"].__getitem__), [tuple(pair) for pair in model["merges"]]


def ours(texts: list[str], split_pattern: str = "gpt2", **options: Any) -> tuple[list[str], Merges]:
    counts = counter(split_pattern)
    counts.count(texts)
    return counts.learn(**options)


def stdlib_sources(total_bytes: int) -> list[str]:
    """Return real text that every machine has, a file a text."""
    texts: list[str] = []
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py")):
        texts.append(path.read_bytes().decode("utf-8"))
        total_bytes -= len(texts[-1])
        if total_bytes <= 0:
            break
    return texts


def quietly(*arguments: Any, **options: Any) -> HfBpeTokenizer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return train(*arguments, progress=False, **options)


# The same merges as stock

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


# Counts and ids


def test_counts_beyond_32_bits_are_right_where_those_of_stock_wrap() -> None:
    words = {b"the": 3_000_000_000, b"of": 2**31, b"at": 5}

    _, merges = learn_words(words, vocab_size=300)

    assert merges == [("h", "e"), ("t", "he"), ("o", "f"), ("a", "t")]


def test_counts_beyond_64_bits_are_refused() -> None:
    with pytest.raises(ValueError, match="add up to"):
        learn_words({b"ab": 2**63, b"cd": 2**63}, vocab_size=300)


def test_a_merge_that_makes_a_special_token_reuses_its_id() -> None:
    tokenizer = quietly(["aaaa aaaa"], vocab_size=260, special_tokens=["aa", "<s>"], split_pattern="gpt2")

    ids = tokenizer.get_vocab()
    assert ids["aa"] == 0
    assert sorted(ids.values()) == list(range(len(ids)))
    assert ids["aaaa"] > 256


def test_special_tokens_come_first_and_in_the_given_order() -> None:
    tokenizer = quietly(["some text"], vocab_size=262, special_tokens=["<b>", "<a>", "<b>"], pad_token="<p>")

    assert tokenizer.convert_tokens_to_ids(["<b>", "<a>", "<p>", "!"]) == [0, 1, 2, 3]
    assert tokenizer.pad_token_id == 2


def test_special_tokens_keep_the_flags_that_stock_gives_them() -> None:
    def tokens() -> list[str | AddedToken]:
        return ["<a>", AddedToken("<b>", rstrip=True), AddedToken("<c>", normalized=True, single_word=True)]

    stock = stock_pipeline()
    stock.train_from_iterator(
        ["text"], trainers.BpeTrainer(vocab_size=300, special_tokens=tokens(), show_progress=False)
    )

    tokenizer = quietly(["text"], vocab_size=300, special_tokens=tokens())

    assert repr(tokenizer.added_tokens_decoder) == repr(stock.get_added_tokens_decoder())


def test_special_tokens_come_last_when_asked() -> None:
    tokenizer = quietly(
        stdlib_sources(50_000), vocab_size=400, special_tokens=["<b>", "<a>"], special_tokens_last=True, eos_token="<a>"
    )

    assert tokenizer.convert_tokens_to_ids(["!", "<b>", "<a>"]) == [0, 398, 399]
    assert (len(tokenizer), tokenizer.vocab_size) == (400, 400)


def test_a_last_special_token_that_training_makes_keeps_that_id() -> None:
    tokenizer = quietly(["abcd abcd"] * 3, vocab_size=260, special_tokens=["ab", "<s>"], special_tokens_last=True)

    assert tokenizer.convert_tokens_to_ids("<s>") == 259
    assert sorted(tokenizer.get_vocab().values()) == list(range(260))


def test_special_tokens_in_the_text_do_not_split_it() -> None:
    texts = ["<s>ab<s>ab", "x<s>"] * 3

    expected = stock_training(texts, vocab_size=270, special_tokens=["<s>"])
    tokenizer = quietly(texts, vocab_size=270, min_frequency=0, split_pattern="gpt2", special_tokens=["<s>"])

    assert tokenizer._core.merges() == expected[1]


# The size asked for


def test_a_full_vocabulary_has_the_size_asked_for() -> None:
    tokenizer = train(stdlib_sources(100_000), vocab_size=1000, special_tokens=["<s>"], progress=False)

    assert len(tokenizer) == tokenizer.vocab_size == 1000
    assert tokenizer.training_report.shortfall is None
    assert tokenizer.training_report.merges == 1000 - 257


def test_an_alphabet_larger_than_the_size_is_an_error_before_the_corpus_is_read() -> None:
    def unread() -> Iterator[str]:
        raise AssertionError("the corpus was read")
        yield ""

    with pytest.raises(TrainingError, match=r"vocab_size=256 is too small: .* take 257"):
        train(unread(), vocab_size=256, special_tokens=["<s>"], progress=False)


@pytest.mark.parametrize("tokens", [["é"], ["Ġ", "Ġthe"], ["a", "<s>"], ["\u0100", "~", "ł"]])
@pytest.mark.parametrize("last", [False, True])
def test_a_special_token_that_is_a_byte_takes_no_room(tokens: list[str], last: bool) -> None:
    room = 256 + sum(len(token) > 1 for token in tokens)

    tokenizer = train("the the", vocab_size=room, special_tokens=tokens, special_tokens_last=last, progress=False)

    assert len(tokenizer) == room
    assert tokenizer.all_special_tokens == [] or set(tokens) <= set(tokenizer.get_vocab())


@pytest.mark.parametrize(
    "settings_",
    [
        {"extra_special_tokens": ["<x>"]},
        {"extra_special_tokens": {"image_token": "<x>"}},
        {"additional_special_tokens": ["<x>"]},
        {"image_token": "<x>"},
        {"image_token": AddedToken("<x>", lstrip=True)},
        {"model_specific_special_tokens": {"image_token": "<x>"}},
        {"eos_token": "<x>", "pad_token": "<x>"},
    ],
)
@pytest.mark.parametrize("last", [False, True])
def test_special_tokens_named_in_any_way_are_trained_in(settings_: dict[str, Any], last: bool) -> None:
    tokenizer = train("the the cat", vocab_size=259, special_tokens_last=last, progress=False, **settings_)

    assert len(tokenizer) == 259
    assert tokenizer.vocab_size == 259
    assert tokenizer.convert_tokens_to_ids("<x>") == (258 if last else 0)
    assert "<x>" in tokenizer.all_special_tokens


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"vocab_size": 2**64}, ValueError, "vocab_size=18446744073709551616 is out of range"),
        ({"vocab_size": 300.0}, TypeError, "vocab_size is a whole number, got 300.0"),
        ({"vocab_size": "300"}, TypeError, "vocab_size is a whole number, got '300'"),
        ({"vocab_size": None}, TypeError, "vocab_size is a whole number, got None"),
        ({"min_frequency": -1}, ValueError, "min_frequency=-1 is out of range; give at least 0"),
        ({"max_token_length": -1}, ValueError, "max_token_length=-1 is out of range; give at least 0"),
        ({"num_threads": 0}, ValueError, "num_threads=0 is out of range; give at least 1"),
        ({"num_threads": -1}, ValueError, "num_threads=-1 is out of range; give at least 1"),
        ({"split_pattern": None}, TypeError, "split_pattern is a name or a regex, got NoneType"),
        ({"split_pattern": "\ud800"}, ValueError, "lone surrogate"),
        ({"special_tokens": ["\ud800"]}, ValueError, "lone surrogate"),
        ({"eos_token": 5}, TypeError, "eos_token"),
        ({"padding_side": "middle"}, ValueError, "middle"),
    ],
)
def test_wrong_settings_are_errors_before_the_corpus_is_read(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    def corpus() -> Iterator[str]:
        pytest.fail("the corpus was read")
        yield ""

    with pytest.raises(error, match=re.escape(message)):
        train(corpus(), **({"vocab_size": 300, "progress": False} | options))


def test_a_corpus_too_small_says_why_the_vocabulary_is() -> None:
    with pytest.warns(
        UserWarning, match="has 258 tokens, not the 500 asked for: no pair is left that occurs at least 2"
    ):
        tokenizer = train(["abc", "abc"], vocab_size=500, progress=False)

    assert len(tokenizer) == 258
    assert tokenizer.training_report.shortfall is not None


def test_retraining_warns_of_a_vocabulary_larger_than_asked() -> None:
    with pytest.warns(UserWarning, match="has 256 tokens, not the 5 asked for"):
        trained = json.loads(retrain(json.dumps(byte_level_pipeline("gpt2")), ["ab"], 5, show_progress=False))

    assert len(trained["model"]["vocab"]) == 256


# The tokenizer that comes out


def test_the_tokenizer_is_the_same_after_saving(tmp_path: Path) -> None:
    tokenizer = quietly(
        stdlib_sources(50_000), vocab_size=500, special_tokens=["<s>"], eos_token="<s>", normalizer="NFC"
    )
    text = "def f(x): return 'nai\u0308ve'<s>"

    tokenizer.save_pretrained(tmp_path)
    stock = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    loaded = HfBpeTokenizer.from_pretrained(tmp_path)

    assert loaded(text)["input_ids"] == tokenizer(text)["input_ids"] == stock.encode(text).ids
    assert loaded.decode(loaded(text)["input_ids"]) == "def f(x): return 'na\u00efve'<s>"
    assert loaded.eos_token == "<s>"


def test_every_token_encodes_to_itself_under_its_own_pattern() -> None:
    tokenizer = quietly(stdlib_sources(100_000), vocab_size=600)

    for token_id in range(len(tokenizer)):
        data = tokenizer.get_token_bytes(token_id)
        assert tokenizer._core.encode_bytes(data) == [token_id]


@pytest.mark.parametrize(
    "normalizer",
    ["NFC", '{"type": "NFC"}', {"type": "NFC"}, tokenizers.normalizers.NFC()],
    ids=["name", "text", "parsed", "object"],
)
def test_normalizers_may_be_given_in_four_ways(normalizer: object) -> None:
    tokenizer = quietly(["e\u0301"], vocab_size=256, normalizer=normalizer)

    assert tokenizer.decode(tokenizer("e\u0301")["input_ids"]) == "\u00e9"


def test_a_misspelled_pattern_name_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'lama3' is not one of 'cl100k', 'gpt2'"):
        train(["a"], vocab_size=300, split_pattern="lama3")


def test_a_broken_pattern_is_an_error() -> None:
    with pytest.raises(SplitPatternError):
        train(["a"], vocab_size=300, split_pattern="(a", progress=False)


def test_a_pattern_of_ones_own_splits() -> None:
    tokenizer = quietly(["ab-ab-ab-ab"], vocab_size=300, split_pattern="-|[^-]+")

    assert [left + right for left, right in tokenizer._core.merges()] == ["ab"]


# Sources

SENTENCES = [
    "low lower lowest",
    "",
    "new newer newest \n",
    "wide\rwider\u2028widest\ufeff",
    "naïve 你好 🙂",
    "x" * 50,
] * 3


def expected_report(texts: list[str], nulls: int = 0) -> tuple[int, int, int]:
    return len(texts), nulls, sum(len(text.encode()) for text in texts)


def trained(source: Any = None, **options: Any) -> tuple[Merges, tuple[int, int, int]]:
    tokenizer = quietly(source, vocab_size=300, split_pattern="gpt2", **options)
    report = tokenizer.training_report
    return tokenizer._core.merges(), (report.texts, report.null_rows, report.bytes)


@pytest.fixture(scope="module")
def expected() -> Merges:
    return trained(list(SENTENCES))[0]


def test_strings_come_one_by_one_or_in_lists(expected: Merges) -> None:
    batches = [SENTENCES[:5], [], SENTENCES[5:6], tuple(SENTENCES[6:])]

    assert trained(iter(SENTENCES)) == (expected, expected_report(SENTENCES))
    assert trained(iter(batches)) == (expected, expected_report(SENTENCES))
    assert trained([None, *SENTENCES, [None]]) == (expected, expected_report(SENTENCES, nulls=2))


def test_a_str_is_one_text_even_when_it_names_a_file(tmp_path: Path) -> None:
    file = tmp_path / "corpus.txt"
    file.write_text("abab")

    assert trained(str(file))[1] == expected_report([str(file)])


def arrow_columns() -> dict[str, Callable[[], Any]]:
    pa = pytest.importorskip("pyarrow")
    rows = [None, *SENTENCES[:7], None, *SENTENCES[7:]]
    plain = pa.array(rows)
    return {
        "string": lambda: plain,
        "large_string": lambda: plain.cast(pa.large_string()),
        "string_view": lambda: plain.cast(pa.string_view()),
        "dictionary": lambda: plain.dictionary_encode(),
        "chunked": lambda: pa.chunked_array([rows[:3], [], rows[3:4], rows[4:]], pa.string()),
        "sliced": lambda: pa.array(["zzz", None, *rows, "zzz"]).slice(2, len(rows)),
        "table": lambda: pa.table({"other": range(len(rows)), "text": rows}),
        "sliced table": lambda: pa.table({"text": [None, "zzz", *rows]}).slice(2),
        "record batch": lambda: pa.record_batch({"text": rows}),
        "reader": lambda: pa.table({"text": rows}).to_reader(max_chunksize=4),
    }


@pytest.mark.parametrize("kind", sorted(arrow_columns()))
def test_arrow_data_of_any_shape_gives_the_same_merges(kind: str, expected: Merges) -> None:
    assert trained(arrow_columns()[kind]()) == (expected, expected_report(SENTENCES, nulls=2))


def test_arrow_columns_without_texts_are_empty_corpora() -> None:
    pa = pytest.importorskip("pyarrow")

    assert trained(pa.array([], pa.string())) == ([], (0, 0, 0))
    assert trained(pa.chunked_array([], pa.string())) == ([], (0, 0, 0))
    assert trained(pa.array([None, None])) == ([], (0, 2, 0))
    assert trained(pa.array([None, None], pa.string())) == ([], (0, 2, 0))
    assert trained(pa.array(["", None, ""])) == ([], (2, 1, 0))


def test_large_arrow_columns_are_cut_into_batches() -> None:
    pa = pytest.importorskip("pyarrow")
    rows = [f"{number} lines of text, or {number % 7}" * 10 if number % 3 else None for number in range(40_000)]
    texts = [row for row in rows if row is not None]

    assert trained(pa.array(rows)) == (trained(texts)[0], expected_report(texts, nulls=len(rows) - len(texts)))


def test_damaged_arrow_data_names_the_row() -> None:
    counts = counter()
    offsets = b"".join(offset.to_bytes(4, "little") for offset in (0, 1, 3, 2))

    with pytest.raises(ValueError, match="row 1 of the Arrow column is not valid UTF-8 at byte 1"):
        counts.count_arrow(b"ab\xff", offsets, None, data_start=0, first_bit=0, length=2, large=False)
    with pytest.raises(ValueError, match="row 2 of the Arrow column points outside its data"):
        counts.count_arrow(b"abc", offsets, None, data_start=0, first_bit=0, length=3, large=False)
    with pytest.raises(ValueError, match="row 3 of the Arrow column has no valid offsets"):
        counts.count_arrow(b"abc", offsets[:8] + offsets[4:12], None, data_start=0, first_bit=0, length=9, large=False)


def test_a_column_of_something_else_is_refused() -> None:
    pa = pytest.importorskip("pyarrow")

    with pytest.raises(TypeError, match="the column holds int64; training reads strings"):
        trained(pa.table({"text": [1, 2]}))


def test_an_unknown_column_is_refused_with_the_known_ones() -> None:
    pa = pytest.importorskip("pyarrow")
    datasets = pytest.importorskip("datasets")
    rows = {"title": ["a"], "body": ["b"]}

    for source in (pa.table(rows), pa.table(rows).to_reader(), datasets.Dataset.from_dict(rows)):
        with pytest.raises(ValueError, match="no column 'text'; choose a text_column among 'title', 'body'"):
            trained(source)


def test_datasets_and_their_streams_give_the_same_merges(expected: Merges, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    rows = [None, *SENTENCES]
    report = expected_report(SENTENCES, nulls=1)
    table = datasets.Dataset.from_dict({"id": range(len(rows)), "text": rows})
    with (tmp_path / "rows.jsonl").open("w") as file:
        file.writelines(json.dumps({"id": 1, "body": row}) + "\n" for row in rows)
    load = {"path": "json", "data_files": str(tmp_path / "rows.jsonl"), "split": "train", "streaming": True}

    assert trained(table) == (expected, report)
    assert trained(table.shuffle(seed=1)) == (expected, report)
    assert trained(table.to_iterable_dataset(num_shards=3)) == (expected, report)
    assert trained(table.to_iterable_dataset().shuffle(seed=1, buffer_size=4)) == (expected, report)
    assert trained(datasets.load_dataset(**load, cache_dir=str(tmp_path)), text_column="body") == (expected, report)


def test_a_generated_stream_is_read_once(expected: Merges) -> None:
    datasets = pytest.importorskip("datasets")
    reads = []

    def rows() -> Iterator[dict[str, str]]:
        reads.append(1)
        yield from ({"text": text} for text in SENTENCES)

    assert trained(datasets.IterableDataset.from_generator(rows)) == (expected, expected_report(SENTENCES))
    assert len(reads) == 1


def test_a_generated_stream_may_hold_nulls(expected: Merges) -> None:
    datasets = pytest.importorskip("datasets")

    def rows() -> Iterator[dict[str, Any]]:
        yield {"text": None, "number": None}
        for number, text in enumerate(SENTENCES):
            yield {"text": text, "number": number}
            yield {"text": None, "number": None}

    stream = datasets.IterableDataset.from_generator(rows)
    nulls = 1 + len(SENTENCES)
    features = datasets.Features({"text": datasets.Value("string"), "number": datasets.Value("int64")})

    assert trained(stream) == (expected, expected_report(SENTENCES, nulls))
    assert trained(stream.with_format("numpy")) == (expected, expected_report(SENTENCES, nulls))
    assert trained(stream.map(lambda row: row)) == (expected, expected_report(SENTENCES, nulls))
    assert trained(stream.cast(features)) == (expected, expected_report(SENTENCES, nulls))
    with pytest.raises(ValueError, match="there is no column 'body'; choose a text_column among 'text', 'number'"):
        trained(stream, text_column="body")
    with pytest.raises(TypeError, match="the column holds int; training reads strings"):
        trained(stream, text_column="number")


@pytest.mark.parametrize("name", ["DatasetDict", "IterableDatasetDict"])
def test_several_datasets_ask_for_a_split(name: str) -> None:
    datasets = pytest.importorskip("datasets")
    split = datasets.Dataset.from_dict({"text": ["a"]})
    split = split.to_iterable_dataset() if name.startswith("Iterable") else split

    with pytest.raises(TypeError, match=f"a {name} holds several datasets; choose one of its splits: 'train', 'test'"):
        trained(getattr(datasets, name)({"train": split, "test": split}))


class Frame:
    columns = ("text",)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (5, "a source is a str, an iterable of str .* or files=.*; got int"),
        (b"bytes", "got bytes"),
        ({"text": ["a"]}, "got dict"),
        (Frame(), "a Frame has columns; pass one of them"),
        ([{"text": "a"}], "item 0 of the source is a dict, not a str or a list of str; take the text out of each row"),
        (["a", 5], "item 1 of the source is a int"),
        ([["a"], ["b", b"c"]], "item 1 of the source is a list whose item 1 is a bytes"),
        ([Path("a")], "pass paths as files="),
    ],
)
def test_other_sources_are_refused_with_what_is_accepted(source: object, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        trained(source)


def test_one_of_source_and_files_is_needed() -> None:
    with pytest.raises(TypeError, match="give either a source or files"):
        trained()
    with pytest.raises(TypeError, match="give either a source or files"):
        trained(["a"], files=["b"])
    with pytest.raises(TypeError, match="files is a list of paths"):
        trained(files="corpus.txt")


def test_files_are_read_as_stock_reads_them(tmp_path: Path) -> None:
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    first.write_bytes("\ufeffone two\r\nthree\rfour\u2028five\u0085six\n\n\nseven \n".encode())
    second.write_bytes(b" no newline at the end\nlast last last" * 3)
    stock = stock_pipeline()
    trainer = trainers.BpeTrainer(
        vocab_size=300, min_frequency=2, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )

    stock.train([str(first), str(second)], trainer)
    merges = [tuple(pair) for pair in json.loads(stock.to_str())["model"]["merges"]]

    assert trained(files=[first, str(second)])[0] == merges
    assert trained(first)[1] == (5, 0, first.stat().st_size)


def test_a_file_longer_than_a_batch_is_cut_at_lines_only(tmp_path: Path) -> None:
    file = tmp_path / "long.txt"
    lines = [f"line {number} of {'many words ' * (number % 50)}\n" for number in range(30_000)]
    lines.insert(100, "a single line " * 700_000 + "\n")
    file.write_text("".join(lines))

    assert trained(file) == trained(lines)


def test_a_file_that_is_not_utf8_names_the_byte(tmp_path: Path) -> None:
    file = tmp_path / "latin.txt"
    file.write_bytes(b"first line\nna\xefve\n")

    with pytest.raises(ValueError, match=r"latin\.txt is not valid UTF-8 at byte 13"):
        trained(file)
    with pytest.raises(FileNotFoundError):
        trained(files=[file, tmp_path / "absent.txt"])


def test_surrogates_become_what_they_stand_for() -> None:
    assert counted(["\ud83d\ude42 \udc00x"]) == counted(["🙂 \ufffdx"])


def counted(texts: list[str]) -> list[tuple[bytes, int]]:
    counts = counter()
    counts.count(texts)
    return counts.counts()


def test_counting_equals_counting_the_splits_of_stock() -> None:
    texts = [*stdlib_sources(50_000), *SENTENCES, "\x00\u0300e\u0301 👩‍👩‍👧 \U000e0001\U0010ffff"]
    split = stock_pipeline().pre_tokenizer.pre_tokenize_str

    tally = Tally(piece for text in texts for piece, _ in split(text))

    assert {bytes_to_token(pretoken): count for pretoken, count in counted(texts)} == tally


# Training anew in an old pipeline

SPECIAL = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}


def old_tokenizer() -> dict[str, Any]:
    pipeline = byte_level_pipeline("gpt2", "NFC")
    tokens = ["<s>", "</s>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    template = {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [300], "tokens": ["<s>"]}},
    }
    return pipeline | {
        "added_tokens": [
            {"id": 0, "content": "<s>", **SPECIAL, "lstrip": True},
            {"id": 1, "content": "</s>", **SPECIAL},
            {"id": 258, "content": "~ing", **SPECIAL, "special": False},
        ],
        "post_processor": {"type": "Sequence", "processors": [pipeline["post_processor"], template]},
        "model": pipeline["model"] | {"vocab": {token: index for index, token in enumerate(tokens)}},
    }


def test_retraining_looks_up_every_id_anew() -> None:
    trained = json.loads(
        retrain(
            json.dumps(old_tokenizer() | {"padding": padding("</s>", 77)}),
            [["some text", "and some more text"]],
            270,
            new_special_tokens=["<new>", AddedToken("<flags>", rstrip=True)],
            special_tokens_map={"<s>": "<bos>"},
            special_tokens_last=True,
            show_progress=False,
        )
    )

    ids = trained["model"]["vocab"]
    special = trained["post_processor"]["processors"][1]["special_tokens"]["<s>"]
    assert special == {"id": "<s>", "ids": [ids["<bos>"]], "tokens": ["<bos>"]}
    assert ids["<bos>"] > 255
    assert trained["padding"]["pad_id"] == ids["</s>"]
    assert [(token["content"], token["lstrip"], token["rstrip"]) for token in trained["added_tokens"]] == [
        ("<bos>", True, False),
        ("</s>", False, False),
        ("<new>", False, False),
        ("<flags>", False, True),
    ]
    assert all(token["id"] == ids[token["content"]] for token in trained["added_tokens"])
    assert "~ing" not in ids
    assert len(set(ids.values())) == len(ids)


def padding(token: str, token_id: int) -> dict[str, Any]:
    layout = {"strategy": "BatchLongest", "direction": "Right", "pad_to_multiple_of": None}
    return layout | {"pad_id": token_id, "pad_type_id": 0, "pad_token": token}


def test_a_token_that_the_post_processor_misses_is_an_error() -> None:
    old = old_tokenizer()
    old["added_tokens"] = old["added_tokens"][1:]

    with pytest.raises(ValueError, match="the post-processor adds '<s>', which is not a token"):
        retrain(json.dumps(old), ["text"], 258, show_progress=False)


def test_retraining_equals_upstream_with_its_defaults() -> None:
    transformers = pytest.importorskip("transformers")
    old = old_tokenizer()
    old["post_processor"] = old["post_processor"]["processors"][1]  # upstream keeps old ids inside a Sequence
    old["post_processor"]["special_tokens"]["<s>"]["ids"] = [0]
    texts = stdlib_sources(100_000)
    arguments: dict[str, Any] = {
        "vocab_size": 700,
        "new_special_tokens": ["<x>"],
        "special_tokens_map": {"</s>": "<e>"},
    }

    upstream = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizers.Tokenizer.from_str(json.dumps(old)))
    upstream = upstream.train_new_from_iterator(iter([texts]), show_progress=False, **arguments)
    trained = json.loads(retrain(json.dumps(old), iter([texts]), show_progress=False, **arguments))

    assert tokenizers.Tokenizer.from_str(json.dumps(trained)).to_str() == upstream.backend_tokenizer.to_str()


@pytest.mark.parametrize("setting", ["limit_alphabet", "continuing_subword_prefix", "end_of_word_suffix"])
def test_settings_of_character_vocabularies_are_refused(setting: str) -> None:
    value: Any = 5 if setting == "limit_alphabet" else "##"

    with pytest.raises(ValueError, match=f"{setting}={value!r} is for vocabularies of characters"):
        retrain(json.dumps(old_tokenizer()), ["text"], 300, **{setting: value})
    with pytest.raises(TypeError, match="unexpected keyword argument 'vocabulary'"):
        retrain(json.dumps(old_tokenizer()), ["text"], 300, vocabulary=5)


def test_a_pipeline_that_is_not_byte_level_is_refused() -> None:
    old = old_tokenizer() | {"pre_tokenizer": {"type": "Digits", "individual_digits": True}}

    with pytest.raises(UnsupportedComponentError, match="pre_tokenizer has no 'ByteLevel'"):
        retrain(json.dumps(old), ["text"], 300, show_progress=False)


def test_the_method_of_the_class_trains_in_the_pipeline_of_the_tokenizer() -> None:
    tokenizer = quietly(["one corpus"], vocab_size=260, special_tokens=["<s>"], eos_token="<s>", split_pattern="gpt2")
    texts = stdlib_sources(50_000)

    anew = tokenizer.train_new_from_iterator(iter(texts), 500, show_progress=False)

    assert (len(anew), anew.eos_token, anew.eos_token_id) == (500, "<s>", 0)
    assert anew._core.merges() == stock_training(texts, vocab_size=500, special_tokens=["<s>"])[1]


# Long lines, progress, interruption


def test_a_long_line_without_spaces_takes_little_longer_than_its_length() -> None:
    line = "".join(random.Random(3).choices("acgt", k=1_000_000))
    counts = counter("[a-z]+")
    counts.count([line])

    started = time.perf_counter()
    _, merges = counts.learn(vocab_size=1000)

    assert len(merges) == 744
    assert time.perf_counter() - started < 20  # about half a second; stock, quadratic, needs hours


def test_progress_counts_merges_and_may_stop_the_training() -> None:
    class Stop(Exception):
        pass

    seen: list[int] = []

    def stop(merges: int) -> None:
        seen.append(merges)
        raise Stop

    line = "".join(random.Random(3).choices("acgt", k=2_000_000))
    counts = counter("[a-z]+")
    counts.count([line])

    with pytest.raises(Stop):
        counts.learn(vocab_size=30_000, progress=stop)
    assert len(seen) == 1


@pytest.mark.parametrize("phase", ["counting", "slowly", "merging"])
@pytest.mark.skipif(os.name == "nt", reason="sends a POSIX signal")
def test_ctrl_c_stops_within_a_second(phase: str, tmp_path: Path) -> None:
    script = """
        import random, sys
        import hf_bpe.training
        from hf_bpe._native import Counter

        def corpus():
            chance = random.Random(1)
            print("counting", flush=True)
            while sys.argv[1] == "counting":
                yield "some words to count " * 1000
            if sys.argv[1] == "slowly":  # a few MB, which take this pattern many seconds
                print("slowly", flush=True)
                yield ["".join(chance.choices("abcdefgh  ", k=60_000)) for _ in range(300)]
            yield "".join(chance.choices("abcdefghijklmnop", k=20_000_000))
            print("merging", flush=True)

        slow = r"(?:[a-f]{0,6}?[gh]|.)(?=.*?\\n|(?:[a-h]| ){0,40}z|.)"
        pattern = slow if sys.argv[1] == "slowly" else "[a-z]+"
        hf_bpe.training.train(corpus(), vocab_size=200_000, split_pattern=pattern, progress=False)
    """
    command = [sys.executable, "-c", textwrap.dedent(script), phase]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        while process.stdout.readline().strip() != phase:
            assert process.poll() is None
        time.sleep(1.5)
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        took = time.monotonic() - sent

    assert re.search("KeyboardInterrupt", errors)
    assert took < 1.0 + 0.5  # half a second to shut the interpreter down
