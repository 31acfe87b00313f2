"""What files say of their merges, before anything loads them: loading refuses some of it, and drops some."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hf_bpe.formats import gpt2
from hf_bpe.formats.files import read_json
from hf_bpe.formats.gpt2 import Merge
from hf_bpe.linting.report import Finding


def findings(path: Path) -> Iterator[Finding]:
    """Yield the merges of a tokenizer.json whose halves or result are no tokens.

    Raises:
        ConversionError: The file isn't JSON.
    """
    model = _model(path)
    vocab = _object(model.get("vocab"))
    prefix = model.get("continuing_subword_prefix") or ""
    for rank, pair in _pairs(model):
        spelled = " ".join(pair)
        result = pair[0] + pair[1].removeprefix(prefix)
        for what, token in (("left half", pair[0]), ("right half", pair[1]), ("result", result)):
            if token not in vocab:
                message = f"model.merges[{rank}], {spelled!r}: its {what} {token!r} isn't in model.vocab"
                yield Finding("merge-without-result", message, token=spelled, text=None)
                break


def merges_of(path: Path, name: str) -> tuple[list[Merge], str]:
    """Return the merges that a file of the format `name` lists, each with its place, and how a place is called."""
    if name == "tokenizer_json":
        return list(_pairs(_model(path))), "model.merges[{}]"
    if name == "gpt2":
        merges_file = gpt2.pair_of(path)[1]
        return gpt2.read_merges(merges_file), f"{merges_file.name}, line {{}}"
    return [], ""


def _model(path: Path) -> dict[str, Any]:
    file = path / "tokenizer.json" if path.is_dir() else path
    return _object(_object(read_json(file, kind="tokenizer.json")).get("model"))


def _pairs(model: dict[str, Any]) -> Iterator[Merge]:
    """Yield each merge that is one; loading says what is wrong with the others."""
    for rank, merge in enumerate(_list(model.get("merges"))):
        if (pair := _pair(merge)) is not None:
            yield rank, pair


def _pair(merge: Any) -> tuple[str, str] | None:
    halves = merge.split(" ") if isinstance(merge, str) else merge
    if isinstance(halves, list) and len(halves) == 2 and all(isinstance(half, str) for half in halves):
        return halves[0], halves[1]
    return None


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
