"""Random texts in five scripts, with what is hard to cut: long words, marks, emoji, long runs, special tokens."""

from __future__ import annotations

import random

WORDS = {
    "Latin": ("the", "naïve", "Straße", "don't", "3.14", "e.g.", "Ångström", "cafe\u0301", "a" * 90, "U.S."),
    "Cyrillic": ("и", "привет", "мир", "объект", "достопримечательность", "Ёлка", "й" * 60),
    "Han": ("人人生而自由", "中", "尊严和权利", "上一律平等", "語" * 50, "漢字かな交じり文"),
    "Arabic": ("يولد", "جميع", "الناس", "أَحْرَارًا", "و" * 40, "۱۲۳"),
    "Devanagari": ("सभी", "मनुष्यों", "को", "क्षत्रिय", "नि" * 30, "१२३"),
}
MARKS = (
    " ",
    " ",
    " ",
    ", ",
    ". ",
    "! ",
    "? ",
    "。",
    "।",
    "؟ ",
    "\n",
    "\r\n",
    "\n\n",
    "",
    "  ",
    "\t",
    "—",
    " (",
    ") ",
    '"',
)
ODD = (
    "🙂",
    "👩\u200d👩\u200d👧",
    "🇩🇪🇫🇷",
    "\u0301",
    "\u200b",
    "\ufeff",
    " " * 50,
    "<s>",
    "\u2028",
    "\x00",
    "İ",
    "ﬁ",
    "\ufffd",
)


def random_text(number: int) -> str:
    """Return the text of a number: the same on every machine."""
    lot = random.Random(number)
    words = WORDS[list(WORDS)[number % len(WORDS)]]
    parts: list[str] = []
    for _ in range(lot.randint(0, 60)):
        parts += (lot.choice(words) if lot.random() < 0.95 else lot.choice(ODD), lot.choice(MARKS))
    return "".join(parts)


TEXTS = [random_text(number) for number in range(1_000)]
