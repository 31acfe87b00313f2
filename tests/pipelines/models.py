"""Random models: small vocabularies of bytes or of characters, with every option of BPE."""

from __future__ import annotations

import random

from hf_bpe.byte_alphabet import bytes_to_token
from pipelines.choices import Json, flag
from pipelines.texts import random_texts_for

Row = list[str]


def random_model(rng: random.Random, *, byte_alphabet: bool) -> Json:
    """Return a model; `byte_alphabet` says that its texts arrive in GPT-2's stand-ins for bytes, mostly."""
    if flag(rng, 0.85) == byte_alphabet:
        return _model(rng, _byte_rows(rng), _byte_units(rng), prefix=rng.choice((None, None, "")), suffix=None)
    prefix, suffix = rng.choice(((None, None), (None, None), (None, "</w>"), ("##", None), ("##", "</w>"), ("", "")))
    if flag(rng, 0.1):
        prefix, suffix = rng.choice(((None, "é"), ("▁", None), ("a", "a"), (None, " ")))
    rows = _character_rows(rng, prefix or "", suffix or "")
    units = sorted({unit for row in rows for unit in row})
    return _model(rng, rows, units, prefix=prefix, suffix=suffix)


def _byte_units(rng: random.Random) -> list[str]:
    units = [bytes_to_token(bytes([byte])) for byte in range(256)]
    return units if flag(rng, 0.6) else [unit for unit in units if flag(rng, 0.85)]


def _byte_rows(rng: random.Random) -> list[Row]:
    return [list(bytes_to_token(text.encode())) for text in random_texts_for(rng, [])]


def _character_rows(rng: random.Random, prefix: str, suffix: str) -> list[Row]:
    """Return words as symbols, with their affixes."""
    texts = [change(text) for text in random_texts_for(rng, []) for change in (str, str.lower)]
    spaced = [text.replace(" ", rng.choice("▁ ")) for text in texts]
    words = [word for text in spaced for word in (text.split() if flag(rng) else [text]) if word]
    return [_symbols(word, prefix, suffix) for word in [*words, "hello", "abc", "▁the", "a", "b", "ab"]]


def _symbols(word: str, prefix: str, suffix: str) -> Row:
    last = len(word) - 1
    return [prefix * (at > 0) + character + suffix * (at == last) for at, character in enumerate(word)]


def _model(rng: random.Random, rows: list[Row], units: list[str], *, prefix: str | None, suffix: str | None) -> Json:
    kept = rng.choice((1.0, 1.0, 0.9, 0.6))
    vocab: Json = dict.fromkeys(unit for unit in units if flag(rng, kept))
    merges = _merges(rng, rows, vocab, len(prefix or ""))
    unk = rng.choice((None, "<unk>", "<unk>", "a"))
    if unk is not None and flag(rng, 0.93):
        vocab[unk] = None
    byte_fallback = flag(rng, 0.3)
    if byte_fallback or flag(rng, 0.1):
        vocab |= dict.fromkeys(
            f"<0x{byte:02X}>" for byte in range(256) if byte < 256 * rng.choice((1.0, 1.0, 1.0, 0.7))
        )
    for word in ("Ġthe", "the", "ab", "▁the", "abc</w>", "Ġ12", "èªŀ", "語", "a b", " "):  # for ignore_merges
        if flag(rng, 0.4):
            vocab[word] = None
    vocab = vocab or {"a": None}
    tokens = list(vocab)
    if flag(rng):
        rng.shuffle(tokens)
    as_pairs = flag(rng) or any(" " in part for pair in merges for part in pair)
    return {
        "type": "BPE",
        "dropout": rng.choice((None, None, None, None, 0.0, 1.0)),
        "unk_token": unk,
        "continuing_subword_prefix": prefix,
        "end_of_word_suffix": suffix,
        "fuse_unk": flag(rng),
        "byte_fallback": byte_fallback,
        "ignore_merges": flag(rng, 0.3),
        "vocab": {token: index for index, token in enumerate(tokens)},
        "merges": [list(pair) for pair in merges] if as_pairs else [" ".join(pair) for pair in merges],
    }


def _merges(rng: random.Random, rows: list[Row], vocab: Json, prefix: int) -> list[tuple[str, str]]:
    """Return merges that texts use; half of the time in an order that no training gives."""
    rows = [[unit for unit in row if unit in vocab] for row in rows]
    merges: dict[tuple[str, str], None] = {}
    for _ in range(rng.choice((0, 5, 80, 80))):
        row = rng.choice(rows)
        if len(row) < 2:
            continue
        at = rng.randrange(len(row) - 1)
        left, right = row[at : at + 2]
        if at and len(right) < prefix:
            continue
        merged = left + right[prefix:]
        merges[left, right] = vocab[merged] = None
        row[at : at + 2] = [merged]
    ordered = list(merges)
    if flag(rng):
        rng.shuffle(ordered)
    return ordered + ordered[: rng.choice((0, 0, 3))]
