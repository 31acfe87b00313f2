"""Mistakes that converters and readers of other formats have made in public, each with the right value.

As in `test_known_bugs`, each test stands for a kind of fault and names the thread where it was reported. What has a
test beside its format isn't repeated here: ranks that merge more than a list does, `ignore_merges` on the way out,
two names of one id.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from formats.piece_models import OPTIONS, WITH_CHARSMAP, trained
from vocabularies import installed

import hf_bpe
from hf_bpe import ConversionError, HfBpeTokenizer, formats
from hf_bpe.formats import tekken
from hf_bpe.split_patterns import SPLIT_PATTERNS
from hf_bpe.vocabulary import Vocabulary

BYTES = {bytes([byte]): byte for byte in range(256)}


def mistral_file(name: str) -> Path:
    """Return a file of mistral-common, or skip."""
    path = installed("mistral_common", "data", name)
    if path is None:
        pytest.skip("mistral-common isn't installed: see requirements-vocabularies.txt")
    return path


def assert_there_and_back(vocabulary: Vocabulary, kind: str, path: Path, texts: Sequence[str]) -> None:
    """Assert that a format keeps the ids of `texts`, with what it leaves out given again."""
    if kind == "gpt2":
        path.mkdir()  # two files
    formats.get(kind).write(vocabulary, path)
    again = formats.get(kind).read(path, **formats.get(kind).options(vocabulary))
    for text in texts:
        assert again.core.encode_ids(text) == vocabulary.core.encode_ids(text), text


# --- merges


@pytest.mark.parametrize("kind", ["tiktoken", "tekken"])
def test_merges_that_ranks_would_add_to_are_refused_with_the_text(kind: str, tmp_path: Path) -> None:
    # https://github.com/karpathy/minbpe/issues/11
    shift = {"tiktoken": 0, "tekken": 1}[kind]
    tokens = [*BYTES, b"bc", b"ab", b"abc"]
    given = {token: token_id + shift for token_id, token in enumerate(tokens)}
    vocabulary = Vocabulary.from_ranks(given, split_pattern="gpt2", added_tokens={"<s>": 0 if shift else 259})
    data = json.loads(vocabulary.core.to_json())
    data["model"] |= {"merges": [["b", "c"], ["a", "b"], ["ab", "c"]], "ignore_merges": False}
    listed = Vocabulary.from_json(data)

    assert listed.core.tokenize("abc") == ["a", "bc"]
    with pytest.raises(ConversionError, match="'abc'"):
        formats.get(kind).write(listed, tmp_path / "ranks")
    assert not (tmp_path / "ranks").exists()


def test_a_learned_newline_is_refused_by_name_in_merges_txt_and_kept_in_json(tmp_path: Path) -> None:
    # https://github.com/huggingface/tokenizers/issues/588
    tokenizer = hf_bpe.train(["a\nb a\nb"] * 9, vocab_size=7, alphabet="characters", split_pattern=None, progress=False)
    assert any("\n" in left + right for left, right in tokenizer.vocabulary.merges)

    with pytest.raises(ConversionError, match=r"'.*\\n.*'"):
        tokenizer.save_vocabulary(str(tmp_path))
    assert list(tmp_path.iterdir()) == []
    tokenizer.save_pretrained(tmp_path / "saved")
    again = HfBpeTokenizer.from_pretrained(tmp_path / "saved")
    assert again.encode("a\nb") == tokenizer.encode("a\nb")
    assert again.vocabulary.merges == tokenizer.vocabulary.merges


# --- split patterns


def test_the_pattern_of_tekken_is_that_of_its_file(tmp_path: Path) -> None:
    # https://github.com/huggingface/transformers/pull/42299: tokenizer.json came with another model's pattern.
    mistral = pytest.importorskip("mistral_common.tokens.tokenizers.tekken")
    source = mistral_file("tekken_240911.json")
    theirs = mistral.Tekkenizer.from_file(source)
    hf_bpe.from_tekken(source).save_pretrained(tmp_path)
    tokenizer = HfBpeTokenizer.from_pretrained(tmp_path)

    pattern = json.loads(source.read_text(encoding="utf-8"))["config"]["pattern"]
    assert tokenizer.vocabulary.split_pattern == pattern
    for text in ("ju\x16", '"can\'t"', "can't DON'T", "McDonald XMLHttp", "501 3333333", "a\u0301B\u0301c", "x/\r\n/y"):
        assert tokenizer.encode(text, add_special_tokens=False) == theirs.encode(text, bos=False, eos=False), text


@pytest.mark.parametrize("pattern", ["gpt2", "llama3", "qwen2"])
def test_a_tekken_file_with_another_pattern_splits_by_that(pattern: str, tmp_path: Path) -> None:
    # https://github.com/huggingface/transformers/issues/42589
    mistral = pytest.importorskip("mistral_common.tokens.tokenizers.tekken")
    ranks = {bytes([byte]): byte + 1 for byte in range(256)} | {b"12": 257, b"123": 258, b"'t": 259, b"n't": 260}
    vocabulary = Vocabulary.from_ranks(ranks, split_pattern=pattern, added_tokens={"<unk>": 0})
    tekken.write(vocabulary, tmp_path / "tekken.json")
    tokenizer = hf_bpe.from_tekken(tmp_path / "tekken.json")

    theirs = mistral.Tekkenizer.from_file(tmp_path / "tekken.json")
    assert tokenizer.vocabulary.split_pattern == SPLIT_PATTERNS[pattern]
    for text in ("12345", "can't", "CAN'T 12 123", "1234 n't"):
        assert tokenizer.encode(text) == theirs.encode(text, bos=False, eos=False), text


@pytest.mark.parametrize("kind", ["gguf", "gpt2", "tekken", "tiktoken", "tokenizer_json"])
@pytest.mark.parametrize("pattern", sorted(SPLIT_PATTERNS))
def test_digits_are_grouped_in_every_format_as_in_the_source(kind: str, pattern: str, tmp_path: Path) -> None:
    # https://github.com/ggml-org/llama.cpp/pull/6920
    texts = ("501", "3333333", "12345678", "x 12345678.5", "１２３４５", "²³¹ ½12")
    shift = kind == "tekken"
    ranks = {bytes([byte]): byte + shift for byte in range(256)}
    for run in ("33", "12", "34", "56", "78", "01", "1234", "5678", "12345678", "333", "123", "501", "456", "3333"):
        ranks[run.encode()] = len(ranks) + shift
    added = {"<unk>": 0} if shift else {}
    vocabulary = Vocabulary.from_ranks(ranks, split_pattern=pattern, added_tokens=added)
    first = {"gpt2": "12345678", "qwen2": "1"}.get(pattern, "123")
    assert vocabulary.core.tokenize("12345678")[0] == first

    if kind == "gpt2" and pattern != "gpt2":
        with pytest.raises(ConversionError, match="would"):
            formats.get(kind).write(vocabulary, tmp_path / "out")
        return
    assert_there_and_back(vocabulary, kind, tmp_path / "out", texts)


# --- ids


def test_a_hole_between_ids_moves_no_special_token(tmp_path: Path) -> None:
    # https://github.com/huggingface/transformers/pull/48446: Kimi's [PAD] 163839 became 163606.
    vocabulary = Vocabulary.from_ranks(
        BYTES | {b"ab": 256}, split_pattern="gpt2", added_tokens={"[BOS]": 163584, "[PAD]": 163839}
    )
    tokenizer = HfBpeTokenizer.from_vocabulary(vocabulary, pad_token="[PAD]")

    for _ in range(2):
        assert tokenizer.encode("ab[BOS][PAD]") == [256, 163584, 163839]
        assert tokenizer.pad_token_id == 163839
        assert len(tokenizer) == 163840
        assert tokenizer.vocabulary.holes() == [range(257, 163584), range(163585, 163839)]
        tokenizer.save_pretrained(tmp_path)
        tokenizer = HfBpeTokenizer.from_pretrained(tmp_path)


# --- pieces


def _sentencepiece(data: bytes) -> Any:
    return pytest.importorskip("sentencepiece").SentencePieceProcessor(model_proto=data)


@pytest.mark.parametrize("name", OPTIONS)
def test_the_flags_of_a_model_say_what_happens_to_its_spaces_and_newlines(name: str, tmp_path: Path) -> None:
    # https://github.com/google/sentencepiece/issues/282
    (tmp_path / "x.model").write_bytes(trained(name))
    tokenizer = hf_bpe.from_sentencepiece(tmp_path / "x.model")
    theirs = _sentencepiece(trained(name))

    for text in ("  a\n\nb  ", " a", "a ", "  ", "", "a   b", "\n", " \n ", "a\u3000b", "\u00a0a", "a\tb\r\nc"):
        got = tokenizer.encode(text, add_special_tokens=False)
        assert got == theirs.encode(text), text
        if name not in WITH_CHARSMAP:
            assert tokenizer.decode(got).count("\n") == theirs.decode(got).count("\n"), text


def test_a_flag_that_cannot_be_followed_is_refused_by_name(tmp_path: Path) -> None:
    # https://github.com/google/sentencepiece/issues/684
    messages = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")
    message = messages.ModelProto.FromString(trained("llama"))
    message.trainer_spec.treat_whitespace_as_suffix = True
    (tmp_path / "x.model").write_bytes(message.SerializeToString())

    with pytest.raises(ConversionError, match="treat_whitespace_as_suffix"):
        hf_bpe.from_sentencepiece(tmp_path / "x.model")


@pytest.mark.parametrize("name", ["tokenizer.model.v1", "mistral_instruct_tokenizer_240323.model.v3"])
def test_thousands_of_sentences_have_the_ids_of_sentencepiece(name: str, python_sources: list[str]) -> None:
    # https://github.com/huggingface/tokenizers/pull/229: four of five sentences differed.
    path = mistral_file(name)
    theirs = _sentencepiece(path.read_bytes())
    sentences = [line for source in python_sources for line in source.splitlines()][:5_000]
    sentences += ["a" * count for count in range(40)] + ["hahaha " * count for count in range(9)]

    tokenizer = hf_bpe.from_sentencepiece(path)

    assert len(sentences) > 3_000
    assert tokenizer(sentences, add_special_tokens=False)["input_ids"] == theirs.encode(sentences)
    made = {left + right for left, right in tokenizer.vocabulary.merges if left == right}
    assert made > {"▁▁", "oo"}


@pytest.mark.parametrize("text", ["a    b", " a", "  a\n\nb  ", "語 語", "🙂  🙂 a", "a\u0301 b"])
def test_streamed_pieces_of_a_real_model_are_those_of_the_whole(text: str) -> None:
    # https://github.com/vllm-project/vllm/pull/984
    tokenizer = hf_bpe.from_sentencepiece(mistral_file("tokenizer.model.v1"))
    ids = tokenizer.encode(text, add_special_tokens=False)
    stream = tokenizer.decode_stream()

    streamed = "".join(stream.step(token_id) for token_id in ids) + stream.flush()

    assert streamed == tokenizer.decode(ids) == text


# --- GGUF


_CORPUS = ["the lowest and the widest, 2024 newer\n  wider low lower"] * 50


@pytest.mark.parametrize(("kind", "pre"), [("bytes", "qwen2"), ("pieces", "default")])
def test_a_vocabulary_of_one_s_own_goes_to_gguf_with_all_its_merges(kind: str, pre: str, tmp_path: Path) -> None:
    # https://github.com/ggml-org/llama.cpp/issues/9927
    package = pytest.importorskip("gguf")
    (tmp_path / "x.model").write_bytes(trained("llama"))
    tokenizer = (
        hf_bpe.train(_CORPUS, vocab_size=279, split_pattern="qwen2", progress=False)
        if kind == "bytes"
        else hf_bpe.from_sentencepiece(tmp_path / "x.model")
    )

    done = hf_bpe.convert(tokenizer, tmp_path / "x.gguf")

    assert done.checks
    assert package.GGUFReader(tmp_path / "x.gguf").fields["tokenizer.ggml.pre"].contents() == pre
    again = hf_bpe.from_gguf(tmp_path / "x.gguf")
    assert again.vocabulary.merges == tokenizer.vocabulary.merges
    assert again.encode(_CORPUS[0]) == tokenizer.encode(_CORPUS[0])


def test_a_pattern_that_llama_cpp_has_no_name_for_is_refused_with_the_names_that_it_has(tmp_path: Path) -> None:
    # https://github.com/ggml-org/llama.cpp/issues/8649
    tokenizer = hf_bpe.train(_CORPUS, vocab_size=274, split_pattern=r"\p{L}+|\P{L}", progress=False)

    with pytest.raises(ConversionError, match=r"none of llama.cpp's pre-tokenizers splits by .* Known are 'gpt-2'"):
        hf_bpe.convert(tokenizer, tmp_path / "x.gguf")
    assert list(tmp_path.iterdir()) == []
