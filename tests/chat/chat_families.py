"""Llama 3, 3.1, Qwen 2.5 and Qwen 3, loaded by us and by stock: with real vocabularies, and with small ones."""

from __future__ import annotations

import functools
import json
import tempfile
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from conversations import TEXTS
from directories import CORPUS
from transformers import PreTrainedTokenizerFast

import hf_bpe
from hf_bpe import HfBpeTokenizer, chat

Sides = tuple[HfBpeTokenizer, PreTrainedTokenizerFast]

_LLAMA3 = {0: "begin_of_text", 1: "end_of_text", 6: "start_header_id", 7: "end_header_id", 9: "eot_id"}
_LLAMA3_1 = _LLAMA3 | {4: "finetune_right_pad_id", 8: "eom_id", 10: "python_tag"}
_QWEN = ["endoftext", "im_start", "im_end", "object_ref_start", "object_ref_end", "box_start", "box_end"]
_QWEN += ["quad_start", "quad_end", "vision_start", "vision_end", "vision_pad", "image_pad", "video_pad"]
_QWEN_PLAIN = ["<tool_call>", "</tool_call>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|fim_pad|>"]
_QWEN_PLAIN += ["<|repo_name|>", "<|file_sep|>", "<tool_response>", "</tool_response>", "<think>", "</think>"]

VOCABULARIES = {"llama3": "llama3", "llama3.1": "llama3", "qwen2.5": "qwen2", "qwen3": "qwen2"}
"""The real vocabulary behind each family, by its name in `REAL`."""

_ROLES = {
    "llama": {"bos_token": "<|begin_of_text|>", "eos_token": "<|eot_id|>", "pad_token": "<|end_of_text|>"},
    "qwen": {"eos_token": "<|im_end|>", "pad_token": "<|endoftext|>"},
}


def added_tokens(family: str) -> list[tuple[str, bool]]:
    """Return the added tokens of a family in the order of ids, and whether each is special."""
    if family.startswith("llama"):
        names, numbers = _LLAMA3 if family == "llama3" else _LLAMA3_1, count()
        return [(f"<|{names.get(at) or f'reserved_special_token_{next(numbers)}'}|>", True) for at in range(256)]
    plain = _QWEN_PLAIN if family == "qwen3" else _QWEN_PLAIN[:8]
    return [(f"<|{name}|>", True) for name in _QWEN] + [(token, False) for token in plain]


families = pytest.mark.parametrize(
    ("family", "real_vocabulary"), list(VOCABULARIES.items()), ids=list(VOCABULARIES), indirect=["real_vocabulary"]
)
"""Runs a test for each family; `sides` takes both arguments."""


@functools.cache
def sides(family: str, real_vocabulary: Path) -> Sides:
    """Return both tokenizers of a family, ours and stock's, without a chat template."""
    folder = Path(tempfile.mkdtemp(prefix=f"{family}-"))
    data: dict[str, Any] = json.loads(real_vocabulary.read_text(encoding="utf-8"))
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    first = len(data["model"]["vocab"])
    data["added_tokens"] = [
        {"id": first + at, "content": token, **flags, "special": special}
        for at, (token, special) in enumerate(added_tokens(family))
    ]
    (folder / "tokenizer.json").write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")
    settings = _ROLES["llama" if family.startswith("llama") else "qwen"]
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    return HfBpeTokenizer.from_pretrained(folder), PreTrainedTokenizerFast.from_pretrained(folder)


@functools.cache
def small_sides(family: str) -> Sides:
    """Return both tokenizers of a small vocabulary with a family's tokens and template, on any machine."""
    folder = Path(tempfile.mkdtemp(prefix=f"small-{family}-"))
    special = [token for token, is_special in added_tokens(family)[:20] if is_special]
    tokenizer = hf_bpe.train(
        [*CORPUS, *TEXTS] * 3,
        vocab_size=500,
        special_tokens=special,
        normalizer="NFC" if family.startswith("qwen") else None,
        progress=False,
        **_ROLES["llama" if family.startswith("llama") else "qwen"],
    )
    chat.install(tokenizer, family)
    tokenizer.save_pretrained(folder)
    return HfBpeTokenizer.from_pretrained(folder), PreTrainedTokenizerFast.from_pretrained(folder)
