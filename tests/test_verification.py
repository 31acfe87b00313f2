"""`compare`: that it finds differences between libraries, shows the shortest text, and agrees where there are none."""

from __future__ import annotations

import json
import random
import time
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from conftest import real_vocabulary_file

import hf_bpe
from hf_bpe.characters import script_of
from hf_bpe.formats import tiktoken_encoding
from hf_bpe.verification import Agreement, Difference, compare, texts
from hf_bpe.verification.changes import SAMPLES, changes_between
from hf_bpe.verification.merge_orders import moved, rows
from hf_bpe.verification.shrinking import shrink
from hf_bpe.verification.sides import library
from hf_bpe.vocabulary import Vocabulary

RANKS = {bytes([byte]): byte for byte in range(256)} | {b"th": 256, b"the": 257, b" the": 258, b"ab": 259, b"bc": 260}


def vocabulary(**changes: Any) -> Vocabulary:
    """Return a small vocabulary."""
    settings: dict[str, Any] = {"split_pattern": "gpt2", "added_tokens": {"<|end|>": 261, "<|pad|>": 262}}
    return Vocabulary.from_ranks(RANKS, **settings | changes)


def stock_of(made: Vocabulary) -> tokenizers.Tokenizer:
    """Return the same tokenizer in the stock library."""
    return tokenizers.Tokenizer.from_str(made.core.to_json())


def edited(made: Vocabulary, **changes: Any) -> Vocabulary:
    """Return a vocabulary with other members in its tokenizer.json."""
    return Vocabulary.from_json(json.loads(made.core.to_json()) | changes)


# --- agreement


@pytest.mark.parametrize("name", ["tokenizers", "tiktoken", "transformers", "hf_bpe", "core"])
def test_the_same_vocabulary_agrees_in_every_library(name: str) -> None:
    from transformers import PreTrainedTokenizerFast

    made = vocabulary()
    others = {
        "tokenizers": lambda: stock_of(made),
        "tiktoken": lambda: tiktoken_encoding.to_encoding(made),
        "transformers": lambda: PreTrainedTokenizerFast(tokenizer_object=stock_of(made)),
        "hf_bpe": lambda: hf_bpe.HfBpeTokenizer.from_vocabulary(made),
        "core": lambda: made.core,
    }

    found = compare(made, others[name]())

    assert isinstance(found, Agreement), found
    assert found


def test_an_agreement_says_how_many_texts_were_tried_and_prints_as_a_table() -> None:
    found = compare(vocabulary(), stock_of(vocabulary()), ["one", "two"])

    assert isinstance(found, Agreement)
    assert found.texts["given texts"] == 2
    assert {"hostile texts", "added tokens", "tokens", "splits of tokens", "pairs of tokens"} < found.texts.keys()
    assert found.total == sum(found.texts.values()) > 17_000
    lines = str(found).splitlines()
    assert lines[0] == f"{library('hf_bpe')} and tokenizers {tokenizers.__version__} agree on {found.total:,} texts"
    assert "  given texts       2" in lines
    assert found.as_json()["agree"] is True


def test_equal_cores_are_not_compared_text_by_text() -> None:
    found = compare(vocabulary(), vocabulary())

    assert isinstance(found, Agreement)
    assert found.identical
    assert "the same vocabulary and pipeline" in str(found)


def test_sentencepiece_is_asked_for_text_without_special_tokens(tmp_path: Path) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    pieces = pytest.importorskip("formats.piece_models")
    path = tmp_path / "a.model"
    path.write_bytes(pieces.trained("llama"))
    processor = sentencepiece.SentencePieceProcessor(model_file=str(path))

    found = compare(processor, sentencepiece.SentencePieceProcessor(model_file=str(path)), ["</s> a"], sample=200)

    assert isinstance(found, Agreement), found
    assert found.first.endswith("(first)")
    assert found.texts["tokens"] > 100


# --- differences


def test_a_difference_is_cut_down_to_one_character() -> None:
    found = compare(vocabulary(), vocabulary(normalizer="NFC"), ["x" * 500 + "e\u0301" + "y" * 500])

    assert isinstance(found, Difference)
    assert not found
    assert found.kind == "ids"
    assert len(found.text) <= 2
    assert found.first_ids != found.second_ids
    assert found.summary().startswith(f"{found.text!r} is [")
    assert "give different ids" in str(found)
    assert found.as_json()["text"] == found.text


def test_a_moved_merge_is_found_by_the_token_that_it_makes() -> None:
    made = json.loads(vocabulary(ignore_merges=False).core.to_json())
    made["model"]["merges"] = [merge for merge in made["model"]["merges"] if merge != ["Ġ", "the"]]

    found = compare(vocabulary(ignore_merges=False), Vocabulary.from_json(made))

    assert isinstance(found, Difference)
    assert (found.text, list(found.first_ids), list(found.second_ids)) == (" the", [258], [32, 257])


def test_the_order_of_overlapping_merges_is_found_by_pairs_of_tokens() -> None:
    one = Vocabulary.from_ranks(RANKS | {b"qx": 263, b"xw": 264}, split_pattern="gpt2")
    made = json.loads(one.core.to_json())
    made["model"]["merges"].sort(key=lambda merge: merge != ["x", "w"])

    found = compare(one, Vocabulary.from_json(made))

    assert isinstance(found, Difference)
    assert (found.text, found.group) == ("qxw", "pairs of tokens")


@pytest.mark.parametrize("seed", range(30))
def test_merges_that_changed_places_are_found_wherever_a_text_shows_it(seed: int) -> None:
    """Every text of up to six letters is tried, so that nothing is missed by luck."""
    rng = random.Random(seed)
    tokens, merges = ["a", "b", "c"], []
    while len(merges) < 12:
        pair = rng.choice(tokens), rng.choice(tokens)
        if "".join(pair) not in tokens and len("".join(pair)) < 5:
            merges.append(pair)
            tokens.append("".join(pair))
    swapped = list(merges)
    one, other = rng.sample(range(12), 2)
    swapped[one], swapped[other] = merges[other], merges[one]
    parsed = json.loads(vocabulary().core.to_json())
    first, second = (
        Vocabulary.from_json(parsed | {"model": parsed["model"] | {"vocab": vocab, "merges": listed}})
        for vocab in [{token: place for place, token in enumerate([*tokens, "<|end|>"])}]
        for listed in (merges, swapped)
    )
    every = ["".join(letters) for size in range(1, 7) for letters in product("abc", repeat=size)]
    shown = [text for text in every if first.core.encode_ordinary(text) != second.core.encode_ordinary(text)]

    found = compare(first, second, sample=300)

    assert bool(found) == (not shown)
    if isinstance(found, Difference):
        assert len(found.text) <= len(min(shown, key=len)) + 1


def test_rows_of_merges_are_those_whose_order_turned() -> None:
    merges = [("a", "b"), ("b", "c"), ("c", "d")]

    assert list(rows(merges, [merges[1], merges[0], merges[2]])) == ["abc"]
    assert list(rows(merges, merges[:2])) == []
    assert list(rows(merges, merges[1:])) == ["abc"]
    assert list(rows(merges, merges)) == []


def test_the_fewest_merges_are_those_that_moved() -> None:
    order = [("a", str(place)) for place in range(100)]
    shuffled = [*order[:3], order[50], *order[3:50], *order[51:99], ("b", "c")]

    found = moved(*({pair: rank for rank, pair in enumerate(listed)} for listed in (order, shuffled)))

    assert found == [order[50], order[99], ("b", "c")]


def test_a_text_of_the_caller_is_found_where_nothing_else_shows_the_difference() -> None:
    made = vocabulary()
    split = {"type": "Split", "pattern": {"Regex": "zq[xj]zq"}, "behavior": "Isolated", "invert": False}
    steps = {"type": "Sequence", "pretokenizers": [split, *(made.pre_tokenizer or {})["pretokenizers"]]}
    ranks = RANKS | {b"zq": 263, b"xz": 264, b"azq": 265}
    one = Vocabulary.from_ranks(ranks, split_pattern="gpt2", ignore_merges=False)
    other = edited(one, pre_tokenizer=steps)

    assert compare(one, other, sample=50)
    found = compare(one, other, ["nothing here", "some azqxzq text"], sample=50)

    assert isinstance(found, Difference)
    assert (found.text, found.group) == ("azqxzq", "given texts")


def test_an_added_token_is_compared_in_context() -> None:
    made = json.loads(vocabulary().core.to_json())
    made["added_tokens"][0]["rstrip"] = True

    found = compare(vocabulary(), Vocabulary.from_json(made))

    assert isinstance(found, Difference)
    assert found.group in ("added tokens", "hostile texts")
    assert found.text == "<|end|> "


def test_a_template_is_compared_where_both_have_one() -> None:
    bos = [{"SpecialToken": {"id": "<|end|>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
    special = {"<|end|>": {"id": "<|end|>", "ids": [261], "tokens": ["<|end|>"]}}
    template = {"type": "TemplateProcessing", "single": bos, "pair": bos, "special_tokens": special}
    template["pair"] = [*bos, {"Sequence": {"id": "B", "type_id": 1}}]
    with_bos = edited(vocabulary(), post_processor=template)

    found = compare(vocabulary(), with_bos)

    assert isinstance(found, Difference)
    assert (found.group, found.text, list(found.second_ids)) == ("texts with a template", "", [261])
    assert compare(with_bos, tiktoken_encoding.to_encoding(vocabulary())), "tiktoken has no templates"


def test_equal_ids_with_other_text_are_a_difference_too() -> None:
    other = edited(vocabulary(), decoder=None)

    found = compare(stock_of(vocabulary()), stock_of(other))

    assert isinstance(found, Difference)
    assert found.kind == "text"
    assert found.first_text != found.second_text
    assert found.summary().startswith("the ids [")


# --- arguments


def test_what_is_no_tokenizer_is_named() -> None:
    with pytest.raises(TypeError, match=r"hf_bpe knows tokenizers of hf_bpe, .*, got <class 'int'>"):
        compare(vocabulary(), 3)


def test_one_str_is_no_list_of_texts() -> None:
    with pytest.raises(TypeError, match="texts is a list of texts"):
        compare(vocabulary(), vocabulary(), "text")


def test_a_path_is_read(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(vocabulary().core.to_json(), encoding="utf-8")

    assert compare(path, str(path))
    with pytest.raises(hf_bpe.ConversionError, match="there is no such file"):
        compare(tmp_path / "none", vocabulary())


def test_settings_of_a_stock_tokenizer_are_neither_followed_nor_changed() -> None:
    stock = stock_of(vocabulary())
    stock.enable_truncation(1)
    stock.enable_padding()

    assert compare(vocabulary(), stock)
    assert stock.truncation is not None
    assert stock.encode("the ab").ids == [257]


def test_lazy_names_are_the_functions_and_others_raise() -> None:
    assert hf_bpe.compare is compare
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        hf_bpe.nothing  # noqa: B018


# --- texts and shrinking


def test_the_same_arguments_give_the_same_texts() -> None:
    tokens, added = ["ab", "b c", "語"], ["<|end|>"]

    assert list(texts.groups(tokens, added, ["x"], 10)) == list(texts.groups(reversed(tokens), added, ["x"], 10))


def test_every_split_of_every_token_is_there() -> None:
    groups = dict(texts.groups(["abcd", "ab", "ü語"], [], None, None))

    assert groups["tokens"] == ["ab", "abcd", "ü語"]
    assert set(groups["splits of tokens"]) == {"a", "b", "abc", "d", "cd", "bcd", "ü", "語"}


@pytest.mark.parametrize("length", [1, 2, 3, 10, 1_000, 30_001])
def test_shrinking_leaves_what_is_needed_and_nothing_else(length: int) -> None:
    rng = random.Random(length)
    needed = "".join(rng.sample("xyz", 3))
    text = list("a" * length)
    for char, at in zip(needed, sorted(rng.choices(range(length), k=3)), strict=True):
        text[at] += char

    def shows(candidate: str) -> bool:
        return [char for char in candidate if char in "xyz"] == list(needed)

    assert shrink("".join(text), shows) == needed


def test_shrinking_ends_where_nothing_can_be_left_out() -> None:
    whole = "".join(map(chr, range(0x4E00, 0x4E00 + 2_000)))
    started = time.monotonic()

    assert shrink(whole, lambda text: text == whole) == whole
    assert time.monotonic() - started < 10


# --- what changes


def test_changes_name_tokens_that_moved_appeared_and_vanished() -> None:
    ranks = RANKS | {b"ab": 263, b"zz": 259}
    del ranks[b"bc"]

    changes = changes_between(vocabulary(), Vocabulary.from_ranks(ranks, split_pattern="gpt2"), ["ab the", "bc"])

    assert changes.shared == 256 + 3
    assert changes.moved == {"ab": (259, 263)}
    assert changes.appeared == {"zz": 259}
    assert changes.vanished == {"bc": 260, "<|end|>": 261, "<|pad|>": 262}
    assert (changes.texts, changes.changed) == (2, 1)
    assert changes.examples == [("bc", ["bc"], ["b", "c"])]
    assert changes.counts["Latin"].first == 3
    assert changes.as_json()["counts"]["Latin"] == {"texts": 2, "first": 3, "second": 4, "saved": -1}


def test_without_a_corpus_languages_are_counted() -> None:
    changes = changes_between(vocabulary(), vocabulary())

    assert list(changes.counts) == list(SAMPLES)
    assert not changes.any


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("Привет, world", "Cyrillic"),
        ("漢字かな", "Kana and Han"),
        ("人人生而自由", "Han"),
        ("12 + 3", "no letters"),
        ("", "no letters"),
    ],
)
def test_the_script_of_most_letters_counts(text: str, script: str) -> None:
    assert script_of(text) == script


# --- real vocabularies


@pytest.mark.parametrize("name", ["gpt2", "cl100k"])
def test_a_real_vocabulary_agrees_with_stock_within_a_minute(name: str, request: pytest.FixtureRequest) -> None:
    path = real_vocabulary_file(request.config, name)
    if path is None:
        pytest.skip(f"the package with {name} isn't installed: see requirements-vocabularies.txt")
    stock = tokenizers.Tokenizer.from_file(str(path))
    started = time.process_time()

    found = compare(path, stock)

    assert found, found
    assert time.process_time() - started < 60


def test_two_real_encodings_differ_by_a_short_text(request: pytest.FixtureRequest) -> None:
    paths = [real_vocabulary_file(request.config, name) for name in ("gpt2", "cl100k")]
    if None in paths:
        pytest.skip("a package with vocabularies isn't installed: see requirements-vocabularies.txt")

    found = compare(*paths)

    assert isinstance(found, Difference)
    assert len(found.text) == 1
