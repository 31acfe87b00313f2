"""`numbers`, `vocabulary`, `shared_tokens`, `prefix`, `field_order`: known answers on small vocabularies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from libraries import RANKS, in_every_library, small

from hf_bpe import HfBpeTokenizer, measure
from hf_bpe.vocabulary import Vocabulary

DIGITS = {bytes([byte]): byte for byte in range(256)}
THREES = r"\p{N}{1,3}|[^\p{N}]+"
FROM_THE_RIGHT = r"\p{N}{1,3}(?=(?:\p{N}{3})*(?:\P{N}|$))|[^\p{N}]+"


def with_all_triples(pattern: str) -> Vocabulary:
    """Return a vocabulary that has every number of two and three digits."""
    tokens = [f"{number:02}" for number in range(100)] + [f"{number:03}" for number in range(1_000)]
    ranks = DIGITS | {token.encode(): 256 + index for index, token in enumerate(tokens)}
    return Vocabulary.from_ranks(ranks, split_pattern=pattern, added_tokens={})


@pytest.mark.parametrize(
    ("pattern", "way", "grouping", "place_value"),
    [(THREES, (3, 1), "left", 0.0), (FROM_THE_RIGHT, (1, 3), "right", 1.0)],
)
def test_groups_are_told_from_left_and_right(
    pattern: str, way: tuple[int, ...], grouping: str, place_value: float
) -> None:
    found = measure.numbers(with_all_triples(pattern), sample=200)

    assert [length.digits for length in found.lengths] == list(range(1, 10))
    assert found[4].ways == {way: 200}
    assert (found[4].grouping, found[4].at_place_value) == (grouping, place_value)
    assert found[3].grouping == "whole"
    assert found[9].pieces == 3


def test_single_digits_and_mixtures_are_told_apart() -> None:
    digits = Vocabulary.from_ranks(DIGITS, split_pattern="gpt2", added_tokens={})
    mixed = Vocabulary.from_ranks(DIGITS | {b"12": 256}, split_pattern="gpt2", added_tokens={})

    assert measure.numbers(digits)[5].grouping == "digits"
    assert measure.numbers(mixed, [1234, 3412, 5555])[4].ways == {(2, 1, 1): 1, (1, 1, 2): 1, (1, 1, 1, 1): 1}
    assert measure.numbers(mixed, [1234])[4].grouping == "mixed"


def test_surroundings_that_change_a_split_are_counted() -> None:
    ranks = DIGITS | {b"12": 256, b" 1": 257, b"-1": 258}
    made = Vocabulary.from_ranks(ranks, split_pattern=r"[^a]+", added_tokens={})

    found = measure.numbers(made, ["12", "21"])[2]

    assert found.same == {"leading space": 2, "minus": 2, "plus": 2, "behind a comma": 2, "behind a point": 2}
    early = Vocabulary.from_ranks(DIGITS | {b" 1": 256, b"12": 257}, split_pattern=r"[^a]+", added_tokens={})
    assert measure.numbers(early, ["12", "21"])[2].same["leading space"] == 1


def test_numbers_agree_between_libraries() -> None:
    found = {name: measure.numbers(made, sample=50, name="same").as_json() for name, made in in_every_library().items()}

    assert all(numbers == found["tiktoken"] for numbers in found.values())


@pytest.mark.parametrize("number", ["", "-1", "1.5", "١٢", "²"])
def test_what_is_no_number_is_refused(number: str) -> None:
    with pytest.raises(ValueError, match="is no number in the digits 0 to 9"):
        measure.numbers(small(), [number])


def test_odd_arguments_of_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="sample=0: at least 1 number"):
        measure.numbers(small(), sample=0)
    with pytest.raises(ValueError, match="size=0: a group has at least 1 digit"):
        measure.grouped("1", 0)
    assert measure.numbers(small(), []).pieces is None
    assert measure.grouped("") == []
    assert measure.grouped("1234567", start="left") == ["123", "456", "7"]


def test_a_length_that_was_not_tried_is_named_with_those_that_were() -> None:
    with pytest.raises(KeyError, match="no number of 10 digits was tried; the lengths are 1, 4"):
        measure.numbers(small(), ["7", "1234"])[10]


def test_a_vocabulary_without_digits_is_told() -> None:
    model = {"type": "BPE", "vocab": {"a": 0}, "merges": []}
    tokenizers = pytest.importorskip("tokenizers")
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=model["vocab"], merges=[]))

    found = measure.numbers(made, ["12"])

    assert found[2].pieces == 0
    assert "no digit is known" in str(found)


def test_a_vocabulary_is_counted_by_script_and_length() -> None:
    found = measure.vocabulary(small())

    assert found.by_script == {"no letters": 76, "part of a character": 129, "Latin": 59}
    assert found.by_length == {1: 256, 2: 4, 3: 3, 4: 1}
    assert found.longest[0] == RANKS[b" the"]
    assert [RANKS[token] for token in (b"the", b" the", b"The")] in found.near_duplicates


def test_rare_lengths_are_shown_together() -> None:
    ranks = dict(DIGITS)
    for length in range(2, 34):
        ranks[b"-" * length] = len(ranks)
    found = measure.vocabulary(Vocabulary.from_ranks(ranks, split_pattern="gpt2", added_tokens={}))

    rows = {row["bytes"]: row["tokens"] for row in found.tables()[1].as_json()}

    assert list(rows) == [*map(str, range(1, 17)), "17-32", "33-64"]
    assert (rows["17-32"], rows["33-64"], sum(rows.values())) == (16, 1, len(ranks))


def test_a_vocabulary_is_the_same_in_every_library() -> None:
    found = {
        name: measure.vocabulary(made, "the cat", name="same").as_json() for name, made in in_every_library().items()
    }

    assert all(vocabulary == found["tiktoken"] for vocabulary in found.values())


def test_tokens_that_a_corpus_or_any_text_leaves_are_listed() -> None:
    dead = RANKS | {b"x y": 264}
    made = Vocabulary.from_ranks(dead, split_pattern="gpt2", added_tokens={})

    found = measure.vocabulary(made, ["the cat"] * 5 + ["The"], rare=2)

    assert found.use is not None
    assert found.use.tokens == 3 * 5 + 1
    assert RANKS[b"The"] in found.use.rare
    assert set(found.use.unused).isdisjoint({RANKS[b"the"], RANKS[b" "], RANKS[b"cat"], RANKS[b"The"]})
    assert len(found.use.unused) + 4 == len(dead)
    assert 264 in found.unreachable
    assert RANKS[b"the"] not in found.unreachable
    assert 264 in found.under_trained


def test_what_two_vocabularies_share_is_counted_by_bytes() -> None:
    other = Vocabulary.from_ranks(DIGITS | {b"the": 256, b"th": 257}, split_pattern="gpt2", added_tokens={})

    found = measure.shared_tokens(small(), other, first_name="one", second_name="two")

    assert (found.shared, found.same_id, found.only_first, found.only_second) == (258, 256, 6, 0)
    assert found.share == 258 / 264
    assert "only one" in str(found)


def test_scripts_and_lengths_that_one_vocabulary_lacks_are_compared() -> None:
    plain = Vocabulary.from_ranks(DIGITS | {b"aaaa": 256}, split_pattern="gpt2", added_tokens={})
    han = Vocabulary.from_ranks(
        DIGITS | {b"aa": 256, "你".encode(): 257, b"a" * 20: 258}, split_pattern="gpt2", added_tokens={}
    )

    scripts, lengths, *_ = measure.vocabulary(plain).compared_with(measure.vocabulary(han)).tables()

    counts = [row for row in scripts.as_json() if row["figure"] == "tokens"]
    assert {"script": "Han", "figure": "tokens", "first": 0, "second": 1, "change": None} in counts
    by_length = {row["bytes"]: (row["first"], row["second"]) for row in lengths.as_json() if row["figure"] == "tokens"}
    assert list(by_length.items()) == [
        ("1", (256, 256)),
        ("2", (0, 1)),
        ("3", (0, 1)),
        ("4", (1, 0)),
        ("17-32", (0, 1)),
    ]


def test_two_vocabularies_of_one_name_have_a_row_each() -> None:
    other = Vocabulary.from_ranks(DIGITS | {b"the": 256, b"th": 257}, split_pattern="gpt2", added_tokens={})

    found = measure.shared_tokens(small(), other, first_name="it", second_name="it")

    assert found.tables()[0].rows[2:] == [("only the first", 6), ("only the second", 0)]


def test_ordering_fields_by_stability_gains_what_a_session_id_lost() -> None:
    tokenizer = HfBpeTokenizer.from_vocabulary(small())
    rules = "the cat, the cat and the cat. " * 40
    requests = [{"session": f"{number:08}", "rules": rules, "question": "the?"} for number in range(4)]

    found = measure.field_order(requests, tokenizer=tokenizer, block_size=16)

    assert found.stable == ["rules", "question", "session"]
    assert found.before.share < 0.1
    assert found.after.share > 0.7
    assert found.gain == found.after.share - found.before.share
    assert "stable first" in str(found)


def test_a_log_of_nothing_reuses_nothing() -> None:
    assert measure.prefix([]).share == 0
    assert measure.field_order([]).gain == 0
    assert "Prefix cache" in str(measure.prefix([]))
    with pytest.raises(ValueError, match=r"request 1 has the fields \['b'\], and the first one has \['a'\]"):
        measure.field_order([{"a": ""}, {"b": ""}])


def test_a_prefix_report_names_what_breaks(tmp_path: Path) -> None:
    texts = [f"session {number:08}. " + "the cat " * 50 for number in (12345678, 87654321)]

    found: Any = measure.prefix(texts, block_size=1).as_json()

    assert found["tables"]["Broken prefixes"][0]["what breaks prefixes"].startswith("session-id")
