"""tokenizer.json as a format, and how formats are told apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from damaged import DAMAGED

from hf_bpe import ConversionError, HfBpeTokenizer, formats
from hf_bpe.formats import tokenizer_json
from hf_bpe.vocabulary import Vocabulary

BYTES = {bytes([byte]): byte for byte in range(256)}


def small() -> Vocabulary:
    """Return the 256 bytes, `ab`, and a special token."""
    return Vocabulary.from_ranks(BYTES | {b"ab": 256}, split_pattern="gpt2", added_tokens={"<s>": 257})


@pytest.mark.parametrize("form", ["strings", "pairs"])
def test_both_forms_of_merges_come_back_byte_for_byte(form: str, tmp_path: Path) -> None:
    # https://github.com/huggingface/tokenizers/pull/909
    [path] = tokenizer_json.write(small(), tmp_path, merges=form)
    assert (json.loads(path.read_text())["model"]["merges"] == ["a b"]) == (form == "strings")

    vocabulary = tokenizer_json.read(path)

    tokenizer_json.write(vocabulary, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()
    assert vocabulary.core == small().core
    assert tokenizer_json.options(vocabulary) == {}


def test_a_piece_with_a_space_stays_a_pair(tmp_path: Path) -> None:
    data = json.loads(small().core.to_json())
    data["model"] |= {"vocab": {"a ": 0, "b": 1, "a b": 2}, "merges": [["a ", "b"]]}
    vocabulary = Vocabulary.from_json(data)

    with pytest.raises(ConversionError, match="merge 0 has the piece 'a ', which a string can't hold"):
        tokenizer_json.write(vocabulary, tmp_path, merges="strings")
    [path] = tokenizer_json.write(vocabulary, tmp_path)

    assert tokenizer_json.read(path).merges == [("a ", "b")]


def test_roles_and_template_come_from_the_directory(tmp_path: Path) -> None:
    tokenizer = HfBpeTokenizer.from_vocabulary(small(), bos_token="<s>", chat_template="{{ messages }}")
    tokenizer.save_pretrained(tmp_path)

    for path in (tmp_path, tmp_path / "tokenizer.json"):
        vocabulary = tokenizer_json.read(path)
        assert vocabulary.special_tokens == {"bos_token": "<s>"}
        assert vocabulary.chat_template == "{{ messages }}"


def test_several_templates_and_more_special_tokens_come_from_the_directory(tmp_path: Path) -> None:
    templates = {"default": "{{ messages }}", "tool_use": "{{ tools }}"}
    given = {"chat_template": templates, "extra_special_tokens": ["<s>"]}
    HfBpeTokenizer.from_vocabulary(small(), **given).save_pretrained(tmp_path)

    vocabulary = tokenizer_json.read(tmp_path)
    assert vocabulary.chat_template == templates
    assert vocabulary.special_tokens == {"extra_special_tokens": ["<s>"]}


def test_older_directories_list_templates_and_special_tokens_in_their_settings(tmp_path: Path) -> None:
    tokenizer_json.write(small(), tmp_path)
    listed = [{"name": "default", "template": "a"}, {"name": "rag", "template": "b"}]
    tokens = [{"content": "<s>", "special": True}, "<gone>", 3]
    config = {
        "chat_template": listed,
        "additional_special_tokens": tokens,
        "eos_token": {"id": 3},
        "bos_token": ["<s>"],
    }
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))

    vocabulary = tokenizer_json.read(tmp_path)

    assert vocabulary.chat_template == {"default": "a", "rag": "b"}
    assert vocabulary.special_tokens == {"extra_special_tokens": ["<s>"]}


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (7, r"tokenizer_config.json: chat_template is 7; it should be a string or a list"),
        ([{"name": "default"}], r"chat_template\[0\] is \{'name': 'default'\}; it should be an object with a name"),
    ],
)
def test_templates_of_another_type_are_refused(template: object, message: str, tmp_path: Path) -> None:
    tokenizer_json.write(small(), tmp_path)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"chat_template": template}))

    with pytest.raises(ConversionError, match=message):
        tokenizer_json.read(tmp_path)


def test_a_template_that_is_no_text_is_refused(tmp_path: Path) -> None:
    tokenizer_json.write(small(), tmp_path)
    (tmp_path / "chat_template.jinja").write_bytes(b"{{\n\xff }}")

    with pytest.raises(ConversionError, match=r"chat_template.jinja, line 2: not UTF-8: the byte 0xff"):
        tokenizer_json.read(tmp_path)


@pytest.mark.parametrize("name", sorted(formats.FORMATS))
@pytest.mark.parametrize(("path", "message"), [("a\0b", "can't be read: embedded null"), ("x" * 300, "too long")])
def test_names_that_the_system_does_not_take_are_refused(name: str, path: str, message: str, tmp_path: Path) -> None:
    for read in (formats.get(name).read, formats.detect):
        with pytest.raises(ConversionError, match=message):
            read(tmp_path / path)


@pytest.mark.parametrize("damage", DAMAGED)
def test_damaged_files_are_refused(damage: str, tmp_path: Path) -> None:
    make, message = DAMAGED[damage]
    make(tmp_path / "tokenizer.json")

    assert not tokenizer_json.sniff(tmp_path / "tokenizer.json")
    with pytest.raises(ConversionError, match=message):
        tokenizer_json.read(tmp_path / "tokenizer.json")


def test_damage_is_named_by_file_and_json_path(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    data = json.loads(small().core.to_json())
    data["model"]["merges"][0] = ["a", "x", "y"]
    path.write_text(json.dumps(data))

    with pytest.raises(ConversionError, match=r"mine.json: model.merges\[0\] should be a pair"):
        tokenizer_json.read(path)
    path.write_text(json.dumps(data)[:3_000])
    with pytest.raises(
        ConversionError, match=r"mine.json: tokenizer.json can't be read: EOF|mine.json: .*line 1 column"
    ):
        tokenizer_json.read(path)


def test_formats_are_told_apart_by_content(tmp_path: Path) -> None:
    tokenizer_json.write(small(), tmp_path / "a")
    formats.get("tiktoken").write(small(), tmp_path / "b")
    (tmp_path / "c").write_text("{}")
    (tmp_path / "d").mkdir()

    assert formats.detect(tmp_path / "a") == "tokenizer_json"
    assert formats.detect(tmp_path / "b") == "tiktoken"
    with pytest.raises(ConversionError, match=r"looks like none of 'gguf', .*: it is a file that begins with b'\{\}'"):
        formats.detect(tmp_path / "c")
    with pytest.raises(ConversionError, match=r"it is a directory without a tokenizer"):
        formats.detect(tmp_path / "d")
    with pytest.raises(ConversionError, match=r"there is no such file or directory"):
        formats.detect(tmp_path / "e")
    with pytest.raises(ConversionError, match=r"there is no format 'x'; hf_bpe reads and writes 'gguf', "):
        formats.get("x")
