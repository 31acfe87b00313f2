"""Files in parts: together they are the file, and each is read without the rest."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hf_bpe import CorpusError
from hf_bpe.documents import BadRow, Documents, Part, columns_of_part, open_documents, parts_of, streams

LINES = ["", "a", "é 😀", "語" * 9, "a\r", "\u2028", "\u0085b", "\ufeff", "\0", "long " * 40]


def rows_of(found: Any) -> list[Any]:
    return found if isinstance(found, list) else found.to_pylist()


def read(documents: Documents) -> list[Any]:
    return [row for found, _ in documents.columns() for row in rows_of(found)]


def read_in_parts(documents: Documents, part_bytes: int) -> list[Any]:
    parts = parts_of(documents, part_bytes)
    return [row for part in parts for found in columns_of_part(documents, part) for row in rows_of(found)]


@given(st.lists(st.sampled_from(LINES), max_size=30), st.booleans(), st.integers(1, 200))
def test_parts_of_a_text_are_its_lines(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], ends: bool, part_bytes: int
) -> None:
    path = tmp_path_factory.mktemp("parts") / "a.txt"
    path.write_text("\n".join(lines) + "\n" * ends, encoding="utf-8", newline="")
    documents = open_documents([path])

    parts = parts_of(documents, part_bytes)

    assert read_in_parts(documents, part_bytes) == read(documents)
    assert [part.start for part in parts[1:]] == [part.end for part in parts[:-1]]
    longest = max((len(line.encode()) + 1 for line in lines), default=1)
    assert all(0 < part.end - part.start < part_bytes + longest for part in parts if part.end is not None)


@pytest.mark.parametrize("part_bytes", [1, 20, 64, 1000])
def test_a_bad_row_is_named_by_the_byte_where_its_part_begins(part_bytes: int, tmp_path: Path) -> None:
    lines = [json.dumps({"text": f"row {number}"}).encode() for number in range(20)]
    lines[3], lines[11], lines[17] = b"{", b'{"text": 5}', b'{"text": "\xff"}'
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(lines))
    (tmp_path / "b.txt").write_bytes(b"\n".join([b"one", b"two", b"\xff three", b"four"]))
    documents = open_documents([tmp_path / "a.jsonl", tmp_path / "b.txt"], skip_bad_rows=True)

    rows = read_in_parts(documents, part_bytes)

    assert [unplaced(row) for row in rows] == [unplaced(row) for row in read(documents)]
    places = [row.place for row in rows if isinstance(row, BadRow)]
    bad = [lines[3], lines[11], lines[17], b"\xff three"]
    assert [line_at(place) for place in places] == bad
    assert sum("from byte" in place for place in places) == {1: 4, 20: 3, 64: 2, 1000: 0}[part_bytes]


def unplaced(row: Any) -> Any:
    return row.reason if isinstance(row, BadRow) else row


def line_at(place: str) -> bytes:
    """Return the line at a place, which is told from the beginning of its file, or from a byte on."""
    path, _, start, number = re.findall(r"^(.*?)(, from byte ([\d,]+) on)?, line ([\d,]+)$", place)[0]
    rest = Path(path).read_bytes()[int(start.replace(",", "") or "0") :]
    return rest.split(b"\n")[int(number.replace(",", "")) - 1]


@pytest.mark.parametrize("part_bytes", [1, 20, 64, 1000])
def test_a_bad_row_that_is_an_error_has_the_same_name_in_a_part(part_bytes: int, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b'{"text": "a"}\n' * 12 + b"no JSON\n" + b'{"text": "a"}\n' * 9)
    documents = open_documents([tmp_path / "a.jsonl"])

    assert [row.place for row in read_in_parts(documents, part_bytes) if isinstance(row, BadRow)] == [
        f"{tmp_path / 'a.jsonl'}, line 13"
    ]


@pytest.mark.parametrize("skips", [False, True])
@pytest.mark.parametrize("part_bytes", [1, 20, 1000])
def test_a_line_that_is_too_long_has_the_same_name_in_a_part(part_bytes: int, skips: bool, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n" + "x" * 50 + "\nfour\n")
    documents = open_documents([tmp_path / "a.txt"], max_document_bytes=20, skip_bad_rows=skips)

    with pytest.raises(CorpusError, match=r"a\.txt, line 3, has more than 20 bytes; raise max_document_bytes"):
        read_in_parts(documents, part_bytes)


def test_a_line_longer_than_a_block_is_not_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "BLOCK_BYTES", 10)
    (tmp_path / "a.txt").write_text("one\n" + "x" * 500 + "\nthree\n")
    documents = open_documents([tmp_path / "a.txt"])

    assert read_in_parts(documents, 5) == ["one\n", "x" * 500 + "\n", "three\n"]


@pytest.mark.parametrize(("part_bytes", "ends"), [(1, [30, 60, 90, 100]), (10**9, [100])])
def test_parquet_is_cut_between_row_groups(part_bytes: int, ends: list[int], tmp_path: Path) -> None:
    texts = [None if number % 7 == 0 else f"text {number}" for number in range(100)]
    table = pa.table({"text": texts, "other": range(100)})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=30)
    pq.write_table(table.slice(0, 0), tmp_path / "b.parquet")
    documents = open_documents([tmp_path / "a.parquet", tmp_path / "b.parquet"])

    parts = parts_of(documents, part_bytes)

    assert read_in_parts(documents, part_bytes) == texts
    assert [part.end for part in parts] == ends


def test_what_cannot_be_cut_is_one_part(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "a.jsonl.gz", "wb") as file:
        file.write(b'{"text": "a"}\n' * 100)
    with pa.OSFile(str(tmp_path / "b.arrow"), "wb") as sink:
        table = pa.table({"text": ["b"] * 9})
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    (tmp_path / "c.txt").write_text("c\n" * 100)
    documents = open_documents([tmp_path], documents="files")

    assert parts_of(documents, 10) == [Part(tmp_path / name) for name in ("a.jsonl.gz", "b.arrow", "c.txt")]
    assert read_in_parts(documents, 10) == ["a"] * 100 + ["b"] * 9 + ["c\n" * 100]
    assert len(parts_of(replace(documents, documents="lines"), 10)) == 2 + 20


def test_parts_are_refused_where_reading_would_be(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and no more")
    pq.write_table(pa.table({"body": ["a"]}), tmp_path / "b.parquet")

    with pytest.raises(CorpusError, match=r"a\.parquet: can't be read as Parquet"):
        parts_of(open_documents([tmp_path / "a.parquet"]), 10)
    with pytest.raises(CorpusError, match="has no column 'text'; choose a text_column among 'body'"):
        parts_of(open_documents([tmp_path / "b.parquet"]), 10)
    with pytest.raises(ValueError, match="part_bytes must be at least 1, got 0"):
        parts_of(open_documents([tmp_path / "b.parquet"]), 0)
