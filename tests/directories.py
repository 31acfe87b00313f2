"""Small tokenizer directories, trained by the stock library, for tests that compare with it."""

from __future__ import annotations

import functools
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from hf_bpe import HfBpeTokenizer

CORPUS = [
    "The quick brown fox jumps over the lazy dog. The dog didn't mind; it's used to foxes.",
    "Byte pair encoding merges the most frequent pair of symbols, again and again.",
    "In 2023 there were 12345 examples, 67 of them numbered 501 and 3333333.",
    "naïve café résumé coöperate — “quotes” … 漢字かな交じり文 Привет мир 👩‍👩‍👧 🙂",
    "def f(x):\n    return x + 1\n\n\nclass A:\n\tpass\n",
] * 4

LLAMA3_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

HOSTILE = [
    "",
    "a",
    " ",
    "   \n\n\t ",
    "hello world",
    " hello  world ",
    "The quick brown fox doesn't jump over 12345 lazy dogs.",
    "naïve café re\u0301sume\u0301 a\u0300\u0316\u0301",
    "漢字かな交じり文、テスト。",
    "👩‍👩‍👧 🙂 🇩🇪 1️⃣",
    "<s>text</s> and <|end|> inside<|end|>",
    "  <strip>  words<word>s <word> x",
    "\x00\x01\x7f\x85\u2028\u2029\ufeff\ufffd\U000e0001\u0378",
    "a" * 300,
    "\n" * 50,
    "Caf\u00e9 CAFÉ漢 caf\u00e9s CAFE\u0301漢 CAFÉ",
    "don't I'll we'RE '''s",
]

_FOLDER = Path(tempfile.mkdtemp(prefix="hf_bpe-tests-"))


@functools.cache
def directory(kind: str) -> Path:
    """Return a directory with the tokenizer.json and config of `kind`: see `KINDS`."""
    folder = _FOLDER / kind
    folder.mkdir(exist_ok=True)
    settings = KINDS[kind](folder / "tokenizer.json")
    if settings is not None:
        (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    return folder


@functools.cache
def pair(kind: str) -> tuple[HfBpeTokenizer, PreTrainedTokenizerFast]:
    """Return our tokenizer and stock's over the same directory."""
    folder = directory(kind)
    return HfBpeTokenizer.from_pretrained(folder), PreTrainedTokenizerFast.from_pretrained(folder)


def _train(tokenizer: Tokenizer, specials: list[str | AddedToken], size: int = 600) -> Tokenizer:
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=specials,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


def _gpt2(path: Path) -> dict[str, Any]:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=True)
    tokenizer.decoder = decoders.ByteLevel()
    _train(tokenizer, ["<|end|>"]).save(str(path))
    return {"eos_token": "<|end|>", "pad_token": "<|end|>", "model_max_length": 128}


def _template(path: Path) -> dict[str, Any]:
    tokenizer = Tokenizer(models.BPE(ignore_merges=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(LLAMA3_PATTERN), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    _train(tokenizer, ["<s>", "</s>", "<pad>"])
    template = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> $B:1 </s>:1", special_tokens=[("<s>", 0), ("</s>", 1)]
    )
    tokenizer.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), template])
    tokenizer.save(str(path))
    return {
        "bos_token": "<s>",
        "eos_token": "</s>",
        "pad_token": "<pad>",
        "model_input_names": ["input_ids", "token_type_ids", "attention_mask"],
    }


def _added(path: Path) -> None:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    _train(tokenizer, ["<s>", "<|end|>"])
    tokenizer.add_tokens(
        [
            AddedToken("<strip>", lstrip=True, rstrip=True, normalized=False),
            AddedToken("<word>", single_word=True),
            AddedToken("CAFÉ漢", normalized=True),
            AddedToken("12345", normalized=False),
        ]
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", 0)]
    )
    tokenizer.save(str(path))


KINDS = {"gpt2": _gpt2, "template": _template, "added": _added}


def shared(*parts: str) -> Path | None:
    """Return a handed-in file, or None where it doesn't exist."""
    root = Path(os.environ.get("HF_BPE_SHARED", Path(__file__).parents[2] / "shared"))
    path = root.joinpath(*parts)
    return path if path.exists() else None
