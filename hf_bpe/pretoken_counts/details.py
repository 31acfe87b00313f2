"""What a file of counts says beside them, checked: whoever writes such a file may write anything there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from hf_bpe.counting import counter_of
from hf_bpe.counting_report import CountingReport
from hf_bpe.errors import CountsError, HfBpeError
from hf_bpe.pretoken_counts.settings import CountSettings

_LEAST_LENGTH = 4  # room for any character
_LATER = {"spilled_bytes": 0, "first_bad_rows": []}  # what files of earlier versions don't say, and what that means


def settings_of(path: Path, details: Mapping[str, Any]) -> CountSettings:
    """Return the settings of counts.

    Raises:
        CountsError: They lack one, one is of a wrong kind, or cuts texts by what can't be run here.
    """
    longest, unicode = _found(path, details, "max_pretoken_bytes"), _found(path, details, "unicode")
    if longest is not None and not (_is_count(longest) and longest >= _LEAST_LENGTH):
        raise _wrong(path, "max_pretoken_bytes", longest)
    if not isinstance(unicode, dict) or not all(isinstance(version, str) for version in unicode.values()):
        raise _wrong(path, "unicode", unicode)
    pipeline = {name: _found(path, details, name) for name in ("normalizer", "pre_tokenizer")}
    try:
        counter_of(pipeline, 1, who=str(path))
    except HfBpeError as error:
        raise CountsError(f"{error} Count anew, or with the version of hf_bpe that wrote the file.") from None
    return CountSettings(**pipeline, max_pretoken_bytes=longest, unicode=unicode)


def report_of(path: Path, details: Mapping[str, Any]) -> CountingReport:
    """Return what was read when these counts were made. What earlier versions didn't keep is 0.

    Raises:
        CountsError: A number is missing, or is none, or the first bad rows are no texts.
    """
    found = {field.name: _found(path, _LATER | dict(details), field.name) for field in fields(CountingReport)}
    rows = found.pop("first_bad_rows")
    if not isinstance(rows, list) or not all(isinstance(row, str) for row in rows):
        raise _wrong(path, "first_bad_rows", rows)
    for name, number in found.items():
        if not _is_count(number):
            raise _wrong(path, name, number)
    return CountingReport(**found, first_bad_rows=tuple(rows))


def sources_of(path: Path, details: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of what was counted.

    Raises:
        CountsError: They are no list of texts.
    """
    names = _found(path, details, "sources")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise _wrong(path, "sources", names)
    return tuple(names)


def _found(path: Path, details: Mapping[str, Any], name: str) -> Any:
    if name not in details:
        raise CountsError(f"{path} is damaged: it doesn't say its {name}.")
    return details[name]


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**64


def _wrong(path: Path, name: str, value: object) -> CountsError:
    return CountsError(f"{path} is damaged: its {name} can't be {value!r:.60}.")
