"""`embedding_share`: how much of a model is its vocabulary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hf_bpe.measure.configs import (
    Config,
    attention_heads,
    by_class,
    head_size,
    hidden_size,
    kv_heads,
    layers,
    read_config,
    size,
)
from hf_bpe.measure.results import Column, Result, Table

_COUNTED = ("llama", "mistral", "qwen2", "qwen3")
"""The families of dense models whose parameters are counted here."""


@dataclass(frozen=True)
class EmbeddingShare(Result):
    """The parameters that a vocabulary takes.

    Attributes:
        model: What kind of model it is.
        vocab_size: How many rows its embedding has.
        hidden_size: How long a row is.
        tied: Whether the output shares its rows with the input.
        parameters: All parameters of the model, with a vocabulary of this size.
        tokenizer: The tokenizer whose vocabulary it is. Empty where none was named.
    """

    model: str
    vocab_size: int
    hidden_size: int
    tied: bool
    parameters: int
    tokenizer: str = ""

    @property
    def embedding_parameters(self) -> int:
        """The parameters of the input, and of the output where it isn't tied."""
        return self.vocab_size * self.hidden_size * (1 if self.tied else 2)

    @property
    def share(self) -> float:
        """The share of all parameters, from 0 to 1."""
        return self.embedding_parameters / self.parameters

    @property
    def title(self) -> str:
        """What was measured."""
        vocabulary = f", {self.tokenizer}" if self.tokenizer else ""
        return f"Embeddings of {self.model}{', tied' if self.tied else ''}{vocabulary}"

    def tables(self) -> list[Table]:
        """Return one row."""
        row = (self.model, self.vocab_size, self.embedding_parameters, self.parameters, self.share)
        counts = [Column(name, compared=True) for name in ("vocabulary", "embedding parameters", "parameters")]
        columns = [Column("model", "text"), *counts, Column("share", "share", compared=True)]
        return [Table("Share of embeddings", columns, [row])]


def embedding_share(
    config: Any,
    vocab_size: int | None = None,
    *,
    parameters: int | None = None,
    tied: bool | None = None,
    name: str = "",
) -> EmbeddingShare:
    """Return which share of a model's parameters are embeddings, with a vocabulary of some size.

    Args:
        config: A mapping, a `PretrainedConfig`, or the path of a config.json or of its directory.
        vocab_size: The rows of the embedding. By default what the config says.
        parameters: All parameters of the model as it is. Counted from the config for llama, mistral, qwen2 and qwen3.
        tied: Whether input and output share rows. By default what the config says, or else its class in
            transformers.
        name: How the tokenizer is named.

    Raises:
        ValueError: A size is missing, nothing says whether rows are shared, or `parameters` are needed or too few.

    Example:
        >>> embedding_share("Qwen2.5-7B").share
        0.143
    """
    read = read_config(config)
    rows = size({"vocab_size": vocab_size}, "vocab_size") if vocab_size is not None else size(read, "vocab_size")
    is_tied = _is_tied(read) if tied is None else tied
    hidden, matrices = hidden_size(read), 1 if is_tied else 2
    if parameters is None:
        body = _body(read)
    else:
        body = parameters - size(read, "vocab_size") * hidden * matrices
        if body < 0:
            raise ValueError(f"parameters={parameters:,} are fewer than the embedding of the config has.")
    model = str(read.get("model_type") or "a model")
    return EmbeddingShare(model, rows, hidden, is_tied, body + rows * hidden * matrices, name)


def _is_tied(config: Config) -> bool:
    said = config.get("tie_word_embeddings")
    if said is None:  # the default: other values of the config don't matter
        said = by_class({"model_type": config.get("model_type")}, "tie_word_embeddings")
    if said is None:
        raise ValueError(
            f"the config has no 'tie_word_embeddings', and transformers has no class for {config.get('model_type')!r} "
            "that would; pass tied=."
        )
    return bool(said)


def _body(config: Config) -> int:
    """Return the parameters of a dense model without its embeddings."""
    family = config.get("model_type")
    if family not in _COUNTED:
        raise ValueError(
            f"the parameters of {family!r} are not counted here, only those of {', '.join(_COUNTED)}; pass parameters=."
        )
    hidden, head = hidden_size(config), head_size(config)
    query, key_value = attention_heads(config) * head, kv_heads(config) * head
    attention = hidden * (2 * query + 2 * key_value)
    biased = config.get("attention_bias", family == "qwen2")
    biases = query + 2 * key_value + (hidden if family in ("llama", "qwen3") else 0) if biased else 0
    norms = 2 * hidden + (2 * head if family == "qwen3" else 0)
    mlp = 3 * hidden * size(config, "intermediate_size")
    return layers(config) * (attention + biases + norms + mlp) + hidden
