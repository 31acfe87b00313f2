"""Published vocabularies through the whole class, against stock. Skipped where the files are not at hand."""

from __future__ import annotations

import functools
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from directories import HOSTILE, shared
from transformers import AutoTokenizer, GPT2Tokenizer, PreTrainedTokenizerFast

from hf_bpe import HfBpeTokenizer

FILES = {
    "gpt2": ("bench", "data", "gpt2", "tokenizer_iso.json"),
    "cl100k": ("bench", "data", "cl100k", "tokenizer_iso.json"),
    "o200k": ("bench", "data", "o200k", "tokenizer_iso.json"),
    "llama3": ("vectors", "tokenizers", "llama3.json"),
    "qwen3": ("vectors", "tokenizers", "qwen3.json"),
}
LONG = (
    "In 2023, the naïve fox — 漢字 🙂 — didn't jump over <|im_start|>12345 dogs<|eot_id|>.\n\n\tfor x in y:  pass\n" * 5
)
TEXTS = [*HOSTILE, LONG, LONG[::-1], "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>"]


@functools.cache
def pair(name: str) -> tuple[HfBpeTokenizer, PreTrainedTokenizerFast]:
    """Return our tokenizer and stock's over a directory with the tokenizer.json of `name` alone."""
    source = shared(*FILES[name])
    if source is None:
        pytest.skip(f"{'/'.join(FILES[name])} is not at hand")
    folder = Path(tempfile.mkdtemp(prefix="hf_bpe-real-"))
    shutil.copy(source, folder / "tokenizer.json")
    return HfBpeTokenizer.from_pretrained(folder), PreTrainedTokenizerFast.from_pretrained(folder)


names = pytest.mark.parametrize("name", FILES)


@names
@pytest.mark.parametrize(
    "call",
    [
        {},
        {"add_special_tokens": False},
        {"split_special_tokens": True},
        {"truncation": True, "max_length": 12},
        {"truncation": True, "max_length": 9, "return_overflowing_tokens": True, "stride": 3},
        {"return_offsets_mapping": True, "return_special_tokens_mask": True, "return_token_type_ids": True},
    ],
)
def test_calls_equal_stock(name: str, call: dict[str, Any]) -> None:
    ours, stock = pair(name)

    assert dict(ours(TEXTS, **call)) == dict(stock(TEXTS, **call))
    assert dict(ours(LONG, **call)) == dict(stock(LONG, **call))
    assert dict(ours(TEXTS, TEXTS[::-1], **{**call, "truncation": False})) == dict(
        stock(TEXTS, TEXTS[::-1], **{**call, "truncation": False})
    )


@names
def test_encodings_and_decoding_equal_stock(name: str) -> None:
    ours, stock = pair(name)
    got, expected = ours(TEXTS), stock(TEXTS)

    for row in range(len(TEXTS)):
        for attribute in ("tokens", "offsets", "word_ids", "sequence_ids", "special_tokens_mask"):
            assert getattr(got.encodings[row], attribute) == getattr(expected.encodings[row], attribute)
    for skip in (False, True):
        assert ours.batch_decode(got["input_ids"], skip) == stock.batch_decode(got["input_ids"], skip)
    assert len(ours) == len(stock)
    assert ours.vocab_size == stock.vocab_size
    assert repr(ours.added_tokens_decoder) == repr(stock.added_tokens_decoder)


@names
def test_a_saved_directory_gives_the_same_ids_everywhere(name: str, tmp_path: Path) -> None:
    ours, _ = pair(name)
    ids = ours(TEXTS)["input_ids"]
    ours.save_pretrained(tmp_path / "1")

    loaded = AutoTokenizer.from_pretrained(tmp_path / "1")
    loaded.save_pretrained(tmp_path / "2")

    assert type(loaded) is HfBpeTokenizer
    assert loaded(TEXTS)["input_ids"] == ids
    assert PreTrainedTokenizerFast.from_pretrained(tmp_path / "1")(TEXTS)["input_ids"] == ids
    for file in ("tokenizer.json", "tokenizer_config.json"):
        assert (tmp_path / "1" / file).read_bytes() == (tmp_path / "2" / file).read_bytes()


def test_the_pair_of_gpt2_files_loads_as_gpt2(tmp_path: Path) -> None:
    folder = shared("bench", "data", "gpt2")
    if folder is None:
        pytest.skip("the files of GPT-2 are not at hand")
    for file in ("vocab.json", "merges.txt"):
        shutil.copy(folder / file, tmp_path)
    ours, stock = HfBpeTokenizer.from_pretrained(tmp_path), GPT2Tokenizer.from_pretrained(tmp_path)

    texts = [*TEXTS, "a<|endoftext|>b"]

    assert ours(texts)["input_ids"] == stock(texts)["input_ids"]
    assert ours.eos_token_id == stock.eos_token_id == 50256
    names = ours.save_vocabulary(str(tmp_path), "again")
    assert json.loads(Path(names[0]).read_text()) == json.loads((folder / "vocab.json").read_text())
    assert Path(names[1]).read_text().split("\n", 1)[1] == (folder / "merges.txt").read_text().split("\n", 1)[1]
