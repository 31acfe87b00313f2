"""Golden cases of chats: the file that `conformance` reads.

A JSON object with `cases`, or the bare list of them. A case is an object:

| key | meaning |
|---|---|
| `id` | its name; by default its place in the list |
| `messages` | the conversation |
| `tools`, `add_generation_prompt`, `continue_final_message` | as for `apply_chat_template` |
| `kwargs` | the template's own keyword arguments |
| `expected` | what is to come out, or an object of that by the name of a template |

What is to come out is any of `text`, `ids` and `assistant_masks`, or `error`: an object of `class` and, where they
matter, `module` and `message`. Where there is a text but encoding it fails, `ids` is an object with that `error`.

`clock`, beside `cases`, may hold the moment at which they were made, as ISO 8601 somewhere in its text; templates that
write today's date then write that of the moment.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

Json = Mapping[str, Any]
RESULTS = frozenset({"text", "ids", "assistant_masks", "error"})
"""The keys of what is to come out."""

_MOMENT = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?")


@dataclass(frozen=True, slots=True)
class Case:
    """A conversation, and what is to come out by the name of a template; None is the name where there is but one."""

    id: str
    arguments: dict[str, Any]
    expected: dict[str | None, Json]


@dataclass(frozen=True, slots=True)
class Cases:
    """The cases of a file, and the moment at which their clock stands."""

    cases: tuple[Case, ...]
    now: datetime | None

    def templates(self) -> list[str | None]:
        """Return the names of templates that something is expected of, in the order of the file."""
        return list(dict.fromkeys(name for case in self.cases for name in case.expected))


def read_cases(source: str | Path | Json | Sequence[Json]) -> Cases:
    """Read golden cases from a file, or from what its JSON says.

    Raises:
        ValueError: The JSON is damaged, or a case has no messages or expects nothing. The text names its place.
    """
    data: Any = source
    if isinstance(source, str | Path):
        try:
            data = json.loads(Path(source).read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{source} is no JSON: {error}") from None
    listed = data.get("cases") if isinstance(data, Mapping) else data
    if not isinstance(listed, Sequence) or isinstance(listed, str):
        raise ValueError("golden cases are a list, or an object with a list of them under 'cases'")
    moment = _MOMENT.search(str(data.get("clock", ""))) if isinstance(data, Mapping) else None
    return Cases(
        tuple(_case(case, index) for index, case in enumerate(listed)),
        datetime.fromisoformat(moment[0]) if moment else None,
    )


def _case(case: Any, index: int) -> Case:
    for key, kind in (("messages", Sequence), ("expected", Mapping)):
        if not isinstance(case, Mapping) or not isinstance(case.get(key), kind):
            found = f"has {sorted(case)}" if isinstance(case, Mapping) else f"is a {type(case).__name__}"
            raise ValueError(f"cases[{index}] {found}; a case needs 'messages', a list, and 'expected', an object")
    names = ("tools", "add_generation_prompt", "continue_final_message")
    arguments = {"conversation": case["messages"], **{name: case[name] for name in names if name in case}}
    expected = case["expected"]
    by_name = {None: expected} if RESULTS & expected.keys() else dict(expected)
    for name, results in by_name.items():
        if not isinstance(results, Mapping) or not RESULTS & results.keys():
            place = f"cases[{index}].expected" + ("" if name is None else f"[{name!r}]")
            raise ValueError(f"{place} says none of {', '.join(sorted(RESULTS))}")
    return Case(str(case.get("id", index)), arguments | dict(case.get("kwargs") or {}), by_name)
