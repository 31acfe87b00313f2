"""Which format a destination asks for, and how it is written."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hf_bpe import formats
from hf_bpe.converting import report
from hf_bpe.errors import ConversionError
from hf_bpe.tokenizer import HfBpeTokenizer
from hf_bpe.vocabulary import Vocabulary

_DIRECTORY = "tokenizer_json"
_SAVING = ("stock", "auto_map")


@dataclass(frozen=True)
class Target:
    """A format, and whether it is written as a directory."""

    format: str
    is_directory: bool


def target_of(destination: Path, name: str | None, vocabulary: Vocabulary, *, overwrite: bool) -> Target:
    """Return what is to be written.

    Raises:
        ConversionError: There is no such format, or a file is in the place of a directory or the other way round.
    """
    name = name or _format_of_name(destination, vocabulary)
    formats.get(name)
    is_directory = name == "gpt2" or (name == _DIRECTORY and destination.suffix != ".json")
    if not is_directory and destination.name == report.NAME:
        raise ConversionError(f"{destination} is where the report is put; name another destination.")
    if overwrite and destination.exists() and destination.is_dir() != is_directory:
        found, made = ("a directory", "a file") if destination.is_dir() else ("a file", "a directory")
        raise ConversionError(f"{destination} is {found}, and {name!r} is written as {made}; name another destination.")
    return Target(name, is_directory)


def _format_of_name(destination: Path, vocabulary: Vocabulary) -> str:
    if destination.is_dir():
        return _DIRECTORY
    name = destination.name.lower()
    if name in ("vocab.json", "merges.txt"):
        raise ConversionError(
            f"{destination} is one of two files: name their directory, and 'gpt2' as the format (--to gpt2)."
        )
    if name.endswith(".gguf"):
        return "gguf"
    if name.endswith(".tiktoken"):
        return "tiktoken"
    if name.endswith(".model"):
        return "tiktoken" if vocabulary.is_byte_level else "sentencepiece"
    if name.endswith(".json") and name.startswith("tekken"):
        return "tekken"
    return _DIRECTORY


def write(vocabulary: Vocabulary, path: Path, target: Target, options: Mapping[str, Any]) -> list[Path]:
    """Write a vocabulary, and return the files.

    Raises:
        ConversionError: The format can't hold it, or has no such option.
    """
    writer = formats.get(target.format).write
    accepted = [key for key in inspect.signature(writer).parameters if key not in ("vocabulary", "path")]
    saved = target.is_directory and target.format == _DIRECTORY
    accepted = [*_SAVING] if saved else accepted
    for option in options:
        if option not in accepted:
            names = ", ".join(map(repr, accepted)) or "none"
            raise ConversionError(f"writing {target.format!r} has no option {option!r}; it has {names}.")
    if target.is_directory:
        path.mkdir()
    if saved:
        tokenizer = HfBpeTokenizer.from_vocabulary(vocabulary)
        return [Path(file) for file in tokenizer.save_pretrained(path, **options)]
    return writer(vocabulary, path, **options)
