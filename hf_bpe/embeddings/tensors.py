"""Which tensors of a checkpoint have one row a token."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hf_bpe.errors import CheckpointError

# The last part of a tensor's name in the architectures of transformers, and in Meta's own files.
_INPUT = (
    "embed_tokens.weight",  # Llama, Qwen, Mistral, Gemma, Phi, DeepSeek, OPT
    "wte.weight",  # GPT-2, Falcon (old), MPT
    "word_embeddings.weight",  # BLOOM, Falcon
    "embed_in.weight",  # GPT-NeoX
    "tok_embeddings.weight",  # Meta's files
    "shared.weight",  # T5, BART
    "embeddings.weight",  # Mamba
    "embedding.weight",  # ChatGLM, Nemotron
)
_OUTPUT = ("lm_head.weight", "lm_head.bias", "embed_out.weight", "output.weight", "output_layer.weight")


def _named(name: str, endings: Sequence[str]) -> bool:
    return any(re.search(rf"(?:^|\.){re.escape(ending)}$", name) for ending in endings)


@dataclass(frozen=True)
class Shape:
    """The shape and the type of a tensor, as the header of its file says."""

    shape: tuple[int, ...]
    dtype: str


def token_tensors(
    shapes: Mapping[str, Shape], *, num_tokens: int, vocab_size: int | None, tensors: Sequence[str] | None = None
) -> tuple[list[str], int]:
    """Return the names of the tensors with one row a token, and the number of rows.

    Args:
        shapes: The tensors of the checkpoint.
        num_tokens: The highest id of the old tokenizer, plus one.
        vocab_size: `vocab_size` in `config.json`, if it is there.
        tensors: The names, where they are known.

    Returns:
        The names, input embeddings first, and their common number of rows.

    Raises:
        CheckpointError: There is none, they have different numbers of rows, fewer than the tokenizer has ids, or a
            tensor of unknown name has as many rows too.
        TypeError: `tensors` is no list of str.
        ValueError: `tensors` is empty.
    """
    if tensors is not None:
        if isinstance(tensors, str) or not all(isinstance(name, str) for name in tensors):
            raise TypeError(f"tensors is a list of names, such as ['lm_head.weight'], got {tensors!r}")
        if not tensors:
            raise ValueError("tensors names no tensor; leave it out to have them found by name.")
        missing = [name for name in tensors if name not in shapes]
        if missing:
            raise CheckpointError(f"the checkpoint has no tensor {missing[0]!r}; it has {_some(shapes)}.")
        names = list(dict.fromkeys(tensors))
    else:
        inputs = [name for name in shapes if _named(name, _INPUT) and len(shapes[name].shape) == 2]
        candidates = [name for name in inputs if shapes[name].shape[0] >= num_tokens]
        if vocab_size is not None:
            candidates = [name for name in candidates if shapes[name].shape[0] == vocab_size] or candidates
        if not candidates:
            raise CheckpointError(_no_embeddings(inputs, shapes, num_tokens))
        rows = shapes[candidates[0]].shape[0]
        outputs = [name for name in shapes if _named(name, _OUTPUT) and shapes[name].shape[:1] == (rows,)]
        names = candidates + outputs
    counts = {name: shapes[name].shape[0] if shapes[name].shape else 0 for name in names}
    if not names or len(set(counts.values())) != 1:
        raise CheckpointError(f"tensors of tokens have one number of rows, but these differ: {counts}.")
    rows = counts[names[0]]
    if rows < num_tokens:
        raise CheckpointError(
            f"{names[0]} has {rows:,} rows, but the old tokenizer has ids up to {num_tokens - 1:,}: it is not the "
            "tokenizer of this checkpoint."
        )
    others = [name for name, found in shapes.items() if rows in found.shape and name not in names]
    if others and tensors is None:
        raise CheckpointError(
            f"{others[0]} has shape {list(shapes[others[0]].shape)}, and {names[0]} has {rows:,} rows, but by its name "
            f"it has no row a token; name all those that have: tensors=[{', '.join(map(repr, names))}, ...] (--tensor)."
        )
    return names, rows


def _no_embeddings(inputs: list[str], shapes: Mapping[str, Shape], num_tokens: int) -> str:
    if inputs:
        return (
            f"{inputs[0]} has {shapes[inputs[0]].shape[0]:,} rows, but the old tokenizer has ids up to "
            f"{num_tokens - 1:,}: it is not the tokenizer of this checkpoint."
        )
    return (
        f"found no token embeddings: no tensor is named {', '.join(_INPUT)}; the checkpoint has {_some(shapes)}. Name "
        "those with a row a token: tensors=[...] (--tensor)."
    )


def _some(shapes: Mapping[str, Shape]) -> str:
    names = sorted(shapes)
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
