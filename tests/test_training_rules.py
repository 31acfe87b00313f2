"""Rules for learned tokens, protected strings and padding: against recounting everything, and in stock."""

from __future__ import annotations

import json
import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import slow_training
import tokenizers
from hostile import HOSTILE

import hf_bpe
from hf_bpe import HfBpeTokenizer, PretokenCounts
from hf_bpe.byte_alphabet import BYTE_TO_CHAR, CHAR_TO_BYTE

TEXTS = [
    "version 12.5 of 2024, 1024 and 65536; v2x3",
    "слово и число 2024, word слово",
    "最新の塔2024年 and 低い塔です。αβγ 한국어",
    "x²½ ٣٤٥ 12٣ aслово的word",
] * 5


def train(texts: Any = TEXTS, **options: Any) -> HfBpeTokenizer:
    options = {"vocab_size": 420, "split_pattern": r"\s?\S+", "min_frequency": 1} | options
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return hf_bpe.train(texts, progress=False, **options)


def model_of(tokenizer: HfBpeTokenizer) -> Any:
    return json.loads(tokenizer.backend_tokenizer.to_str())["model"]


def bytes_of(token: str) -> bytes:
    return bytes(CHAR_TO_BYTE[char] for char in token)


def slow_merges(allow: Callable[[bytes], bool], texts: list[str] = TEXTS, size: int = 420) -> list[list[str]]:
    words = dict(PretokenCounts.count(texts, split_pattern=r"\s?\S+", progress=False))
    learned = slow_training.train([words], [1], vocab_size=size, allow=allow)
    return [["".join(BYTE_TO_CHAR[byte] for byte in part) for part in pair] for pair in learned.merges]


def equal_in_stock(tokenizer: HfBpeTokenizer, directory: Path, texts: list[str]) -> bool:
    tokenizer.save_pretrained(directory)
    stock = tokenizers.Tokenizer.from_file(str(directory / "tokenizer.json"))
    return all(stock.encode(text).ids == tokenizer(text)["input_ids"] for text in texts)


def test_without_rules_merges_are_those_of_recounting() -> None:
    assert model_of(train())["merges"] == slow_merges(lambda token: True)


@pytest.mark.parametrize("most", [0, 1, 2, 3])
def test_tokens_hold_so_many_digits_at_most(most: int, tmp_path: Path) -> None:
    tokenizer = train(max_digits=most)

    model = model_of(tokenizer)
    assert model["merges"] == slow_merges(lambda token: slow_training.digits(token) <= most)
    found = max(slow_training.digits(bytes_of(token)) for token in model["vocab"])
    assert found == most
    assert equal_in_stock(tokenizer, tmp_path, [*TEXTS, *HOSTILE.values()])


def test_tokens_are_of_one_script(tmp_path: Path) -> None:
    tokenizer = train(within_scripts=True)

    model = model_of(tokenizer)
    assert model["merges"] == slow_merges(slow_training.is_within_a_script)
    assert model["merges"] != model_of(train())["merges"]
    assert equal_in_stock(tokenizer, tmp_path, [*TEXTS, *HOSTILE.values()])
    text = "wordслово的word"
    tokens = [tokenizer.decode([token]) for token in tokenizer.encode(text)]
    assert "".join(tokens) == text, "no token has a part of a character and another one"


def test_random_texts_keep_the_rules() -> None:
    rng = random.Random(3)
    for _ in range(40):
        texts = ["".join(rng.choices("abя的の1٣2 é", k=rng.randint(1, 30))) for _ in range(6)]
        most, within = rng.choice([0, 1, 2]), rng.random() < 0.5

        def allow(token: bytes, most: int = most, within: bool = within) -> bool:
            return slow_training.digits(token) <= most and (not within or slow_training.is_within_a_script(token))

        tokenizer = train(texts, max_digits=most, within_scripts=within, vocab_size=300)
        assert model_of(tokenizer)["merges"] == slow_merges(allow, texts, 300)


def test_characters_keep_the_rules_whatever_their_affixes() -> None:
    texts = ["слово word аw 12 1b"] * 3
    plain = train(texts, alphabet="characters", split_pattern=None, end_of_word_suffix="</w>", vocab_size=60)
    ruled = train(
        texts,
        alphabet="characters",
        split_pattern=None,
        end_of_word_suffix="</w>",
        vocab_size=60,
        within_scripts=True,
        max_digits=0,
    )

    assert {"аw</w>", "12</w>", "1b</w>"} <= set(model_of(plain)["vocab"])
    assert not {"аw</w>", "12</w>", "1b</w>"} & set(model_of(ruled)["vocab"])
    assert {"слово</w>", "word</w>"} <= set(model_of(ruled)["vocab"])


def test_protected_strings_are_one_token_each_and_no_part_of_another(tmp_path: Path) -> None:
    texts = ["a<br>b", "the<br><br>end<b r>", "snake_case_name", " <br>"] * 9
    tokenizer = train(texts, protected=["<br>", "_", "<br><br>"], special_tokens=["<s>"], vocab_size=275)

    ids = tokenizer.convert_tokens_to_ids(["<s>", "<br>", "_", "<br><br>"])
    assert ids == [0, 1, 2, 3]
    assert tokenizer.tokenize("x<br>y_<br><br>") == ["x", "<br>", "y", "_", "<br><br>"]
    assert tokenizer.decode(tokenizer.encode("the<br>_"), skip_special_tokens=True) == "the<br>_"
    learned = ["".join(pair) for pair in model_of(tokenizer)["merges"]]
    assert len(learned) > 5
    assert not [token for token in learned if "_" in token or "<br>" in token]
    assert equal_in_stock(tokenizer, tmp_path, [*texts, *HOSTILE.values()])


def test_training_cuts_at_protected_strings_as_encoding_does() -> None:
    texts = ["ab[x]ba", "a.b|c.a", "\\n\n^$", "ab[x][x]ab", " [x] "] * 3
    tokenizer = train(texts, protected=["[x]", "|", "\n", "^", "."], vocab_size=300)

    pieces = [piece for text in texts for piece in _cut(text, ["[x]", "|", "\n", "^", "."])]
    assert model_of(tokenizer)["merges"] == slow_merges(lambda token: True, pieces, 295)


def _cut(text: str, strings: list[str]) -> list[str]:
    for string in strings:
        text = text.replace(string, "\0")
    return text.split("\0")


@pytest.mark.parametrize("multiple", [1, 64, 128])
def test_a_vocabulary_is_rounded_up_with_named_tokens(multiple: int, tmp_path: Path) -> None:
    plain = train(vocab_size=300, eos_token="<e>", special_tokens_last=True)
    padded = train(vocab_size=300, eos_token="<e>", special_tokens_last=True, pad_to_multiple_of=multiple)

    added = -300 % multiple
    assert len(padded) == padded.training_report.vocab_size == 300 + added
    assert padded.convert_tokens_to_ids([f"<|pad_{number}|>" for number in range(added)]) == [*range(300, 300 + added)]
    assert padded.decode([*plain.encode("word"), *range(300, 300 + added)], skip_special_tokens=True) == "word"
    assert model_of(padded)["merges"] == model_of(plain)["merges"]
    assert equal_in_stock(padded, tmp_path, [*TEXTS, *HOSTILE.values()])


def test_padding_tokens_leave_out_names_that_are_taken() -> None:
    tokenizer = train(vocab_size=270, special_tokens=["<|pad_1|>"], pad_to_multiple_of=34)

    assert tokenizer.convert_ids_to_tokens([0, 270, 271]) == ["<|pad_1|>", "<|pad_0|>", "<|pad_2|>"]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"max_digits": -1}, ValueError, "max_digits=-1 is out of range; give at least 0"),
        ({"max_digits": 1.5}, TypeError, "max_digits is a whole number, got 1.5"),
        ({"pad_to_multiple_of": 0}, ValueError, "pad_to_multiple_of=0 is out of range; give at least 1"),
        ({"protected": "ab"}, TypeError, "protected is a list of strings; write ['ab']"),
        ({"protected": [""]}, ValueError, "a protected string is empty"),
        ({"protected": [b"a"]}, TypeError, "protected holds strings, got b'a'"),
        ({"protected": ["\ud800"]}, ValueError, "holds a lone surrogate"),
        ({"protected": ["a"], "special_tokens": ["a"]}, ValueError, "'a' is a special token and a protected string"),
    ],
    ids=str,
)
def test_options_that_mean_nothing_are_refused(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as raised:
        train(**options)

    assert message in str(raised.value)


def test_counts_hold_protected_strings_already() -> None:
    counts = PretokenCounts.count(["a_b"], progress=False)

    with pytest.raises(ValueError, match="protected has to be known before texts are counted"):
        train(counts, protected=["_"], split_pattern=None)
