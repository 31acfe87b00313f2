"""The file formats of vocabularies: one module each, which reads and writes through one `Vocabulary`.

A format's module has:

- `NAME`, the name by which it is asked for;
- `sniff(path) -> bool`: whether a file looks like this format by its content. It reads little and never raises;
- `read(path, **options) -> Vocabulary`: raises `ConversionError`, which names the file, the line or JSON path, and what
  was found there;
- `write(vocabulary, path, **options) -> list[Path]`: raises `ConversionError` where the format can't hold the
  vocabulary, with a text whose ids would change if there is one. It writes plainly: staging is the caller's affair;
- `options(vocabulary) -> dict`: what `write` leaves out of the file, as the arguments by which `read` brings it back.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from hf_bpe.errors import ConversionError
from hf_bpe.formats import arguments, files
from hf_bpe.vocabulary import Vocabulary


class Format(Protocol):
    """What a module of this package offers."""

    NAME: str

    def sniff(self, path: Path) -> bool:
        """Whether `path` looks like this format."""

    def read(self, path: Path, **options: Any) -> Vocabulary:
        """Read a vocabulary."""

    def write(self, vocabulary: Vocabulary, path: Path, **options: Any) -> list[Path]:
        """Write a vocabulary; return the files."""

    def options(self, vocabulary: Vocabulary) -> dict[str, Any]:
        """What `write` leaves out, as arguments of `read`."""


FORMATS: dict[str, str] = {
    "gguf": "hf_bpe.formats.gguf",
    "tokenizer_json": "hf_bpe.formats.tokenizer_json",
    "tekken": "hf_bpe.formats.tekken",
    "gpt2": "hf_bpe.formats.gpt2",
    "tiktoken": "hf_bpe.formats.tiktoken",
    "sentencepiece": "hf_bpe.formats.sentencepiece",
}
"""The module of each format by its name. In the order in which `detect` asks: the ones with a clear mark first."""


def get(name: str) -> Format:
    """Return the module of a format.

    Raises:
        ConversionError: There is no format of this name.
    """
    if arguments.a_name(name, "format") not in FORMATS:
        names = ", ".join(repr(known) for known in sorted(FORMATS))
        raise ConversionError(f"there is no format {name!r:.60}; hf_bpe reads and writes {names}.")
    return cast(Format, import_module(FORMATS[name]))


def detect(path: str | Path) -> str:
    """Return the name of the format of `path`, judged by its content.

    Args:
        path: A file, or a directory that holds a tokenizer.

    Raises:
        ConversionError: Nothing is there, or it looks like no format.
    """
    path = Path(path)
    if not files.is_directory(path) and not path.exists():
        raise ConversionError(f"{path}: there is no such file or directory.")
    for name in _sniffed(path):
        return name
    found = "a directory without a tokenizer" if path.is_dir() else _describe(path)
    names = ", ".join(repr(known) for known in sorted(FORMATS))
    raise ConversionError(f"{path} looks like none of {names}: it is {found}. Name its format if you know it.")


def _sniffed(path: Path) -> Iterator[str]:
    return (name for name in FORMATS if get(name).sniff(path))


def _describe(path: Path) -> str:
    if not path.is_file():
        return "a device or a pipe"
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except OSError as error:
        return f"unreadable ({error.strerror})"
    return f"a file that begins with {start!r}" if start else "empty"
