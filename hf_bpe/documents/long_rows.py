"""A line that is read part by part: of a text file it is never whole in memory, of JSON it is there once.

A line that isn't UTF-8 is a bad row, wherever in it that shows. Where bad rows are left out, nothing of such a line may
have been handed on before, so there a line is looked through first, and read a second time. That of a compressed file
waits in a temporary file meanwhile, which has no name: nothing is left of it after an error or `kill -9`.
"""

from __future__ import annotations

import codecs
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from typing import IO

from hf_bpe.documents.rows import BadRow
from hf_bpe.documents.streams import BLOCK_BYTES, LongLine
from hf_bpe.text_batches import LongText

LONG_BYTES = 4 << 20
"""How long a line is that is read part by part: as long as a batch."""


def long_row(
    line: LongLine,
    place: str,
    check: Callable[[BadRow], BadRow],
    *,
    skips: bool,
    temporary_directory: str | None = None,
) -> LongText | BadRow:
    """Return the text of a line, to be read once.

    Args:
        line: The line.
        place: Where it is, for messages.
        check: Raises for a bad row where they are not left out.
        skips: Whether they are.
        temporary_directory: Where it waits if it has to; by default where the system has temporary files.

    Raises:
        CorpusError: While it is read, or at once where bad rows are left out: it is longer than allowed. While it is
            read: it isn't UTF-8, and bad rows are not left out.
        OSError: The temporary directory is full.
    """
    if not skips:
        return LongText(_checked(line, place, check))
    if not line.can_begin_anew:
        return _row_of_a_copy(line, place, check, temporary_directory)
    if (bad := _bad_row(line, place)) is not None:
        return bad
    line.begin_anew()
    return LongText(_checked(line, place, check))


def _row_of_a_copy(
    line: LongLine, place: str, check: Callable[[BadRow], BadRow], directory: str | None
) -> LongText | BadRow:
    kept = tempfile.TemporaryFile(dir=directory)  # noqa: SIM115 - it lives as long as the text
    try:
        for block in line:
            _write(kept, block, directory)
        with _told_of(directory):
            kept.seek(0)  # which writes what is left
        if (bad := _bad_row(_blocks(kept), place)) is not None:
            kept.close()
            return bad
        kept.seek(0)
    except BaseException:
        with suppress(OSError):  # of what could not be written before either
            kept.close()
        raise
    return LongText(_read_and_closed(kept, place, check))


@contextmanager
def _told_of(directory: str | None) -> Iterator[None]:
    """Name the directory where writing to a file without a name fails."""
    try:
        yield
    except OSError as error:
        raise OSError(
            error.errno,
            f"a long line can't wait there ({error.strerror}); set another temporary_directory (--temporary-directory)",
            directory or tempfile.gettempdir(),
        ) from None


def _write(kept: IO[bytes], block: bytes, directory: str | None) -> None:
    with _told_of(directory):
        kept.write(block)


def _bad_row(blocks: Iterable[bytes], place: str) -> BadRow | None:
    """Return what is wrong with a text, if anything."""
    return next((part for part in _decoded(blocks, place) if isinstance(part, BadRow)), None)


def joined(line: LongLine) -> str | bytes:
    """Return a line that a reader of JSON takes whole, as text, so that its bytes are not held beside that.

    A line that isn't UTF-8, or doesn't begin as an object does, stays bytes: that reader tells what is wrong with it.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    parts: list[str] = []
    blocks = filter(None, line)
    for block, final in chain(((block, False) for block in blocks), [(b"", True)]):
        held = decoder.getstate()[0]
        is_odd = not parts and (not block.startswith(b"{") or 0 in block[:4])
        try:
            parts.append("" if is_odd else decoder.decode(block, final))
        except UnicodeDecodeError:
            is_odd = True
        if is_odd:
            return b"".join([*(part.encode() for part in parts), held, block, *blocks])
    return "".join(parts)


def _blocks(file: IO[bytes]) -> Iterator[bytes]:
    return iter(partial(file.read, BLOCK_BYTES), b"")


def _read_and_closed(file: IO[bytes], place: str, check: Callable[[BadRow], BadRow]) -> Iterator[str]:
    with file:
        yield from _checked(_blocks(file), place, check)


def _checked(blocks: Iterable[bytes], place: str, check: Callable[[BadRow], BadRow]) -> Iterator[str]:
    for part in _decoded(blocks, place):
        if isinstance(part, BadRow):
            check(part)
            return
        yield part


def _decoded(blocks: Iterable[bytes], place: str) -> Iterator[str | BadRow]:
    """Yield the text of some blocks, or at last what is wrong with it, in the words of `decoded`."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    before = 0
    for block, final in _with_last(blocks):
        # The decoder holds the bytes of a character that is cut, and puts them before the block.
        held = len(decoder.getstate()[0])
        try:
            yield decoder.decode(block, final)
        except UnicodeDecodeError as error:
            yield BadRow(place, f"isn't UTF-8 at byte {before - held + error.start}: {error.reason}")
            return
        before += len(block)


def _with_last(blocks: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    for block in blocks:
        for start in range(0, len(block), BLOCK_BYTES):
            yield block[start : start + BLOCK_BYTES], False
    yield b"", True
