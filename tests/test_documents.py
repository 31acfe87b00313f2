"""Documents in files: every kind gives the same texts, from any place on, and bad ones are named."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hf_bpe
from hf_bpe import CorpusError, PretokenCounts
from hf_bpe.documents import BEGINNING, Position, open_documents
from hf_bpe.documents import reading as reading_module

TEXTS = [f"text {number} é 😀\n" * (1 + number % 7) for number in range(3000)]
LINES = [f"line {number} 语言\n" for number in range(3000)]


def read(*files: Path | str, start: Position = BEGINNING, **options: object) -> list[str]:
    documents = open_documents(files, **options)  # type: ignore[arg-type]
    return [text for batch in documents.batches(start) for text in batch.texts]


def _jsonl(path: Path, texts: list[str]) -> None:
    path.write_text("".join(json.dumps({"id": 1, "text": text}) + "\n" for text in texts), encoding="utf-8")


def _parquet(path: Path, texts: list[str]) -> None:
    pq.write_table(pa.table({"text": texts, "other": [1] * len(texts)}), path, row_group_size=700)


def _arrow(path: Path, texts: list[str]) -> None:
    table = pa.table({"text": texts})
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=700)


def _arrow_file(path: Path, texts: list[str]) -> None:
    table = pa.table({"text": pa.array(texts, pa.large_string())})
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=700)


def zstd(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return bytes(sink.getvalue())


WRITERS: dict[str, Callable[[Path, list[str]], None]] = {
    "a.jsonl": _jsonl,
    "a.parquet": _parquet,
    "a.arrow": _arrow,
    "b.arrow": _arrow_file,
}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("batch_bytes", [2000, 8 << 20])
def test_tables_give_their_texts_from_any_place_on(
    name: str, batch_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading_module, "BATCH_BYTES", batch_bytes)
    path = tmp_path / name
    WRITERS[name](path, TEXTS)

    batches = list(open_documents([path]).batches())

    assert [text for batch in batches for text in batch.texts] == TEXTS
    assert batches[-1].bytes_read == path.stat().st_size
    seen = 0
    for number, batch in enumerate(batches):
        seen += len(batch.texts)
        if number % max(1, len(batches) // 20) == 0:
            assert read(path, start=batch.end) == TEXTS[seen:]
    for row in (1, 699, 700, 701, 2999, 3000):
        assert read(path, start=Position(0, row)) == TEXTS[row:]


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_lines_are_read_through_compression(suffix: str, tmp_path: Path) -> None:
    data = "".join(LINES).encode() + b"no newline at the end"
    packed = {"": data, ".gz": gzip.compress(data), ".zst": zstd(data)}[suffix]
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(packed)

    assert read(path) == [*LINES, "no newline at the end"]
    for row in (1, 17, 2999, 3000, 3001):
        assert read(path, start=Position(0, row)) == [*LINES, "no newline at the end"][row:]
    assert read(path, documents="files") == [data.decode()]
    assert read(path, documents="files", start=Position(0, 1)) == []


def test_only_a_newline_ends_a_line(tmp_path: Path) -> None:
    text = "a\rb\u2028c\x85d\x0be\r\nf\n\ng"
    (tmp_path / "a.txt").write_bytes(text.encode())

    assert read(tmp_path / "a.txt") == ["a\rb\u2028c\x85d\x0be\r\n", "f\n", "\n", "g"]


def test_files_globs_and_directories_come_in_order_and_go_on_in_the_middle(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt", ".hidden.txt"):
        (tmp_path / name).write_text(f"{name}\n{name}\n")

    both = ["a.txt\n"] * 2 + ["b.txt\n"] * 2
    assert read(tmp_path) == both
    assert read(str(tmp_path / "*.txt")) == both
    assert read(tmp_path / "b.txt", tmp_path / "a.txt") == both[2:] + both[:2]
    assert read(tmp_path, start=Position(1, 1)) == both[3:]


BAD = [
    (b'{"text": "a"}\n{"text": 5}\n{"text": null}\n\n{"text": "b"}\n', r"a.jsonl, line 2: has int in 'text'"),
    (b'{"text": "a"}\n{"other": 5}\n{"text": "b"}\n', r"a.jsonl, line 2: has no 'text'; it has 'other'"),
    (b'{"text": "a"}\n[1]\n{"text": "b"}\n', r"a.jsonl, line 2: is no JSON object, but list"),
    (b'{"text": "a"}\n{"text": "b\n{"text": "b"}\n', r"a.jsonl, line 2: is no JSON: "),
    (b'{"text": "a"}\n{"text": "\xff"}\n{"text": "b"}\n', r"a.jsonl, line 2: is no JSON: .*invalid start byte"),
    (b'{"text": "a"}\n' + b"[" * 100_000 + b'\n{"text": "b"}\n', r"a.jsonl, line 2: is no JSON: "),
]


@pytest.mark.parametrize(("data", "reason"), BAD)
def test_a_bad_row_is_named_or_left_out_and_counted(data: bytes, reason: str, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(data)

    with pytest.raises(CorpusError, match=reason):
        read(tmp_path / "a.jsonl")

    (batch,) = open_documents([tmp_path / "a.jsonl"], skip_bad_rows=True).batches()
    assert batch.texts == ["a", "b"]
    assert len(batch.bad_rows) == 1


@pytest.mark.parametrize(("row", "rows"), [(b"{}\n", 1_200_000), (b'{"' + b"x" * 500_000 + b'": 1}\n', 60)])
def test_bad_rows_are_not_held_without_bound(row: bytes, rows: int, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(row * rows)

    batches = [*open_documents([tmp_path / "a.jsonl"], skip_bad_rows=True).batches()]

    assert sum(len(batch.bad_rows) for batch in batches) == rows
    assert len(batches) > 2
    assert [batch.end for batch in batches[:-1]] == sorted({batch.end for batch in batches[:-1]})


def test_a_line_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"fine\nx \xff y\nfine too\n")

    with pytest.raises(CorpusError, match=r"a.txt, line 2: isn't UTF-8 at byte 2"):
        read(tmp_path / "a.txt")
    assert read(tmp_path / "a.txt", skip_bad_rows=True) == ["fine\n", "fine too\n"]


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.txt.gz", gzip.compress(b"abc" * 1000, mtime=0)[:-12], "the compressed data is damaged"),
        ("a.txt.gz", gzip.compress(b"abc" * 1000, mtime=0)[:15] + b"xxxxxxxxxx", "the compressed data is damaged"),
        ("a.txt.zst", zstd(b"abc" * 1000)[:-5], "the compressed data is damaged"),
        ("a.txt.zst", zstd(b"abc" * 1000)[:10] + b"xxxxxxxx", "the compressed data is damaged"),
        ("a.parquet", b"PAR1 no", "can't be read as Parquet"),
        ("a.arrow", b"no arrow at all", "can't be read as Arrow"),
    ],
)
def test_a_damaged_file_is_named(name: str, data: bytes, reason: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)

    with pytest.raises(CorpusError, match=f"{name}: {reason}"):
        read(tmp_path / name)


def test_a_column_that_is_not_there_or_holds_no_texts_is_named(tmp_path: Path) -> None:
    _parquet(tmp_path / "a.parquet", ["a"])

    with pytest.raises(CorpusError, match=r"has no column 'txt'; choose a text_column among 'text', 'other'"):
        read(tmp_path / "a.parquet", text_column="txt")
    with pytest.raises(CorpusError, match="column 'other' holds int64, not texts"):
        read(tmp_path / "a.parquet", text_column="other")


@pytest.mark.parametrize("longest", [1000, 2 << 20])
def test_a_bomb_of_one_line_is_refused_at_the_bound(longest: int, tmp_path: Path) -> None:
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"fine\n" + bytes(1 << 26), mtime=0))
    (tmp_path / "b.txt").write_bytes(b"x" * longest + b"\nfine\n")
    (tmp_path / "c.txt").write_bytes(b"x" * (longest - 1) + b"\nfine\n")

    with pytest.raises(CorpusError, match=r"a.txt.gz, line 2, has more than"):
        read(tmp_path / "a.txt.gz", max_document_bytes=longest)
    with pytest.raises(CorpusError, match=r"b.txt, line 1, has more than"):
        read(tmp_path / "b.txt", max_document_bytes=longest)
    assert len(read(tmp_path / "c.txt", max_document_bytes=longest)) == 2
    with pytest.raises(CorpusError, match="is to be one document"):
        read(tmp_path / "a.txt.gz", documents="files", max_document_bytes=longest)


def test_wrong_arguments_are_named(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="'nothing-here' is no file, no directory, and matches no file"):
        open_documents(["nothing-here"])
    with pytest.raises(CorpusError, match="there is no file in an empty list"):
        open_documents([])
    with pytest.raises(TypeError, match=r"files is a list of paths, got 'a.txt'; write \['a.txt'\]"):
        open_documents("a.txt")
    with pytest.raises(ValueError, match="documents is 'lines' or 'files', got 'rows'"):
        open_documents([tmp_path], documents="rows")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="max_document_bytes must be at least 1, got 0"):
        open_documents([tmp_path], max_document_bytes=0)


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst", ".bz2", ".xz"])
@pytest.mark.parametrize("name", ["a.txt", "a.jsonl"])
def test_training_reads_what_batches_give(name: str, suffix: str, tmp_path: Path) -> None:
    compress = {"": bytes, ".gz": gzip.compress, ".zst": zstd, ".bz2": bz2.compress, ".xz": lzma.compress}[suffix]
    path = tmp_path / name
    if name == "a.txt":
        path.write_text("".join(LINES), encoding="utf-8")
    else:
        _jsonl(path, LINES)
    compressed = tmp_path / (name + suffix)
    compressed.write_bytes(compress(path.read_bytes()))

    counts = PretokenCounts.count(files=[compressed], progress=False)

    assert counts == PretokenCounts.count(LINES, progress=False)
    assert read(compressed) == LINES
    assert (counts.sources, counts.report.texts) == ((str(compressed),), len(LINES))


@pytest.mark.parametrize("name", WRITERS)
def test_training_reads_rows_of_tables_and_mixes_kinds(name: str, tmp_path: Path) -> None:
    WRITERS[name](tmp_path / name, TEXTS)
    (tmp_path / "b.txt").write_text("".join(LINES), encoding="utf-8")

    counts = PretokenCounts.count(files=[tmp_path / name, str(tmp_path / "*.txt")], progress=False)

    assert counts == PretokenCounts.count(TEXTS + LINES, progress=False)


def test_a_block_with_bad_lines_gives_the_good_ones_when_asked(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\n\xff\ntwo\n\xc3")
    files = [tmp_path / "a.txt"]

    with pytest.raises(
        CorpusError, match=r"a\.txt, line 2: isn't UTF-8 at byte 0.* \(skip_bad_rows leaves such rows out"
    ):
        PretokenCounts.count(files=files, skip_bad_rows=False, progress=False)
    with pytest.warns(UserWarning, match="2 of 4 rows hold no text and were left out"):
        counts = PretokenCounts.count(files=files, skip_bad_rows=True, progress=False)
    with pytest.warns(UserWarning, match="2 of 4 rows hold no text and were left out"):
        tokenizer = hf_bpe.train(files=files, skip_bad_rows=True, vocab_size=256, progress=False)

    assert counts == PretokenCounts.count(["one\n", "two\n"], progress=False)
    assert (counts.report.texts, counts.report.bad_rows, tokenizer.training_report.bad_rows) == (2, 2, 2)


@pytest.mark.parametrize("compress", [bz2.compress, lzma.compress, gzip.compress, zstd], ids=["bz2", "xz", "gz", "zst"])
def test_compressed_data_that_was_cut_off_is_damaged(compress: Callable[[bytes], bytes], tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(compress("".join(LINES).encode())[:-20])

    with pytest.raises(CorpusError, match=r"a\.txt: the compressed data is damaged"):
        read(tmp_path / "a.txt")


@pytest.mark.parametrize("name", [*WRITERS, "a.txt", "a.txt.gz"])
@pytest.mark.parametrize("column_bytes", [2000, 4 << 20])
def test_columns_go_on_from_where_each_of_them_ends(
    name: str, column_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading_module, "_COLUMN_BYTES", column_bytes)
    text = "".join(LINES[:1500]).encode() + b"without an end"
    for copy in ("1", "2"):
        path = tmp_path / f"{copy}{name}"
        if name in WRITERS:
            WRITERS[name](path, TEXTS[:1500])
        else:
            path.write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    documents = open_documents([tmp_path])

    def texts(start: Position) -> list[object]:
        columns = (column for column, _ in documents.columns(start))
        return [text for column in columns for text in (column if isinstance(column, list) else column.to_pylist())]

    everything = texts(BEGINNING)
    counted = 0
    assert everything == read(tmp_path)
    for column, end in documents.columns():
        counted += len(column)
        assert texts(end) == everything[counted:]
    assert texts(Position(1, 777)) == everything[len(everything) // 2 + 777 :]
