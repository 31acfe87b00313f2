"""Chunks fit by their own encoding, rebuild the text, and cut nothing that fits by itself."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import regex
from chunking.random_texts import TEXTS, WORDS
from hostile import HOSTILE
from uniseg import graphemecluster, sentencebreak, wordbreak

from hf_bpe import HfBpeTokenizer, train
from hf_bpe.chunking import Chunk, borders, split_by_tokens
from hf_bpe.chunking.sentences import sentence_ends

BUDGET = 24
CORPUS = [" ".join(words) for words in WORDS.values()] * 5


@pytest.fixture(scope="module")
def tokenizers(small_tokenizer_json: Path) -> dict[str, HfBpeTokenizer]:
    """One that adds BOS and EOS to bytes, one of pieces with a space put before, one that changes the text."""
    metaspace: dict[str, Any] = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    characters = {"alphabet": "characters", "byte_fallback": True, "pre_tokenizer": metaspace, "decoder": metaspace}
    steps = [{"type": "NFKC"}, {"type": "Lowercase"}, {"type": "Strip", "strip_left": True, "strip_right": True}]
    normalizer = {"type": "Sequence", "normalizers": steps}
    return {
        "byte-level": HfBpeTokenizer(tokenizer_file=str(small_tokenizer_json)),
        "metaspace": train(CORPUS, vocab_size=420, progress=False, **characters),
        "normalizing": train(CORPUS, vocab_size=420, normalizer=normalizer, progress=False),
    }


@pytest.fixture(scope="module", params=["byte-level", "metaspace", "normalizing"])
def tokenizer(request: pytest.FixtureRequest, tokenizers: dict[str, HfBpeTokenizer]) -> HfBpeTokenizer:
    return tokenizers[request.param]


def chunks_of(text: str, tokenizer: HfBpeTokenizer, boundary: Any) -> list[Chunk]:
    """Return the chunks of a random text, made once for all tests."""
    key = (text, id(tokenizer), boundary)
    if key not in MADE:
        MADE[key] = list(split_by_tokens(text, tokenizer, BUDGET, boundary=boundary))
    return MADE[key]


MADE: dict[tuple[str, int, str], list[Chunk]] = {}


def spans(ends: list[int]) -> list[tuple[int, int]]:
    return list(pairwise([0, *ends]))


def around(ends: list[int], place: int) -> tuple[int, int]:
    """Return the span between two borders that `place` lies inside."""
    after = bisect_right(ends, place)
    return (ends[after - 1] if after else 0), ends[after]


def line_ends(text: str) -> list[int]:
    ends = [0]
    for line in text.splitlines(keepends=True):
        ends.append(ends[-1] + len(line))
    return ends[1:]


UNCLASSED = regex.compile(r"\p{SB=Other}")
"""What uniseg 0.10 doesn't look beyond for a small letter, as rule SB8 does: it is wrong on `"e.g. 🙂 so"`."""


def reference_sentence_ends(text: str) -> list[int]:
    return list(sentencebreak.sentence_boundaries(text))[1:]


REFERENCE: dict[str, Callable[[str], list[int]]] = {
    "line": line_ends,
    "sentence": cache(lambda text: sentence_ends(text) if UNCLASSED.search(text) else reference_sentence_ends(text)),
    "word": cache(lambda text: list(wordbreak.word_boundaries(text))[1:]),
    "character": cache(lambda text: list(graphemecluster.grapheme_cluster_boundaries(text))[1:]),
}


@pytest.mark.parametrize("boundary", ["sentence", "word", "line"])
def test_chunks_of_random_texts_fit_and_rebuild_the_text(tokenizer: HfBpeTokenizer, boundary: Any) -> None:
    for text in TEXTS:
        chunks = chunks_of(text, tokenizer, boundary)

        assert "".join(chunk.text for chunk in chunks) == text
        assert [(chunk.start, chunk.end) for chunk in chunks] == spans([chunk.end for chunk in chunks])
        for chunk in chunks:
            assert chunk.text == text[chunk.start : chunk.end]
            assert chunk.ids == tokenizer.encode(chunk.text)
            assert chunk.end - chunk.start > 0
            assert len(chunk.ids) <= BUDGET


@pytest.mark.parametrize("boundary", ["sentence", "word", "line"])
def test_nothing_is_cut_that_fits_by_itself(tokenizer: HfBpeTokenizer, boundary: Any) -> None:
    cut = dict.fromkeys(REFERENCE, 0)
    for text in TEXTS:
        ends = {kind: find(text) for kind, find in REFERENCE.items() if text}
        for chunk in chunks_of(text, tokenizer, boundary)[:-1]:
            for kind in dict.fromkeys((boundary, "word", "character")):
                if chunk.end not in ends[kind]:
                    start, end = around(ends[kind], chunk.end)
                    assert len(tokenizer.encode(text[start:end])) > BUDGET, (kind, text[start:end])
                    cut[kind] += 1
    assert cut[boundary]
    assert cut["word"]


def test_chunks_are_as_long_as_they_can_be(tokenizer: HfBpeTokenizer) -> None:
    met = 0
    for text in TEXTS:
        ends = sentence_ends(text)
        for chunk in chunks_of(text, tokenizer, "sentence"):
            if chunk.end in ends[:-1]:
                following = ends[ends.index(chunk.end) + 1]
                assert len(tokenizer.encode(text[chunk.start : following])) > BUDGET
                met += 1
    assert met > 500


@pytest.mark.parametrize("boundary", ["sentence", "word", "line"])
def test_chunks_overlap_by_at_most_so_many_tokens(tokenizer: HfBpeTokenizer, boundary: Any) -> None:
    shared = 0
    for text in TEXTS:
        chunks = list(split_by_tokens(text, tokenizer, BUDGET, overlap=8, boundary=boundary))
        words = set(borders.word_ends(text)) | set(REFERENCE[boundary](text) if text else ())
        assert "".join(two.text[max(0, one.end - two.start) :] for one, two in pairs(chunks)) == text
        for one, two in pairwise(chunks):
            assert one.start < two.start <= one.end < two.end
            assert len(tokenizer.encode(text[two.start : one.end], add_special_tokens=False)) <= 8
            assert two.start == one.end or two.start in words
            assert two.ids == tokenizer.encode(two.text)
            assert len(two.ids) <= BUDGET
            shared += one.end - two.start
    assert shared > 1_000


def pairs(chunks: list[Chunk]) -> list[tuple[Chunk, Chunk]]:
    return list(pairwise([Chunk("", 0, 0, []), *chunks]))


def test_a_sentence_goes_on_where_a_small_letter_follows() -> None:
    text = 'Mr. Smith (e.g. 🙂 so) paid 3.50. "Really?" he asked... U.S.A. Yes!\r\nNo'

    assert [text[start:end] for start, end in spans(sentence_ends(text))] == [
        *("Mr. ", "Smith (e.g. 🙂 so) paid 3.50. ", '"Really?" ', "he asked... ", "U.S.A. ", "Yes!\r\n", "No")
    ]


@pytest.mark.parametrize("kind", ["sentence", "word", "character"])
def test_borders_are_those_of_unicode_annex_29(kind: str) -> None:
    ours = {"sentence": sentence_ends, "word": borders.piece_ends, "character": borders.character_ends}[kind]
    texts = [text for text in TEXTS if text and not (kind == "sentence" and UNCLASSED.search(text))]

    assert len(texts) > 300
    for text in texts:
        assert ours(text) == REFERENCE[kind](text), text


def test_a_word_takes_closing_marks_and_white_space_along() -> None:
    text = 'He said: "Wait (please)!" And 3.5 人们'

    assert [text[start:end] for start, end in spans(borders.word_ends(text))] == [
        *("He ", "said: ", '"Wait ', '(please)!" ', "And ", "3.5 ", "人", "们")
    ]


def test_a_short_text_is_one_chunk_and_an_empty_one_none(tokenizer: HfBpeTokenizer) -> None:
    assert [chunk.text for chunk in split_by_tokens("Hi. You.", tokenizer, BUDGET)] == ["Hi. You."]
    assert list(split_by_tokens("", tokenizer, BUDGET)) == []


def test_special_tokens_that_are_added_count_unless_left_out(tokenizers: dict[str, HfBpeTokenizer]) -> None:
    tokenizer = tokenizers["byte-level"]

    with_them = next(split_by_tokens("zq " * 50, tokenizer, 10))
    without = next(split_by_tokens("zq " * 50, tokenizer, 10, add_special_tokens=False))

    assert with_them.ids[0] == tokenizer.bos_token_id or with_them.ids[0] == tokenizer.convert_tokens_to_ids("<s>")
    assert without.ids == tokenizer.encode(without.text, add_special_tokens=False)
    assert len(without.text) > len(with_them.text)


def test_an_added_token_is_never_cut(tokenizers: dict[str, HfBpeTokenizer]) -> None:
    tokenizer = tokenizers["byte-level"]
    special = tokenizer.convert_tokens_to_ids("</s>")

    chunks = list(split_by_tokens("x</s>" * 40, tokenizer, 5, boundary="word"))

    assert all(set(chunk.text.split("</s>")) <= {"", "x"} for chunk in chunks)
    assert sum(chunk.ids[1:-1].count(special) for chunk in chunks) == 40


def test_a_character_that_is_longer_than_the_budget_is_named(tokenizers: dict[str, HfBpeTokenizer]) -> None:
    chunks = split_by_tokens("ab 🙂", tokenizers["byte-level"], 5)

    assert next(chunks).text == "ab "
    with pytest.raises(ValueError, match=r"character 3, '🙂', takes 6 tokens by itself, and max_tokens is 5"):
        next(chunks)


def test_a_long_word_is_cut_between_characters_as_readers_see_them(tokenizers: dict[str, HfBpeTokenizer]) -> None:
    text = "👩\u200d👧" * 30

    chunks = list(split_by_tokens(text, tokenizers["byte-level"], 60))

    assert len(chunks) > 5
    assert all(set(chunk.text.split("👩\u200d👧")) == {""} for chunk in chunks)


@pytest.mark.parametrize("unit", ["a", " ", "\n", "語", "🇩", "a\u0301", "<s>", "a. ", "\u0301"], ids=ascii)
def test_long_runs_are_cut_in_linear_time(unit: str, tokenizers: dict[str, HfBpeTokenizer]) -> None:
    text = unit * 20_000

    chunks = list(split_by_tokens(text, tokenizers["byte-level"], 50))

    assert "".join(chunk.text for chunk in chunks) == text
    assert all(len(chunk.ids) <= 50 for chunk in chunks)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_tokens": 2}, r"max_tokens=2 leaves no room for a token beside the 2 special tokens"),
        ({"overlap": 22}, r"overlap is from 0 to 21 here, got 22"),
        ({"overlap": True}, r"overlap is from 0 to 21 here, got True"),
        ({"overlap": -1}, r"overlap is from 0 to 21 here, got -1"),
        ({"boundary": "page"}, r"boundary is 'sentence', 'word' or 'line', got 'page'"),
    ],
)
def test_options_out_of_range_are_refused_at_once(
    options: Any, message: str, tokenizers: dict[str, HfBpeTokenizer]
) -> None:
    with pytest.raises(ValueError, match=message):
        split_by_tokens("text", tokenizers["byte-level"], **({"max_tokens": BUDGET} | options))


def test_arguments_of_other_types_are_refused(tokenizer: HfBpeTokenizer) -> None:
    with pytest.raises(TypeError, match=r"split_by_tokens\(\) takes a str, got bytes"):
        split_by_tokens(b"text", tokenizer, BUDGET)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"split_by_tokens\(\) takes an HfBpeTokenizer, got NoneType"):
        split_by_tokens("text", None, BUDGET)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"split_by_tokens\(\): max_tokens is an int, got 3.5"):
        split_by_tokens("text", tokenizer, 3.5)  # type: ignore[arg-type]


def test_a_tokenizer_with_dropout_is_refused(small_tokenizer_json: Path, tmp_path: Path) -> None:
    content = json.loads(small_tokenizer_json.read_text(encoding="utf-8"))
    content["model"] |= {"dropout": 0.5, "ignore_merges": False}
    (tmp_path / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8")
    tokenizer = HfBpeTokenizer(tokenizer_file=str(tmp_path / "tokenizer.json"))

    with pytest.raises(ValueError, match=r"dropout of 0.5, so that no text has one length"):
        split_by_tokens("text", tokenizer, BUDGET)


SURROGATES = "a\ud800b\udc00 \ud83d\ude42 c" * 20


@pytest.mark.parametrize("text", [*HOSTILE.values(), SURROGATES], ids=[*HOSTILE, "surrogates"])
def test_hostile_texts_are_cut_and_rebuilt(text: str, tokenizer: HfBpeTokenizer) -> None:
    chunks = list(split_by_tokens(text, tokenizer, 40, boundary="word"))
    shared = list(split_by_tokens(text, tokenizer, 40, overlap=10))

    assert "".join(chunk.text for chunk in chunks) == text
    assert "".join(two.text[max(0, one.end - two.start) :] for one, two in pairs(shared)) == text
    for chunk in chunks + shared:
        assert chunk.ids == tokenizer.encode(chunk.text)
        assert len(chunk.ids) <= 40


@pytest.mark.parametrize("boundary", ["sentence", "word", "line"])
def test_two_surrogates_that_make_a_character_stay_together(
    boundary: Any, tokenizers: dict[str, HfBpeTokenizer]
) -> None:
    chunks = list(split_by_tokens("\ud83d\ude42" * 30, tokenizers["byte-level"], 11, boundary=boundary))

    assert {chunk.text for chunk in chunks} == {"\ud83d\ude42" * 2}
    with pytest.raises(ValueError, match=r"character 0, '\\ud83d\\ude42', takes 6 tokens by itself"):
        next(split_by_tokens("\ud83d\ude42", tokenizers["byte-level"], 5, boundary=boundary))
