"""Writes the table of a Precompiled normalizer: a double array over UTF-8, then the replacements, as SentencePiece.

A unit of the array holds the byte that leads to it, whether a key ends there, and where its children are: the child for
a byte stands at the base of its parent XOR the byte; at the base itself stands the value of a key that ends there.
"""

from __future__ import annotations

import struct
from typing import TypeAlias

_Trie: TypeAlias = "dict[int, _Trie | int]"

_HAS_VALUE = 1 << 8
_IS_VALUE = 1 << 31
_OFFSET_BITS = 10


def charsmap(table: dict[str, str]) -> bytes:
    """Return the bytes of a table that replaces each key by its value."""
    texts, trie = bytearray(), {}
    for key, text in table.items():
        _insert(trie, key.encode(), len(texts))
        texts += text.encode() + b"\0"
    units: dict[int, int] = {0: 0}
    _place(trie, 0, units, {0})
    array = [units.get(index, 0) for index in range((max(units) | 0xFF) + 1)]
    packed = struct.pack(f"<{len(array)}I", *array)
    return struct.pack("<I", len(packed)) + packed + bytes(texts)


def _insert(trie: _Trie, key: bytes, value: int) -> None:
    for byte in key:
        child = trie.setdefault(byte, {})
        assert isinstance(child, dict)
        trie = child
    trie[0] = value


def _place(trie: _Trie, at: int, units: dict[int, int], bases: set[int]) -> None:
    """Put the children of the node at `at` where there is room for all of them."""
    base = next(
        base for base in range(1, 1 << 20) if base not in bases and not any(base ^ byte in units for byte in trie)
    )
    bases.add(base)
    units[at] |= (at ^ base) << _OFFSET_BITS | (_HAS_VALUE if 0 in trie else 0)
    for byte, child in trie.items():
        units[base ^ byte] = byte if isinstance(child, dict) else child | _IS_VALUE
    for byte, child in trie.items():
        if isinstance(child, dict):
            _place(child, base ^ byte, units, bases)
