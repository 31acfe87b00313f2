"""Random decoders."""

from __future__ import annotations

import random

from pipelines.choices import PATTERNS, WORDS, Json, Maker, byte_level, flag, metaspace, sequence


def _plain(rng: random.Random) -> Json:
    return {"type": rng.choice(("ByteFallback", "ByteFallback", "Fuse"))}


def _replace(rng: random.Random) -> Json:
    pattern = rng.choice(({"String": "▁"}, {"String": "Ġ"}, {"String": "</w>"}, *PATTERNS))
    return {"type": "Replace", "pattern": pattern, "content": rng.choice(WORDS)}


def _strip(rng: random.Random) -> Json:
    return {
        "type": "Strip",
        "content": rng.choice(" ▁a語"),
        "start": rng.randrange(3),
        "stop": rng.choice((0, 0, 1, 2)),
    }


def _bpe(rng: random.Random) -> Json:
    return {"type": "BPEDecoder", "suffix": rng.choice(("</w>", "</w>", *WORDS))}


def _word_piece(rng: random.Random) -> Json:
    return {"type": "WordPiece", "prefix": rng.choice(("##", "##", *WORDS)), "cleanup": flag(rng)}


MAKERS: tuple[Maker, ...] = (byte_level, byte_level, metaspace, _plain, _plain, _replace, _strip, _bpe, _word_piece)

_LLAMA: Json = {
    "type": "Sequence",
    "decoders": [
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0},
    ],
}


def random_decoder(rng: random.Random, model: Json) -> Json | None:
    """Return none, the usual one for the model, any other, or a Sequence."""
    kind = rng.random()
    if kind < 0.1:
        return None
    if kind < 0.4:
        if model["byte_fallback"]:
            return _LLAMA
        return _bpe(rng) if model["end_of_word_suffix"] else byte_level(rng)
    if kind < 0.65:
        return rng.choice(MAKERS)(rng)
    return sequence(rng, "decoders", MAKERS, most=4)
