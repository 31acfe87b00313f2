"""A model's checkpoint for another vocabulary, without torch: tensor by tensor, beside the old one."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm.auto import tqdm

from hf_bpe.converting.staging import staged
from hf_bpe.embeddings import config as configs
from hf_bpe.embeddings.plan import RowPlan, check_arguments, plan_rows
from hf_bpe.embeddings.rows import Init, check_init, resize_rows
from hf_bpe.embeddings.safetensors_files import FLOATS, INDEX, TensorFile, rewritten_index, tensor_files
from hf_bpe.embeddings.tensors import token_tensors
from hf_bpe.errors import CheckpointError
from hf_bpe.tokenizer import HfBpeTokenizer

# What the new tokenizer writes itself, and what only the old one would.
_TOKENIZER_FILES = frozenset(
    {
        "added_tokens.json",
        "chat_template.jinja",
        "chat_template.json",
        "merges.txt",
        "special_tokens_map.json",
        "tekken.json",
        "tokenizer.json",
        "tokenizer.model",
        "tokenizer_config.json",
        "vocab.json",
    }
)
_OTHER_WEIGHTS = (".bin", ".pt", ".pth", ".h5", ".msgpack", ".gguf", ".onnx", ".index.json", ".safetensors")


@dataclass(frozen=True)
class ResizeReport:
    """What `resize_checkpoint` did.

    Attributes:
        old_rows: The rows of the embeddings before.
        new_rows: The rows now.
        kept: Rows that are where they were.
        moved: Rows that are somewhere else.
        made: Rows made for new tokens, some of which may have been padding.
        padding: New rows that no token has.
        tensors: The tensors that have changed, with their shapes.
        config: What changed in `config.json` and `generation_config.json`: before and after, by file and JSON path.
        left_out: Files and folders of the old checkpoint that the new one doesn't have.
    """

    old_rows: int
    new_rows: int
    kept: int
    moved: int
    made: int
    padding: int
    tensors: dict[str, tuple[int, ...]]
    config: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [
            f"{self.old_rows:,} -> {self.new_rows:,} rows: {self.kept:,} kept, {self.moved:,} moved, {self.made:,} "
            f"made for new tokens, {self.padding:,} of padding",
            *(f"{name}: {list(shape)}" for name, shape in self.tensors.items()),
            *(f"{path}: {before} -> {after}" for path, (before, after) in self.config.items()),
        ]
        if self.left_out:
            lines.append(f"not in the new checkpoint: {', '.join(self.left_out)}")
        return "\n".join(lines)


def resize_checkpoint(
    checkpoint: str | Path,
    old: HfBpeTokenizer,
    new: HfBpeTokenizer,
    out: str | Path,
    *,
    id_map: Mapping[int, int] | None = None,
    init: Init = "mean_of_parts",
    seed: int = 0,
    pad_to_multiple_of: int | None = None,
    tensors: Sequence[str] | None = None,
    progress: bool | None = None,
) -> ResizeReport:
    """Write a checkpoint of safetensors whose embeddings follow a vocabulary from an old tokenizer to a new one.

    Input embeddings and output head are resized by the same rule, each from its own rows, tied or not. Every other
    tensor, the texts of the headers and the index keep their bytes, but for the index's total size. `vocab_size` and
    the ids of special tokens in `config.json` and `generation_config.json` follow, and the files of `new` take the
    place of the old tokenizer's.

    All is written into a folder beside `out`, read back, compared, and put into place at the end; `checkpoint` is only
    read. Memory of our own is needed for one tensor.

    Args:
        checkpoint: A directory with `model.safetensors`, or with an index and its shards, and `config.json`.
        old: The tokenizer of this model.
        new: The tokenizer that it shall have.
        out: A directory that doesn't exist or is empty.
        id_map: The new id of each old one, as pruning returns it. By default tokens are matched by what they are.
        init: How rows of new tokens are made: see `resize_rows`.
        seed: Of `init="normal"`.
        pad_to_multiple_of: Rows are added up to a multiple of this.
        tensors: The names of the tensors with one row a token, where they are not those that transformers gives.
        progress: Whether to show a bar on stderr; by default on a terminal.

    Returns:
        What was done.

    Raises:
        CheckpointError: The files are damaged or not those of `old`, or `out` holds something or lies in `checkpoint`.
            Nothing is left.
        TypeError: An argument is of another type.
        ValueError: An argument is out of range.
        OSError: A file can't be read or written.
    """
    source, target = Path(checkpoint), Path(out)
    if not source.is_dir():
        raise CheckpointError(f"{source} is no directory.")
    if source.resolve() in target.resolve().parents:
        raise CheckpointError(f"{target} is inside of {source}, which is only read: name a directory elsewhere.")
    if os.path.lexists(target) and not (target.is_dir() and not any(target.iterdir())):
        raise CheckpointError(f"{target} exists already; name a directory that doesn't.")
    check_arguments(old, new, id_map=id_map, pad_to_multiple_of=pad_to_multiple_of)
    check_init(init, seed)
    config_path = source / "config.json"
    config = configs.read_json(config_path) if config_path.is_file() else {}
    files = tensor_files(source)
    shapes = {name: shape for file in files for name, shape in file.shapes.items()}
    vocab_size = configs.text_part(config).get("vocab_size")
    names, old_rows = token_tensors(
        shapes, num_tokens=len(old), vocab_size=vocab_size if type(vocab_size) is int else None, tensors=tensors
    )
    plan = plan_rows(old, new, num_old_rows=old_rows, id_map=id_map, pad_to_multiple_of=pad_to_multiple_of)
    new_configs, changes = _followed(source, plan, old, new, old_rows)
    with staged(target, overwrite=False) as folder:
        made = folder / target.name
        made.mkdir()
        scratch = folder.parent / "scratch"
        scratch.mkdir()
        bar = tqdm(total=len(files), unit="file", desc="Resizing", disable=None if progress is None else not progress)
        with bar:
            for file in files:
                changed = {
                    name: _made_rows(file, name, plan, init, seed, scratch / str(number))
                    for number, name in enumerate(names)
                    if name in file.shapes
                }
                _write(file, made / file.path.name, changed)
                del changed
                bar.update()
        if (source / INDEX).is_file():
            added = len(plan.copied) - old_rows
            text = _index(source / INDEX, added, [shapes[name] for name in names])
            (made / INDEX).write_text(text, encoding="utf-8", newline="")
        left_out = _copy_rest(source, made, {file.path.name for file in files})
        for name, content in new_configs.items():
            (made / name).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
        new.save_pretrained(made)
        shutil.rmtree(scratch)
    return ResizeReport(
        old_rows=old_rows,
        new_rows=len(plan.copied),
        kept=plan.kept,
        moved=plan.moved,
        made=len(plan.parts),
        padding=plan.padding,
        tensors={name: (len(plan.copied), *shapes[name].shape[1:]) for name in names},
        config=changes,
        left_out=tuple(left_out),
    )


def _made_rows(file: TensorFile, name: str, plan: RowPlan, init: Init, seed: int, scratch: Path) -> NDArray[Any]:
    """Make the rows of one tensor, and keep them on disk until its file is written."""
    rows = resize_rows(file.floats(name), plan, init=init, seed=seed)
    if not rows.size:
        return rows
    rows.view(np.uint8).tofile(scratch)
    shape, dtype = rows.shape, rows.dtype
    del rows
    return np.memmap(scratch, dtype=np.uint8, mode="r").view(dtype).reshape(shape)


def _write(file: TensorFile, path: Path, changed: Mapping[str, NDArray[Any]]) -> None:
    """Write a file, and make sure that it holds what it should."""
    if not changed:
        shutil.copyfile(file.path, path)
        return
    file.write(path, changed)
    written = TensorFile.open(path)
    for name in file.shapes:
        wanted = changed[name].reshape(-1).view(np.uint8) if name in changed else file.raw(name)
        if not _equal(written.raw(name), wanted):
            raise CheckpointError(f"{path}: {name} was not written as it should be; is the disk sound?")


def _equal(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> bool:
    step = 1 << 26
    return len(one) == len(other) and all(
        np.array_equal(one[start : start + step], other[start : start + step]) for start in range(0, len(one), step)
    )


def _index(path: Path, added_rows: int, shapes: Sequence[Any]) -> str:
    numbers = [added_rows * int(np.prod(shape.shape[1:], dtype=np.int64)) for shape in shapes]
    sizes = [count * FLOATS[shape.dtype].itemsize for count, shape in zip(numbers, shapes, strict=True)]
    with path.open(encoding="utf-8", newline="") as file:
        return rewritten_index(file.read(), added_bytes=sum(sizes), added_numbers=sum(numbers))


def _followed(
    source: Path, plan: RowPlan, old: HfBpeTokenizer, new: HfBpeTokenizer, old_rows: int
) -> tuple[dict[str, dict[str, Any]], dict[str, tuple[Any, Any]]]:
    ids = {int(old_id): new_id for new_id, old_id in enumerate(plan.copied.tolist()) if old_id >= 0}
    roles = {}
    for role in ("bos", "eos", "pad"):
        before, after = getattr(old, f"{role}_token_id"), getattr(new, f"{role}_token_id")
        if before is not None and after is not None and ids.get(before) != after:
            roles[f"{role}_token_id"] = (before, after)
    contents: dict[str, dict[str, Any]] = {}
    changes: dict[str, tuple[Any, Any]] = {}
    for name in configs.FILES:
        if not (source / name).is_file():
            continue
        content, found = configs.follow(
            configs.read_json(source / name), old_rows=old_rows, new_rows=len(plan.copied), ids=ids, roles=roles
        )
        if found:
            contents[name] = content
            changes |= {f"{name} {path}": change for path, change in found.items()}
    return contents, changes


def _copy_rest(source: Path, made: Path, written: set[str]) -> list[str]:
    """Copy what belongs neither to the weights nor to the old tokenizer; return the names of the rest."""
    left_out = []
    for path in sorted(source.iterdir()):
        if path.name in written or path.name == INDEX or path.name in _TOKENIZER_FILES:
            continue
        if path.is_file() and not path.name.endswith(_OTHER_WEIGHTS):
            shutil.copyfile(path, made / path.name)
        else:
            left_out.append(path.name)
    return left_out
