"""Texts that provoke random pipelines."""

from __future__ import annotations

import random

from hostile import random_texts

_AROUND = ["", " ", "  ", "a", "\n ", "\u3000", "1", ".", "e\u0301", "语", "_", "\u0301", "▁", "\u00a0", "-"]
_PIECES = [
    *("▁", "▁▁", " ▁a", "The", "THE", "ÀÉ", "é", "É", "İ", "ΑΣ", "ẞ", "ǅ", "ﬁ", "``", "a\r\nb", "x y"),
    *(
        "<0x41>",
        "<0xE2>",
        "</w>",
        "##a",
        "a</w>",
        "<unk>",
        "a's",
        "do not",
        " n't",
        " ' ",
        " .",
        " ?",
        "!?",
        "«a»",
        "$5.00",
    ),
    *(
        "アー",
        "ひら",
        "한글",
        "１２",
        "٣",
        "Ωж",
        "a\u0301b",
        "漢a字",
        "👩‍👧",
        "\u200d",
        "\u00ad",
        "\ufffd",
        "\x00",
        "\t",
    ),
    *("hello", "world", "ab", "bc", "abc", "  ", "   ", "\n\n", "aaa", ", ", "-", "_x"),
]


def random_texts_for(rng: random.Random, contents: list[str]) -> list[str]:
    """Return hostile texts, texts of `contents` and what may stand around them, and the empty one."""
    texts = random_texts(6, seed=rng.randrange(1 << 30), tokens=contents)
    for _ in range(6):
        texts.append("".join(rng.choice((*_PIECES, *_AROUND)) for _ in range(rng.randrange(1, 12))))
    for _ in range(5 if contents else 0):
        texts.append("".join(rng.choice(_AROUND) + rng.choice(contents) for _ in range(rng.randrange(1, 6))))
    return ["", *texts]
