"""More mistakes that tokenizers of this field have made in public: with pieces, added tokens and decoding.

As in `test_known_bugs`, each test stands for a kind of fault and names the thread where it was reported.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from parity import Pair
from sentencepiece_files import BYTE, CONTROL, NORMAL, UNKNOWN, Piece, merges_of_scores, tokenizer_of_pieces
from transformers import PreTrainedTokenizerFast

from hf_bpe import HfBpeTokenizer
from hf_bpe._native import DecodeStream, Tokenizer

Json = dict[str, Any]

PIECES: list[Piece] = [
    *(("<unk>", 0.0, UNKNOWN), ("<s>", 0.0, CONTROL), ("</s>", 0.0, CONTROL)),
    *((f"<0x{byte:02X}>", 0.0, BYTE) for byte in range(256)),
    *((text, -float(rank), NORMAL) for rank, text in enumerate(("▁a", "▁▁", "aa", "▁▁▁▁", "aaaa", "▁b"))),
    *((text, -99.0, NORMAL) for text in "▁ab:->"),
]
"""A vocabulary as SentencePiece has it: special pieces, bytes, then pieces with scores."""


def pieces_file(*, metaspace: bool, added: list[Json] | None = None, **parts: Any) -> str:
    """Return the `tokenizer.json` of `PIECES` with more added tokens and other components."""
    data = tokenizer_of_pieces(PIECES, metaspace=metaspace) | parts
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": False}
    data["added_tokens"] += [{"id": len(PIECES) + at, **flags, **token} for at, token in enumerate(added or [])]
    return json.dumps(data)


def test_the_scheme_decides_whether_a_space_follows_a_special_token() -> None:
    # https://github.com/huggingface/transformers/issues/25814
    first, legacy = (Pair(pieces_file(metaspace=metaspace)) for metaspace in (True, False))

    assert first.ours.encode("a:<s>->", add_special_tokens=False).tokens == ["▁a", ":", "<s>", "-", ">"]
    assert legacy.ours.encode("a:<s>->", add_special_tokens=False).tokens == ["▁a", ":", "<s>", "▁", "-", ">"]
    for pair in (first, legacy):
        pair.assert_equal(["a:<s>->", "<s>a", " <s> a", "a<s>", "<s>", "<s><s>b"])


@pytest.mark.parametrize("special", [True, False])
def test_decoding_puts_no_spaces_around_added_tokens(special: bool, tmp_path: Path) -> None:
    # https://github.com/vllm-project/vllm/issues/33457
    added = [{"content": "<think>", "special": special}, {"content": "</think>", "special": special}]
    (tmp_path / "tokenizer.json").write_text(pieces_file(metaspace=True, added=added))
    ours, stock = (kind.from_pretrained(tmp_path) for kind in (HfBpeTokenizer, PreTrainedTokenizerFast))
    text = "<think>ab</think>b"

    ids = ours.encode(text, add_special_tokens=False)

    for spaces in ({}, {"spaces_between_special_tokens": True}, {"spaces_between_special_tokens": False}):
        assert ours.decode(ids, **spaces) == stock.decode(ids, **spaces) == text


def test_a_normalized_token_is_found_in_lower_case_text_and_a_raw_one_as_it_stands() -> None:
    # https://github.com/huggingface/tokenizers/issues/1027
    added = [{"content": "A:", "normalized": True}, {"content": "B:", "normalized": False}]
    pair = Pair(pieces_file(metaspace=True, added=added, normalizer={"type": "Lowercase"}))
    normalized, raw = len(PIECES), len(PIECES) + 1

    found = [id for id in pair.ours.encode_ids("A:a:B:b:") if id >= len(PIECES)]

    assert found == [normalized, normalized, raw]
    pair.assert_equal(["A:a:B:b:", "aA:", "b:B:", "A:B:a:b:" * 3])


def test_streamed_spaces_of_pieces_are_those_of_the_whole() -> None:
    # https://github.com/vllm-project/vllm/pull/984
    for metaspace in (True, False):
        tokenizer = Tokenizer.from_json(pieces_file(metaspace=metaspace))
        for text in ("a    b", "a  ", "a🙂 b", "\n\n a", "語 語", "b"):
            ids = tokenizer.encode_ids(text, add_special_tokens=False)
            stream = DecodeStream(tokenizer)
            parts = [stream.step(id) for id in ids]
            assert "".join([*parts, stream.flush()]) == tokenizer.decode(ids) == text


def test_a_run_of_bytes_that_is_no_text_is_held_back_and_replaced_as_a_whole() -> None:
    # https://github.com/Blaizzy/mlx-vlm/issues/1665
    pair = Pair(pieces_file(metaspace=True))
    ids = [pair.ours.token_to_id(token) for token in ("<0xF0>", "<0x9F>", "<0xFF>", "▁a", "<0xE8>", "<0xAA>", "<0x9E>")]
    stream = DecodeStream(pair.ours)

    parts = [stream.step(id) for id in ids]

    assert parts[:3] == ["", "", ""]
    assert "".join([*parts, stream.flush()]) == "\ufffd\ufffd\ufffd a語" == pair.stock.decode(ids)


def test_ids_without_a_token_are_nothing_and_ids_that_cannot_be_are_errors() -> None:
    # https://github.com/openai/tiktoken/issues/47
    pair = Pair(pieces_file(metaspace=True))
    unknown = [pair.ours.max_id + 5, 2**32 - 1]
    a = pair.ours.token_to_id("▁a")
    assert a is not None

    assert pair.ours.decode(unknown) == pair.stock.decode(unknown) == ""
    assert pair.ours.decode([a, *unknown, a]) == pair.stock.decode([a, *unknown, a]) == "a a"
    for wrong in (-1, 2**32, 2**70):
        with pytest.raises(ValueError, match=f"id {wrong} is out of range|id must be .* {wrong}|{wrong}"):
            pair.ours.decode([wrong])


def test_spaces_and_newlines_of_pieces_are_kept() -> None:
    # https://github.com/google/sentencepiece/issues/282
    text = "  a\n\nb  "
    first, legacy = (Pair(pieces_file(metaspace=metaspace)) for metaspace in (True, False))

    spaced = ["▁a", "<0x0A>", "<0x0A>", "b", "▁▁"]
    assert first.ours.encode(text, add_special_tokens=False).tokens == ["▁", *spaced]
    assert legacy.ours.encode(text, add_special_tokens=False).tokens == ["▁▁", *spaced]
    assert legacy.ours.decode(legacy.ours.encode_ids(text, add_special_tokens=False)) == text
    for pair in (first, legacy):
        pair.assert_equal([text, " ", "  ", "   a", "\n", "a \n b"])


def test_merges_go_by_score_and_join_a_piece_with_itself() -> None:
    # https://github.com/huggingface/tokenizers/pull/229
    pair = Pair(pieces_file(metaspace=True))

    assert merges_of_scores(PIECES)[:3] == [("▁", "a"), ("▁", "▁"), ("a", "a")]
    assert ("aa", "aa") in pair.ours.merges()
    assert pair.ours.encode("aaaaa", add_special_tokens=False).tokens == ["▁a", "aaaa"]
    pair.assert_equal(["a" * length for length in range(1, 40)])
    pair.assert_equal([" " * length + "a" for length in range(1, 40)])
