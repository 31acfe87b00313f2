"""What a corpus may be, and which reader opens it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hf_bpe.corpus.arrow import open_arrow
from hf_bpe.corpus.files import open_files
from hf_bpe.corpus.hf_datasets import open_dataset
from hf_bpe.corpus.iterables import open_iterable
from hf_bpe.corpus.value import ACCEPTED, Corpus, Source
from hf_bpe.telling import warn
from hf_bpe.text_batches import Texts


def open_corpus(
    source: Source = None,
    *,
    files: Sequence[str | Path] | None = None,
    text_column: str = "text",
    skip_bad_rows: bool = False,
    temporary_directory: str | None = None,
) -> Corpus:
    """Return `source`, or the files `files`, as batches.

    A str is one text, never a path. A text file is read as the stock trainer reads it: each line, with its
    `\\n`, is a text; `\\r` and a byte order mark stay where they are. Of JSON lines, Parquet and Arrow, each row is a
    text. Rows that are null are skipped.

    Args:
        source: The texts: see the message of the TypeError below for what is accepted.
        files: Paths, directories or globs, instead of `source`, of text, JSON lines, Parquet and Arrow.
        text_column: The column to read of tables and datasets.
        skip_bad_rows: Whether rows of files that hold no text are left out and counted, not an error.
        temporary_directory: Where a long line of a compressed file waits; by default where the system has such files.

    Raises:
        TypeError: `source` is none of the accepted types, or neither or both of `source` and `files` are given.
        ValueError: There is no column `text_column`.
        CorpusError: A file can't be read, or a row of it holds no text.
        FileNotFoundError: A file doesn't exist.
    """
    if (source is None) == (files is None):
        raise TypeError(f"give either a source or files=[...]; a source is {ACCEPTED}")
    reading: dict[str, Any] = {"skip_bad_rows": skip_bad_rows, "temporary_directory": temporary_directory}
    if files is not None:
        return open_files(files, text_column, **reading)
    if isinstance(source, Corpus):
        return source
    if isinstance(source, str):
        if os.path.isfile(source):
            warn(
                f"the text {source!r} is trained on, not the file of that name; for the file, pass a pathlib.Path or "
                f"files=[{source!r}]"
            )
        return Corpus(iter([Texts([source])]), len(source))
    if isinstance(source, Path):
        return open_files([source], text_column, **reading)
    return open_dataset(source, text_column) or open_arrow(source, text_column) or open_iterable(source)
