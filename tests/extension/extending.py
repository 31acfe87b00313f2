"""What the tests of extension share: small tokenizers, quiet calls, and the law that tokens are only joined."""

from __future__ import annotations

import json
import warnings
from typing import Any

from hf_bpe import ExtensionReport, HfBpeTokenizer, extend
from hf_bpe._native import Tokenizer, encode_words
from hf_bpe.pipeline_json import Json, empty_pipeline

SPECIAL = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}


def characters(
    merges: list[tuple[str, str]] = [],  # noqa: B006 (never changed)
    *,
    letters: str = "abcde",
    more: tuple[str, ...] = (),
    added: dict[str, int] | None = None,
    **model: Any,
) -> HfBpeTokenizer:
    """Return a tokenizer of single characters and what `merges` make of them, without a pre-tokenizer."""
    tokens = dict.fromkeys([*letters, *(left + right for left, right in merges), *more])
    vocab = {token: token_id for token_id, token in enumerate(tokens)}
    listed = [{"id": token_id, "content": content, **SPECIAL} for content, token_id in (added or {}).items()]
    pipeline = empty_pipeline()
    settings = {"vocab": vocab, "merges": [list(pair) for pair in merges], **model}
    return tokenizer_of(pipeline | {"added_tokens": listed, "model": pipeline["model"] | settings})


def tokenizer_of(pipeline: Json) -> HfBpeTokenizer:
    """Return the tokenizer of a parsed `tokenizer.json`."""
    return HfBpeTokenizer(tokenizer_object=Tokenizer.from_json(json.dumps(pipeline)))


def quietly(tokenizer: HfBpeTokenizer, source: Any, **options: Any) -> tuple[HfBpeTokenizer, ExtensionReport]:
    """Extend without a bar, from a corpus that may be too small for what is asked."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return extend(tokenizer, source, progress=False, **options)


def ids_of(tokenizer: HfBpeTokenizer, texts: list[str]) -> list[list[int]]:
    """Return the ids of texts, without special tokens around them."""
    return tokenizer._core.encode_ids_batch(texts, add_special_tokens=False)


def assert_only_joined(old: HfBpeTokenizer, new: HfBpeTokenizer, report: ExtensionReport, texts: list[str]) -> None:
    """Assert that each text has its old tokens, some neighbours joined, and that old tokens kept their ids.

    A new token stands for what the old vocabulary makes of it: for the parts that the report gives.
    """
    parts = {token.id: list(token.parts) for token in report.added}
    for text, before, after in zip(texts, ids_of(old, texts), ids_of(new, texts), strict=True):
        assert [part for token in after for part in parts.get(token, [token])] == before, text
    vocab, larger = old.get_vocab(), new.get_vocab()
    assert {token: larger.get(token) for token in vocab} == vocab
    assert {larger[token] for token in larger.keys() - vocab.keys()} == parts.keys()
    assert len(larger) == len(vocab) + len(parts)


def assert_parts_are_those_of_the_old_model(old: HfBpeTokenizer, report: ExtensionReport) -> None:
    """Assert that the report says what the old model makes of each new token's own text."""
    rows = encode_words(old._core, [token.token for token in report.added])
    assert rows == [list(token.parts) for token in report.added]
