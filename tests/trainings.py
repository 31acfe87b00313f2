"""Trainings of byte-level vocabularies by the native core and by stock, for the tests of training."""

from __future__ import annotations

import json
import sysconfig
import warnings
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import pre_tokenizers, trainers

from hf_bpe import HfBpeTokenizer
from hf_bpe._native import Counter, Tokenizer
from hf_bpe.pipeline_json import byte_level_pipeline, counting_pipeline
from hf_bpe.retraining import retrain
from hf_bpe.training import train

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


def quietly_retrained(*arguments: Any, **options: Any) -> str:
    """Train anew without a bar, from a corpus that may be too small for the size asked for."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return retrain(*arguments, show_progress=False, **options)
