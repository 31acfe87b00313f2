"""`tiktoken.Encoding` objects, in and out.

An `Encoding` holds ranks, one split pattern and special tokens. What else a vocabulary has, such as a normalizer,
changes ids: it is refused with a text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, NoReturn

from hf_bpe import pipeline_json
from hf_bpe.errors import ConversionError
from hf_bpe.formats import differences, rank_files, split_regex
from hf_bpe.formats.tiktoken import NAME, roles_of
from hf_bpe.known_encodings import recognise
from hf_bpe.vocabulary import Vocabulary

if TYPE_CHECKING:
    import tiktoken


def from_encoding(encoding: tiktoken.Encoding) -> Vocabulary:
    """Return the vocabulary of a `tiktoken.Encoding`.

    Raises:
        ConversionError: Its pattern has a construct that tokenizer.json would read differently.
    """
    try:
        pattern = split_regex.canonical(encoding._pat_str)
    except ValueError as error:
        raise ConversionError(
            f"the split pattern of {encoding.name!r} holds {error}. Write it in another way and pass split_pattern=."
        ) from error
    ranks = encoding._mergeable_ranks
    vocabulary = Vocabulary.from_ranks(
        ranks, split_pattern=pattern, added_tokens=encoding._special_tokens, details={NAME: {"name": encoding.name}}
    )
    roles = roles_of(recognise(ranks), encoding._special_tokens)
    return vocabulary.replace(special_tokens=roles)


def to_encoding(vocabulary: Vocabulary, name: str | None = None) -> tiktoken.Encoding:
    """Return a `tiktoken.Encoding` with equal ids for every text, where all special tokens are allowed.

    tiktoken adds no BOS or EOS: what the post-processor adds is left out.

    Raises:
        ConversionError: tiktoken would give other ids. The message has the shortest text that shows it.
    """
    try:
        import tiktoken
    except ImportError as error:
        raise ImportError("to_tiktoken() needs tiktoken. Install it with `pip install tiktoken`.") from error
    ranks = rank_files.proven_ranks(vocabulary, target="tiktoken")
    pattern = portable_pattern(vocabulary, NAME)
    special_tokens = {token["content"]: id for id, token in rank_files.added_tokens(vocabulary)}
    details = vocabulary.details.get(NAME)
    known_name = details.get("name") if isinstance(details, Mapping) else None
    encoding = tiktoken.Encoding(
        name or known_name or "hf_bpe", pat_str=pattern, mergeable_ranks=ranks, special_tokens=special_tokens
    )
    _check_encoding(vocabulary, encoding)
    return encoding


def portable_pattern(vocabulary: Vocabulary, target: str) -> str:
    """Return the one pattern by which the vocabulary cuts text, in a form that tiktoken reads alike.

    Raises:
        ConversionError: There is a normalizer, or no such pattern, or an added token has flags that change ids.
    """
    _check_normalizer(vocabulary, target)
    _check_added_tokens(vocabulary, target)
    pattern = vocabulary.split_pattern
    if pattern is None:
        _refuse_pre_tokenizer(vocabulary, target)
    try:
        return split_regex.canonical(pattern)
    except ValueError as error:
        raise ConversionError(
            f"the split pattern holds {error}: {target} would cut other pieces. tokenizer.json holds it."
        ) from error


def _check_normalizer(vocabulary: Vocabulary, target: str) -> None:
    if vocabulary.normalizer is None:
        return
    plain = vocabulary.core.with_component("normalizer", None)
    ours, theirs = differences.encoder(vocabulary.core), differences.encoder(plain)
    if (text := differences.find(ours, theirs)) is not None:
        raise ConversionError(
            f"{target} has no normalizer, and this vocabulary has {vocabulary.normalizer['type']}: {text!r} is "
            f"{ours(text)} and would become {theirs(text)}. tokenizer.json holds it."
        )


def _refuse_pre_tokenizer(vocabulary: Vocabulary, target: str) -> NoReturn:
    """Raise, with a text that shows what the closest single pattern would change."""
    pattern = pipeline_json.last_pattern_of(vocabulary.pre_tokenizer)
    closest = pipeline_json.byte_level_pipeline(pattern or "gpt2")["pre_tokenizer"]
    plain = vocabulary.core.with_component("pre_tokenizer", json.dumps(closest))
    ours, theirs = differences.encoder(vocabulary.core), differences.encoder(plain)
    text = differences.find(ours, theirs)
    shown = "" if text is None else f": with its last pattern alone {text!r}, {ours(text)}, would become {theirs(text)}"
    raise ConversionError(
        f"{target} cuts text by one pattern, and this pre_tokenizer isn't one{shown}. tokenizer.json holds it."
    )


def _check_added_tokens(vocabulary: Vocabulary, target: str) -> None:
    """Refuse flags that tiktoken doesn't have, and special tokens of which it would find any."""
    added = rank_files.added_tokens(vocabulary)
    for _, token in added:
        for flag in ("lstrip", "rstrip", "single_word"):
            if token[flag]:
                text = f"a{token['content']}a" if flag == "single_word" else f"a {token['content']} a"
                raise ConversionError(
                    f"{target} has no {flag}, which the added token {token['content']!r} has: {text!r} would change. "
                    "tokenizer.json holds it."
                )
    contents = sorted(token["content"] for _, token in added)
    for short, long in pairwise(contents):
        if long.startswith(short):
            raise ConversionError(
                f"the special token {long!r} begins with another, {short!r}: tiktoken finds either of them there. "
                "tokenizer.json holds it."
            )


def _check_encoding(vocabulary: Vocabulary, encoding: tiktoken.Encoding) -> None:
    """Refuse what no rule above foresaw: the two disagree on a probe."""
    ours = differences.encoder(vocabulary.core)

    def theirs(text: str) -> list[int]:
        return encoding.encode(text, allowed_special="all")

    contents = [f"a{token['content']} a" for _, token in rank_files.added_tokens(vocabulary)[:256]]
    if (text := differences.find(ours, theirs, [*differences.PROBES, *contents])) is not None:
        raise ConversionError(f"tiktoken gives other ids: {text!r} is {ours(text)} and would become {theirs(text)}.")
