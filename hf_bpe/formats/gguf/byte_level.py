"""GGUF files of kind `gpt2`: byte-level BPE with a list of merges and the name of a pre-tokenizer.

The name says how text is split and whether a whole pretoken that is a token goes first. A vocabulary that splits in
no published way, or that normalizes text first (which llama.cpp doesn't), can't be said and is refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from hf_bpe._native import Tokenizer
from hf_bpe.errors import ConversionError, TokenizerFileError
from hf_bpe.formats.gguf import metadata
from hf_bpe.formats.gguf.added_tokens import check_overlaps, stripping
from hf_bpe.formats.gguf.container import ARRAY, BOOL, INT32, MOST_ENTRIES, STRING, Field
from hf_bpe.formats.gguf.pre_tokenizers import ALIASES, PRE_TOKENIZERS, PreTokenizer, named, names_for
from hf_bpe.formats.pieces.components import steps_of
from hf_bpe.formats.pieces.ends import ends
from hf_bpe.formats.pieces.model import PieceType
from hf_bpe.special_tokens import Flags, bos_eos_template
from hf_bpe.vocabulary import Vocabulary

Json: TypeAlias = dict[str, Any]

KIND = "gpt2"
TARGET = "a GGUF file of kind 'gpt2'"

_BYTE_LEVEL: Json = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}


def read(fields: Mapping[str, Field], where: str) -> Vocabulary:
    """Return the vocabulary of a file of this kind.

    Raises:
        ConversionError: A key is missing or says something impossible; the message names it.
    """
    tokens = metadata.tokens_of(fields, where)
    types = metadata.types_of(fields, len(tokens), where)
    roles = metadata.roles_of(fields, tokens, where)
    name = metadata.text(fields, metadata.PRE, where) or "default"
    pre = named(name)
    if pre is None:
        known = ", ".join(map(repr, sorted({*PRE_TOKENIZERS, *ALIASES})))
        raise ConversionError(f"{where}: {metadata.PRE} is {name!r}; hf_bpe supports {known}")
    added = _added_tokens(tokens, types, metadata.model_name(fields), name)
    check_overlaps((flags[0] for flags in added), where)
    try:
        core = Tokenizer.from_vocab_and_merges(
            {token: token_id for token_id, token in enumerate(tokens)},
            _merges(fields, where),
            _components(pre, _template(fields, pre, roles, tokens, where)),
            ignore_merges=pre.ignore_merges,
        )
        core, _ = core.with_added_tokens(added)
    except TokenizerFileError as error:
        raise ConversionError(f"{where}: {error}") from error
    return Vocabulary(
        core,
        special_tokens=roles,
        chat_template=metadata.chat_template_of(fields, where),
        details={"gguf": metadata.kept(fields, types, ())},
    )


def fields_of(vocabulary: Vocabulary, kept: metadata.Kept | None) -> dict[str, Field]:
    """Return the keys that say `vocabulary`.

    Raises:
        ConversionError: They can't say it; the message names a text that would change.
    """
    normalizers = steps_of(vocabulary.normalizer)
    if normalizers:
        kinds = ", ".join(repr(step["type"]) for step in normalizers)
        text = _text_that_changes(vocabulary)
        raise _refusal(f"its normalizer {kinds} changes texts, and llama.cpp normalizes none. The text {text!a}")
    if not vocabulary.merges:
        raise ConversionError(
            f"{TARGET} can't hold this vocabulary: it has no merges, and neither the format nor llama.cpp knows an "
            "empty list of them"
        )
    name = _name(vocabulary, kept)
    around = ends(vocabulary, TARGET)
    tokens, types = _tokens(vocabulary, kept)
    _check_added(vocabulary, kept, name)
    fields = {
        metadata.MODEL: Field(KIND, STRING),
        metadata.PRE: Field(name, STRING),
        metadata.TOKENS: Field(tokens, ARRAY, STRING),
        metadata.TYPES: Field(types, ARRAY, INT32),
        metadata.MERGES: Field([" ".join(pair) for pair in vocabulary.merges], ARRAY, STRING),
    }
    known = named(name)
    default = known is not None and known.add_bos
    for key, token, usual in (
        (metadata.ADD_BOS, around.bos_token, default),
        (metadata.ADD_EOS, around.eos_token, False),
    ):
        value = token is not None
        if value != usual or kept is None or key in kept["fields"]:
            fields[key] = Field(value, BOOL)
    return fields


def _merges(fields: Mapping[str, Field], where: str) -> list[tuple[str, str]]:
    lines = metadata.array(fields, metadata.MERGES, where, items=(STRING,))
    if lines is None:
        raise ConversionError(f"{where}: {metadata.MERGES} is missing")
    merges = []
    for rank, line in enumerate(lines):
        left, space, right = line.partition(" ")
        if not (left and space and right) or " " in right:
            raise ConversionError(f"{where}: {metadata.MERGES} {rank} is {line!r}; expected two tokens and one space")
        merges.append((left, right))
    return merges


def _template(
    fields: Mapping[str, Field], pre: PreTokenizer, roles: Mapping[str, str], tokens: Sequence[str], where: str
) -> Json | None:
    """Return the post-processor that adds BOS and EOS as the file says."""
    sides = []
    for role, key, default in (("bos_token", metadata.ADD_BOS, pre.add_bos), ("eos_token", metadata.ADD_EOS, False)):
        wanted = metadata.switch(fields, key, where, default=default and role in roles)
        if wanted and role not in roles:
            raise ConversionError(f"{where}: {key} is true, but {metadata.ROLES[role]} is missing")
        sides.append((roles[role], tokens.index(roles[role])) if wanted else None)
    if sides == [None, None]:
        return None
    template: Json = json.loads(bos_eos_template(*sides))
    return template


def _components(pre: PreTokenizer, template: Json | None) -> dict[str, str]:
    splits = [
        {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
        for pattern in pre.patterns
    ]
    post = _BYTE_LEVEL if template is None else {"type": "Sequence", "processors": [_BYTE_LEVEL, template]}
    parts: dict[str, Json] = {
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [*splits, _BYTE_LEVEL]},
        "post_processor": post,
        "decoder": _BYTE_LEVEL,
    }
    return {name: json.dumps(part, ensure_ascii=False) for name, part in parts.items()}


def _added_tokens(tokens: Sequence[str], types: Sequence[int], model_name: str, pre: str) -> list[Flags]:
    kinds = (PieceType.CONTROL, PieceType.USER_DEFINED, PieceType.UNKNOWN)
    sought = {token: kind for token, kind in zip(tokens, types, strict=True) if kind in kinds}
    sides = stripping(model_name, pre, sought)
    return [
        # special, normalized, single_word, lstrip, rstrip
        (
            token,
            kind != PieceType.USER_DEFINED,
            False,
            False,
            sides.get(token) == "lstrip",
            sides.get(token) == "rstrip",
        )
        for token, kind in sought.items()
    ]


def _name(vocabulary: Vocabulary, kept: metadata.Kept | None) -> str:
    """Return the name of the pre-tokenizer that splits as `vocabulary` does."""
    patterns = _patterns(vocabulary)
    names = names_for(patterns) if patterns else []
    if kept is not None and kept["pre"] is not None and ALIASES.get(kept["pre"], kept["pre"]) in names:
        names = [kept["pre"], *names]
    if not names:
        found = " then ".join(map(repr, patterns)) if patterns else json.dumps(vocabulary.pre_tokenizer)
        raise ConversionError(
            f"{TARGET} can't hold this vocabulary: none of llama.cpp's pre-tokenizers splits by {found}. "
            f"Known are {', '.join(map(repr, PRE_TOKENIZERS))}."
        )
    wanted = vocabulary.ignore_merges
    fitting = [name for name in names if (known := named(name)) is not None and known.ignore_merges == wanted]
    if names[0] in fitting or (unreached := _not_reached_by_merges(vocabulary)) is None:
        return names[0]
    if not fitting:
        raise _refusal(
            f"ignore_merges is {wanted}, and with the pre-tokenizer {names[0]!r} it is {not wanted}. "
            f"The text {unreached!r}"
        )
    return fitting[0]


def _patterns(vocabulary: Vocabulary) -> tuple[str, ...]:
    """Return the regexes that split text one after the other before `ByteLevel`, or nothing if more happens."""
    if vocabulary.split_pattern is not None:
        return (vocabulary.split_pattern,)
    steps = steps_of(vocabulary.pre_tokenizer)
    patterns = []
    for step in steps[:-1]:
        if step["type"] == "Digits" and step.get("individual_digits"):
            patterns.append(r"\p{N}")
        elif step["type"] == "Split" and step["behavior"] == "Isolated" and not step["invert"]:
            patterns.append(step["pattern"].get("Regex", ""))
        else:
            return ()
    if not steps or steps[-1]["type"] != "ByteLevel" or steps[-1].get("add_prefix_space"):
        return ()
    if steps[-1].get("use_regex", True):
        patterns.append(PRE_TOKENIZERS["gpt-2"].patterns[0])
    return tuple(patterns)


def _not_reached_by_merges(vocabulary: Vocabulary) -> str | None:
    """Return the shortest text of a token that merges alone don't make, or None: the flag then makes no difference."""
    settings = json.loads(vocabulary.core.to_json(pretty=False))
    cores = []
    for flag in (True, False):
        settings["model"]["ignore_merges"] = flag
        cores.append(Tokenizer.from_json(json.dumps(settings)))
    added = vocabulary.added_tokens
    ids = [token_id for token_id in vocabulary.get_vocab().values() if token_id not in added]
    batch = [vocabulary.core.decode([token_id]) for token_id in ids]
    pairs = zip(batch, *(core.encode_ordinary_batch(batch) for core in cores), strict=True)
    return min((text for text, whole, merged in pairs if whole != merged), key=len, default=None)


def _tokens(vocabulary: Vocabulary, kept: metadata.Kept | None) -> tuple[list[str], list[int]]:
    """Return the tokens with their types; a hole becomes an unused token, as llama.cpp's converter fills it."""
    if len(vocabulary) > MOST_ENTRIES:
        raise ConversionError(
            f"{TARGET} lists a token for every id, and the highest is {len(vocabulary) - 1:,}; hf_bpe writes "
            f"{MOST_ENTRIES:,} tokens at most. tokenizer.json holds it."
        )
    by_id = {token_id: token for token, token_id in vocabulary.get_vocab().items()}
    added = vocabulary.added_tokens
    old = kept["types"] if kept is not None else b""
    tokens, types = [], []
    for token_id in range(len(vocabulary)):
        flags = added.get(token_id)
        known = PieceType(old[token_id]) if token_id < len(old) else PieceType.NORMAL
        if token_id not in by_id:
            kind = PieceType.UNUSED
        elif flags is not None:
            special = PieceType.UNKNOWN if known == PieceType.UNKNOWN else PieceType.CONTROL
            kind = special if flags["special"] else PieceType.USER_DEFINED
        else:
            kind = known if known in (PieceType.UNUSED, PieceType.BYTE) else PieceType.NORMAL
        tokens.append(by_id.get(token_id, f"[PAD{token_id}]"))
        types.append(int(kind))
    return tokens, types


def _check_added(vocabulary: Vocabulary, kept: metadata.Kept | None, pre: str) -> None:
    """Raise where an added token would be found elsewhere, or with other spaces around it."""
    added = {flags["content"]: flags for flags in vocabulary.added_tokens.values()}
    check_overlaps(added, TARGET)
    sides = stripping(metadata.model_name(kept["fields"] if kept is not None else {}), pre, added)
    for token, flags in added.items():
        for flag in ("single_word", "lstrip", "rstrip"):
            text = f"a {token} b"
            if flags[flag] and sides.get(token) != flag:
                raise _refusal(f"added token {token!r} has {flag}, for which it has no place. The text {text!r}")
            if sides.get(token) == flag and not flags[flag]:
                raise _refusal(f"llama.cpp gives added token {token!r} {flag}, which it lacks. The text {text!r}")


def _text_that_changes(vocabulary: Vocabulary) -> str:
    """Return a short text that the normalizer changes to other ids, from a few that normalizers are there for."""
    plain = vocabulary.core.with_component("normalizer", None)
    texts = ("A", " ", "é", "e\u0301", "Å", "①", "a  b", "ﬁ", "\t", "a\r\n", "\u200d", "ẛ\u0323", "")
    return next((text for text in texts if plain.encode_ordinary(text) != vocabulary.core.encode_ordinary(text)), "")


def _refusal(reason: str) -> ConversionError:
    return ConversionError(f"{TARGET} can't hold this vocabulary: {reason} would change.")
