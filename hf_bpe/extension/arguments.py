"""What is wrong with the arguments that all of this package's functions take: told before a corpus is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hf_bpe.tokenizer import HfBpeTokenizer
from hf_bpe.trainer_settings import check_numbers


def check_report(*, report_on: object, max_lines: object) -> None:
    """Raise for texts that aren't given by name as lists, and for a number of lines that is none.

    Raises:
        TypeError: One is of another type.
        ValueError: `max_lines` is negative.
    """
    if max_lines is not None:
        check_numbers(max_lines=max_lines)
    if report_on is None:
        return
    if not isinstance(report_on, Mapping):
        raise TypeError(f"report_on is a mapping of names to texts, got {type(report_on).__name__}")
    for name, texts in report_on.items():
        if not isinstance(name, str):
            raise TypeError(f"report_on maps names to texts, got the name {name!r}")
        listed(texts, f"report_on[{name!r}]", "texts")


def listed(values: Any, argument: str, kind: str) -> Iterable[Any]:
    """Return values that are to be many.

    Raises:
        TypeError: They are one str or bytes, or can't be iterated over.
    """
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        hint = f"; write [{values!r}]" if isinstance(values, str) else ""
        raise TypeError(f"{argument} is a list of {kind}, got {type(values).__name__}{hint}")
    return values


def check_tokenizer(tokenizer: object, purpose: str) -> None:
    """Raise for a tokenizer of another library, or something else.

    Raises:
        TypeError: It is one.
    """
    if not isinstance(tokenizer, HfBpeTokenizer):
        raise TypeError(
            f"the tokenizer to {purpose} is an HfBpeTokenizer, got {type(tokenizer).__name__}; "
            "load it with HfBpeTokenizer.from_pretrained() or one of the from_... functions"
        )
