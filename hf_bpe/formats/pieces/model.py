"""`PieceModel`: the pieces of a vocabulary with their scores and types, and the rules around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

SPACE = "▁"
"""The character that stands for a space inside pieces."""

BYTE_PIECES = tuple(f"<0x{byte:02X}>" for byte in range(256))
"""The pieces that spell characters without a piece of their own, byte by byte."""


class PieceType(IntEnum):
    """What a piece is for. SentencePiece and GGUF number the types alike."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


@dataclass(frozen=True, slots=True)
class TextRules:
    """What happens to a text before it is cut into pieces.

    The first four are SentencePiece's. `prefix_after_pieces` says that a text gets the dummy prefix anew behind a
    user-defined piece, and none before one, as in llama.cpp.
    """

    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = False
    escape_whitespaces: bool = True
    charsmap: bytes = b""
    prefix_after_pieces: bool = False

    @property
    def local(self) -> bool:
        """Whether the rules do the same to a text in one part and in several."""
        return not (self.add_dummy_prefix or self.remove_extra_whitespaces or self.charsmap)


@dataclass(frozen=True, slots=True)
class PieceModel:
    """An immutable piece model; the id of a piece is its index.

    Attributes:
        pieces: The texts of the pieces.
        scores: Their scores; a higher one merges first.
        types: Their types.
        rules: What happens to a text first.
        byte_fallback: Whether characters without a piece become byte pieces, not the unknown piece.
        roles: The pieces that play `bos_token`, `eos_token`, `unk_token` and `pad_token`.
        merges_all: Whether merging makes pieces of any type that are there, as in llama.cpp, or ordinary ones only.
        unknown_surface: The text that the unknown piece is decoded to; None where that is the piece itself.
    """

    pieces: Sequence[str]
    scores: Sequence[float]
    types: Sequence[int]
    rules: TextRules = field(default_factory=TextRules)
    byte_fallback: bool = False
    roles: Mapping[str, str] = field(default_factory=dict)
    merges_all: bool = False
    unknown_surface: str | None = None

    def is_merged(self, piece: str, kind: int) -> bool:
        """Whether merging makes and takes `piece`.

        With `merges_all`, pieces that are sought in the raw text are never met in what is left of it, except for one
        that spells a space as "▁".
        """
        if kind in (PieceType.NORMAL, PieceType.UNUSED):
            return True
        return self.merges_all and (kind == PieceType.BYTE or SPACE in piece)

    def of_type(self, *types: PieceType) -> list[str]:
        """Return the pieces of these types, in the order of their ids."""
        return [piece for piece, kind in zip(self.pieces, self.types, strict=True) if kind in types]
