"""Where stock's `Precompiled` normalizer parts from SentencePiece, of which it has the table.

SentencePiece looks for the longest key at each place of a text. `Precompiled` goes from grapheme to grapheme: one of
less than six bytes becomes what its *first* key becomes, and what is behind that key is lost; a longer one is mapped
character by character. So they differ on two kinds of text: keys of several characters that make six bytes or more, or
several graphemes (decomposed Hangul and kana), and a key with a mark behind it that is no part of it.
Both kinds are found in the table itself, so that a model with a table is never taken for exact.

No other components of a tokenizer.json do what SentencePiece does. NFC before the table composes the keys, but puts
marks in canonical order too, which changes vocalized Arabic and Hebrew that come out right today.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from hf_bpe.formats.pieces.model import TextRules
from hf_bpe.formats.pieces.pipeline import normalizer_of
from hf_bpe.vocabulary import Vocabulary

_MARK = "\u0301"
_AT_ONCE = 4096
_LONGEST = 64
"""In bytes. SentencePiece's own tables have keys of at most 12."""
_MOST = 1_000_000
"""Its own tables have 225,000 keys."""


@dataclass(frozen=True, slots=True)
class Parting:
    """A text to which SentencePiece gives other ids than its own table does in a tokenizer.json."""

    text: str
    ids: list[int]
    ids_of_sentencepiece: list[int]


def parting(vocabulary: Vocabulary, rules: TextRules) -> Parting | None:
    """Return the shortest text, in bytes, of the two kinds, to which `vocabulary` gives other ids than SentencePiece.

    Args:
        vocabulary: What was made of the model.
        rules: The rules of the model, with its table.
    """
    if not rules.charsmap:
        return None
    core = vocabulary.core
    plain = core.with_component("normalizer", json.dumps(normalizer_of(replace(rules, charsmap=b""))))
    texts = _suspects(rules.charsmap)
    while batch := list(islice(texts, _AT_ONCE)):
        ours = core.encode_ordinary_batch([text for text, _ in batch])
        theirs = plain.encode_ordinary_batch([mapped for _, mapped in batch])
        for (text, _), one, other in zip(batch, ours, theirs, strict=True):
            if one != other:
                return Parting(text, one, other)
    return None


def _suspects(charsmap: bytes) -> Iterator[tuple[str, str]]:
    """Yield texts of both kinds, and what SentencePiece makes of each, by their length in bytes."""
    short: list[list[tuple[str, str]]] = []
    mark = _MARK
    for size, level in enumerate(_levels(charsmap), start=1):
        yield from ((key, value) for key, value in level if len(key) > 1)
        keys = dict(level)
        mark = keys.get(_MARK, mark)
        if 3 <= size <= 5:
            # With a mark behind it a short key is a grapheme of less than six bytes.
            marked = ((key + _MARK, value + mark) for key, value in short[size - 3])
            yield from ((text, mapped) for text, mapped in marked if text not in keys)
        short.append(level if size <= 3 else [])


def _levels(charsmap: bytes) -> Iterator[list[tuple[str, str]]]:
    """Yield the keys of one byte with their values, then those of two, and so on to the longest, at least to five.

    The trie is a double array of Darts: a unit has the label by which it is reached, and where its children begin.
    Nodes are shared, so a made-up table can hold any number of keys, and endless ones: too many end the search.
    """
    size = int.from_bytes(charsmap[:4], "little")
    units = np.frombuffer(charsmap[4 : 4 + size], "<u4").astype(np.int64)
    texts = charsmap[4 + size :]
    nodes, prefixes = _children_of(units[:1]), [b""]
    for depth in range(_LONGEST):
        if len(prefixes) > _MOST or (depth >= 5 and not prefixes):
            return
        level, reached, longer = [], [], []
        for byte in range(1, 256):
            places = nodes ^ byte
            places = np.where(places < len(units), places, 0)
            found = np.flatnonzero((units[places] & 0x800000FF == byte) & (places > 0))
            children = places[found] ^ _children_of(units[places[found]])
            for parent, place, child in zip(found.tolist(), places[found].tolist(), children.tolist(), strict=True):
                key = prefixes[parent] + bytes([byte])
                if units[place] & 0x100 and child < len(units):
                    level.append((key, _text_at(texts, int(units[child]) & 0x7FFFFFFF)))
                reached.append(child)
                longer.append(key)
        yield _decoded(level)
        nodes, prefixes = np.array(reached, dtype=np.int64), longer


def _children_of(units: np.ndarray) -> np.ndarray:
    return (units >> 10) << ((units & 0x200) >> 6)


def _text_at(texts: bytes, start: int) -> bytes:
    return texts[start : texts.index(b"\0", start)] if start < len(texts) else b""


def _decoded(level: list[tuple[bytes, bytes]]) -> list[tuple[str, str]]:
    """Return the keys and values that are text. No other keys are ever found."""
    found = []
    for key, value in level:
        try:
            found.append((key.decode(), value.decode()))
        except UnicodeDecodeError:
            continue
    return found
