"""Ids, tokens, offsets and word ids equal those of the stock library, whatever the text.

Three environment variables make these tests thorough: `HF_BPE_RANDOM_TEXTS` is the number of random texts for a
vocabulary (2,000 by default), `HF_BPE_WHOLE_CORPORA=1` compares corpora to their end, and `HF_BPE_SHARED` names the
folder of vectors and corpora.
"""

from __future__ import annotations

import functools
import json
import lzma
import os
from pathlib import Path
from typing import Any

import pytest
from hostile import HOSTILE, random_texts
from parity import Pair, difference
from sentencepiece_files import NORMAL, merges_of_scores, read_gguf, read_sentencepiece, tokenizer_of_pieces
from vocabularies import REAL, read_ranks, split_by_patterns, tokenizer_of_ranks

from hf_bpe._native import Tokenizer
from hf_bpe.split_patterns import SPLIT_PATTERNS

RANDOM_TEXTS = int(os.environ.get("HF_BPE_RANDOM_TEXTS", "2000"))
WHOLE_CORPORA = os.environ.get("HF_BPE_WHOLE_CORPORA") == "1"
CORPUS_HEAD = 200_000
DOCUMENT = 50_000

CORPORA = ("chinese", "code", "emoji", "english", "json_log", "multilingual")
BENCHMARKED = ("cl100k", "gpt2", "llama3", "o200k", "qwen3")

each_real_vocabulary = pytest.mark.parametrize("real_vocabulary", sorted(REAL), indirect=True)


@functools.lru_cache(maxsize=2)
def pair_of(path: Path) -> Pair:
    return Pair.of_file(path)


@each_real_vocabulary
def test_hostile_texts_equal_stock(real_vocabulary: Path) -> None:
    pair = pair_of(real_vocabulary)

    pair.assert_equal(list(HOSTILE.values()))
    pair.assert_equal(list(HOSTILE.values()), add_special_tokens=False)


@each_real_vocabulary
def test_random_texts_equal_stock(real_vocabulary: Path) -> None:
    pair = pair_of(real_vocabulary)
    added = pair.added_tokens()[:20]

    for start in range(0, RANDOM_TEXTS, 2_000):
        count = min(2_000, RANDOM_TEXTS - start)
        pair.assert_equal(random_texts(count, seed=start, tokens=added))


@each_real_vocabulary
def test_pairs_of_texts_equal_stock(real_vocabulary: Path) -> None:
    pair = pair_of(real_vocabulary)
    texts = random_texts(200, seed=1, tokens=pair.added_tokens()[:20])
    rows = list(zip(texts, reversed(texts), strict=True))

    for got, expected in zip(pair.ours.encode_batch(rows), pair.stock.encode_batch(rows), strict=True):
        for field in ("ids", "tokens", "offsets", "word_ids", "type_ids", "sequence_ids", "special_tokens_mask"):
            assert getattr(got, field) == getattr(expected, field)


@pytest.mark.parametrize("real_vocabulary", sorted(REAL.keys() - {"clip", "mistral_v1", "mistral_v3"}), indirect=True)
def test_bytes_are_carried_whole(real_vocabulary: Path) -> None:
    ours = pair_of(real_vocabulary).ours
    data = bytes(range(256)) * 3 + "naïve 漢字 ".encode() + b"\xf0\x9f\xff\xc3"

    assert ours.decode_bytes(ours.encode_bytes(data)) == data


def read_corpus(shared: Path, name: str) -> str:
    """Return a corpus, or the head of it, cut after a whole character."""
    with lzma.open(shared / "bench" / "corpora" / f"{name}.txt.xz", "rb") as file:
        data = file.read(-1 if WHOLE_CORPORA else CORPUS_HEAD)
    return data.decode("utf-8", "ignore")


@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize("vocabulary", BENCHMARKED)
def test_corpora_equal_stock(shared: Path, vocabulary: str, corpus: str) -> None:
    pair = pair_of(shared / "bench" / "data" / vocabulary / "tokenizer_iso.json")
    text = read_corpus(shared, corpus)
    documents = [text[start : start + DOCUMENT] for start in range(0, len(text), DOCUMENT)]

    for start in range(0, len(documents), 20):
        pair.assert_equal(documents[start : start + 20])


def rows_of(path: Path) -> list[tuple[str, list[int]]]:
    """Return the texts and ids of a vectors file."""
    rows = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    return [(row["text"], row["ids"]) for row in rows]


def assert_published(data: str, path: Path, count: int, *, split_special_tokens: bool = False) -> None:
    """Assert that the texts of a vectors file have the ids that it gives, which decode as in stock."""
    options = {"add_special_tokens": False, "split_special_tokens": split_special_tokens}
    pair = Pair(data)
    rows = rows_of(path)

    assert len(rows) == count
    for text, expected in rows:
        got = pair.ours.encode_ids(text, **options)
        assert got == expected, difference(text, got, expected)
    ids = [row for _, row in rows]
    for skip in (True, False):
        decoded = pair.stock.decode_batch(ids, skip_special_tokens=skip)
        assert pair.ours.decode_batch(ids, skip_special_tokens=skip) == decoded


@pytest.mark.parametrize(
    ("name", "vocabulary"),
    [
        ("gpt-2", "bench/data/gpt2/tokenizer_iso.json"),
        ("llama-bpe", "vectors/tokenizers/llama3.json"),
        ("qwen2", "vectors/tokenizers/qwen3.json"),
    ],
)
def test_the_ids_that_llama_cpp_published_come_out(shared: Path, name: str, vocabulary: str) -> None:
    data = (shared / vocabulary).read_text(encoding="utf-8")

    assert_published(data, shared / "vectors" / "llama.cpp" / f"{name}.jsonl", 47)


def test_the_ids_that_llama_cpp_published_for_files_of_its_own_come_out(shared: Path) -> None:
    """DeepSeek's first vocabulary, and that of Llama 2."""
    folder = shared / "vectors" / "llama.cpp"
    metadata = read_gguf(folder / "ggml-vocab-llama-spm.gguf")
    keys = ("tokens", "scores", "token_type")
    pieces = list(zip(*(metadata[f"tokenizer.ggml.{key}"] for key in keys), strict=True))

    assert_published(json.dumps(tokenizer_of_pieces(pieces, metaspace=False)), folder / "llama-spm.jsonl", 47)
    ours = Tokenizer.from_json(json.dumps(_deepseek_llm(folder)))
    rows = rows_of(folder / "deepseek-llm.jsonl")
    assert ours.encode_ids_batch([text for text, _ in rows], add_special_tokens=False) == [ids for _, ids in rows]
    assert ours.decode_batch([ids for _, ids in rows], skip_special_tokens=False) == [text for text, _ in rows]


def test_merges_of_scores_are_those_of_a_published_file(shared: Path) -> None:
    models = shared / "vectors" / "kitoken" / "models"
    published = json.loads((models / "mistral01.json").read_text(encoding="utf-8"))["model"]["merges"]

    made = merges_of_scores(read_sentencepiece(models / "mistral01.model"))

    assert [" ".join(pair) for pair in made] == published


def _deepseek_llm(folder: Path) -> dict[str, Any]:
    metadata = read_gguf(folder / "ggml-vocab-deepseek-llm.gguf")
    tokens, kinds = (metadata[f"tokenizer.ggml.{key}"] for key in ("tokens", "token_type"))
    merges = [merge.split(" ") for merge in metadata["tokenizer.ggml.merges"]]
    vocab = {token: id for id, (token, kind) in enumerate(zip(tokens, kinds, strict=True)) if kind == NORMAL}
    added = {token: id for id, (token, kind) in enumerate(zip(tokens, kinds, strict=True)) if kind != NORMAL}
    # Letters that have case; punctuation, of full width too; ideographs with what lies around them.
    patterns = [
        *(r"[\r\n]", r"\s?[\p{Lu}\p{Ll}\p{Lt}]+", r"\s?[!-/:-~！-／：-～‘-‟　-。]+", r"\s+$"),
        r"[一-龥ࠀ-一가-퟿]+",
    ]
    return split_by_patterns(vocab, merges, added, patterns, digits={"individual_digits": True})


def _kitoken_json(shared: Path, kind: str, name: str) -> str:
    models = shared / "vectors" / "kitoken" / "models"
    if name == "llama32":
        return (shared / "vectors" / "tokenizers" / "llama3.json").read_text(encoding="utf-8")
    if name in _PACKAGES:
        made = REAL[_PACKAGES[name]]()
        if made is None:
            pytest.skip(f"the package with {_PACKAGES[name]} isn't installed: see requirements-vocabularies.txt")
        return json.dumps(made)
    if kind == "tokenizers":
        return (models / f"{name}.json").read_text(encoding="utf-8")
    if kind == "sentencepiece":
        return json.dumps(tokenizer_of_pieces(read_sentencepiece(models / f"{name}.model"), metaspace=False))
    encoding, specials = _TIKTOKEN[name]
    ranks = read_ranks(models / f"{name}.tiktoken")
    return json.dumps(tokenizer_of_ranks(ranks, SPLIT_PATTERNS[encoding], specials))


_PACKAGES = {"r1": "deepseek", "mistral2410": "tekken"}
_TIKTOKEN = {
    "cl100k_base": ("cl100k", {"<|endoftext|>": 100257, "<|fim_prefix|>": 100258, "<|endofprompt|>": 100276}),
    "o200k_base": ("o200k", {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}),
}


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("sentencepiece", "llama2"),
        ("sentencepiece", "mistral01"),
        ("tekken", "mistral2410"),
        ("tokenizers", "clip_base"),
        ("tokenizers", "gpt2"),
        ("tokenizers", "gpt_neox"),
        ("tokenizers", "llama32"),
        ("tokenizers", "mistral01"),
        ("tokenizers", "r1"),
        ("tiktoken", "cl100k_base"),
        ("tiktoken", "o200k_base"),
    ],
)
def test_the_ids_that_kitoken_published_come_out(shared: Path, kind: str, name: str) -> None:
    path = shared / "vectors" / "kitoken" / "ids" / f"{kind}.{name}.jsonl"

    # The libraries of these two kinds look for no special tokens in a text.
    assert_published(
        _kitoken_json(shared, kind, name), path, 141, split_special_tokens=kind in ("sentencepiece", "tekken")
    )
