"""What a conversion verifies: the source, what was written, and each with the format's own library."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hf_bpe import formats
from hf_bpe.converting.libraries import NoLibrary, compare_token_lists, open_with_library
from hf_bpe.converting.report import Check
from hf_bpe.errors import ConversionError
from hf_bpe.verification import Difference, compare
from hf_bpe.vocabulary import Vocabulary


class Checks:
    """Collects what was verified. The first difference raises.

    Args:
        texts: The caller's texts.
        sample: As for `compare`.
        progress: As for `compare`.
    """

    def __init__(self, *, texts: Sequence[str] | None, sample: int | None, progress: bool | None) -> None:
        self.done: list[Check] = []
        self.not_done: list[str] = []
        self._settings: dict[str, Any] = {"texts": texts, "sample": sample, "progress": progress}

    def source(self, name: str, path: Path, vocabulary: Vocabulary) -> None:
        """Compare what was read with what the format's own library makes of the same file.

        Raises:
            ConversionError: They differ. The message has the shortest text.
        """
        try:
            ours, theirs = open_with_library(name, path, vocabulary)
        except Exception as error:  # libraries refuse files in ways of their own
            why = str(error) if isinstance(error, NoLibrary) else f"it refuses the file, {_reason(error)}"
            self.not_done.append(f"{path.name} with its own library: {why}")
            return
        self._compare(f"{path.name} as it was read, with its own library", ours, theirs, path)

    def written(self, name: str, path: Path, vocabulary: Vocabulary, options: dict[str, Any]) -> list[str]:
        """Read what was written, and compare it with what was to be written, and with the format's own library.

        Returns:
            What the file leaves out.

        Raises:
            ConversionError: They differ, or the library refuses the file. The message has the shortest text.
        """
        module = formats.get(name)
        given = module.options(vocabulary)
        back = module.read(path, **given)
        self._compare(f"{path.name} as it was read back, with the source", vocabulary, back, path)
        self._check_with_library(name, path, vocabulary)
        return _left_out(given, vocabulary)

    def _check_with_library(self, name: str, path: Path, vocabulary: Vocabulary) -> None:
        if name == "gguf" and (listed := compare_token_lists(path, vocabulary)) is not None:
            self.done.append(Check(f"the tokens in {path.name} by id, as the package gguf reads them", listed))
        try:
            ours, theirs = open_with_library(name, path, vocabulary)
        except NoLibrary as error:
            self.not_done.append(f"{path.name} with its own library: {error}")
        except Exception as error:  # libraries refuse files in ways of their own
            raise ConversionError(
                f"{path.name} was written, but its own library refuses it: {_reason(error)}"
            ) from error
        else:
            self._compare(f"{path.name} as it was written, with its own library", ours, theirs, path)

    def _compare(self, what: str, ours: Any, theirs: Any, path: Path) -> None:
        found = compare(ours, theirs, **self._settings)
        if isinstance(found, Difference):
            raise ConversionError(f"{path.name}: {found.second} differs from {found.first}: {found.summary()}.")
        self.done.append(Check(what, found))


def _left_out(given: dict[str, Any], vocabulary: Vocabulary) -> list[str]:
    """Return the parts that a file leaves out, by the arguments that reading it needs."""
    if "like" not in given:
        return [f"{name} = {value!r}" for name, value in given.items()]
    parts = {
        "the split pattern": vocabulary.pre_tokenizer is not None,
        "the normalizer": vocabulary.normalizer is not None,
        "the template that adds special tokens": vocabulary.post_processor is not None,
        "special tokens and other added tokens": bool(vocabulary.added_tokens),
    }
    return [name for name, present in parts.items() if present]


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text:.300}" if text else type(error).__name__
