"""SentencePiece models for tests: trained small ones, hand-made ones, and texts that tell their rules apart."""

from __future__ import annotations

import io
import random
from collections.abc import Sequence
from functools import cache
from typing import Any

from hostile import HOSTILE

from hf_bpe.formats.pieces.model import PieceModel, PieceType, TextRules
from hf_bpe.formats.sentencepiece import proto

USER_DEFINED = ["<ud>", "<u", "ab", "aba", "the", " x", "[A|B]", "a.b", "^$"]

_IDENTITY = {"normalization_rule_name": "identity"}
OPTIONS: dict[str, dict[str, Any]] = {
    "llama": _IDENTITY
    | {"byte_fallback": True, "remove_extra_whitespaces": False, "allow_whitespace_only_pieces": True}
    | {"split_digits": True},
    "plain": _IDENTITY,
    "byte fallback": _IDENTITY | {"byte_fallback": True},
    "no prefix": _IDENTITY
    | {"byte_fallback": True, "remove_extra_whitespaces": False, "add_dummy_prefix": False}
    | {"user_defined_symbols": ["<ud>", "▁▁", "ab", "abab", "\n"]},
    "no prefix, spaces removed": _IDENTITY | {"add_dummy_prefix": False, "user_defined_symbols": ["<ud>", "ab"]},
    "across spaces": _IDENTITY
    | {"split_by_whitespace": False, "split_by_unicode_script": False, "max_sentencepiece_length": 30}
    | {"remove_extra_whitespaces": False},
    "user defined": _IDENTITY
    | {"byte_fallback": True, "remove_extra_whitespaces": False, "user_defined_symbols": USER_DEFINED}
    | {"control_symbols": ["[INST]", "<c>"]},
    "user defined, spaces removed": _IDENTITY | {"user_defined_symbols": USER_DEFINED},
    "few characters": _IDENTITY | {"character_coverage": 0.98, "remove_extra_whitespaces": False},
    "own roles": _IDENTITY
    | {"pad_id": 3, "unk_id": 0, "bos_id": -1, "eos_id": 1, "eos_piece": "<END>", "unk_piece": "<?>"},
    "nmt_nfkc": {},
    "nfkc": {"normalization_rule_name": "nfkc", "byte_fallback": True, "user_defined_symbols": ["<ud>"]},
}
"""Settings of SentencePiece's trainer, by what they are about."""

WITH_CHARSMAP = ("nmt_nfkc", "nfkc")
"""Those whose characters are mapped, which stock does by grapheme: decomposed text is another matter."""

_WORDS = [
    "<s>",
    "<u2>",
    "the",
    "and",
    "hello",
    "world",
    "abab",
    "aab",
    "x",
    "12",
    "2024",
    "naïve",
    "日本",
    "語",
    "한국어",
    "ﬁne",
    "①",
    "...",
]


@cache
def trained(name: str) -> bytes:
    """Return a model that SentencePiece trained with the settings of this name."""
    import sentencepiece

    rng = random.Random(7)
    lines = [" ".join(rng.choice(_WORDS) for _ in range(rng.randint(1, 9))) for _ in range(300)]
    lines += ["".join(rng.choice("ab") for _ in range(rng.randint(3, 30))) for _ in range(300)]
    lines += ["y" + " " * rng.randint(1, 9) + "x" * rng.randint(1, 20) for _ in range(100)]
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=written,
        model_type="bpe",
        vocab_size=520,
        hard_vocab_limit=False,
        num_threads=1,
        minloglevel=2,
        **OPTIONS[name],
    )
    return written.getvalue()


def hand_made(
    pieces: Sequence[str],
    scores: Sequence[float],
    *,
    rules: TextRules | None = None,
    types: Sequence[int] | None = None,
) -> bytes:
    """Return a model of these pieces behind an unknown piece."""
    return proto.serialize(
        PieceModel(
            pieces=["<unk>", *pieces],
            scores=[0.0, *scores],
            types=[PieceType.UNKNOWN, *(types or [PieceType.NORMAL] * len(pieces))],
            rules=rules or TextRules(add_dummy_prefix=False),
            roles={"unk_token": "<unk>"},
        ),
        None,
    )


def texts(count: int = 300) -> list[str]:
    """Return texts that tell the rules of piece models apart."""
    few = [text[:2_000] for text in HOSTILE.values()]
    few += ["▁", "▁▁", "a▁b", "▁a", " ▁a", "a ▁ ", "a▁", "  a  b  ", "\n a\n\nb \n", "<s>", "<unk>", "<0x0A>", "[INST]"]
    few += ["<ud>", "a<ud>b", "<ud> b", "<ud><ud>x", " <ud>", "<ud><0x0A><ud>", "<ud><s>ab", "ab[INST]aba", "the <u>"]
    few += [" " * 17, "a" + " " * 33 + "b", "hahahahaha", "0" * 13, "." * 40]
    rng = random.Random(11)
    parts = [*_WORDS, *USER_DEFINED, " ", "  ", "\n", "▁", "<s>", "<0x0A>", "é", "😀", "[INST]", "a", "b", "\t", "\0"]
    return few + ["".join(rng.choice(parts) for _ in range(rng.randint(1, 25))) for _ in range(count)]
