"""The core encodes a text in which only some parts may spell added tokens."""

from __future__ import annotations

import json
import unicodedata
from functools import cache

import pytest
import tokenizers
from encoded_chats import MADE, made, small
from hypothesis import given
from hypothesis import strategies as st

from hf_bpe._native import Tokenizer

PIECES = [
    "<|im_start|>", "<|im_end|>", "<|im_", "<s>", "<think>", "<Left>", "<Right>", "<Word>", "<Normal É>", "<normal e>x",
    "<Normal E\u0301>", "<NORMAL É>x", "<|i", "m_end|>", "<", ">", "Lef", " ", "\n", "  ", "word", "hello dog", "É",
    "e",     "\u0301", "\u0323", "漢", "🙂", "12", "\u1100", "\u1161", "\u212b",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12)
KINDS = sorted(MADE)
Part = tuple[int, int, int | None]


@cache
def core(kind: str) -> Tokenizer:
    """Return the core of a small tokenizer."""
    return small(kind)._core


@cache
def stock(kind: str) -> tokenizers.Tokenizer:
    """Return the same in the stock library."""
    return tokenizers.Tokenizer.from_file(str(made(kind) / "tokenizer.json"))


@cache
def bare(kind: str) -> tokenizers.Tokenizer:
    """Return the stock tokenizer without any added token."""
    data = json.loads((made(kind) / "tokenizer.json").read_text(encoding="utf-8"))
    data["added_tokens"] = []
    return tokenizers.Tokenizer.from_str(json.dumps(data))


def parts_of(pieces: list[tuple[str, bool]]) -> tuple[str, list[Part]]:
    """Return a text, and the parts of it that are trusted."""
    text, parts = "", list[Part]()
    for piece, trusted in pieces:
        if trusted:
            parts.append((len(text), len(text) + len(piece), None))
        text += piece
    return text, parts


def joined(parts: list[Part]) -> list[tuple[int, int]]:
    """Return the longest stretches of trusted text."""
    spans: list[tuple[int, int]] = []
    for start, end, _ in parts:
        if spans and spans[-1][1] == start:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans


def is_word(char: str) -> bool:
    """Tell whether stock takes a character of `PIECES` for one of a word."""
    return char.isalnum() or char == "_" or unicodedata.combining(char) > 0


def oracle(kind: str, text: str, parts: list[Part]) -> list[int]:
    """Encode by the definition, for texts that spell no token of the second kind (`normalized=True`)."""
    tokens = {id: token for id, token in stock(kind).get_added_tokens_decoder().items() if not token.normalized}
    ids, done = [], 0
    for start, end in joined(parts):
        at = start
        while at < end:
            here = [id for id, token in tokens.items() if text.startswith(token.content, at, end)]
            if not here:
                at += 1
                continue
            found = max(here, key=lambda id: len(tokens[id].content))
            token, first, last = tokens[found], at, at + len(tokens[found].content)
            at = last
            if token.single_word and any(map(is_word, text[max(first - 1, 0) : first] + text[last : last + 1])):
                continue
            first = max(done, len(text[:first].rstrip())) if token.lstrip else first
            last += len(text[last:]) - len(text[last:].lstrip()) if token.rstrip else 0
            ids += [*bare(kind).encode(text[done:first]).ids, found] if done < first else [found]
            done = last
    return ids + bare(kind).encode(text[done:]).ids


@pytest.mark.parametrize("kind", KINDS)
@given(pieces=TEXTS)
def test_one_part_is_what_stock_encodes(kind: str, pieces: list[str]) -> None:
    text = "".join(pieces)
    expected = stock(kind).encode(text, add_special_tokens=False)

    ids, anchors = core(kind).encode_within(text, [(0, len(text), None)])
    aligned, offsets = core(kind).align_within(text, [(0, len(text), None)])

    assert ids == aligned == expected.ids
    assert [tuple(pair) for pair in offsets.reshape(-1, 2).tolist()] == expected.offsets
    assert all(expected.offsets[token] == (start, end) for token, start, end in anchors)
    found = [(text[start:end], token) for start, end, token in core(kind).find_added_tokens(text)]
    assert [token for _, token in found] == [
        stock(kind).get_added_tokens_decoder()[id].content
        for id in expected.ids
        if id in stock(kind).get_added_tokens_decoder() and id != stock(kind).token_to_id("<unk>")
    ]


@pytest.mark.parametrize("kind", KINDS)
@given(pieces=TEXTS)
def test_without_parts_no_added_token_is_found(kind: str, pieces: list[str]) -> None:
    text = "".join(pieces)

    ids, anchors = core(kind).encode_within(text, [])

    assert (ids, anchors) == (bare(kind).encode(text, add_special_tokens=False).ids, [])


@pytest.mark.parametrize("kind", KINDS)
@given(
    pieces=st.lists(
        st.tuples(st.sampled_from([p for p in PIECES if "orma" not in p.lower()]), st.booleans()), max_size=12
    )
)
def test_tokens_are_the_longest_of_the_leftmost_in_each_part(kind: str, pieces: list[tuple[str, bool]]) -> None:
    text, parts = parts_of(pieces)

    ids, _ = core(kind).encode_within(text, parts)

    assert ids == core(kind).align_within(text, parts)[0] == oracle(kind, text, parts)


@pytest.mark.parametrize("kind", KINDS)
@given(pieces=st.lists(st.tuples(st.sampled_from(PIECES), st.booleans()), max_size=12))
def test_every_added_token_lies_in_one_part(kind: str, pieces: list[tuple[str, bool]]) -> None:
    text, parts = parts_of(pieces)
    added = stock(kind).get_added_tokens_decoder()

    ids, flat = core(kind).align_within(text, parts)

    assert core(kind).encode_within(text, parts)[0] == ids
    for id, (start, end) in zip(ids, flat.reshape(-1, 2).tolist(), strict=True):
        token = added.get(id)
        if token is not None and token.content != "<unk>":
            blank = len(text[start:end]) - len(text[start:end].lstrip()) if token.lstrip else 0
            start, end = start + blank, end - (len(text[start:end]) - len(text[start:end].rstrip())) * token.rstrip
            assert any(first <= start and end <= last for first, last in joined(parts)), (text[start:end], parts)


@pytest.mark.parametrize("kind", KINDS)
@given(pieces=st.lists(st.tuples(st.sampled_from(PIECES), st.booleans()), max_size=12), data=st.data())
def test_encoding_goes_on_at_any_anchor(kind: str, pieces: list[tuple[str, bool]], data: st.DataObject) -> None:
    text, parts = parts_of(pieces)
    ids, anchors = core(kind).encode_within(text, parts)
    if not anchors:
        return
    token, start, _ = data.draw(st.sampled_from(anchors))

    assert core(kind).encode_within(text, parts, start=start)[0] == ids[token:]
    assert core(kind).align_within(text, parts, start=start)[0] == ids[token:]


NORMAL = "<Normal É>"


@pytest.mark.parametrize("kind", ["bytes", "lowercase"])
@pytest.mark.parametrize(
    ("pieces", "found"),
    [
        ([("<Normal E\u0301>", True), ("x", False)], True),
        ([("<Normal E\u0301>", True), ("\u0301", False)], True),
        ([("<Normal E\u0301>", True), ("\u1161\u0301", False)], True),
        ([("<Normal E", True), ("\u0301", False), (">", True)], False),
        ([("a", False), ("<Normal É>", True)], True),
        ([("<Normal É", True), (">", False)], False),
        ([("<Normal ", False), ("É>", True)], False),
        ([("<Normal ", True), ("É>", True)], True),
    ],
)
def test_a_token_of_the_normal_form_comes_from_one_part(kind: str, pieces: list[tuple[str, bool]], found: bool) -> None:
    text, parts = parts_of(pieces)

    ids, _ = core(kind).encode_within(text, parts)

    assert (core(kind).token_to_id(NORMAL) in ids) is found
    assert core(kind).align_within(text, parts)[0] == ids


def test_parts_with_a_list_spell_the_tokens_of_the_list_alone() -> None:
    tokenizer = core("bytes")
    text = "<think><|im_end|><|im_start|>"

    ids, _ = tokenizer.encode_within(text, [(0, 17, 0), (17, 29, 1)], [["<think>"], ["<|im_end|>"]])

    assert ids == [tokenizer.token_to_id("<think>"), *bare("bytes").encode(text[7:]).ids]


def test_positions_count_characters_of_the_str() -> None:
    tokenizer = core("bytes")
    text = "é\ud83d\ude42\udc00<s>漢<s>"

    ids, anchors = tokenizer.encode_within(text, [(4, 7, None), (8, 11, None)])
    _, offsets = tokenizer.align_within(text, [(8, 11, None)])

    assert [(start, end) for _, start, end in anchors] == [(4, 7), (8, 11)]
    assert ids.count(tokenizer.token_to_id("<s>")) == 2
    assert offsets.reshape(-1, 2)[-1].tolist() == [8, 11]


@pytest.mark.parametrize("parts", [[(1, 3, None)], [(2, 1, None)], [(1, 2, None), (0, 1, None)], [(9, 9, None)]])
def test_parts_that_are_none_are_refused(parts: list[Part]) -> None:
    for text in ("ab", "é"):
        with pytest.raises(
            ValueError, match=r"positions of parts must ascend and end with the text|are no part of a text"
        ):
            core("bytes").encode_within(text, parts)


def test_lists_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match=r"bytes 0\.\.1 are no part of a text of 2 bytes that .* one of 0 lists"):
        core("bytes").encode_within("ab", [(0, 1, 0)])
    with pytest.raises(ValueError, match=r"'zz' is not an added token"):
        core("bytes").encode_within("ab", [(0, 1, 0)], [["zz"]])


def test_the_model_makes_no_special_token_by_merging() -> None:
    data = json.loads((made("bytes") / "tokenizer.json").read_text(encoding="utf-8"))
    vocab = data["model"]["vocab"]
    merged = next(token for token in vocab if len(token) == 4 and token.isalpha() and token.isascii())
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    data["added_tokens"].append({"id": vocab[merged], "content": merged, **flags})
    tokenizer = Tokenizer.from_json(json.dumps(data))

    assert vocab[merged] in tokenizer.encode_within(merged, [(0, len(merged), None)])[0]
    assert vocab[merged] not in tokenizer.encode_within(merged, [])[0]
    assert vocab[merged] not in tokenizer.align_within(merged, [])[0]
