"""A file as lines, decompressed on the way, whatever its size: memory is bounded by the longest line allowed."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from io import BufferedReader
from itertools import chain
from pathlib import Path
from typing import IO, Protocol, cast

from hf_bpe.errors import CorpusError

BLOCK_BYTES = 1 << 20
_GZIP, _ZSTD, _BZIP2, _XZ = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zX"


class SupportsRead(Protocol):
    """What bytes can be read from."""

    def read(self, size: int, /) -> bytes: ...


def is_compressed(path: Path) -> bool:
    """Whether `opened` decompresses a file."""
    with path.open("rb") as raw:
        return raw.read(4).startswith((_GZIP, _ZSTD, _BZIP2, _XZ))


@contextmanager
def opened(path: Path) -> Iterator[tuple[IO[bytes], Callable[[], int]]]:
    """Open a file for reading, through gzip, zstd, bzip2 or xz where it begins as they do.

    Yields:
        The stream, and a function that tells how many bytes of the file have been read.

    Raises:
        CorpusError: The compressed data is damaged.
        OSError: The file can't be read.
    """
    import pyarrow as pa

    with path.open("rb") as raw:
        head = raw.read(4)
        raw.seek(0)
        try:
            if head.startswith(_GZIP):
                with gzip.GzipFile(fileobj=raw) as stream:
                    yield cast(IO[bytes], stream), raw.tell
            elif head.startswith(_ZSTD):
                # Of the readers for Python this one tells of data that was cut off.
                with pa.CompressedInputStream(raw, "zstd") as stream:
                    yield stream, raw.tell
            elif head.startswith((_BZIP2, _XZ)):
                with bz2.BZ2File(raw) if head.startswith(_BZIP2) else lzma.LZMAFile(raw) as stream:
                    yield cast(IO[bytes], stream), raw.tell
            else:
                yield raw, raw.tell
        except (EOFError, OSError, zlib.error, lzma.LZMAError, pa.ArrowException) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # of the file, not of what is in it
            raise CorpusError(f"{path}: the compressed data is damaged: {error}") from None


class Stretch:
    """The next `size` bytes of a file, as a stream."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        """Begin where the file stands."""
        self._file, self._end = file, file.tell() + size

    def read(self, size: int, /) -> bytes:
        """Return at most `size` bytes, none at the end."""
        return self._file.read(min(size, self._end - self._file.tell()))

    def tell(self) -> int:
        """Return the place in the file."""
        return self._file.tell()

    def seek(self, place: int, /) -> int:
        """Go to a place that `tell` told."""
        return self._file.seek(place)


class LongLine:
    """A line that is too long to be held: its blocks are read before anything behind it is."""

    def __init__(self, begun: list[bytes], more: Callable[[], Iterator[bytes]], go_back: Callable[[], None] | None):
        """Begin with some blocks; `more` are those that the stream has, and `go_back` leads to their beginning."""
        self._begun, self._more, self._go_back = begun, more, go_back
        self._blocks = chain(begun, more())

    def __iter__(self) -> Iterator[bytes]:
        """Yield the blocks that were not read yet.

        Raises:
            CorpusError: The line is longer than allowed.
        """
        return self._blocks

    @property
    def can_begin_anew(self) -> bool:
        """Whether its stream can go back without reading all that is before it."""
        return self._go_back is not None

    def begin_anew(self) -> None:
        """Go back to the beginning of the line, if that can be."""
        assert self._go_back is not None
        self._go_back()
        self._blocks = chain(self._begun, self._more())


class _Blocks:
    """What a stream gives, of which a part may be put back."""

    def __init__(self, stream: SupportsRead, block_bytes: int) -> None:
        self._stream, self._block_bytes, self._back = stream, block_bytes, b""

    def read(self) -> bytes:
        back, self._back = self._back, b""
        return back or self._stream.read(self._block_bytes)

    def way_back(self) -> Callable[[], None] | None:
        """Return what leads back to here, behind a block; None where all before would be decompressed anew."""
        stream = self._stream
        if not isinstance(stream, BufferedReader | Stretch):
            return None
        place = stream.tell()

        def go_back() -> None:
            stream.seek(place)
            self._back = b""

        return go_back

    def rest_of_line(self, room: int, too_long: CorpusError) -> Iterator[bytes]:
        """Yield what belongs to a line of which some was read, or raise when that is more than there is room for."""
        while block := self.read():
            cut = block.find(b"\n") + 1 or len(block)
            room -= cut
            if room < 0:
                raise too_long
            self._back = block[cut:]
            yield block[:cut]
            if block[cut - 1 : cut] == b"\n":
                return


def blocks_of_lines(
    path: Path, stream: SupportsRead, longest: int, block_bytes: int | None = None, first: int = 0
) -> Iterator[tuple[int, bytes]]:
    """Yield a stream in blocks of whole lines, each block with the number of lines before it.

    The first line has the number `first`. A block is what `block_bytes` bytes bring, 1 MB by default, or one line; a
    long one is collected in linear time.

    Raises:
        CorpusError: A line has more than `longest` bytes.
    """
    for number, block in blocks_and_long_lines(path, stream, longest, block_bytes, first, long_bytes=None):
        assert isinstance(block, bytes)
        yield number, block


def blocks_and_long_lines(
    path: Path,
    stream: SupportsRead,
    longest: int,
    block_bytes: int | None = None,
    first: int = 0,
    *,
    long_bytes: int | None,
) -> Iterator[tuple[int, bytes | LongLine]]:
    """Yield a stream as `blocks_of_lines` does, but a line of `long_bytes` bytes or more in blocks of its own.

    Raises:
        CorpusError: A line has more than `longest` bytes.
    """
    block_bytes = BLOCK_BYTES if block_bytes is None else block_bytes
    blocks = _Blocks(stream, block_bytes)
    pending: list[bytes] = []
    size, number = 0, first
    while block := blocks.read():
        cut = block.rfind(b"\n") + 1
        if size + (block.find(b"\n") + 1 if cut else len(block)) > longest:
            raise _too_long(path, number + 1, longest)
        if not cut:
            pending.append(block)
            size += len(block)
            if long_bytes is not None and size >= long_bytes:
                error = _too_long(path, number + 1, longest)
                more = partial(blocks.rest_of_line, longest - size, error)
                line = LongLine(pending, more, blocks.way_back())
                yield number, line
                for _ in line:  # which nobody wanted
                    pass
                pending, size, number = [], 0, number + 1
            continue
        whole = b"".join([*pending, block[:cut]])
        if longest < block_bytes:
            _check_lines(path, number, whole, longest)
        yield number, whole
        number += whole.count(b"\n")
        pending = [block[cut:]]
        size = len(block) - cut
    if rest := b"".join(pending):
        if len(rest) > longest:
            raise _too_long(path, number + 1, longest)
        yield number, rest


def _check_lines(path: Path, number: int, block: bytes, longest: int) -> None:
    for place, line in enumerate(block.split(b"\n"), start=number + 1):
        if len(line) + 1 > longest:
            raise _too_long(path, place, longest)


def _too_long(path: Path, number: int, longest: int) -> CorpusError:
    return CorpusError(
        f"{path}, line {number:,}, has more than {longest:,} bytes; raise max_document_bytes, or cut it beforehand."
    )
