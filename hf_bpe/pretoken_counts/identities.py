"""Whether a source is the one that was counted before a stop, by what it tells of itself.

One that was read strictly may go on without its bad rows; the other way round, rows that were left out would have been
errors, and that is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from hf_bpe.errors import CountsError

Identity: TypeAlias = Mapping[str, Any]
"""What a source tells of itself, as its bookmark does."""

NamedIdentities: TypeAlias = Sequence[tuple[str, Identity]]
"""That of several sources, each with its name, in the order in which they are counted."""

_WHAT_TO_DO = "Pass what was counted then, or begin anew with another checkpoint_dir (--checkpoint-dir)."


def check_identity(path: Path, before: Identity, now: Identity) -> None:
    """Raise unless two sources are the same by what they tell of themselves.

    Raises:
        CountsError: They aren't. The message names what differs.
    """
    if not _goes_on(before, now):
        raise CountsError(f"{path} can't be gone on from: {_difference('its source', before, now)}. {_WHAT_TO_DO}")


def check_identities(path: Path, before: NamedIdentities | None, now: NamedIdentities) -> None:
    """Raise unless several sources have the names, the order and the identities that a checkpoint at `path` tells.

    Raises:
        CountsError: They don't, or the checkpoint is of one source. The message names the first that differs.
    """
    names = _listed(now)
    if before is None:
        raise CountsError(
            f"{path} can't be gone on from: it is of one source alone, and now there are {names}. {_WHAT_TO_DO}"
        )
    if _listed(before) != names:
        raise CountsError(
            f"{path} can't be gone on from: its sources were {_listed(before)}, in this order, and now they are "
            f"{names}. {_WHAT_TO_DO}"
        )
    for (name, old), (_, new) in zip(before, now, strict=True):
        if not _goes_on(old, new):
            what = _difference(f"source {name!r}", old, new)
            raise CountsError(f"{path} can't be gone on from: {what}. {_WHAT_TO_DO}")


def _goes_on(before: Identity, now: Identity) -> bool:
    """Whether a source is the same, or differs in this alone: its bad rows were an error, so there was none so far."""
    return before == now or (before.get("skip_bad_rows") is False and {**before, "skip_bad_rows": True} == now)


def _listed(sources: NamedIdentities) -> str:
    return ", ".join(repr(name) for name, _ in sources)


def _difference(what: str, before: Identity, now: Identity) -> str:
    """Return in which way `what` isn't as it was."""
    absent = object()  # a key that tells None isn't one that is missing
    name = next(name for name in [*now, *before] if before.get(name, absent) != now.get(name, absent))
    if name == "files":
        return _changed_file(before["files"], now["files"])
    return f"{what} had {name}={before.get(name)!r}, and now it has {name}={now.get(name)!r}"


def _changed_file(before: list[Any], now: list[Any]) -> str:
    """Return what has become of the first file that isn't as it was."""
    for (old, *was), (new, *found) in zip(before, now, strict=False):
        if old != new:
            return f"file {old} was counted where {new} comes now"
        if was[0] != found[0]:
            return f"file {old} had {was[0]:,} bytes and has {found[0]:,}"
        if was[1] != found[1]:
            return f"file {old} was written to since: its time of modification is another one"
    return f"there were {len(before):,} files and there are {len(now):,}"
