"""Safetensors files of a checkpoint: what is in them, and writing one whose embeddings have changed.

Files are mapped, not read: what stays as it is passes from one file to the other through the page cache, and memory of
our own is needed for one tensor at a time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, TensorSpec, safe_open, serialize_file

from hf_bpe.embeddings.tensors import Shape
from hf_bpe.errors import CheckpointError

SINGLE, INDEX = "model.safetensors", "model.safetensors.index.json"
FLOATS: dict[str, np.dtype[Any]] = {
    "F64": np.dtype(np.float64),
    "F32": np.dtype(np.float32),
    "F16": np.dtype(np.float16),
    "BF16": np.dtype(ml_dtypes.bfloat16),
}
# The names by which the library asks for the types that its headers name.
_NAMES = {
    "BOOL": "bool",
    "U8": "uint8",
    "I8": "int8",
    "U16": "uint16",
    "I16": "int16",
    "U32": "uint32",
    "I32": "int32",
    "U64": "uint64",
    "I64": "int64",
    "F16": "float16",
    "BF16": "bfloat16",
    "F32": "float32",
    "F64": "float64",
    "C64": "complex64",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E4M3FNUZ": "float8_e4m3fnuz",
    "F8_E5M2": "float8_e5m2",
    "F8_E5M2FNUZ": "float8_e5m2fnuz",
    "F8_E8M0": "float8_e8m0fnu",
}


@dataclass(frozen=True)
class TensorFile:
    """A safetensors file whose header has been checked by the library.

    Attributes:
        path: The file.
        shapes: Its tensors.
        metadata: The texts of its header.
        places: Where the bytes of each tensor start and end in the file.
    """

    path: Path
    shapes: dict[str, Shape]
    metadata: dict[str, str] | None
    places: dict[str, tuple[int, int]]

    @classmethod
    def open(cls, path: Path) -> TensorFile:
        """Read the header of a file.

        Raises:
            CheckpointError: It is no safetensors file, or is damaged.
        """
        try:
            with safe_open(path, framework="np") as file:
                metadata = file.metadata()
        except (SafetensorError, OSError, ValueError) as error:
            raise CheckpointError(f"{path}: can't be read as a safetensors file: {error}") from None
        with path.open("rb") as raw:
            # As the format has it: eight bytes of length, that much JSON, and the data.
            length = int.from_bytes(raw.read(8), "little")
            header = json.loads(raw.read(length))
        header.pop("__metadata__", None)
        start = 8 + length
        shapes = {name: Shape(tuple(info["shape"]), info["dtype"]) for name, info in header.items()}
        places = {
            name: (start + info["data_offsets"][0], start + info["data_offsets"][1]) for name, info in header.items()
        }
        return cls(path, shapes, metadata, places)

    def raw(self, name: str) -> NDArray[np.uint8]:
        """Return the bytes of a tensor, mapped."""
        start, end = self.places[name]
        if start == end:
            return np.empty(0, dtype=np.uint8)
        return np.memmap(self.path, dtype=np.uint8, mode="r", offset=start, shape=(end - start,))

    def floats(self, name: str) -> NDArray[Any]:
        """Return a tensor of floats, mapped.

        Raises:
            CheckpointError: It holds something else, as a quantized model does.
        """
        shape = self.shapes[name]
        if shape.dtype not in FLOATS:
            raise CheckpointError(
                f"{self.path}: {name} has type {shape.dtype}; rows are made for {', '.join(FLOATS)}. Resize the model "
                "before it is quantized."
            )
        return self.raw(name).view(FLOATS[shape.dtype]).reshape(shape.shape)

    def write(self, path: Path, changed: Mapping[str, NDArray[Any]]) -> None:
        """Write a copy in which some tensors are others.

        Raises:
            CheckpointError: A tensor has a type that the library can't write.
        """
        specs, alive = {}, []
        for name, shape in self.shapes.items():
            if name in changed:
                data = np.ascontiguousarray(changed[name])
                dimensions = data.shape
            else:
                data, dimensions = self.raw(name), shape.shape
            if shape.dtype not in _NAMES:
                raise CheckpointError(f"{self.path}: {name} has type {shape.dtype}, which can't be written.")
            alive.append(data)
            specs[name] = TensorSpec(
                dtype=_NAMES[shape.dtype], shape=dimensions, data_ptr=data.ctypes.data, data_len=data.nbytes
            )
        try:
            serialize_file(specs, path, metadata=self.metadata)
        except SafetensorError as error:
            raise CheckpointError(f"{path}: can't be written: {error}") from None


def tensor_files(checkpoint: Path) -> list[TensorFile]:
    """Return the safetensors files of a checkpoint, in the order of their names.

    Raises:
        CheckpointError: There are none, or the index names files that are not there, that lie elsewhere, or that do not
            hold what it says.
    """
    index = checkpoint / INDEX
    if not index.is_file():
        single = checkpoint / SINGLE
        if not single.is_file():
            raise CheckpointError(f"{checkpoint} has neither {SINGLE} nor {INDEX}: only safetensors are resized.")
        return [TensorFile.open(single)]
    weight_map = _weight_map(index)
    files = [TensorFile.open(checkpoint / name) for name in sorted(set(weight_map.values()))]
    for file in files:
        said = {name for name, shard in weight_map.items() if shard == file.path.name}
        if said != set(file.shapes):
            name = sorted(said ^ set(file.shapes))[0]
            side = "does not hold it" if name in said else "holds it too"
            raise CheckpointError(f"{index}: {name!r} is not where weight_map says: {file.path.name} {side}.")
    return files


def _weight_map(index: Path) -> dict[str, str]:
    try:
        content = json.loads(index.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{index}: no JSON: {error}") from None
    weight_map = content.get("weight_map") if isinstance(content, dict) else None
    if not isinstance(weight_map, dict) or not all(isinstance(shard, str) for shard in weight_map.values()):
        raise CheckpointError(f"{index}: weight_map is no object of tensor names and file names.")
    for shard in sorted(set(weight_map.values())):
        if not re.fullmatch(r"[^/\\\0]+\.safetensors", shard) or shard.startswith(".."):
            raise CheckpointError(f"{index}: weight_map names {shard!r}; a shard is a *.safetensors file beside it.")
        if not (index.parent / shard).is_file():
            raise CheckpointError(f"{index}: weight_map names {shard!r}, which is not there.")
    return weight_map


def rewritten_index(text: str, *, added_bytes: int, added_numbers: int) -> str:
    """Return the text of an index whose sizes have grown, with nothing else changed.

    Args:
        text: The index.
        added_bytes: How much `metadata.total_size` grows.
        added_numbers: How much `metadata.total_parameters` grows.
    """
    metadata = json.loads(text).get("metadata")
    if not isinstance(metadata, dict):
        return text
    for key, added in (("total_size", added_bytes), ("total_parameters", added_numbers)):
        size = metadata.get(key)
        if added and isinstance(size, int | float) and not isinstance(size, bool):
            pattern = rf'("{key}"\s*:\s*){re.escape(json.dumps(size))}'
            text = re.sub(pattern, rf"\g<1>{int(size) + added}", text, count=1)
    return text
