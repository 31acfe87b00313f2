"""Extending random small vocabularies: each option of the model, odd merges and added tokens, each component.

`HF_BPE_FUZZ` is the number of vocabularies of each kind, `HF_BPE_FUZZ_SEED` the first of them.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable

import pipelines
import pytest
import tokenizers
from extending import assert_only_joined, ids_of, quietly, tokenizer_of
from models import model_texts, random_pipeline

from hf_bpe import ExtensionReport, HfBpeTokenizer, add_words
from hf_bpe._native import encode_words
from hf_bpe.embeddings import plan_rows
from hf_bpe.errors import HfBpeError
from hf_bpe.pipeline_json import Json

Make = Callable[[int], tuple[Json, list[str]]]

MODELS = int(os.environ.get("HF_BPE_FUZZ", "150"))
FIRST = int(os.environ.get("HF_BPE_FUZZ_SEED", "0"))


Extended = tuple[HfBpeTokenizer, HfBpeTokenizer, ExtensionReport, list[str]]


def of_characters(seed: int) -> tuple[Json, list[str]]:
    """Return a model of characters without much around it, and texts for it."""
    rng = random.Random(seed)
    pipeline = random_pipeline(rng)
    contents = [token["content"] for token in pipeline["added_tokens"]]
    return pipeline, [text for _ in range(25) for text in model_texts(rng, contents)]


def of_any_components(seed: int) -> tuple[Json, list[str]]:
    """Return a pipeline of any components, with a model of bytes or of characters, and texts for it."""
    pipeline = pipelines.random_pipeline(seed)
    return pipeline.json, pipeline.texts


def random_old(make: Make, seed: int) -> tuple[HfBpeTokenizer, list[str]]:
    """Return a random tokenizer, and texts for it."""
    pipeline, texts = make(seed)
    pipeline["model"]["dropout"] = None
    if seed % 4:  # as files have them whose tokens were added in training
        ids = {token["content"]: token["id"] for token in pipeline["added_tokens"]}
        pipeline["model"]["vocab"] = ids | pipeline["model"]["vocab"]
    try:
        old = tokenizer_of(pipeline)
        ids_of(old, texts)
    except (HfBpeError, KeyError) as error:  # the latter for an unk_token that the vocabulary lacks
        pytest.skip(f"it can't be used: {error}")
    return old, texts


def extended(make: Make, seed: int) -> Extended:
    """Return a random tokenizer, its extension on half of its texts, and all texts."""
    old, texts = random_old(make, seed)
    try:
        new, report = quietly(old, texts[::2], num_new_tokens=random.Random(seed).choice((3, 30, 300)))
    except ValueError as error:
        if not any(reason in str(error) for reason in ("is not in model.vocab", "the model has ignore_merges and")):
            raise
        pytest.skip(f"it can't be extended: {error}")
    return old, new, report, texts


each_kind = pytest.mark.parametrize("make", [of_characters, of_any_components])


@each_kind
@pytest.mark.parametrize("seed", range(FIRST, FIRST + MODELS))
def test_tokens_are_only_joined(make: Make, seed: int) -> None:
    old, new, report, texts = extended(make, seed)

    assert_only_joined(old, new, report, texts)


@each_kind
@pytest.mark.parametrize("seed", range(FIRST, FIRST + MODELS, 3))
def test_stock_gives_the_same_ids(make: Make, seed: int) -> None:
    _, new, _, texts = extended(make, seed)
    stock = tokenizers.Tokenizer.from_str(new._core.to_json())
    try:
        rows = [encoding.ids for encoding in stock.encode_batch(texts, add_special_tokens=False)]
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        pytest.skip("stock panics on these texts")

    assert rows == ids_of(new, texts)


@each_kind
@pytest.mark.parametrize("seed", range(FIRST, FIRST + MODELS, 3))
def test_old_merges_keep_their_ranks(make: Make, seed: int) -> None:
    old, new, _, _ = extended(make, seed)
    before = json.loads(old._core.to_json())["model"]["merges"]

    assert json.loads(new._core.to_json())["model"]["merges"][: len(before)] == before


@each_kind
@pytest.mark.parametrize("seed", range(FIRST, FIRST + MODELS, 3))
def test_an_extension_can_be_extended(make: Make, seed: int) -> None:
    old, new, report, texts = extended(make, seed)

    newer, second = quietly(new, texts, num_new_tokens=20)

    assert_only_joined(new, newer, second, texts)
    parts = {token.id: token.parts for token in report.added}
    expanded = {token.id: [part for half in token.parts for part in parts.get(half, (half,))] for token in second.added}
    for before, after in zip(ids_of(old, texts), ids_of(newer, texts), strict=True):
        assert [part for token in after for part in expanded.get(token, parts.get(token, (token,)))] == before


@each_kind
@pytest.mark.parametrize("seed", range(FIRST, FIRST + MODELS, 3))
def test_each_new_token_is_made_of_its_own_text(make: Make, seed: int) -> None:
    _, new, report, _ = extended(make, seed)
    settings = new.vocabulary.model_settings
    if settings["continuing_subword_prefix"] or settings["end_of_word_suffix"]:
        pytest.skip("inside a word tokens are spelled in another way")

    rows = encode_words(new._core, [token.token for token in report.added])

    assert rows == [[token.id] for token in report.added]


@each_kind
@pytest.mark.parametrize("seed", range(FIRST, FIRST + MODELS, 3))
def test_rows_are_made_of_the_pieces_that_the_report_says(make: Make, seed: int) -> None:
    old, new, report, _ = extended(make, seed)

    plan = plan_rows(old, new, num_old_rows=len(old))

    assert plan.parts == {token.id: tuple(token.parts) for token in report.added}
    assert plan.moved == plan.padding == 0


@each_kind
@pytest.mark.parametrize("seed", range(FIRST, FIRST + MODELS, 3))
def test_no_token_that_a_text_gives_is_called_unreachable(make: Make, seed: int) -> None:
    _, new, report, texts = extended(make, seed)

    given = {token_id for row in ids_of(new, texts[::2]) for token_id in row}

    assert not given & {token.id for token in report.unreachable}


@each_kind
@pytest.mark.parametrize("seed", range(FIRST, FIRST + MODELS, 3))
def test_words_only_join_tokens_and_are_one(make: Make, seed: int) -> None:
    old, texts = random_old(make, seed)
    draw = random.Random(seed)
    pieces = [word for text in texts for word in text.split() if word.isprintable()]
    words = [word[:6] for word in draw.sample(pieces, min(4, len(pieces)))]
    try:
        new, report = add_words(old, words, skip_refused=True)
    except ValueError as error:
        if not any(reason in str(error) for reason in ("is not in model.vocab", "the model has ignore_merges and")):
            raise
        pytest.skip(f"it can't be extended: {error}")

    assert_only_joined(old, new, report, texts)
    done = [word for word in words if word not in {refused.word for refused in report.refused}]
    assert [len(row) for row in ids_of(new, done)] == [1] * len(done)
    assert not {row[0] for row in ids_of(new, done)} & {token.id for token in report.unreachable}
