"""SentencePiece models and GGUF files as `tokenizer.json`: readers of just what a BPE vocabulary needs.

Written for tests, from the public descriptions of both formats: they judge what the package makes of such files, and
share no code with it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Json = dict[str, Any]
Piece = tuple[str, float, int]

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
"""The kinds of pieces, numbered alike in both formats."""


def read_sentencepiece(path: Path) -> list[Piece]:
    """Return text, score and kind of each piece of a model: field 1 of the message, three fields each."""
    return [_piece(value) for field, value in _fields(path.read_bytes()) if field == 1 and isinstance(value, bytes)]


def _piece(data: bytes) -> Piece:
    fields = dict(_fields(data))
    return fields[1].decode(), fields.get(2, 0.0), fields.get(3, NORMAL)


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Yield number and value of each field of a protocol buffer."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        value: Any
        if key & 7 == 0:
            value, at = _varint(data, at)
        elif key & 7 == 5:
            (value,), at = struct.unpack_from("<f", data, at), at + 4
        elif key & 7 == 1:
            value, at = data[at : at + 8], at + 8
        else:
            length, at = _varint(data, at)
            value, at = data[at : at + length], at + length
        yield key >> 3, value


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if not data[at - 1] & 128:
            return value, at


_SCALARS = dict(enumerate("BbHhIif?")) | {10: "Q", 11: "q", 12: "d"}


def read_gguf(path: Path) -> Json:
    """Return the metadata of a GGUF file."""
    data = path.read_bytes()
    magic, _version, _tensors, count = struct.unpack_from("<4sIQQ", data)
    assert magic == b"GGUF"
    at, metadata = 24, {}
    for _ in range(count):
        key, at = _string(data, at)
        (kind,) = struct.unpack_from("<I", data, at)
        metadata[key], at = _value(data, at + 4, kind)
    return metadata


def _value(data: bytes, at: int, kind: int) -> tuple[Any, int]:
    if kind == 8:
        return _string(data, at)
    if kind == 9:
        inner, length = struct.unpack_from("<IQ", data, at)
        at, items = at + 12, []
        for _ in range(length):
            item, at = _value(data, at, inner)
            items.append(item)
        return items, at
    (value,) = struct.unpack_from("<" + _SCALARS[kind], data, at)
    return value, at + struct.calcsize(_SCALARS[kind])


def _string(data: bytes, at: int) -> tuple[str, int]:
    (length,) = struct.unpack_from("<Q", data, at)
    return data[at + 8 : at + 8 + length].decode(), at + 8 + length


def merges_of_scores(pieces: list[Piece]) -> list[tuple[str, str]]:
    """Return the merges behind scores: each way to make a piece of two others, the best piece first.

    Of several ways to make one piece, SentencePiece takes the leftmost in the text, which no list of merges can say;
    here, as in published files, they go by the ids of their halves.
    """
    ids = {text: id for id, (text, _, kind) in enumerate(pieces) if kind in (NORMAL, USER_DEFINED)}
    pairs = ((text[:at], text[at:]) for text in ids for at in range(1, len(text)))
    found = [pair for pair in pairs if ids.keys() >= set(pair)]

    def order(pair: tuple[str, str]) -> tuple[float, int, int, int]:
        whole = ids["".join(pair)]
        return -pieces[whole][1], whole, ids[pair[0]], ids[pair[1]]

    return sorted(found, key=order)


def tokenizer_of_pieces(pieces: list[Piece], *, metaspace: bool) -> Json:
    """Return the `tokenizer.json` of a model with dummy prefix and byte fallback: Llama 2 and the first Mistrals.

    With `metaspace` in today's form, a pre-tokenizer that puts the prefix before the first text alone; without, in the
    form of 2023, two normalizers that put it behind each special token, too.
    """
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    specials = {text: id for id, (text, _, kind) in enumerate(pieces) if kind in (UNKNOWN, CONTROL)}
    spaces = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    steps = [{"type": "Prepend", "prepend": "▁"}, spaces]
    parts = (("Sequence", "A", 0), ("SpecialToken", "<s>", 1), ("Sequence", "B", 1))
    single, *pair = [{kind: {"id": id, "type_id": type_id}} for kind, id, type_id in parts]
    bos = {"SpecialToken": {"id": "<s>", "type_id": 0}}
    return {
        **{"version": "1.0", "truncation": None, "padding": None},
        "added_tokens": [{"id": id, "content": text, **flags} for text, id in specials.items()],
        "normalizer": None if metaspace else {"type": "Sequence", "normalizers": steps},
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": False}
        if metaspace
        else None,
        "post_processor": {
            **{"type": "TemplateProcessing", "single": [bos, single], "pair": [bos, single, *pair]},
            "special_tokens": {"<s>": {"id": "<s>", "ids": [specials["<s>"]], "tokens": ["<s>"]}},
        },
        "decoder": {
            "type": "Sequence",
            "decoders": [
                {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                *({"type": "ByteFallback"}, {"type": "Fuse"}),
                {"type": "Strip", "content": " ", "start": 1, "stop": 0},
            ],
        },
        "model": {
            **{"type": "BPE", "dropout": None, "unk_token": "<unk>", "continuing_subword_prefix": None},
            **{"end_of_word_suffix": None, "fuse_unk": True, "byte_fallback": True, "ignore_merges": False},
            "vocab": {text: id for id, (text, _, _) in enumerate(pieces)},
            "merges": [list(pair) for pair in merges_of_scores(pieces)],
        },
    }
