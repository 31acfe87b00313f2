"""Writes a piece model as a `tokenizer.json` that gives the ids that SentencePiece gives.

Two things can't be said the usual way, and are said so that ids stay equal to SentencePiece's:

- A user-defined piece is cut out of the text after the dummy prefix was put before it, and isn't followed by a new
  prefix. As an added token it would be (and is in llama.cpp: `TextRules.prefix_after_pieces`), so it is cut out by a
  `Split`, and `ignore_merges` takes it whole. Where a model has no dummy prefix, an added token does the same.
- `ignore_merges` would also take other pieces whole: a control piece spelled out in a text between two user-defined
  pieces, say. A second `Split` cuts a pretoken that spells such a piece where its own tokens meet.

Control pieces are special added tokens. SentencePiece doesn't find those in texts; `split_special_tokens=True` does
as it does.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from hf_bpe._native import Tokenizer
from hf_bpe.errors import ConversionError
from hf_bpe.formats.pieces.merges import merges_of, renamed_bytes
from hf_bpe.formats.pieces.model import SPACE, PieceModel, PieceType, TextRules
from hf_bpe.special_tokens import bos_eos_template

Json: TypeAlias = dict[str, Any]


def tokenizer_json(model: PieceModel, where: str, *, add_bos_token: bool, add_eos_token: bool) -> Json:
    """Return the parsed tokenizer.json of `model`.

    Raises:
        ConversionError: A tokenizer.json can't give the ids of `model`. The message says why.
    """
    ids = _ids(model, where)
    names = renamed_bytes(model)
    vocab = {names.get(piece, piece): piece_id for piece, piece_id in ids.items()}
    pipeline = _base(model, vocab, merges_of(model, where))
    pipeline["added_tokens"] = [
        _added_token(piece, piece_id, special=True)
        for piece_id, (piece, kind) in enumerate(zip(model.pieces, model.types, strict=True))
        if kind in (PieceType.CONTROL, PieceType.UNKNOWN)
    ]
    pipeline["post_processor"] = _template(model, ids, bos=add_bos_token, eos=add_eos_token)
    _check_user_defined(model, where)
    user_defined = [piece for piece in model.of_type(PieceType.USER_DEFINED) if is_found(piece, model.rules)]
    if not user_defined:
        return pipeline
    if model.rules.local or model.rules.prefix_after_pieces:
        return _with_added_pieces(pipeline, user_defined, ids, model.rules)
    return _with_split_pieces(pipeline, user_defined, model)


def normalizer_of(rules: TextRules) -> Json | None:
    """Return the normalizer that does to a text what `rules` say, in SentencePiece's order.

    Of trailing spaces, SentencePiece removes those that the text spells as "▁" too.
    """
    steps: list[Json] = []
    if rules.charsmap:
        steps.append({"type": "Precompiled", "precompiled_charsmap": base64.b64encode(rules.charsmap).decode()})
    if rules.remove_extra_whitespaces:
        trailing = f"[ {SPACE}]" if rules.escape_whitespaces else " "
        steps.append(_replace({"Regex": rf"\A +|{trailing}+\z"}, ""))
        steps.append(_replace({"Regex": " {2,}"}, " "))
    if rules.add_dummy_prefix:
        steps.append({"type": "Prepend", "prepend": SPACE if rules.escape_whitespaces else " "})
    if rules.escape_whitespaces:
        steps.append(_replace({"String": " "}, SPACE))
    if len(steps) > 1:
        return {"type": "Sequence", "normalizers": steps}
    return steps[0] if steps else None


def decoder_of(model: PieceModel) -> Json:
    """Return the decoder that gives back the text that SentencePiece gives back.

    Where a published tokenizer's usual steps do that, it is those. They don't where the unknown piece has a surface, or
    more than one "▁" is taken from the start, or a space at the start may be none that a "▁" spelled: there, the
    first step is about that piece alone, and "▁" stays "▁" until the start of the text is known.
    """
    rules = model.rules
    spaces, fuse = _replace({"String": SPACE}, " "), {"type": "Fuse"}
    to_bytes = [{"type": "ByteFallback"}] if model.byte_fallback else []
    prefixed = rules.add_dummy_prefix or rules.remove_extra_whitespaces
    if _decodes_as_usual(model):
        return {"type": "Sequence", "decoders": [spaces, *to_bytes, fuse, *([_strip(" ")] if prefixed else [])]}
    unknown = []
    if model.unknown_surface is not None:
        piece = model.of_type(PieceType.UNKNOWN)[0]
        unknown.append(_replace({"Regex": rf"\A{_escaped(piece)}\z"}, model.unknown_surface))
    start = []
    if rules.remove_extra_whitespaces:
        start.append(_replace({"Regex": rf"\A{SPACE}+"}, ""))
    elif rules.add_dummy_prefix:
        start.append(_strip(SPACE))
    return {"type": "Sequence", "decoders": [*unknown, *to_bytes, fuse, *start, spaces]}


def _decodes_as_usual(model: PieceModel) -> bool:
    rules = model.rules
    plain = rules.escape_whitespaces and not any(" " in piece for piece in model.pieces)
    return plain and model.unknown_surface is None and not rules.remove_extra_whitespaces


def is_found(piece: str, rules: TextRules) -> bool:
    """Whether a text can hold a user-defined piece: spaces may be escaped before those with one are sought."""
    return rules.prefix_after_pieces or not (rules.escape_whitespaces and " " in piece)


def user_defined_split(user_defined: Sequence[str]) -> Json:
    """Return the pre-tokenizer that isolates these pieces, the longest where several begin at one place."""
    longest_first = sorted(user_defined, key=lambda piece: (-len(piece), piece))
    return _split("|".join(map(_escaped, longest_first)))


def _ids(model: PieceModel, where: str) -> dict[str, int]:
    """Return the ids by piece, of which no two may be spelled alike: tokenizer.json finds ids by spelling."""
    ids: dict[str, int] = {}
    for piece_id, piece in enumerate(model.pieces):
        if piece in ids:
            raise ConversionError(
                f"{where}: pieces {ids[piece]} and {piece_id} are both {piece!r}; tokenizer.json holds each token once"
            )
        ids[piece] = piece_id
    return ids


def _base(model: PieceModel, vocab: Mapping[str, int], merges: Sequence[tuple[str, str]]) -> Json:
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": normalizer_of(model.rules),
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": decoder_of(model),
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": model.roles.get("unk_token"),
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": True,
            "byte_fallback": model.byte_fallback,
            "ignore_merges": False,
            "vocab": vocab,
            "merges": [list(pair) for pair in merges],
        },
    }


def _template(model: PieceModel, ids: Mapping[str, int], *, bos: bool, eos: bool) -> Json | None:
    """Return the post-processor that adds the asked-for roles, where the model has them."""

    def role(name: str, wanted: bool) -> tuple[str, int] | None:
        token = model.roles.get(name)
        return (token, ids[token]) if wanted and token is not None else None

    first, last = role("bos_token", bos), role("eos_token", eos)
    if first is None and last is None:
        return None
    template: Json = json.loads(bos_eos_template(first, last))
    return template


def sought_normalized(user_defined: Iterable[str], rules: TextRules) -> bool:
    """Whether user-defined pieces are sought after spaces were escaped: if one of them spells a space."""
    return not rules.prefix_after_pieces and any(SPACE in piece for piece in user_defined)


def _with_added_pieces(pipeline: Json, user_defined: Sequence[str], ids: Mapping[str, int], rules: TextRules) -> Json:
    """Add user-defined pieces as added tokens."""
    normalized = sought_normalized(user_defined, rules)
    pieces = [_added_token(piece, ids[piece], special=False, normalized=normalized) for piece in user_defined]
    return pipeline | {
        "added_tokens": sorted([*pipeline["added_tokens"], *pieces], key=lambda token: int(token["id"])),
    }


def _with_split_pieces(pipeline: Json, user_defined: Sequence[str], model: PieceModel) -> Json:
    """Isolate user-defined pieces by a `Split`, and take them whole."""
    splits = [user_defined_split(user_defined)]
    guard = _guard(pipeline, set(user_defined), model)
    if guard:
        splits.append(_split(guard))
    pre_tokenizer = {"type": "Sequence", "pretokenizers": splits} if len(splits) > 1 else splits[0]
    return pipeline | {"pre_tokenizer": pre_tokenizer, "model": pipeline["model"] | {"ignore_merges": True}}


def _guard(pipeline: Json, user_defined: set[str], model: PieceModel) -> str:
    """Return a pattern that cuts pretokens which spell a piece that merging doesn't make of them.

    It matches their first token, at the start of the pretoken, if the rest of the spelling and nothing else follows.
    """
    bare = pipeline | {"added_tokens": [], "normalizer": None, "post_processor": None, "decoder": None}
    core = Tokenizer.from_json(json.dumps(bare))
    cuts: dict[str, list[str]] = {}
    for piece, ids in zip(model.pieces, core.encode_ordinary_batch(model.pieces), strict=True):
        if piece not in user_defined and len(piece) > 1 and ids != [core.token_to_id(piece)]:
            first = _first_token(piece, core.id_to_token(ids[0]), model)
            cuts.setdefault(first, []).append(piece[len(first) :])
    return "|".join(
        rf"\A{_escaped(first)}(?=(?:{'|'.join(_escaped(rest) for rest in sorted(rests))})\z)"
        for first, rests in sorted(cuts.items())
    )


def _first_token(piece: str, token: str | None, model: PieceModel) -> str:
    """Return the start of `piece` that `token` stands for: itself, its first byte, or the unknown characters there.

    A piece of unknown characters alone is cut as well, though that makes two unknown tokens of one: better than
    the id of a control piece in the midst of a user's text.
    """
    if token is not None and piece.startswith(token) and piece != token:
        return token
    known = set(model.pieces)
    run = next((end for end, char in enumerate(piece) if char in known), len(piece))
    return piece[:1] if model.byte_fallback or run == len(piece) else piece[:run]


def _check_user_defined(model: PieceModel, where: str) -> None:
    """Raise where SentencePiece keeps the normalizer away from a user-defined piece, and that makes a difference."""
    for piece in model.of_type(PieceType.USER_DEFINED):
        squeezed = model.rules.remove_extra_whitespaces and "  " in piece
        if squeezed or (model.rules.charsmap and _mapped(piece, model.rules.charsmap) != piece):
            cause = "remove_extra_whitespaces" if squeezed else "precompiled_charsmap"
            raise ConversionError(
                f"{where}: normalizer_spec.{cause} changes user-defined piece {piece!r}, which SentencePiece "
                f"protects from it; tokenizer.json can't. The text {piece!r} would change."
            )


def _mapped(piece: str, charsmap: bytes) -> str:
    from tokenizers.normalizers import Precompiled

    return str(Precompiled(charsmap).normalize_str(piece))


def _added_token(piece: str, piece_id: int, *, special: bool, normalized: bool = False) -> Json:
    return {
        "id": piece_id,
        "content": piece,
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": normalized,
        "special": special,
    }


def _replace(pattern: Json, content: str) -> Json:
    return {"type": "Replace", "pattern": pattern, "content": content}


def _strip(char: str) -> Json:
    return {"type": "Strip", "content": char, "start": 1, "stop": 0}


def _split(pattern: str) -> Json:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


def _escaped(text: str) -> str:
    """Return `text` as a regex. `re.escape` also escapes what other engines refuse to see escaped, such as spaces."""
    return "".join(f"\\{char}" if char in r"\.+*?()|[]{}^$" else char for char in text)
