"""Compares the core with the stock library, text by text, in everything that an encoding says."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import tokenizers

from hf_bpe._native import Tokenizer

FIELDS = ("ids", "tokens", "offsets", "word_ids", "type_ids", "special_tokens_mask")


class Pair:
    """A `tokenizer.json` in the core and in the stock library."""

    def __init__(self, data: str) -> None:
        """Load `data` twice."""
        self.ours = Tokenizer.from_json(data)
        self.stock = tokenizers.Tokenizer.from_str(data)

    @classmethod
    def of_file(cls, path: Path) -> Pair:
        """Load a file twice."""
        return cls(path.read_text(encoding="utf-8"))

    def assert_equal(self, texts: Sequence[str], *, add_special_tokens: bool = True) -> None:
        """Assert that every way to encode `texts` gives what stock gives, and that decoding gives it back."""
        texts = list(texts)
        stock = self.stock.encode_batch(texts, add_special_tokens=add_special_tokens)
        ours = self.ours.encode_batch(texts, add_special_tokens=add_special_tokens)
        ids = self.ours.encode_ids_batch(texts, add_special_tokens=add_special_tokens)
        flat, bounds, offsets = self.ours.encode_to_numpy_with_offsets(texts, add_special_tokens=add_special_tokens)
        assert flat.tolist() == [token_id for row in ids for token_id in row]
        for text, expected, (start, end) in zip(texts, stock, pairwise(bounds.tolist()), strict=True):
            assert list(map(tuple, offsets[start:end].tolist())) == expected.offsets, f"offsets of {excerpt(text)}"
        for text, got, expected, row in zip(texts, ours, stock, ids, strict=True):
            assert row == expected.ids, difference(text, row, expected.ids)
            for field in FIELDS:
                assert getattr(got, field) == getattr(expected, field), f"{field} of {excerpt(text)}"
        for skip in (True, False):
            decoded = self.stock.decode_batch(ids, skip_special_tokens=skip)
            assert self.ours.decode_batch(ids, skip_special_tokens=skip) == decoded

    def added_tokens(self) -> list[str]:
        """Return the contents of all added tokens."""
        return [token.content for token in self.stock.get_added_tokens_decoder().values()]


def difference(text: str, got: Sequence[Any], expected: Sequence[Any]) -> str:
    """Say where two rows of ids part."""
    at = next((i for i, (a, b) in enumerate(zip(got, expected, strict=False)) if a != b), min(len(got), len(expected)))
    around = slice(max(0, at - 2), at + 5)
    return f"ids differ at {at}: {list(got[around])}, stock has {list(expected[around])}; text {excerpt(text)}"


def excerpt(text: str) -> str:
    """Return enough of `text` to reproduce a failure."""
    return ascii(text if len(text) <= 400 else text[:400] + "...")
