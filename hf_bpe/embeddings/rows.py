"""New embedding rows from old ones. One function, in numpy: what is done on disk and in memory calls it."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from hf_bpe.embeddings.plan import RowPlan

Init = Literal["mean_of_parts", "mean", "normal", "zeros"]
_CHUNK = 1 << 22  # numbers that are worked on at a time, as 64-bit floats: 32 MB


def resize_rows(rows: NDArray[Any], plan: RowPlan, *, init: Init = "mean_of_parts", seed: int = 0) -> NDArray[Any]:
    """Return the embedding rows of a new vocabulary.

    Rows that `plan` copies are equal to the bit. A row that is made has a norm between the lowest and the highest
    hundredth of the norms of used rows, so that a new token neither drowns the others in the output head nor vanishes
    among them. `"zeros"` alone leaves its rows at zero.

    Args:
        rows: Shape (old rows, dimensions), or (old rows,) for a bias. Any float type, those of `ml_dtypes` included.
        plan: What `plan_rows` returned for the two tokenizers.
        init: How a row is made that no old token has:

            - `"mean_of_parts"`: the mean of the old rows of the pieces that the token used to be. Padding gets
              `"mean"`. (The average of subwords: Sachidananda et al. 2021, "Efficient Domain Adaptation of Language
              Models via Adaptive Tokenization", found it no worse than learned projections.)
            - `"mean"`: the mean of all used rows (Hewitt 2021, "Initializing New Word Embeddings for Pretrained
              Language Models": it bounds how far the model's predictions can move).
            - `"normal"`: drawn by dimension from a normal distribution with the mean and deviation of used rows.
            - `"zeros"`: zeros.
        seed: Of `"normal"`. A row depends on it and on its id alone.

    Returns:
        Shape (`len(plan.copied)`, dimensions), of the type of `rows`.

    Raises:
        TypeError: `seed` is no whole number.
        ValueError: `init` is none of these, `rows` has not the shape or type, or the plan is for more rows.

    Example:
        >>> plan = RowPlan(np.array([0, 1, -1]), {2: (0, 1)}, np.array([0, 1]))
        >>> resize_rows(np.array([[1.0, 0.0], [0.6, 0.8]]), plan).round(2)
        array([[1.  , 0.  ],
               [0.8 , 0.4 ]])
    """
    check_init(init, seed)
    _check(rows, plan)
    out = np.zeros((len(plan.copied), *rows.shape[1:]), dtype=rows.dtype)
    kept = np.flatnonzero(plan.copied >= 0)
    width = max(1, rows.shape[1] if rows.ndim == 2 else 1)
    step = max(1, _CHUNK // width)
    for start in range(0, len(kept), step):
        part = kept[start : start + step]
        out[part] = rows[plan.copied[part]]
    made = np.flatnonzero(plan.copied < 0)
    if init == "zeros" or not len(made):
        return out
    flat, flat_out = rows.reshape(len(rows), -1), out.reshape(len(out), -1)
    statistics = _Statistics(flat, plan.used, step)
    for start in range(0, len(made), step):
        part = made[start : start + step]
        values = np.stack([_new_row(int(row), flat, plan, init, statistics, seed) for row in part])
        # A bias has no norm to speak of: one number a row.
        flat_out[part] = (statistics.within_norms(values) if rows.ndim == 2 else values).astype(rows.dtype)
    return out


def check_init(init: object, seed: object) -> None:
    """Raise for an `init` that there isn't and a `seed` that is no whole number from 0 on."""
    if init not in get_args(Init):
        raise ValueError(f"init is one of {', '.join(get_args(Init))}, got {init!r}.")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
        raise TypeError(f"seed is a whole number, got {seed!r}")
    if seed < 0:
        raise ValueError(f"seed must be at least 0, got {seed}.")


def _check(rows: NDArray[Any], plan: RowPlan) -> None:
    if rows.ndim not in (1, 2):
        raise ValueError(f"embedding rows have shape (rows, dimensions) or (rows,), got {rows.shape}.")
    if not (np.issubdtype(rows.dtype, np.floating) or rows.dtype.name in ("bfloat16",)):
        raise ValueError(f"embedding rows are float16, bfloat16, float32 or float64, got {rows.dtype.name}.")
    highest = max([int(plan.copied.max(initial=-1)), int(plan.used.max(initial=-1))])
    if highest >= len(rows):
        raise ValueError(f"the plan copies row {highest:,}, but there are {len(rows):,} rows.")


def _new_row(
    row: int, rows: NDArray[Any], plan: RowPlan, init: Init, statistics: _Statistics, seed: int
) -> NDArray[np.float64]:
    if init == "normal":
        drawn: NDArray[np.float64] = np.random.default_rng([seed, row]).normal(statistics.mean, statistics.deviation)
        return drawn
    parts = plan.parts.get(row)
    if init == "mean_of_parts" and parts:
        mean: NDArray[np.float64] = rows[list(parts)].astype(np.float64).mean(axis=0)
        return mean
    return statistics.mean


class _Statistics:
    """Mean, deviation and norms of the rows in use, in 64-bit floats, a chunk at a time."""

    def __init__(self, rows: NDArray[Any], used: NDArray[np.int64], step: int) -> None:
        chunks = [used[start : start + step] for start in range(0, len(used), step)]
        # A row that holds no numbers, as a token that was never trained may have, says nothing about the others.
        chunks = [chunk[np.isfinite(rows[chunk].astype(np.float64)).all(axis=1)] for chunk in chunks]
        chunks = [chunk for chunk in chunks if len(chunk)]
        total = np.zeros(rows.shape[1])
        norms = []
        for chunk in chunks:
            values = rows[chunk].astype(np.float64)
            total += values.sum(axis=0)
            norms.append(np.linalg.norm(values, axis=1))
        count = max(1, sum(map(len, chunks)))
        self.mean: NDArray[np.float64] = total / count
        squares = np.zeros(rows.shape[1])
        for chunk in chunks:
            squares += ((rows[chunk].astype(np.float64) - self.mean) ** 2).sum(axis=0)
        self.deviation: NDArray[np.float64] = np.sqrt(squares / count)
        self.lowest, self.highest = 0.0, float("inf")
        if norms:
            self.lowest, self.highest = map(float, np.quantile(np.concatenate(norms), [0.01, 0.99]))

    def within_norms(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scale rows whose norm is out of range to the nearest that is in it."""
        norms = np.linalg.norm(values, axis=1, keepdims=True)
        wanted = norms.clip(self.lowest, self.highest)
        scaled: NDArray[np.float64] = values * np.divide(wanted, norms, out=np.ones_like(norms), where=norms > 0)
        return scaled
