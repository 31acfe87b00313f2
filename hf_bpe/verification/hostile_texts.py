"""Texts on which tokenizers part, and a source of more."""

from __future__ import annotations

import random

_RUN = 4_000

HOSTILE_TEXTS: tuple[str, ...] = (
    *("", "a", " ", "\n", "\t", "  ", "a ", " a", "  a", "a  b", "a\n", "\na", " \n a", "\r\n\r\n", "\n \n"),
    *("a" * _RUN, " " * _RUN, "\n" * _RUN, "語" * _RUN, "^" * _RUN, "1" * _RUN, "ab" * _RUN, "🙂" * 500),
    " \t\n\r\n   \u00a0\u3000\x0b\x0c\x1c\u2028\u0085 ",
    "".join(map(chr, range(0x20))) + "\x7f" + "".join(map(chr, range(0x80, 0xA0))),
    "".join(chr(0x4E00 + (index * 7919) % 20_000) for index in range(2_000)),
    *("a\x00b\x00\x00 c", "e\u0301 a\u0308\u0323 o" + "\u0300\u0316" * 100, "\u0301\u0301 \u0308a", "a\u200bb\u200dc"),
    *("\u1112\u1161\u11ab \ud55c", "Å Å A\u030a \u1e9b\u0323 ﬁ ½ ² Ⅷ ㌔", "ｆｕｌｌ　ｗｉｄｔｈ ﾊﾝｶｸ"),
    *("👩‍👩‍👧‍👦 👍🏽 🇩🇪🇫 ❤️‍🔥 1️⃣", "שלום مرحبا \u202eabc\u202c", "ภาษาไทย क्षत्रिय தமிழ் বাংলা"),
    *("\u0378\u0379 \U000e0fff \U0010ffff \ufdd0\ufffe", "\ue000\uf8ff\U000f0000", "\ufffd\ufffd a\ufffd"),
    *("\ufeffa\ufeff b\ufeff", "a\u2028b\u2029c\u0085d\x0be\x0cf", "ß ẞ İ ı ŉ ǰ Σας ΟΔΟΣ"),
    *(
        "1 12 123 1234 12345678 ١٢٣ ४५ ½ 3.14 0x1F",
        "don't DON'T I'll we'RE '''s ’s 'ſ 'S x'D",
        "ĠtheĊ Ġ Ā ▁a▁▁b <0x0A>",
    ),
    "def f(x):\n\treturn {**x, 'a': [1,2,3]}  # naïve\r\n    pass\n\n\n        deeper",
    "https://example.org/a_b-c?d=%20e&f=1#g",
    "a<|endoftext|>b <|endoftext|> <|im_start|>user\n<|im_end|><|eot_id|> <s>[INST] </s>",
    "<|endoftext| > <|end<|endoftext|>oftext|> <||> <| |>",
    "HelloWorld camelCase SCREAMING_CASE iPhone15Pro XMLHttpRequest",
    "Съешь же ещё этих мягких французских булок. Ζαφείρι δέξου πάγκαλο.",
    "我能吞下玻璃而不伤身体。私はガラスを食べられます。나는 유리를 먹을 수 있어요.",
)
"""Texts by hand: empty, runs, blanks, controls, marks, scripts, emoji, unassigned, digits, code, special tokens."""

_PIECES = (
    *"aAbzZ019 '_-.,\n\t\r<|>",
    *("the", " of", "ing", "'s", "'LL", "12", "\r\n", "  ", "http://", "naïve"),
    *("\x00", "\x1b", "\x85", "\xa0", "\u200b", "\u200d", "\u2028", "\ufeff", "\ufffd", "\u0378"),
    *("\u0301", "\u0316", "e\u0301", "\u1112\u1161", "ﬁ", "Å", "Ⅷ", "²", "١", "ſ", "İ", "ß", "ǅ", "ʰ"),
    *("語", "漢字", "한국", "かな", "、", "Привет", "שלום", "ภา", "क्ष", "🙂", "👩‍👧", "👍🏽", "🇩🇪", "️", "▁", "Ġ"),
)


def random_texts(count: int, rng: random.Random) -> list[str]:
    """Return `count` short texts of hostile pieces and of any characters."""
    return ["".join(_piece(rng) for _ in range(rng.randrange(1, 24))) for _ in range(count)]


def _piece(rng: random.Random) -> str:
    chance = rng.random()
    if chance < 0.1:
        code = rng.choice((rng.randrange(0x110000), rng.randrange(0x3000), rng.randrange(0x1E000, 0x20000)))
        return "\ufffd" if 0xD800 <= code < 0xE000 else chr(code)
    piece: str = rng.choice(_PIECES)
    return piece * rng.randrange(2, 12) if chance > 0.9 else piece
