"""Every post-processor, alone and in rows, puts special tokens where the stock library puts them.

`HF_BPE_FUZZ` is the number of random post-processors (300 by default), `HF_BPE_FUZZ_SEED` the first of them: a failure
names its seed. Where stock panics, hf_bpe raises or does the obvious; windows without room for text are left out.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from typing import Any

import pytest
import tokenizers
from parity import FIELDS
from pipelines import random_pipeline
from transformers import PreTrainedTokenizerFast

from hf_bpe import HfBpeTokenizer, TokenizerFileError, UnsupportedComponentError
from hf_bpe._native import Tokenizer

Json = dict[str, Any]

PROCESSORS = int(os.environ.get("HF_BPE_FUZZ", "300"))
FIRST = int(os.environ.get("HF_BPE_FUZZ_SEED", "0"))
STEP = 50
STRATEGIES = ("longest_first", "only_first", "only_second")

each_block = pytest.mark.parametrize(
    "seeds", [range(first, first + STEP) for first in range(FIRST, FIRST + PROCESSORS, STEP)]
)


class StockPanicked(Exception):
    """Stock gave up in a way that nobody can want to equal."""


def of_stock(work: Callable[[], Any]) -> Any:
    """Return what stock returns."""
    try:
        return work()
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            raise StockPanicked from error
        raise


def random_processor(rng: random.Random, specials: dict[str, int], depth: int = 0) -> Json:
    """Return a post-processor of any kind, rows of up to four included."""
    kinds = ["BertProcessing", "RobertaProcessing", "ByteLevel", "TemplateProcessing"]
    kind = rng.choice([*kinds, *(["Sequence"] * 4 if depth == 0 else ["Sequence"] if depth == 1 else [])])
    if kind == "Sequence":
        steps = [random_processor(rng, specials, depth + 1) for _ in range(rng.randrange(5))]
        return {"type": kind, "processors": steps}
    if kind == "TemplateProcessing":
        return {"type": kind, **template(rng, specials)}
    body: Json = {"type": kind}
    if kind != "ByteLevel":
        body |= {name: list(rng.choice(sorted(specials.items()))) for name in ("sep", "cls")}
    if kind != "BertProcessing":
        body |= {name: rng.random() < 0.5 for name in ("trim_offsets", "add_prefix_space")}
    return body


def template(rng: random.Random, specials: dict[str, int]) -> Json:
    """Return the members of a template with up to two special tokens a text."""
    names = rng.sample(sorted(specials), min(len(specials), 2))

    def pieces(*texts: str) -> list[Json]:
        items: list[Json] = [{"Sequence": {"id": text, "type_id": rng.randrange(3)}} for text in texts]
        for _ in range(rng.randrange(3)):
            special = {"SpecialToken": {"id": rng.choice(names), "type_id": rng.randrange(3)}}
            items.insert(rng.randrange(len(items) + 1), special)
        return items

    table = {name: {"id": name, "ids": [specials[name]], "tokens": [name]} for name in names}
    return {"single": pieces("A"), "pair": pieces("A", "B"), "special_tokens": table}


def random_file(seed: int) -> tuple[Json, list[str]]:
    """Return a tokenizer.json with the post-processor of `seed`, and texts for it."""
    rng = random.Random(seed)
    pipeline = random_pipeline(seed)
    model = pipeline.json["model"]["vocab"]
    specials = {token["content"]: token["id"] for token in pipeline.json["added_tokens"]}
    specials |= dict(rng.sample(sorted(model.items()), 2))
    return pipeline.json | {"post_processor": random_processor(rng, specials)}, pipeline.texts


def fields_of(encoding: Any) -> Json:
    """Return everything that an encoding says, of its windows too."""
    fields = {name: getattr(encoding, name) for name in (*FIELDS, "sequence_ids", "attention_mask")}
    return fields | {"overflowing": [fields_of(window) for window in encoding.overflowing]}


@each_block
def test_encodings_equal_stock(seeds: range) -> None:
    for seed in seeds:
        data, texts = random_file(seed)
        stock = tokenizers.Tokenizer.from_str(json.dumps(data))
        try:
            ours = Tokenizer.from_json(json.dumps(data))
        except TokenizerFileError as error:
            if "is a TemplateProcessing for one text or a pair" not in str(error):
                raise
            with pytest.raises(StockPanicked):
                of_stock(lambda: stock.post_processor.process(tokenizers.Encoding()))  # noqa: B023
            continue
        assert_calls_equal(random.Random(seed), ours, stock, texts, f"seed {seed}, {data['post_processor']}")


def assert_calls_equal(rng: random.Random, ours: Tokenizer, stock: Any, texts: list[str], what: str) -> None:
    """Assert that random calls with pairs, windows and without special tokens give the same."""
    for pair in (False, True):
        assert ours.num_special_tokens_to_add(pair=pair) == stock.num_special_tokens_to_add(pair), what
    for _ in range(20):
        one, two = rng.choice(texts), rng.choice(texts) if rng.random() < 0.6 else None
        specials = rng.random() < 0.8
        cut: Any = (rng.randrange(24), rng.randrange(4), rng.choice(STRATEGIES), rng.choice(("right", "left")))
        room = cut[0] - specials * ours.num_special_tokens_to_add(pair=two is not None)
        if rng.random() < 0.4 or room < 0 or room == 0 < cut[1]:
            cut = None
            stock.no_truncation()
        else:
            settings = dict(zip(("max_length", "stride", "strategy", "direction"), cut, strict=True))
            try:
                stock.enable_truncation(**settings)
            except ValueError:
                continue
        try:
            expected = of_stock(lambda: fields_of(stock.encode(one, two, add_special_tokens=specials)))  # noqa: B023
        except StockPanicked:
            expected = None
        except Exception:
            with pytest.raises((ValueError, KeyError), match=r"."):
                ours.encode(one, two, add_special_tokens=specials, truncation=cut)
            continue
        try:
            got = fields_of(ours.encode(one, two, add_special_tokens=specials, truncation=cut))
        except (TokenizerFileError, ValueError):
            assert expected is None, what
            continue
        if expected is None:
            continue
        assert got == expected, f"{what}, {one!a}, {two!a}, {specials}, {cut}"
        if cut is None:
            assert ours.encode_ids(one, two, add_special_tokens=specials) == expected["ids"], what
            if two is None:
                assert ours.encode_ids_batch([one, one], add_special_tokens=specials) == [expected["ids"]] * 2, what


@each_block
def test_the_class_puts_special_tokens_around_ids_as_its_calls_do(seeds: range) -> None:
    for seed in seeds[::5]:
        data, texts = random_file(seed)
        twin = tokenizers.Tokenizer.from_str(json.dumps(data))
        try:
            ours = HfBpeTokenizer(tokenizer_object=twin)
        except TokenizerFileError:
            continue
        stock = PreTrainedTokenizerFast(tokenizer_object=twin)
        for one, two in zip(texts, [None, *texts], strict=False):
            options: Json = {"return_token_type_ids": True, "return_special_tokens_mask": True}
            try:
                expected = dict(of_stock(lambda: stock(one, two, **options)))  # noqa: B023
            except Exception:  # a panic, or a character that no token stands for
                continue
            # The class takes an empty second text for none.
            bare = [ours.encode(text, add_special_tokens=False) for text in ([one, two] if two else [one])]
            got = {
                "input_ids": ours.build_inputs_with_special_tokens(*bare),
                "token_type_ids": ours.create_token_type_ids_from_sequences(*bare),
                "special_tokens_mask": ours.get_special_tokens_mask(*bare),
                "attention_mask": [1] * len(expected["input_ids"]),
            }
            assert got == expected, f"seed {seed}, {data['post_processor']}"


SEP_AND_CLS = {"sep": ["</s>", 1], "cls": ["<s>", 0]}


def with_processor(processor: Json) -> str:
    """Return a small tokenizer.json with this post-processor."""
    vocab = {token: index for index, token in enumerate(["<s>", "</s>", "a", "b"])}
    return json.dumps(
        {
            "version": "1.0",
            "added_tokens": [],
            "normalizer": None,
            "pre_tokenizer": None,
            "decoder": None,
            "post_processor": processor,
            "model": {"type": "BPE", "vocab": vocab, "merges": []},
        }
    )


@pytest.mark.parametrize(
    ("kind", "ids", "types"),
    [
        ("BertProcessing", [0, 2, 1, 3, 1], [0, 0, 0, 1, 1]),
        ("RobertaProcessing", [0, 2, 1, 1, 3, 1], [0, 0, 0, 0, 0, 0]),
    ],
)
def test_a_pair_is_enclosed_in_the_way_of_its_model(kind: str, ids: list[int], types: list[int]) -> None:
    trims = {} if kind == "BertProcessing" else {"trim_offsets": True, "add_prefix_space": False}
    tokenizer = Tokenizer.from_json(with_processor({"type": kind, **SEP_AND_CLS, **trims}))

    encoding = tokenizer.encode("a", "b")

    assert (encoding.ids, encoding.type_ids) == (ids, types)
    assert tokenizer.with_special_tokens([2], [3])[:2] == (ids, types)
    assert tokenizer.encode_ids("a") == tokenizer.with_special_tokens([2])[0] == [0, 2, 1]


@pytest.mark.parametrize(
    ("processor", "error", "message"),
    [
        (
            {"type": "BertProcessing", **SEP_AND_CLS, "trim_offsets": True, "add_prefix_space": True},
            UnsupportedComponentError,
            "post_processor has type 'BertProcessing' but the members of a 'RobertaProcessing'",
        ),
        ({"type": "RobertaProcessing", **SEP_AND_CLS}, TokenizerFileError, "post_processor lacks 'add_prefix_space'"),
        (
            {"type": "BertProcessing", "sep": ["</s>"], "cls": ["<s>", 0]},
            TokenizerFileError,
            r"post_processor\.sep should be a token and its id, found 1 items",
        ),
        (
            {"type": "BertProcessing", "sep": ["</s>", -1], "cls": ["<s>", 0]},
            TokenizerFileError,
            r"post_processor\.sep\[1\] should be a number from 0 to 4294967295, found -1",
        ),
    ],
)
def test_what_cannot_run_is_refused_with_its_place(processor: Json, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Tokenizer.from_json(with_processor(processor))
