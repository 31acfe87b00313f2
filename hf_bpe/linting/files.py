"""What a tokenizer.json says of its merges, before anything loads it: loading refuses some of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hf_bpe.formats.files import read_json
from hf_bpe.linting.report import Finding


def findings(path: Path) -> Iterator[Finding]:
    """Yield merges without a result, and merges that stand there twice.

    Raises:
        ConversionError: The file isn't JSON.
    """
    file = path / "tokenizer.json" if path.is_dir() else path
    model = _object(_object(read_json(file, kind="tokenizer.json")).get("model"))
    vocab = _object(model.get("vocab"))
    prefix = model.get("continuing_subword_prefix") or ""
    seen: dict[tuple[str, str], int] = {}
    for rank, merge in enumerate(_list(model.get("merges"))):
        pair = _pair(merge)
        if pair is None:
            continue  # loading says what is wrong with it
        spelled = " ".join(pair)
        result = pair[0] + pair[1].removeprefix(prefix)
        for what, token in (("left half", pair[0]), ("right half", pair[1]), ("result", result)):
            if token not in vocab:
                message = f"model.merges[{rank}], {spelled!r}: its {what} {token!r} isn't in model.vocab"
                yield Finding("merge-without-result", message, token=spelled, text=None)
                break
        if seen.setdefault(pair, rank) != rank:
            message = (
                f"model.merges[{rank}], {spelled!r}, stands at {seen[pair]} already: which counts is up to the reader"
            )
            yield Finding("double-merge", message, token=spelled, text=None)


def _pair(merge: Any) -> tuple[str, str] | None:
    halves = merge.split(" ") if isinstance(merge, str) else merge
    if isinstance(halves, list) and len(halves) == 2 and all(isinstance(half, str) for half in halves):
        return halves[0], halves[1]
    return None


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
