"""The key-value part of a GGUF file, read with every length checked before it is believed.

The `gguf` package's own reader is the reference, and the tests hold this one to it. It isn't used: it makes an
array per string (10 s for 200,000), and a file that claims 10^12 entries keeps it busy for ever.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hf_bpe.errors import ConversionError
from hf_bpe.formats.files import refuse_device

MAGIC = b"GGUF"
VERSIONS = (2, 3)

UINT8, INT8, UINT16, INT16, UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY, UINT64, INT64, FLOAT64 = range(13)
_FORMATS = {
    UINT8: "B",
    INT8: "b",
    UINT16: "H",
    INT16: "h",
    UINT32: "I",
    INT32: "i",
    FLOAT32: "f",
    BOOL: "?",
    UINT64: "Q",
    INT64: "q",
    FLOAT64: "d",
}

MOST_ENTRIES = 1 << 24
"""In one array. The largest vocabularies have 300,000 tokens and 500,000 merges."""
LONGEST_KEY = 1 << 16
"""In bytes, as the format has it."""


class Field(NamedTuple):
    """One value, with its type as the format numbers it; `item_type` is that of an array's entries."""

    value: Any
    type: int
    item_type: int | None = None


def read_fields(path: Path) -> dict[str, Field]:
    """Return the key-value pairs of a GGUF file in their order. Tensors, which follow, aren't looked at.

    Raises:
        ConversionError: The file is damaged, of another version or byte order, or claims more than it holds. The
            message names the key and the byte.
    """
    refuse_device(path, kind="GGUF")
    try:
        with path.open("rb") as file:
            if path.stat().st_size < 24:
                raise ConversionError(f"{path.name}: {path.stat().st_size} bytes are too few for a GGUF file")
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return _Cursor(data, path.name).fields()
    except OSError as error:
        raise ConversionError(f"{path.name}: can't be read: {error.strerror or error}") from error


class _Cursor:
    """Reads values one after the other."""

    def __init__(self, data: mmap.mmap, name: str) -> None:
        self._data = data
        self._name = name
        self._at = 0
        self._key = "the header"

    def fields(self) -> dict[str, Field]:
        self._check_header()
        _tensors, count = self._unpack("<QQ")
        self._check_count(count, 13, "keys")
        fields: dict[str, Field] = {}
        for _ in range(count):
            self._key = "a key"
            key = self._string(longest=LONGEST_KEY)
            self._key = key
            if key in fields:
                raise self._error("stands there twice")
            fields[key] = self._field(*self._unpack("<I"))
        return fields

    def _check_header(self) -> None:
        magic = self._take(4)
        if magic != MAGIC:
            raise ConversionError(f"{self._name}: not a GGUF file: it begins with {magic!r}, not with {MAGIC!r}")
        (version,) = self._unpack("<I")
        if version & 0xFFFF == 0 and version:
            raise ConversionError(f"{self._name}: a big-endian GGUF file; hf_bpe reads little-endian ones")
        if version not in VERSIONS:
            raise ConversionError(f"{self._name}: GGUF version {version}; hf_bpe reads the versions 2 and 3")

    def _field(self, kind: int) -> Field:
        if kind != ARRAY:
            return Field(self._value(kind), kind)
        item_type, count = self._unpack("<IQ")
        if item_type == ARRAY:
            raise self._error("is an array of arrays, which no vocabulary needs")
        return Field(self._array(item_type, count), ARRAY, item_type)

    def _value(self, kind: int) -> Any:
        if kind == STRING:
            return self._string()
        return self._unpack("<" + self._format(kind))[0]

    def _array(self, kind: int, count: int) -> Sequence[Any]:
        if kind == STRING:
            self._check_count(count, 8, "strings")
            return [self._string() for _ in range(count)]
        code = self._format(kind)
        self._check_count(count, struct.calcsize(code), "numbers")
        return self._unpack(f"<{count}{code}")

    def _format(self, kind: int) -> str:
        if kind not in _FORMATS:
            raise self._error(f"has the type {kind}, which GGUF doesn't have")
        return _FORMATS[kind]

    def _string(self, *, longest: int | None = None) -> str:
        (size,) = self._unpack("<Q")
        if longest is not None and size > longest:
            raise self._error(f"has {size} bytes; a key has at most {longest}")
        start = self._at
        try:
            return self._take(size).decode("utf-8")
        except UnicodeDecodeError as error:
            raise self._error(f"holds a string that is not UTF-8, at byte {start + error.start}") from error

    def _unpack(self, code: str) -> tuple[Any, ...]:
        return struct.unpack(code, self._take(struct.calcsize(code)))

    def _take(self, size: int) -> bytes:
        left = len(self._data) - self._at
        if size > left:
            raise self._error(f"needs {size} bytes from byte {self._at} on, but the file has {left} left")
        self._at += size
        return self._data[self._at - size : self._at]

    def _check_count(self, count: int, size: int, what: str) -> None:
        if count > MOST_ENTRIES or count * size > len(self._data) - self._at:
            raise self._error(
                f"claims {count} {what} from byte {self._at} on, more than the file holds or hf_bpe reads"
            )

    def _error(self, problem: str) -> ConversionError:
        return ConversionError(f"{self._name}: {self._key} {problem}")
