"""Laws of encoding and decoding, on any text, held to the readable specification in `reference.py`."""

from __future__ import annotations

import functools
import sysconfig
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex
from tokenizers.pre_tokenizers import Split

import hf_bpe
from hf_bpe import HfBpeTokenizer, reference
from hf_bpe.byte_alphabet import token_to_bytes
from hf_bpe.split_patterns import SPLIT_PATTERNS

PATTERNS = ("gpt2", "llama3", "o200k")
LIKELY = st.sampled_from(
    ["the", " self", "def ", "\n    ", "'s", "123", "  ", "é", "e\u0301", "漢", "🙂", "👩‍👧", "\r\n", "\ufeff"]
)
TEXTS = st.lists(st.one_of(LIKELY, st.text(st.characters(exclude_categories=["Cs"]), max_size=5)), max_size=12).map(
    "".join
)

each_pattern = pytest.mark.parametrize("pattern", PATTERNS)


@functools.cache
def trained(pattern: str) -> HfBpeTokenizer:
    """Return a tokenizer of 1,500 tokens for Python code."""
    folder = Path(sysconfig.get_path("stdlib")) / "email"
    files = sorted(folder.glob("*.py"))
    return hf_bpe.train(files=files, vocab_size=1_500, split_pattern=pattern, progress=False)


@functools.cache
def specification(pattern: str) -> reference.Bpe[bytes]:
    """Return the readable implementation with the same vocabulary and merges."""
    tokenizer = trained(pattern)
    vocab = [token_to_bytes(token) for token in tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))]
    merges = [(token_to_bytes(left), token_to_bytes(right)) for left, right in tokenizer._core.merges()]
    return reference.Bpe(vocab, merges)


@each_pattern
@given(text=TEXTS)
def test_ids_are_those_of_the_specification(pattern: str, text: str) -> None:
    pieces = Split(Regex(SPLIT_PATTERNS[pattern]), "isolated").pre_tokenize_str(text)
    pretokens = [piece.encode() for piece, _ in pieces]

    assert trained(pattern).encode(text) == specification(pattern).encode(pretokens)


@each_pattern
@given(text=TEXTS)
def test_decoding_undoes_encoding(pattern: str, text: str) -> None:
    tokenizer = trained(pattern)

    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert tokenizer.decode_bytes(tokenizer.encode_bytes(text.encode())) == text.encode()


@each_pattern
@given(data=st.binary(max_size=60))
def test_any_bytes_come_back_whole(pattern: str, data: bytes) -> None:
    tokenizer = trained(pattern)

    assert tokenizer.decode_bytes(tokenizer.encode_bytes(data)) == data


@each_pattern
@given(texts=st.lists(TEXTS, max_size=6))
def test_a_batch_is_its_texts_one_by_one(pattern: str, texts: list[str]) -> None:
    tokenizer = trained(pattern)
    one_by_one = [tokenizer.encode(text) for text in texts]

    assert tokenizer(texts)["input_ids"] == one_by_one
    assert tokenizer.encode_ordinary_batch(texts) == one_by_one
    ids, bounds = tokenizer.encode_to_numpy(texts)
    assert [ids[start:end].tolist() for start, end in pairwise(bounds.tolist())] == one_by_one


@each_pattern
@given(text=TEXTS)
def test_offsets_ascend_and_point_into_the_text(pattern: str, text: str) -> None:
    tokenizer = trained(pattern)
    encoding = tokenizer(text, return_offsets_mapping=True)
    offsets = encoding["offset_mapping"]

    assert all(0 <= start < end <= len(text) for start, end in offsets)
    assert all(left[0] <= right[0] and left[1] <= right[1] for left, right in pairwise(offsets))
    assert {position for start, end in offsets for position in range(start, end)} == set(range(len(text)))
    for id, (start, end) in zip(encoding["input_ids"], offsets, strict=True):
        assert tokenizer.get_token_bytes(id) in text[start:end].encode()


@each_pattern
@given(text=TEXTS)
def test_a_stream_says_what_decoding_says(pattern: str, text: str) -> None:
    tokenizer = trained(pattern)
    ids = tokenizer.encode(text)
    stream = tokenizer.decode_stream()

    parts = [stream.step(id) for id in ids] + [stream.flush()]

    assert "".join(parts) == tokenizer.decode(ids) == text
