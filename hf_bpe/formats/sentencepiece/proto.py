"""Between the bytes of a SentencePiece `.model` and a `PieceModel`.

The messages are those of the `sentencepiece` package itself: who owns the format keeps its schema, and fields that
are unknown here survive. What a `PieceModel` doesn't say (how the model was trained, mostly) is kept as a model
without pieces, so that reading and writing gives back the same bytes.
"""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import Any, TypedDict

from hf_bpe.errors import ConversionError
from hf_bpe.formats.files import refuse_device
from hf_bpe.formats.pieces.model import BYTE_PIECES, PieceModel, PieceType, TextRules

BPE = 2
MODEL_TYPES = {1: "unigram", BPE: "BPE", 3: "word", 4: "char"}
ROLES = {"unk": "<unk>", "bos": "<s>", "eos": "</s>", "pad": "<pad>"}
"""The roles, and the piece that plays each where the model doesn't say."""
LONGEST_PIECE = 7999
"""SentencePiece refuses longer pieces, in bytes."""
LARGEST_FILE = 1 << 28
"""In bytes. The largest published models have 5 MB."""


def messages() -> Any:
    """Return the module of SentencePiece's messages.

    Raises:
        ImportError: sentencepiece or protobuf is missing, or too old for the other.
    """
    try:
        from sentencepiece import sentencepiece_model_pb2
    except Exception as error:  # protobuf raises a class of its own, that only it defines, when it is too old
        raise ImportError(
            f"reading and writing SentencePiece models needs sentencepiece and protobuf ({error}). "
            "Install both with `pip install -U sentencepiece protobuf`."
        ) from error
    return sentencepiece_model_pb2


class Kept(TypedDict):
    """What a model's bytes hold beyond a `PieceModel`."""

    rest: bytes
    """The message without pieces."""
    scores: array[float]
    """The scores of the pieces."""
    types: bytes
    """The types of the pieces as they are written: 0 where none is, which means NORMAL."""


def parse(data: bytes, where: str) -> tuple[PieceModel, Kept]:
    """Return the piece model in `data`, and what else its bytes hold.

    Raises:
        ConversionError: The bytes are no SentencePiece model of type BPE, or one that SentencePiece refuses, or one
            whose rules a tokenizer.json can't say.
    """
    message = messages().ModelProto()
    try:
        message.ParseFromString(data)
    except Exception as error:  # DecodeError, which lies in google.protobuf
        raise ConversionError(f"{where}: not a SentencePiece model, or a damaged one: {error}") from error
    _check(message, where)
    model = PieceModel(
        pieces=[piece.piece for piece in message.pieces],
        scores=[piece.score for piece in message.pieces],
        types=[piece.type for piece in message.pieces],
        rules=_rules(message, where),
        byte_fallback=message.trainer_spec.byte_fallback,
        roles=_roles(message),
        # Where every character has bytes, no text is unknown, and the usual decoder will do.
        unknown_surface=None if message.trainer_spec.byte_fallback else message.trainer_spec.unk_surface,
    )
    _check_pieces(model, where)
    types = bytes(piece.type if piece.HasField("type") else 0 for piece in message.pieces)
    del message.pieces[:]
    return model, Kept(rest=message.SerializeToString(), scores=array("f", model.scores), types=types)


def serialize(model: PieceModel, kept: Kept | None) -> bytes:
    """Return the bytes of a SentencePiece model.

    Args:
        model: The piece model.
        kept: What `parse` returned beside it, or None for a model that comes from elsewhere.
    """
    message = messages().ModelProto()
    if kept is None:
        _describe(message, model)
    else:
        message.ParseFromString(kept["rest"])
        if len(model.pieces) != len(kept["types"]):
            message.trainer_spec.vocab_size = len(model.pieces)
    if not model.byte_fallback:
        unknown = model.of_type(PieceType.UNKNOWN)[0]
        surface = unknown if model.unknown_surface is None else model.unknown_surface
        if message.trainer_spec.unk_surface != surface:
            message.trainer_spec.unk_surface = surface
    written = kept["types"].ljust(len(model.pieces), b"\0") if kept else bytes(len(model.pieces))
    for text, score, kind, old in zip(model.pieces, model.scores, model.types, written, strict=False):
        piece = message.pieces.add(piece=text, score=score)
        if kind != PieceType.NORMAL or old == kind:
            piece.type = kind
    return bytes(message.SerializeToString())


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a file, once its first ones look like a SentencePiece model.

    Raises:
        ConversionError: It can't be read, or begins otherwise.
    """
    refuse_device(path, kind="a SentencePiece model")
    try:
        with path.open("rb") as file:
            head = file.read(2)
            if not looks_like_model(head):
                raise ConversionError(
                    f"{path.name}: not a SentencePiece model: it begins with {head!r}, not with a piece (b'\\n')"
                )
            data = head + file.read(LARGEST_FILE)
    except OSError as error:
        raise ConversionError(f"{path.name}: can't be read: {error.strerror or error}") from error
    if len(data) >= LARGEST_FILE:
        raise ConversionError(f"{path.name}: larger than {LARGEST_FILE >> 20} MB, which no SentencePiece model is")
    return data


def looks_like_model(head: bytes) -> bool:
    """Whether a file that begins so can be a SentencePiece model: field 1, a piece of some bytes.

    Example:
        >>> looks_like_model(b"\\n\\x0e"), looks_like_model(b"{\\n")
        (True, False)
    """
    return len(head) == 2 and head[0] == 0x0A and head[1] != 0


def _check(message: Any, where: str) -> None:
    kind = message.trainer_spec.model_type
    if not message.pieces:
        raise ConversionError(f"{where}: a SentencePiece model without pieces")
    if kind != BPE:
        raise ConversionError(
            f"{where}: trainer_spec.model_type is {MODEL_TYPES.get(kind, kind)!r}; hf_bpe supports 'BPE'. "
            "Load this file with sentencepiece.SentencePieceProcessor instead."
        )
    if message.trainer_spec.treat_whitespace_as_suffix:
        raise ConversionError(
            f"{where}: trainer_spec.treat_whitespace_as_suffix is set; hf_bpe supports spaces before words. "
            "The text 'a' would change."
        )
    if message.denormalizer_spec.precompiled_charsmap:
        raise ConversionError(
            f"{where}: denormalizer_spec.precompiled_charsmap is set; tokenizer.json has no decoder that says it"
        )


def _rules(message: Any, where: str) -> TextRules:
    spec = message.normalizer_spec
    return TextRules(
        add_dummy_prefix=spec.add_dummy_prefix,
        remove_extra_whitespaces=spec.remove_extra_whitespaces,
        escape_whitespaces=spec.escape_whitespaces,
        charsmap=_charsmap(bytes(spec.precompiled_charsmap), where),
    )


def _charsmap(charsmap: bytes, where: str) -> bytes:
    """Return `charsmap` once it is whole: its size, a trie of four-byte units, then texts that end with NUL."""
    if charsmap:
        size = int.from_bytes(charsmap[:4], "little")
        if len(charsmap) < 8 or size % 4 or not size or 4 + size >= len(charsmap) or charsmap[-1]:
            raise ConversionError(
                f"{where}: normalizer_spec.precompiled_charsmap is damaged: its trie has {size} of {len(charsmap)} B"
            )
    return charsmap


def _roles(message: Any) -> dict[str, str]:
    """Return the pieces with a role. As in SentencePiece, the piece's name decides, and that it is a control piece."""
    types = {piece.piece: piece.type for piece in message.pieces if piece.type in (2, 3)}
    roles = {}
    for role, usual in ROLES.items():
        name = getattr(message.trainer_spec, f"{role}_piece") or usual
        if types.get(name) == (PieceType.UNKNOWN if role == "unk" else PieceType.CONTROL):
            roles[f"{role}_token"] = name
    unknown = next((piece.piece for piece in message.pieces if piece.type == PieceType.UNKNOWN), None)
    return ({"unk_token": unknown} if unknown is not None else {}) | roles


def _check_pieces(model: PieceModel, where: str) -> None:
    """Raise what SentencePiece raises when it loads such pieces."""
    for piece_id, piece in enumerate(model.pieces):
        if not isinstance(piece, str):  # protobuf hands out bytes where they are no UTF-8
            raise ConversionError(f"{where}: piece {piece_id} is {piece!r}, which is not UTF-8")
        if not piece or "\0" in piece or len(piece.encode()) > LONGEST_PIECE:
            raise ConversionError(
                f"{where}: piece {piece_id} is {piece[:40]!r}; SentencePiece takes pieces of 1 to {LONGEST_PIECE} "
                "bytes, without NUL"
            )
    unknown = model.of_type(PieceType.UNKNOWN)
    if len(unknown) != 1:
        raise ConversionError(f"{where}: one piece has to have the type UNKNOWN, got {unknown!r}")
    found = set(model.of_type(PieceType.BYTE))
    wanted = set(BYTE_PIECES) if model.byte_fallback else set()
    if found != wanted:
        odd = min(found ^ wanted)
        raise ConversionError(
            f"{where}: trainer_spec.byte_fallback is {model.byte_fallback}, but byte piece {odd!r} is "
            f"{'missing' if odd in wanted else 'there'}"
        )


def _describe(message: Any, model: PieceModel) -> None:
    """Fill in what SentencePiece wants to know about a model that it didn't train."""
    ids = {piece: piece_id for piece_id, piece in enumerate(model.pieces)}
    trainer, normalizer = message.trainer_spec, message.normalizer_spec
    trainer.model_type = BPE
    trainer.vocab_size = len(model.pieces)
    trainer.byte_fallback = model.byte_fallback
    for role in ROLES:
        piece = model.roles.get(f"{role}_token")
        setattr(trainer, f"{role}_id", ids[piece] if piece is not None else -1)
        if piece is not None:
            setattr(trainer, f"{role}_piece", piece)
    normalizer.name = "user_defined" if model.rules.charsmap else "identity"
    normalizer.precompiled_charsmap = model.rules.charsmap
    normalizer.add_dummy_prefix = model.rules.add_dummy_prefix
    normalizer.remove_extra_whitespaces = model.rules.remove_extra_whitespaces
    normalizer.escape_whitespaces = model.rules.escape_whitespaces
