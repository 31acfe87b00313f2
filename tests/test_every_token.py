"""Each token of each real vocabulary encodes to itself, or there is a reason why no text can give it.

The reasons are computed, one for each token, from the vocabulary and what stock's components do to the token's text; a
token without a reason is a failure.
"""

from __future__ import annotations

import collections
import functools
import re
from pathlib import Path

import pytest
from parity import Pair
from vocabularies import REAL

HANDED = {
    "clip (tokenizer.json)": "kitoken/models/clip_base.json",
    "gpt2 (tokenizer.json)": "kitoken/models/gpt2.json",
    "gpt_neox": "kitoken/models/gpt_neox.json",
    "llama3 (tokenizer.json)": "tokenizers/llama3.json",
    "mistral01": "kitoken/models/mistral01.json",
    "qwen3": "tokenizers/qwen3.json",
}

BYTE_TOKEN = re.compile("<0x[0-9A-F]{2}>")


@functools.lru_cache(maxsize=1)
def pair_of(path: Path) -> Pair:
    return Pair.of_file(path)


class Vocabulary:
    """What decides whether a token can come out of a text."""

    def __init__(self, pair: Pair) -> None:
        """Look at the stock side of `pair`."""
        self.pair = pair
        self.added = {id: token.content for id, token in pair.stock.get_added_tokens_decoder().items()}
        self.suffix = pair.stock.model.end_of_word_suffix or ""
        self.spaces = "Metaspace" in str(pair.stock.pre_tokenizer)
        # Where a Metaspace puts a space before the text, a newline stands there in turn: nothing merges with that.
        self.newline = pair.ours.encode_ids("\n", add_special_tokens=False) if self.spaces else []

    def text(self, id: int) -> str:
        """Return the text that should give `id`: what it decodes to, without what marks the end of a word."""
        if id in self.added:
            return self.added[id]
        if self.spaces:
            return "\n" + (self.pair.stock.id_to_token(id) or "").replace("▁", " ")
        return self.pair.ours.decode([id], skip_special_tokens=False).removesuffix(self.suffix)

    def is_own(self, id: int, row: list[int]) -> bool:
        """Whether `row`, which the text of `id` gives, is that id, apart from what stands before the text."""
        return row == [id] if id in self.added else row == [*self.newline, id]

    def reason(self, id: int, text: str) -> str | None:
        """Return why `text` doesn't give `id`; None if there seems to be no reason."""
        stock = self.pair.stock
        token = stock.id_to_token(id)
        if token is None:
            return "no token has this id"
        if "\ufffd" in text or BYTE_TOKEN.fullmatch(token):
            return "it is a part of a character"
        if self.suffix and not token.endswith(self.suffix):
            return "it never ends a word"
        if [piece.id for piece in stock.model.tokenize(token.removesuffix(self.suffix))] != [id]:
            return "no merges lead to it"
        if any(content in text for other, content in self.added.items() if other != id):
            return "it holds an added token"
        normal = stock.normalizer.normalize_str(text) if stock.normalizer else text
        cut = stock.pre_tokenizer.pre_tokenize_str(normal) if stock.pre_tokenizer else [(normal, (0, 0))]
        if [piece + self.suffix for piece, _ in cut] == [token]:
            return None
        return "the normalizer changes it" if normal != text else "the pre-tokenizer cuts it"


def reasons_of(pair: Pair) -> collections.Counter[str]:
    """Return how many tokens there are of each kind; assert that none lacks a reason."""
    vocabulary = Vocabulary(pair)
    ids = range(pair.ours.max_id + 1)
    texts = [vocabulary.text(id) for id in ids]
    rows = pair.ours.encode_ids_batch(texts, add_special_tokens=False)
    assert rows == [encoding.ids for encoding in pair.stock.encode_batch(texts, add_special_tokens=False)]
    counts: collections.Counter[str] = collections.Counter()
    for id, text, row in zip(ids, texts, rows, strict=True):
        reason = "it encodes to itself" if vocabulary.is_own(id, row) else vocabulary.reason(id, text)
        assert reason is not None, f"token {id}, {pair.ours.id_to_token(id)!r}: {text!r} gives {row}"
        counts[reason] += 1
    return counts


def assert_most_are_own(counts: collections.Counter[str]) -> None:
    """Assert that reasons are the exception: of the tokens that may stand alone, 96 of 100 encode to themselves."""
    alone = counts.total() - counts["it never ends a word"] - counts["no token has this id"]
    print(dict(counts))
    assert counts["it encodes to itself"] > 0.96 * alone, counts


@pytest.mark.parametrize("real_vocabulary", sorted(REAL), indirect=True)
def test_each_token_of_a_package_encodes_to_itself_or_has_a_reason_not_to(real_vocabulary: Path) -> None:
    assert_most_are_own(reasons_of(pair_of(real_vocabulary)))


@pytest.mark.parametrize("name", HANDED)
def test_each_token_of_a_handed_file_encodes_to_itself_or_has_a_reason_not_to(shared: Path, name: str) -> None:
    assert_most_are_own(reasons_of(pair_of(shared / "vectors" / HANDED[name])))
