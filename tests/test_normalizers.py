"""Every normalizer equals the stock library, alone and in sequences: each byte of the text, and its offsets.

`HF_BPE_FUZZ` is the number of random sequences (300 by default), each with ten texts.
"""

from __future__ import annotations

import base64
import json
import os
import random
import time
from pathlib import Path
from typing import Any

import pytest
from charsmaps import charsmap, sentencepiece_charsmap
from hostile import HOSTILE
from normalizing import (
    BYTE_LEVEL,
    PLAIN,
    REGEXES,
    STRINGS,
    TABLE,
    Both,
    Json,
    is_panic,
    named,
    random_sequence,
    texts_for,
)

from hf_bpe import SplitPatternError, TokenizerFileError, UnsupportedComponentError
from hf_bpe._native import Tokenizer

SEQUENCES = int(os.environ.get("HF_BPE_FUZZ", "300"))
STEP = 50

BERT = [
    named("BertNormalizer", clean_text=clean, handle_chinese_chars=chinese, strip_accents=accents, lowercase=lower)
    for clean in (True, False)
    for chinese in (True, False)
    for accents in (None, True, False)
    for lower in (True, False)
]
STRIPS = [named("Strip", strip_left=left, strip_right=right) for left in (True, False) for right in (True, False)]
REPLACES = [
    named("Replace", pattern={kind: pattern}, content=content)
    for kind, patterns in (("String", STRINGS), ("Regex", REGEXES))
    for pattern in patterns
    for content in ("", "▁", "xé")
]
SINGLE = [*map(named, PLAIN), *BERT, *STRIPS, named("Precompiled", precompiled_charsmap=TABLE)]
CHARACTERS = [chr(code) for code in (*range(0xD800), *range(0xE000, 0x34000), *range(0xE0000, 0xE0200), 0x10FFFF)]
"""All that any version of Unicode assigns, and then some."""


def label(normalizer: Json) -> str:
    """Return what tests call a normalizer."""
    options = ",".join(str(value)[:8] for name, value in normalizer.items() if name != "type")
    return f"{normalizer['type']}-{options}"


@pytest.mark.parametrize("normalizer", SINGLE, ids=label)
def test_every_normalizer_equals_stock_on_hostile_texts(normalizer: Json) -> None:
    both = Both(normalizer)

    for text in [*HOSTILE.values(), *texts_for(random.Random(1), 200)]:
        assert both.check(text)


@pytest.mark.parametrize("normalizer", [*map(named, PLAIN), BERT[0], BERT[-1]], ids=label)
def test_every_character_is_normalized_as_in_stock(normalizer: Json) -> None:
    both = Both(normalizer)

    for start in range(0, len(CHARACTERS), 8192):
        assert both.check("a".join(CHARACTERS[start : start + 8192]))


@pytest.mark.parametrize("prefix", ["▁", " ", "xyz", "\u0301"])
def test_a_prefix_is_put_before_every_text_but_an_empty_one(prefix: str) -> None:
    both = Both(named("Prepend", prepend=prefix))

    for text in [*HOSTILE.values(), *texts_for(random.Random(2), 100)]:
        assert both.check(text)


def test_replacing_equals_stock_for_every_kind_of_match() -> None:
    texts = [text for text in [*HOSTILE.values(), *texts_for(random.Random(3), 20)] if len(text) < 1000]
    compared = 0
    for normalizer in REPLACES:
        both = Both(normalizer)
        compared += sum(both.check(text) for text in texts)

    # What stock gives up on is a character that stands for nothing, at the start of a text.
    assert compared > 0.7 * len(texts) * len(REPLACES)


@pytest.mark.parametrize("first", range(0, SEQUENCES, STEP))
def test_random_sequences_equal_stock(first: int) -> None:
    compared = 0
    for seed in range(first, first + STEP):
        rng = random.Random(seed)
        both = Both(random_sequence(rng))
        compared += sum(both.check(text) for text in texts_for(rng, 10))

    assert compared > 0.7 * 10 * STEP


@pytest.mark.parametrize("rule", ["nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf"])
def test_tables_of_sentencepiece_equal_stock_on_every_character(rule: str, tmp_path: Path) -> None:
    pytest.importorskip("sentencepiece")
    both = Both(named("Precompiled", precompiled_charsmap=sentencepiece_charsmap(rule, tmp_path)))

    for start in range(0, len(CHARACTERS), 8192):
        characters = CHARACTERS[start : start + 8192]
        assert both.check("".join(characters))
        assert both.check("a".join(characters))
    for text in [*HOSTILE.values(), *texts_for(random.Random(4), 200)]:
        assert both.check(text)


@pytest.mark.parametrize("first", range(0, SEQUENCES, STEP))
def test_added_tokens_are_found_in_normalized_text_as_in_stock(first: int) -> None:
    contents, compared = ["Foo", "É!", "<S>", " x ", "語", "ﬁ"], 0
    for seed in range(first, first + STEP):
        rng = random.Random(seed)
        normalizer = random_sequence(rng)
        chosen = forms_that_differ(normalizer, rng.sample(contents, 3))
        both = Both(normalizer, [added_token(rng, 256 + at, content) for at, content in enumerate(chosen)])
        for text in texts_for(rng, 4):
            pieces = [text[:9], *chosen, text[9:], "foo", " x"]
            rng.shuffle(pieces)
            compared += both.check("".join(pieces))

    assert compared > 0.7 * 4 * STEP


def forms_that_differ(normalizer: Json, contents: list[str]) -> list[str]:
    """Return `contents`, or nothing where stock would hang on one without a normal form, or choose among equal ones."""
    stock = Both(normalizer).stock.normalizer
    assert stock is not None
    try:
        forms = {stock.normalize_str(content) for content in contents}
    except BaseException as error:
        if not is_panic(error):
            raise
        return []
    return contents if len(forms) == len(contents) and "" not in forms else []


def added_token(rng: random.Random, token_id: int, content: str) -> Json:
    """Return an added token with any flags."""
    flags = {name: rng.random() < 0.3 for name in ("special", "single_word", "lstrip", "rstrip")}
    return {"id": token_id, "content": content, "normalized": rng.random() < 0.7, **flags}


def plain_token(token_id: int, content: str) -> Json:
    """Return an added token that is found in normalized text."""
    flags = dict.fromkeys(("special", "single_word", "lstrip", "rstrip"), False)
    return {"id": token_id, "content": content, "normalized": True, **flags}


def load(normalizer: Any, added_tokens: list[Json] | None = None) -> Tokenizer:
    """Return our tokenizer alone."""
    vocab = {"a": 0, "b": 1}
    parts: Json = {"added_tokens": added_tokens or [], "normalizer": normalizer, "pre_tokenizer": BYTE_LEVEL}
    return Tokenizer.from_json(json.dumps(parts | {"model": {"type": "BPE", "vocab": vocab, "merges": []}}))


def test_a_token_that_normalizes_to_nothing_matches_nothing() -> None:
    # Stock panics or hangs here.
    strip = named("Strip", strip_left=True, strip_right=True)

    tokenizer = load(strip, [plain_token(7, "  ")])

    assert tokenizer.encode_ids("a  b") == [0, 1]
    assert tokenizer.token_to_id("  ") == 7
    assert any("normalizes to nothing" in warning for warning in tokenizer.warnings())


def test_of_two_tokens_with_one_normal_form_the_lower_id_wins() -> None:
    # Stock chooses another one at each load.
    for order in ([7, 8], [8, 7]):
        tokens = [plain_token(token_id, {7: "Foo", 8: "foo"}[token_id]) for token_id in order]

        assert load(named("Lowercase"), tokens).encode_ids("aFOOb") == [0, 7, 1]


def test_half_a_million_replacements_take_no_time_to_speak_of() -> None:
    tokenizer = load(named("Replace", pattern={"String": " "}, content="b"))
    text = "a " * 500_000

    start = time.perf_counter()
    ids = tokenizer.encode_ids(text)

    assert ids == [0, 1] * 500_000
    assert time.perf_counter() - start < 5


def test_a_pattern_that_runs_away_is_an_error_in_every_call() -> None:
    tokenizer = load(named("Replace", pattern={"Regex": "(a+)+$x"}, content=""))

    message = r"normalizer\.pattern: pattern '\(a\+\)\+\$x' took too long at byte 0 of a text of 60 bytes"
    for encode in (tokenizer.encode, tokenizer.encode_ids):
        with pytest.raises(SplitPatternError, match=message):
            encode("a" * 60)


@pytest.mark.parametrize(
    ("normalizer", "message"),
    [
        (named("Precompiled", precompiled_charsmap="AAA"), r"precompiled_charsmap ends before its trie"),
        (named("Precompiled", precompiled_charsmap=TABLE[:4000]), r"precompiled_charsmap ends within its trie"),
        (named("Precompiled", precompiled_charsmap="AAAAAA=="), r"precompiled_charsmap has no trie"),
        (named("Precompiled", precompiled_charsmap="?"), r"precompiled_charsmap is no valid base64: "),
        (named("Precompiled"), r"normalizer lacks 'precompiled_charsmap'"),
        (named("Strip", strip_left=True), r"normalizer lacks 'strip_right'"),
        (named("Prepend"), r"normalizer lacks 'prepend'"),
        (named("Replace", pattern="a", content=""), r"normalizer\.pattern should be an object"),
    ],
)
def test_a_damaged_normalizer_is_refused_at_load(normalizer: Json, message: str) -> None:
    with pytest.raises(TokenizerFileError, match=message):
        load(normalizer)


def test_no_damage_to_a_table_makes_a_text_panic() -> None:
    rng = random.Random(6)
    table = base64.b64decode(charsmap({"a": "b", "ab": "", "é": "e"}))
    refused = 0
    for _ in range(300):
        bytes_ = bytearray(table)
        for _ in range(rng.randrange(1, 4)):
            bytes_[rng.randrange(len(bytes_))] = rng.randrange(256)
        # Into the few units that say something.
        at = 4 * rng.choice([index for index in range(1, len(table) // 4) if any(table[4 * index : 4 * index + 4])])
        bytes_[at + rng.randrange(4)] = rng.randrange(256)
        damaged = named("Precompiled", precompiled_charsmap=base64.b64encode(bytes_).decode())
        try:
            load(damaged).encode_ids("ab éaé\u0301 abxyz")
        except TokenizerFileError:
            refused += 1

    assert 0 < refused < 300


def test_an_unknown_normalizer_is_refused_with_all_that_are_known() -> None:
    with pytest.raises(UnsupportedComponentError, match=r"has type 'Upper'; hf_bpe supports 'BertNormalizer', 'Byte"):
        load(named("Sequence", normalizers=[named("Upper")]))
