"""What counting and encoding share: parts as rows of a Ray dataset, and errors that come back as rows.

What a task gives is a function of the part that it is given, so that Ray may run it again, on another machine, when
the process that ran it is lost. An error of the corpus would be the same each time: it is told, not tried again.
"""

from __future__ import annotations

import builtins
import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hf_bpe import errors
from hf_bpe._native import set_worker_process
from hf_bpe.documents import Part

if TYPE_CHECKING:
    import pyarrow as pa

PART_BYTES = 128 << 20
"""How much of a file is a task by default: seconds of work, against some milliseconds to start it."""

TOLD = (errors.HfBpeError, OSError, TypeError, ValueError)
"""Errors that are told as a local run raises them; any other one is for Ray to tell, with its trace."""


def ray_data(what: str) -> Any:
    """Return `ray.data`.

    Raises:
        ImportError: Ray, or what its datasets need, isn't installed.
    """
    try:
        import ray.data
    except ImportError as error:
        raise ImportError(f"{what} needs ray. Install it with `pip install 'hf-bpe[ray]'`.") from error
    return ray.data


def cluster_cpus() -> int:
    """Return how many CPUs the cluster has, at least one."""
    import ray

    cluster: Any = ray  # which has no types for this
    return max(1, int(cluster.cluster_resources().get("CPU", 1)))


def dataset_of(parts: Sequence[Part], data: Any, *, without: Collection[int] = ()) -> Any:
    """Return parts as a dataset, a block each, in order; those whose numbers are in `without` are left out."""
    rows = [
        {"number": number, "path": os.fsencode(part.path), "start": part.start, "end": part.end}
        for number, part in enumerate(parts)
        if number not in without
    ]
    return data.from_items(rows, override_num_blocks=len(rows))


def part_of(rows: pa.Table) -> tuple[int, Part]:
    """Return the one part in a batch of rows, with its number."""
    (row,) = rows.to_pylist()
    return row["number"], Part(Path(os.fsdecode(row["path"])), row["start"], row["end"])


def results_of(dataset: Any) -> Iterator[pa.Table]:
    """Yield rows as they are made, in order, one in a table.

    Raises:
        Exception: What a task told of, the first in order.
    """
    dataset.context.execution_options.preserve_order = True
    dataset.context.enable_progress_bars = False
    rows = iter(dataset.iter_batches(batch_size=1, batch_format="pyarrow", prefetch_batches=0))
    with closing(rows):  # which stops all tasks
        for row in rows:
            told = row["error"][0].as_py()
            if told is not None:
                raise _error_of(told)
            yield row


def use_one_thread() -> None:
    """Keep this worker to one thread: it has one CPU of its machine, and others have the rest."""
    set_worker_process()


def bytes_of(error: Exception) -> bytes:
    """Return an error as bytes that `results_of` raises anew; it may name a file whose name is no UTF-8."""
    return f"{_kind_of(error).__name__}\n{error}".encode("utf-8", "surrogatepass")


def _kind_of(error: Exception) -> type[Exception]:
    """Return the class of an error, or its first base that one message makes."""
    known: list[type[Exception]] = [kind for kind in type(error).__mro__ if _class_of(kind.__name__) is kind]
    return next(kind for kind in known if not issubclass(kind, UnicodeError))


def _class_of(name: str) -> Any:
    return getattr(errors, name, None) or getattr(builtins, name, None)


def _error_of(told: bytes) -> Exception:
    name, _, message = told.decode("utf-8", "surrogatepass").partition("\n")
    error: Exception = _class_of(name)(message)
    return error
