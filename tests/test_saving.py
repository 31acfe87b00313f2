"""Directories: what is written, what is read, and that nothing is lost between."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from directories import HOSTILE, KINDS, directory, pair
from tokenizers import AddedToken, Tokenizer
from transformers import GPT2Tokenizer, PreTrainedTokenizerFast

from hf_bpe import HfBpeTokenizer
from hf_bpe.errors import TokenizerFileError

kinds = pytest.mark.parametrize("kind", KINDS)
CONFIG = "tokenizer_config.json"


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def config(folder: Path) -> dict[str, Any]:
    settings: dict[str, Any] = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    return settings


def rich(kind: str) -> HfBpeTokenizer:
    """Return a tokenizer with every kind of thing that a directory can hold."""
    tokenizer = HfBpeTokenizer.from_pretrained(
        directory(kind),
        padding_side="left",
        model_max_length=77,
        chat_template={"default": "{{ 'a' }}", "tool_use": "{{ 'b' }}\n"},
        image_token="<image>",
        extra_special_tokens=["<x>", AddedToken("<y>", lstrip=True)],
        eos_token=AddedToken("<eos!>", rstrip=True, normalized=False),
        own_setting={"nested": ["é", 1]},
    )
    tokenizer.add_tokens([AddedToken("single", single_word=True), AddedToken("<|im_start|>", normalized=False)])
    tokenizer.add_special_tokens({"mask_token": AddedToken("<mask>", lstrip=True)})
    return tokenizer


@kinds
def test_saving_what_was_loaded_writes_the_same_bytes(kind: str, tmp_path: Path) -> None:
    tokenizer = rich(kind)
    tokenizer.save_pretrained(tmp_path / "0")

    for turn in range(3):
        tokenizer = HfBpeTokenizer.from_pretrained(tmp_path / str(turn))
        tokenizer.save_pretrained(tmp_path / str(turn + 1))
        assert files(tmp_path / str(turn)) == files(tmp_path / str(turn + 1))


@kinds
def test_saving_over_itself_changes_nothing(kind: str, tmp_path: Path) -> None:
    rich(kind).save_pretrained(tmp_path)
    before = files(tmp_path)

    HfBpeTokenizer.from_pretrained(tmp_path).save_pretrained(tmp_path)

    assert files(tmp_path) == before


@kinds
def test_a_loaded_tokenizer_is_the_saved_one(kind: str, tmp_path: Path) -> None:
    saved = rich(kind)
    saved.save_pretrained(tmp_path)
    loaded = HfBpeTokenizer.from_pretrained(tmp_path)

    assert loaded._core == saved._core
    assert repr(loaded.added_tokens_decoder) == repr(saved.added_tokens_decoder)
    assert loaded.special_tokens_map == saved.special_tokens_map
    assert loaded.extra_special_tokens == saved.extra_special_tokens
    assert loaded.image_token_id == saved.image_token_id == saved.convert_tokens_to_ids("<image>")
    assert loaded.chat_template == saved.chat_template
    assert (loaded.padding_side, loaded.model_max_length) == ("left", 77)
    for text in [*HOSTILE, "single singles <|im_start|>x <mask> <eos!>  <y><x> <image>"]:
        assert loaded(text)["input_ids"] == saved(text)["input_ids"]


@kinds
def test_stock_reads_what_we_save_with_the_same_ids(kind: str, tmp_path: Path) -> None:
    ours = rich(kind)
    ours.save_pretrained(tmp_path)
    stock = PreTrainedTokenizerFast.from_pretrained(tmp_path)
    plain = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))

    for text in [*HOSTILE, "single singles <|im_start|>x <mask> <eos!>  <y><x> <image>"]:
        assert ours(text)["input_ids"] == stock(text)["input_ids"] == plain.encode(text).ids
        assert ours(text, "b")["input_ids"] == stock(text, "b")["input_ids"] == plain.encode(text, "b").ids
    assert stock.special_tokens_map == ours.special_tokens_map
    assert stock.chat_template == ours.chat_template
    assert repr(stock.added_tokens_decoder) == repr(ours.added_tokens_decoder)
    assert stock.backend == "tokenizers"


@kinds
def test_we_read_what_stock_saves_with_the_same_ids(kind: str, tmp_path: Path) -> None:
    stock = PreTrainedTokenizerFast.from_pretrained(directory(kind), mask_token=AddedToken("<mask>", lstrip=True))
    stock.add_tokens([AddedToken("single", single_word=True)])
    stock.save_pretrained(tmp_path)
    assert "added_tokens_decoder" not in config(tmp_path)

    ours = HfBpeTokenizer.from_pretrained(tmp_path)
    stock = PreTrainedTokenizerFast.from_pretrained(tmp_path)

    for text in [*HOSTILE, "single singles  <mask> "]:
        assert ours(text)["input_ids"] == stock(text)["input_ids"]
    assert repr(ours.added_tokens_decoder) == repr(stock.added_tokens_decoder)
    assert repr(ours._special_tokens_map) == repr(stock._special_tokens_map)


def test_the_config_holds_no_traces_of_the_machine(tmp_path: Path) -> None:
    rich("template").save_pretrained(tmp_path)
    HfBpeTokenizer.from_pretrained(tmp_path, local_files_only=True, trust_remote_code=True).save_pretrained(tmp_path)

    saved = config(tmp_path)

    traces = {"backend", "is_local", "local_files_only", "trust_remote_code", "name_or_path", "tokenizer_file"}
    assert not traces & saved.keys()
    assert saved["tokenizer_class"] == "HfBpeTokenizer"
    assert str(tmp_path) not in (tmp_path / CONFIG).read_text(encoding="utf-8")


def test_added_tokens_are_always_listed(tmp_path: Path) -> None:
    bare = HfBpeTokenizer(tokenizer_file=str(directory("gpt2") / "tokenizer.json"))

    bare.save_pretrained(tmp_path)

    assert config(tmp_path)["added_tokens_decoder"]["0"]["content"] == "<|end|>"


def test_returned_names_are_the_files_of_the_directory(tmp_path: Path) -> None:
    names = rich("template").save_pretrained(tmp_path)

    assert {Path(name) for name in names} == {path for path in tmp_path.rglob("*") if path.is_file()}


def test_an_older_save_leaves_nothing_behind(tmp_path: Path) -> None:
    rich("template").save_pretrained(tmp_path)
    for stale in ("special_tokens_map.json", "added_tokens.json"):
        (tmp_path / stale).write_text("{}")
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "additional_chat_templates" / "notes.txt").write_text("kept")

    HfBpeTokenizer.from_pretrained(directory("gpt2")).save_pretrained(tmp_path)

    names = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert names == {"tokenizer.json", CONFIG, "config.json", "additional_chat_templates/notes.txt"}
    assert HfBpeTokenizer.from_pretrained(tmp_path).chat_template is None


def test_a_prefix_keeps_directories_apart(tmp_path: Path) -> None:
    rich("gpt2").save_pretrained(tmp_path)
    before = files(tmp_path)

    pair("template")[0].save_pretrained(tmp_path, filename_prefix="other")

    after = files(tmp_path)
    assert {name: after[name] for name in before} == before
    assert after.keys() - before.keys() == {"other-tokenizer.json", "other-tokenizer_config.json"}


def test_a_save_that_fails_leaves_the_directory_as_it_was(tmp_path: Path) -> None:
    rich("gpt2").save_pretrained(tmp_path)
    before = files(tmp_path)
    broken = rich("template")
    broken.chat_template = {"default": "x", "../../escape": "y"}

    with pytest.raises(ValueError, match="Invalid chat template name"):
        broken.save_pretrained(tmp_path)

    assert files(tmp_path) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        {"tokenizer.json", CONFIG, "chat_template.jinja", "additional_chat_templates"}
    )


def test_each_file_is_replaced_in_one_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rich("gpt2").save_pretrained(tmp_path)
    old = files(tmp_path)
    new = files_of_save("template", tmp_path.parent / "reference")
    states: list[dict[str, bytes]] = []
    replace = os.replace

    def watched(source: Any, target: Any) -> None:
        replace(source, target)
        states.append({name: data for name, data in files(tmp_path).items() if not name.startswith(".saving-")})

    monkeypatch.setattr(os, "replace", watched)
    rich("template").save_pretrained(tmp_path)

    assert len(states) == len(new)
    for state in states:
        assert all(data in (old.get(name), new.get(name)) for name, data in state.items())
    assert files(tmp_path) == new


def files_of_save(kind: str, folder: Path) -> dict[str, bytes]:
    rich(kind).save_pretrained(folder)
    return files(folder)


def test_saving_to_a_file_raises(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(NotADirectoryError, match="needs a directory"):
        pair("gpt2")[0].save_pretrained(tmp_path / "file")


def test_templates_can_be_kept_in_the_config(tmp_path: Path) -> None:
    tokenizer = rich("gpt2")

    tokenizer.save_pretrained(tmp_path, save_jinja_files=False)

    assert not (tmp_path / "chat_template.jinja").exists()
    assert HfBpeTokenizer.from_pretrained(tmp_path).chat_template == tokenizer.chat_template


@kinds
def test_a_directory_with_only_tokenizer_json_loads(kind: str, tmp_path: Path) -> None:
    shutil.copy(directory(kind) / "tokenizer.json", tmp_path)

    ours = HfBpeTokenizer.from_pretrained(tmp_path)
    stock = PreTrainedTokenizerFast.from_pretrained(tmp_path)

    assert [ours(text)["input_ids"] for text in HOSTILE] == [stock(text)["input_ids"] for text in HOSTILE]
    assert repr(ours.added_tokens_decoder) == repr(stock.added_tokens_decoder)
    assert HfBpeTokenizer.from_pretrained(str(tmp_path / "tokenizer.json"))._core == ours._core


def write_pair(
    folder: Path, header: str = "#version: 0.2\n", line_end: str = "\n", last: str = "\n", bom: str = ""
) -> None:
    """Write vocab.json and merges.txt of the small GPT-2 tokenizer, with `<|endoftext|>` as its special token."""
    model = json.loads((directory("gpt2") / "tokenizer.json").read_text(encoding="utf-8"))["model"]
    vocab = {token.replace("<|end|>", "<|endoftext|>"): token_id for token, token_id in model["vocab"].items()}
    merges = [" ".join(merge) if isinstance(merge, list) else merge for merge in model["merges"]]
    folder.mkdir(exist_ok=True)
    (folder / "vocab.json").write_text(bom + json.dumps(vocab), encoding="utf-8")
    text = bom + header.replace("\n", line_end) + line_end.join(merges) + last
    (folder / "merges.txt").write_bytes(text.encode())


@pytest.mark.parametrize(
    "layout", [{}, {"header": ""}, {"line_end": "\r\n", "last": "\r\n"}, {"last": ""}, {"bom": "\ufeff"}]
)
def test_a_directory_with_vocab_and_merges_loads_as_gpt2(layout: dict[str, str], tmp_path: Path) -> None:
    write_pair(tmp_path / "plain")
    write_pair(tmp_path / "layout", **layout)
    stock = GPT2Tokenizer.from_pretrained(tmp_path / "plain")

    ours = HfBpeTokenizer.from_pretrained(tmp_path / "layout")

    for text in [*HOSTILE, "a<|endoftext|> b"]:
        assert ours(text)["input_ids"] == stock(text)["input_ids"]
        assert ours.decode(ours.encode(text), True) == stock.decode(stock.encode(text), skip_special_tokens=True)
    assert ours.special_tokens_map == stock.special_tokens_map
    ours.save_pretrained(tmp_path / "saved")
    assert HfBpeTokenizer.from_pretrained(tmp_path / "saved")._core == ours._core


def test_prefix_space_of_a_vocab_and_merges_comes_from_the_config(tmp_path: Path) -> None:
    write_pair(tmp_path)
    (tmp_path / CONFIG).write_text(json.dumps({"add_prefix_space": True, "eos_token": "<|endoftext|>"}))

    ours, stock = HfBpeTokenizer.from_pretrained(tmp_path), GPT2Tokenizer.from_pretrained(tmp_path)

    assert ours("the dog")["input_ids"] == stock("the dog")["input_ids"]
    assert ours.add_prefix_space is True


def test_a_damaged_vocab_is_named(tmp_path: Path) -> None:
    write_pair(tmp_path)
    (tmp_path / "vocab.json").write_text("{")

    with pytest.raises(TokenizerFileError, match=r"vocab.json, line 1, column 2: not JSON"):
        HfBpeTokenizer.from_pretrained(tmp_path)


def test_a_directory_without_vocabulary_says_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / CONFIG).write_text("{}")

    with pytest.raises(TokenizerFileError, match=r"needs a tokenizer.json, or a vocab.json with a merges.txt"):
        HfBpeTokenizer.from_pretrained(tmp_path)


def test_save_vocabulary_writes_the_pair_that_loads_again(tmp_path: Path) -> None:
    write_pair(tmp_path / "pair")
    tokenizer = HfBpeTokenizer.from_pretrained(tmp_path / "pair")

    names = tokenizer.save_vocabulary(str(tmp_path))

    assert [Path(name).name for name in names] == ["vocab.json", "merges.txt"]
    assert (tmp_path / "merges.txt").read_bytes() == (tmp_path / "pair" / "merges.txt").read_bytes()
    assert HfBpeTokenizer(vocab_file=names[0], merges_file=names[1])._core == tokenizer._core
    prefixed = tokenizer.save_vocabulary(str(tmp_path), "x")
    assert [Path(name).name for name in prefixed] == ["x-vocab.json", "x-merges.txt"]


@pytest.mark.parametrize("piece", ["a ", "\n"])
def test_save_vocabulary_refuses_what_merges_txt_cannot_hold(piece: str, tmp_path: Path) -> None:
    model = {"type": "BPE", "vocab": {piece: 0, "b": 1, piece + "b": 2}, "merges": [[piece, "b"]]}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    data = {"version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": byte_level}
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({**data, "post_processor": None, "decoder": byte_level, "model": model}))

    with pytest.raises(ValueError, match="merge 0 has the piece"):
        HfBpeTokenizer(tokenizer_file=str(path)).save_vocabulary(str(tmp_path))
    assert not (tmp_path / "merges.txt").exists()


def test_old_special_tokens_maps_are_read_as_stock_reads_them(tmp_path: Path) -> None:
    shutil.copy(directory("gpt2") / "tokenizer.json", tmp_path)
    (tmp_path / CONFIG).write_text(json.dumps({"extra_special_tokens": ["<x>"], "eos_token": "<|end|>"}))
    legacy = {
        "bos_token": {"content": "<bos>", "lstrip": True, "rstrip": False, "normalized": False, "single_word": False},
        "eos_token": "<eos>",
        "extra_special_tokens": ["<x>", {"content": "<y>", "lstrip": False, "rstrip": True}],
    }
    (tmp_path / "special_tokens_map.json").write_text(json.dumps(legacy))
    (tmp_path / "added_tokens.json").write_text(json.dumps({"<eos>": 700, "plain": 701}))

    ours = HfBpeTokenizer.from_pretrained(tmp_path, pad_token="<pad>")
    stock = PreTrainedTokenizerFast.from_pretrained(tmp_path, pad_token="<pad>")

    assert repr(ours.added_tokens_decoder) == repr(stock.added_tokens_decoder)
    assert repr(ours._special_tokens_map) == repr(stock._special_tokens_map)
    assert repr(ours._extra_special_tokens) == repr(stock._extra_special_tokens)
    assert ours("a <bos>plain<y> <eos>")["input_ids"] == stock("a <bos>plain<y> <eos>")["input_ids"]


@pytest.mark.parametrize(
    "config", [{"additional_special_tokens": ["<a>", "<b>"]}, {"additional_special_tokens": []}, {}]
)
def test_additional_special_tokens_of_a_config_count_before_those_of_an_old_map(
    config: dict[str, object], tmp_path: Path
) -> None:
    shutil.copy(directory("gpt2") / "tokenizer.json", tmp_path)
    (tmp_path / CONFIG).write_text(json.dumps({"eos_token": "<|end|>"} | config))
    (tmp_path / "special_tokens_map.json").write_text(json.dumps({"additional_special_tokens": ["<c>"]}))

    ours = HfBpeTokenizer.from_pretrained(tmp_path)
    stock = PreTrainedTokenizerFast.from_pretrained(tmp_path)

    assert ours.extra_special_tokens == stock.extra_special_tokens
    assert ours.get_vocab() == stock.get_vocab()
    assert ours("a <a><b> <c>")["input_ids"] == stock("a <a><b> <c>")["input_ids"]


def test_named_tokens_with_flags_are_saved_alike_before_and_after_loading(tmp_path: Path) -> None:
    image = AddedToken("<image>", rstrip=True, special=True)
    ours = HfBpeTokenizer.from_pretrained(directory("gpt2"), extra_special_tokens={"image_token": image})

    ours.save_pretrained(tmp_path / "first")
    loaded = HfBpeTokenizer.from_pretrained(tmp_path / "first")
    loaded.save_pretrained(tmp_path / "second")

    for file in (tmp_path / "first").iterdir():
        assert file.read_bytes() == (tmp_path / "second" / file.name).read_bytes()
    stock = PreTrainedTokenizerFast.from_pretrained(tmp_path / "first")
    assert loaded.image_token == stock.image_token == "<image>"
    assert (
        loaded("a <image>  b")["input_ids"] == ours("a <image>  b")["input_ids"] == stock("a <image>  b")["input_ids"]
    )


def test_truncation_and_padding_in_tokenizer_json_set_the_sides_as_in_stock(tmp_path: Path) -> None:
    plain = Tokenizer.from_file(str(directory("gpt2") / "tokenizer.json"))
    plain.enable_truncation(5, direction="left")
    plain.enable_padding(direction="left", pad_token="<|end|>", pad_id=0)
    plain.save(str(tmp_path / "tokenizer.json"))

    ours, stock = HfBpeTokenizer.from_pretrained(tmp_path), PreTrainedTokenizerFast.from_pretrained(tmp_path)

    assert (ours.truncation_side, ours.padding_side, ours.pad_token) == ("left", "left", "<|end|>")
    assert ours("a b c d e f g")["input_ids"] == stock("a b c d e f g")["input_ids"]
    call = {"truncation": True, "max_length": 3, "padding": True}
    assert ours(HOSTILE, **call)["input_ids"] == stock(HOSTILE, **call)["input_ids"]
    explicit = HfBpeTokenizer.from_pretrained(tmp_path, truncation_side="right")
    assert explicit.truncation_side == "right"


def test_a_stock_tokenizer_object_is_copied() -> None:
    plain = Tokenizer.from_file(str(directory("template") / "tokenizer.json"))

    ours = HfBpeTokenizer(tokenizer_object=plain, eos_token="</s>")

    assert ours("a b")["input_ids"] == plain.encode("a b").ids
    plain.add_tokens(["later"])
    assert "later" not in ours.get_vocab()


def test_registering_for_auto_class_copies_no_source(tmp_path: Path) -> None:
    HfBpeTokenizer.register_for_auto_class()

    pair("gpt2")[0].save_pretrained(tmp_path)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["tokenizer.json", CONFIG]
    assert "auto_map" not in config(tmp_path)
