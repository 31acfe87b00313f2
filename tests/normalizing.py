"""Random normalizers, and one tokenizer for each that shows every byte of the normalized text with its offsets."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import tokenizers
from charsmaps import charsmap
from hostile import random_texts

from hf_bpe._native import Tokenizer
from hf_bpe.byte_alphabet import bytes_to_token

Json = dict[str, Any]

BYTES = {bytes_to_token(bytes([byte])): byte for byte in range(256)}
BYTE_LEVEL: Json = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}

TABLE = charsmap(
    {"a": "b", "ab": "x", "é": "e", "ﬁ": "fi", "\r": " ", "\r\n": "\n", "\u200b": "", "e\u0301": "é", "o": ""}
    | {"Å": "A\u030a", "ß": "ss", "語": "ご", "한": "h", "A": "aa", "\t": "    ", "\ufeff": "", "🙂": ":-)", "İ": "i"}
)
"""A table in which keys hide each other, appear, vanish, grow and shrink."""

PLAIN = ["NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "ByteLevel"]
STRINGS = ["a", " ", "  ", "é", "e\u0301", "aa", "\n", "\r\n", "語", "🙂", ".", "$1", "^", "Ġ", "▁", ""]
REGEXES = [
    *(r"\s+", r" {2,}", r"[aeiou]", r"(?i)the", r"\p{M}", r"\p{L}+", r"\d{3}", r"(.)\1", r"[^\x00-\x7f]", r"(?<=a)b?"),
    *("^", "$", "^ ?", r"\b", "", "a*", "(?=b)", r"\n|^", r"\A\s*", r".+", r"(?m:^.)", r"''|``"),
]
CONTENTS = ["", " ", "▁", "a", "é", "xy", "e\u0301", "語語", "\u0301", "$1", "\\0", "🙂", "A"]
PREFIXES = ["▁", " ", "a", "é", "xyz", "\u0301", "", "語 "]


def named(kind: str, **fields: Any) -> Json:
    """Return a component."""
    return {"type": kind, **fields}


def random_step(rng: random.Random) -> Json:
    """Return any normalizer but a sequence, with any options."""
    flag = lambda: rng.random() < 0.5  # noqa: E731
    makers: list[Callable[[], Json]] = [
        *(lambda: named(rng.choice(PLAIN)) for _ in range(4)),
        lambda: named("Strip", strip_left=flag(), strip_right=flag()),
        lambda: named("Replace", pattern={"String": rng.choice(STRINGS)}, content=rng.choice(CONTENTS)),
        lambda: named("Replace", pattern={"Regex": rng.choice(REGEXES)}, content=rng.choice(CONTENTS)),
        lambda: named("Prepend", prepend=rng.choice(PREFIXES)),
        lambda: named("Precompiled", precompiled_charsmap=TABLE),
        lambda: named(
            "BertNormalizer",
            clean_text=flag(),
            handle_chinese_chars=flag(),
            strip_accents=rng.choice([None, True, False]),
            lowercase=flag(),
        ),
    ]
    return rng.choice(makers)()


def random_sequence(rng: random.Random) -> Json:
    """Return up to four normalizers in a row, now and then nested."""
    steps = [random_step(rng) for _ in range(rng.randrange(1, 5))]
    if rng.random() < 0.1:
        steps[0] = named("Sequence", normalizers=[steps[0], random_step(rng)])
    return steps[0] if len(steps) == 1 else named("Sequence", normalizers=steps)


def texts_for(rng: random.Random, count: int) -> list[str]:
    """Return texts that have what normalizers look for."""
    ends = ["", " ", "\u3000", "\u200b", "\u0301", "\ufeff", "o", "A", "\t\n"]
    return [
        rng.choice(ends) + text + rng.choice(ends)
        for text in random_texts(count, seed=rng.randrange(1 << 30), tokens=[])
    ]


def is_panic(error: BaseException) -> bool:
    """Return whether stock gave up in a way that nobody can want to equal."""
    return type(error).__name__ == "PanicException"


class Both:
    """A normalizer in both libraries, before a vocabulary of bytes."""

    def __init__(self, normalizer: Json, added_tokens: list[Json] | None = None) -> None:
        """Load it twice."""
        self.normalizer = normalizer
        model = {"type": "BPE", "vocab": BYTES, "merges": [], "byte_fallback": False}
        parts = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added_tokens or []}
        parts |= {"normalizer": normalizer, "pre_tokenizer": BYTE_LEVEL, "post_processor": None}
        data = json.dumps(parts | {"decoder": None, "model": model})
        self.stock = tokenizers.Tokenizer.from_str(data)
        self.ours = Tokenizer.from_json(data)

    def check(self, text: str) -> bool:
        """Assert that bytes and offsets of the normalized `text` equal stock's; False where stock panics."""
        try:
            expected = self.stock.encode(text, add_special_tokens=False)
        except BaseException as error:
            if not is_panic(error):
                raise
            expected = None
        got = self.ours.encode(text, add_special_tokens=False)
        where = f"{json.dumps(self.normalizer)[:600]} on {text!r}"
        assert self.ours.encode_ids(text, add_special_tokens=False) == got.ids, where
        if expected is not None:
            assert got.ids == expected.ids, where
            assert got.offsets == expected.offsets, where
        return expected is not None
