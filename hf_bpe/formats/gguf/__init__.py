"""GGUF files: the vocabulary of a llama.cpp model, of the kinds `gpt2` (byte-level BPE) and `llama` (scored pieces).

A file with tensors is read as well; they are left alone. What is written has keys only, which llama.cpp calls a
vocab-only file. A vocab-only file that is read and written again has the same bytes if the `gguf` package wrote it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from hf_bpe.errors import ConversionError
from hf_bpe.formats import arguments
from hf_bpe.formats.files import head
from hf_bpe.formats.gguf import byte_level, metadata, scored
from hf_bpe.formats.gguf.container import MAGIC, STRING, UINT32, Field, read_fields
from hf_bpe.formats.pieces.ends import ends
from hf_bpe.formats.pieces.model import PieceType
from hf_bpe.vocabulary import Vocabulary

NAME = "gguf"


def sniff(path: Path) -> bool:
    """Whether `path` begins with GGUF's four letters."""
    return head(Path(path), len(MAGIC)) == MAGIC


def read(path: str | Path) -> Vocabulary:
    """Read the vocabulary of a GGUF file.

    Raises:
        ConversionError: The file is damaged, or of a kind or with a pre-tokenizer that hf_bpe doesn't know.
    """
    path = Path(path)
    fields = read_fields(path)
    kind = metadata.text(fields, metadata.MODEL, path.name)
    if kind == byte_level.KIND:
        return byte_level.read(fields, path.name)
    if kind == scored.KIND:
        return scored.read(fields, path.name)
    raise ConversionError(f"{path.name}: {metadata.MODEL} is {kind!r}; hf_bpe supports 'gpt2' and 'llama'")


def write(vocabulary: Vocabulary, path: str | Path, *, architecture: str = "llama") -> list[Path]:
    """Write a vocab-only GGUF file, of the kind that fits.

    Args:
        vocabulary: The vocabulary.
        path: The file to write.
        architecture: What `general.architecture` says if the vocabulary doesn't come from a GGUF file.

    Raises:
        ConversionError: llama.cpp would give other ids; the message names a text.
        ImportError: The package gguf is missing.
    """
    path = Path(path)
    if not arguments.a_name(architecture, "architecture") or not architecture.isprintable():
        raise ValueError(f"architecture is a name such as 'llama', got {architecture!r:.60}")
    kept = cast("metadata.Kept | None", vocabulary.details.get(NAME))
    if vocabulary.is_byte_level:
        ours = byte_level.fields_of(vocabulary, kept)
    else:
        ours = scored.fields_of(vocabulary, kept, _scores(vocabulary))
    ours |= _roles(vocabulary, kept) | metadata.chat_template_fields(vocabulary.chat_template)
    metadata.write_fields(_ordered(ours, kept, architecture), path)
    return [path]


def options(vocabulary: Vocabulary) -> dict[str, Any]:
    """Return what `write` leaves out: nothing."""
    return {}


def _scores(vocabulary: Vocabulary) -> Any:
    """Return the scores of a vocabulary that was read from a SentencePiece model."""
    details = cast("dict[str, Any]", vocabulary.details.get("sentencepiece") or {})
    return details.get("scores", ())


def _roles(vocabulary: Vocabulary, kept: metadata.Kept | None) -> dict[str, Field]:
    ids = vocabulary.core.token_to_id
    tokens = ends(vocabulary, NAME).roles() | dict(vocabulary.special_tokens)
    named = {role: ids(token) for role, token in tokens.items() if role in metadata.ROLES and isinstance(token, str)}
    if kept is not None and not vocabulary.is_byte_level:
        unsaid = {role for role in scored.DEFAULT_ROLES if metadata.ROLES[role] not in kept["fields"]}
        unknown = kept["types"].find(PieceType.UNKNOWN)
        usual = scored.DEFAULT_ROLES | ({"unk_token": unknown} if unknown >= 0 else {})
        named = {role: token_id for role, token_id in named.items() if role not in unsaid or token_id != usual[role]}
    return {key: Field(named[role], UINT32) for role, key in metadata.ROLES.items() if named.get(role) is not None}


def _ordered(ours: dict[str, Field], kept: metadata.Kept | None, architecture: str) -> dict[str, Field]:
    """Return all keys: those of the file that was read in their places, then new ones."""
    fields: dict[str, Field] = {metadata.ARCHITECTURE: Field(architecture, STRING)}
    for key, field in (kept["fields"] if kept is not None else {}).items():
        if (value := ours.get(key) if field is None else field) is not None:
            fields[key] = value
    return {key: field for key, field in (fields | ours).items() if field.item_type is None or len(field.value)}
