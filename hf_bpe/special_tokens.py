"""Added and special tokens between the core's plain tuples and the objects of `transformers`.

The core keeps an added token as `(content, special, normalized, single_word, lstrip, rstrip)`; `transformers` keeps
it as a `tokenizers.AddedToken`. This module also knows the post-processor's template, which says where BOS, EOS and
their kin go around the ids of a text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tokenizers import AddedToken

from hf_bpe._native import Tokenizer

if TYPE_CHECKING:
    from hf_bpe.tokenizer import HfBpeTokenizer
    from hf_bpe.vocabulary import Vocabulary

Flags = tuple[str, bool, bool, bool, bool, bool]

# Arguments of the constructor that a vocabulary has a place of its own for, and what only this machine knows.
_SAID_ELSEWHERE = (
    "added_tokens_decoder",
    "chat_template",
    "extra_special_tokens",
    "model_specific_special_tokens",
    "name_or_path",
)


def to_flags(token: str | AddedToken, *, special: bool = False) -> Flags:
    """Return the core's form of `token`.

    A bare str becomes a special token when `special` is set, and a special token is not normalized unless it says
    so. An `AddedToken` is marked special in place, as stock does: `normalized` follows unless it was given.
    """
    if isinstance(token, str):
        return (token, special, not special, False, False, False)
    if not isinstance(token, AddedToken):
        raise TypeError(f"an added token is a str or an AddedToken, got {token!r}")
    if special:
        token.special = True
    return (token.content, token.special, token.normalized, token.single_word, token.lstrip, token.rstrip)


def from_flags(flags: Flags) -> AddedToken:
    """Return the `AddedToken` that the core's tuple describes."""
    content, special, normalized, single_word, lstrip, rstrip = flags
    return AddedToken(
        content, single_word=single_word, lstrip=lstrip, rstrip=rstrip, normalized=normalized, special=special
    )


def added_tokens_by_id(core: Tokenizer) -> dict[int, AddedToken]:
    """Return the added tokens of `core`, in the order of their ids; the first of the file where two share one."""
    tokens: dict[int, AddedToken] = {}
    for token_id, flags in core.added_tokens():
        tokens.setdefault(token_id, from_flags(flags))
    return tokens


def tokens_to_add(
    core: Tokenizer,
    listed: Iterable[AddedToken],
    named: Iterable[str | AddedToken | None],
    extra: Iterable[str | AddedToken],
) -> list[Flags]:
    """Return what a directory's config asks for beyond the added tokens of its tokenizer.json, as stock does.

    Args:
        core: The tokenizer that was read.
        listed: The config's `added_tokens_decoder`, in the order of its ids.
        named: The named special tokens (`eos_token` and its kin).
        extra: The extra special tokens.
    """
    known = {flags for _, flags in core.added_tokens()}
    wanted = [token for token in listed if to_flags(token) not in known]
    present = {flags[0] for flags in known} | {token.content for token in wanted}
    named_tokens = [token for token in named if token is not None]
    for token in [*named_tokens, *extra]:
        if not isinstance(token, str | AddedToken):
            raise TypeError(f"special tokens are of type str or AddedToken, got {type(token).__name__}: {token!r:.60}")
        if str(token) not in present:
            present.add(str(token))
            wanted.append(AddedToken(token, special=True) if isinstance(token, str) else token)
    named_contents = {str(token) for token in named_tokens}
    return [to_flags(token, special=token.content in named_contents) for token in wanted]


class Layout(NamedTuple):
    """The ids of one or two texts with their special tokens."""

    ids: list[int]
    type_ids: list[int]
    special_tokens_mask: list[int]


def around(core: Tokenizer, ids: Sequence[int], pair_ids: Sequence[int] | None = None) -> Layout:
    """Put the post-processor's special tokens around the ids of one text, or of a pair.

    Type ids and mask are those that an encoding of the same texts has.
    """
    return Layout(*core.with_special_tokens(ids, pair_ids))


def bos_eos_template(bos: tuple[str, int] | None, eos: tuple[str, int] | None) -> str:
    """Return the post-processor that puts BOS before and EOS after each text, where they are given.

    Example:
        >>> json.loads(bos_eos_template(("<s>", 1), None))["single"][0]
        {'SpecialToken': {'id': '<s>', 'type_id': 0}}
    """

    def one(text: str, type_id: int) -> list[dict[str, Any]]:
        body = [{"SpecialToken": {"id": bos[0], "type_id": type_id}}] if bos else []
        body.append({"Sequence": {"id": text, "type_id": type_id}})
        return body + ([{"SpecialToken": {"id": eos[0], "type_id": type_id}}] if eos else [])

    specials = {
        token: {"id": token, "ids": [token_id], "tokens": [token]} for token, token_id in filter(None, (bos, eos))
    }
    template = {
        "type": "TemplateProcessing",
        "single": one("A", 0),
        "pair": one("A", 0) + one("B", 1),
        "special_tokens": specials,
    }
    return json.dumps(template, ensure_ascii=False)


def settings_of_retrained(
    tokenizer: HfBpeTokenizer, new_special_tokens: Sequence[str | AddedToken], renamed: dict[str, str]
) -> dict[str, Any]:
    """Return the constructor's arguments for a tokenizer trained after the example of `tokenizer`.

    Named special tokens keep their flags and take their new names; new ones become extra special tokens. Added
    tokens that aren't special are no part of training and are added again.
    """
    settings = {**tokenizer.init_kwargs, "chat_template": tokenizer.chat_template}
    settings["added_tokens_decoder"] = {
        token_id: token for token_id, token in tokenizer.added_tokens_decoder.items() if not token.special
    }
    for name in tokenizer.SPECIAL_TOKENS_ATTRIBUTES:
        token = tokenizer._special_tokens_map.get(name)
        if token is None:
            continue
        content = renamed.get(str(token), str(token))
        settings[name] = content if isinstance(token, str) else from_flags((content, True, *to_flags(token)[2:]))
    extra = [*(renamed.get(token, token) for token in tokenizer.extra_special_tokens), *new_special_tokens]
    if extra:
        settings["extra_special_tokens"] = extra
    return settings


def roles_of(tokenizer: HfBpeTokenizer) -> dict[str, str | list[str]]:
    """Return the special tokens of `tokenizer` by role; the extra ones are a list."""
    roles: dict[str, str | list[str]] = {
        role: str(token) for role, token in tokenizer._special_tokens_map.items() if token is not None
    }
    if tokenizer.extra_special_tokens:
        roles["extra_special_tokens"] = [str(token) for token in tokenizer.extra_special_tokens]
    return roles


def settings_beside_vocabulary(tokenizer: HfBpeTokenizer) -> dict[str, dict[str, Any]]:
    """Return the constructor's arguments that say nothing of the vocabulary, such as `model_max_length`."""
    elsewhere = {*tokenizer._special_tokens_map, *_SAID_ELSEWHERE}
    given = tokenizer.init_kwargs.items()
    settings = {name: getattr(tokenizer, name, value) for name, value in given if name not in elsewhere}
    return {"transformers": settings} if settings else {}


def settings_of_vocabulary(vocabulary: Vocabulary) -> dict[str, Any]:
    """Return the constructor's arguments that `vocabulary` stands for, beside its core."""
    settings: dict[str, Any] = dict(vocabulary.details.get("transformers") or {})  # type: ignore[call-overload]
    flags_by_content = {flags[0]: flags for _, flags in vocabulary.core.added_tokens()}
    for role, token in vocabulary.special_tokens.items():
        flags = flags_by_content.get(token) if isinstance(token, str) else None
        settings[role] = token if flags is None else from_flags(flags)
    if vocabulary.chat_template is not None:
        settings["chat_template"] = vocabulary.chat_template
    return settings
