"""GPT-2's byte alphabet: a printable stand-in character for each of the 256 bytes.

Byte-level vocabularies write each byte of a token as one character. Bytes that print as themselves in
Latin-1 stand for themselves; the other 68 get the code points from U+0100 up, in byte order, so that a
space is `Ġ` (U+0120) and a newline `Ċ` (U+010A). Source: the `bytes_to_unicode` table of GPT-2 (2019).
"""

from __future__ import annotations

_PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_OTHERS = [byte for byte in range(256) if byte not in set(_PRINTABLE)]

BYTE_TO_CHAR: dict[int, str] = {byte: chr(byte) for byte in _PRINTABLE} | {
    byte: chr(0x100 + index) for index, byte in enumerate(_OTHERS)
}
"""The stand-in character of each byte."""

CHAR_TO_BYTE: dict[str, int] = {char: byte for byte, char in BYTE_TO_CHAR.items()}
"""The byte that each stand-in character means."""


def bytes_to_token(data: bytes) -> str:
    """Return the way a byte-level vocabulary writes `data`.

    Example:
        >>> bytes_to_token(b" the")
        'Ġthe'
    """
    return "".join(BYTE_TO_CHAR[byte] for byte in data)


def token_to_bytes(token: str) -> bytes:
    """Return the bytes that `token` of a byte-level vocabulary stands for.

    Raises:
        KeyError: `token` holds a character outside the byte alphabet.

    Example:
        >>> token_to_bytes("Ġthe")
        b' the'
    """
    return bytes(CHAR_TO_BYTE[char] for char in token)
