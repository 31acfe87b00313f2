"""Random pipelines equal the stock library: every component, flag and order of them, and every kind of call.

`HF_BPE_FUZZ` is the number of pipelines (300 by default), `HF_BPE_FUZZ_SEED` the first of them: a failure names its
seed. Where stock panics there is nothing to equal; where it raises, hf_bpe raises too. Left out are the deliberate
differences: decoding added tokens that lie in the byte alphabet, holes between ids, windows without room for text.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from typing import Any

import pytest
import tokenizers
from parity import FIELDS, excerpt
from pipelines import Pipeline, random_pipeline
from transformers import PreTrainedTokenizerFast

from hf_bpe import HfBpeTokenizer, TokenizerFileError
from hf_bpe._native import Tokenizer
from hf_bpe.byte_alphabet import CHAR_TO_BYTE, bytes_to_token

PIPELINES = int(os.environ.get("HF_BPE_FUZZ", "300"))
FIRST = int(os.environ.get("HF_BPE_FUZZ_SEED", "0"))
STEP = 25

each_block = pytest.mark.parametrize("first", range(FIRST, FIRST + PIPELINES, STEP))


class StockPanicked(Exception):
    """Stock gave up in a way that nobody can want to equal."""


def outcome(work: Callable[[], Any]) -> Any:
    """Return what `work` returns, or the exception that it raises."""
    try:
        return work()
    except Exception as error:
        return error


def stock_outcome(work: Callable[[], Any]) -> Any:
    """Return what stock returns or raises."""
    try:
        return outcome(work)
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            raise StockPanicked from error
        raise


def assert_same(ours: Callable[[], Any], stock: Callable[[], Any], what: str) -> Any:
    """Assert that both return one value, or both raise; return the value."""
    try:
        expected = stock_outcome(stock)
    except StockPanicked:
        outcome(ours)  # anything but a panic of our own
        return None
    got = outcome(ours)
    if isinstance(expected, Exception):
        assert isinstance(got, Exception), f"{what}: stock raises {expected!r}"
        return None
    assert got == expected, what
    return got


def fields_of(encoding: Any) -> dict[str, Any]:
    """Return everything that an encoding says, of its windows too."""
    fields = {name: getattr(encoding, name) for name in (*FIELDS, "sequence_ids", "attention_mask")}
    return fields | {"overflowing": [fields_of(window) for window in encoding.overflowing]}


class Both:
    """One pipeline, loaded by both libraries."""

    def __init__(self, seed: int) -> None:
        """Load the pipeline of `seed`."""
        self.seed = seed
        self.pipeline: Pipeline = random_pipeline(seed)
        data = json.dumps(self.pipeline.json)
        self.ours = Tokenizer.from_json(data)
        self.stock = tokenizers.Tokenizer.from_str(data)
        added = self.stock.get_added_tokens_decoder().values()
        contents = {self.stock.id_to_token(self.stock.token_to_id(token.content)) for token in added}
        self.decodes = all(text.isascii() or not CHAR_TO_BYTE.keys() >= set(text) for text in contents)

    def name(self, text: object) -> str:
        """Say which pipeline and text this is."""
        return f"seed {self.seed}, {excerpt(str(text))}"


def loaded(first: int) -> list[Both]:
    """Load a block of pipelines."""
    seeds = range(first, min(first + STEP, FIRST + PIPELINES))
    return [both for seed in seeds if (both := load(seed)) is not None]


def load(seed: int) -> Both | None:
    """Load a pipeline; None for one that hf_bpe refuses where stock panics at each call."""
    try:
        return Both(seed)
    except TokenizerFileError as error:
        message = str(error)
        assert "TemplateProcessing" in message
        stock = tokenizers.Tokenizer.from_str(json.dumps(random_pipeline(seed).json))
        with pytest.raises(StockPanicked):
            stock_outcome(lambda: stock.encode("a"))
        return None


@each_block
def test_encoding_and_decoding_equal_stock(first: int) -> None:
    for both in loaded(first):
        for number, text in enumerate(both.pipeline.texts):
            specials, split = bool(number % 2), number % 3 == 0
            both.stock.encode_special_tokens = split
            options: dict[str, Any] = {"add_special_tokens": specials, "split_special_tokens": split}
            name = both.name(text)
            encoding = assert_same(
                lambda: fields_of(both.ours.encode(text, **options)),  # noqa: B023 - called at once
                lambda: fields_of(both.stock.encode(text, add_special_tokens=specials)),  # noqa: B023 - called at once
                name,
            )
            if encoding is None:
                continue
            ids = encoding["ids"]
            assert both.ours.encode_ids(text, **options) == ids, name
            assert both.ours.encode_ids_batch([text, text], **options) == [ids, ids], name
            for skip in (True, False) if both.decodes else ():
                assert both.ours.decode(ids, skip_special_tokens=skip) == both.stock.decode(
                    ids, skip_special_tokens=skip
                ), name


@each_block
def test_pairs_words_and_windows_equal_stock(first: int) -> None:
    for both in loaded(first):
        rng = random.Random(both.seed)
        texts = both.pipeline.texts
        both.stock.encode_special_tokens = False
        for _ in range(12):
            words = rng.random() < 0.3
            one, two = (rng.sample(texts, 3) if words else rng.choice(texts) for _ in range(2))
            pair = two if rng.random() < 0.6 else None
            cut = (rng.randrange(0, 20), rng.randrange(0, 6), rng.choice(STRATEGIES), rng.choice(("right", "left")))
            truncation: Any = cut if rng.random() < 0.7 else None
            specials = rng.random() < 0.6
            room = cut[0] - specials * both.ours.num_special_tokens_to_add(pair=pair is not None)
            if truncation is not None and (room < 0 or room == 0 < cut[1]):
                continue  # no room for the text: hf_bpe raises, stock wraps around or drops the text

            def stock(one: Any = one, pair: Any = pair, specials: bool = specials, words: bool = words) -> Any:
                return fields_of(
                    both.stock.encode(one, pair, add_special_tokens=specials, is_pretokenized=words)  # noqa: B023
                )

            def ours(one: Any = one, pair: Any = pair, specials: bool = specials, cut: Any = truncation) -> Any:
                return fields_of(both.ours.encode(one, pair, add_special_tokens=specials, truncation=cut))  # noqa: B023

            if truncation is None:
                both.stock.no_truncation()
            else:
                length, stride, strategy, side = cut
                settings = {"max_length": length, "stride": stride, "strategy": strategy, "direction": side}
                refused = stock_outcome(lambda: both.stock.enable_truncation(**settings))  # noqa: B023
                if isinstance(refused, Exception):
                    continue
            assert_same(ours, stock, both.name((one, pair, truncation, specials)))


STRATEGIES = ("longest_first", "only_first", "only_second")


@each_block
def test_calls_equal_the_stock_class(first: int) -> None:
    for both in loaded(first):
        rng = random.Random(both.seed)
        settings: dict[str, Any] = {"padding_side": rng.choice(("left", "right")), "pad_token": "<pad>"}
        settings["truncation_side"] = rng.choice(("left", "right"))
        stock = PreTrainedTokenizerFast(tokenizer_object=both.stock, **settings)
        ours = HfBpeTokenizer(tokenizer_object=both.stock, **settings)
        for _ in range(6):
            texts = rng.sample(both.pipeline.texts, 3)
            pairs = rng.sample(both.pipeline.texts, 3) if rng.random() < 0.4 else None
            options: dict[str, Any] = {
                "add_special_tokens": rng.random() < 0.7,
                "padding": rng.choice((False, True, "max_length")),
                "truncation": rng.choice((False, True, "only_first", "only_second")),
                "max_length": rng.randrange(6, 30),
                "stride": rng.randrange(0, 2),
                "return_offsets_mapping": rng.random() < 0.5,
                "return_overflowing_tokens": rng.random() < 0.3,
                "return_special_tokens_mask": rng.random() < 0.5,
                "return_token_type_ids": rng.random() < 0.5,
                "split_special_tokens": rng.random() < 0.2,
            }

            def call(tokenizer: Any, texts: Any = texts, pairs: Any = pairs, options: Any = options) -> Any:
                result = tokenizer(texts, pairs, **options)
                return dict(result), [result.word_ids(row) for row in range(len(result["input_ids"]))]

            assert_same(lambda: call(ours), lambda: call(stock), both.name((texts, pairs, options)))  # noqa: B023


def test_a_second_template_works_on_the_parts_of_the_first_also_after_truncation() -> None:
    data = random_pipeline(0).json

    def template(*names: str) -> dict[str, Any]:
        pieces = [{"Sequence" if len(name) == 1 else "SpecialToken": {"id": name, "type_id": 0}} for name in names]
        table = {
            "<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]},
            "</s>": {"id": "</s>", "ids": [1], "tokens": ["</s>"]},
        }
        return {
            "type": "TemplateProcessing",
            "single": pieces,
            "pair": [*pieces[:-1], second, pieces[-1]],
            "special_tokens": table,
        }

    second = {"Sequence": {"id": "B", "type_id": 0}}
    data["post_processor"] = {"type": "Sequence", "processors": [template("<s>", "A"), template("A", "</s>")]}
    twin = tokenizers.Tokenizer.from_str(json.dumps(data))
    ours, stock = (kind(tokenizer_object=twin) for kind in (HfBpeTokenizer, PreTrainedTokenizerFast))

    for length in (8, 1000):
        got = ours(["a longer text", "b"], truncation=True, max_length=length)["input_ids"]
        assert got == stock(["a longer text", "b"], truncation=True, max_length=length)["input_ids"]
        assert all(row[0] == 0 and row[-1] == 1 for row in got)


def test_a_normalizer_that_undoes_another_moves_offsets_as_in_stock() -> None:
    data = random_pipeline(0).json | {"added_tokens": [], "post_processor": None}
    data["normalizer"] = {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "NFD"}]}
    data["pre_tokenizer"] = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    units = [bytes_to_token(bytes([byte])) for byte in range(256)]
    data["model"] = {"type": "BPE", "vocab": {unit: id for id, unit in enumerate(units)}, "merges": []}
    ours, stock = Tokenizer.from_json(json.dumps(data)), tokenizers.Tokenizer.from_str(json.dumps(data))

    assert ours.encode("xe\u0301").offsets == stock.encode("xe\u0301").offsets == [(0, 1), (1, 2), (1, 2), (1, 2)]
