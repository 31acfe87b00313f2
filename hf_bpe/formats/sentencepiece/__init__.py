"""SentencePiece `.model` files of type BPE: Llama 2, Mistral v1 to v7, Gemma, and those that people train.

Ids equal those of `sentencepiece.SentencePieceProcessor.encode` on any text, with three reservations. Control pieces
are special tokens: found in texts unless `split_special_tokens=True`, whereas SentencePiece never finds them. A
charsmap (NFKC, mostly) becomes stock's `Precompiled` normalizer, which maps grapheme by grapheme where SentencePiece
takes the longest match: decomposed texts can differ, and a warning shows the shortest that does (`pieces.charsmap`).
And a control piece spelled out in a text between two user-defined ones, of characters that are all unknown, is two
unknown tokens and not one.

A model that is read and written again has the same bytes, if they were canonical.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, cast

from hf_bpe.errors import ConversionError, TokenizerFileError
from hf_bpe.formats.files import head
from hf_bpe.formats.pieces.charsmap import Parting, parting
from hf_bpe.formats.pieces.ends import ends
from hf_bpe.formats.pieces.model import PieceType
from hf_bpe.formats.pieces.pipeline import tokenizer_json
from hf_bpe.formats.pieces.recognition import pieces_of, with_types
from hf_bpe.formats.pieces.scores import scored
from hf_bpe.formats.sentencepiece import proto
from hf_bpe.vocabulary import Vocabulary

NAME = "sentencepiece"

_TARGET = "a SentencePiece model"


def sniff(path: Path) -> bool:
    """Whether `path` begins like a SentencePiece model: a piece, its text, its score."""
    start = head(Path(path), 4)
    return len(start) == 4 and proto.looks_like_model(start[:2]) and start[2] == 0x0A and start[3] < start[1]


def read(path: str | Path, *, add_bos_token: bool = True, add_eos_token: bool = False) -> Vocabulary:
    """Read a SentencePiece model of type BPE.

    Args:
        path: The `.model` file.
        add_bos_token: Whether encoding adds the model's BOS piece, as Llama and Mistral do.
        add_eos_token: Whether it adds the EOS piece.

    Raises:
        ConversionError: The file is damaged, of another type, or says what a tokenizer.json can't.
        ImportError: The packages sentencepiece and protobuf are missing.
    """
    path = Path(path)
    model, kept = proto.parse(proto.read_bytes(path), path.name)
    parsed = tokenizer_json(model, path.name, add_bos_token=add_bos_token, add_eos_token=add_eos_token)
    try:
        vocabulary = Vocabulary.from_json(parsed, special_tokens=model.roles, details={NAME: kept})
    except TokenizerFileError as error:
        raise ConversionError(f"{path.name}: as a tokenizer.json it would be refused: {error}") from error
    if (found := parting(vocabulary, model.rules)) is not None:
        warnings.warn(f"{path.name}: {_told(found)}", stacklevel=3)
    return vocabulary


def parting_of(path: Path, vocabulary: Vocabulary) -> tuple[str, str] | None:
    """Return the shortest text whose ids a charsmap changes, and the sentence that tells, or None.

    Args:
        path: The `.model` file.
        vocabulary: What was read from it.
    """
    found = parting(vocabulary, proto.parse(proto.read_bytes(path), path.name)[0].rules)
    return None if found is None else (found.text, _told(found))


def _told(found: Parting) -> str:
    return (
        "normalizer_spec.precompiled_charsmap maps the longest match in SentencePiece and grapheme by grapheme in a "
        f"tokenizer.json: {found.text!r} is {found.ids_of_sentencepiece} there and {found.ids} here. Only keys of "
        "several characters, and marks behind a mapped one, are concerned."
    )


def write(vocabulary: Vocabulary, path: str | Path) -> list[Path]:
    """Write a vocabulary of scored pieces as a SentencePiece model.

    Scores, types and training settings are those that the vocabulary was read with. One from elsewhere gets the
    ranks of its merges as scores.

    Raises:
        ConversionError: A SentencePiece model would give other ids; the message names a text.
        ImportError: The packages sentencepiece and protobuf are missing.
    """
    path = Path(path)
    path.write_bytes(to_bytes(vocabulary))
    return [path]


def to_bytes(vocabulary: Vocabulary) -> bytes:
    """Return the bytes that `write` writes."""
    kept = cast("proto.Kept | None", vocabulary.details.get(NAME))
    gguf = cast("dict[str, Any]", vocabulary.details.get("gguf") or {})
    known = kept["scores"] if kept else gguf.get("scores", ())
    model = with_types(pieces_of(vocabulary, _TARGET), kept["types"] if kept else b"")
    if model.rules.prefix_after_pieces:
        piece = min(model.of_type(PieceType.USER_DEFINED), key=len)
        raise ConversionError(
            f"{_TARGET} can't hold this vocabulary: behind the added token {piece!r} a text is normalized anew, with a "
            f"dummy prefix or without its spaces; in such a model only once. The text {piece + 'a'!r} would change."
        )
    return proto.serialize(scored(model, vocabulary, _TARGET, known=known), kept)


def options(vocabulary: Vocabulary) -> dict[str, Any]:
    """Return what `write` leaves out: whether BOS and EOS are added, as the arguments of `read`."""
    around = ends(vocabulary, _TARGET)
    return {"add_bos_token": around.bos_token is not None, "add_eos_token": around.eos_token is not None}
