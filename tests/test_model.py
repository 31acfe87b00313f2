"""Models that run on characters equal the stock library: byte fallback, affixes, unknown tokens, odd merges.

`HF_BPE_FUZZ` is the number of random models (300 by default), `HF_BPE_FUZZ_SEED` the first of them.
"""

from __future__ import annotations

import json
import os
import random
from typing import Any

import pytest
import tokenizers
from models import model_texts, random_pipeline
from parity import excerpt

from hf_bpe._native import Tokenizer

MODELS = int(os.environ.get("HF_BPE_FUZZ", "300"))
FIRST = int(os.environ.get("HF_BPE_FUZZ_SEED", "0"))
STEP = 25


def said(tokenizer: Any, text: str) -> Any:
    """Return all that an encoding says; None where encoding raises."""
    try:
        encoding = tokenizer.encode(text)
    except Exception:
        return None
    return encoding.ids, encoding.tokens, encoding.offsets, encoding.word_ids


def ids_of(tokenizer: Tokenizer, text: str) -> list[int] | None:
    """Return the ids, by the way that finds no offsets; None where encoding raises."""
    try:
        return tokenizer.encode_ids(text)
    except KeyError:
        return None


@pytest.mark.parametrize("first", range(FIRST, FIRST + MODELS, STEP))
def test_random_models_equal_stock(first: int) -> None:
    for seed in range(first, min(first + STEP, FIRST + MODELS)):
        rng = random.Random(seed)
        pipeline = random_pipeline(rng)
        data = json.dumps(pipeline)
        ours, stock = Tokenizer.from_json(data), tokenizers.Tokenizer.from_str(data)
        for text in model_texts(rng, [token["content"] for token in pipeline["added_tokens"]]):
            expected = said(stock, text)
            name = f"seed {seed}, {excerpt(text)}"
            assert said(ours, text) == expected, name
            # Twice: the second time from the cache.
            assert [ids_of(ours, text) for _ in range(2)] == [expected and expected[0]] * 2, name
