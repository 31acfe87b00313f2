"""Checkpoints of several sources, which are counted one after the other: a folder for each, in the folder for all.

Guarantee: each source goes on from its own last checkpoint that is whole, as one alone does, so that the counts of all
are those of a run without the stop. Every checkpoint tells the names, the order and the identities of all sources, and
others are refused before a text is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hf_bpe.errors import CountsError
from hf_bpe.pretoken_counts import storage
from hf_bpe.pretoken_counts.checkpoints import CheckpointFolder, folder_of_source, folders_of_sources
from hf_bpe.pretoken_counts.identities import NamedIdentities, check_identities
from hf_bpe.pretoken_counts.resuming import Checkpoints, check_begun


@contextmanager
def checkpoints_of_sources(checkpoints: Checkpoints, sources: NamedIdentities) -> Iterator[list[Checkpoints]]:
    """Give the checkpoints of each source, and hold the folder for all of them.

    Args:
        checkpoints: What was asked for.
        sources: All sources in order.

    Raises:
        CountsError: There is nothing to go on from, it is of other sources, or it would be written over.
        OSError: The folder can't be written to.
    """
    target, source = checkpoints.folder, checkpoints.resume_from
    begun = [] if source is None else folders_of_sources(source)
    if source is not None:
        if source.is_dir() and CheckpointFolder(source).files():
            check_identities(source, None, sources)
        if not begun and not checkpoints.may_begin:
            check_begun(source)
    for folder in begun:
        _check(folder, sources)
    with CheckpointFolder.opened(target) as opened:
        same = source is not None and source.resolve() == target.resolve()
        if not same and (opened.files() or folders_of_sources(target)):
            raise opened.would_be_written_over()
        each = []
        for number, (name, _) in enumerate(sources, start=1):
            before = None if source is None else folder_of_source(source, number)
            each.append(
                Checkpoints(
                    folder=folder_of_source(target, number),
                    seconds=checkpoints.seconds,
                    resume_from=before if before in begun else None,
                    name=name,
                    sources=sources,
                )
            )
        yield each


def _check(folder: Path, sources: NamedIdentities) -> None:
    """Raise when the newest checkpoint that can be asked is of other sources.

    Raises:
        CountsError: It is.
    """
    for path in CheckpointFolder(folder).files():
        try:
            told = storage.details_of(path).get("checkpoint", {})
        except CountsError:
            continue  # damaged: told when its source is to be counted
        check_identities(path, told.get("sources"), sources)
        return
