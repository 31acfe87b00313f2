"""The SOURCE arguments of `hf-bpe train` and others: which files they mean, and how those are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from hf_bpe.cli.output import message, stdin

if TYPE_CHECKING:
    from hf_bpe.documents import Row

STDIN = "-"

STDIN_TWICE = "- is named twice, and stdin can be read once"

_HEAD_BYTES = 8192


def open_sources(sources: Sequence[str], *, writes: Path | None = None, skip_bad_rows: bool = False) -> dict[str, Any]:
    """Return the arguments of `hf_bpe.train` that read `sources`.

    Text is read line by line, each with its newline, and of JSON lines, Parquet and Arrow row by row.

    Args:
        sources: Files, directories, globs, and `-`.
        writes: A file that will be written when all is read.
        skip_bad_rows: Whether rows without text are to be left out, and counted: of stdin, lines that aren't UTF-8.

    Raises:
        typer.BadParameter: A source doesn't exist, names nothing, or stdin is named twice or mixed with tables.
        ValueError: All sources are tables without a byte, or the file to write is one of them.
    """
    from hf_bpe.documents import kind_of

    paths = [path for source in sources for path in _expand(source)]
    if not paths:
        raise typer.BadParameter(f"there is no file in {', '.join(sources)}")
    if paths.count(STDIN) > 1:
        raise typer.BadParameter(STDIN_TWICE)
    check_not_read(writes, (path for path in paths if path != STDIN))
    tables = [path for path in paths if path != STDIN and kind_of(Path(path)) != "text"]
    if tables == paths and not any(Path(path).stat().st_size for path in paths):
        raise ValueError(f"there is no row in {', '.join(paths)}")
    if STDIN not in paths:
        return {"files": paths}
    if tables:
        raise typer.BadParameter(f"these sources mix text from stdin and {tables[0]}; train on one kind at a time")
    from hf_bpe.corpus import corpus_of_rows
    from hf_bpe.documents import SKIPPING, only_texts

    rows = _rows(paths)
    return {"source": corpus_of_rows(rows if skip_bad_rows else only_texts(rows, SKIPPING))}


def _expand(source: str) -> list[str]:
    """Return the files that `source` means: itself, those of a directory without binary ones, or those of a glob."""
    from hf_bpe.documents import expanded
    from hf_bpe.errors import CorpusError

    if source == STDIN:
        return [source]
    try:
        files = expanded(source)
    except CorpusError as error:
        raise typer.BadParameter(str(error).removesuffix(".")) from None
    if not Path(source).is_dir():
        return [str(file) for file in files]
    kept = [str(file) for file in files if not _is_binary(file)]
    if len(kept) < len(files):
        message(f"binary files left out of {source}: {len(files) - len(kept):,}")
    return kept


def _is_binary(path: Path) -> bool:
    """Return whether `path` is to be text and begins like a binary file: with a NUL, which is how git and grep tell.

    Of compressed text it is what was compressed.
    """
    from hf_bpe.documents import kind_of
    from hf_bpe.documents.streams import opened
    from hf_bpe.errors import CorpusError

    if kind_of(path) != "text":
        return False
    try:
        with opened(path) as (stream, _):
            return b"\0" in stream.read(_HEAD_BYTES)
    except CorpusError:
        return False  # damaged: told when it is read


def check_not_read(out: Path | None, files: Iterable[str]) -> None:
    """Raise when the file to write, if any, is one of those to read, which it would replace.

    Raises:
        ValueError: It is.
    """
    if out is not None and out.is_file() and any(out.samefile(file) for file in files if Path(file).is_file()):
        raise ValueError(f"{out} is one of the files that are read; name another file to write")


def text_lines(paths: Sequence[str]) -> Iterator[str]:
    """Yield the lines of files and of stdin, all of them. They end at a newline and nowhere else, as `files=` has it.

    Raises:
        CorpusError: A line isn't UTF-8.
    """
    from hf_bpe.documents import MENDING, only_texts

    return only_texts(_rows(paths), MENDING)


def _rows(paths: Sequence[str]) -> Iterator[Row]:
    """Yield the lines of files and of stdin, and those that aren't UTF-8 as bad rows."""
    from hf_bpe.documents import decoded, rows_of_lines

    for path in paths:
        if path == STDIN:
            yield from (decoded(line, f"stdin, line {number:,}") for number, line in enumerate(stdin(), start=1))
        else:
            yield from rows_of_lines(Path(path))
