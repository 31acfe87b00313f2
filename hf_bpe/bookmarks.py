"""Ways back into a source of texts: where a reader stands, and how the next one finds that place.

Files have positions, datasets have rows, and streams of `datasets` have a state. Anything else is read from its
beginning again up to the place, and a digest says whether it is the same.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from hf_bpe.columns import Column
from hf_bpe.errors import CorpusError
from hf_bpe.text_batches import Batch, LongText, Texts

Json: TypeAlias = Any

_SLICE = 1 << 20


@dataclass
class Bookmark:
    """Where the reader of a source stands.

    Attributes:
        identity: Tells, by name, what has to be as it was for a place to be the same place.
        place: Tells where reading goes on after the batch that came last. None inside of what has no place in it.
        batches_from: Reads from a place on, or returns None where it isn't one of this source. None where there are no
            places, so that the number of rows and their digest are all there is.
        hashed: Whether a digest is to be kept of what was read, since reading may have to begin anew.
        why_unlike: Why reading anew may give something else, for the message when it does.
    """

    identity: Callable[[], dict[str, Json]] = field(default=lambda: {"kind": "texts"})
    place: Callable[[], Json] | None = None
    batches_from: Callable[[Json], Iterator[Batch] | None] | None = None
    hashed: bool = True
    why_unlike: str = "pass the same texts in the same order"

    def over(self, parts: Iterable[tuple[Iterable[Batch], Callable[[], Json]]]) -> Iterator[Batch]:
        """Yield the batches of parts, each with a function that tells where the next part begins."""
        for batches, place in parts:
            held = [*batches]
            self.place = None
            yield from held[:-1]
            self.place = None if self.batches_from is None else place
            yield from held[-1:]


class Digest:
    """A digest of batches, made of the digest before each and its rows, so that it can go on from its hex digits."""

    def __init__(self, hexdigest: str = "", rows: int = 0) -> None:
        """Go on from a digest of some rows, by default from that of nothing."""
        self.hexdigest = hexdigest
        self.rows = rows

    def add(self, batch: Batch) -> None:
        """Add a batch."""
        # Texts in parts come from files, which are gone on with by their place.
        assert not isinstance(batch, LongText)
        new = hashlib.sha256(self.hexdigest.encode())
        if isinstance(batch, Texts):
            sizes = [sum(map(len, _encoded([text]))) for text in batch.texts]
            new.update(np.array([batch.nulls, batch.bad, *sizes], np.int64).tobytes())
            for part in _encoded(batch.texts):
                new.update(part)
            self.rows += len(sizes) + batch.nulls + batch.bad
        else:
            ends = np.frombuffer(batch.offsets, np.int64 if batch.large else np.int32).astype(np.int64)
            new.update((ends - ends[0]).tobytes())
            new.update(_valid_rows(batch))
            new.update(batch.data)
            self.rows += batch.length
        self.hexdigest = new.hexdigest()


def _encoded(texts: list[str]) -> Iterator[bytes]:
    """Yield the bytes of texts, one after the other, without a copy of a long one."""
    for text in texts:
        for start in range(0, len(text), _SLICE):
            yield text[start : start + _SLICE].encode("utf-8", "surrogatepass")


def _valid_rows(column: Column) -> bytes:
    if column.validity is None:
        return b"\1" * column.length
    bits = np.unpackbits(np.frombuffer(column.validity, np.uint8), bitorder="little")
    return bits[column.first_bit :][: column.length].tobytes()


def replayed(batches: Iterator[Batch], rows: int, digest: str, why_unlike: str) -> Iterator[Batch]:
    """Return the batches after the first `rows` rows, which are read again.

    Raises:
        CorpusError: They don't have the digest, or there are fewer.
    """
    seen = Digest()
    while seen.rows < rows:
        batch = next(batches, None)
        if batch is None:
            raise CorpusError(
                f"the source has {seen.rows:,} rows, and {rows:,} were counted before the stop; {why_unlike}."
            )
        seen.add(batch)
    if (seen.rows, seen.hexdigest) != (rows, digest):
        raise CorpusError(
            f"the first {rows:,} rows of the source aren't those that were counted before the stop; {why_unlike}."
        )
    return batches


# Streams of the datasets library


def stream_bookmark(stream: Any, text_column: str) -> Bookmark:
    """Return the bookmark of a stream, by its state where that finds every row again.

    It doesn't where rows wait in a buffer of shuffled ones, nor where functions of batches make tables (datasets 5.2).
    """
    info = getattr(stream, "info", None)
    names = [str(getattr(info, name, None)) for name in ("dataset_name", "config_name")]
    identity = {
        "kind": "stream",
        "dataset": [*names, str(getattr(stream, "split", None))],
        "shards": int(stream.num_shards),
        "text_column": text_column,
    }
    if loses_rows(stream):
        return Bookmark(
            lambda: identity,
            why_unlike="it is shuffled or mapped in batches, so that its rows are read again from the first: give "
            "shuffle() a seed, and pass the same stream",
        )
    return Bookmark(lambda: identity, hashed=False)


def loses_rows(stream: Any) -> bool:
    """Whether a stream that goes on from its state would leave out rows."""
    waiting, seen = [getattr(stream, "_ex_iterable", None)], 0
    while waiting and seen < 1000:
        examples, seen = waiting.pop(), seen + 1
        kind = type(examples).__name__
        if "Shuffl" in kind or getattr(examples, "batched", False):
            return True
        for name in ("ex_iterable", "ex_iterables"):
            found = getattr(examples, name, None)
            waiting += found if isinstance(found, list | tuple) else [] if found is None else [found]
    return False


def state_of(stream: Any) -> Json:
    """Return the state of a stream.

    Raises:
        CorpusError: It holds something that a file can't.
    """
    try:
        return json.loads(json.dumps(stream.state_dict()))
    except (TypeError, ValueError) as error:
        raise CorpusError(
            f"the state of this stream can't be kept in a checkpoint ({error}); count it without checkpoint_dir."
        ) from None
