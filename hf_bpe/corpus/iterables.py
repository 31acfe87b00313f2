"""Strings as a corpus: they come as lists of `str`, some MB at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from hf_bpe.corpus.sizes import is_full
from hf_bpe.corpus.value import ACCEPTED, Corpus
from hf_bpe.documents import TOLD_BAD_ROWS, Row
from hf_bpe.text_batches import Batch, Texts


def open_iterable(source: object) -> Corpus:
    if hasattr(source, "columns") and not isinstance(source, type):
        raise TypeError(f"a {type(source).__name__} has columns; pass one of them, such as table['text']")
    if isinstance(source, bytes | bytearray | memoryview | Mapping) or not isinstance(source, Iterable):
        raise TypeError(f"a source is {ACCEPTED}; got {type(source).__name__}")
    return corpus_of_rows(_flatten(source))


def corpus_of_rows(rows: Iterable[Row]) -> Corpus:
    """Return texts as a corpus, in which nulls and bad rows are counted, and left out."""
    return Corpus(batches_of_texts(rows))


def batches_of_texts(rows: Iterable[Row]) -> Iterator[Batch]:
    texts: list[str] = []
    told: list[str] = []
    chars = nulls = bad = 0
    is_first = True
    for row in rows:
        if isinstance(row, str):
            if is_first and bad:  # alone, so that there can be too many before the first text
                yield Texts([], nulls, bad, tuple(told))
                told, nulls, bad = [], 0, 0
            is_first = False
            texts.append(row)
            chars += len(row)
        elif row is None:
            nulls += 1
        else:
            bad += 1
            told += [row.told] if len(told) < TOLD_BAD_ROWS else []
        if is_full(chars, max(len(texts), bad)):
            yield Texts(texts, nulls, bad, tuple(told))
            texts, told, chars, nulls, bad = [], [], 0, 0, 0
    if texts or nulls or bad:
        yield Texts(texts, nulls, bad, tuple(told))


def _flatten(source: Iterable[object]) -> Iterator[str | None]:
    for index, item in enumerate(source):
        if item is None or isinstance(item, str):
            yield item
        elif isinstance(item, list | tuple):
            for inner, text in enumerate(item):
                if text is not None and not isinstance(text, str):
                    raise TypeError(f"item {index} of the source is a list whose item {inner} is {_described(text)}")
                yield text
        else:
            raise TypeError(f"item {index} of the source is {_described(item)}")


def _described(item: object) -> str:
    hint = ""
    if isinstance(item, Mapping):
        hint = f"; take the text out of each row, one of {', '.join(repr(key) for key in item)}"
    elif isinstance(item, Path):
        hint = "; pass paths as files=[...]"
    return f"a {type(item).__name__}, not a str or a list of str{hint}"
