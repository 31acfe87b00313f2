"""Small GGUF vocabularies for tests, key by key."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hf_bpe.byte_alphabet import BYTE_TO_CHAR
from hf_bpe.formats import gguf
from hf_bpe.formats.gguf import metadata
from hf_bpe.formats.gguf.container import ARRAY, BOOL, FLOAT32, INT32, STRING, UINT32, Field
from hf_bpe.formats.pieces.model import BYTE_PIECES, PieceType
from hf_bpe.vocabulary import Vocabulary


def byte_fields(**changes: Any) -> dict[str, Field]:
    """Return the keys of a small byte-level vocabulary: the bytes, `ab`, a special and a user-defined token."""
    tokens = [*BYTE_TO_CHAR.values(), "ab", "<|end|>", "<tool>"]
    fields = {
        metadata.ARCHITECTURE: Field("llama", STRING),
        metadata.MODEL: Field("gpt2", STRING),
        metadata.PRE: Field("gpt-2", STRING),
        metadata.TOKENS: Field(tokens, ARRAY, STRING),
        metadata.TYPES: Field([1] * 257 + [3, 4], ARRAY, INT32),
        metadata.MERGES: Field(["a b"], ARRAY, STRING),
        metadata.ROLES["bos_token"]: Field(257, UINT32),
    }
    return with_changes(fields, changes)


def piece_fields(**changes: Any) -> dict[str, Field]:
    """Return the keys of a small vocabulary of scored pieces."""
    fields = {
        metadata.ARCHITECTURE: Field("llama", STRING),
        metadata.MODEL: Field("llama", STRING),
        metadata.TOKENS: Field(["<unk>", "<s>", "</s>", "▁", "a", "b", "ab", "▁a", "<ud>"], ARRAY, STRING),
        metadata.SCORES: Field([0.0, 0.0, 0.0, -3.0, -4.0, -5.0, -1.0, -2.0, 0.0], ARRAY, FLOAT32),
        metadata.TYPES: Field([2, 3, 3, 1, 1, 1, 1, 1, 4], ARRAY, INT32),
        metadata.ROLES["bos_token"]: Field(1, UINT32),
    }
    return with_changes(fields, changes)


def with_changes(fields: dict[str, Field], changes: Mapping[str, Any]) -> dict[str, Field]:
    """Return `fields` with those named by the last part of their key changed, or left out where the change is None."""
    keys = [*fields, metadata.ADD_BOS, metadata.ADD_EOS, metadata.ADD_PREFIX, metadata.MODEL_NAME]
    by_name = {key.rsplit(".", 1)[1]: key for key in keys}
    changed = fields | {by_name[name]: field for name, field in changes.items()}
    return {key: field for key, field in changed.items() if field is not None}


def read(fields: Mapping[str, Field], tmp_path: Path) -> Vocabulary:
    """Return the vocabulary of a file with these keys, which stays there as `made.gguf`."""
    metadata.write_fields(fields, tmp_path / "made.gguf")
    return gguf.read(tmp_path / "made.gguf")


class Pieces(NamedTuple):
    """A vocabulary of scored pieces, and whether texts get a space."""

    tokens: Sequence[str]
    scores: Sequence[float]
    types: Sequence[int]
    prefix: bool

    def fields(self) -> dict[str, Field]:
        """Return the keys of its file."""
        return piece_fields(
            tokens=Field(list(self.tokens), ARRAY, STRING),
            scores=Field(list(self.scores), ARRAY, FLOAT32),
            token_type=Field(list(self.types), ARRAY, INT32),
            add_space_prefix=Field(self.prefix, BOOL),
        )


def random_pieces(rng: random.Random) -> Pieces:
    """Return bytes, five characters, and pieces of these of every type, no two with one score."""
    pieces = ["▁", "a", "b", "<", ">"]
    while len(pieces) < 7 or rng.random() < 0.8:
        alphabet = "ab▁<> " if rng.random() < 0.2 else "ab▁<"
        piece = "".join(rng.choice(alphabet) for _ in range(rng.randint(2, 4)))
        pieces += [piece] if piece not in pieces else []
    kinds = (*[PieceType.NORMAL] * 4, PieceType.CONTROL, *[PieceType.USER_DEFINED] * 2, PieceType.UNUSED)
    return Pieces(
        tokens=["<unk>", "<s>", "</s>", *BYTE_PIECES, *pieces],
        scores=[0.0] * 259 + [float(-score) for score in rng.sample(range(1, 99), len(pieces))],
        types=[2, 3, 3] + [6] * 256 + [1] * 5 + [rng.choice(kinds) for _ in pieces[5:]],
        prefix=rng.random() < 0.7,
    )
