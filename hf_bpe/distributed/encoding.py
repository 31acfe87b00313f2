"""Encoding by a pool of actors: each part of the corpus becomes files of its own, which are put together in order.

Parts lie in a folder `.NAME.parts` beside the target, see `encoder`, with the settings that they were made with.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from tqdm.auto import tqdm

from hf_bpe.distributed.encoder import Encoder, write_whole
from hf_bpe.distributed.running import (
    PART_BYTES,
    cluster_cpus,
    dataset_of,
    ray_data,
    results_of,
)
from hf_bpe.documents import TOLD_BAD_ROWS, Part, open_documents, parts_of
from hf_bpe.documents.reading import MAX_DOCUMENT_BYTES
from hf_bpe.errors import CorpusError
from hf_bpe.token_files.encoding import EncodingReport, check_arguments, dtype_of, settings_of
from hf_bpe.token_files.spool import locked_for
from hf_bpe.token_files.targets import json_bytes, write_target
from hf_bpe.tokenizer import HfBpeTokenizer


def encode(
    files: Sequence[str | Path],
    tokenizer: HfBpeTokenizer,
    out: str | Path,
    *,
    text_column: str = "text",
    documents: Literal["lines", "files"] = "lines",
    add_special_tokens: bool = True,
    append_eos: bool = False,
    skip_bad_rows: bool = False,
    max_document_bytes: int = MAX_DOCUMENT_BYTES,
    part_bytes: int = PART_BYTES,
    workers: int | None = None,
    restart: bool = False,
    progress: bool | None = None,
) -> EncodingReport:
    """Encode files to one file of ids, on all machines of the Ray cluster that this process is connected to.

    The files made are those of `hf_bpe.encode_files`, byte for byte. A run that was stopped is gone on with by the
    same call: parts that are done aren't done again. Until all is whole, parts lie in a folder `.NAME.parts` beside
    `out`, and while they are put together their ids lie there twice.

    Args:
        files: As in `encode_files`. Every machine has to see them, and `out`, under the same names.
        tokenizer: What to encode with.
        out: As in `encode_files`: `*.bin`, `*.npy` or `*.parquet`.
        text_column: As in `encode_files`.
        documents: As in `encode_files`.
        add_special_tokens: As in `encode_files`.
        append_eos: As in `encode_files`.
        skip_bad_rows: As in `encode_files`. Lines of a file that is cut are named by the byte where their part begins.
        max_document_bytes: As in `encode_files`.
        part_bytes: How much of a file is a task: a compressed or Arrow file is one task whatever its size.
        workers: How many actors there are at most, each on one CPU; by default all CPUs of the cluster.
        restart: Whether parts of an earlier run are thrown away, not gone on with.
        progress: Whether to show a bar on stderr; by default on a terminal.

    Returns:
        What was made.

    Raises:
        ImportError: Ray isn't installed.
        CorpusError: A file or a row is bad, of several the first in order; or an earlier run had other settings.
        TypeError: The tokenizer isn't an `HfBpeTokenizer`, or `files` is one path.
        ValueError: `append_eos` without an EOS token, or an argument is out of range.

    Example:
        >>> hf_bpe.distributed.encode(["corpus/*.parquet"], tokenizer, "tokens.bin", append_eos=True)
    """
    target = Path(out)
    check_arguments(tokenizer, target, append_eos=append_eos, who="encode() takes files, then an HfBpeTokenizer")
    if workers is not None and workers < 1:
        raise ValueError(f"workers must be at least 1, got {workers}.")
    corpus = open_documents(
        files,
        text_column=text_column,
        documents=documents,
        max_document_bytes=max_document_bytes,
        skip_bad_rows=skip_bad_rows,
    )
    parts = parts_of(corpus, part_bytes)
    data = ray_data("encoding on a cluster")
    dtype = dtype_of(tokenizer)
    settings = settings_of(tokenizer, corpus, add_special_tokens=add_special_tokens, append_eos=append_eos)
    folder = target.with_name(f".{target.name}.parts")
    folder.mkdir(exist_ok=True)
    with locked_for(target, folder):
        done = _begin(folder, target, settings | {"part_bytes": part_bytes}, len(parts), restart=restart)
        if len(done) < len(parts):
            encoder = {
                "tokenizer": tokenizer,
                "corpus": corpus,
                "folder": folder.resolve(),
                "dtype": dtype.str,
                "add_special_tokens": add_special_tokens,
                "eos": int(tokenizer.eos_token_id) if append_eos else None,
            }
            encoded = _encoded(data, parts, done, encoder, workers)
            for _ in tqdm(
                results_of(encoded),
                total=len(parts),
                initial=len(done),
                unit=" parts",
                desc="Encoding",
                disable=None if progress is None else not progress,
            ):
                pass
        report = _put_together(folder, target, len(parts), dtype, settings, resumed=bool(done))
        shutil.rmtree(folder)  # while it is held: another process would go on with what is being removed
    return report


def _begin(folder: Path, target: Path, settings: Mapping[str, Any], parts: int, *, restart: bool) -> set[int]:
    """Return the numbers of the parts that an earlier run has done.

    Raises:
        CorpusError: That run had other settings.
    """
    path = folder / "settings.json"
    data = json_bytes(settings)
    if restart or not path.exists():
        for file in folder.iterdir():
            if file.name != "lock":
                file.unlink()
        write_whole(path, data)
    elif (found := path.read_bytes()) != data:
        raise CorpusError(
            f"{target} was begun with other files, tokenizer or settings: {_differences(found, settings)}; begin anew "
            "with restart=True."
        )
    return {number for number in range(parts) if (folder / f"{number}.json").exists()}


def _differences(found: bytes, settings: Mapping[str, Any]) -> str:
    try:
        earlier = json.loads(found)
        return ", ".join(name for name in settings if earlier.get(name) != json.loads(json.dumps(settings[name])))
    except (AttributeError, ValueError) as error:
        return f"settings.json is damaged ({error})"


def _encoded(data: Any, parts: Sequence[Part], done: set[int], encoder: Mapping[str, Any], workers: int | None) -> Any:
    left = dataset_of(parts, data, without=done)
    return left.map_batches(
        Encoder,
        fn_constructor_kwargs=dict(encoder),
        batch_size=1,
        batch_format="pyarrow",
        compute=data.ActorPoolStrategy(min_size=1, max_size=workers or cluster_cpus()),
        num_cpus=1,
    )


def _put_together(
    folder: Path, target: Path, parts: int, dtype: np.dtype[Any], settings: Mapping[str, Any], *, resumed: bool
) -> EncodingReport:
    made = [json.loads((folder / f"{number}.json").read_text(encoding="utf-8")) for number in range(parts)]
    total = {name: sum(part[name] for part in made) for name in ("documents", "ids", "bad_rows")}
    first_bad = [row for part in made for row in part["first_bad_rows"]][:TOLD_BAD_ROWS]
    start = 0
    with (folder / "ids").open("wb") as ids, (folder / "bounds").open("wb") as bounds:
        for number, part in enumerate(made):
            with (folder / f"{number}.ids").open("rb") as part_ids:
                shutil.copyfileobj(part_ids, ids, 1 << 24)
            bounds.write((np.fromfile(folder / f"{number}.bounds", "<u8") + np.uint64(start)).tobytes())
            start += part["ids"]
        for file in (ids, bounds):
            file.flush()
            os.fsync(file.fileno())
    details = {
        "documents": total["documents"],
        "ids": total["ids"],
        "dtype": dtype.name,
        "bad_rows": total["bad_rows"],
        **settings,
    }
    written = write_target(target, folder / "ids", folder / "bounds", dtype, details)
    return EncodingReport(
        target,
        tuple(written),
        total["documents"],
        total["ids"],
        dtype.name,
        total["bad_rows"],
        tuple(first_bad),
        resumed,
    )
