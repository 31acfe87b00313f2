"""What `train` is told, what it refuses before it reads the corpus, and the tokenizer that comes out."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from tokenizers import AddedToken, trainers
from trainings import quietly, stdlib_sources, stock_pipeline, stock_training
from transformers.tokenization_utils_base import PreTrainedTokenizerBase

from hf_bpe import HfBpeTokenizer
from hf_bpe.errors import SplitPatternError, TokenizerFileError, TrainingError, UnsupportedComponentError
from hf_bpe.keywords import TOKENIZER_SETTINGS, check_keywords
from hf_bpe.training import train


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
        ({"split_pattern": 5}, TypeError, "split_pattern is a name or a regex, got int"),
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


@pytest.mark.parametrize(
    ("misspelt", "near"),
    [
        ({"max_token_lenght": 5}, "max_token_length"),
        ({"vocabsize": 5}, "vocab_size"),
        ({"eos_tokn": "</s>"}, "eos_token"),
        ({"special_token": "</s>"}, "special_tokens"),
        ({"special_token": ["</s>"]}, "special_tokens"),
        ({"eos_tokens": ["</s>"]}, "eos_token"),
        ({"model_max_lenght": 5}, "model_max_length"),
        ({"checkpoint": "stops"}, "checkpoint_dir"),
        ({"weight": {"a": 1}}, "weights"),
        ({"max_new_bytes": 3, "eos_token": "</s>"}, "max_pretoken_bytes"),
    ],
    ids=str,
)
def test_misspelt_keywords_are_refused_with_the_nearest_one(misspelt: dict[str, Any], near: str) -> None:
    name = next(iter(misspelt))

    with pytest.raises(
        TypeError, match=rf"^train\(\) got an unexpected keyword argument '{name}'; did you mean '{near}'\?$"
    ):
        train((pytest.fail("the corpus was read") for _ in "a"), vocab_size=300, progress=False, **misspelt)


def test_a_keyword_that_is_near_none_is_refused_with_what_there_is() -> None:
    with pytest.raises(
        TypeError, match=r"unexpected keyword argument 'zzz'; it takes .*eos_token, .*vocab_size, weigh"
    ):
        train("the the", vocab_size=300, progress=False, zzz=1)


def test_every_setting_of_a_tokenizer_is_a_keyword() -> None:
    upstream = inspect.getsource(PreTrainedTokenizerBase.__init__)
    popped = set(re.findall(r"kwargs\.pop\(\s*\"(\w+)\"", upstream)) - {"backend", "files_loaded"}  # of loading

    assert len(popped) > 10
    assert {*popped, *PreTrainedTokenizerBase.SPECIAL_TOKENS_ATTRIBUTES} <= set(TOKENIZER_SETTINGS)
    check_keywords(dict.fromkeys(popped), also=TOKENIZER_SETTINGS, who="train()")


def test_a_corpus_too_small_says_why_the_vocabulary_is() -> None:
    with pytest.warns(
        UserWarning, match="has 258 tokens, not the 500 asked for: no pair is left that occurs at least 2"
    ):
        tokenizer = train(["abc", "abc"], vocab_size=500, progress=False)

    assert len(tokenizer) == 258
    assert tokenizer.training_report.shortfall is not None


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


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"normalizer": "NFX"}, UnsupportedComponentError, "train(): normalizer has type 'NFX'; hf_bpe supports"),
        ({"normalizer": {"form": "NFC"}}, TokenizerFileError, "train(): normalizer lacks 'type'"),
        ({"normalizer": "{"}, ValueError, "train(): normalizer is not JSON: Expecting property name"),
        ({"split_pattern": "(a"}, SplitPatternError, "train(): split pattern '(a' can't be compiled"),
        ({"split_pattern": "(a", "alphabet": "characters"}, SplitPatternError, "train(): split pattern '(a' can't be"),
    ],
)
def test_a_wrong_part_is_told_of_the_call_and_not_of_a_file(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match="^" + re.escape(message)) as raised:
        train(["a"], vocab_size=300, progress=False, **options)

    assert "tokenizer.json" not in str(raised.value)
    assert "Load this file" not in str(raised.value)


def test_a_pattern_of_ones_own_splits() -> None:
    tokenizer = quietly(["ab-ab-ab-ab"], vocab_size=300, split_pattern="-|[^-]+")

    assert [left + right for left, right in tokenizer._core.merges()] == ["ab"]
