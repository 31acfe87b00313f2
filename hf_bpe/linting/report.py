"""What a lint found: `LintReport`, which is true where nothing has to be looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Level = Literal["error", "warning", "note"]

KINDS: Mapping[str, tuple[Level, str]] = {
    "unreadable": ("error", "the file can't be loaded"),
    "merge-without-result": ("error", "merges whose halves or result are no tokens"),
    "hidden-added-token": ("error", "added tokens that their own text doesn't give"),
    "double-merge": ("warning", "merges that stand in the list twice"),
    "double-id": ("warning", "ids that several tokens share"),
    "dead-token": ("warning", "tokens that no text gives"),
    "replay-differs": ("warning", "pairs that a replay of all merges in order joins otherwise than a heap"),
    "ranks-differ": ("warning", "texts to which a rank file of these tokens gives other ids"),
    "charsmap-differs": ("warning", "texts that SentencePiece normalizes otherwise than a tokenizer.json can"),
    "spellable-special-token": ("warning", "special tokens that ordinary text spells"),
    "overlapping-added-tokens": ("note", "added tokens that begin, or overlap, others"),
    "ranks-unproved": ("note", "whether a rank file of these tokens gives the same ids isn't proved"),
    "hole": ("note", "ids below the highest that no token has"),
}
"""Each kind of finding, how grave it is, and what it means."""

_SHOWN = 10


@dataclass(frozen=True)
class Finding:
    """One thing that is odd.

    Attributes:
        kind: One of `KINDS`.
        message: What was found.
        id: The id it is about, if any.
        token: The token or pair it is about, as tokenizer.json spells it.
        text: The shortest text that shows it. None where no text does.
    """

    kind: str
    message: str
    id: int | None = None
    token: str | None = None
    text: str | None = None

    @property
    def level(self) -> Level:
        """How grave it is."""
        return KINDS[self.kind][0]

    def as_json(self) -> dict[str, Any]:
        """Return the finding as JSON."""
        return {
            "kind": self.kind,
            "level": self.level,
            "message": self.message,
            "id": self.id,
            "token": self.token,
            "text": self.text,
        }


@dataclass(frozen=True)
class LintReport:
    """All findings about one vocabulary, the gravest kinds first.

    Attributes:
        name: What was looked at.
        findings: What was found.
        ignored: Kinds that were left out.
    """

    name: str
    findings: Sequence[Finding]
    ignored: frozenset[str] = frozenset()

    @property
    def counts(self) -> dict[str, int]:
        """How many findings there are of each kind."""
        return dict(Counter(finding.kind for finding in self.findings))

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON."""
        findings = [finding.as_json() for finding in self.findings]
        return {"name": self.name, "ok": bool(self), "counts": self.counts, "findings": findings}

    def __bool__(self) -> bool:
        """Whether there are only notes."""
        return all(finding.level == "note" for finding in self.findings)

    def __str__(self) -> str:
        lines = [f"{self.name}: {'nothing found' if not self.findings else _summary(self.counts)}"]
        for kind, count in self.counts.items():
            level, meaning = KINDS[kind]
            lines.append(f"{level}: {meaning} ({kind}): {count:,}")
            of_kind = [finding for finding in self.findings if finding.kind == kind]
            lines += [f"  {finding.message}" for finding in of_kind[:_SHOWN]]
            if count > _SHOWN:
                lines.append(f"  … and {count - _SHOWN:,} more; --json shows all")
        return "\n".join(lines)


def _summary(counts: Mapping[str, int]) -> str:
    by_level: Counter[str] = Counter()
    for kind, count in counts.items():
        by_level[KINDS[kind][0]] += count
    named = (f"{count:,} {level}{'' if count == 1 else 's'}" for level, count in by_level.items())
    return ", ".join(named)
