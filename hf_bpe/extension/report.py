"""`ExtensionReport`: what an extension did to a vocabulary, and to texts."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

_SHOWN = 20
_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class NewToken:
    """A token that was added.

    Attributes:
        id: Its id.
        token: As the vocabulary spells it.
        text: As a person reads it; what is no character is written as an escape.
        halves: The ids that its merge joins; None for a character, which needs no merge.
        parts: The ids of the old tokens that stood in its place.
        saved: How many tokens fewer the source took when it was made.
    """

    id: int
    token: str
    text: str
    halves: tuple[int, int] | None
    parts: tuple[int, ...]
    saved: int = 0


@dataclass(frozen=True)
class Saving:
    """How many tokens texts took and take.

    Attributes:
        texts: How many texts there are.
        before: How many tokens they took.
        after: How many they take.
    """

    texts: int = 0
    before: int = 0
    after: int = 0

    def __add__(self, other: Saving) -> Saving:
        return Saving(self.texts + other.texts, self.before + other.before, self.after + other.after)

    @property
    def saved(self) -> int:
        """How many tokens fewer they take."""
        return self.before - self.after

    @property
    def share(self) -> float:
        """The part that is saved, from 0 to 1."""
        return self.saved / self.before if self.before else 0.0

    def __str__(self) -> str:
        return f"{self.before:,} -> {self.after:,} tokens, {self.share:.1%} saved"


@dataclass(frozen=True)
class ChangedLine:
    """A text that takes other tokens now.

    Attributes:
        text: The text.
        before: Its tokens, as a person reads them.
        after: Its tokens now.
        coarser: Whether the old tokens were only joined; else they were cut anew.
    """

    text: str
    before: Sequence[str]
    after: Sequence[str]
    coarser: bool


@dataclass(frozen=True)
class ChangedToken:
    """An old token whose own text takes other tokens now.

    Attributes:
        id: Its id.
        text: Its text.
        before: What the text was, as ids.
        after: What it is now.
    """

    id: int
    text: str
    before: Sequence[int]
    after: Sequence[int]


@dataclass(frozen=True)
class RefusedWord:
    """A word that became no token.

    Attributes:
        word: The word.
        reason: Why.
    """

    word: str
    reason: str


@dataclass(frozen=True)
class ExtensionReport:
    """What was done. Prints as text; `as_json` and `to_html` show all of it.

    Attributes:
        old_size: The highest id plus one, before.
        new_size: The same, now: the rows that an embedding needs.
        added: The new tokens, in the order of their ids.
        dropped: The ids of tokens that are gone.
        id_map: The new id of each old one; None where each stayed.
        source: What the corpus took and takes; None where none was read.
        languages: The same for a sample of the corpus, by script.
        texts: The same for the texts that were given to be reported on, by name.
        lines_read: How many texts of the sample and of those given were encoded with both.
        lines_changed: How many of them take other tokens now.
        lines: Those, or some of them.
        unreachable: New tokens that no text gives.
        changed_tokens: Old tokens whose own text takes other tokens now.
        refused: Words that became no token.
        known: Words that were tokens before, with their ids.
        notes: What else there is to know.
        bad_rows: How many rows of the corpus held no text, and were left out.
        first_bad_rows: Where the first of these are, ten at most, and what is wrong with them.
    """

    old_size: int
    new_size: int
    added: Sequence[NewToken] = ()
    dropped: Sequence[int] = ()
    id_map: Mapping[int, int] | None = None
    source: Saving | None = None
    languages: Mapping[str, Saving] = field(default_factory=dict)
    texts: Mapping[str, Saving] = field(default_factory=dict)
    lines_read: int = 0
    lines_changed: int = 0
    lines: Sequence[ChangedLine] = ()
    unreachable: Sequence[NewToken] = ()
    changed_tokens: Sequence[ChangedToken] = ()
    refused: Sequence[RefusedWord] = ()
    known: Mapping[str, int] = field(default_factory=dict)
    notes: Sequence[str] = ()
    bad_rows: int = 0
    first_bad_rows: Sequence[str] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON."""
        return {
            "old_size": self.old_size,
            "new_size": self.new_size,
            "added": [vars(token) for token in self.added],
            "dropped": list(self.dropped),
            "id_map": None if self.id_map is None else {str(old): new for old, new in self.id_map.items()},
            "source": None if self.source is None else _saving(self.source),
            "languages": {name: _saving(saving) for name, saving in self.languages.items()},
            "texts": {name: _saving(saving) for name, saving in self.texts.items()},
            "lines_read": self.lines_read,
            "lines_changed": self.lines_changed,
            "lines": [vars(line) for line in self.lines],
            "unreachable": [token.id for token in self.unreachable],
            "changed_tokens": [vars(token) for token in self.changed_tokens],
            "refused": [vars(word) for word in self.refused],
            "known": dict(self.known),
            "notes": list(self.notes),
            "bad_rows": self.bad_rows,
            "first_bad_rows": list(self.first_bad_rows),
        }

    def to_html(self) -> str:
        """Return the report as one HTML page that needs nothing else. Every text is escaped."""
        from hf_bpe.extension.html import page_of

        return page_of(self)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the report: as a page for `.html`, as JSON for `.json`, else as text.

        Example:
            >>> report.save("extension.html")
        """
        place = Path(path)
        if place.suffix.lower() in (".html", ".htm"):
            text = self.to_html()
        elif place.suffix.lower() == ".json":
            text = json.dumps(self.as_json(), ensure_ascii=False, indent=2) + "\n"
            text = _SURROGATES.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
        else:
            text = _SURROGATES.sub("\ufffd", f"{self}\n")
        place.write_text(text, encoding="utf-8")

    def __str__(self) -> str:
        lines = [f"{self.old_size:,} -> {self.new_size:,} ids: {len(self.added):,} tokens added"]
        if self.dropped:
            lines[0] += f", {len(self.dropped):,} dropped"
        if self.source is not None:
            lines.append(f"source: {self.source}")
        lines += [f"{name}, in a sample of the source: {saving}" for name, saving in self.languages.items()]
        lines += [f"{name}: {saving}" for name, saving in self.texts.items()]
        if self.lines_read:
            lines.append(f"lines that take other tokens: {self.lines_changed:,} of {self.lines_read:,} that were read")
        lines += [f"new: {_token(token)}" for token in self.added[:_SHOWN]]
        if len(self.added) > _SHOWN:
            lines.append(f"... and {len(self.added) - _SHOWN:,} more")
        lines += [f"no text gives {token.id} {token.text!r}" for token in self.unreachable]
        lines += [f"a token already: {word!r} is {token_id}" for word, token_id in self.known.items()]
        lines += [f"refused: {word.word!r}: {word.reason}" for word in self.refused]
        if self.bad_rows:
            lines.append(f"rows of the source that hold no text, and were left out: {self.bad_rows:,}")
            lines += [f"left out: {row}" for row in self.first_bad_rows]
        changed = self.changed_tokens
        lines += [
            f"changed: {token.id} {token.text!r} was {list(token.before)}, is {list(token.after)}" for token in changed
        ]
        return "\n".join([*lines, *self.notes])


def _token(token: NewToken) -> str:
    return f"{token.id} {token.text!r}, {len(token.parts)} tokens before"


def _saving(saving: Saving) -> dict[str, Any]:
    return vars(saving) | {"saved": saving.saved, "share": saving.share}
