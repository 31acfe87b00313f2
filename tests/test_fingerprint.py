"""A fingerprint changes with what decides ids, and with nothing else."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tiktoken
import tokenizers
from libraries import small
from transformers import PreTrainedTokenizerFast

import hf_bpe
from hf_bpe import HfBpeTokenizer, convert, fingerprint, train
from hf_bpe.fingerprinting import parts
from hf_bpe.split_patterns import SPLIT_PATTERNS
from hf_bpe.verification.sides import read
from hf_bpe.vocabulary import Vocabulary

Json = dict[str, Any]


@pytest.fixture(scope="module")
def content(small_tokenizer_json: Path) -> Json:
    data: Json = json.loads(small_tokenizer_json.read_text(encoding="utf-8"))
    return data


def of(content: Json) -> str:
    return fingerprint(Vocabulary.from_json(content))


def changed(content: Json, change: Callable[[Json], object]) -> Json:
    data = copy.deepcopy(content)
    change(data)
    return data


def swap_ids(data: Json) -> None:
    vocab = data["model"]["vocab"]
    vocab["a"], vocab["b"] = vocab["b"], vocab["a"]


def swap_merges(data: Json) -> None:
    merges = data["model"]["merges"]
    merges[0], merges[-1] = merges[-1], merges[0]


def flag(name: str, value: bool) -> Callable[[Json], object]:
    return lambda data: data["added_tokens"][0].update({name: value})


def pattern(data: Json) -> None:
    data["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] += "|x"


def template(data: Json) -> None:
    data["post_processor"]["single"].pop()


@pytest.mark.parametrize(
    ("part", "change"),
    [
        pytest.param("vocabulary", swap_ids, id="ids"),
        pytest.param("merges", swap_merges, id="merges"),
        pytest.param("added_tokens", flag("lstrip", True), id="lstrip"),
        pytest.param("added_tokens", flag("single_word", True), id="single_word"),
        pytest.param("added_tokens", flag("normalized", True), id="normalized"),
        pytest.param("added_tokens", flag("special", False), id="special"),
        pytest.param("normalizer", lambda data: data.update(normalizer={"type": "NFC"}), id="normalizer"),
        pytest.param("pre_tokenizer", pattern, id="pattern"),
        pytest.param("post_processor", template, id="template"),
        pytest.param("settings", lambda data: data["model"].update(dropout=0.1), id="dropout"),
    ],
)
def test_what_decides_ids_changes_the_fingerprint(part: str, change: Callable[[Json], object], content: Json) -> None:
    before, after = (parts(Vocabulary.from_json(data)) for data in (content, changed(content, change)))

    assert of(content) != of(changed(content, change))
    assert part in {name for name in before if before[name] != after[name]}


def trim(data: Json) -> None:
    data["pre_tokenizer"]["pretokenizers"][1]["trim_offsets"] ^= True


def nest(data: Json) -> None:
    data["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [data["pre_tokenizer"]]}
    data["post_processor"] = {"type": "Sequence", "processors": [data["post_processor"]]}
    data["normalizer"] = {"type": "Sequence", "normalizers": []}


def post_processed_bytes(data: Json) -> None:
    byte_level = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    data["post_processor"] = {"type": "Sequence", "processors": [byte_level, data["post_processor"]]}


def type_ids(data: Json) -> None:
    for piece in data["post_processor"]["pair"]:
        next(iter(piece.values()))["type_id"] = 0


def reorder(data: Json) -> None:
    data["model"]["vocab"] = dict(reversed(data["model"]["vocab"].items()))
    data["model"]["merges"] = [" ".join(pair) for pair in data["model"]["merges"]]


def repeat_a_merge(data: Json) -> None:
    data["model"]["merges"].insert(0, data["model"]["merges"][-1])


def padding(data: Json) -> None:
    data["truncation"] = {"direction": "Right", "max_length": 8, "strategy": "LongestFirst", "stride": 0}


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda data: data.update(decoder=None), id="decoder"),
        pytest.param(padding, id="truncation"),
        *(trim, nest, post_processed_bytes, type_ids, reorder, repeat_a_merge),
    ],
)
@pytest.mark.filterwarnings("ignore:.*merge")
def test_what_cannot_change_ids_leaves_the_fingerprint(change: Callable[[Json], object], content: Json) -> None:
    assert changed(content, change) != content

    assert of(changed(content, change)) == of(content)


def test_gpt2s_pattern_inside_byte_level_is_the_same_as_before_it(content: Json) -> None:
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    split = {"type": "Split", "pattern": {"Regex": SPLIT_PATTERNS["gpt2"]}, "behavior": "Isolated", "invert": False}
    apart = {"type": "Sequence", "pretokenizers": [split, byte_level | {"use_regex": False}]}

    assert of(content | {"pre_tokenizer": byte_level}) == of(content | {"pre_tokenizer": apart})
    assert of(content | {"pre_tokenizer": byte_level}) != of(
        content | {"pre_tokenizer": byte_level | {"add_prefix_space": True}}
    )


def test_bert_processing_is_the_template_that_it_stands_for(content: Json) -> None:
    bert = {"type": "BertProcessing", "cls": ["<s>", 0], "sep": ["</s>", 1]}
    pieces = [{"SpecialToken": {"id": name, "type_id": 0}} for name in ("<s>", "</s>")]
    text, pair = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB")
    written = content["post_processor"] | {
        "single": [pieces[0], text, pieces[1]],
        "pair": [pieces[0], text, pieces[1], pair, pieces[1]],
    }
    roberta = bert | {"type": "RobertaProcessing", "trim_offsets": True, "add_prefix_space": False}

    assert of(content | {"post_processor": bert}) == of(content | {"post_processor": written})
    assert of(content | {"post_processor": roberta}) != of(content | {"post_processor": bert})


def test_an_added_token_counts_in_the_vocabulary_where_the_model_makes_it(content: Json) -> None:
    by_merges = changed(content, lambda data: data["model"].update(ignore_merges=False))
    listed = changed(by_merges, lambda data: data["model"]["vocab"].pop("<pad>"))
    looked_up = changed(content, lambda data: data["model"]["vocab"].pop("<pad>"))
    looked_up["model"]["merges"] = by_merges["model"]["merges"][:5]
    whole = content | {"model": content["model"] | {"merges": looked_up["model"]["merges"]}}

    assert of(listed) == of(by_merges)
    assert of(looked_up) != of(whole)


@pytest.mark.parametrize("real_vocabulary", ["clip", "deepseek", "gpt2", "mistral_v3"], indirect=True)
def test_real_vocabularies_keep_their_fingerprints_when_they_are_saved(real_vocabulary: Path, tmp_path: Path) -> None:
    tokenizer = HfBpeTokenizer(tokenizer_file=str(real_vocabulary))
    tokenizer.save_pretrained(tmp_path)

    assert fingerprint(HfBpeTokenizer.from_pretrained(tmp_path)) == fingerprint(tokenizer)
    assert fingerprint(Vocabulary.from_json(real_vocabulary.read_bytes())) == fingerprint(tokenizer)


def test_splitting_special_tokens_is_part_of_it(small_tokenizer_json: Path) -> None:
    one, other = (
        HfBpeTokenizer(tokenizer_file=str(small_tokenizer_json), split_special_tokens=split) for split in (False, True)
    )

    assert fingerprint(one) != fingerprint(other)
    assert fingerprint(other) == fingerprint(other.vocabulary)


def test_saving_and_other_libraries_keep_the_fingerprint(small_tokenizer_json: Path, tmp_path: Path) -> None:
    ours = HfBpeTokenizer(tokenizer_file=str(small_tokenizer_json))
    stock = tokenizers.Tokenizer.from_file(str(small_tokenizer_json))
    ours.save_pretrained(tmp_path)

    found = {
        fingerprint(ours),
        fingerprint(ours.vocabulary),
        fingerprint(stock),
        fingerprint(PreTrainedTokenizerFast(tokenizer_object=stock)),
        fingerprint(HfBpeTokenizer.from_pretrained(tmp_path)),
    }

    assert len(found) == 1


@pytest.mark.parametrize("name", ["copy", "copy.gguf"])
def test_converted_tokenizers_keep_the_fingerprint(name: str, tmp_path: Path) -> None:
    tokenizer = train(["low lower lowest"] * 9, vocab_size=263, split_pattern="llama3", progress=False)

    convert(tokenizer, tmp_path / name)

    assert fingerprint(read(tmp_path / name)) == fingerprint(tokenizer)


def test_a_tekken_file_keeps_the_fingerprint(tmp_path: Path) -> None:
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256, b"abc": 257, b"bc": 258}
    vocabulary = Vocabulary.from_ranks(ranks, split_pattern="llama3")

    convert(vocabulary, tmp_path / "tekken.json")

    assert fingerprint(read(tmp_path / "tekken.json")) == fingerprint(vocabulary)


def test_a_model_of_sentencepiece_keeps_the_fingerprint_as_tokenizer_json(tmp_path: Path) -> None:
    prepend = {"type": "Prepend", "prepend": "▁"}
    options: Json = {"alphabet": "characters", "byte_fallback": True, "unk_token": "<unk>", "normalizer": prepend}
    convert(train(["low lower lowest"] * 9, vocab_size=272, progress=False, **options), tmp_path / "copy.model")
    model = hf_bpe.from_sentencepiece(tmp_path / "copy.model")

    convert(model, tmp_path / "back")

    assert fingerprint(HfBpeTokenizer.from_pretrained(tmp_path / "back")) == fingerprint(model)


@pytest.mark.parametrize("real_vocabulary", ["gpt2"], indirect=True)
def test_ranks_and_merges_of_one_vocabulary_have_one_fingerprint(real_vocabulary: Path) -> None:
    merges = HfBpeTokenizer(tokenizer_file=str(real_vocabulary))
    ranks = tiktoken.Encoding(
        "gpt2",
        pat_str=SPLIT_PATTERNS["gpt2"],
        mergeable_ranks=merges.vocabulary.ranks(),
        special_tokens={"<|endoftext|>": 50256},
    )

    assert len(merges.vocabulary.merges) != len(hf_bpe.from_tiktoken(ranks).vocabulary.merges)
    assert fingerprint(hf_bpe.from_tiktoken(ranks)) == fingerprint(merges)


def test_the_fingerprint_is_the_same_on_every_machine() -> None:
    vocabulary = Vocabulary.from_ranks({b"a": 0, b"b": 1, b"ab": 2}, split_pattern="gpt2")

    assert fingerprint(vocabulary) == "v1:289822564c3a07cf368a36ffbc2841837df9b218f0beceb13c057654f77cfab4"


def test_other_objects_are_refused() -> None:
    with pytest.raises(TypeError, match=r"fingerprint\(\) takes a tokenizer .* got str"):
        fingerprint("gpt2")  # type: ignore[arg-type]


def written_in(directory: Path) -> str:
    """Return the fingerprint that a saved directory holds."""
    config = json.loads((directory / "tokenizer_config.json").read_text(encoding="utf-8"))
    return str(config["hf_bpe_fingerprint"])


@pytest.mark.parametrize("options", [{}, {"stock": True}, {"auto_map": True}], ids=["plain", "stock", "auto_map"])
def test_a_saved_directory_holds_the_fingerprint(options: dict[str, bool], tmp_path: Path) -> None:
    tokenizer = HfBpeTokenizer.from_vocabulary(small())

    tokenizer.save_pretrained(tmp_path / "a", **options)
    loaded = HfBpeTokenizer.from_pretrained(tmp_path / "a")
    loaded.add_tokens(["<new>"])
    loaded.save_pretrained(tmp_path / "b")

    assert written_in(tmp_path / "a") == fingerprint(tokenizer)
    assert "hf_bpe_fingerprint" not in loaded.init_kwargs
    assert written_in(tmp_path / "b") == fingerprint(loaded) != fingerprint(tokenizer)


def test_stock_reads_past_the_fingerprint_and_a_change_by_stock_shows(tmp_path: Path) -> None:
    tokenizer = HfBpeTokenizer.from_vocabulary(small())
    tokenizer.save_pretrained(tmp_path / "a")

    stock = PreTrainedTokenizerFast.from_pretrained(tmp_path / "a")
    stock.add_tokens(["<new>"])
    stock.save_pretrained(tmp_path / "b")

    assert stock("the cat")["input_ids"] == tokenizer("the cat")["input_ids"]
    assert written_in(tmp_path / "b") != fingerprint(HfBpeTokenizer.from_pretrained(tmp_path / "b"))


def test_the_report_of_a_conversion_holds_the_fingerprint(tmp_path: Path) -> None:
    done = convert(small(), tmp_path / "out", progress=False)

    report = json.loads((tmp_path / "out" / "conversion.json").read_text(encoding="utf-8"))
    assert report["fingerprint"] == done.fingerprint == fingerprint(small())
