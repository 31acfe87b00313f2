"""Random BPE models that aren't byte-level: characters, byte fallback, affixes, unknown tokens, odd merges."""

from __future__ import annotations

import random
from typing import Any

from hostile import random_texts

Json = dict[str, Any]

_ALPHABET = ["a", "b", "c", "▁", " ", "é", "e", "\u0301", "语", "🙂", "1", "2", "-", "\n", "\x00", "#", "<"]
_PREFIXES = (None, None, None, "", "##", "é", "▁")
_SUFFIXES = (None, None, None, "", "</w>", "é")
_PATTERNS = (" ", "▁", "é", "a", "ab")
_BEHAVIORS = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")


def random_pipeline(rng: random.Random) -> Json:
    """Return the JSON of a small tokenizer whose model runs on characters."""
    model = random_model(rng)
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": _added_tokens(rng, model),
        "normalizer": rng.choice((None, None, {"type": "NFC"}, {"type": "NFKD"})),
        "pre_tokenizer": _pre_tokenizer(rng),
        "post_processor": None,
        "decoder": None,
        "model": model,
    }


def random_model(rng: random.Random) -> Json:
    """Return a model: an alphabet with holes, merges that texts use, and every setting."""
    prefix, suffix = rng.choice(_PREFIXES), rng.choice(_SUFFIXES)
    unk = rng.choice((None, "<unk>", "<unk>", "a"))
    vocab = dict.fromkeys(_symbols(rng, prefix or "", suffix or ""))
    merges = _merges(rng, vocab, prefix or "")
    if unk is not None and rng.random() < 0.9:
        vocab[unk] = None
    vocab |= dict.fromkeys(_byte_tokens(rng))
    vocab |= dict.fromkeys(token for token in ("", "aba", "▁a▁b", "语🙂", "é") if rng.random() < 0.2)
    tokens = list(vocab)
    if rng.random() < 0.5:
        rng.shuffle(tokens)
    ids = {token: index for index, token in enumerate(tokens)}
    return {
        "type": "BPE",
        "dropout": rng.choice((None, None, 0.0)),
        "unk_token": unk,
        "continuing_subword_prefix": prefix,
        "end_of_word_suffix": suffix,
        "fuse_unk": rng.random() < 0.5,
        "byte_fallback": rng.random() < 0.6,
        "ignore_merges": rng.random() < 0.4,
        "vocab": ids,
        "merges": [list(pair) for pair in merges],
    }


def model_texts(rng: random.Random, contents: list[str]) -> list[str]:
    """Return texts of the alphabet, hostile ones, and one long enough for the heap."""
    texts = ["", *_ALPHABET[:3], *random_texts(3, seed=rng.randrange(1 << 30), tokens=contents)]
    for length in (2, 3, 5, 8, 13, 30, 60, 200):
        texts.append("".join(rng.choice(_ALPHABET + contents) for _ in range(length)))
    run = rng.choice(_ALPHABET[:6])
    return [*texts, run * rng.randrange(2, 70)]


def _symbols(rng: random.Random, prefix: str, suffix: str) -> list[str]:
    """Return the spellings of characters that the vocabulary knows: each form may be missing."""
    known = [char for char in _ALPHABET if rng.random() < 0.8]
    forms = [char + end for char in known for end in ("", suffix)]
    forms += [prefix + form for form in forms]
    return [form for form in dict.fromkeys(forms) if rng.random() < 0.9]


def _byte_tokens(rng: random.Random) -> list[str]:
    kept = rng.choice((0.0, 0.9, 1.0, 1.0))
    return [f"<0x{byte:02X}>" for byte in range(256) if rng.random() < kept]


def _merges(rng: random.Random, vocab: dict[str, None], prefix: str) -> list[tuple[str, str]]:
    """Return pairs of tokens; the result is spelled as stock does, cutting the prefix's bytes off any right half."""
    pool = list(vocab)
    merges: dict[tuple[str, str], None] = {}
    for _ in range(rng.choice((0, 5, 40, 120)) if pool else 0):
        left, right = rng.choice(pool), rng.choice(pool)
        cut = right.encode()[len(prefix.encode()) :]
        if len(right.encode()) < len(prefix.encode()) or len(left) + len(right) > 24:
            continue
        try:
            whole = left + cut.decode()
        except UnicodeDecodeError:
            continue
        if rng.random() < 0.7 and not right.startswith(prefix):
            continue
        merges[left, right] = vocab[whole] = None
        pool += [whole] * 2
    ordered = list(merges)
    if rng.random() < 0.3:
        rng.shuffle(ordered)
    return ordered + ordered[: rng.choice((0, 0, 2))]


def _added_tokens(rng: random.Random, model: Json) -> list[Json]:
    contents = rng.sample(["<s>", "ab", "▁", "é", "<unk>", "[X]", "1"], rng.choice((0, 0, 1, 3)))
    size, tokens = len(model["vocab"]), list[Json]()
    for content in contents:
        new = content not in model["vocab"]
        tokens.append({"id": size if new else model["vocab"][content], "content": content})
        flags = ("single_word", "lstrip", "rstrip", "normalized", "special")
        tokens[-1] |= {name: rng.random() < 0.4 for name in flags}
        size += new
    return tokens


def _pre_tokenizer(rng: random.Random) -> Json | None:
    split = {
        "type": "Split",
        "pattern": {"String": rng.choice(_PATTERNS)},
        "behavior": rng.choice(_BEHAVIORS),
        "invert": rng.random() < 0.3,
    }
    digits = {"type": "Digits", "individual_digits": rng.random() < 0.5}
    return rng.choice((None, None, split, digits, {"type": "Sequence", "pretokenizers": [split, digits]}))
