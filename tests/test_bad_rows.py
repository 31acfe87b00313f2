"""Rows that hold no text are left out of training, counted and told; a source of nothing else is an error."""

from __future__ import annotations

import gzip
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from stopping import StopAfter, kept
from typer.testing import CliRunner

import hf_bpe
from hf_bpe import CorpusError, CountsError, PretokenCounts
from hf_bpe.cli import app
from hf_bpe.corpus import open_part
from hf_bpe.documents import Position, open_documents, parts_of
from hf_bpe.limits import CountingLimits
from hf_bpe.pretoken_counts import storage

GOOD = [f"a good row, number {number}" for number in range(200)]

BAD: dict[str, tuple[bytes, str]] = {
    "broken JSON": (b'{"text": "a', "is no JSON: Invalid control character at"),
    "text that is no JSON": (b"a row", "is no JSON: Expecting value"),
    "another column": (b'{"content": "a"}', "has no 'text'; it has 'content'"),
    "no column": (b"{}", "has no 'text'; it has nothing"),
    "a number": (b'{"text": 7}', "has int in 'text', not a text"),
    "a list": (b'{"text": ["a"]}', "has list in 'text', not a text"),
    "no object": (b'["a"]', "is no JSON object, but list"),
    "no UTF-8": (b'{"text": "a\xff"}', "is no JSON: 'utf-8' codec can't decode byte 0xff"),
    "a number of too many digits": (b'{"text": "a", "n": ' + b"9" * 5000 + b"}", "is no JSON: Exceeds the limit"),
    "no end of brackets": (b'{"text": ' + b"[" * 200_000, "is no JSON: "),
    "many columns": (json.dumps({f"column {n}": "" for n in range(5000)}).encode(), "has no 'text'; it has 'column 0'"),
}


def count(source: Any = None, **options: Any) -> PretokenCounts:
    return PretokenCounts.count(source, **({"split_pattern": "gpt2", "progress": False} | options))


def train(source: Any = None, **options: Any) -> hf_bpe.HfBpeTokenizer:
    return hf_bpe.train(source, **({"split_pattern": "gpt2", "progress": False, "vocab_size": 270} | options))


def lines(texts: list[str]) -> bytes:
    return b"".join(json.dumps({"text": text}).encode() + b"\n" for text in texts)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A file with two bad rows among 200 good ones, and one that is null."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines(GOOD[:50]) + b"one\n" + lines(GOOD[50:]) + b'{"text": null}\n{"content": 2}\n')
    return path


def told_of(path: Path) -> tuple[str, ...]:
    return (
        f"{path}, line 51: is no JSON: Expecting value: line 1 column 1 (char 0)",
        f"{path}, line 203: has no 'text'; it has 'content'",
    )


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("place", [0, 7, 200])
def test_a_bad_row_is_left_out_counted_and_told(name: str, place: int, tmp_path: Path) -> None:
    row, reason = BAD[name]
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines(GOOD[:place]) + row + b"\n" + lines(GOOD[place:]))

    with pytest.warns(
        UserWarning, match="^1 of 201 rows hold no text and were left out; skip_bad_rows=False"
    ) as warned:
        counts = count(files=[path])

    assert counts == count(GOOD)
    assert (counts.report.texts, counts.report.bad_rows) == (200, 1)
    (told,) = counts.report.first_bad_rows
    assert told.startswith(f"{path}, line {place + 1}: {reason}")
    assert len(told) < len(str(path)) + 250
    assert told in str(warned[0].message)
    assert warned[0].filename == __file__
    with pytest.raises(CorpusError, match=rf"a\.jsonl, line {place + 1}: .* \(skip_bad_rows leaves such rows out\)"):
        count(files=[path], skip_bad_rows=False)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
def test_json_lines_of_another_encoding_hold_no_text(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(('{"text": "a 中文 text"}\n' * 9).encode(encoding))

    with pytest.raises(CorpusError, match=r"none of \d+ rows holds a text: .* or text in UTF-8. .*line 1: is no JSON"):
        count(files=[tmp_path / "a.jsonl"])


@pytest.mark.parametrize("length", [9, 5 << 20])
def test_bytes_of_half_a_character_are_no_text_in_json_either(length: int, tmp_path: Path) -> None:
    rows = b'{"text": "' + b"a " * (length // 2) + b'\xed\xa0\x80"}\n' + lines(GOOD)
    (tmp_path / "a.jsonl").write_bytes(rows)

    with pytest.warns(UserWarning, match=r"1 of 201 rows .*line 1: is no JSON: 'utf-8' codec can't decode byte 0xed"):
        assert count(files=[tmp_path / "a.jsonl"]) == count(GOOD)


@pytest.mark.parametrize(("data", "texts", "nulls"), [(b"", 0, 1), (b"\n", 0, 1), (b'{"text": "a"}\n', 1, 0)])
def test_a_byte_order_mark_is_no_bad_row(data: bytes, texts: int, nulls: int, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"\xef\xbb\xbf" + data)

    report = count(files=[tmp_path / "a.jsonl"]).report

    assert (report.texts, report.null_rows, report.bad_rows) == (texts, nulls, 0)


def test_the_warning_tells_three_rows_and_the_report_ten(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xff\n" * 12 + b"good\n" * 30)
    (tmp_path / "b.txt").write_bytes(b"good\n\xfe\n")

    with pytest.warns(UserWarning, match="^13 of 44 rows") as warned:
        counts = count(files=[tmp_path])

    (text,) = [str(warning.message) for warning in warned]
    assert text.count("isn't UTF-8") == 3
    assert text.endswith("; ...")
    assert [row.partition(": ")[0] for row in counts.report.first_bad_rows] == [
        f"{tmp_path / 'a.txt'}, line {number}" for number in range(1, 11)
    ]


def test_nothing_is_told_where_nothing_is_bad(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(lines(GOOD) + b'\n{"text": null}\n')

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        counts = count(files=[tmp_path / "a.jsonl"])

    assert (counts.report.texts, counts.report.null_rows, counts.report.bad_rows) == (200, 2, 0)
    assert counts.report.first_bad_rows == ()


def write_table(path: Path, rows: list[bytes | None], kind: pa.DataType) -> None:
    """Write rows as strings, whatever their bytes are: 40 to a part."""
    binary = pa.large_binary() if kind == pa.large_string() else pa.binary()
    table = pa.table({"text": pa.array(rows, binary).view(kind)})
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=40)
        return
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=40)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()], ids=str)
@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_a_string_of_a_table_that_is_not_utf8_is_a_bad_row(name: str, kind: pa.DataType, tmp_path: Path) -> None:
    path = tmp_path / name
    rows: list[bytes | None] = [None, *(text.encode() for text in GOOD)]
    rows[41:41] = [b"a \xff", None]
    rows.append(b"cut off \xe8\xaa")
    write_table(path, rows, kind)
    told = (
        f"{path}, row 42: isn't UTF-8 at byte 2: invalid start byte",
        f"{path}, row 204: isn't UTF-8 at byte 8: unexpected end of data",
    )

    with pytest.warns(UserWarning, match="2 of 204 rows"):
        counts = count(files=[path])

    assert counts == count(GOOD)
    assert (counts.report.texts, counts.report.null_rows) == (200, 2)
    assert counts.report.first_bad_rows == told
    with pytest.raises(CorpusError, match=r"row 42: isn't UTF-8 at byte 2: .*\(skip_bad_rows leaves such rows out\)"):
        count(files=[path], skip_bad_rows=False)
    documents = open_documents([path], skip_bad_rows=True)
    for first in (0, 30, 41, 42, 43, 100, 203):
        batches = [*documents.batches(Position(0, first))]
        assert [text.encode() for batch in batches for text in batch.texts] == [
            row for row in rows[first:] if row is not None and b"\xe8" not in row and b"\xff" not in row
        ]
        assert [row.told for batch in batches for row in batch.bad_rows] == [*told[first > 41 :]]
    parts = [open_part(documents, part) for part in parts_of(documents, 1)]
    with pytest.warns(UserWarning, match="rows hold no text"):
        assert PretokenCounts.sum([count(part) for part in parts]) == counts


def _dictionary(rows: list[bytes | None]) -> pa.Array:
    found = pa.array(rows, pa.binary()).dictionary_encode()
    return pa.DictionaryArray.from_arrays(found.indices, found.dictionary.view(pa.string()))


LAYOUTS: dict[str, Callable[[list[bytes | None]], pa.Array]] = {
    "a dictionary": _dictionary,
    "views": lambda rows: pa.array(rows, pa.binary_view()).view(pa.string_view()),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_string_that_is_not_utf8_is_a_bad_row_in_any_layout_of_arrow(layout: str, tmp_path: Path) -> None:
    rows: list[bytes | None] = [b"a good row", b"bad \xff and long enough to be apart", None, b"a good row", b"\xff"]
    table = pa.table({"text": LAYOUTS[layout](rows)})
    with pa.ipc.new_file(tmp_path / "a.arrow", table.schema) as writer:
        writer.write_table(table)

    with pytest.warns(UserWarning, match=r"2 of 5 rows .*row 2: isn't UTF-8 at byte 4.*row 5: isn't UTF-8 at byte 0"):
        counts = count(files=[tmp_path / "a.arrow"])

    assert counts == count(["a good row"] * 2)
    assert counts.report.null_rows == 1


def test_an_index_outside_of_a_dictionary_is_damage(tmp_path: Path) -> None:
    values = pa.array([b"a", b"\xff"]).view(pa.string())
    found = pa.DictionaryArray.from_arrays(pa.array([0, 2], pa.int8()), values, safe=False)
    table = pa.table({"text": found})
    with pa.ipc.new_file(tmp_path / "a.arrow", table.schema) as writer:
        writer.write_table(table)

    with pytest.raises(CorpusError, match=r"a\.arrow: can't be read as Arrow: "):
        count(files=[tmp_path / "a.arrow"])


def test_a_table_whose_offsets_are_damaged_is_an_error(tmp_path: Path) -> None:
    data, offsets = pa.py_buffer(b"one two"), pa.py_buffer(b"".join(n.to_bytes(4, "little") for n in (0, 5, 3)))
    table = pa.table({"text": pa.StringArray.from_buffers(2, offsets, data)})
    with pa.ipc.new_file(tmp_path / "a.arrow", table.schema) as writer:
        writer.write_table(table)

    with pytest.raises(CorpusError, match=r"a\.arrow: can't be read as Arrow: "):
        count(files=[tmp_path / "a.arrow"])


# Every way to read


def test_training_reports_the_rows(corpus: Path) -> None:
    for source in ({"files": [corpus]}, {"source": corpus}):
        with pytest.warns(UserWarning, match="2 of 203 rows"):
            tokenizer = train(**source)

        report = tokenizer.training_report
        assert (report.texts, report.null_rows, report.bad_rows) == (200, 1, 2)
        assert report.first_bad_rows == told_of(corpus)
        assert tokenizer._core.to_json() == train(GOOD)._core.to_json()


def test_several_sources_report_the_rows_of_each(corpus: Path, tmp_path: Path) -> None:
    other = tmp_path / "b.txt"
    other.write_bytes(b"\xff\n" + "\n".join(GOOD).encode())
    sources = {"a": [corpus], "b": other, "c": GOOD}

    with pytest.warns(UserWarning, match="rows hold no text") as warned:
        report = train(sources=sources, weights={"a": 2, "b": 1, "c": 0.5}).training_report

    assert [str(warning.message).partition(" rows ")[0] for warning in warned] == ["2 of 203", "1 of 201"]
    assert (report.texts, report.bad_rows) == (600, 3)
    assert [source.bad_rows for source in report.sources] == [2, 1, 0]
    assert report.first_bad_rows == (*told_of(corpus), f"{other}, line 1: isn't UTF-8 at byte 0: invalid start byte")


def test_counts_keep_and_add_what_was_left_out(corpus: Path, tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="2 of 203 rows"):
        counts = count(files=[corpus])
    counts.save(tmp_path / "a.parquet")

    loaded = PretokenCounts.load(tmp_path / "a.parquet")
    assert loaded.report == counts.report == counts.weighted(3).report
    assert PretokenCounts.from_buffer(counts.to_buffer()).report == counts.report
    both = counts + loaded
    assert (both.report.bad_rows, both.report.first_bad_rows) == (4, told_of(corpus) * 2)
    assert len(PretokenCounts.sum([counts] * 9).report.first_bad_rows) == 10
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it was told when they were counted
        report = train(loaded).training_report
    assert (report.bad_rows, report.first_bad_rows) == (2, told_of(corpus))


def test_the_page_tells_what_was_left_out(corpus: Path) -> None:
    with pytest.warns(UserWarning, match="2 of 203 rows"):
        page = train(files=[corpus]).training_report.to_html()

    assert '<td class="text">bad rows, left out</td><td class="number">2</td>' in page
    assert "line 203: has no " in page


@pytest.mark.parametrize("value", ["a", [1], None, {}])
def test_forged_bad_rows_are_damage(value: object, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    counts = count(GOOD)
    storage.write(path, counts._counts, counts._details() | {"first_bad_rows": value})

    with pytest.raises(CountsError, match=r"a\.parquet is damaged: its first_bad_rows can't be"):
        PretokenCounts.load(path)


def test_counts_of_before_bad_rows_were_named_are_read(corpus: Path, tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="2 of 203 rows"):
        counts = count(files=[corpus])
    details = counts._details()
    del details["first_bad_rows"]
    storage.write(tmp_path / "a.parquet", counts._counts, details)

    report = PretokenCounts.load(tmp_path / "a.parquet").report
    assert (report.bad_rows, report.first_bad_rows) == (2, ())


# Nothing but bad rows


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.txt"])
@pytest.mark.parametrize("nulls", [b"", b"\n"])
def test_a_source_of_bad_rows_alone_is_an_error(name: str, nulls: bytes, tmp_path: Path) -> None:
    row, reason = (b"\xff\n", "isn't UTF-8 at byte 0") if name == "a.txt" else (b"{}\n", "has no 'text'")
    data = row * 70 + (b"" if name == "a.txt" else nulls)
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    told = rf"none of 7[01] rows holds a text: choose another text_column \(--text-column\).*line 1: {reason}"

    for read in (count, train):
        with pytest.raises(CorpusError, match=told):
            read(files=[tmp_path / name])
        with pytest.raises(CorpusError, match=told):
            read(tmp_path / name)


def test_a_file_of_bad_rows_alone_is_none_among_others(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b'{"content": "a"}\n' * 70)
    (tmp_path / "b.jsonl").write_bytes(lines(GOOD))

    with pytest.warns(UserWarning, match=r"70 of 270 rows.*a\.jsonl, line 1: has no 'text'"):
        assert count(files=[tmp_path]) == count(GOOD)
    with pytest.raises(CorpusError, match=r"none of 70 rows holds a text.*a\.jsonl, line 1"):
        train(sources={"a": tmp_path / "a.jsonl", "b": tmp_path / "b.jsonl"})


@pytest.mark.parametrize("where", [{}, {"checkpoint_minutes": 0}], ids=["at once", "with checkpoints"])
def test_a_source_that_begins_with_bad_rows_without_end_is_given_up(where: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"content": "a text"}\n' * 300_000 + lines(GOOD))
    if where:
        where = where | {"checkpoint_dir": tmp_path / "stops"}

    with pytest.raises(CorpusError, match=r"none of the first 1\d\d,\d\d\d rows holds a text.*line 1: has no 'text'"):
        count(files=[path], **where)


@pytest.mark.parametrize("rows", [99_999, 100_000])
@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.jsonl.gz", "a.parquet", "-"])
def test_the_hundred_thousandth_bad_row_before_the_first_text_is_one_too_many(
    name: str, rows: int, tmp_path: Path, run: Callable[..., Any]
) -> None:
    bad, good = (b"{}\n", lines(GOOD)) if "json" in name else (b"\xff\n", "\n".join(GOOD).encode())
    if name == "a.parquet":
        write_table(tmp_path / name, [b"\xff"] * rows + [text.encode() for text in GOOD], pa.string())
    elif name != "-":
        (tmp_path / name).write_bytes(gzip.compress(bad * rows + good) if "gz" in name else bad * rows + good)

    result = run("count", name, "--out", "made", stdin=bad * rows + good)

    assert result.exit_code == rows // 100_000
    assert ("none of the first 1" in result.stderr) == (rows == 100_000)
    assert ("or name files that hold texts before these. The first bad row: " in result.stderr) == (rows == 100_000)
    assert ("warning: 99,999 of 100,199 rows" in result.stderr) == (rows < 100_000)


def test_bad_rows_without_end_behind_a_text_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(lines(GOOD[:1]) + b"{}\n" * 150_000 + lines(GOOD[1:]))

    with pytest.warns(UserWarning, match="150,000 of 150,200 rows"):
        assert count(files=[tmp_path / "a.jsonl"]) == count(GOOD)


def test_files_that_hold_texts_may_be_named_first(tmp_path: Path) -> None:
    bad, good = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    bad.write_bytes(b"{}\n" * 150_000)
    good.write_bytes(lines(GOOD))

    with pytest.raises(CorpusError, match="or name files that hold texts before these"):
        count(files=[bad, good])
    with pytest.warns(UserWarning, match="150,000 of 150,200 rows"):
        assert count(files=[good, bad]) == count(GOOD)


# Structural errors


def _without_column(path: Path) -> None:
    pq.write_table(pa.table({"content": ["a"]}), path / "b.parquet")


def _of_numbers(path: Path) -> None:
    pq.write_table(pa.table({"text": [1]}), path / "b.parquet")


def _torn(path: Path) -> None:
    pq.write_table(pa.table({"text": GOOD}), path / "b.parquet")
    (path / "b.parquet").write_bytes((path / "b.parquet").read_bytes()[:-9])


def _cut_off(path: Path) -> None:
    (path / "b.jsonl.gz").write_bytes(gzip.compress(lines(GOOD))[:-20])


STRUCTURAL: dict[str, tuple[Callable[[Path], None], str]] = {
    "no column": (_without_column, "has no column 'text'; choose a text_column among 'content'"),
    "a column of numbers": (_of_numbers, "column 'text' holds int64, not texts"),
    "a torn table": (_torn, "can't be read as Parquet"),
    "compressed data that ends early": (_cut_off, "the compressed data is damaged"),
}


@pytest.mark.parametrize("name", STRUCTURAL)
def test_a_file_that_is_damaged_or_of_another_kind_is_still_an_error(name: str, tmp_path: Path) -> None:
    make, told = STRUCTURAL[name]
    (tmp_path / "a.jsonl").write_bytes(lines(GOOD))
    make(tmp_path)

    for read in (count, train):
        with pytest.raises(CorpusError, match=told):
            read(files=[tmp_path])


# Checkpoints


def big(path: Path, bad: bytes = b"no JSON\n") -> Path:
    """Write a file of a few batches, with a bad row behind each of them."""
    part = lines([f"{number} {text}" for number in range(150) for text in GOOD])
    path.write_bytes((part + bad) * 4)
    return path


def test_what_was_left_out_is_told_across_stops(tmp_path: Path, stop_after: StopAfter) -> None:
    path = big(tmp_path / "a.jsonl")
    with pytest.warns(UserWarning, match="4 of 120,004 rows"):
        whole = train(files=[path])
    where: dict[str, Any] = {"checkpoint_dir": tmp_path / "stops", "checkpoint_minutes": 0}
    for number in (2, 3):
        with stop_after(number):
            train(files=[path], **where)
        where["resume_from"] = tmp_path / "stops"

    with pytest.warns(UserWarning, match="4 of 120,004 rows"):
        tokenizer = train(files=[path], **where)

    assert tokenizer._core.to_json() == whole._core.to_json()
    assert tokenizer.training_report == whole.training_report
    assert len(whole.training_report.first_bad_rows) == 4


@pytest.mark.parametrize("several", [False, True])
def test_a_strict_run_that_met_a_bad_row_goes_on_without_it(several: bool, tmp_path: Path) -> None:
    path = big(tmp_path / "a.jsonl", bad=b"")
    path.write_bytes(path.read_bytes() + b"no JSON\n" + lines(GOOD))
    source: dict[str, Any] = {"sources": {"a": [path], "b": GOOD}} if several else {"files": [path]}
    where: dict[str, Any] = {"checkpoint_dir": tmp_path / "stops", "resume_from": tmp_path / "stops"}
    with pytest.raises(CorpusError, match="line 120,001: is no JSON"):
        train(**source, **where, checkpoint_minutes=0, skip_bad_rows=False)
    begun = len(kept(tmp_path / "stops"))

    with pytest.warns(UserWarning, match="1 of 120,201 rows"):
        tokenizer = train(**source, **where)

    assert begun
    with pytest.warns(UserWarning, match="1 of 120,201 rows"):
        whole = train(**source)
    assert tokenizer._core.to_json() == whole._core.to_json()
    assert tokenizer.training_report == whole.training_report
    with pytest.raises(CountsError, match="had skip_bad_rows=True, and now it has skip_bad_rows=False"):
        train(**source, **where, skip_bad_rows=False)


def test_a_checkpoint_that_does_not_name_its_bad_rows_is_gone_on_from(tmp_path: Path, stop_after: StopAfter) -> None:
    path = big(tmp_path / "a.jsonl", bad=b"")
    path.write_bytes(b"no JSON\n" + path.read_bytes())
    with stop_after(2):
        count(files=[path], checkpoint_dir=tmp_path / "stops", checkpoint_minutes=0)
    newest = kept(tmp_path / "stops")[-1]
    counts, details = storage.read(newest, CountingLimits.of())
    del details["first_bad_rows"]
    storage.write(newest, counts, details)

    with pytest.warns(UserWarning, match="1 of 120,001 rows"):
        found = count(files=[path], resume_from=tmp_path / "stops")

    with pytest.warns(UserWarning, match="1 of 120,001 rows"):
        assert found == count(files=[path])
    assert (found.report.bad_rows, found.report.first_bad_rows) == (1, ())


# Commands


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Run a command in the folder."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments, stdin=None: CliRunner().invoke(app, [*arguments, "--no-progress"], input=stdin)


COMMANDS = [["count", "a.jsonl"], ["train", "a.jsonl", "--vocab-size", "257"]]
COMMANDS.append(["train", "--source", "a=a.jsonl", "--source", "b=a.jsonl", "--vocab-size", "257"])


@pytest.mark.parametrize("command", COMMANDS, ids=["count", "train", "sources"])
def test_commands_leave_bad_rows_out_and_say_how_to_be_strict(
    command: list[str], corpus: Path, run: Callable[..., Any]
) -> None:
    result = run(*command, "--out", "made")

    assert result.exit_code == 0, result.output
    assert "hf-bpe: warning: 2 of 203 rows hold no text and were left out" in result.stderr
    assert "(--no-skip-bad-rows) makes the first of them an error: a.jsonl, line 51: is no JSON" in result.stderr
    assert f", {2 * (1 + command.count('--source') // 2)} bad rows skipped" in result.stderr
    strict = run(*command, "--out", "strict", "--no-skip-bad-rows")
    assert strict.exit_code == 1
    assert "hf-bpe: error: a.jsonl, line 51: is no JSON" in strict.stderr
    assert not Path("strict").exists()
    assert run(*command, "--out", "asked", "--skip-bad-rows").exit_code == 0


@pytest.mark.parametrize("command", COMMANDS, ids=["count", "train", "sources"])
def test_commands_refuse_a_misspelt_column(command: list[str], corpus: Path, run: Callable[..., Any]) -> None:
    result = run(*command, "--out", "made", "--text-column", "txet")

    assert result.exit_code == 1
    assert "none of 203 rows holds a text: choose another text_column (--text-column)" in result.stderr
    assert "The first bad row: a.jsonl, line 1: has no 'txet'; it has 'text'" in result.stderr
    assert not Path("made").exists()


def test_stdin_of_bad_rows_alone_is_an_error(run: Callable[..., Any]) -> None:
    result = run("count", "-", "--out", "made", stdin=b"\xff\n\xfe\n")

    assert result.exit_code == 1
    assert "none of 2 rows holds a text" in result.stderr
    assert "stdin, line 1: isn't UTF-8 at byte 0" in result.stderr


def test_strict_counts_of_stdin_are_gone_on_from(run: Callable[..., Any]) -> None:
    where = ("--checkpoint-dir", "stops", "--resume-from", "stops")
    stdin = "\n".join(GOOD).encode()
    strict = run("count", "-", "--out", "strict", "--no-skip-bad-rows", *where, stdin=stdin)

    result = run("count", "-", "--out", "made", *where, stdin=stdin)

    assert (strict.exit_code, result.exit_code) == (0, 0), result.output
    assert PretokenCounts.load("made") == PretokenCounts.load("strict")
    assert len(kept(Path("stops"))) == 2  # the second is of both


def test_what_makes_no_training_stays_strict(corpus: Path, tmp_path: Path, run: Callable[..., Any]) -> None:
    train(GOOD).save_pretrained(tmp_path / "tokenizer")

    result = run("encode", "tokenizer", "a.jsonl", "--out", "ids.bin")

    assert result.exit_code == 1
    assert "a.jsonl, line 51: is no JSON" in result.stderr
    assert not Path("ids.bin").exists()
