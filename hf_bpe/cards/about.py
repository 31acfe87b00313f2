"""What only the maker of a tokenizer knows: no file of it says what it is for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from hf_bpe.errors import ConversionError


@dataclass(frozen=True)
class About:
    """What a card can't find out. What is left empty is said to be not stated.

    Attributes:
        name: The name of the repository, such as `"me/my-tokenizer"`.
        purpose: What the tokenizer is for.
        training_data: What it was trained on.
        sampling: How that was chosen and mixed.
        license: The licence, as the Hub names it, such as `"apache-2.0"`.
        languages: Language codes, such as `("en", "zh")`.
        base_model: The repository that it was made from.
        tags: More tags.
    """

    name: str = ""
    purpose: str = ""
    training_data: str = ""
    sampling: str = ""
    license: str = ""
    languages: Sequence[str] = ()
    base_model: str = ""
    tags: Sequence[str] = ()


_LISTS = ("languages", "tags")


def read_about(path: str | Path) -> About:
    """Return the facts in a JSON file: an object with the attributes of `About`.

    Raises:
        ConversionError: It is no such file.
    """
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ConversionError(f"{path} is no JSON: {error}") from None
    known = [field.name for field in fields(About)]
    if not isinstance(data, dict) or not data.keys() <= set(known):
        found = ", ".join(map(repr, sorted(data.keys() - set(known)))) if isinstance(data, dict) else "no object"
        raise ConversionError(f"{path}: found {found}; the facts of a card are {', '.join(map(repr, known))}.")
    for name, value in data.items():
        _check(path, name, value)
    return About(**data)


def _check(path: str | Path, name: str, value: Any) -> None:
    if name in _LISTS:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise ConversionError(f"{path}: {name!r} is a list of strings, got {value!r:.60}.")
    elif not isinstance(value, str):
        raise ConversionError(f"{path}: {name!r} is a string, got {value!r:.60}.")
