"""The SOURCE arguments of `hf-bpe train`: which files they mean, and how those are read."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import typer

from hf_bpe.cli.output import message, stdin

STDIN = "-"

_TABLES = {".json": "json", ".jsonl": "json", ".ndjson": "json", ".parquet": "parquet"}
_HEAD_BYTES = 8192
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")


def open_sources(sources: Sequence[str]) -> dict[str, Any]:
    """Return the arguments of `hf_bpe.train` that read `sources`.

    Text is read line by line, each with its newline. Tables (JSON lines, Parquet) are streamed through `datasets`.

    Raises:
        typer.BadParameter: A source doesn't exist, names nothing, or text and tables are mixed.
    """
    paths = [path for source in sources for path in _expand(source)]
    if not paths:
        raise typer.BadParameter(f"there is no file in {', '.join(sources)}")
    formats = {_table_format(path) for path in paths}
    if len(formats) > 1:
        names = " and ".join(sorted(name or "text" for name in formats))
        raise typer.BadParameter(f"these sources mix {names}; train on one kind at a time")
    table = formats.pop()
    if table is not None:
        return {"source": _stream(table, paths)}
    if STDIN in paths:
        return {"source": text_lines(paths)}
    return {"files": paths}


def _expand(source: str) -> list[str]:
    """Return the files that `source` means: itself, those of a directory, or those that match a glob."""
    path = Path(source)
    if source == STDIN or path.is_file():
        return [source]
    if path.is_dir():
        return _texts_in(path)
    matches = [match for match in sorted(glob.glob(source, recursive=True)) if Path(match).is_file()]
    if not matches:
        raise typer.BadParameter(f"{source!r} is no file, no directory, and matches no file")
    return matches


def _texts_in(directory: Path) -> list[str]:
    """Return the files in `directory` and below, without hidden and binary ones, and say how many were binary."""
    inside = (file for file in sorted(directory.rglob("*")) if file.is_file())
    files = [file for file in inside if not any(part.startswith(".") for part in file.relative_to(directory).parts)]
    kept = [str(file) for file in files if _table_format(str(file)) is not None or not _is_binary(file)]
    if len(kept) < len(files):
        message(f"binary files left out of {directory}: {len(files) - len(kept):,}")
    return kept


def _is_binary(path: Path) -> bool:
    """Return whether `path` begins like a binary file: with a NUL in it, which is how git and grep tell."""
    with path.open("rb") as file:
        return b"\0" in file.read(_HEAD_BYTES)


def _table_format(path: str) -> str | None:
    suffixes = Path(path).suffixes
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes = suffixes[:-1]
    return _TABLES.get(suffixes[-1]) if suffixes else None


def _stream(table: str, paths: list[str]) -> Any:
    from datasets import load_dataset

    try:
        return load_dataset(table, data_files=[glob.escape(path) for path in paths], split="train", streaming=True)
    except StopIteration:  # what it makes of files without a byte
        raise ValueError(f"there is no row in {', '.join(paths)}") from None


def text_lines(paths: Sequence[str]) -> Iterator[str]:
    """Yield the lines of files and of stdin. They end at a newline and nowhere else, as `files=` has it."""
    for path in paths:
        if path == STDIN:
            yield from _decoded(stdin(), "stdin")
        else:
            with open(path, "rb") as file:
                yield from _decoded(file, path)


def _decoded(lines: Iterable[bytes], name: str) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        try:
            yield line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"{name}, line {number}, isn't UTF-8: {error.reason}") from None
