"""Texts that find mistakes, and a source of more."""

from __future__ import annotations

import random

HOSTILE: dict[str, str] = {
    "empty": "",
    "one byte": "a",
    "a space": " ",
    "a newline": "\n",
    "only blanks": " \t\n\r\n   \u00a0\u3000\x0b\x0c\x1c\u2028\u0085 ",
    "a run of letters": "a" * 20_000,
    "a run of spaces": " " * 20_000,
    "a run of newlines": "\n" * 5_000 + "\r\n" * 5_000,
    "a run of one ideograph": "語" * 10_000,
    "a run of carets": "^" * 20_000,
    "ideographs without spaces": "".join(chr(0x4E00 + (index * 7919) % 20_000) for index in range(5_000)),
    "controls": "".join(map(chr, range(0x20))) + "\x7f" + "".join(map(chr, range(0x80, 0xA0))),
    "NUL inside": "a\x00b\x00\x00 c",
    "combining marks": "e\u0301 a\u0308\u0323 " + "o" + "\u0300\u0316" * 300,
    "marks without a base": "\u0301\u0301 \u0308a",
    "hangul jamo": "\u1112\u1161\u11ab \ud55c",
    "composed and decomposed": "Å Å A\u030a \u1e9b\u0323 ﬁ ½ ² Ⅷ ㌔",
    "family emoji": "👩‍👩‍👧‍👦 👍🏽 🇩🇪🇫 ❤️‍🔥 1️⃣",
    "right to left": "שלום مرحبا \u202eabc\u202c",
    "thai and devanagari": "ภาษาไทย क्षत्रिय",
    "unassigned": "\u0378\u0379 \U000e0fff \U0010ffff \ufdd0\ufffe",
    "private use": "\ue000\uf8ff\U000f0000",
    "replacement characters": "\ufffd\ufffd a\ufffd",
    "byte order marks": "\ufeffa\ufeff b\ufeff",
    "line separators": "a\u2028b\u2029c\u0085d\x0be\x0cf",
    "digits": "1 12 123 1234 12345678 ١٢٣ ४५ ½ 3.14 0x1F",
    "contractions": "don't DON'T I'll we'RE '''s ’s 'ſ 'S x'D",
    "german and turkish": "ß ẞ İ ı ŉ ǰ",
    "byte alphabet": "ĠtheĊ Ġ Ā ā Ń",
    "code": "def f(x):\n\treturn {**x, 'a': [1,2,3]}  # naïve\r\n",
    "url": "https://example.org/a_b-c?d=%20e&f=1#g",
    "special tokens as text": "a<|endoftext|>b <|endoftext|> <|im_start|>user\n<|im_end|><|eot_id|><|begin_of_text|>",
    "broken special tokens": "<|endoftext| > <|end<|endoftext|>oftext|> <||> <|",
}
"""Hostile texts by what is hostile about them."""

_PIECES = [
    *"aAbzZ019 '_-.,\n\t\r<|>",
    *("the", " of", "ing", "'s", "'LL", "12", "\r\n", "  ", "http://", "naïve"),
    *("\x00", "\x1b", "\x85", "\xa0", "\u200b", "\u200d", "\u2028", "\ufeff", "\ufffd", "\u0378"),
    *("\u0301", "\u0316", "e\u0301", "\u1112\u1161", "ﬁ", "Å", "Ⅷ", "²", "١", "ſ", "İ", "ß", "ǅ", "ʰ"),
    *("語", "漢字", "한국", "かな", "、", "Привет", "שלום", "ภา", "क्ष"),
    *("🙂", "👩‍👧", "👍🏽", "🇩🇪", "️", "\U000e0001", "\ue000", "Ġ", "Ċ"),
]


def random_texts(count: int, *, seed: int, tokens: list[str]) -> list[str]:
    """Return `count` short texts of hostile pieces, any characters, and the added `tokens`."""
    rng = random.Random(seed)
    return ["".join(_piece(rng, tokens) for _ in range(rng.randrange(1, 24))) for _ in range(count)]


def _piece(rng: random.Random, tokens: list[str]) -> str:
    choice = rng.random()
    if choice < 0.05 and tokens:
        return rng.choice(tokens)
    if choice < 0.15:
        return _any_character(rng)
    piece = rng.choice(_PIECES)
    return piece * rng.randrange(2, 12) if choice > 0.9 else piece


def _any_character(rng: random.Random) -> str:
    code = rng.choice((rng.randrange(0x110000), rng.randrange(0x3000), rng.randrange(0x1E000, 0x20000)))
    return "\ufffd" if 0xD800 <= code < 0xE000 else chr(code)
