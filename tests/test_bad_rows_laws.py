"""What is left out of any file is what a reader leaves out that looks at one line after the other."""

from __future__ import annotations

import gzip
import json
import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hf_bpe import CorpusError, PretokenCounts
from hf_bpe.corpus import files as files_module
from hf_bpe.corpus import open_corpus, open_part
from hf_bpe.counting_report import Tally
from hf_bpe.documents import open_documents, parts_of, streams
from hf_bpe.documents import reading as reading_module
from hf_bpe.extension.sampling import texts_of

ROWS = [b"", b"a", b"\xff", b"\xe8\xaa", b"\xed\xa0\x80", b"\0", b"\r", b"\xef\xbb\xbf", b"x" * 20, b"{", b"7"]
ROWS += [json.dumps(row).encode() for row in ({"text": "x"}, {"text": "long " * 9}, {"text": None}, {"a": 1}, ["x"])]
ROWS += [
    b'\xef\xbb\xbf{"text": "\xe8\xaa\x9e"}',
    b'{"text": "' + b"x" * 20 + b'\xff"}',
    b'{"text": "\\ud800"',
    b"\xff" * 20,
]


def text_of_line(line: bytes) -> str | None:
    """Return a line of text with its newline; an error is a bad row."""
    return line.decode()


def text_of_json(line: bytes) -> str | None:
    """Return the text of a line of JSON; an error is a bad row."""
    row = line.decode("utf-8-sig")
    if not row.strip():
        return None
    text = json.loads(row)["text"]
    if not isinstance(text, str | None):
        raise TypeError(row)
    return text


def read(data: bytes, text_of: Callable[[bytes], str | None]) -> tuple[list[str], int, list[int]]:
    """Return the texts of a file, how many rows are null, and the numbers of those that are bad."""
    texts: list[str] = []
    nulls, bad = 0, []
    for number, line in enumerate(re.findall(rb"[^\n]*\n|[^\n]+$", data), start=1):
        try:
            text = text_of(line)
        except (ValueError, KeyError, TypeError):
            bad.append(number)
            continue
        texts += [] if text is None else [text]
        nulls += text is None
    return texts, nulls, bad


def count(source: Any = None, **options: Any) -> PretokenCounts:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return PretokenCounts.count(source, split_pattern="gpt2", progress=False, max_pretoken_bytes=None, **options)


@pytest.fixture(scope="module", autouse=True)
def tiny() -> Any:
    """Make a line of 16 bytes long, and blocks of some bytes usual."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files_module, "LONG_BYTES", 16)
        patch.setattr(reading_module, "_COLUMN_BYTES", 11)
        patch.setattr(streams, "BLOCK_BYTES", 7)
        yield


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz", "a.jsonl", "a.jsonl.gz"])
@given(st.lists(st.sampled_from(ROWS), max_size=20), st.booleans(), st.integers(1, 60))
def test_files_are_read_as_line_by_line(
    tmp_path_factory: pytest.TempPathFactory, name: str, rows: list[bytes], ends: bool, part_bytes: int
) -> None:
    data = b"\n".join(rows) + b"\n" * ends
    path = tmp_path_factory.mktemp("rows") / name
    path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    texts, nulls, bad = read(data, text_of_json if "json" in name else text_of_line)
    expected = (len(texts), nulls, len(bad))

    if bad and not texts:
        with pytest.raises(CorpusError, match=rf"none of {nulls + len(bad)} rows .*line {bad[0]}: "):
            count(files=[path])
    else:
        counts = count(files=[path])
        assert counts == count(texts)
        assert (counts.report.texts, counts.report.null_rows, counts.report.bad_rows) == expected
        assert [_line(row) for row in counts.report.first_bad_rows] == bad[:10]
        tally = Tally()
        assert [*texts_of(tally.watch(open_corpus(files=[path], skip_bad_rows=True).batches))] == texts
        assert (tally.report.texts, tally.report.null_rows, tally.report.bad_rows) == expected
        assert tally.report.first_bad_rows == counts.report.first_bad_rows
    documents = open_documents([path], skip_bad_rows=True)
    parts = [count(open_part(documents, part)) for part in parts_of(documents, part_bytes)]
    if parts:
        total = PretokenCounts.sum(parts)
        assert total == count(texts)
        assert (total.report.texts, total.report.null_rows, total.report.bad_rows) == expected
    if bad:
        with pytest.raises(CorpusError, match=rf"line {bad[0]}: .*\(skip_bad_rows leaves such rows out\)"):
            count(files=[path], skip_bad_rows=False)


def _line(told: str) -> int:
    match = re.search(r", line (\d+): ", told)
    assert match is not None
    return int(match[1])
