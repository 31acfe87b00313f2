"""GGUF files of kind `llama`: SentencePiece's pieces with their scores, as llama.cpp merges them.

llama.cpp puts a space before the text behind each control or user-defined token, not once before the whole, and joins
neighbours to a token of any type: an unused one, say. It knows neither a charsmap nor the removal of spaces.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hf_bpe._native import Tokenizer
from hf_bpe.errors import ConversionError, TokenizerFileError
from hf_bpe.formats.gguf import metadata
from hf_bpe.formats.gguf.added_tokens import check_overlaps, stripping
from hf_bpe.formats.gguf.container import ARRAY, BOOL, FLOAT32, INT32, STRING, Field
from hf_bpe.formats.pieces.ends import ends
from hf_bpe.formats.pieces.model import BYTE_PIECES, PieceModel, PieceType, TextRules
from hf_bpe.formats.pieces.pipeline import tokenizer_json
from hf_bpe.formats.pieces.recognition import pieces_of, with_types
from hf_bpe.formats.pieces.scores import scored
from hf_bpe.vocabulary import Vocabulary

KIND = "llama"
TARGET = "a GGUF file of kind 'llama'"

DEFAULT_ROLES = {"unk_token": 0, "bos_token": 1, "eos_token": 2}
"""The ids that llama.cpp takes where such a file names none."""

_SOUGHT = (PieceType.CONTROL, PieceType.USER_DEFINED, PieceType.UNKNOWN)


def read(fields: Mapping[str, Field], where: str) -> Vocabulary:
    """Return the vocabulary of a file of this kind.

    Raises:
        ConversionError: A key is missing or says something impossible; the message names it.
    """
    tokens = metadata.tokens_of(fields, where)
    scores = metadata.array(fields, metadata.SCORES, where, items=(FLOAT32,), count=len(tokens))
    if scores is None:
        raise ConversionError(f"{where}: {metadata.SCORES} is missing; without scores there is no order of merging")
    types = metadata.types_of(fields, len(tokens), where)
    model = PieceModel(
        pieces=tokens,
        scores=scores,
        types=types,
        rules=TextRules(
            add_dummy_prefix=metadata.switch(fields, metadata.ADD_PREFIX, where, default=True),
            prefix_after_pieces=True,
        ),
        byte_fallback=set(BYTE_PIECES) <= set(tokens),
        merges_all=True,
        roles=_roles(fields, tokens, types, where),
    )
    check_overlaps(model.of_type(*_SOUGHT), where)
    data = _tokenizer_json(model, fields, where)
    sides = stripping(metadata.model_name(fields), "", model.of_type(*_SOUGHT))
    for token in data["added_tokens"]:
        token["rstrip"] = token["content"] in sides
    try:
        return Vocabulary.from_json(
            data,
            special_tokens=model.roles,
            chat_template=metadata.chat_template_of(fields, where),
            details={"gguf": metadata.kept(fields, types, array("f", scores))},
        )
    except TokenizerFileError as error:
        raise ConversionError(f"{where}: as a tokenizer.json it would be refused: {error}") from error


def fields_of(vocabulary: Vocabulary, kept: metadata.Kept | None, scores: Any = ()) -> dict[str, Field]:
    """Return the keys that say `vocabulary`.

    Raises:
        ConversionError: They can't say it; the message names a text that would change.
    """
    vocabulary = _unstripped(vocabulary, kept)
    model = with_types(pieces_of(vocabulary, TARGET, raw_pieces=True), kept["types"] if kept else b"")
    model = replace(model, merges_all=True)
    model = scored(model, vocabulary, TARGET, known=kept["scores"] if kept else scores)
    _check_rules(model)
    check_overlaps(model.of_type(*_SOUGHT), TARGET)
    around = ends(vocabulary, TARGET)
    fields = {
        metadata.MODEL: Field(KIND, STRING),
        metadata.TOKENS: Field(model.pieces, ARRAY, STRING),
        metadata.SCORES: Field([float(score) for score in model.scores], ARRAY, FLOAT32),
        metadata.TYPES: Field([int(kind) for kind in model.types], ARRAY, INT32),
    }
    switches = {
        metadata.ADD_BOS: (around.bos_token is not None, True),
        metadata.ADD_EOS: (around.eos_token is not None, False),
        metadata.ADD_PREFIX: (model.rules.add_dummy_prefix, True),
    }
    if kept is None or metadata.PRE in kept["fields"]:
        fields[metadata.PRE] = Field("default", STRING)
    for key, (value, usual) in switches.items():
        if value != usual or kept is None or key in kept["fields"]:
            fields[key] = Field(value, BOOL)
    return fields


def _tokenizer_json(model: PieceModel, fields: Mapping[str, Field], where: str) -> dict[str, Any]:
    add = {
        role: metadata.switch(fields, key, where, default=default)
        for role, key, default in (("bos", metadata.ADD_BOS, True), ("eos", metadata.ADD_EOS, False))
    }
    return tokenizer_json(model, where, add_bos_token=add["bos"], add_eos_token=add["eos"])


def _unstripped(vocabulary: Vocabulary, kept: metadata.Kept | None) -> Vocabulary:
    """Return `vocabulary` without the flags that llama.cpp knows from the model's name.

    Raises:
        ConversionError: A token lacks the flag that it would have.
    """
    added = {flags["content"]: flags for flags in vocabulary.added_tokens.values()}
    sides = stripping(metadata.model_name(kept["fields"] if kept is not None else {}), "", added)
    if not sides:
        return vocabulary
    for token in sides:
        if not added[token]["rstrip"]:
            raise ConversionError(
                f"{TARGET} can't hold this vocabulary: llama.cpp gives added token {token!r} rstrip, which it lacks. "
                f"The text {f'{token} b'!r} would change."
            )
    parsed = json.loads(vocabulary.core.to_json(pretty=False))
    for token in parsed["added_tokens"]:
        token["rstrip"] = token["rstrip"] and token["content"] not in sides
    return vocabulary.replace(core=Tokenizer.from_json(json.dumps(parsed)))


def _roles(fields: Mapping[str, Field], tokens: list[str], types: list[int], where: str) -> dict[str, str]:
    roles = metadata.roles_of(fields, tokens, where)
    unknown = next((token for token, kind in zip(tokens, types, strict=True) if kind == PieceType.UNKNOWN), None)
    puts = {
        "unk_token": True,
        "bos_token": metadata.switch(fields, metadata.ADD_BOS, where, default=True),
        "eos_token": metadata.switch(fields, metadata.ADD_EOS, where, default=False),
    }
    # An ordinary token in such a place is no special token of the file's: it would be sought in texts.
    defaults = {
        role: tokens[token_id]
        for role, token_id in DEFAULT_ROLES.items()
        if token_id < len(tokens) and (puts[role] or types[token_id] in _SOUGHT)
    }
    return defaults | roles if unknown is None else defaults | {"unk_token": unknown} | roles


def _check_rules(model: PieceModel) -> None:
    """Raise where llama.cpp would treat a text otherwise."""
    rules = model.rules
    pieces = model.of_type(PieceType.USER_DEFINED)
    for wrong, reason, text in (
        (rules.remove_extra_whitespaces, "extra spaces are removed, and llama.cpp keeps them", "  "),
        (bool(rules.charsmap), "a charsmap changes characters, and llama.cpp changes none", "①"),
        (not rules.escape_whitespaces, "spaces aren't escaped, and llama.cpp escapes them", "a b"),
        (
            bool(pieces) and rules.add_dummy_prefix and not rules.prefix_after_pieces,
            "llama.cpp puts a space behind each user-defined token",
            f"{min(pieces, default='', key=len)}a",
        ),
    ):
        if wrong:
            raise ConversionError(f"{TARGET} can't hold this vocabulary: {reason}. The text {text!r} would change.")
