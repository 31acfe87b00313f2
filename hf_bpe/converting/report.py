"""What a conversion did and verified: `Conversion`, which conversion.json holds."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hf_bpe.errors import ConversionError
from hf_bpe.verification import Agreement

NAME = "conversion.json"
_LONGEST_REPORT = 1 << 28
TOKENS_BY_ID = "tokens by id"
"""What is counted where no texts were encoded: lists of tokens were compared."""


@dataclass(frozen=True)
class Check:
    """One thing that was verified.

    Attributes:
        what: What was compared with what.
        agreement: The agreement that was found.
    """

    what: str
    agreement: Agreement

    def as_json(self) -> dict[str, Any]:
        """Return the check as JSON."""
        return {"what": self.what, **self.agreement.as_json()}


@dataclass(frozen=True)
class Conversion:
    """What a conversion did and verified.

    Attributes:
        source: The name of the source.
        source_format: Its format.
        destination: What was written: a file, or a directory.
        destination_format: Its format.
        checks: What was verified.
        not_checked: What wasn't, and why.
        fingerprint: The `hf_bpe.fingerprint` of what was converted.
        ids: The highest id plus one.
        holes: The ids below the highest that no token has.
        doubles: The ids that several tokens share, with the tokens.
        report: Where conversion.json lies.
        left_out: What the written file has no place for: whoever reads it has to know it from elsewhere.
    """

    source: str
    source_format: str
    destination: Path
    destination_format: str
    report: Path
    checks: Sequence[Check]
    not_checked: Sequence[str]
    fingerprint: str
    ids: int
    holes: Sequence[range] = ()
    doubles: dict[int, list[str]] = field(default_factory=dict)
    left_out: Sequence[str] = ()

    @property
    def texts(self) -> int:
        """On how many texts ids and decoded text were compared, in all checks together."""
        return sum(check.agreement.total for check in self.checks if TOKENS_BY_ID not in check.agreement.texts)

    def as_json(self, files: Sequence[Path], root: Path, tool: str) -> dict[str, Any]:
        """Return what conversion.json holds: no date and no path of this machine, so that it comes out the same again.

        Args:
            files: The files that were written.
            root: The folder that their names are relative to.
            tool: The name and version of what wrote them.
        """
        return {
            "tool": tool,
            "source": {"name": Path(self.source).name, "format": self.source_format},
            "destination": {
                "name": self.destination.name,
                "format": self.destination_format,
                "files": {str(path.relative_to(root)): _facts(path) for path in sorted(files)},
            },
            "fingerprint": self.fingerprint,
            "ids": self.ids,
            "holes": [[hole.start, hole.stop - 1] for hole in self.holes],
            "doubles": {str(token_id): tokens for token_id, tokens in self.doubles.items()},
            "left_out": list(self.left_out),
            "verified": [check.as_json() for check in self.checks],
            "not_verified": list(self.not_checked),
        }

    def __str__(self) -> str:
        lines = [f"{self.source} ({self.source_format}) -> {self.destination} ({self.destination_format})"]
        lines += [f"verified: {check.what}: {_said(check.agreement)}" for check in self.checks]
        lines += [f"not verified: {note}" for note in self.not_checked]
        lines += [f"not in the file: {name}" for name in self.left_out]
        if self.holes:
            count = sum(map(len, self.holes))
            lines.append(f"ids without a token: {count:,} of {self.ids:,}, the first is {self.holes[0].start}")
        if self.doubles:
            token_id, tokens = next(iter(self.doubles.items()))
            lines.append(f"ids of several tokens: {len(self.doubles):,}, the first is {token_id}: {tokens!r}")
        return "\n".join(lines)


def _said(agreement: Agreement) -> str:
    if agreement.identical:
        return "the same vocabulary and pipeline"
    if TOKENS_BY_ID in agreement.texts:
        return f"the same {agreement.total:,} tokens, by {agreement.first} and {agreement.second}"
    return f"the same ids and text on {agreement.total:,} texts, by {agreement.first} and {agreement.second}"


def _facts(path: Path) -> dict[str, Any]:
    data = path.read_bytes()
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def write(conversion: Conversion, files: Sequence[Path], written: Path, place: Path, tool: str) -> None:
    """Write conversion.json.

    Args:
        conversion: What was done.
        files: The files that were written.
        written: The file or directory that they are, or lie in.
        place: Where to write.
        tool: The name and version of what wrote them.
    """
    root = written if written.is_dir() else written.parent
    text = json.dumps(conversion.as_json(files, root, tool), ensure_ascii=False, indent=2)
    place.write_text(text + "\n", encoding="utf-8")


def name_for(destination: Path, *, is_directory: bool) -> Path:
    """Return where the report on `destination` lies: in a directory, or beside a file.

    Beside a file it is conversion.json as well, unless that tells of another file.

    Raises:
        ConversionError: Something that is no report lies there.
    """
    if is_directory:
        place = destination / NAME
        if os.path.lexists(place) and _tells_of(place) is None:
            raise _not_ours(place)
        return place
    beside = destination.with_name(NAME)
    if not os.path.lexists(beside) or _tells_of(beside) == destination.name:
        return beside
    place = destination.with_name(f"{destination.name}.{NAME}")
    if os.path.lexists(place) and _tells_of(place) != destination.name:
        raise _not_ours(place)
    return place


def _not_ours(place: Path) -> ConversionError:
    return ConversionError(
        f"{place} is where the report is put, and no report of a conversion to this destination: move it, or name "
        "another destination."
    )


def _tells_of(path: Path) -> str | None:
    try:
        if not path.is_file() or path.stat().st_size > _LONGEST_REPORT:
            return None
        name = json.loads(path.read_text(encoding="utf-8"))["destination"]["name"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return name if isinstance(name, str) else None
