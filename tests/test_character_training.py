"""Learning vocabularies of characters: against the stock trainer, and against the reference."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import models, trainers

from hf_bpe import reference
from hf_bpe._native import Counter, Tokenizer
from hf_bpe.byte_alphabet import bytes_to_token
from hf_bpe.pipeline_json import byte_level_pipeline, counting_pipeline, empty_pipeline

Merges = list[tuple[str, str]]
Learned = tuple[list[str], Merges]


def learn(words: dict[str, int], **options: Any) -> Learned:
    """Learn from words by the native trainer."""
    counts = Counter(Tokenizer.from_json(json.dumps(counting_pipeline(byte_level_pipeline("gpt2")))))
    counts.count_weighted([(word.encode(), count) for word, count in words.items()])
    return counts.learn(characters=True, **options)


def learn_by_reference(words: dict[str, int], **options: Any) -> Learned:
    affixes = reference.Affixes(options.pop("continuing_subword_prefix", None), options.pop("end_of_word_suffix", None))
    initial = sorted(options.pop("initial_alphabet", ()))
    # Initial characters are numbered together with those of the words, by code point.
    limit = options.pop("limit_alphabet", None)
    seen = reference.train(words, vocab_size=0, alphabet=initial, limit_alphabet=limit).vocab
    options["alphabet"] = sorted(seen)
    bpe = reference.train(words, limit_alphabet=len(seen), affixes=affixes, **options)
    return bpe.vocab, bpe.merges


def learn_by_stock(words: dict[str, int], **options: Any) -> Learned:
    """Learn by the stock trainer, all of whose words are whole texts."""
    stock = tokenizers.Tokenizer(models.BPE())
    given = {name: value for name, value in options.items() if value is not None}
    texts = (word for word, count in words.items() for _ in range(count))
    stock.train_from_iterator(texts, trainers.BpeTrainer(show_progress=False, **given))
    model = json.loads(stock.to_str())["model"]
    return sorted(model["vocab"], key=model["vocab"].__getitem__), [tuple(pair) for pair in model["merges"]]


def with_fixed_ids(words: dict[str, int], options: dict[str, Any]) -> dict[str, Any]:
    """Return settings under which the stock trainer draws no lots: all first ids are special tokens."""
    vocab, _ = learn_by_reference(words, **(options | {"vocab_size": 0}))
    return options | {"special_tokens": vocab, "initial_alphabet": [], "limit_alphabet": 0}


def random_words(chance: random.Random, letters: str) -> dict[str, int]:
    words = ("".join(chance.choices(letters, k=chance.randint(1, 10))) for _ in range(chance.randint(0, 12)))
    return {word: chance.randint(1, 5) for word in words}


def random_settings(chance: random.Random) -> dict[str, Any]:
    return {
        "vocab_size": chance.randint(0, 80),
        "min_frequency": chance.choice([0, 0, 1, 2, 3]),
        "max_token_length": chance.choice([None, None, None, 0, 2, 3, 4, 5]),
        "special_tokens": chance.sample(["a", "ab", "<s>", "b</w>", "##b", "好", "a_"], chance.randint(0, 3)),
        "continuing_subword_prefix": chance.choice([None, None, "##", "@"]),
        "end_of_word_suffix": chance.choice([None, None, "</w>", "_"]),
        "limit_alphabet": chance.choice([None, None, 1, 2, 3, 6]),
        "initial_alphabet": chance.sample("abz好", chance.randint(0, 2)),
    }


def test_two_thousand_random_trainings_equal_stock_and_the_reference() -> None:
    for seed in range(2000):
        chance = random.Random(seed)
        words = random_words(chance, "abcdé好🙂\u0301"[: chance.randint(1, 8)])
        options = random_settings(chance)

        learned = learn(words, **options)

        assert learned == learn_by_reference(words, **options), (words, options)
        assert learned == learn_by_stock(words, **with_fixed_ids(words, options)), (words, options)


def test_trainings_without_lots_equal_stock_with_its_own_settings() -> None:
    for seed in range(1000):
        chance = random.Random(seed)
        words = random_words(chance, "abcdé好🙂\u0301"[: chance.randint(1, 8)])
        options = random_settings(chance) | {"continuing_subword_prefix": None, "end_of_word_suffix": None}
        if options["limit_alphabet"] is not None and cut_is_a_tie(words, options):
            options["limit_alphabet"] = None

        assert learn(words, **options) == learn_by_stock(words, **options), (words, options)


def cut_is_a_tie(words: dict[str, int], options: dict[str, Any]) -> bool:
    counts: dict[str, float] = {}
    for word, count in words.items():
        for char in word:
            counts[char] = counts.get(char, 0) + count
    counts |= dict.fromkeys(options["initial_alphabet"], float("inf"))
    ranked = sorted(counts.values(), reverse=True)
    limit = options["limit_alphabet"]
    return limit < len(ranked) and ranked[limit - 1] == ranked[limit]


def test_affixes_that_the_corpus_spells_are_counted_as_the_reference_counts() -> None:
    """Stock draws lots in some of these cases, and counts merged pairs once more in others."""
    differences = 0
    for seed in range(1000):
        chance = random.Random(seed)
        words = random_words(chance, "ab#_w"[chance.randint(0, 2) :])
        options = random_settings(chance) | {
            "continuing_subword_prefix": chance.choice([None, "#", "##", "_"]),
            "end_of_word_suffix": chance.choice([None, "_", "w", "#_"]),
        }

        learned = learn(words, **options)

        assert learned == learn_by_reference(words, **options), (words, options)
        differences += learned != learn_by_stock(words, **with_fixed_ids(words, options))
    assert differences < 100, "stock differs in about one case of twenty"


words_of_text = st.dictionaries(st.text(min_size=1, max_size=7), st.integers(1, 5), max_size=8)
affix = st.none() | st.sampled_from(["##", "</w>", "_", "a", "aa", "好"])
any_settings = st.fixed_dictionaries(
    {
        "vocab_size": st.integers(0, 60),
        "min_frequency": st.integers(0, 4),
        "max_token_length": st.none() | st.integers(0, 6),
        "special_tokens": st.lists(st.sampled_from(["a", "ab", "<s>", "b_"]) | st.text(min_size=1), max_size=3),
        "reserved_tokens": st.lists(st.sampled_from(["ab", "aa", "<0x41>", "bc"]), max_size=3, unique=True),
        "continuing_subword_prefix": affix,
        "end_of_word_suffix": affix,
        "limit_alphabet": st.none() | st.integers(0, 5),
        "initial_alphabet": st.lists(st.characters(exclude_categories=["Cs"]), max_size=3, unique=True),
    }
)


@given(words=words_of_text | st.dictionaries(st.text("abc", max_size=9), st.integers(1, 4)), options=any_settings)
@settings(max_examples=400, deadline=None)
def test_any_characters_are_learned_as_the_reference_learns_them(
    words: dict[str, int], options: dict[str, Any]
) -> None:
    assert learn(words, **options) == learn_by_reference(words, **options)


@given(words=st.dictionaries(st.text("abc é", max_size=9), st.integers(1, 4)), options=any_settings)
@settings(deadline=None)
def test_bytes_with_affixes_are_characters_of_the_byte_alphabet(words: dict[str, int], options: dict[str, Any]) -> None:
    counts = Counter(Tokenizer.from_json(json.dumps(counting_pipeline(byte_level_pipeline("gpt2")))))
    counts.count_weighted([(word.encode(), count) for word, count in words.items()])

    assert counts.learn(**options) == learn(
        {bytes_to_token(word.encode()): count for word, count in words.items()}, **options
    )


def test_ties_at_the_cut_of_the_alphabet_go_to_the_lowest_code_points() -> None:
    vocab, _ = learn({"cab": 2, "ü好": 2, "d": 3}, vocab_size=0, limit_alphabet=3)

    assert vocab == ["a", "b", "d"]


def test_reserved_tokens_follow_the_special_ones_and_are_never_merged() -> None:
    vocab, merges = learn({"abc": 5}, vocab_size=20, special_tokens=["<s>"], reserved_tokens=["ab", "<s>"])

    assert vocab == ["<s>", "ab", "a", "b", "c", "bc", "abc"]
    assert merges == [("b", "c"), ("a", "bc")]


def test_counts_of_characters_beyond_32_bits_are_right() -> None:
    _, merges = learn({"好的": 3_000_000_000, "不": 2**40, "ab": 5}, vocab_size=8)

    assert merges == [("好", "的"), ("a", "b")]


def test_words_that_are_no_text_have_no_characters() -> None:
    counts = Counter(Tokenizer.from_json(json.dumps(counting_pipeline(byte_level_pipeline("gpt2")))))
    counts.count_weighted([(b"a\xff", 1)])

    with pytest.raises(ValueError, match="is not UTF-8"):
        counts.learn(vocab_size=10, characters=True)


def published(shared: Path, name: str) -> Any:
    return json.loads((shared / "vectors" / "published" / name).read_text(encoding="utf-8"))


def test_the_published_character_example_is_encoded_by_its_merges(shared: Path) -> None:
    """Its merges follow another rule for ties: the reference learns them, and the core encodes by them."""
    example = published(shared, "chars.json")
    end = "\ue000"  # one character, as the example's symbol for the end of a word is one symbol
    merges = [[part.replace("</w>", end) for part in pair] for pair in example["merges"]]
    letters = sorted(set("".join(example["corpus"])) | {end})
    tokens = [*letters, *(left + right for left, right in merges)]
    pipeline = empty_pipeline()
    pipeline["model"] |= {"vocab": {token: index for index, token in enumerate(tokens)}, "merges": merges}
    core = Tokenizer.from_json(json.dumps(pipeline))

    assert len(example["encodings"]) == 5
    for encoding in example["encodings"]:
        expected = [token.replace("</w>", end) for token in encoding["tokens"]]
        assert [core.id_to_token(token_id) for token_id in core.encode_ids(encoding["text"] + end)] == expected


def test_the_published_weighted_example_comes_out(shared: Path) -> None:
    example = published(shared, "weighted.json")

    _, merges = learn(example["words"], vocab_size=5)

    assert merges == [tuple(example["first_merge"])]
