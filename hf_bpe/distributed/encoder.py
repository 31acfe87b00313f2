"""The actor that encodes parts of a corpus, each to files of its own.

These are `NUMBER.ids`, the ids, `NUMBER.bounds`, where each document ends (64 bits), and, last of all, `NUMBER.json`,
which says that the part is done and what it has. Each is renamed to its name when it is whole. Two workers that make
the same part write the same bytes, so that one that was taken for lost, and is not, does no harm.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hf_bpe.distributed.running import TOLD, bytes_of, part_of, use_one_thread
from hf_bpe.documents import TOLD_BAD_ROWS, BadRow, Documents, Part, Row, columns_of_part
from hf_bpe.token_files.encoding import with_eos
from hf_bpe.token_files.targets import json_bytes
from hf_bpe.tokenizer import HfBpeTokenizer

if TYPE_CHECKING:
    import pyarrow as pa


class Encoder:
    """What an actor holds: the tokenizer, once, for all parts that it encodes."""

    def __init__(
        self,
        tokenizer: HfBpeTokenizer,
        corpus: Documents,
        folder: Path,
        dtype: str,
        add_special_tokens: bool,
        eos: int | None,
    ) -> None:
        use_one_thread()
        self._tokenizer, self._corpus, self._folder = tokenizer, corpus, folder
        self._dtype, self._add_special_tokens, self._eos = np.dtype(dtype), add_special_tokens, eos

    def __call__(self, rows: pa.Table) -> pa.Table:
        import pyarrow as pa

        number, part = part_of(rows)
        told: bytes | None = None
        try:
            self._encode(number, part)
        except TOLD as error:
            told = bytes_of(error)
        return pa.table({"number": [number], "error": pa.array([told], pa.large_binary())})

    def _encode(self, number: int, part: Part) -> None:
        told: list[str] = []
        count = documents = bad_rows = 0
        with whole(self._folder / f"{number}.ids") as ids_file, whole(self._folder / f"{number}.bounds") as ends_file:
            for found in columns_of_part(self._corpus, part):
                rows = found if isinstance(found, list) else []
                bad = [self._corpus.check(row) for row in rows if isinstance(row, BadRow)]
                bad_rows += len(bad)
                told += [row.told for row in bad[: TOLD_BAD_ROWS - len(told)]]
                ids, bounds = self._ids_of(found)
                if self._eos is not None:
                    ids, bounds = with_eos(ids, bounds, self._eos)
                ids_file.write(ids.astype(self._dtype, copy=False).tobytes())
                ends_file.write((bounds[1:].astype("<u8") + np.uint64(count)).tobytes())
                count, documents = count + len(ids), documents + len(bounds) - 1
        made = {
            "documents": documents,
            "ids": count,
            "bad_rows": bad_rows,
            "first_bad_rows": told,
        }
        write_whole(self._folder / f"{number}.json", json_bytes(made))

    def _ids_of(self, found: pa.Array | list[Row]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the ids of some documents, nulls left out, and their bounds: without an object a row from Arrow."""
        if isinstance(found, list):
            texts = [row for row in found if isinstance(row, str)]
            return self._tokenizer.encode_to_numpy(texts, add_special_tokens=self._add_special_tokens)
        texts = found.drop_null()
        if not len(texts):
            return np.empty(0, np.uint32), np.zeros(1, np.int64)
        lists = self._tokenizer.encode_arrow(texts, add_special_tokens=self._add_special_tokens)
        return lists.values.to_numpy(), lists.offsets.to_numpy()


@contextmanager
def whole(path: Path) -> Iterator[IO[bytes]]:
    """Open a file under a name of its own, which gets its own name when it is whole and on disk."""
    half_written = path.with_name(f".{path.name}.{uuid.uuid4().hex}.new")
    try:
        with half_written.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        half_written.replace(path)
    except BaseException:
        half_written.unlink(missing_ok=True)
        raise


def write_whole(path: Path, data: bytes) -> None:
    """Write a file that gets its name when it is whole and on disk."""
    with whole(path) as file:
        file.write(data)
