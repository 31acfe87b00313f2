"""Builds the tables of SentencePiece's normalization, as `Precompiled` of a `tokenizer.json` carries them."""

from __future__ import annotations

import base64
import struct
from pathlib import Path

BLOCK = 256


def charsmap(rules: dict[str, str]) -> str:
    """Return a table by which each key becomes its value; keys share what they begin with in a trie of bytes.

    Each node takes a block of units, one for each byte: wasteful, but plain. The first unit of a node is its leaf.
    """
    texts, values = b"", {}
    for key, value in rules.items():
        values[key.encode()] = len(texts)
        texts += value.encode() + b"\0"
    prefixes = sorted({key[:length] for key in values for length in range(len(key) + 1)})
    node = {prefix: BLOCK * number for number, prefix in enumerate(prefixes, 1)}
    units = [0] * (BLOCK * (len(prefixes) + 1))
    units[0] = node[b""] << 10
    for prefix in prefixes[1:]:
        at = node[prefix[:-1]] + prefix[-1]
        units[at] = (at ^ node[prefix]) << 10 | (prefix in values) << 8 | prefix[-1]
        if prefix in values:
            units[node[prefix]] = 1 << 31 | values[prefix]
    trie = struct.pack(f"<{len(units)}I", *units)
    return base64.b64encode(struct.pack("<I", len(trie)) + trie + texts).decode()


def sentencepiece_charsmap(rule: str, folder: Path) -> str:
    """Return the table that SentencePiece puts into a model trained with the normalization `rule`."""
    import sentencepiece
    from sentencepiece import sentencepiece_model_pb2 as model_pb2

    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["the cat sat on the mat", "a b c d e f g h"] * 20),
        model_prefix=str(folder / rule),
        model_type="char",
        vocab_size=20,
        normalization_rule_name=rule,
        minloglevel=2,
    )
    model = model_pb2.ModelProto()
    model.ParseFromString((folder / f"{rule}.model").read_bytes())
    return base64.b64encode(model.normalizer_spec.precompiled_charsmap).decode()
