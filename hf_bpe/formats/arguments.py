"""Checks what callers pass to the functions on formats: a wrong type is told by the name of the argument."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NoReturn


def a_path(value: Any, name: str) -> Path:
    """Return a path.

    Raises:
        TypeError: It is none.
    """
    if not isinstance(value, str | PathLike) or not isinstance(fspath(value), str):
        _refuse(name, "a path (str or os.PathLike)", value)
    return Path(value)


def a_name(value: Any, name: str) -> str | None:
    """Return a name, or None.

    Raises:
        TypeError: It is something else.
    """
    if not isinstance(value, str | None):
        _refuse(name, "a name (str)", value)
    return value


def a_switch(value: Any, name: str) -> bool:
    """Return a bool.

    Raises:
        TypeError: It is something else.
    """
    if not isinstance(value, bool):
        _refuse(name, "True or False", value)
    return value


def some_texts(value: Any, name: str) -> Iterable[str] | None:
    """Return texts, or None.

    Raises:
        TypeError: It is one text, or something else.
    """
    if not isinstance(value, Iterable | None) or isinstance(value, str | bytes | Mapping):
        _refuse(name, "a list of texts (of one text, write [text])", value)
    return value


def a_sample(value: Any) -> int | None:
    """Return how many texts of a kind are tried at most, or None.

    Raises:
        TypeError: It is no number of texts.
        ValueError: It is negative.
    """
    if isinstance(value, bool) or not isinstance(value, int | None):
        _refuse("sample", "a number of texts, or None for all", value)
    if value is not None and value < 0:
        raise ValueError(f"sample is a number of texts from 0 up, or None for all, got {value}.")
    return value


def some_options(value: Any, name: str, example: str) -> dict[str, Any]:
    """Return values by name; nothing for None.

    Raises:
        TypeError: It is something else.
    """
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        _refuse(name, f"a dict such as {example}", value)
    return dict(value)


def ids_by_token(value: Any, name: str) -> dict[str, int] | None:
    """Return ids by token, or None.

    Raises:
        TypeError: It is something else.
    """
    if value is None:
        return None
    example = "{'<|end|>': 100}"
    tokens = some_options(value, name, example)
    if not all(isinstance(token_id, int) and not isinstance(token_id, bool) for token_id in tokens.values()):
        _refuse(name, f"a dict of ids by token, such as {example}", value)
    return tokens


def _refuse(name: str, wanted: str, value: Any) -> NoReturn:
    raise TypeError(f"{name} is {wanted}, got {type(value).__name__}: {value!r:.60}.")
