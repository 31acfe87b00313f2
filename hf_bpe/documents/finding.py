"""Which files are meant, and how each is read."""

from __future__ import annotations

import glob
from pathlib import Path

from hf_bpe.errors import CorpusError

_TABLES = {".json": "jsonl", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".arrow": "arrow"}
_COMPRESSED = (".gz", ".zst", ".bz2", ".xz")


def expanded(file: str) -> list[Path]:
    """Return the files that a path means: itself, those of a directory that aren't hidden, or those that match a glob.

    Raises:
        CorpusError: There is none.
    """
    path = Path(file)
    if path.is_file():
        return [path]
    if path.is_dir():
        inside = (found for found in sorted(path.rglob("*")) if found.is_file())
        return [found for found in inside if not any(part.startswith(".") for part in found.relative_to(path).parts)]
    matches = [Path(match) for match in sorted(glob.glob(file, recursive=True)) if Path(match).is_file()]
    if not matches:
        raise CorpusError(f"{file!r} is no file, no directory, and matches no file.")
    return matches


def kind_of(path: Path) -> str:
    """Return how a file is read, by its name: text, jsonl, parquet or arrow."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    return _TABLES.get(suffixes[-1], "text") if suffixes else "text"
