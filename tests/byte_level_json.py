"""Small byte-level `tokenizer.json` files, part by part, and the pretokens that a tokenizer makes."""

from __future__ import annotations

import json
from typing import Any

from hf_bpe._native import Tokenizer
from hf_bpe.byte_alphabet import BYTE_TO_CHAR

BYTES = sorted(BYTE_TO_CHAR.values())
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}


def tokenizer_json(
    merges: list[Any] | None = None,
    *,
    vocab: list[str] | None = None,
    split: Any = None,
    added: list[dict[str, Any]] | None = None,
    normalizer: dict[str, Any] | None = None,
    pre_tokenizer: dict[str, Any] | None = None,
    ignore_merges: bool = False,
) -> str:
    """Return a byte-level tokenizer.json: 256 bytes, then what `merges` make (or `vocab` as it is)."""
    pairs = [merge.split(" ") if isinstance(merge, str) else merge for merge in merges or []]
    tokens = vocab or [*BYTES, *dict.fromkeys(left + right for left, right in pairs)]
    steps = [{"type": "Split", "pattern": split, "behavior": "Isolated", "invert": False}] if split else []
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": False}
    numbered = [{"id": len(tokens) + index, **flags, **token} for index, token in enumerate(added or [])]
    return json.dumps(
        {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": numbered,
            "normalizer": normalizer,
            "pre_tokenizer": pre_tokenizer or {"type": "Sequence", "pretokenizers": [*steps, BYTE_LEVEL]},
            "post_processor": None,
            "decoder": BYTE_LEVEL,
            "model": {
                "type": "BPE",
                "dropout": None,
                "unk_token": None,
                "continuing_subword_prefix": None,
                "end_of_word_suffix": None,
                "fuse_unk": False,
                "byte_fallback": False,
                "ignore_merges": ignore_merges,
                "vocab": {token: id for id, token in enumerate(tokens)},
                "merges": merges or [],
            },
        }
    )


def pretokens(tokenizer: Tokenizer, text: str) -> list[str]:
    """Return the pretokens of `text`, seen through the word ids of its tokens."""
    encoding = tokenizer.encode(text, add_special_tokens=False)
    spans: dict[int, list[tuple[int, int]]] = {}
    for word, span in zip(encoding.word_ids, encoding.offsets, strict=True):
        assert word is not None
        spans.setdefault(word, []).append(span)
    return [text[parts[0][0] : parts[-1][1]] for parts in spans.values()]
