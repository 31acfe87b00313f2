"""Random pipelines equal the stock library: every component, option and order of them, and every kind of call.

`HF_BPE_FUZZ` is the number of pipelines (1,000 by default), `HF_BPE_FUZZ_SEED` the first of them. A failure is shown as
the smallest file and text that still differ. Where stock panics there is nothing to equal; where it raises, hf_bpe
raises too. Left out are the deliberate differences: decoding added tokens that lie in the byte alphabet, holes between
ids, windows without room for text.
"""

from __future__ import annotations

import copy
import json
import os
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest
import tokenizers
from parity import excerpt
from pipelines import Pipeline, random_pipeline
from pipelines.probes import Both, Probe, StockPanicked, id_probes, outcome, pair_probes, stock_outcome, text_probes
from pipelines.shrinking import difference, report, shrink
from transformers import PreTrainedTokenizerFast

from hf_bpe import HfBpeTokenizer
from hf_bpe._native import Tokenizer, supported_components
from hf_bpe.byte_alphabet import bytes_to_token

PIPELINES = int(os.environ.get("HF_BPE_FUZZ", "1000"))
FIRST = int(os.environ.get("HF_BPE_FUZZ_SEED", "0"))
STEP = 50

each_block = pytest.mark.parametrize("first", range(FIRST, FIRST + PIPELINES, STEP))


def seeds_of(first: int, step: int = 1) -> range:
    """Return the seeds of a block, or each `step`-th of them."""
    return range(first, min(first + STEP, FIRST + PIPELINES), step)


def probes_of(seed: int, pipeline: Pipeline, both: Both) -> Iterator[Probe]:
    """Yield everything that is asked about one pipeline."""
    rng = random.Random(seed)
    yield from text_probes(pipeline.texts)
    yield from pair_probes(rng, pipeline.texts, lambda pair: both.ours.num_special_tokens_to_add(pair=pair))
    yield from id_probes(rng, both.ours.max_id + 1)


@each_block
def test_random_pipelines_equal_stock(first: int) -> None:
    loaded = 0
    for seed in seeds_of(first):
        pipeline = random_pipeline(seed)
        both = Both(pipeline.json)
        assert both.refused is None, f"seed {seed}: {report(pipeline.json, None)}"
        loaded += both.loads
        for probe in probes_of(seed, pipeline, both) if both.loads else ():
            if both.difference(probe) is not None:
                pytest.fail(f"seed {seed}: {report(pipeline.json, probe)}", pytrace=False)
    assert loaded > 0.8 * len(seeds_of(first)), "most random files should load"


def assert_same(ours: Any, stock: Any, what: str) -> None:
    """Assert that both calls return one value, or both raise, or stock panics."""
    try:
        expected = stock_outcome(stock)
    except StockPanicked:
        outcome(ours)  # anything but a panic of our own
        return
    got = outcome(ours)
    if isinstance(expected, Exception):
        assert isinstance(got, Exception), f"{what}: stock raises {expected!r}"
    else:
        assert got == expected, what


@each_block
def test_calls_equal_the_stock_class(first: int) -> None:
    for seed in seeds_of(first, 5):
        pipeline = random_pipeline(seed)
        both = Both(pipeline.json)
        if not both.loads:
            continue
        rng = random.Random(seed)
        settings: dict[str, Any] = {"padding_side": rng.choice(("left", "right")), "pad_token": "<pad>"}
        settings["truncation_side"] = rng.choice(("left", "right"))
        stock = PreTrainedTokenizerFast(tokenizer_object=both.stock, **settings)
        ours = HfBpeTokenizer(tokenizer_object=both.stock, **settings)
        # Windows with room for text; the others are an error here, and go without text in stock.
        shortest = 3 + max(ours.num_special_tokens_to_add(pair=pair) for pair in (False, True))
        for _ in range(6):
            texts = rng.sample(pipeline.texts, 3)
            pairs = rng.sample(pipeline.texts, 3) if rng.random() < 0.4 else None
            options: dict[str, Any] = {
                "add_special_tokens": rng.random() < 0.7,
                "padding": rng.choice((False, True, "max_length")),
                "truncation": rng.choice((False, True, "only_first", "only_second")),
                "max_length": max(shortest, rng.randrange(6, 30)),
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

            name = f"seed {seed}, {excerpt(str((texts, pairs, options)))}"
            assert_same(lambda: call(ours), lambda: call(stock), name)  # noqa: B023 - called at once


def test_random_pipelines_hold_every_kind_that_is_supported() -> None:
    files = [random_pipeline(seed).json for seed in range(400)]

    for part, kinds in supported_components().items():
        found = set(re.findall(r'"type": "(\w+)"', json.dumps([file[part] for file in files])))
        assert found >= set(kinds), part


def test_a_failure_is_shown_as_the_smallest_file_and_text_that_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    """The shrinker is judged by a fault that is known: here, hf_bpe reads each file without its Digits."""
    data = random_pipeline(0).json | {"post_processor": None, "added_tokens": []}
    digits = {"type": "Digits", "individual_digits": True}
    steps = [digits, {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": False}]
    data["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": steps}
    from_json = Tokenizer.from_json
    faulty = {"type": "Digits", "individual_digits": False}

    class Faulty:
        @staticmethod
        def from_json(text: str) -> Any:
            return from_json(text.replace(json.dumps(digits), json.dumps(faulty)))

    monkeypatch.setattr("pipelines.probes.Tokenizer", Faulty)
    probe = Probe("some text, and 1234 more")

    small, asked = shrink(copy.deepcopy(data), probe)

    assert asked is not None
    assert isinstance(asked.text, str)
    assert len(asked.text) == 2
    assert asked.text.isdigit()
    assert small["pre_tokenizer"] == digits
    assert len(small["model"]["vocab"]) < 5
    assert difference(small, asked) is not None
    assert '"individual_digits": true' in report(small, asked)


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


def test_what_was_cached_as_bytes_is_not_taken_for_the_byte_alphabet() -> None:
    data = random_pipeline(0).json | {"added_tokens": [], "post_processor": None}
    data["normalizer"] = {"type": "Replace", "pattern": {"Regex": "$"}, "content": "x"}
    data["pre_tokenizer"] = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": True}
    units = [bytes_to_token(bytes([byte])) for byte in range(256)]
    data["model"] = {"type": "BPE", "vocab": {unit: id for id, unit in enumerate(units)}, "merges": []}
    ours, stock = Tokenizer.from_json(json.dumps(data)), tokenizers.Tokenizer.from_str(json.dumps(data))

    # U+0120 stands for a space in the byte alphabet. The pattern matches at the start where a newline is.
    for text in ("\u0120b", "\n b", "\u0120b", "\n\u00e9", "\u00c3\u00a9", "\n\u00e9"):
        assert ours.encode_ids(text) == stock.encode(text).ids, text
