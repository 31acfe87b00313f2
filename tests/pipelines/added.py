"""Random added tokens."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from pipelines.choices import Json, flag

# Contents that overlap, touch white space or word characters, change when normalized, or are tokens of the model.
CONTENTS = [
    *("<a>", "<a", "a>", "<a><b>", "<b>", "><", "<|x|>", "<|x", " ", "  ", "\n", "\t", " a", "a ", " a "),
    *("the", "th", "ab", "a", "A", "'s", "12", "_", "語", "漢字", "🙂", "e\u0301", "ﬁ", "fi", "Ⅷ", "Å", "㌔x"),
    *("\u1112\u1161", "\u0301", "\u200b", "\ufeff", "\ufffd", "Ġ", "Ġthe", "Ċ", "<unk>", "\u00a0", "½ ", "² "),
    *("▁", "▁a", "a▁", "<0x41>", "</w>", "a</w>", "##a", "THE", "É", "İ", "<S>", "\u00ada"),
]


def random_added_tokens(rng: random.Random, vocab: Json, normal_form: Callable[[str], str | None]) -> list[Json]:
    """Return added tokens with ids behind those of `vocab`, or those that it gives.

    Stock hangs on a normalized token whose normal form is empty, and draws lots between two with the same one: such
    tokens are matched in the raw text here. Both have tests of their own.
    """
    contents = rng.sample(CONTENTS, rng.randrange(0, 9))
    if flag(rng):
        contents.append(rng.choice([token for token in vocab if token]))
    tokens: list[Json] = []
    forms: set[str] = set()
    size = len(vocab)
    for content in dict.fromkeys(contents):
        new = content not in vocab
        token: dict[str, Any] = {"id": size if new else vocab[content], "content": content}
        token |= {name: flag(rng, 0.4) for name in ("single_word", "lstrip", "rstrip", "normalized", "special")}
        if token["normalized"]:
            form = normal_form(content)
            if not form or form in forms:
                token["normalized"] = False
            else:
                forms.add(form)
        tokens.append(token)
        size += new
    return tokens
