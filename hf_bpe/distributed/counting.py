"""Counting as map and reduce: each task counts a part, further tasks add counts, some at a time, and one node the rest.

Between tasks counts are Parquet, as `PretokenCounts.save` writes it, in Ray's object store, which has its own limit and
goes to disk past it. A task holds one table of counts, within `max_memory`, and the compressed counts that it adds.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tqdm.auto import tqdm

from hf_bpe.corpus import Corpus, open_corpus, open_part
from hf_bpe.counting import check_beginning
from hf_bpe.counting_report import check_texts, warn_of_losses
from hf_bpe.distributed.running import (
    PART_BYTES,
    TOLD,
    bytes_of,
    dataset_of,
    part_of,
    ray_data,
    results_of,
    use_one_thread,
)
from hf_bpe.documents import Documents, open_documents, parts_of
from hf_bpe.keywords import check_keywords
from hf_bpe.limits import MAX_PRETOKEN_BYTES, CountingLimits, machine_memory
from hf_bpe.pretoken_counts import PretokenCounts

if TYPE_CHECKING:
    import pyarrow as pa

_CUT = ("alphabet", "split_pattern", "normalizer", "pre_tokenizer", "tokenizer", "temporary_directory")
"""Arguments of `PretokenCounts.count` that mean something on a cluster."""

_FAN = 16
"""How many counts are added at a time."""

_LEVELS_OF_A_DATASET = 2
"""How often counts of a dataset are added in tasks, as nobody knows how many blocks it will have."""


def count(
    source: Any,
    *,
    text_column: str = "text",
    skip_bad_rows: bool = True,
    part_bytes: int = PART_BYTES,
    max_memory: int | str | None = None,
    max_pretoken_bytes: int | None = MAX_PRETOKEN_BYTES,
    name: str | None = None,
    progress: bool = True,
    **cut: Any,
) -> PretokenCounts:
    """Count the pretokens of a corpus on all machines of the Ray cluster that this process is connected to.

    The counts are those of `PretokenCounts.count`, whatever the machines, the parts, and the workers that were lost.

    Args:
        source: A list of files, directories and globs that every machine sees under the same names, as `files` of
            `train` takes them; or a `ray.data.Dataset`, which Ray reads from wherever it can. Such a dataset must give
            the same rows when Ray computes a lost block anew.
        text_column: The column with the texts.
        skip_bad_rows: As in `train`. Lines of a file that is cut are named by the byte where their part begins.
        part_bytes: How much of a file is a task: a compressed or Arrow file is one task whatever its size.
        max_memory: How much memory the table of distinct pretokens of a task takes, and the last sum; by default a
            quarter of the machine's, shared by its CPUs.
        max_pretoken_bytes: As in `train`.
        name: What `sources` calls this corpus; by default the names that were given.
        progress: Whether to show a bar on stderr.
        **cut: How texts are cut: `alphabet`, `split_pattern`, `normalizer`, `pre_tokenizer` or `tokenizer`, and the
            `temporary_directory` of each machine, as in `PretokenCounts.count`.

    Raises:
        ImportError: Ray isn't installed.
        CorpusError: A file is bad, or there are bad rows and no text, or bad rows with `skip_bad_rows=False`; of many
            the first in order.
        TypeError: The source is of another type, or the texts are, or a keyword is unknown.
        ValueError: An argument is out of range, or there is no such column.

    Example:
        >>> counts = hf_bpe.distributed.count(["corpus/*.parquet"], split_pattern="gpt2")
        >>> counts.save("counts.parquet")
    """
    check_keywords(cut, count, also=_CUT, who="hf_bpe.distributed.count()")
    counts = count_all(
        source,
        cut | {"text_column": text_column, "max_memory": max_memory, "max_pretoken_bytes": max_pretoken_bytes},
        skip_bad_rows=skip_bad_rows,
        part_bytes=part_bytes,
        name=name,
        progress=progress,
    )
    warn_of_losses(counts.report, counts.settings.max_pretoken_bytes)
    return counts


def count_all(
    source: Any, options: Mapping[str, Any], *, skip_bad_rows: bool, part_bytes: int, name: str | None, progress: bool
) -> PretokenCounts:
    """Count as `count` does, without a warning of what was lost; `options` are those of `PretokenCounts.count`."""
    data = ray_data("counting on a cluster")
    options = {**options, "progress": False}
    # Counting nothing checks every option here, before a cluster is asked for.
    empty = PretokenCounts.count([], **_of_this_machine(options), name=name)
    text_column = options["text_column"]
    if isinstance(source, data.Dataset):
        names: tuple[str, ...] = ()
        counted = _projected(source, text_column).map_batches(
            _count_block, batch_size=None, batch_format="pyarrow", fn_kwargs={"options": options}
        )
        levels = _LEVELS_OF_A_DATASET
    else:
        reading: dict[str, Any] = {
            "text_column": text_column,
            "skip_bad_rows": skip_bad_rows,
            "temporary_directory": options.get("temporary_directory"),
        }
        documents = open_documents(_files(source), **reading)
        if skip_bad_rows:
            check_beginning(open_corpus(files=documents.files, **reading))
        names, parts = tuple(map(str, source)), parts_of(documents, part_bytes)
        if not parts:
            return replace(empty, sources=names if name is None else (name,))
        counted = dataset_of(parts, data).map_batches(
            _count_part, batch_size=1, batch_format="pyarrow", fn_kwargs={"documents": documents, "options": options}
        )
        levels = _levels(len(parts))
    with tqdm(desc="Counting", unit="B", unit_scale=True, disable=not progress) as bar:
        rows = results_of(_added(counted, levels, options))
        total = _total(rows, empty, _of_this_machine(options), bar)
    check_texts(total.report)
    return replace(total, sources=names if name is None else (name,))


# In this process


def _files(source: Any) -> Sequence[str | Path]:
    if isinstance(source, list | tuple) and all(isinstance(file, str | Path) for file in source):
        return source
    described = repr(source) if isinstance(source, str | Path) else f"a {type(source).__name__}"
    raise TypeError(f"source is a list of paths or a ray.data.Dataset, got {described}; write [path] for one file.")


def _projected(dataset: Any, text_column: str) -> Any:
    """Return the column with the texts alone, so that Ray reads no other where the format allows that."""
    names = dataset.columns()
    if names is None:  # no rows
        return dataset
    if text_column not in names:
        columns = ", ".join(map(repr, names))
        raise ValueError(f"there is no column {text_column!r}; choose a text_column among {columns}")
    return dataset.select_columns([text_column])


def _added(counted: Any, levels: int, options: Mapping[str, Any]) -> Any:
    for level in range(levels):
        # Ray runs steps of the same needs in one task, and a sum would then wait until all its parts are counted in
        # that task, one after the other. So each step asks for a thousandth of a CPU less than the one before.
        counted = counted.map_batches(
            _add,
            batch_size=_FAN,
            batch_format="pyarrow",
            fn_kwargs={"options": options},
            num_cpus=1 - (level + 1) / 1000,
        )
    return counted


def _levels(parts: int) -> int:
    levels = 0
    while parts > _FAN:
        parts, levels = -(-parts // _FAN), levels + 1
    return levels


def _total(rows: Iterable[pa.Table], empty: PretokenCounts, options: Mapping[str, Any], bar: Any) -> PretokenCounts:
    """Add counts as they come, `_FAN` of about the same weight at a time."""
    small = _share(options)
    levels: list[list[PretokenCounts]] = [[empty]]
    for row in rows:
        part = PretokenCounts.from_buffer(row["counts"][0].as_buffer(), **small)
        bar.update(part.report.bytes)
        levels[0].append(part)
        for height, level in enumerate(levels):
            if len(level) < _FAN:
                break
            if height + 1 == len(levels):
                levels.append([])
            levels[height + 1].append(PretokenCounts.sum(level, **small))
            level.clear()
    rest = [part for level in reversed(levels) for part in level]  # in order
    return PretokenCounts.sum(rest, **(small | {"max_memory": options["max_memory"]}))


# In tasks


def _count_part(rows: pa.Table, *, documents: Documents, options: Mapping[str, Any]) -> pa.Table:
    return _counted(lambda: open_part(documents, part_of(rows)[1]), options)


def _count_block(rows: pa.Table, *, options: Mapping[str, Any]) -> pa.Table:
    return _counted(lambda: open_corpus(rows, text_column=options["text_column"]), options)


def _counted(opened: Any, options: Mapping[str, Any]) -> pa.Table:
    use_one_thread()
    try:
        corpus: Corpus = opened()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of bad rows and cuts: all together they are told at the end
            counts = PretokenCounts.count(corpus, **_of_this_machine(options))
        return _row(counts)
    except TOLD as error:
        return _row(error)


def _add(rows: pa.Table, *, options: Mapping[str, Any]) -> pa.Table:
    failed = rows.filter(rows["error"].is_valid())
    if failed.num_rows:
        return failed.slice(0, 1)
    small = _share(_of_this_machine(options))
    try:
        parts = [PretokenCounts.from_buffer(counts.as_buffer(), **small) for counts in rows["counts"]]
        return _row(PretokenCounts.sum(parts, **small))
    except TOLD as error:
        return _row(error)


def _row(result: PretokenCounts | Exception) -> pa.Table:
    import pyarrow as pa

    if isinstance(result, Exception):
        counts, told = pa.nulls(1, pa.large_binary()), bytes_of(result)
    else:
        data, told = result.to_buffer(), None
        ends = pa.py_buffer(np.array([0, data.size], np.int64))
        counts = pa.LargeBinaryArray.from_buffers(pa.large_binary(), 1, [None, ends, data])
    return pa.table({"counts": counts, "error": pa.array([told], pa.large_binary())})


def _of_this_machine(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with the memory that a task may take, where none was given."""
    if options["max_memory"] is not None:
        return dict(options)
    return {**options, "max_memory": machine_memory() // 4 // (os.cpu_count() or 1)}


def _share(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the limits of each of the counts that are added, and of their sum."""
    limits = CountingLimits.of(max_memory=options["max_memory"])
    return {
        "max_memory": limits.max_memory // (2 * _FAN),
        "temporary_directory": options.get("temporary_directory"),
    }
