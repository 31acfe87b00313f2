"""A model in memory for another vocabulary. Needs torch, which only this module asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from hf_bpe.embeddings.plan import plan_rows
from hf_bpe.embeddings.rows import Init, resize_rows
from hf_bpe.tokenizer import HfBpeTokenizer


def resize_embeddings(
    model: Any,
    old: HfBpeTokenizer,
    new: HfBpeTokenizer,
    *,
    id_map: Mapping[int, int] | None = None,
    init: Init = "mean_of_parts",
    seed: int = 0,
    pad_to_multiple_of: int | None = None,
) -> Any:
    """Make the embeddings of a transformers model follow a vocabulary, in place: input, output head and config.

    Args:
        model: A `PreTrainedModel`.
        old: The tokenizer that the model was trained with.
        new: The tokenizer that it shall have.
        id_map: The new id of each old one, as pruning returns it.
        init: How rows of new tokens are made: see `resize_rows`, which makes them here too.
        seed: Of `init="normal"`.
        pad_to_multiple_of: Rows are added up to a multiple of this.

    Returns:
        The model's input embeddings.

    Raises:
        ValueError: The model has fewer rows than `old` has ids, or an argument is out of range.
        ImportError: torch isn't installed.
    """
    import torch

    embeddings = model.get_input_embeddings()
    old_rows = int(embeddings.weight.shape[0])
    plan = plan_rows(old, new, num_old_rows=old_rows, id_map=id_map, pad_to_multiple_of=pad_to_multiple_of)
    head = model.get_output_embeddings()
    tied = head is not None and head.weight is embeddings.weight
    made = {"input": resize_rows(_numpy(embeddings.weight), plan, init=init, seed=seed)}
    if head is not None and not tied:
        made["output"] = resize_rows(_numpy(head.weight), plan, init=init, seed=seed)
    bias = getattr(head, "bias", None) if head is not None else None
    if bias is not None and bias.shape[0] == old_rows:
        made["bias"] = resize_rows(_numpy(bias), plan, init=init, seed=seed)

    model.resize_token_embeddings(len(plan.copied), mean_resizing=False)
    embeddings, head = model.get_input_embeddings(), model.get_output_embeddings()
    with torch.no_grad():
        for name, parameter in (
            ("input", embeddings.weight),
            ("output", getattr(head, "weight", None)),
            ("bias", getattr(head, "bias", None)),
        ):
            if name in made and parameter is not None:
                parameter.copy_(_torch(made[name], parameter))
    return embeddings


def _numpy(parameter: Any) -> NDArray[Any]:
    """Return a parameter's numbers, of the same type."""
    values = parameter.detach().cpu().contiguous()
    if str(values.dtype) == "torch.bfloat16":
        import torch

        bits: NDArray[Any] = values.view(torch.int16).numpy()
        return bits.view(ml_dtypes.bfloat16)
    array: NDArray[Any] = values.numpy()
    return array


def _torch(values: NDArray[Any], like: Any) -> Any:
    import torch

    if values.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(values.view(np.int16)).view(torch.bfloat16).to(like.device)
    return torch.from_numpy(values).to(like.device)
