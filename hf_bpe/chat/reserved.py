"""Tokens that a vocabulary holds in reserve: which there are, and how one gets a name and a job.

Model makers leave such tokens for formats to come. Their embedding rows exist, so a format that takes one needs no
new row; the id stays, and only the name changes. Makers do the same: `<|eom_id|>` of Llama 3.1 is
`<|reserved_special_token_4|>` of Llama 3.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from hf_bpe._native import Tokenizer
from hf_bpe.special_tokens import Flags

_NAMES = tuple(
    re.compile(pattern)
    for pattern in (
        r"<\|reserved_special_token_(\d+)\|>",  # Llama
        r"<\|reserved_(\d+)\|>",  # gpt-oss
        r"<SPECIAL_(\d+)>",  # tekken
        r"<unused(\d+)>",  # Gemma
        r"<\|dummy_(\d+)\|>",  # Phi
    )
)


def reserved_tokens(core: Tokenizer, used: Collection[str]) -> dict[int, str]:
    """Return the reserved tokens of a vocabulary by id, those of the lowest numbers first.

    Args:
        core: The vocabulary.
        used: Tokens that have a job, whatever their name.
    """
    post_processor = core.component("post_processor") or ""
    found = [
        (int(match[1]), token_id, flags[0])
        for token_id, flags in core.added_tokens()
        for name in _NAMES
        if (match := name.fullmatch(flags[0]))
    ]
    busy = {*used, core.unk_token}
    return {
        token_id: content
        for _, token_id, content in sorted(found)
        if content not in busy and json.dumps(content, ensure_ascii=False) not in post_processor
    }


def choose(missing: Iterable[str], reserved: Mapping[int, str], published_ids: Mapping[str, int]) -> dict[str, str]:
    """Return which reserved token each missing one takes: its new name, and its old one.

    One whose published id is reserved here goes there: so a vocabulary of Llama 3 gets the ids of Llama 3.1. The others
    take those of the lowest numbers, in order, as long as there are any.

    Example:
        >>> choose(["a", "b"], {7: "r0", 9: "r1"}, {"b": 7})
        {'b': 'r0', 'a': 'r1'}
    """
    missing, left = list(missing), dict(reserved)
    at_home = {token: left.pop(published_ids[token]) for token in missing if published_ids.get(token) in left}
    others = [token for token in missing if token not in at_home]
    return at_home | dict(zip(others, left.values(), strict=False))


def with_renamed_tokens(core: Tokenizer, renamed: Mapping[str, Flags]) -> Tokenizer:
    """Return `core` with other names and flags for added tokens, given by their old names. No id changes."""
    data: dict[str, Any] = json.loads(core.to_json(pretty=False))
    names = ("content", "special", "normalized", "single_word", "lstrip", "rstrip")
    for token in data["added_tokens"]:
        if token["content"] in renamed:
            token.update(zip(names, renamed[token["content"]], strict=True))
    vocab = data["model"]["vocab"]
    data["model"]["vocab"] = {renamed[token][0] if token in renamed else token: vocab[token] for token in vocab}
    return Tokenizer.from_json(json.dumps(data, ensure_ascii=False), core.dropout_seed)
