"""The files that ids end up in. Each is written under another name and renamed when it is whole."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from hf_bpe.errors import CorpusError

SUFFIXES = (".bin", ".npy", ".parquet")
_ROWS = 4096  # documents of a row group
_COPY_BYTES = 1 << 24


def check_target(out: Path) -> str:
    """Return the suffix by which a target is written.

    Raises:
        CorpusError: It has another one, or is a directory.
    """
    if out.suffix not in SUFFIXES:
        raise CorpusError(f"{out} must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}.")
    if out.is_dir():
        raise CorpusError(f"{out} is a directory.")
    if not out.parent.is_dir():
        raise CorpusError(f"{out.parent} is no directory.")
    return out.suffix


def write_target(out: Path, ids: Path, bounds: Path, dtype: np.dtype[Any], details: Mapping[str, Any]) -> list[Path]:
    """Make the target from the spooled ids and document ends, and return all files that belong to it.

    - `.bin`: the ids, little-endian, one after the other;
    - `.npy`: the same with numpy's header, for `np.load(..., mmap_mode="r")`;
    - `.parquet`: a row a document, in column `input_ids`.

    Beside the first two stand `NAME.bounds.npy`, where document `i` is `ids[bounds[i]:bounds[i + 1]]`, and beside all
    `NAME.json` with `details`.
    """
    made: list[Path] = []
    if out.suffix == ".parquet":
        new = _parquet(out, ids, bounds, dtype)
    else:
        starts = np.concatenate([np.zeros(1, "<u8"), np.fromfile(bounds, "<u8")])
        path = out.with_suffix(".bounds.npy")
        half_written = _beside(path)
        with half_written.open("wb") as file:
            np.save(file, starts)
        half_written.replace(path)
        made.append(path)
        new = _linked(out, ids) if out.suffix == ".bin" else _with_header(out, ids, dtype)
    path = out.with_suffix(".json")
    half_written = _beside(path)
    half_written.write_bytes(json_bytes(details, indent=2) + b"\n")
    half_written.replace(path)
    os.replace(new, out)
    return [out, *made, path]


def json_bytes(value: object, *, indent: int | None = None) -> bytes:
    """Return JSON in UTF-8. What is no UTF-8, as the name of a file may be, is written as the escapes that JSON has."""
    return json.dumps(value, indent=indent, ensure_ascii=False).encode("utf-8", "backslashreplace")


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.new")


def _linked(out: Path, ids: Path) -> Path:
    """Give the ids a second name, so that the spool stays whole until the target is there; copy where that can't be."""
    new = _beside(out)
    new.unlink(missing_ok=True)
    try:
        os.link(ids, new)
    except OSError:  # a file system without hard links
        shutil.copyfile(ids, new)
    return new


def _with_header(out: Path, ids: Path, dtype: np.dtype[Any]) -> Path:
    new = _beside(out)
    count = ids.stat().st_size // dtype.itemsize
    with new.open("wb") as file, ids.open("rb") as source:
        header = {"descr": dtype.str, "fortran_order": False, "shape": (count,)}
        npy.write_array_header_1_0(file, header)  # type: ignore[no-untyped-call]
        while part := source.read(_COPY_BYTES):
            file.write(part)
    return new


def _parquet(out: Path, ids: Path, bounds: Path, dtype: np.dtype[Any]) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    new = _beside(out)
    ends = np.memmap(bounds, "<u8", mode="r") if bounds.stat().st_size else np.empty(0, "<u8")
    numbers = np.memmap(ids, dtype, mode="r") if ids.stat().st_size else np.empty(0, dtype)
    schema = pa.schema([("input_ids", pa.list_(pa.from_numpy_dtype(dtype)))])
    with pq.ParquetWriter(new, schema, compression="zstd") as writer:
        start = 0
        for first in range(0, len(ends), _ROWS):
            part = np.asarray(ends[first : first + _ROWS])
            offsets = np.concatenate([[0], part - start]).astype(np.int32)
            values = pa.array(np.asarray(numbers[start : int(part[-1])]))
            writer.write_table(pa.table([pa.ListArray.from_arrays(pa.array(offsets), values)], schema=schema))
            start = int(part[-1])
    return new
