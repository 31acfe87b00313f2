"""Small tokenizers and checkpoints for the tests of embeddings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from safetensors.numpy import save_file

from hf_bpe import HfBpeTokenizer, train
from hf_bpe.vocabulary import Vocabulary

DIMENSIONS = 16


def old_tokenizer() -> HfBpeTokenizer:
    texts = ["the cat sat on the mat, the cat sat on the hat " * 3, "语言模型 语言模型"]
    return train(texts, vocab_size=280, eos_token="<|end|>", progress=False)


def extended(old: HfBpeTokenizer, *merges: tuple[str, str]) -> HfBpeTokenizer:
    """Return `old` with merges, and their tokens, after its own."""
    content = json.loads(old._core.to_json())
    size = len(old)
    for left, right in merges:
        content["model"]["merges"].append([left, right])
        if left + right not in content["model"]["vocab"]:
            content["model"]["vocab"][left + right] = size
            size += 1
    return HfBpeTokenizer.from_vocabulary(Vocabulary.from_json(content, special_tokens={"eos_token": "<|end|>"}))


def numbers(*shape: int, seed: int = 0, dtype: Any = np.float32) -> np.ndarray[Any, Any]:
    return np.random.default_rng([seed, *shape]).normal(0, 0.02, shape).astype(dtype)


def checkpoint(
    path: Path, tokenizer: HfBpeTokenizer, *, rows: int, tied: bool, sharded: bool, dtype: Any = ml_dtypes.bfloat16
) -> Path:
    """Write a model of two layers as transformers lays it out."""
    path.mkdir()
    tensors = {"model.embed_tokens.weight": numbers(rows, DIMENSIONS, dtype=dtype)}
    for layer in range(2):
        tensors[f"model.layers.{layer}.mlp.weight"] = numbers(DIMENSIONS, 24, seed=layer, dtype=dtype)
        tensors[f"model.layers.{layer}.steps"] = np.arange(3, dtype=np.int64)
    tensors["model.norm.weight"] = numbers(DIMENSIONS, dtype=np.float32)
    if not tied:
        tensors["lm_head.weight"] = numbers(rows, DIMENSIONS, seed=9, dtype=dtype)
    if sharded:
        names = sorted(tensors)
        shards = {name: f"model-0000{1 + number % 3}-of-00003.safetensors" for number, name in enumerate(names)}
        for shard in set(shards.values()):
            save_file({n: tensors[n] for n in names if shards[n] == shard}, path / shard, metadata={"format": "pt"})
        index = {"metadata": {"total_size": sum(t.nbytes for t in tensors.values())}, "weight_map": shards}
        text = json.dumps(index, indent=2, sort_keys=True) + "\n"
        (path / "model.safetensors.index.json").write_text(text, encoding="utf-8")
    else:
        save_file(tensors, path / "model.safetensors", metadata={"format": "pt", "made": "by a test"})
    eos = tokenizer.convert_tokens_to_ids("<|end|>")
    config = {"model_type": "llama", "vocab_size": rows, "eos_token_id": eos, "tie_word_embeddings": tied}
    (path / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    (path / "generation_config.json").write_text(json.dumps({"eos_token_id": [eos]}), encoding="utf-8")
    (path / "LICENSE").write_text("terms\n", encoding="utf-8")
    tokenizer.save_pretrained(path)
    return path
