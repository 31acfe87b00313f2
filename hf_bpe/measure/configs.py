"""The config.json of a model, as far as costs depend on it. Names differ between families; sizes are checked."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Config = Mapping[str, Any]

DTYPE_BYTES: Mapping[str, float] = {
    **{"float32": 4, "float16": 2, "bfloat16": 2, "float8": 1, "fp8": 1, "int8": 1, "float4": 0.5, "int4": 0.5},
    **{"float8_e4m3fn": 1, "float8_e5m2": 1},
}
"""The bytes of a number of each type."""

_LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
_HEADS = ("num_attention_heads", "n_head", "n_heads")
_KV_HEADS = ("num_key_value_heads", "num_kv_heads", "n_kv_heads", "n_head_kv")
_HEAD_SIZES = ("head_dim", "kv_channels")
_MAY_SAY_KV_HEADS = re.compile("(?<!q)kv|key_value|group_num|multi_?query")
_NO_KV_HEADS = ("kv_channels", "num_kv_shared_layers", "multi_query_group_num")
_HIDDEN = ("hidden_size", "n_embd", "d_model")


def read_config(config: Any) -> Config:
    """Return a config as a mapping; of a multimodal model that of its language part.

    Args:
        config: A mapping, a `PretrainedConfig`, or the path of a config.json or of its directory.

    Raises:
        TypeError: It is none of these.
        ValueError: The file holds no JSON object.
    """
    if isinstance(config, str | os.PathLike):
        path = Path(config)
        path = path / "config.json" if path.is_dir() else path
        try:
            config = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{path} is no JSON: {error}") from None
    elif hasattr(config, "to_dict"):
        config = config.to_dict()
    if not isinstance(config, Mapping):
        raise TypeError(f"config is a mapping, a PretrainedConfig or the path of a config.json, got {config!r}.")
    inner = config.get("text_config")
    if not isinstance(inner, Mapping):
        return config
    outer = {key: config[key] for key in ("dtype", "torch_dtype", "tie_word_embeddings") if key in config}
    return {**outer, **inner}


def layers(config: Config) -> int:
    """Return how many layers the model has."""
    return size(config, *_LAYERS)


def attention_heads(config: Config) -> int:
    """Return how many attention heads a layer has."""
    return size(config, *_HEADS)


def hidden_size(config: Config) -> int:
    """Return how many numbers a token is between layers."""
    return size(config, *_HIDDEN)


def kv_heads(config: Config) -> int:
    """Return how many heads of keys and values a layer has: fewer than attention heads with GQA, one with MQA.

    Raises:
        ValueError: The config seems to say it in a way that isn't known.
    """
    if config.get("multi_query") and not config.get("new_decoder_architecture"):
        return 1
    if config.get("multi_query_attention"):  # ChatGLM; without it its groups count for nothing
        return size(config, "multi_query_group_num")
    if any(config.get(name) for name in _KV_HEADS):
        return size(config, *_KV_HEADS)
    inner = config.get("attn_config")  # DBRX and MPT
    if isinstance(inner, Mapping):
        if inner.get("attn_type") == "multiquery_attention":
            return 1
        if inner.get("kv_n_heads"):
            return size(inner, "kv_n_heads")
        _refuse_unread(inner, "attn_config.")
    _refuse_unread(config)
    return attention_heads(config)


def _refuse_unread(config: Config, where: str = "") -> None:
    """Raise where a key may say how many KV heads there are: to take all heads would be a guess."""
    for key, value in config.items():
        if value and _MAY_SAY_KV_HEADS.search(key) and key not in _NO_KV_HEADS:
            raise ValueError(
                f"config[{where + key!r}] is {value!r}, and may say how many KV heads there are in a way that isn't "
                "known here; give 'num_key_value_heads'."
            )


def head_size(config: Config) -> int:
    """Return how many numbers a head has."""
    if any(config.get(name) for name in _HEAD_SIZES):
        return size(config, *_HEAD_SIZES)
    hidden, heads = hidden_size(config), attention_heads(config)
    if hidden % heads:
        raise ValueError(f"the config has no 'head_dim', and {heads} heads don't divide a hidden size of {hidden}.")
    return hidden // heads


def by_class(config: Config, key: str) -> Any:
    """Return what transformers' class for the model makes of a config. None where it has no such class, or key.

    A config.json leaves out what its class takes by default: GPT-2's doesn't say that its embeddings are tied.
    """
    from transformers import AutoConfig

    given = {name: value for name, value in config.items() if name not in ("model_type", "dtype", "torch_dtype")}
    try:
        made = AutoConfig.for_model(str(config.get("model_type")), **given)
    except Exception:  # an unknown type is a ValueError; each class checks its values in its own way
        return None
    return getattr(made, key, None)


def dtype_of(config: Config) -> str:
    """Return the type of the model's numbers; bfloat16 where the config has none."""
    return str(config.get("dtype") or config.get("torch_dtype") or "bfloat16").removeprefix("torch.")


def dtype_bytes(dtype: str) -> float:
    """Return the bytes of a number.

    Raises:
        ValueError: The type isn't known.
    """
    if dtype not in DTYPE_BYTES:
        raise ValueError(f"dtype={dtype!r} is not known; the types are {', '.join(DTYPE_BYTES)}.")
    return DTYPE_BYTES[dtype]


def size(config: Config, *names: str) -> int:
    """Return the first of these sizes that a config has.

    Raises:
        ValueError: It has none, or one that is no positive integer.
    """
    found = next((name for name in names if config.get(name) is not None), None)
    if found is None:
        raise ValueError(f"the config has no {names[0]!r}" + (f" (or {', '.join(names[1:])})." if names[1:] else "."))
    value = config[found]
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"config[{found!r}] is {value!r}, and must be a positive integer.")
    return value
