"""Long texts are counted while they are read: the counts, cuts and messages are those of the whole."""

from __future__ import annotations

import gzip
import io
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hostile import HOSTILE
from trainings import counter, stock_training

import hf_bpe
from hf_bpe._native import Counter, Tokenizer
from hf_bpe.columns import column_of, ends_of
from hf_bpe.corpus import files as files_module
from hf_bpe.corpus import open_corpus, open_part
from hf_bpe.documents import BadRow, Documents, long_rows, open_documents, parts_of, streams
from hf_bpe.documents import reading as reading_module
from hf_bpe.errors import CorpusError
from hf_bpe.extension.sampling import Sample, texts_of
from hf_bpe.pipeline_json import byte_level_pipeline, counting_pipeline
from hf_bpe.split_patterns import SPLIT_PATTERNS
from hf_bpe.text_batches import LongText

Counted = tuple[list[tuple[bytes, int]], int, tuple[int, int, int]]

NORMALIZERS: list[Any] = [
    None,
    {"type": "NFC"},
    {"type": "NFKC"},
    {"type": "Lowercase"},
    {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": True,
    },
    {"type": "Strip", "strip_left": True, "strip_right": True},
    {"type": "Prepend", "prepend": "_"},
    {"type": "Replace", "pattern": {"String": "a"}, "content": "bb"},
]


def hostile_text(seed: int) -> str:
    """Return hostile texts one after the other, some of them in runs."""
    chance = random.Random(seed)
    texts = [chance.choice([*HOSTILE.values()])[:200] for _ in range(30)]
    return "".join(text * chance.choice([1, 1, 1, 9]) for text in texts)


def pattern_counter(pattern: str, normalizer: Any = None, **options: Any) -> Counter:
    pipeline = byte_level_pipeline(pattern) | {"normalizer": normalizer}
    return Counter(Tokenizer.from_json(json.dumps(counting_pipeline(pipeline))), **options)


def counted(counts: Counter, count: Callable[[Counter], tuple[int, int, int]]) -> Counted:
    report = count(counts)
    return counts.counts(), counts.cut_pretokens, report


@pytest.mark.parametrize("pattern", [*SPLIT_PATTERNS, r"\p{L}+|\P{L}+"])
@pytest.mark.parametrize("normalizer", NORMALIZERS, ids=lambda normalizer: str(normalizer and normalizer["type"]))
def test_a_text_in_slices_counts_as_the_whole(pattern: str, normalizer: Any) -> None:
    for seed in range(40):
        text = hostile_text(seed)
        parts = [text[at : at + 50] for at in range(0, len(text), 50)]
        for size in (1 + seed % 7, 1 + seed % 64):
            whole, sliced, parted = (
                pattern_counter(pattern, normalizer, part_size=part_size, max_pretoken_bytes=4 + seed)
                for part_size in (1 << 18, size, size)
            )

            expected = whole.count([text])

            assert sliced.count([text]) == parted.count_parts(iter(parts)) == expected
            assert sliced.counts() == parted.counts() == whole.counts()
            assert sliced.cut_pretokens == parted.cut_pretokens == whole.cut_pretokens


def test_long_texts_among_short_ones_are_all_counted() -> None:
    texts = ["one two", "three " * 100, "", "four", "five " * 200]

    expected = counted(counter(), lambda counts: counts.count(texts))

    assert counted(counter(part_size=3), lambda counts: counts.count(texts)) == expected


@pytest.mark.parametrize(
    "units", [[0xD83D, 0xDE00], [97, 0xD83D], [0xDE00, 0xD83D], [0xD83D], [0x8A9E, 0xD83D, 0xD83D, 0xDE00]]
)
def test_surrogates_in_slices_become_what_they_do_in_the_whole(units: list[int]) -> None:
    text = "".join(map(chr, units)) * 60
    expected = counted(counter(), lambda counts: counts.count([text]))

    for size in range(1, 5):
        assert counted(counter(part_size=size), lambda counts: counts.count([text])) == expected


def test_merges_of_a_text_in_slices_are_those_of_stock() -> None:
    for pattern in SPLIT_PATTERNS:
        texts = [hostile_text(seed).replace("\ud800", "") for seed in range(5)]
        texts = [text.encode("utf-8", "ignore").decode() for text in texts]
        counts = counter(pattern, part_size=7)
        counts.count(texts)

        assert counts.learn(vocab_size=400) == stock_training(texts, pattern, vocab_size=400)


def test_a_part_that_is_no_str_is_refused() -> None:
    with pytest.raises(TypeError, match="a part of a text must be a str, got int"):
        counter().count_parts(iter(["a", 1]))  # type: ignore[list-item]


@pytest.mark.parametrize("kind", ["string", "large_string"])
def test_a_long_cell_counts_as_a_row_among_others(kind: str) -> None:
    pa = pytest.importorskip("pyarrow")
    text = "語" * 40 + hostile_text(3).encode("utf-8", "ignore").decode()
    rows = pa.array([None, "short", text, None, "end"], getattr(pa, kind)())
    ends = ends_of(rows)

    def count(counts: Counter) -> tuple[int, int, int]:
        reports = [counts.count_arrow(**vars(column_of(rows, ends, row, row + 1))) for row in range(len(rows))]
        return tuple(map(sum, zip(*reports, strict=True)))  # type: ignore[return-value]

    expected = counted(counter(), lambda counts: counts.count_arrow(**vars(column_of(rows, ends, 0, len(rows)))))

    assert expected[2][1] == 2
    for size in (1, 5, 64):
        assert counted(counter(part_size=size), count) == expected


def test_a_long_cell_that_is_damaged_is_told_as_any() -> None:
    offsets = (0).to_bytes(4, "little") + (200).to_bytes(4, "little")
    for data in (b"a" * 150 + b"\xff" + b"a" * 49, b"a" * 199 + b"\xe8"):
        with pytest.raises(ValueError, match="row 0") as whole:
            counter().count_arrow(data, offsets, None, data_start=0, first_bit=0, length=1, large=False)
        with pytest.raises(ValueError, match="row 0") as parted:
            counter(part_size=4).count_arrow(data, offsets, None, data_start=0, first_bit=0, length=1, large=False)
        assert str(parted.value) == str(whole.value)


# Files


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a line of 16 bytes long, and a block of 5 bytes usual."""
    monkeypatch.setattr(files_module, "LONG_BYTES", 16)
    monkeypatch.setattr(reading_module, "_COLUMN_BYTES", 5)
    monkeypatch.setattr(streams, "BLOCK_BYTES", 5)


LINES = ["short\n", "語" * 30 + "。\n", "\n", "x" * 17 + "\n", "\n" * 3, "y" * 15 + "\n", "é" * 100 + "\r\n", "z" * 40]


def counts_of(source: Any = None, **options: Any) -> hf_bpe.PretokenCounts:
    return hf_bpe.PretokenCounts.count(source, split_pattern="gpt2", progress=False, name="x", **options)


@pytest.mark.parametrize("suffix", ["txt", "txt.gz"])
@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize("skip", [False, True])
def test_long_lines_of_a_file_count_as_texts(suffix: str, end: str, skip: bool, tmp_path: Path, tiny: None) -> None:
    text = "".join(LINES) + end
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(gzip.compress(text.encode()) if suffix.endswith("gz") else text.encode())
    found = counts_of(files=[path], skip_bad_rows=skip)

    expected = counts_of(_lines(text))
    in_parts = [isinstance(found, LongText) for found, _ in open_documents([path]).columns(long_bytes=16)]
    assert sum(in_parts) >= 3
    assert found == expected
    assert (found.report.texts, found.report.bytes) == (expected.report.texts, expected.report.bytes)


def _lines(text: str) -> list[str]:
    lines = [line + "\n" for line in text.split("\n")]
    return lines[:-1] if text.endswith("\n") else [*lines[:-1], lines[-1][:-1]]


@pytest.mark.parametrize("bad", [b"\xff", b"\xe8\xaa", b"\xe8\xaa\n", b"\xed\xa0\x80"])
@pytest.mark.parametrize("place", [0, 3, 21, 22, 40])
def test_a_long_line_that_is_not_utf8_is_named_or_left_out(bad: bytes, place: int, tmp_path: Path, tiny: None) -> None:
    path = tmp_path / "a.txt"
    line = ("é" * 30).encode()
    path.write_bytes(b"first\n" + line[:place] + bad + line[place:] + b"\nlast " + b"x" * 30)
    (wrong, *_) = [row for row in _rows(path) if isinstance(row, BadRow)]

    with pytest.raises(CorpusError) as raised:
        counts_of(files=[path], skip_bad_rows=False)

    assert str(raised.value) == f"{wrong.place}: {wrong.reason} (skip_bad_rows leaves such rows out)"
    with pytest.warns(UserWarning, match="hold no text and were left out"):
        found = counts_of(files=[path])
    good = [row for row in _rows(path) if isinstance(row, str)]
    assert found == counts_of(good)
    assert found.report.bad_rows == sum(isinstance(row, BadRow) for row in _rows(path))


def _rows(path: Path) -> list[Any]:
    rows: list[Any] = []
    for found, _ in open_documents([path]).columns():
        rows += found if isinstance(found, list) else found.to_pylist()  # type: ignore[union-attr]
    return rows


JSON_LINES = [
    b'{"text": "' + "語".encode() * 30 + b'"}',
    b'{"text": "a\\ud83d\\ude00\\n' + b"x" * 40 + b'", "more": [1, 2]}',
    b'  {"text": "' + b"y" * 40 + b'"}',
    b" " * 40,
    b'{"text": null, "more": "' + b"z" * 40 + b'"}',
    b'{"other": "' + b"z" * 40 + b'"}',
    b'{"text": "' + b"x" * 40 + b'\xff"}',
    b'{"text": "' + b"x" * 40 + b"\xe8\xaa",
    b'{"text": "' + b"x" * 40 + b'\xed\xa0\x80"}',
    b'{"text": "' + b"x" * 40,
    b"\xef\xbb\xbf" + b'{"text": "' + b"x" * 40 + b'"}',
    '{"text": "in UTF-16, line end and all"}'.encode("utf-16-be"),
    b"[" + b"1, " * 20 + b"1]",
]


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b'\n{"text": "last"}'])
@pytest.mark.parametrize("number", range(len(JSON_LINES)))
def test_a_long_line_of_json_is_what_a_short_one_is(number: int, end: bytes, tmp_path: Path, tiny: None) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"text": "first"}\n' + JSON_LINES[number] + end)
    documents = open_documents([path])

    found = [row for rows, _ in documents.columns(long_bytes=16) for row in _as_list(rows)]

    assert found == _rows(path)
    assert len(found) == 2 + end.endswith(b"}")


def _as_list(found: Any) -> list[Any]:
    assert isinstance(found, list)
    return found


def test_a_long_line_may_be_too_long_as_well(tmp_path: Path, tiny: None) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one\n" + "x" * 500 + "\n")
    for skips in (False, True):
        documents = open_documents([path], max_document_bytes=100, skip_bad_rows=skips)
        with pytest.raises(CorpusError, match="line 2, has more than 100 bytes; raise max_document_bytes"):
            _read(documents)


def _read(documents: Documents) -> None:
    for found, _ in documents.columns(long_bytes=16):
        list(getattr(found, "parts", []))


def test_parts_of_a_file_have_its_long_lines(tmp_path: Path, tiny: None) -> None:
    path = tmp_path / "a.txt"
    path.write_text("".join(LINES), newline="")
    expected = counts_of(files=[path])
    documents = open_documents([path])

    for part_bytes in (1, 30, 1000):
        parts = parts_of(documents, part_bytes)
        counts = [counts_of(open_part(documents, part)) for part in parts]
        assert hf_bpe.PretokenCounts.sum(counts) == expected


@pytest.mark.filterwarnings(r"ignore:\d of \d+ rows hold no text")
@pytest.mark.parametrize("suffix", ["txt", "txt.gz"])
def test_long_lines_that_are_bad_are_left_out_of_every_part(suffix: str, tmp_path: Path, tiny: None) -> None:
    path = tmp_path / f"a.{suffix}"
    lines = "".join([*LINES, "\n"]).encode()
    long = LINES[1].encode()
    data = lines + b"\xff" + long + lines + long[:-1] + b"\xe8\n" + lines
    path.write_bytes(gzip.compress(data) if suffix.endswith("gz") else data)
    documents = open_documents([path], skip_bad_rows=True)

    for part_bytes in (1, 30, 1000):
        parts = parts_of(documents, part_bytes)
        counts = [counts_of(open_part(documents, part)) for part in parts]
        total = hf_bpe.PretokenCounts.sum(counts)
        assert total == counts_of(_lines("".join([*LINES, "\n"] * 3)))
        assert total.report.bad_rows == 2


@pytest.mark.parametrize("suffix", ["txt", "txt.gz"])
def test_a_long_line_is_copied_only_where_its_stream_can_not_go_back(
    suffix: str, tmp_path: Path, tiny: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"a.{suffix}"
    text = "".join(LINES)
    path.write_bytes(gzip.compress(text.encode()) if suffix.endswith("gz") else text.encode())
    copies: list[object] = []
    monkeypatch.setattr(long_rows.tempfile, "TemporaryFile", lambda dir: copies.append(dir) or io.BytesIO())
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    for read in (
        lambda **options: counts_of(files=[path], **options),
        lambda **options: counts_of(path, **options),
        lambda **options: hf_bpe.train(files=[path], vocab_size=256, progress=False, **options),
        lambda **options: hf_bpe.train(sources={"a": [path]}, vocab_size=256, progress=False, **options),
    ):
        copies.clear()
        assert read(skip_bad_rows=True, temporary_directory=elsewhere) is not None
        assert set(copies) == ({str(elsewhere)} if suffix.endswith("gz") else set())
    assert counts_of(files=[path], skip_bad_rows=True) == counts_of(_lines(text))


def test_a_full_directory_for_the_copy_of_a_long_line_is_named(
    tmp_path: Path, tiny: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress("".join(LINES).encode()))
    monkeypatch.setattr(long_rows.tempfile, "TemporaryFile", lambda dir: open("/dev/full", "w+b"))  # noqa: SIM115

    with pytest.raises(OSError, match=r"a long line can't wait there \(No space left on device\); set another") as told:
        counts_of(files=[path], skip_bad_rows=True, temporary_directory=tmp_path)

    assert (told.value.errno, told.value.filename) == (28, str(tmp_path))


def test_a_bad_long_line_has_the_same_name_in_a_part(tmp_path: Path, tiny: None) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\ntwo\nthree\n" + b"x" * 40 + b"\xff\n")
    documents = open_documents([path])
    *_, last = parts_of(documents, 20)

    with pytest.raises(CorpusError, match=r"line 4: isn't UTF-8 at byte 40: invalid start byte"):
        counts_of(open_part(documents, last))


def test_counting_goes_on_behind_a_long_line(tmp_path: Path, tiny: None) -> None:
    path = tmp_path / "a.txt"
    path.write_text("".join(LINES), newline="")
    documents = open_documents([path])
    ends = []
    for found, end in documents.columns(long_bytes=16):
        ends.append(end)
        list(getattr(found, "parts", []))

    for end in ends:
        rest = [*documents.columns(end)]
        seen = 0
        for found, _ in documents.columns(end, long_bytes=16):
            seen += len(found)
            list(getattr(found, "parts", []))
        assert seen == sum(len(found) for found, _ in rest)


def test_a_sample_and_the_texts_of_a_corpus_have_a_long_line(tmp_path: Path, tiny: None) -> None:
    path = tmp_path / "a.txt"
    path.write_text("".join(LINES), newline="")
    sample = Sample()

    texts = list(texts_of(sample.watch(open_corpus(files=[path]).batches)))

    assert texts == _lines("".join(LINES))
    assert len(sample.texts) == len(texts)
    assert all(text.startswith(kept) and kept for kept, text in zip(sample.texts, texts, strict=True))
