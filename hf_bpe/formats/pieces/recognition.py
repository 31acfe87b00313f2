"""Reads the rules of a piece model back from the components of a `tokenizer.json`.

Only components that do what SentencePiece does are recognized: those that `pipeline` writes, and those of published
tokenizers of the same kind. Anything else is refused, with a text on which the two differ where one is known.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hf_bpe._native import Tokenizer
from hf_bpe.errors import ConversionError
from hf_bpe.formats import differences
from hf_bpe.formats.pieces.components import Json, refusal, steps_of
from hf_bpe.formats.pieces.ends import ends
from hf_bpe.formats.pieces.metaspace import spelled_out, undoes
from hf_bpe.formats.pieces.model import BYTE_PIECES, SPACE, PieceModel, PieceType, TextRules
from hf_bpe.formats.pieces.pipeline import (
    decoder_of,
    is_found,
    normalizer_of,
    sought_normalized,
    user_defined_split,
)
from hf_bpe.vocabulary import Vocabulary

_SPLIT_BY_SPACES = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}
"""Gemma's pre-tokenizer. It cuts nothing, as the normalizer leaves no spaces."""


def pieces_of(vocabulary: Vocabulary, target: str, *, raw_pieces: bool = False) -> PieceModel:
    """Return the piece model that `vocabulary` is, with scores of zero: its merges are another matter.

    Args:
        vocabulary: The vocabulary.
        target: What it is to become, for errors: "a SentencePiece model".
        raw_pieces: Whether it seeks user-defined pieces in the raw text and normalizes what is between them.

    Raises:
        ConversionError: A component does what such a model doesn't. The message names it, and a text that differs.
    """
    if vocabulary.is_byte_level:
        raise refusal(target, "this vocabulary merges bytes in the byte alphabet, such a model characters", "é")
    settings = vocabulary.model_settings
    for name in ("dropout", "continuing_subword_prefix", "end_of_word_suffix"):
        if settings.get(name):
            raise refusal(target, f"model.{name} is {settings[name]!r}, which such a model can't say", "a")
    tokens = _tokens_by_id(vocabulary, target)
    if not (vocabulary.byte_fallback or settings.get("fuse_unk")):
        unknown = next(char for place in range(0xE000, 0x110000) if (char := chr(place)) not in tokens)
        raise refusal(target, "model.fuse_unk is False, and such a model joins unknown characters", unknown * 2)
    vocabulary = spelled_out(vocabulary, target)
    rules = _rules(vocabulary.normalizer, target)
    split_pieces = _split_pieces(vocabulary, set(tokens), rules, target)
    if vocabulary.ignore_merges and not split_pieces:
        _check_merges_alone(vocabulary, tokens, target)
    # Sought in the raw text, a piece that spells a space would be found: as an ordinary one it is never made.
    unfound = set() if raw_pieces else {token for token in tokens if not is_found(token, rules)}
    types = _types(vocabulary, tokens, split_pieces | unfound, target)
    rules = _with_added_pieces(vocabulary, split_pieces, rules, target, raw_pieces=raw_pieces)
    unknown = tokens[types.index(PieceType.UNKNOWN)]
    named = {role: token for role, token in vocabulary.special_tokens.items() if isinstance(token, str)}
    roles = ends(vocabulary, target).roles() | named
    model = PieceModel(
        pieces=tokens,
        scores=[0.0] * len(tokens),
        types=types,
        rules=rules,
        byte_fallback=vocabulary.byte_fallback,
        roles=roles | {"unk_token": unknown},
    )
    return _with_surface(model, vocabulary, target)


def _check_merges_alone(vocabulary: Vocabulary, tokens: Sequence[str], target: str) -> None:
    """Raise if `ignore_merges` takes a pretoken whole that merging makes something else of."""
    whole = json.loads(vocabulary.core.to_json(pretty=False))
    whole["model"]["ignore_merges"] = False
    merging = differences.encoder(Tokenizer.from_json(json.dumps(whole)))
    texts = [form for token in tokens for form in (token, token.replace(SPACE, " "), token.removeprefix(SPACE))]
    text = differences.find(differences.encoder(vocabulary.core), merging, texts)
    if text is not None:
        raise refusal(target, "model.ignore_merges is set, and such a model makes each token by merging", text)


def _tokens_by_id(vocabulary: Vocabulary, target: str) -> list[str]:
    """Return the tokens in the order of their ids, of which there may be no holes."""
    by_id: dict[int, str] = {}
    for token, token_id in vocabulary.get_vocab().items():
        by_id[token_id] = token
    holes = vocabulary.holes()
    if holes:
        raise ConversionError(f"{target} can't hold this vocabulary: id {holes[0][0]} has no token, and ids can't move")
    if vocabulary.byte_fallback:
        by_id |= _unnamed_bytes(vocabulary)
    return [by_id[token_id] for token_id in range(len(by_id))]


def _unnamed_bytes(vocabulary: Vocabulary) -> dict[int, str]:
    """Return the byte pieces that are called by their character, by id: see `merges.renamed_bytes`."""
    ids = vocabulary.core.token_to_id
    return {
        token_id: piece
        for byte, piece in enumerate(BYTE_PIECES[:0x80])
        if ids(piece) is None and (token_id := ids(chr(byte))) is not None
    }


def with_types(model: PieceModel, known: bytes) -> PieceModel:
    """Return `model` with the pieces marked unused that had that mark when they were read."""
    unused = {piece_id for piece_id, kind in enumerate(known) if kind == PieceType.UNUSED}
    types = [
        PieceType.UNUSED if piece_id in unused and kind == PieceType.NORMAL else kind
        for piece_id, kind in enumerate(model.types)
    ]
    return replace(model, types=types)


def _rules(normalizer: Json | None, target: str) -> TextRules:
    """Return the rules whose normalizer is `normalizer`."""
    steps = list(steps_of(normalizer))
    charsmap = _charsmap(steps[0]["precompiled_charsmap"], target) if _is(steps, "Precompiled") else b""
    for rules in (
        TextRules(prefix, squeeze, escape, charsmap)
        for prefix in (True, False)
        for squeeze in (True, False)
        for escape in (True, False)
    ):
        if list(steps_of(normalizer_of(rules))) == steps:
            return rules
    names = ", ".join(repr(step["type"]) for step in steps)
    raise ConversionError(
        f"{target} can't hold this vocabulary: its normalizer ({names}) is none that such a model's flags can say. "
        "Supported are 'Precompiled', the 'Replace' steps of remove_extra_whitespaces, 'Prepend' of '▁', and "
        "'Replace' of ' ' by '▁', in this order."
    )


def _charsmap(text: str, target: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ConversionError(f"{target} can't hold this vocabulary: its precompiled_charsmap is no base64") from error


def _split_pieces(vocabulary: Vocabulary, tokens: set[str], rules: TextRules, target: str) -> set[str]:
    """Return the pieces that the pre-tokenizer isolates, which such a model calls user-defined."""
    pre_tokenizer = vocabulary.pre_tokenizer
    splits = list(steps_of(pre_tokenizer))
    if not splits or (splits == [_SPLIT_BY_SPACES] and rules.escape_whitespaces):
        return set()
    pattern = splits[0].get("pattern", {}).get("Regex", "") if _is(splits, "Split") else ""
    pieces = {re.sub(r"\\(.)", r"\1", part, flags=re.DOTALL) for part in re.split(r"(?<!\\)\|", pattern) if part}
    guarded = len(splits) == 1 or (len(splits) == 2 and _is_guard(splits[1]))
    if pieces <= tokens and guarded and vocabulary.ignore_merges and splits[0] == user_defined_split(list(pieces)):
        return pieces
    raise ConversionError(
        f"{target} can't hold this vocabulary: such a model doesn't split text before merging, "
        f"but pre_tokenizer is {', '.join(repr(split['type']) for split in splits)}"
        f"{f' by {pattern!r}' if pattern else ''}."
    )


def _with_added_pieces(
    vocabulary: Vocabulary, split_pieces: set[str], rules: TextRules, target: str, *, raw_pieces: bool
) -> TextRules:
    """Return `rules` with what the added tokens that aren't special say of the text around them."""
    added = {flags["content"]: flags for flags in vocabulary.added_tokens.values() if not flags["special"]}
    if added and split_pieces:
        piece = min(added)
        raise refusal(target, f"{piece!r} is an added token, and the pre-tokenizer splits at others", f"a{piece}a")
    rules = replace(rules, prefix_after_pieces=bool(added) and (raw_pieces or not rules.local))
    normalized = sought_normalized(added, rules)
    for flags in vocabulary.added_tokens.values():
        if flags["special"] and flags["normalized"] and not rules.local:
            reason = f"special token {flags['content']!r} is sought after normalization, such a piece before it"
            raise refusal(target, reason, f"{flags['content']}a")
    for piece, flags in added.items():
        if not raw_pieces and not is_found(piece, rules):
            raise refusal(target, f"added token {piece!r} has a space, which such a model seeks as {SPACE!r}", piece)
        if flags["normalized"] != normalized and (SPACE in piece or " " in piece or not rules.local):
            reason = f"added token {piece!r} is sought {'after' if flags['normalized'] else 'before'} normalization"
            raise refusal(target, f"{reason}, such a piece the other way", f"a{piece.replace(SPACE, ' ')}a")
    return rules


def _is_guard(split: Json) -> bool:
    return str(split.get("pattern", {}).get("Regex", "")).startswith(r"\A")


def _types(vocabulary: Vocabulary, tokens: Sequence[str], user_defined: set[str], target: str) -> list[int]:
    unknown = vocabulary.model_settings.get("unk_token") or vocabulary.special_tokens.get("unk_token")
    if unknown is None:
        raise ConversionError(
            f"{target} can't hold this vocabulary: such a model needs an unk_token, and it has none. Train it with "
            "unk_token='<unk>', or give it one behind all ids: tokenizer.add_special_tokens({'unk_token': '<unk>'})."
        )
    added = {flags["content"]: flags for flags in vocabulary.added_tokens.values()}
    for content, flags in added.items():
        for flag in ("single_word", "lstrip", "rstrip"):
            if flags[flag]:
                raise refusal(
                    target, f"added token {content!r} has {flag}, which such a model can't say", f"a{content} b"
                )
    if vocabulary.byte_fallback and (lacking := set(BYTE_PIECES) - set(tokens)):
        raise ConversionError(
            f"{target} can't hold this vocabulary: byte_fallback is set, but {min(lacking)!r} is no token"
        )
    return [
        _type(
            token,
            added.get(token),
            unknown=token == unknown,
            user_defined=token in user_defined,
            byte_fallback=vocabulary.byte_fallback,
        )
        for token in tokens
    ]


def _type(
    token: str, added: Mapping[str, Any] | None, *, unknown: bool, user_defined: bool, byte_fallback: bool
) -> PieceType:
    if unknown:
        return PieceType.UNKNOWN
    if added is not None:
        return PieceType.CONTROL if added["special"] else PieceType.USER_DEFINED
    if user_defined:
        return PieceType.USER_DEFINED
    return PieceType.BYTE if byte_fallback and token in BYTE_PIECES else PieceType.NORMAL


def _with_surface(model: PieceModel, vocabulary: Vocabulary, target: str) -> PieceModel:
    """Return `model` with the text that its unknown piece is decoded to, once the decoder is one of such a model."""
    decoder = vocabulary.decoder
    steps = steps_of(decoder)
    surfaces = [None, *(step["content"] for step in steps[:1] if step["type"] == "Replace")]
    for surface in surfaces:
        known = replace(model, unknown_surface=surface)
        if decoder == decoder_of(known) or undoes(decoder, known):
            return known
    kind = (decoder or {}).get("type")
    found = [step["type"] for step in steps] if kind == "Sequence" else kind
    wanted = [step["type"] for step in decoder_of(model)["decoders"]]
    text = _text_decoded_otherwise(vocabulary.core, decoder_of(model)) or "a b"
    raise refusal(target, f"decoder is {found!r}, such a model decodes as {wanted!r} does", text)


def _text_decoded_otherwise(core: Tokenizer, decoder: Json) -> str | None:
    """Return the shortest text found whose ids `decoder` makes another text of."""
    other = core.with_component("decoder", json.dumps(decoder))
    texts = sorted({*differences.PROBES, *core.get_vocab(), " ", "\ue001"}, key=lambda text: (len(text), text))
    batch = core.encode_ids_batch(texts, add_special_tokens=False)
    decoded = zip(texts, core.decode_batch(batch), other.decode_batch(batch), strict=True)
    return next((text for text, one, two in decoded if one != two), None)


def _is(steps: Sequence[Json], kind: str) -> bool:
    return bool(steps) and steps[0]["type"] == kind
