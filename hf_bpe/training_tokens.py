"""The added tokens of a training: special ones, those of chats, and protected strings, as `tokenizer.json` has them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tokenizers import AddedToken

from hf_bpe import pipeline_json
from hf_bpe import trainer_settings as checks
from hf_bpe._native import Tokenizer
from hf_bpe.special_tokens import to_flags


def special_tokens_of(
    special_tokens: Iterable[str | AddedToken], settings: Mapping[str, Any]
) -> list[pipeline_json.Json]:
    """Return the special tokens as JSON, once each: those given, then those that settings name."""
    if isinstance(special_tokens, str | AddedToken):
        raise TypeError(f"special_tokens is a list of tokens; write [{str(special_tokens)!r}]")
    given = [added_token_json(token) for token in special_tokens]
    named = _named_tokens(settings)
    contents = {token["content"] for token in given}
    tokens = given + [flags for flags in map(added_token_json, named) if flags["content"] not in contents]
    for token in tokens:
        if not token["content"]:
            raise ValueError("a special token is empty")
        checks.check_text("the special token", token["content"])
    return tokens


def with_chat_tokens(specials: list[pipeline_json.Json], name: str, *, has_bos: bool) -> list[pipeline_json.Json]:
    """Return the special tokens, and those that a chat format needs beside them.

    They are part of the training, so that `vocab_size` counts them and no merge makes one of them.
    """
    from hf_bpe.chat.families import family
    from hf_bpe.chat.installing import check_known

    known = {token["content"]: token for token in specials}
    tokens = list(specials)
    for needed in family(name).tokens(has_bos=has_bos):
        if needed.content in known:
            check_known(needed, AddedToken(**known[needed.content]))
        else:
            tokens.append(added_token_json(needed, special=needed.special))
    return tokens


def protected_tokens(strings: Sequence[str], specials: Sequence[pipeline_json.Json]) -> list[pipeline_json.Json]:
    """Return protected strings as added tokens that aren't special."""
    for token in specials:
        if token["content"] in strings:
            raise ValueError(f"{token['content']!r} is a special token and a protected string: it can be one of them")
    tokens = [AddedToken(string, special=False, normalized=False) for string in strings]
    return [added_token_json(token, special=False) for token in tokens]


def _named_tokens(settings: Mapping[str, Any]) -> list[str | AddedToken]:
    """Return the special tokens that `settings` name, in any of the ways that `transformers` knows.

    They are those of a tokenizer made with these settings, which also finds wrong settings before the corpus is read.
    """
    from hf_bpe.tokenizer import HfBpeTokenizer

    empty = Tokenizer.from_json(json.dumps(pipeline_json.byte_level_pipeline("gpt2")))
    tokenizer = HfBpeTokenizer(tokenizer_object=empty, **settings)
    named = [token for token in tokenizer._special_tokens_map.values() if token is not None]
    return [*named, *tokenizer._extra_special_tokens]


def added_token_json(token: str | AddedToken, *, special: bool = True) -> pipeline_json.Json:
    """Return an added token as `tokenizer.json` writes it, without an id."""
    content, special, normalized, single_word, lstrip, rstrip = to_flags(token, special=special)
    return {
        "content": content,
        "single_word": single_word,
        "lstrip": lstrip,
        "rstrip": rstrip,
        "normalized": normalized,
        "special": special,
    }
