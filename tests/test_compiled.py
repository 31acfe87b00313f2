"""Compiled forms: they load what the file says, or are made anew; and what is loaded from one equals the file."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from directories import HOSTILE, KINDS, directory
from hypothesis import given
from hypothesis import strategies as st
from pipelines import random_pipeline
from transformers import AutoTokenizer
from vocabularies import REAL

from hf_bpe import HfBpeTokenizer, TokenizerFileError, UnsupportedComponentError, compiled
from hf_bpe._native import Tokenizer, compile_json, digest_of_file, load_compiled


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of forms, which doesn't exist yet, and takes forms of small files."""
    folder = tmp_path / "forms"
    monkeypatch.setenv("HF_BPE_CACHE", str(folder))
    monkeypatch.setattr(compiled, "_WORTH_BYTES", 0)
    return folder


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which files were read whole since the test began."""
    paths: list[str] = []
    read = compiled.read

    def noting(path: str, read_json: object, *, compiled: bool = True) -> Tokenizer:
        def read_and_note(path: str) -> bytes:
            paths.append(Path(path).parent.name)
            return read_json(path)  # type: ignore[operator, no-any-return]

        return read(path, read_and_note, compiled=compiled)

    monkeypatch.setattr("hf_bpe.compiled.read", noting)
    return paths


def forms(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


def assert_same(loaded: Tokenizer, read: Tokenizer, texts: list[str]) -> None:
    assert loaded == read
    assert loaded.to_json() == read.to_json()
    assert loaded.warnings() == read.warnings()
    for text in texts:
        both = [_outcome(core, text) for core in (loaded, read)]
        assert both[0] == both[1], text


def _outcome(core: Tokenizer, text: str) -> object:
    try:
        encoding = core.encode(text)
    except Exception as error:
        return repr(error)
    return encoding.ids, encoding.tokens, encoding.offsets, core.decode(encoding.ids, skip_special_tokens=True)


def loaded_from_form(data: bytes) -> Tokenizer:
    _, digest, form = compile_json(data)
    assert form is not None
    core = load_compiled(form, digest)
    assert core is not None
    return core


@pytest.mark.parametrize("kind", KINDS)
def test_the_second_load_reads_the_form_alone(kind: str, folder: Path, parsed: list[str]) -> None:
    first = HfBpeTokenizer.from_pretrained(directory(kind))
    second = HfBpeTokenizer.from_pretrained(directory(kind))
    plain = HfBpeTokenizer.from_pretrained(directory(kind), compiled=False)

    assert parsed == [kind, kind]
    assert len(forms(folder)) == 1
    for tokenizer in (first, second):
        assert_same(tokenizer._core, plain._core, HOSTILE)
        assert tokenizer.init_kwargs == plain.init_kwargs
        assert repr(tokenizer) == repr(plain)


@pytest.mark.parametrize("real_vocabulary", sorted(REAL), indirect=True)
def test_a_real_vocabulary_is_the_same_from_its_form(real_vocabulary: Path) -> None:
    data = real_vocabulary.read_bytes()

    assert_same(loaded_from_form(data), Tokenizer.from_json(data), HOSTILE)


@pytest.mark.parametrize("seed", range(60))
def test_any_pipeline_is_the_same_from_its_form(seed: int) -> None:
    pipeline = random_pipeline(seed)
    data = json.dumps(pipeline.json).encode()
    try:
        read = Tokenizer.from_json(data)
    except (TokenizerFileError, UnsupportedComponentError) as error:
        with pytest.raises(type(error)):
            compile_json(data)
        return

    assert_same(loaded_from_form(data), read, pipeline.texts)


def test_saved_sides_and_special_tokens_come_from_a_form_too(folder: Path, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    data = json.loads((directory("gpt2") / "tokenizer.json").read_text(encoding="utf-8"))
    data["truncation"] = {"max_length": 4, "strategy": "LongestFirst", "stride": 0}
    data["padding"] = {
        "strategy": "BatchLongest",
        "direction": "Left",
        "pad_to_multiple_of": None,
        "pad_id": 0,
        "pad_type_id": 0,
        "pad_token": "a",
    }
    (source / "tokenizer.json").write_text(json.dumps(data), encoding="utf-8")

    for _ in range(2):
        tokenizer = HfBpeTokenizer.from_pretrained(source)
        assert (tokenizer.truncation_side, tokenizer.padding_side, tokenizer.pad_token) == ("right", "left", "a")
    assert len(forms(folder)) == 1


@given(data=st.data())
def test_damage_gives_the_same_tokenizer_from_the_file(data: st.DataObject) -> None:
    source = (directory("added") / "tokenizer.json").read_bytes()
    core, digest, form = compile_json(source)
    assert form is not None
    damaged = bytearray(form)
    for _ in range(data.draw(st.integers(1, 5))):
        damaged[data.draw(st.integers(0, len(form) - 1))] ^= data.draw(st.integers(1, 255))
    damaged = damaged[: data.draw(st.integers(0, len(damaged)))] + data.draw(st.binary(max_size=9))

    loaded = load_compiled(bytes(damaged), digest)

    # Two flips of one bit may undo each other.
    assert loaded is None if damaged != form else loaded == core


@pytest.mark.parametrize("what", ["cut", "empty", "flipped", "of another file", "a directory"])
def test_a_form_that_does_not_match_is_made_anew(what: str, folder: Path, parsed: list[str]) -> None:
    HfBpeTokenizer.from_pretrained(directory("added"))
    HfBpeTokenizer.from_pretrained(directory("gpt2"))
    digest = digest_of_file(str(directory("added") / "tokenizer.json"))
    place = folder / f"{digest.hex()}.bin"
    [other] = [path for path in forms(folder) if path != place]
    whole = place.read_bytes()
    if what == "a directory":
        place.unlink()
        place.mkdir()
    else:
        flipped = whole[:100] + bytes([whole[100] ^ 4]) + whole[101:]
        wrong = {"cut": whole[:-1], "empty": b"", "flipped": flipped, "of another file": other.read_bytes()}
        place.write_bytes(wrong[what])

    tokenizer = HfBpeTokenizer.from_pretrained(directory("added"))

    assert parsed == ["added", "gpt2", "added"]
    assert_same(tokenizer._core, HfBpeTokenizer.from_pretrained(directory("added"), compiled=False)._core, HOSTILE)
    assert what == "a directory" or place.read_bytes() == whole


def test_a_file_that_changes_has_another_form(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    data = (directory("gpt2") / "tokenizer.json").read_text(encoding="utf-8")
    path.write_text(data, encoding="utf-8")
    before = HfBpeTokenizer(tokenizer_file=str(path))
    status = path.stat()
    path.write_text(data.replace('"use_regex":true', '"use_regex":false').replace("  ", "    "), encoding="utf-8")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    after = HfBpeTokenizer(tokenizer_file=str(path))

    assert len(forms(folder)) == 2
    assert after._core == HfBpeTokenizer(tokenizer_file=str(path), compiled=False)._core
    assert before._core == Tokenizer.from_json(data)


@pytest.mark.parametrize("value", ["", "0", "off", "OFF", "false", "no"])
def test_the_variable_switches_forms_off(
    value: str, folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HF_BPE_CACHE", value)
    monkeypatch.setattr("huggingface_hub.constants.HF_HOME", str(tmp_path / "home"))

    HfBpeTokenizer.from_pretrained(directory("gpt2"))

    assert not folder.exists()
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("listed", [True, False], ids=["with a list of added tokens", "without"])
def test_the_keyword_switches_forms_off_and_is_not_saved(listed: bool, folder: Path, tmp_path: Path) -> None:
    source = directory("added")
    if listed:
        HfBpeTokenizer.from_pretrained(source, compiled=False).save_pretrained(tmp_path / "listed")
        source = tmp_path / "listed"

    tokenizer = HfBpeTokenizer.from_pretrained(source, compiled=False)
    tokenizer.save_pretrained(tmp_path / "saved")
    automatic = AutoTokenizer.from_pretrained(tmp_path / "saved", compiled=False)

    assert isinstance(automatic, HfBpeTokenizer)
    assert not folder.exists()
    assert "compiled" not in json.loads((tmp_path / "saved" / "tokenizer_config.json").read_text(encoding="utf-8"))


def test_forms_lie_beside_the_other_things_of_hugging_face(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("HF_BPE_CACHE")
    monkeypatch.setattr("huggingface_hub.constants.HF_HOME", str(tmp_path / "home"))

    HfBpeTokenizer.from_pretrained(directory("gpt2"))

    assert len(forms(tmp_path / "home" / "hf_bpe")) == 1


def test_a_small_file_has_no_form(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("HF_BPE_CACHE", str(folder))

    HfBpeTokenizer.from_pretrained(directory("gpt2"))

    assert not folder.exists()


@pytest.mark.parametrize("text", ["{", "\x00" * 99, '{"model": {"type": "Unigram", "vocab": []}}'])
def test_a_damaged_file_raises_and_leaves_no_form(text: str, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(text, encoding="utf-8")

    with pytest.raises((TokenizerFileError, UnsupportedComponentError)) as with_forms:
        HfBpeTokenizer(tokenizer_file=str(path))
    with pytest.raises((TokenizerFileError, UnsupportedComponentError)) as without:
        HfBpeTokenizer(tokenizer_file=str(path), compiled=False)

    assert repr(with_forms.value) == repr(without.value)
    assert forms(folder) == []


def test_a_file_that_is_not_there_raises_as_without_forms(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"absent\.json"):
        HfBpeTokenizer(tokenizer_file=str(tmp_path / "absent.json"))
    with pytest.raises(TokenizerFileError, match="is a directory, expected a file"):
        HfBpeTokenizer(tokenizer_file=str(tmp_path))
