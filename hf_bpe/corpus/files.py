"""Files as a corpus, or a part of one: with a place after each batch, and without an object for a row of a table."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from glob import has_magic
from pathlib import Path
from typing import Any

from hf_bpe.bookmarks import Bookmark, Json
from hf_bpe.corpus.arrow import batches_of_array
from hf_bpe.corpus.value import Corpus
from hf_bpe.documents import (
    BEGINNING,
    LONG_BYTES,
    TOLD_BAD_ROWS,
    BadRow,
    Documents,
    Part,
    Position,
    columns_of_part,
    kind_of,
    open_documents,
)
from hf_bpe.text_batches import Batch, LongText, Texts


def open_files(
    files: Sequence[str | Path], text_column: str, *, skip_bad_rows: bool, temporary_directory: str | None
) -> Corpus:
    if isinstance(files, str | Path):
        raise TypeError(f"files is a list of paths, got {files!r}; write files=[{files!r}]")
    for file in files:
        if not os.path.exists(file) and not has_magic(str(file)):
            raise FileNotFoundError(f"there is no file {str(file)!r}")
    if not files:
        return Corpus(iter(()), 0)
    documents = open_documents(
        files, text_column=text_column, skip_bad_rows=skip_bad_rows, temporary_directory=temporary_directory
    )
    as_they_are = all(kind_of(path) == "text" for path in documents.files)
    bookmark = Bookmark(partial(_identity_of_files, documents), hashed=False)
    read = partial(_batches_of_documents, documents, bookmark)
    bookmark.batches_from = lambda place: read(Position(**place))
    return Corpus(read(BEGINNING), documents.total_bytes if as_they_are else None, bookmark)


def open_part(documents: Documents, part: Part) -> Corpus:
    """Return a part of files as batches, as `open_corpus` does whole files."""
    columns = columns_of_part(documents, part, long_bytes=LONG_BYTES)
    return Corpus((batch for found in columns for batch in _batches_of(documents, found)), is_part=True)


def _identity_of_files(documents: Documents) -> dict[str, Json]:
    found = [(path, path.stat()) for path in documents.files]
    return {
        "kind": "files",
        "files": [[str(path.resolve()), about.st_size, about.st_mtime_ns] for path, about in found],
        "text_column": documents.text_column,
        "skip_bad_rows": documents.skip_bad_rows,
    }


def _batches_of_documents(documents: Documents, bookmark: Bookmark, start: Position) -> Iterator[Batch]:
    columns = documents.columns(start, long_bytes=LONG_BYTES)
    parts = ((_batches_of(documents, found), end._asdict) for found, end in columns)
    return bookmark.over(parts)


def _batches_of(documents: Documents, found: Any) -> Iterator[Batch]:
    if isinstance(found, list):
        # Bad rows before a text come alone, so that there can be too many before the first text of all.
        first = next((number for number, row in enumerate(found) if isinstance(row, str)), len(found))
        for rows in filter(None, (found[:first], found[first:])):
            bad = [documents.check(row) for row in rows if isinstance(row, BadRow)]
            told = tuple(row.told for row in bad[:TOLD_BAD_ROWS])
            yield Texts([row for row in rows if isinstance(row, str)], rows.count(None), len(bad), told)
    elif isinstance(found, LongText):
        yield found
    else:
        yield from batches_of_array(found)
