"""A pin tells whether the tokenizer behind a model changed, and what."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from test_cli import assert_failed, run

from hf_bpe import ConversionError, HfBpeTokenizer, add_words, convert, fingerprint, train
from hf_bpe.pinning import check_pin, pin, read_pin


@pytest.fixture(scope="module")
def directory(small_tokenizer_json: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pinned") / "tokenizer"
    HfBpeTokenizer(tokenizer_file=str(small_tokenizer_json)).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def changed(directory: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same tokenizer with one word more, whose text a terminal would obey."""
    folder = tmp_path_factory.mktemp("changed") / "tokenizer"
    tokenizer, _ = add_words(HfBpeTokenizer.from_pretrained(directory), ["equality"])
    tokenizer.add_tokens(["\x1b[31m"])
    tokenizer.save_pretrained(folder)
    return folder


def write_pin(directory: Path, path: Path, *, small: bool = False) -> Path:
    path.write_text(json.dumps(pin(directory, small=small).as_json()), encoding="utf-8")
    return path


def test_a_pin_is_kept_by_the_same_tokenizer_in_other_files(directory: Path, tmp_path: Path) -> None:
    file = write_pin(directory, tmp_path / "pin.json")
    HfBpeTokenizer.from_pretrained(directory).save_pretrained(tmp_path / "again", stock=True)
    convert(directory, tmp_path / "again.json")

    for source in (directory, tmp_path / "again", tmp_path / "again.json", HfBpeTokenizer.from_pretrained(directory)):
        check = check_pin(source, read_pin(file))
        assert check
        assert check.differing == ()
        assert check.found == fingerprint(HfBpeTokenizer.from_pretrained(directory))


@pytest.mark.parametrize("small", [False, True])
def test_a_change_is_found_and_shown(small: bool, directory: Path, changed: Path, tmp_path: Path) -> None:
    check = check_pin(changed, read_pin(write_pin(directory, tmp_path / "pin.json", small=small)))

    assert not check
    assert set(check.differing) == {"vocabulary", "added_tokens"}
    changes = check.changes()
    if small:
        assert changes is None
    else:
        assert changes is not None
        assert {"equality", "\x1b[31m"} <= changes.appeared.keys()
        assert not changes.vanished


def test_a_pin_by_other_rules_is_made_anew_from_what_it_holds(directory: Path, changed: Path, tmp_path: Path) -> None:
    whole, small = (write_pin(directory, tmp_path / f"{small}.json", small=small) for small in (False, True))
    for file in (whole, small):
        file.write_text(file.read_text().replace('"v1:', '"v0:'))

    assert check_pin(directory, read_pin(whole))
    assert not check_pin(changed, read_pin(whole))
    with pytest.raises(ConversionError, match=r"fingerprint 'v0:.* those that begin with 'v1:'. Pin again"):
        check_pin(directory, read_pin(small))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", r"is no pin: it isn't JSON"),
        ("[]", r"is no pin: it lacks the kind 'hf-bpe pin'"),
        ('{"kind": "hf-bpe pin"}', r"is a damaged pin \(KeyError"),
        ('{"kind": "hf-bpe pin", "fingerprint": "", "parts": []}', r"is a damaged pin \(AttributeError"),
        ('{"kind": "hf-bpe pin", "fingerprint": "", "parts": {}, "tokenizer": "QQ=="}', r"is a damaged pin \(error"),
        ('{"kind": "hf-bpe pin", "fingerprint": "", "parts": {}, "tokenizer": "?"}', r"is a damaged pin \(Error"),
    ],
)
def test_a_damaged_pin_is_named(content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "pin.json").write_text(content)

    with pytest.raises(ConversionError, match=message):
        read_pin(tmp_path / "pin.json")


def test_the_commands_pin_and_fail_on_a_change(directory: Path, changed: Path, tmp_path: Path) -> None:
    file = tmp_path / "tokenizer.pin"

    made = run("pin", directory, "-o", file)
    same = run("check-pin", directory, file)
    other = run("check-pin", changed, file, "--show", "3")
    as_json = run("check-pin", changed, file, "--json")

    assert made.returncode == same.returncode == 0, made.stderr + same.stderr
    assert made.stdout == same.stdout == read_pin(file).fingerprint.encode() + b"\n"
    assert other.returncode == as_json.returncode == 1
    assert b"vocabulary, added tokens changed" in other.stderr
    shown = other.stdout.decode()
    assert "tokens that appeared: " in shown
    assert "'equality'" in json.dumps(json.loads(as_json.stdout)["changes"]["appeared"]).replace('"', "'")
    assert "\x1b" not in shown + as_json.stdout.decode()
    assert [path.name for path in tmp_path.iterdir()] == ["tokenizer.pin"]


def test_the_commands_say_what_is_missing(directory: Path, tmp_path: Path) -> None:
    assert_failed(run("check-pin", directory, tmp_path / "none.pin"), 1, "none.pin: No such file or directory")
    assert_failed(run("pin", tmp_path / "none", "-o", tmp_path / "x.pin"), 1, "there is no such file or directory")
    assert_failed(run("pin", directory), 2, "--out")


def test_a_pin_whose_fingerprint_is_not_that_of_its_parts_is_damaged(tmp_path: Path) -> None:
    made = pin(train(["low lower"] * 9, vocab_size=260, progress=False)).as_json()
    (tmp_path / "a.pin").write_text(json.dumps(made | {"fingerprint": "v1:" + "0" * 64}), encoding="utf-8")
    (tmp_path / "b.pin").write_text("[" * 100_000, encoding="utf-8")

    with pytest.raises(ConversionError, match="its fingerprint isn't that of its parts"):
        read_pin(tmp_path / "a.pin")
    with pytest.raises(ConversionError, match="is no pin: it isn't JSON"):
        read_pin(tmp_path / "b.pin")
