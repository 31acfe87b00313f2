"""What `hf-bpe train` reads: texts or counts, one corpus or several sources by name."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

import typer

from hf_bpe.cli.sources import STDIN, STDIN_TWICE, check_not_read, open_sources


def counts_of(sources: list[str], named: list[str], limits: dict[str, Any], *, writes: Path | None) -> dict[str, Any]:
    """Return the arguments of `hf_bpe.train` that say which counts to learn from; a file to write is none of them."""
    by_name = _by_name(sources, named)
    check_not_read(writes, [*sources, *chain.from_iterable(by_name.values())])
    if sources:
        return {"source": _sum_of(sources, limits)}
    return {"sources": {name: _sum_of(files, limits) for name, files in by_name.items()}}


def texts_of(sources: list[str], named: list[str], *, writes: Path | None, skip_bad_rows: bool) -> dict[str, Any]:
    """Return the arguments of `hf_bpe.train` that say which texts to read; a file to write is none of them."""
    by_name = _by_name(sources, named)
    options: dict[str, Any] = {"writes": writes, "skip_bad_rows": skip_bad_rows}
    if sources:
        return open_sources(sources, **options)
    if [*chain.from_iterable(by_name.values())].count(STDIN) > 1:
        raise typer.BadParameter(STDIN_TWICE)
    opened = {name: open_sources(files, **options) for name, files in by_name.items()}
    return {
        "sources": {
            name: [Path(file) for file in corpus["files"]] if "files" in corpus else corpus["source"]
            for name, corpus in opened.items()
        }
    }


def numbers_of(option: str, texts: list[str]) -> dict[str, float] | None:
    """Return the numbers that `NAME=NUMBER` texts give, by name; None for none."""
    numbers = {}
    for name, value in (_pair(option, text) for text in texts):
        try:
            numbers[name] = float(value)
        except ValueError:
            raise typer.BadParameter(f"{option} {name}={value}: {value!r} is no number") from None
    return numbers or None


def _by_name(sources: list[str], named: list[str]) -> dict[str, list[str]]:
    """Return what `--source` says; nothing where there are `SOURCE` arguments instead."""
    if bool(sources) == bool(named):
        raise typer.BadParameter("give SOURCE, or --source NAME=SOURCE for each of several, and not both")
    by_name: dict[str, list[str]] = {}
    for name, source in (_pair("--source", text) for text in named):
        by_name.setdefault(name, []).append(source)
    return by_name


def _pair(option: str, text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise typer.BadParameter(f"{option} {text}: write NAME=VALUE")
    return name, value


def _sum_of(files: list[str], limits: dict[str, Any]) -> Any:
    """Return the sum of the counts in files."""
    import hf_bpe

    return hf_bpe.PretokenCounts.sum((hf_bpe.PretokenCounts.load(file, **limits) for file in files), **limits)
