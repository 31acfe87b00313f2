"""Finds a short text to which two tokenizers give different ids: what a refusal shows.

This looks at probes only. A text that is found is a proof; that none is found proves nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

from hf_bpe._native import Tokenizer

Encode = Callable[[str], list[int]]

PROBES: tuple[str, ...] = (
    *(
        "a",
        " a",
        "A",
        "1",
        "12",
        "123",
        "1234",
        "12345678",
        "'s",
        "'S",
        "don't",
        "DON'T",
        "I'LL",
        "ab",
        "a b",
        "aB",
        "AB",
    ),
    *(
        "(a",
        ".a",
        "a.",
        "a/b",
        "a\n",
        "\n",
        "\n\n",
        "\r\n",
        " \n",
        "  ",
        "   ",
        "  a",
        "\t",
        "\ta",
        "a  b",
        " \n a",
        "!\n",
    ),
    *(
        " !",
        "!!",
        " 1",
        "a1",
        "1a",
        "é",
        "e\u0301",
        "Å",
        "\ufb01",
        "é1",
        "語",
        "漢字かな",
        "中文a",
        "한국",
        "\u1112\u1161",
    ),
    *("हिन्दी", "ไทย", "שלום", "🙂", "👩\u200d👧", "\u00a0", "\u2028", "\u0085", "\u200b", "\ufeff", "²", "ß", "ſ", "İ"),
    *(
        "\x00",
        "_a",
        "a_b",
        "a-b",
        "//",
        "://a",
        "<|a|>",
        "#",
        "$1",
        "x = 1",
        "        a",
        "\n    a",
        "'ſ",
        "a\u0301\u0301",
    ),
)
"""Short texts on which published pipelines part."""


def encoder(core: Tokenizer) -> Encode:
    """Return how `core` encodes a text, added tokens included, without what a template adds."""
    return lambda text: core.encode_ids(text, add_special_tokens=False)


def unreached(core: Tokenizer) -> list[str]:
    """Return tokens that no merges lead to, so that only a look-up of whole pretokens yields them, as texts."""
    try:
        return as_texts(core.agreement_with_ranks()[2])
    except ValueError:
        return []


def by_affixes(core: Tokenizer) -> str:
    """Return what changes where a model loses its affixes, as the end of a sentence, or nothing if no text shows it."""
    whole = json.loads(core.to_json(pretty=False))
    model = whole["model"]
    model |= {"continuing_subword_prefix": None, "end_of_word_suffix": None}
    model["merges"] = [pair for pair in model["merges"] if "".join(pair) in model["vocab"]]
    ours, theirs = encoder(core), encoder(Tokenizer.from_json(json.dumps(whole)))
    text = find(ours, theirs)
    return "" if text is None else f": {text!r} is {ours(text)} and would become {theirs(text)}"


def as_texts(found: Iterable[bytes]) -> list[str]:
    """Return those of the byte strings that are UTF-8."""
    texts = (data.decode(errors="replace") for data in found)
    return [text for text in texts if "\ufffd" not in text]


def find(first: Encode, second: Encode, texts: Iterable[str] = PROBES) -> str | None:
    """Return the shortest text found to which the two give different ids, or None."""
    different = [text for text in dict.fromkeys(texts) if first(text) != second(text)]
    if not different:
        return None
    return shrink(min(different, key=_plainness), first, second)


def _plainness(text: str) -> tuple[int, bool, str]:
    """Sort short texts first, and of equally long ones those that can be read."""
    return len(text.encode(errors="surrogatepass")), not text.isprintable(), text


def shrink(text: str, first: Encode, second: Encode) -> str:
    """Leave characters out of `text` for as long as the two still differ."""
    smaller = True
    while smaller:
        smaller = False
        for at in range(len(text)):
            shorter = text[:at] + text[at + 1 :]
            if shorter and first(shorter) != second(shorter):
                text, smaller = shorter, True
                break
    return text
