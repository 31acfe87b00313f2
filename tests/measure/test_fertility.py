"""`fertility` and `parity`: what is counted, by what, for which libraries, and what happens where there is nothing."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pytest
import sentencepiece
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from libraries import RANKS, in_every_library, small
from transformers import PreTrainedTokenizerFast
from vocabularies import installed

from hf_bpe import CorpusError, HfBpeTokenizer, measure
from hf_bpe.characters import script_of, scripts_of
from hf_bpe.measure.kinds import kinds_of
from hf_bpe.measure.texts import batches

TEXTS = [
    "the cat the",
    "",
    "你好 the cat",
    "{}",
    "Ωμέγα",
    "x = f(y)[0];",
    "1234 5678",
    " \n",
    "a",
    "<|end|>",
    "\ufeff\0\u2028",
]


def test_every_library_gives_the_same_figures() -> None:
    found = {name: measure.fertility(tokenizer, TEXTS, name="same") for name, tokenizer in in_every_library().items()}

    first = found["vocabulary"].as_json()
    assert found["vocabulary"].total.tokens > 0
    assert {name: result.as_json() == first for name, result in found.items()} == dict.fromkeys(found, True)


def test_several_tokenizers_are_measured_by_one_reading() -> None:
    made = list(in_every_library().values())

    found = measure.fertilities(made, {"stream": iter(TEXTS)}, words=str.split)

    alone = [measure.fertility(each, {"stream": TEXTS}, words=str.split).as_json() for each in made]
    assert [each.as_json() for each in found] == alone
    assert measure.fertilities([], TEXTS) == []


def test_counts_are_those_of_a_plain_loop() -> None:
    core = small().core
    plain = {"add_special_tokens": False, "split_special_tokens": True}

    total = measure.fertility(small(), TEXTS).total

    rows = [core.encode_ids(text, **plain) for text in TEXTS]
    words = [word for text in TEXTS for word in measure.words_of(text)]
    single = [word for word in words if 1 in [len(core.encode_ids(form, **plain)) for form in (word, f" {word}")]]
    assert (total.texts, total.tokens) == (len(TEXTS), sum(map(len, rows)))
    assert (total.bytes, total.characters) == (len("".join(TEXTS).encode()), len("".join(TEXTS)))
    assert (total.words, total.single_token_words) == (len(words), len(single))
    parts = [id for row in rows for id in row if id >= 128 and id not in (256, 257, 258, 259, 260, 261, 263)]
    assert total.fallback_tokens == len(parts) > 0
    assert {id: count for id, count in enumerate(total.uses.tolist()) if count} == Counter(
        id for row in rows for id in row
    )


def test_renyi_efficiency_is_one_for_ids_used_evenly() -> None:
    even = "".join(map(chr, range(128)))

    total = measure.fertility(small(), even).total

    assert total.tokens == 128
    assert total.renyi_efficiency(128) == pytest.approx(1)
    assert total.renyi_efficiency(256) == pytest.approx(math.log(128) / math.log(256))
    assert total.renyi_efficiency(1) is None
    assert measure.fertility(small(), "aaaa").total.renyi_efficiency(256) == 0


def test_groups_are_shown_beside_the_average() -> None:
    found = measure.fertility(small(), {"english": ["the cat\n"] * 3, "chinese": ["你好\n"]})

    assert {name: count.tokens for name, count in found.by_source.items()} == {"english": 12, "chinese": 6}
    assert {name: count.texts for name, count in found.by_script.items()} == {"Han": 1, "Latin": 3}
    assert found.by_source["english"].bytes_per_token == 2
    assert found.by_source["chinese"].bytes_per_token == pytest.approx(7 / 6)
    assert sum(count.tokens for count in found.by_script.values()) == found.total.tokens


def test_the_caller_may_give_scripts_kinds_and_words() -> None:
    found = measure.fertility(
        small(), TEXTS, script_of=lambda text: "mine", kind_of=lambda text: text[:1], words=lambda text: list(text)
    )

    assert list(found.by_script) == ["mine"]
    assert set(found.by_kind) == {text[:1] for text in TEXTS}
    assert found.total.words == found.total.characters


def test_letters_of_scripts_without_spaces_are_words() -> None:
    assert measure.words_of("大模型 is ภาษา，good") == ["大", "模", "型", "is", "ภ", "า", "ษ", "า", "，good"]
    assert measure.words_of(" the  cat\n") == ["the", "cat"]
    assert measure.words_of("a\x1cb\x85c\xa0é\u3000") == ["a", "b", "c", "é"]
    assert measure.words_of("か\u3099き") == ["か\u3099", "き"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('{"a": [1, 2]}\n', "JSON"),
        ("[1, 2]", "JSON"),
        ("{not json}", "code"),
        ("2024-01-02 03:04:05", "numbers"),
        ("for (i = 0; i < n; i++) {", "code"),
        ("The cat sat on the mat.", "prose"),
        ("人人生而自由", "prose"),
        ("\t \n", "blank"),
        ("", "blank"),
        ("[" * 100_000 + "]" * 100_000, "code"),
    ],
    ids=range(10),
)
def test_the_kind_of_a_text_follows_its_rule(text: str, kind: str) -> None:
    assert measure.kind_of(text) == kind


@given(st.lists(st.text(max_size=20), max_size=6))
def test_scripts_and_kinds_of_many_are_those_of_one(texts: list[str]) -> None:
    assert scripts_of(texts) == [script_of(text) for text in texts]
    assert kinds_of(texts) == [measure.kind_of(text) for text in texts]


@given(st.lists(st.text(max_size=30), max_size=5))
def test_any_texts_give_finite_figures_that_add_up(texts: list[str]) -> None:
    found = measure.fertility(small(), texts)

    json.loads(json.dumps(found.as_json(), allow_nan=False))
    for counts in (found.by_source, found.by_script, found.by_kind):
        for name in ("texts", "words", "characters", "bytes", "tokens", "single_token_words", "fallback_tokens"):
            assert sum(getattr(count, name) for count in counts.values()) == getattr(found.total, name)
    assert found.total.uses.sum() == found.total.tokens
    efficiency = found.total.renyi_efficiency(found.vocab_size)
    assert efficiency is None or 0 <= efficiency <= 1


def test_datasets_and_tokenizers_of_transformers_are_taken() -> None:
    rows = datasets.Dataset.from_dict({"text": ["the cat", None, "你好"], "label": [1, 2, 3]})
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizers.Tokenizer.from_str(small().core.to_json()))

    found = [
        measure.fertility(small(), ["the cat", "你好"], name="same"),
        measure.fertility(fast, rows, name="same"),
        measure.fertility(HfBpeTokenizer.from_vocabulary(small()), rows.to_iterable_dataset(), name="same"),
    ]

    assert found[0].as_json() == found[1].as_json() == found[2].as_json()
    assert found[0].total.texts == 2


def test_what_is_no_tokenizer_is_refused() -> None:
    with pytest.raises(TypeError, match=r"hf_bpe knows tokenizers of hf_bpe, .*, got <class 'int'>"):
        measure.fertility(3, "a")


@pytest.mark.parametrize("texts", [[], "", [""], {"empty": []}, {"empty": [""]}, [None], ["\n"], "a", "\ud800", "語"])
def test_nothing_and_little_give_figures_or_none(texts: Any, tmp_path: Path) -> None:
    found = measure.fertility(small(), texts)
    found.save(tmp_path / "found.json")

    json.loads((tmp_path / "found.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)
    assert "nan" not in str(found).lower()
    if not found.total.tokens:
        assert found.total.bytes_per_token is found.total.renyi_efficiency(100) is None


def test_a_script_that_a_vocabulary_lacks_falls_back_to_bytes() -> None:
    found = measure.fertility(small(), "ภาษา")

    assert found.by_script["Thai"].fallback_share == 1
    assert found.by_script["Thai"].single_token_share == 0


def test_byte_pieces_of_sentencepiece_are_fallback_tokens() -> None:
    path = installed("mistral_common", "data", "tokenizer.model.v1")
    if path is None:
        pytest.skip("mistral-common isn't installed")
    text = "The quick fox. Ωμέγα ꙮ 🦊"
    model = sentencepiece.SentencePieceProcessor(model_file=str(path))
    expected = sum(model.is_byte(id) for id in model.encode(text))

    theirs, ours = measure.fertility(model, text), measure.fertility(path, text)

    assert theirs.total.fallback_tokens == ours.total.fallback_tokens == expected > 0
    assert theirs.total.tokens == ours.total.tokens


def test_a_binary_file_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "image.png").write_bytes(b"fine\n\x89PNG\r\n\xff\xfe")

    with pytest.raises(CorpusError, match=r"image\.png, line 2: isn't UTF-8 .* \(every row is needed here: mend this"):
        measure.fertility(small(), tmp_path / "image.png")


def test_files_rows_and_streams_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("the cat\nthe\n", encoding="utf-8")
    (tmp_path / "b.jsonl").write_text('{"text": "the"}\n{"text": null}\n', encoding="utf-8")

    read = list(batches([tmp_path / "a.txt", tmp_path / "b.jsonl"]))
    rows = list(batches(({"body": text} for text in ("one", None)), text_column="body"))

    assert read == [("a.txt", ["the cat\n", "the\n"]), ("b.jsonl", ["the"])]
    assert rows == [("texts", ["one"])]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (3, "texts are a str, .* got int"),
        (b"bytes", "got bytes"),
        (["a", 3], "text 1 is a int"),
        ([{"body": "a"}], "row 0 has no 'text'; it has 'body'"),
    ],
)
def test_what_is_no_text_is_refused(texts: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        measure.fertility(small(), texts)


def test_a_result_is_compared_with_another_tokenizers() -> None:
    first = measure.fertility(small(), ["the cat"], name="first")
    second = measure.fertility(bytes_only(), ["the cat"], name="second")

    table = first.compared_with(second).tables()[0].as_json()

    tokens = next(row for row in table if row["figure"] == "tokens" and row["source"] == "all")
    assert (tokens["first"], tokens["second"], tokens["change"]) == (3, 7, 7 / 3 - 1)
    assert first.compared_with(second).title == "Tokens of texts, first against second"
    with pytest.raises(TypeError, match="a Fertility is compared with its like, got a Parity"):
        first.compared_with(measure.parity(small()))


def test_a_row_that_one_tokenizer_has_alone_is_compared_with_nothing() -> None:
    first = measure.fertility(small(), {"en": ["the cat"], "new": [""], "zh": ["你好"]}, name="first")
    second = measure.fertility(bytes_only(), {"ja": ["かな"], "zh": ["你好"]}, name="second")

    rows = first.compared_with(second).tables()[0].as_json()

    shown = {(row["source"], row["figure"]): (row["first"], row["second"], row["change"]) for row in rows}
    assert list(dict.fromkeys(row["source"] for row in rows)) == ["en", "new", "ja", "zh", "all"]
    assert shown["en", "tokens"] == (3, 0, -1)
    assert shown["ja", "tokens"] == (0, 6, None)
    assert shown["en", "bytes per token"] == (7 / 3, None, None)
    assert shown["ja", "bytes per token"] == (None, 1, None)


def test_a_source_named_all_is_beside_the_total() -> None:
    texts = {"all": ["the cat"], "more": ["the"], "'all'": ["a"]}

    found, bill = measure.fertility(small(), texts), measure.bill(small(), texts, price_per_million=1)

    assert [row[:2] for row in found.tables()[0].rows] == [["'all'", 1], ["more", 1], ["''all''", 1], ["all", 3]]
    assert bill.error_of(bill) == {"'all'": 0, "more": 0, "''all''": 0, "all": 0}
    assert [row[0] for row in bill.tables()[0].rows] == ["'all'", "more", "''all''", "all"]


def test_files_of_one_name_are_told_apart_by_their_path(tmp_path: Path) -> None:
    paths = [tmp_path / folder / "a.txt" for folder in ("one", "two")] + [tmp_path / "b.txt"]
    for path in paths:
        path.parent.mkdir(exist_ok=True)
        path.write_text("the cat\n", encoding="utf-8")

    found = measure.fertility(small(), paths)

    assert list(found.by_source) == [str(paths[0]), str(paths[1]), "b.txt"]


def bytes_only() -> Any:
    """Return a vocabulary without a merge."""
    ranks = {token: id for token, id in RANKS.items() if len(token) == 1}
    return type(small()).from_ranks(ranks, split_pattern="gpt2", added_tokens={})


def test_markup_and_controls_are_shown_not_obeyed() -> None:
    found = measure.fertility(small(), {"[red]bold[/red]\x1b[31m": ["a"]}, name="[link=x]t[/link]")

    assert "[red]bold[/red]\\x1b[31m" in str(found)
    assert "[link=x]t[/link]" in str(found)
    assert "\x1b" not in str(found)


def test_numbers_and_words_of_headings_are_never_cut() -> None:
    found = measure.fertility(small(), {"a": "the cat\n" * 400_000, "a source with quite a long name": "the"})

    lines = str(found).splitlines()

    assert max(map(len, lines)) <= 120
    assert any("3,200,000" in line and "1,600,000" in line for line in lines)
    assert any("efficiency" in line for line in lines)


def test_parity_compares_languages_with_one() -> None:
    found = measure.parity(small(), {"English": ["the cat"], "Chinese": ["你好"]})

    assert found.tokens == {"English": 3, "Chinese": 5}
    assert found.premium("Chinese") == 5 / 3
    assert measure.parity(small(), {"English": [], "Chinese": []}).premium("Chinese") is None
    assert measure.parity(small()).tokens["Thai"] > measure.parity(small()).tokens["English"]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"Thai": ["a"]}, "reference='English' is none of the languages given: 'Thai'"),
        ({"English": ["a"], "Thai": []}, "'Thai' has 0 texts, and 'English' 1: parallel texts come in equal numbers"),
        ({"English": "a"}, "'English' has a str"),
    ],
)
def test_texts_that_are_not_parallel_are_refused(texts: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        measure.parity(small(), texts)


def test_parallel_texts_without_languages_are_refused() -> None:
    with pytest.raises(TypeError, match="texts is a dict of texts by language, got list"):
        measure.parity(small(), [])  # type: ignore[arg-type]


def test_ids_of_an_added_token_are_no_fallback() -> None:
    made = measure.measured(small())

    assert made.fallback(np.array([65, 200, 300, 4_000_000], np.uint32)).tolist() == [False, True, False, False]
