"""The folder of compiled forms: who may write there, bad disks, how large it grows, many processes at once."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest
from directories import directory

from hf_bpe import HfBpeTokenizer, compiled

posix = pytest.mark.skipif(os.name != "posix", reason="modes and owners are those of POSIX")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of forms, which doesn't exist yet, and takes forms of small files."""
    folder = tmp_path / "forms"
    monkeypatch.setenv("HF_BPE_CACHE", str(folder))
    monkeypatch.setattr(compiled, "_WORTH_BYTES", 0)
    return folder


def load(kind: str = "gpt2") -> HfBpeTokenizer:
    return HfBpeTokenizer(tokenizer_file=str(directory(kind) / "tokenizer.json"))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@posix
def test_the_folder_and_its_files_are_the_users_alone(folder: Path) -> None:
    before = os.umask(0)
    try:
        load()
    finally:
        os.umask(before)

    assert folder.stat().st_mode & 0o777 == 0o700
    assert [path.stat().st_mode & 0o777 for path in folder.iterdir()] == [0o600]


@posix
@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("open", "is open to others, its mode being 0755 and not 0700"),
        ("link", "is a link or no folder"),
        ("file", "is a link or no folder"),
        ("foreign", "belongs to another user"),
    ],
)
def test_a_folder_that_others_may_change_is_not_used_and_told_of_once(
    what: str,
    said: str,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if what == "link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        folder.symlink_to(tmp_path / "elsewhere")
    elif what == "file":
        folder.touch()
    else:
        folder.mkdir()
        folder.chmod(0o755 if what == "open" else 0o700)
    if what == "foreign":
        owner = folder.stat().st_uid
        monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    told: list[str] = []
    monkeypatch.setattr(compiled.logger, "warning_once", told.append)

    tokenizers = [load(), load()]

    assert tokenizers[0]._core == tokenizers[1]._core
    assert folder.is_file() or names(folder) == []
    # `warning_once` drops what it has said: so the text must be the same each time.
    [text] = set(told)
    assert text.startswith(f"hf_bpe keeps no compiled vocabularies in {str(folder)!r}: it ")
    assert f": it {said}. They go to a folder that only you can enter: " in text
    assert text.endswith("make it one, or set HF_BPE_CACHE to another folder, or to 'off'.")


def _full(*_: object, **__: object) -> NoReturn:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("where", ["tempfile.mkstemp", "os.replace", "os.fdopen", "os.utime", "os.lstat"])
def test_a_disk_that_fails_costs_no_tokenizer(where: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load("added")
    before = names(folder)
    with monkeypatch.context() as patch:
        patch.setattr(f"hf_bpe.compiled.{where}", _full)
        tokenizers = [load(), load("added")]

    expected = [load(), load("added")]
    assert [tokenizer._core for tokenizer in tokenizers] == [tokenizer._core for tokenizer in expected]
    assert set(before) <= set(names(folder))
    assert not [name for name in names(folder) if not name.endswith(".bin")]


def test_a_folder_that_cannot_be_made_costs_no_tokenizer(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = load()
    (tmp_path / "file").touch()
    monkeypatch.setenv("HF_BPE_CACHE", str(tmp_path / "file" / "forms"))

    assert load()._core == expected._core


def test_a_home_that_nobody_has_costs_no_tokenizer_and_is_told_of(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = load()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_BPE_CACHE", "~no-such-user/forms")
    told: list[str] = []
    monkeypatch.setattr(compiled.logger, "warning_once", told.append)

    assert load()._core == expected._core
    assert told == [
        "hf_bpe keeps no compiled vocabularies: HF_BPE_CACHE is '~no-such-user/forms', in the home of a user that "
        "isn't there. Set it to another folder, or to 'off'."
    ]
    assert names(tmp_path) == [folder.name]


def _pipe(place: Path) -> None:
    os.mkfifo(place)


def _huge(place: Path) -> None:
    with place.open("wb") as file:
        file.truncate(1 << 42)


@posix
@pytest.mark.parametrize("put", [_pipe, _huge, Path.mkdir], ids=["a pipe", "a huge file", "a folder"])
def test_what_can_be_no_form_is_not_read(put: Callable[[Path], None], folder: Path) -> None:
    expected = load()
    [form] = folder.iterdir()
    form.unlink()
    try:
        put(form)
    except OSError:
        pytest.skip("the disk holds no file of this size")

    assert load()._core == expected._core


def test_the_oldest_forms_go_when_there_is_no_room(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for age, kind in enumerate(["gpt2", "template"]):
        load(kind)
        [newest] = [path for path in folder.iterdir() if path.stat().st_mtime > time.time() - 1000]
        os.utime(newest, (time.time() - 9000 + age * 1000,) * 2)
    gpt2, template = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime)
    load("gpt2")  # is in use, so that the other one goes
    monkeypatch.setattr(compiled, "_MOST_BYTES", gpt2.stat().st_size + template.stat().st_size + 99)

    load("added")

    assert gpt2.exists()
    assert not template.exists()
    assert len(names(folder)) == 2


def test_a_form_larger_than_all_room_is_not_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "_MOST_BYTES", 99)

    assert load()._core == load()._core
    assert names(folder) == []


def test_what_a_killed_process_left_goes_and_what_one_writes_stays(folder: Path) -> None:
    folder.mkdir(mode=0o700)
    for name, age in [(".old.part", 9000), (".new.part", 9), ("notes.txt", 9000)]:
        (folder / name).write_bytes(b"half")
        os.utime(folder / name, (time.time() - age,) * 2)

    load()

    assert [name for name in names(folder) if not name.endswith(".bin")] == [".new.part", "notes.txt"]


_PROGRAM = """
import sys
from hf_bpe import compiled, HfBpeTokenizer
compiled._WORTH_BYTES = 0
sys.stdin.readline()
for _ in range(20):
    tokenizer = HfBpeTokenizer(tokenizer_file=sys.argv[1])
print(tokenizer.encode("The quick brown fox"), hash(tokenizer._core.to_json()))
"""


def test_many_processes_load_and_write_at_once(folder: Path) -> None:
    path = str(directory("added") / "tokenizer.json")
    environment = {**os.environ, "PYTHONHASHSEED": "1"}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for _ in range(4)
    ]

    said = {process.communicate("\n")[0] for process in started}

    assert [process.returncode for process in started] == [0] * 4
    assert len(said) == 1
    assert [name.endswith(".bin") for name in names(folder)] == [True]
