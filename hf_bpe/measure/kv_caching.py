"""`kv_cache`: the bytes that a model keeps for each token of its context. A tokenizer's choice is paid for here.

Keys and values are kept for KV heads, not for attention heads. Latent attention (MLA) keeps one compressed vector and
the rotary part; a layer with a sliding window keeps no more tokens than its window; one without attention keeps none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from hf_bpe.measure.configs import (
    Config,
    attention_heads,
    by_class,
    dtype_bytes,
    dtype_of,
    head_size,
    kv_heads,
    layers,
    read_config,
    size,
)
from hf_bpe.measure.results import Cell, Column, Result, Table

_FULL, _SLIDING = "full_attention", "sliding_attention"
_WITHOUT_CACHE = ("linear_attention", "mamba", "conv", "recurrent")
_CONTEXTS = (1_000, 8_192, 32_768, 131_072)
_MIB = 1 << 20


@dataclass(frozen=True)
class KVCache(Result):
    """What a model's cache of keys and values takes.

    Attributes:
        model: What kind of model it is.
        attention: `"MHA"`, `"GQA"`, `"MQA"` or `"MLA"`.
        dtype: The type of the numbers kept.
        layer_bytes: The bytes that one layer keeps for one token.
        full_layers: How many layers keep every token.
        sliding_layers: How many keep the last `window` tokens alone.
        window: The length of the sliding window. None where no layer has one.
        context: The context that was asked for.
    """

    model: str
    attention: str
    dtype: str
    layer_bytes: float
    full_layers: int
    sliding_layers: int = 0
    window: int | None = None
    context: int | None = None

    @property
    def bytes_per_token(self) -> float:
        """The bytes for one token, within the window if there is one."""
        return self.layer_bytes * (self.full_layers + self.sliding_layers)

    def bytes_of(self, tokens: int) -> float:
        """Return the bytes for a context of so many tokens.

        Raises:
            ValueError: `tokens` is negative.
        """
        if tokens < 0:
            raise ValueError(f"tokens={tokens}: a context has at least 0 tokens.")
        kept = tokens if self.window is None else min(tokens, self.window)
        return self.layer_bytes * (self.full_layers * tokens + self.sliding_layers * kept)

    def cost_of_longer(self, share: float, *, context: int | None = None) -> float:
        """Return how many bytes more the cache takes if the same text takes `share` more tokens: 0.2 is 20 %.

        Raises:
            ValueError: No context is known, or `share` is below -1 or infinite.
        """
        tokens = self.context if context is None else context
        if tokens is None:
            raise ValueError("cost_of_longer() needs a context; give one here or to kv_cache().")
        if not share >= -1:
            raise ValueError(f"share={share}: a text can't have less than no tokens; 0.2 means 20 % more.")
        if share == inf:
            raise ValueError(f"share={share} is no finite number; 0.2 means 20 % more.")
        return self.bytes_of(round(tokens * (1 + share))) - self.bytes_of(tokens)

    @property
    def title(self) -> str:
        """What was measured."""
        window = f", {self.sliding_layers} layers with a window of {self.window:,}" if self.window else ""
        return f"KV cache of {self.model}: {self.attention}, {self.dtype}{window}"

    def tables(self) -> list[Table]:
        """Return a row for a token, for some contexts, and for the one that was asked for."""
        contexts = sorted({1, *_CONTEXTS, *([] if self.context is None else [self.context])})
        rows: list[list[Cell]] = []
        for tokens in contexts:
            kept, more = self.bytes_of(tokens), self.cost_of_longer(0.1, context=tokens)
            rows.append([f"{tokens:,}", _whole(kept), kept / _MIB, _whole(more)])
        columns = [Column("tokens", "text"), Column("bytes", compared=True), Column("MiB", "number")]
        return [Table("KV cache", [*columns, Column("bytes for 10 % more tokens", compared=True)], rows)]


@dataclass(frozen=True)
class LongerText(Result):
    """What a model's cache takes for the same text with two tokenizers.

    Attributes:
        cache: The cache.
        first: The first tokenizer.
        second: The second.
        share: By which share the tokens grow from the first to the second.
    """

    cache: KVCache
    first: str
    second: str
    share: float

    @property
    def title(self) -> str:
        """What was measured."""
        return f"KV cache of {self.cache.model} for the same text, {self.first} against {self.second}"

    def tables(self) -> list[Table]:
        """Return a row for each context of the first tokenizer."""
        contexts = _CONTEXTS if self.cache.context is None else [self.cache.context]
        rows = [self._row(tokens) for tokens in contexts]
        columns = [Column("tokens of the first", "text"), Column("tokens of the second"), Column("change", "share")]
        return [Table("The same text", [*columns, Column("bytes more"), Column("MiB more", "number")], rows)]

    def _row(self, tokens: int) -> list[Cell]:
        more = self.cache.cost_of_longer(self.share, context=tokens)
        return [f"{tokens:,}", round(tokens * (1 + self.share)), self.share, _whole(more), more / _MIB]


def kv_cache(config: Any, *, context: int | None = None, dtype: str | None = None) -> KVCache:
    """Return the bytes of keys and values that a model keeps: for a token, for 1,000, for a context.

    Args:
        config: A mapping, a `PretrainedConfig`, or the path of a config.json or of its directory.
        context: A context, in tokens.
        dtype: The type of the numbers kept. By default that of the model; bfloat16 where it has none.

    Raises:
        ValueError: The config lacks a size, or has a kind of layer or a type that isn't known.
        TypeError: `config` is no config.

    Example:
        >>> kv_cache("Qwen2.5-7B").bytes_per_token
        57344
    """
    read = read_config(config)
    if context is not None and context < 0:
        raise ValueError(f"context={context}: a context has at least 0 tokens.")
    kept = dtype or dtype_of(read)
    attention, numbers = _numbers(read)
    kinds = _layer_kinds(read)
    kinds = kinds[: len(kinds) - (read.get("num_kv_shared_layers") or 0)]  # Gemma 3n: the last ones keep none
    sliding = kinds.count(_SLIDING)
    window = size(read, "sliding_window") if sliding else None
    name = str(read.get("model_type") or "a model")
    layer_bytes = _whole(numbers * dtype_bytes(kept))
    return KVCache(name, attention, kept, layer_bytes, kinds.count(_FULL), sliding, window, context)


def _numbers(config: Config) -> tuple[str, int]:
    """Return the kind of attention, and how many numbers a layer keeps for a token."""
    if config.get("kv_lora_rank"):
        return "MLA", size(config, "kv_lora_rank") + size(config, "qk_rope_head_dim")
    heads = kv_heads(config)
    queries = attention_heads(config)
    if queries % heads:
        raise ValueError(f"the config has {heads} KV heads, which don't divide {queries} attention heads.")
    kind = "MHA" if heads == queries else "MQA" if heads == 1 else "GQA"
    return kind, 2 * heads * head_size(config)


def _layer_kinds(config: Config) -> Sequence[str]:
    count = layers(config)
    listed = _listed(config)
    if listed is not None:
        if len(listed) != count:
            raise ValueError(f"config['layer_types'] lists {len(listed)} layers, and the model has {count}.")
        return [_kind(layer, index) for index, layer in enumerate(listed)]
    if not _has_windows(config):
        return [_FULL] * count
    if (pattern := config.get("sliding_window_pattern")) is not None:
        every = size({"sliding_window_pattern": pattern}, "sliding_window_pattern")
        return [_FULL if (index + 1) % every == 0 else _SLIDING for index in range(count)]
    if config.get("use_sliding_window"):  # Qwen: the layers below max_window_layers see everything
        first = min(count, config.get("max_window_layers", 0))
        return [_FULL] * first + [_SLIDING] * (count - first)
    return [_SLIDING] * count


def _has_windows(config: Config) -> bool:
    if config.get("sliding_window") is None:
        return False
    used = config.get("use_sliding_window")
    return (by_class(config, "use_sliding_window") if used is None else used) is not False


def _listed(config: Config) -> Sequence[Any] | None:
    """Return the kinds of layers that the config lists, or that its class would, as Gemma's, which alternate."""
    listed: Sequence[Any] | None = config.get("layer_types")
    if listed is None and _has_windows(config) and config.get("sliding_window_pattern") is None:
        listed = by_class(config, "layer_types")
    return listed


def _kind(layer: Any, index: int) -> str:
    if layer in (_FULL, _SLIDING, *_WITHOUT_CACHE):
        return str(layer)
    known = ", ".join(map(repr, (_FULL, _SLIDING, *_WITHOUT_CACHE)))
    raise ValueError(f"config['layer_types'][{index}] is {layer!r}; the kinds are {known}.")


def _whole(number: float) -> float:
    return int(number) if number == int(number) else number
