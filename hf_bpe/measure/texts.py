"""The texts of a measure: named or not, in memory, streamed, or in files; always read in batches."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hf_bpe.documents import MENDING, open_documents

_BATCH_CHARACTERS = 2_000_000
_ONLY = "texts"
_ACCEPTED = (
    "texts are a str, an iterable of str, rows of a dataset, a pathlib.Path of a file (or a list of them), or a "
    "mapping from names to these"
)


def batches(texts: Any, *, text_column: str = "text") -> Iterator[tuple[str, list[str]]]:
    """Yield batches of texts, each with the name of what it is from.

    In files each line is a text, with its newline; JSON lines, Parquet and Arrow have one in each row. A str is a text,
    never a path.

    Args:
        texts: A str, an iterable of str or of rows, a `Path`, a list of these, or a mapping from names to any of them.
            Files without a name have that of their last part, or their path where two of them end alike.
        text_column: The column, or key, with the text in rows.

    Raises:
        TypeError: These are no texts.
        CorpusError: A file can't be read, or isn't UTF-8. The message names the line.
    """
    if isinstance(texts, Mapping):
        for name, member in texts.items():
            yield from ((str(name), batch) for batch in _members(member, text_column))
        return
    if isinstance(texts, list | tuple) and texts and all(isinstance(text, os.PathLike) for text in texts):
        names = [Path(path).name for path in texts]
        for path, name in zip(texts, names, strict=True):
            shown = name if names.count(name) == 1 else str(Path(path))
            yield from ((shown, batch) for batch in _members(path, text_column))
        return
    name = Path(texts).name if isinstance(texts, os.PathLike) else _ONLY
    yield from ((name, batch) for batch in _members(texts, text_column))


def _members(texts: Any, column: str) -> Iterator[list[str]]:
    if isinstance(texts, str):
        return iter([[texts]])
    if isinstance(texts, os.PathLike):
        documents = open_documents([Path(texts)], text_column=column, remedy=MENDING)
        return _cut(text for batch in documents.batches() for text in batch.texts)
    if isinstance(texts, list | tuple) and texts and all(isinstance(text, os.PathLike) for text in texts):
        documents = open_documents([Path(text) for text in texts], text_column=column, remedy=MENDING)
        return _cut(text for batch in documents.batches() for text in batch.texts)
    if isinstance(texts, bytes | bytearray | Mapping) or not isinstance(texts, Iterable):
        raise TypeError(f"{_ACCEPTED}; got {type(texts).__name__}.")
    return _cut(_checked(texts, column))


def _checked(texts: Iterable[Any], column: str) -> Iterator[str]:
    for index, text in enumerate(texts):
        if isinstance(text, Mapping):
            if column not in text:
                keys = ", ".join(map(repr, text)) or "nothing"
                raise TypeError(f"row {index} has no {column!r}; it has {keys}. Choose a text_column.")
            text = text[column]
        if text is None:
            continue
        if not isinstance(text, str):
            raise TypeError(f"text {index} is a {type(text).__name__}; {_ACCEPTED}.")
        yield text


def _cut(texts: Iterable[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        batch.append(text)
        size += len(text) + 1
        if size >= _BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
