"""`train(alphabet="characters")`: what comes out equals stock, saves, loads, and reads its own ids back."""

from __future__ import annotations

import json
import random
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hostile import random_texts
from tokenizers import AddedToken, decoders, models, pre_tokenizers, trainers
from trainings import quietly, stdlib_sources
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from hf_bpe import HfBpeTokenizer, TrainingError, UnsupportedComponentError, train
from hf_bpe.trainer_settings import BYTE_TOKENS

CHINESE = ["你好世界，你好中国。世界你好", "智能体实战：AI智能体", "Größe naïve e\u0301 🙂👩‍👩‍👧 مرحبا"] * 10

KINDS: dict[str, dict[str, Any]] = {
    "metaspace": {},
    "byte fallback": {"byte_fallback": True, "unk_token": "<unk>", "fuse_unk": True},
    "unknown": {"unk_token": "<unk>", "limit_alphabet": 40},
    "fused unknown": {"unk_token": "<unk>", "fuse_unk": True, "limit_alphabet": 40},
    "suffix": {"end_of_word_suffix": "</w>"},
    "suffix and byte fallback": {"end_of_word_suffix": "</w>", "byte_fallback": True},
    "prefix": {"continuing_subword_prefix": "##", "unk_token": "<unk>"},
    "pattern": {"split_pattern": "gpt2"},
    "pattern and suffix": {"split_pattern": "gpt2", "end_of_word_suffix": "</w>"},
    "pattern and prefix": {"split_pattern": "gpt2", "continuing_subword_prefix": "^*#"},
    "pattern, suffix and byte fallback": {"split_pattern": "gpt2", "end_of_word_suffix": "</w>", "byte_fallback": True},
    "short tokens": {"max_token_length": 4, "min_frequency": 0, "initial_alphabet": "☃a"},
    "last special tokens": {"special_tokens_last": True, "byte_fallback": True},
    "bert": {"pre_tokenizer": "BertPreTokenizer", "continuing_subword_prefix": "##", "normalizer": "NFC"},
}


def corpus() -> list[str]:
    return stdlib_sources(60_000) + CHINESE


@pytest.fixture(scope="module", params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def tokenizer(kind: str) -> HfBpeTokenizer:
    options = {"special_tokens": ["<s>", "</s>"], "eos_token": "</s>"} | KINDS[kind]
    return quietly(corpus(), vocab_size=900, alphabet="characters", **options)


def stock_of(tokenizer: HfBpeTokenizer) -> tokenizers.Tokenizer:
    return tokenizers.Tokenizer.from_str(tokenizer._core.to_json())


TEXTS = [
    *CHINESE[:3],
    "def f(x): return 'naïve'  # two  spaces",
    "",
    " ",
    "<s>a b</s>c",
    "\x00\u0085\u2028\ufeff\ufffd",
]


def test_the_vocabulary_is_that_of_the_stock_trainer(kind: str, tokenizer: HfBpeTokenizer) -> None:
    options = KINDS[kind]
    reserved = list(BYTE_TOKENS) if options.get("byte_fallback") else []
    specials = [token.content for token in tokenizer.added_tokens_decoder.values()]
    last = specials if options.get("special_tokens_last") else []
    vocab = sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().__getitem__)
    merged = {
        left + right.removeprefix(options.get("continuing_subword_prefix", "")) for left, right in merges_of(tokenizer)
    }
    first = [token for token in vocab if token not in merged and token not in last]
    assert first[: len(reserved) + len(specials) - len(last)] == [token for token in specials if not last] + reserved

    # All first ids are given, as stock draws lots for those of symbols with an affix.
    stock = stock_of(tokenizer)
    stock.model = models.BPE()
    trainer = trainers.BpeTrainer(
        vocab_size=900 - len(last),
        min_frequency=options.get("min_frequency", 2),
        special_tokens=first,
        limit_alphabet=0,
        show_progress=False,
        **{name: options[name] for name in ("end_of_word_suffix", "continuing_subword_prefix") if name in options},
        **{name: options[name] for name in ("max_token_length",) if name in options},
    )
    plain = tokenizers.Tokenizer(models.BPE())
    plain.normalizer, plain.pre_tokenizer = stock.normalizer, stock.pre_tokenizer
    plain.train_from_iterator(iter(corpus()), trainer)
    expected = json.loads(plain.to_str())["model"]

    assert vocab[: len(vocab) - len(last)] == sorted(expected["vocab"], key=expected["vocab"].__getitem__)
    assert [list(pair) for pair in merges_of(tokenizer)] == expected["merges"]
    assert len(vocab) == 900


def merges_of(tokenizer: HfBpeTokenizer) -> list[tuple[str, str]]:
    return tokenizer._core.merges()


def test_ids_and_texts_are_those_of_stock(tokenizer: HfBpeTokenizer) -> None:
    stock = stock_of(tokenizer)

    for text in [*TEXTS, *random_texts(200, seed=5, tokens=["<s>", "</s>", "</w>", "##"])]:
        ids = tokenizer(text)["input_ids"]
        assert ids == stock.encode(text).ids, text
        for skip in (False, True):
            assert tokenizer.decode(ids, skip_special_tokens=skip) == stock.decode(ids, skip_special_tokens=skip)


def test_a_saved_tokenizer_loads_everywhere_with_the_same_ids(tokenizer: HfBpeTokenizer, tmp_path: Path) -> None:
    tokenizer.save_pretrained(tmp_path)

    ours = AutoTokenizer.from_pretrained(tmp_path)
    stock = PreTrainedTokenizerFast.from_pretrained(tmp_path)

    assert type(ours) is HfBpeTokenizer
    assert ours.eos_token == stock.eos_token == "</s>"
    for text in TEXTS:
        assert ours(text)["input_ids"] == stock(text)["input_ids"] == tokenizer(text)["input_ids"]


READS_BACK = {
    "metaspace": "one line of def and import",
    "byte fallback": "one  line\nof \u4e2d\U0001f9ff\x00 ☃ and a tab\t",
    "unknown": "one  line\nof def",
    "suffix": "one line of def",
    "suffix and byte fallback": "one \u4e2d\U0001f9ff☃ line",
    "prefix": "one line of def",
    "pattern": " one  line\nof 你好 ",
    "pattern and suffix": " one  line\nof 你好 ",
    "pattern and prefix": " one  line\nof 你好 ",
    "pattern, suffix and byte fallback": " one  \U0001f9ff☃line\nof ☃",
    "short tokens": "one line ☃",
    "last special tokens": "one ☃ \u0085",
}


@pytest.mark.parametrize("kind", READS_BACK, indirect=True)
def test_ids_read_back_as_the_text(tokenizer: HfBpeTokenizer, kind: str) -> None:
    text = READS_BACK[kind]

    assert tokenizer.decode(tokenizer(text)["input_ids"]) == text
    assert tokenizer.decode(tokenizer(text + "</s>")["input_ids"], skip_special_tokens=True) == text


def test_byte_fallback_reads_back_any_text_that_begins_with_a_word() -> None:
    tokenizer = quietly(corpus(), vocab_size=900, alphabet="characters", byte_fallback=True, special_tokens=["<s>"])

    for text in random_texts(500, seed=8, tokens=["<0x41>", "</w>"]):
        text = "a" + unicodedata.normalize("NFC", text).replace("▁", "_").replace("<s>", "")
        assert tokenizer.decode(tokenizer(text)["input_ids"]) == text


def test_text_that_spells_a_byte_token_is_text() -> None:
    texts = ["a <0x41> and <0x41>"] * 50
    tokenizer = quietly(texts, vocab_size=300, alphabet="characters", byte_fallback=True)

    ids = tokenizer("a <0x41>")["input_ids"]

    assert tokenizer.convert_tokens_to_ids("<0x41>") == 65 not in ids
    assert tokenizer.decode(ids) == "a <0x41>"


def test_byte_tokens_follow_the_special_tokens() -> None:
    tokenizer = quietly(
        ["ab ab"], vocab_size=270, alphabet="characters", byte_fallback=True, special_tokens=["<s>"], unk_token="<unk>"
    )

    assert tokenizer.convert_ids_to_tokens([0, 1, 2, 257, 258]) == ["<s>", "<unk>", "<0x00>", "<0xFF>", "a"]
    assert list(tokenizer.added_tokens_decoder) == [0, 1]
    assert json.loads(tokenizer._core.to_json())["model"]["byte_fallback"] is True


@pytest.mark.parametrize(
    "given",
    [
        "Metaspace",
        '{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": true}',
        {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": True},
        pre_tokenizers.Metaspace(prepend_scheme="first"),
        pre_tokenizers.Sequence([pre_tokenizers.Metaspace(prepend_scheme="first")]),
    ],
    ids=["name", "text", "parsed", "object", "sequence"],
)
def test_pre_tokenizers_may_be_given_in_any_way(given: object) -> None:
    expected = quietly(CHINESE, vocab_size=100, alphabet="characters")
    tokenizer = quietly(CHINESE, vocab_size=100, alphabet="characters", pre_tokenizer=given)

    assert tokenizer.get_vocab() == expected.get_vocab()
    assert tokenizer._core.component("decoder") == expected._core.component("decoder")


def test_a_decoder_may_be_given() -> None:
    tokenizer = quietly(
        ["ab cd"], vocab_size=10, alphabet="characters", pre_tokenizer="WhitespaceSplit", decoder=decoders.Fuse()
    )

    assert tokenizer.decode(tokenizer("ab cd")["input_ids"]) == "abcd"


def test_without_fallback_and_unknown_token_other_characters_are_left_out() -> None:
    tokenizer = quietly(["ab ab"], vocab_size=10, alphabet="characters")

    assert tokenizer.tokenize("a☃b") == ["▁ab"]
    assert stock_of(tokenizer).encode("a☃b").tokens == ["▁ab"]


def unread() -> Iterator[str]:
    pytest.fail("the corpus was read")
    yield ""


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"alphabet": "chars"}, ValueError, "alphabet is 'bytes' or 'characters', got 'chars'"),
        ({"alphabet": "bytes", "limit_alphabet": 5}, ValueError, "limit_alphabet=5 is for alphabet='characters'"),
        ({"alphabet": "bytes", "byte_fallback": True}, ValueError, "byte_fallback=True is for alphabet='characters'"),
        ({"alphabet": "bytes", "fuse_unk": True}, ValueError, "fuse_unk=True is for alphabet='characters'"),
        ({"alphabet": "bytes", "initial_alphabet": "ab"}, ValueError, "initial_alphabet=('a', 'b') is for"),
        ({"alphabet": "bytes", "end_of_word_suffix": "</w>"}, ValueError, "end_of_word_suffix='</w>' is for"),
        ({"alphabet": "bytes", "continuing_subword_prefix": "#"}, ValueError, "continuing_subword_prefix='#' is for"),
        ({"alphabet": "bytes", "pre_tokenizer": "Metaspace"}, ValueError, "pre_tokenizer='Metaspace' is for"),
        ({"alphabet": "bytes", "decoder": "Fuse"}, ValueError, "decoder='Fuse' is for"),
        ({"end_of_word_suffix": ""}, ValueError, "end_of_word_suffix is empty; leave it out to have none"),
        ({"continuing_subword_prefix": ""}, ValueError, "continuing_subword_prefix is empty"),
        ({"end_of_word_suffix": "\ud800"}, ValueError, "end_of_word_suffix '\\ud800' holds a lone surrogate"),
        ({"end_of_word_suffix": 5}, TypeError, "end_of_word_suffix is a str, got 5"),
        ({"end_of_word_suffix": "_", "continuing_subword_prefix": "#"}, ValueError, "no decoder takes off both"),
        ({"byte_fallback": True, "continuing_subword_prefix": "#"}, ValueError, "byte_fallback=True spells an unknown"),
        ({"split_pattern": "gpt2", "pre_tokenizer": "Metaspace"}, ValueError, "both cut texts into words"),
        ({"fuse_unk": True}, ValueError, "fuse_unk=True joins unknown tokens: give an unk_token"),
        ({"limit_alphabet": 0}, ValueError, "limit_alphabet=0 is out of range; give at least 1"),
        ({"limit_alphabet": 2.5}, TypeError, "limit_alphabet is a whole number, got 2.5"),
        (
            {"limit_alphabet": 2, "initial_alphabet": "abc"},
            ValueError,
            "limit_alphabet=2 is less than the 3 characters",
        ),
        ({"initial_alphabet": ["ab"]}, ValueError, "initial_alphabet holds single characters, got 'ab'"),
        ({"initial_alphabet": ["\ud800"]}, ValueError, "lone surrogate"),
        ({"initial_alphabet": [5]}, TypeError, "initial_alphabet holds characters, got 5"),
        ({"pre_tokenizer": "Metaspace", "end_of_word_suffix": "_"}, ValueError, "both mark words"),
        ({"pre_tokenizer": pre_tokenizers.ByteLevel()}, ValueError, "use alphabet='bytes'"),
        ({"pre_tokenizer": "Metaspaces"}, UnsupportedComponentError, "train(): pre_tokenizer has type 'Metaspaces'"),
        ({"pre_tokenizer": 5}, TypeError, "pre_tokenizer is a name such as 'Metaspace', JSON, or a tokenizers pre_tok"),
        ({"pre_tokenizer": "{"}, ValueError, "train(): pre_tokenizer is not JSON"),
        ({"decoder": "Fuze"}, UnsupportedComponentError, "train(): decoder has type 'Fuze'"),
        ({"split_pattern": "lama3"}, ValueError, "split_pattern 'lama3' is not one of"),
        ({"vocab_size": 256, "byte_fallback": True, "eos_token": "</s>"}, TrainingError, "vocab_size=256 is too small"),
        ({"vocab_size": 2, "initial_alphabet": "abc"}, TrainingError, "the 3 first tokens and 0 special tokens take 3"),
    ],
)
def test_settings_that_make_no_sense_are_errors_before_the_corpus_is_read(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=re.escape(message)):
        train(unread(), **({"vocab_size": 300, "progress": False, "alphabet": "characters"} | options))


def test_a_corpus_of_more_characters_than_tokens_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(TrainingError, match=r"vocab_size=5 is too small: .* take 9. Use a larger vocab_size, or limit"):
        train(["abcdefg"], vocab_size=5, alphabet="characters", special_tokens=["<s>"], progress=False)

    assert len(train(["abcdefg"], vocab_size=5, alphabet="characters", limit_alphabet=5, progress=False)) == 5


def test_an_unknown_token_with_flags_is_the_models_and_keeps_them() -> None:
    token = AddedToken("<unk>", lstrip=True)
    tokenizer = quietly(["ab ab"], vocab_size=10, alphabet="characters", unk_token=token)

    assert json.loads(tokenizer._core.to_json())["model"]["unk_token"] == "<unk>"
    assert tokenizer.added_tokens_decoder[0].lstrip
    assert tokenizer.tokenize("ab☃☃") == ["▁ab", "<unk>", "<unk>"]


def test_threads_order_and_batches_change_nothing() -> None:
    texts = corpus()
    expected = quietly(texts, vocab_size=700, alphabet="characters", num_threads=1)

    for threads in (1, 2, 8):
        shuffled = random.Random(threads).sample(texts, len(texts))
        batches = [shuffled[start : start + threads] for start in range(0, len(texts), threads)]
        tokenizer = quietly(batches, vocab_size=700, alphabet="characters", num_threads=threads)
        assert tokenizer._core.to_json() == expected._core.to_json()
