"""Random decoders, a vocabulary that provokes them, and random ids."""

from __future__ import annotations

import json
import random
from typing import Any

from tokenizers import Tokenizer as Stock

from hf_bpe._native import Tokenizer
from hf_bpe.byte_alphabet import CHAR_TO_BYTE

Json = dict[str, Any]

# Bytes that begin, continue, break and complete characters.
_BYTES = [f"<0x{byte:02X}>" for byte in sorted({*b"aA \n", *"é叫😀".encode(), 0x80, 0xC0, 0xE2, 0xFF, 0x00})]
_TOKENS = [
    *(
        "",
        " ",
        "  ",
        "▁",
        "▁▁",
        "▁a",
        "a▁",
        "▁the",
        "the",
        "a",
        "aa",
        "b",
        "x",
        "A",
        "é",
        "語",
        "😀",
        "\u0301",
        "\ufffd",
    ),
    *("a\ufffd", "\ufffd ", "<0xe5>", "<0x+A>", "<0xG1>", "<0x1>", "<0xé>", "<0x▁>", "0x41", "<0x41", "x<0x41>"),
    *("</w>", "a</w>", "</w>a", "a</w>b</w>", "##", "##a", "a##", "##▁a", "Ġ", "Ġa", "Ċ", "Ã", "Ã©", "ðŁĺĢ", "ðŁ"),
    *(".", " .", "?", "!", ",", "'", " ' ", "n't", "'m", "'s", "'ve", "'re", "do not", " do not", " .?", "\n", "\x00"),
    *("@@", "a@@", "_", "_a", "__", "İ", "ẞ", "ς", "\u0085", "\u2028", "\ufeff", "각", "\u1112\u1161\u11ab", "\u0378"),
]
_ALL = list(dict.fromkeys([*_TOKENS, *_BYTES]))
# Added tokens, of which ByteLevel decoding keeps the text by intent: so none in the byte alphabet that isn't ASCII.
_ADDED = ["<s>", "</s>", "▁▁▁", "<0x42>", "<0xC4>", " pad ", "##s", "s</w>", "漢字", "<|é|>\u0301", "▁x", "Ġ▁"]
_REGEXES = ["▁", "^▁+", r"\s+", "a|b", "x*", "", r"(?<=a)▁", "\ufffd", "a$", r"\p{L}+", "[.?!]", "^", "$"]
_STRINGS = ["▁", " ", "a", "aa", "▁▁", "", "</w>", "##", "é", "\ufffd", "@@", ".", "$1", "\\s"]
_CONTENTS = ["", " ", "▁", "a", "é", "$0", "\\1", "\ufffd", "##", "<0x41>", "</w>"]

LLAMA: Json = {
    "type": "Sequence",
    "decoders": [
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0},
    ],
}
"""The decoder of Llama 2 and its like."""


def random_decoder(rng: random.Random, depth: int = 0) -> Json:
    """Return a decoder of any supported kind, sequences of up to four steps included."""
    kind = rng.choice([*_MAKERS, *(["Sequence"] * 6 if depth == 0 else ["Sequence"] if depth == 1 else [])])
    if kind != "Sequence":
        return {"type": kind, **_MAKERS[kind](rng)}
    if rng.random() < 0.2:
        return _kin_of_llama(rng)
    return {"type": "Sequence", "decoders": [random_decoder(rng, depth + 1) for _ in range(rng.randrange(5))]}


def _kin_of_llama(rng: random.Random) -> Json:
    steps = [
        *LLAMA["decoders"][:3],
        LLAMA["decoders"][3] | {"start": rng.choice((0, 1, 1)), "stop": rng.choice((0, 0, 1))},
    ]
    return {"type": "Sequence", "decoders": steps[: rng.choice((2, 3, 4, 4, 4))]}


def _replace(rng: random.Random) -> Json:
    regex = rng.random() < 0.5
    pattern = {"Regex": rng.choice(_REGEXES)} if regex else {"String": rng.choice(_STRINGS)}
    return {"pattern": pattern, "content": rng.choice(_CONTENTS)}


def _metaspace(rng: random.Random) -> Json:
    scheme = rng.choice(("always", "first", "never", None))
    settings: Json = {"replacement": rng.choice("▁▁▁_a语")}
    if scheme is not None:
        settings["prepend_scheme"] = scheme
    if rng.random() < 0.5:
        settings["split"] = rng.random() < 0.5
    if rng.random() < 0.3:  # as older files say it
        settings |= {"add_prefix_space": scheme != "never", "str_rep": "▁"}
    return settings


_MAKERS: dict[str, Any] = {
    "ByteFallback": lambda rng: {},
    "ByteLevel": lambda rng: {name: rng.random() < 0.5 for name in ("add_prefix_space", "trim_offsets", "use_regex")},
    "BPEDecoder": lambda rng: {"suffix": rng.choice(("</w>", "</w>", "@@", "a", "", "▁"))},
    "Fuse": lambda rng: {},
    "Metaspace": _metaspace,
    "Replace": _replace,
    "Strip": lambda rng: {
        "content": rng.choice("  ▁aé_"),
        "start": rng.randrange(4),
        "stop": rng.choice((0, 0, 1, 2)),
    },
    "WordPiece": lambda rng: {"prefix": rng.choice(("##", "##", "@@", "", "▁")), "cleanup": rng.random() < 0.5},
}


def file_with(decoder: Json | None, *, byte_level: bool = False) -> Json:
    """Return a tokenizer.json that decodes by `decoder`; `byte_level` says what its pre-tokenizer is."""
    added = [{"id": len(_ALL) + number, "content": text} for number, text in enumerate(_ADDED)]
    for number, token in enumerate(added):
        token |= dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
        token["special"] = number % 2 == 0
    pre_tokenizer = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {
        "version": "1.0",
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": pre_tokenizer if byte_level else None,
        "post_processor": None,
        "decoder": decoder,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": True,
            "ignore_merges": False,
            "vocab": {token: number for number, token in enumerate(_ALL)},
            "merges": [],
        },
    }


class Both:
    """One decoder, in both libraries."""

    def __init__(self, seed: int) -> None:
        """Make the decoder of `seed`."""
        self.rng = random.Random(seed)
        self.decoder = random_decoder(self.rng) if self.rng.random() < 0.97 else None
        data = json.dumps(file_with(self.decoder, byte_level=self.rng.random() < 0.3))
        self.ours = Tokenizer.from_json(data)
        self.stock = Stock.from_str(data)

    def ids(self, limit: int = 12) -> list[int]:
        """Return random ids: any, or mostly bytes, or mostly spaces; some that no token has."""
        rng = self.rng
        size = self.stock.get_vocab_size(with_added_tokens=True) + 3
        bytes_from = len(_ALL) - len(_BYTES)
        kind = rng.randrange(3)
        ids = []
        for _ in range(rng.randrange(limit)):
            if kind == 1 and rng.random() < 0.7:
                ids.append(bytes_from + rng.randrange(len(_BYTES)))
            elif kind == 2 and rng.random() < 0.6:
                ids.append(rng.randrange(8))
            else:
                ids.append(rng.randrange(size))
        return ids


assert all(text.isascii() or not CHAR_TO_BYTE.keys() >= set(text) for text in _ADDED)
assert not set(_ADDED) & set(_ALL)
