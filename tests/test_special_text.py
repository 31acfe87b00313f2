"""Ids without special tokens, tiktoken's rules, bytes and streams."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import tiktoken
from directories import HOSTILE, KINDS, directory, pair

from hf_bpe import HfBpeTokenizer

kinds = pytest.mark.parametrize("kind", KINDS)
TEXT = "a<s>b<|end|> <s>"


def rank_twin() -> tuple[HfBpeTokenizer, tiktoken.Encoding]:
    """Return a tokenizer, and tiktoken's over the same bytes and special tokens."""
    tokenizer = HfBpeTokenizer.from_pretrained(directory("gpt2"))
    tokenizer.add_special_tokens({"extra_special_tokens": ["<s>"]})
    ids = [token_id for token_id in range(len(tokenizer)) if token_id not in tokenizer.added_tokens_decoder]
    ranks = {tokenizer.get_token_bytes(token_id): rank for rank, token_id in enumerate(sorted(ids))}
    pattern = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
    special = {"<|end|>": len(ranks), "<s>": len(ranks) + 1}
    return tokenizer, tiktoken.Encoding("twin", pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)


@kinds
def test_ordinary_ids_have_no_special_token(kind: str) -> None:
    ours, stock = pair(kind)

    for text in [*HOSTILE, TEXT]:
        expected = stock(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]
        assert ours.encode_ordinary(text) == expected
        assert not set(expected) & {i for i, token in ours.added_tokens_decoder.items() if token.special}
    assert ours.encode_ordinary_batch(HOSTILE) == [ours.encode_ordinary(text) for text in HOSTILE]


@pytest.mark.parametrize(
    "rules",
    [
        {"allowed_special": "all"},
        {"allowed_special": {"<s>"}, "disallowed_special": ()},
        {"allowed_special": set(), "disallowed_special": ()},
        {"disallowed_special": ()},
        {"allowed_special": {"<s>", "<|end|>"}},
        {"allowed_special": {"<s>", "<|end|>", "unknown"}, "disallowed_special": "all"},
        {"allowed_special": {"<s>"}},
        {"disallowed_special": "all"},
        {"disallowed_special": {"b"}},
        {"disallowed_special": {"zzz"}},
    ],
)
def test_special_tokens_in_text_follow_the_rules_of_tiktoken(rules: dict[str, object]) -> None:
    ours, theirs = rank_twin()

    for text in ("no specials", TEXT, "<|end|>"):
        try:
            expected = [theirs.decode_single_token_bytes(token) for token in theirs.encode(text, **rules)]
        except ValueError as error:
            first_line = str(error).splitlines()[0].rstrip(".")
            with pytest.raises(ValueError, match=first_line.replace("|", r"\|")):
                ours.encode(text, **rules)
        else:
            assert [ours.get_token_bytes(token) for token in ours.encode(text, **rules)] == expected


def test_without_rules_encode_is_the_call_of_hugging_face() -> None:
    ours, stock = pair("template")

    assert ours.encode(TEXT) == stock.encode(TEXT)
    assert ours.encode(TEXT)[0] == ours.bos_token_id
    assert ours.encode("a", allowed_special="all")[0] != ours.bos_token_id
    with pytest.raises(TypeError, match="takes one str, got"):
        ours.encode(["a"], allowed_special="all")


@kinds
def test_bytes_survive_whole(kind: str) -> None:
    ours, _ = pair(kind)

    for data in [b"", b"\xff", b"a\xf0\x9f\x98b\x80", bytes(range(256)) * 3, "漢字🙂".encode()]:
        ids = ours.encode_bytes(data)
        assert ours.decode_bytes(ids) == data
        assert b"".join(map(ours.get_token_bytes, ids)) == data


@kinds
def test_arrays_hold_the_ids_of_each_text(kind: str) -> None:
    ours, _ = pair(kind)

    ids, bounds = ours.encode_to_numpy(HOSTILE)

    assert ids.dtype == np.uint32
    assert bounds.dtype == np.uint64
    rows = [ids[start:end].tolist() for start, end in itertools.pairwise(bounds)]
    assert rows == ours(HOSTILE)["input_ids"]
    bare, _ = ours.encode_to_numpy([TEXT], add_special_tokens=False, split_special_tokens=True)
    assert bare.tolist() == ours.encode_ordinary(TEXT)


@kinds
def test_a_stream_adds_up_to_the_text_without_half_characters(kind: str) -> None:
    ours, _ = pair(kind)

    for text in HOSTILE:
        if "\ufffd" in text:
            continue
        ids = ours.encode(text)
        stream = ours.decode_stream()
        parts = [stream.step(token_id) for token_id in ids]
        assert "".join(parts) + stream.flush() == ours.decode(ids)
        assert not any("\ufffd" in part for part in parts)
        skipping = ours.decode_stream(skip_special_tokens=True)
        assert "".join(map(skipping.step, ids)) + skipping.flush() == ours.decode(ids, skip_special_tokens=True)


def test_an_added_token_of_the_byte_alphabet_decodes_as_it_is_written() -> None:
    tokenizer = HfBpeTokenizer.from_pretrained(directory("gpt2"))
    tokenizer.add_tokens(["qcaféq"])

    ids = tokenizer.encode("a qcaféq b")

    assert len(tokenizer) - 1 in ids
    assert tokenizer.decode(ids) == "a qcaféq b"
