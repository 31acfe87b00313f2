"""Real vocabularies, extended on Chinese and on code: old ids stay, tokens are only joined, none is unreachable.

By default on a part of each corpus. `HF_BPE_WHOLE_CORPORA=1` takes all of them, 1,000 new tokens and 20,000 random
texts, and prints how many tokens are saved. Without the folder of corpora, `HF_BPE_SHARED`, code is that of Python.
"""

from __future__ import annotations

import lzma
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import tokenizers
from conftest import ROOT
from extending import assert_only_joined, assert_parts_are_those_of_the_old_model, ids_of, quietly
from hostile import HOSTILE, random_texts
from trainings import stdlib_sources

import hf_bpe
from hf_bpe import HfBpeTokenizer

WHOLE = os.environ.get("HF_BPE_WHOLE_CORPORA") == "1"
CORPORA = ("chinese", "code", "emoji", "english", "json_log", "multilingual")
PART = 200_000
NEW = 1_000 if WHOLE else 200

VOCABULARIES = ("cl100k", "clip", "deepseek", "gpt2", "llama3", "mistral_v1", "qwen2")

real = pytest.mark.parametrize("real_vocabulary", VOCABULARIES, indirect=True)


@cache
def corpus(name: str) -> list[str]:
    """Return the lines of a corpus; of code that of Python's library, and of others none, where it isn't at hand."""
    path = Path(os.environ.get("HF_BPE_SHARED", ROOT.parent / "shared")) / "bench" / "corpora" / f"{name}.txt.xz"
    if not path.is_file():
        lines = "".join(stdlib_sources(PART)).splitlines(keepends=True)
        return lines if name == "code" else []
    with lzma.open(path, "rt", encoding="utf-8", newline="") as file:
        text = file.read() if WHOLE else file.read(PART)
    return text.splitlines(keepends=True)


def texts(old: HfBpeTokenizer, report: hf_bpe.ExtensionReport) -> Iterator[list[str]]:
    """Yield hostile texts, random ones that hold new and added tokens, and the corpora."""
    added = [token["content"] for token in old.vocabulary.added_tokens.values()]
    pieces = [token.text for token in report.added[:100]] + [content for content in added if isinstance(content, str)]
    yield list(HOSTILE.values())
    yield random_texts(20_000 if WHOLE else 500, seed=len(old), tokens=pieces)
    yield from (corpus(name)[:: 1 if WHOLE else 7] for name in CORPORA)


@real
@pytest.mark.parametrize("source", ["chinese", "code"])
def test_real_vocabularies_are_extended(real_vocabulary: Path, source: str, tmp_path: Path) -> None:
    old = HfBpeTokenizer(tokenizer_file=str(real_vocabulary))
    if not corpus(source):
        pytest.skip("no folder of corpora: set HF_BPE_SHARED")

    new, report = quietly(old, corpus(source), num_new_tokens=NEW)
    new.save_pretrained(tmp_path)

    print(f"{real_vocabulary.stem}, {source}: {report.source}")
    assert len(report.added) == NEW
    assert [token.id for token in report.added] == list(range(old._core.max_id + 1, old._core.max_id + 1 + NEW))
    assert report.unreachable == ()
    if new.vocabulary.model_settings["end_of_word_suffix"] is None:
        assert_parts_are_those_of_the_old_model(old, report)
    stock = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for group in texts(old, report):
        assert_only_joined(old, new, report, group)
        assert [row.ids for row in stock.encode_batch(group, add_special_tokens=False)] == ids_of(new, group)


def test_an_extended_rank_file_can_be_a_rank_file_again() -> None:
    """Each new token has one merge, in the order of ids, and it is the one that a rank file would do."""
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"th": 256, b"the": 257, b" t": 258, b"he": 259}
    old = HfBpeTokenizer.from_vocabulary(
        hf_bpe.tokenizer.Vocabulary.from_ranks(ranks, split_pattern="cl100k", added_tokens={"<|end|>": 260})
    )
    sources = ["".join(stdlib_sources(PART))]

    new, report = quietly(old, sources, num_new_tokens=300)
    encoding = new.to_tiktoken()

    assert len(report.added) == 300
    assert encoding.encode(sources[0], disallowed_special=()) == new.encode_ordinary(sources[0])
    assert encoding.encode("the<|end|>", allowed_special="all") == new.encode("the<|end|>")


@pytest.mark.parametrize("real_vocabulary", ["gpt2"], indirect=True)
def test_padding_rows_of_a_real_model_are_filled(real_vocabulary: Path) -> None:
    old = HfBpeTokenizer(tokenizer_file=str(real_vocabulary))

    new, report = quietly(old, corpus("code"), fill_padding_rows=50_304)

    assert (len(report.added), new._core.max_id) == (47, 50_303)
