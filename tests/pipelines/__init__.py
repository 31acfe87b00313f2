"""Random pipelines: a `tokenizer.json` of any of the supported components, and texts that provoke it.

A module for each key of the file; `probes` asks both libraries one question, `shrinking` makes a failure small.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tokenizers

from pipelines.added import random_added_tokens
from pipelines.decoders import random_decoder
from pipelines.models import random_model
from pipelines.normalizers import random_normalizer
from pipelines.post_processors import random_post_processor
from pipelines.pre_tokenizers import random_pre_tokenizer
from pipelines.texts import random_texts_for

Json = dict[str, Any]

__all__ = ["Json", "Pipeline", "random_pipeline"]


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A file and texts for it."""

    json: Json
    texts: list[str]


def random_pipeline(seed: int) -> Pipeline:
    """Return the pipeline of `seed`."""
    rng = random.Random(seed)
    data: Json = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": []}
    data["normalizer"] = random_normalizer(rng)
    data["pre_tokenizer"] = random_pre_tokenizer(rng)
    model = random_model(rng, byte_alphabet="ByteLevel" in json.dumps(data))
    data["added_tokens"] = random_added_tokens(rng, model["vocab"], normal_form_of(data | {"model": model}))
    specials = {token["content"]: token["id"] for token in data["added_tokens"]}
    specials = specials or dict([next(iter(model["vocab"].items()))])
    data["post_processor"] = random_post_processor(rng, specials)
    data["decoder"] = random_decoder(rng, model)
    return Pipeline(
        data | {"model": model}, random_texts_for(rng, [token["content"] for token in data["added_tokens"]])
    )


def normal_form_of(data: Json) -> Callable[[str], str | None]:
    """Return what gives the normal form of an added token; None where stock can't tell."""
    normalizer = tokenizers.Tokenizer.from_str(json.dumps(data)).normalizer
    if normalizer is None:
        return lambda content: content

    def normalize(content: str) -> str | None:
        try:
            normal: str = normalizer.normalize_str(content)
        except BaseException as error:
            if type(error).__name__ != "PanicException":
                raise
            return None
        return normal

    return normalize
