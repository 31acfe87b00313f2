"""Counts as a value: the same merges however they were made, kept, added and spilled."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import random
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hf_bpe
from hf_bpe import CountsError, PretokenCounts
from hf_bpe._native import SortedCountsBuilder
from hf_bpe.limits import CountingLimits, machine_memory, memory_size


def counts_of(*texts: str, **options: Any) -> PretokenCounts:
    return PretokenCounts.count(list(texts), **({"split_pattern": "gpt2", "progress": False} | options))


def trained(source: Any, **options: Any) -> str:
    return hf_bpe.train(source, **({"vocab_size": 300, "progress": False} | options))._core.to_json()


def many_texts(number: int = 4000) -> list[str]:
    draw = random.Random(7)
    return [f"{draw.randrange(10**6)} words {draw.choice('äöü語')}{index} of low lower\n" for index in range(number)]


@pytest.fixture(scope="module")
def corpus() -> list[str]:
    """So many distinct words that they don't fit into 8 MB."""
    draw = random.Random(3)
    words = ["".join(draw.choices("abcdefgh", k=9)) for _ in range(150_000)]
    return [" ".join(words[start : start + 100]) for start in range(0, len(words), 100)] + many_texts()


@pytest.fixture(scope="module")
def expected(corpus: list[str]) -> str:
    return trained(corpus, split_pattern="gpt2", vocab_size=400)


@pytest.mark.parametrize("num_threads", [1, 2])
@pytest.mark.parametrize("max_memory", ["8MB", "1MB", 0])
def test_merges_are_the_same_when_counts_spill(
    num_threads: int, max_memory: str | int, corpus: list[str], expected: str
) -> None:
    shuffled = random.Random(num_threads).sample(corpus, len(corpus))

    options = {"split_pattern": "gpt2", "vocab_size": 400, "max_memory": max_memory, "num_threads": num_threads}
    tokenizer = hf_bpe.train(shuffled, progress=False, **options)

    assert tokenizer.training_report.spilled_bytes > 100_000
    assert tokenizer._core.to_json() == expected


def test_counts_are_the_same_when_they_spill(corpus: list[str], tmp_path: Path) -> None:
    whole = counts_of(*corpus)
    spilled = counts_of(*corpus, max_memory="1MB", temporary_directory=tmp_path, num_threads=2)

    assert whole._counts.in_file is False
    assert spilled._counts.in_file is True
    assert spilled == whole
    assert spilled.most_common(5) == whole.most_common(5)
    assert list(spilled)[:1000] == list(whole)[:1000]
    assert list(tmp_path.iterdir()) == []


def test_training_from_counts_equals_training_from_texts(corpus: list[str], expected: str, tmp_path: Path) -> None:
    parts = [counts_of(*corpus[start::3], name=f"part {start}") for start in range(3)]
    for number, part in enumerate(parts):
        part.save(tmp_path / f"{number}.parquet")
    loaded = [PretokenCounts.load(tmp_path / f"{number}.parquet", max_memory="1MB") for number in (2, 0, 1)]

    assert trained(PretokenCounts.sum(loaded), vocab_size=400) == expected
    assert trained(counts_of(*corpus), split_pattern="gpt2", vocab_size=400) == expected


def test_a_buffer_holds_what_a_file_holds(tmp_path: Path) -> None:
    counts = counts_of(*many_texts(), name="a")
    counts.save(tmp_path / "counts.parquet")

    buffer = counts.to_buffer()
    again = PretokenCounts.from_buffer(buffer, max_memory=0, temporary_directory=tmp_path)

    assert buffer.to_pybytes() == (tmp_path / "counts.parquet").read_bytes()
    assert (again, again.report, again.sources) == (counts, counts.report, ("a",))
    assert again._counts.in_file
    with pytest.raises(CountsError, match="the buffer is damaged, or no file of counts"):
        PretokenCounts.from_buffer(buffer.to_pybytes()[:-9])


def test_training_from_counts_twice_gives_the_same() -> None:
    counts = counts_of(*many_texts(), max_memory="100KB")

    assert trained(counts) == trained(counts)
    assert len(counts) == len(list(counts))


@given(st.lists(st.lists(st.sampled_from(["a b", "", "ab", "b a b", "語 a", "\0"])), min_size=3, max_size=3))
def test_addition_is_associative_and_commutative(texts: list[list[str]]) -> None:
    a, b, c = (counts_of(*part) for part in texts)

    assert (a + b) + c == a + (b + c) == PretokenCounts.sum([c, a, b]) == counts_of(*texts[0], *texts[1], *texts[2])
    assert ((a + b) + c).report == counts_of(*texts[0], *texts[1], *texts[2]).report


def test_sources_and_what_was_read_add_up() -> None:
    both = counts_of("a b", name="one") + counts_of("b c d", name="two")

    assert both.sources == ("one", "two")
    assert (both.report.texts, both.report.bytes, both.total, both.text_bytes) == (2, 8, 5, 8)
    assert repr(both) == "<PretokenCounts of one, two: 5 distinct, 5 in all>"


def test_weights_round_to_the_nearest_and_halves_go_up() -> None:
    counts = counts_of("a a a a a b b c".replace(" ", "\n"), split_pattern="[a-z]")
    weights: list[tuple[float | Fraction, dict[bytes, int]]] = [
        (2, {b"\n": 14, b"a": 10, b"b": 4, b"c": 2}),
        (0.5, {b"\n": 4, b"a": 3, b"b": 1, b"c": 1}),
        (0.1, {b"\n": 1, b"a": 1}),
        (Fraction(1, 3), {b"\n": 2, b"a": 2, b"b": 1}),
        (0, {}),
    ]

    assert {weight: dict(counts.weighted(weight)) for weight, _ in weights} == dict(weights)


@pytest.mark.parametrize("weight", [-1, float("nan"), float("inf"), 1e300, 1e-300, 2**64])
def test_weights_that_are_no_weights_are_refused(weight: float) -> None:
    with pytest.raises(ValueError, match=r"is no finite number|is out of range; give a number of at least 0"):
        counts_of("a").weighted(weight)


def test_a_weight_that_makes_a_count_too_large_is_refused() -> None:
    with pytest.raises(ValueError, match=r"the count 3 times the weight 9223372036854775808/1 is more than 2\^64 - 1"):
        counts_of("aaa", split_pattern="[a]").weighted(2**63)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"split_pattern": "llama3"}, "split pattern 'gpt2' and of the split pattern 'llama3'"),
        ({"normalizer": "NFC"}, 'normalizer null and {"type": "NFC"}'),
        ({"max_pretoken_bytes": 99}, "max_pretoken_bytes 4096 and 99"),
        ({"alphabet": "characters", "split_pattern": None}, "Metaspace"),
    ],
)
def test_counts_of_different_settings_refuse_to_be_added(options: dict[str, Any], told: str) -> None:
    with pytest.raises(CountsError, match="counts of one and two can't be added") as raised:
        counts_of("a", name="one") + counts_of("a", name="two", **options)

    assert told in str(raised.value)
    with pytest.raises(CountsError, match="give at least one"):
        PretokenCounts.sum([])
    with pytest.raises(TypeError):
        counts_of("a") + 1  # type: ignore[operator]


def test_training_refuses_counts_of_other_settings() -> None:
    counts = counts_of("low lower")

    with pytest.raises(CountsError, match=r"don't go together.*'gpt2' and of the split pattern 'llama3'"):
        trained(counts, split_pattern="llama3")
    with pytest.raises(CountsError, match=r"don't go together.*normalizer null and"):
        trained(counts, normalizer="NFC")
    with pytest.raises(CountsError, match="counts are for alphabet='bytes', and alphabet='characters' is asked"):
        trained(counts, alphabet="characters")
    with pytest.raises(CountsError, match="counts and the tokenizer don't go together"):
        hf_bpe.train(["a"], vocab_size=257, progress=False).train_new_from_iterator(counts, vocab_size=258)


@pytest.mark.parametrize(
    "option",
    [{"text_column": "body"}, {"skip_bad_rows": False}, {"num_threads": 2}],
    ids=lambda option: next(iter(option)),
)
def test_options_of_reading_are_refused_beside_counts(option: dict[str, Any]) -> None:
    counts = counts_of("low lower")
    name, value = next(iter(option.items()))
    told = rf"^{name}={value!r} is for texts, and these counts are made already: leave it out$"

    for source in ({"source": counts}, {"sources": {"a": counts, "b": counts}}):
        with pytest.raises(ValueError, match=told):
            hf_bpe.train(**source, vocab_size=258, progress=False, split_pattern="gpt2", **option)
    mixed = {"a": counts, "b": ["low lower"]}
    assert len(hf_bpe.train(sources=mixed, vocab_size=258, progress=False, split_pattern="gpt2", **option)) == 258


@pytest.mark.parametrize("option", [{"length": 5}, {"num_threads": 2}], ids=lambda option: next(iter(option)))
def test_options_of_reading_are_refused_beside_counts_to_train_anew_from(option: dict[str, Any]) -> None:
    tokenizer = hf_bpe.train(["low lower"] * 2, vocab_size=257, progress=False)
    counts = PretokenCounts.count(["low lower"], tokenizer=tokenizer, progress=False)

    with pytest.raises(ValueError, match=rf"^{next(iter(option))}=\d is for texts, and these counts are made already"):
        tokenizer.train_new_from_iterator(counts, 258, **option)


def test_another_length_of_pretokens_than_that_of_counts_is_refused() -> None:
    counts = counts_of("low lower", max_pretoken_bytes=9)
    tokenizer = hf_bpe.train(["low lower"] * 2, vocab_size=257, progress=False, split_pattern="gpt2")
    told = "don't go together: they have different settings, max_pretoken_bytes 9 and 8"

    for source in ({"source": counts}, {"sources": {"a": counts, "b": ["low"]}}):
        with pytest.raises(CountsError, match=told):
            hf_bpe.train(**source, vocab_size=258, max_pretoken_bytes=8, progress=False)
        with pytest.raises(CountsError, match="max_pretoken_bytes 9 and None"):
            hf_bpe.train(**source, vocab_size=258, max_pretoken_bytes=None, progress=False)
    with pytest.raises(CountsError, match=told):
        tokenizer.train_new_from_iterator(counts, 258, max_pretoken_bytes=8)
    assert trained(counts, vocab_size=258) == trained(counts, vocab_size=258, max_pretoken_bytes=9)


def test_training_anew_takes_the_counts_of_its_own_pipeline() -> None:
    texts = ["low lower lowest"] * 9
    old = hf_bpe.train(texts, vocab_size=260, normalizer="NFC", progress=False)

    counts = PretokenCounts.count(texts, tokenizer=old, progress=False)
    new = old.train_new_from_iterator(counts, vocab_size=263, show_progress=False)

    assert counts.settings.split_pattern == "llama3"
    expected = old.train_new_from_iterator(texts, vocab_size=263, show_progress=False)
    assert new._core.to_json() == expected._core.to_json()
    with pytest.raises(ValueError, match="normalizer='NFC' and a tokenizer both say how texts are cut"):
        PretokenCounts.count(texts, tokenizer=old, normalizer="NFC", progress=False)


def test_counts_of_characters_are_trained_from() -> None:
    texts = ["low lower 語"] * 9
    counts = PretokenCounts.count(texts, alphabet="characters", progress=False)

    options = {"alphabet": "characters", "vocab_size": 20}
    assert trained(counts, **options) == trained(texts, **options)


# Files


def test_saved_counts_are_the_same_when_loaded(tmp_path: Path) -> None:
    counts = counts_of(*many_texts(), "", "\0", "\ufffe", name="näme")

    for number, memory in enumerate((None, 0)):
        path = tmp_path / f"{number}.parquet"
        counts.save(path)
        loaded = PretokenCounts.load(path, max_memory=memory)
        assert (loaded, loaded.sources, loaded.report) == (counts, ("näme",), counts.report)
        assert loaded.settings == counts.settings
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["0.parquet", "1.parquet"]
    assert (tmp_path / "0.parquet").read_bytes() == (tmp_path / "1.parquet").read_bytes()


def test_no_counts_are_counts_too(tmp_path: Path) -> None:
    counts = counts_of()
    counts.save(tmp_path / "none.parquet")

    assert PretokenCounts.load(tmp_path / "none.parquet") == counts
    assert (len(counts), list(counts), counts.most_common()) == (0, [], [])


def test_a_torn_file_of_counts_is_refused(tmp_path: Path) -> None:
    counts_of(*many_texts(200)).save(tmp_path / "whole.parquet")
    whole = (tmp_path / "whole.parquet").read_bytes()
    torn = tmp_path / "torn.parquet"

    for end in (0, 3, 4, 100, len(whole) // 2, len(whole) - 1):
        torn.write_bytes(whole[:end])
        with pytest.raises(CountsError, match="is damaged, or no file of counts"):
            PretokenCounts.load(torn)
    with pytest.raises(FileNotFoundError, match="no file"):
        PretokenCounts.load(tmp_path / "absent.parquet")


def test_no_changed_byte_changes_counts_in_silence(tmp_path: Path) -> None:
    counts = counts_of(*many_texts(50), name="a")
    counts.save(tmp_path / "whole.parquet")
    whole = (tmp_path / "whole.parquet").read_bytes()
    draw = random.Random(1)
    refused = 0

    for at in draw.sample(range(len(whole)), 150):
        changed = bytearray(whole)
        changed[at] ^= 1 << draw.randrange(8)
        (tmp_path / "changed.parquet").write_bytes(changed)
        try:
            loaded = PretokenCounts.load(tmp_path / "changed.parquet")
        except (CountsError, OSError):
            refused += 1
        else:
            assert (loaded, loaded.sources, loaded.report) == (counts, counts.sources, counts.report)

    assert refused > 75


def test_a_file_of_another_kind_or_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"pretoken": [b"a"], "count": [1]}), path)
    with pytest.raises(CountsError, match=r"holds no counts of hf_bpe; PretokenCounts\.save writes such files"):
        PretokenCounts.load(path)

    counts_of("a b").save(path)
    table = pq.read_table(path)
    metadata = table.schema.metadata
    details = b"hf_bpe.pretoken_counts"
    for changed, told in [
        (table.replace_schema_metadata({details: b"{}"}), "don't have the checksum"),
        (table.slice(1), "it has distinct=1, and says 2"),
        (
            table.rename_columns(["pretoken", "number"]).replace_schema_metadata(metadata),
            "its columns are 'pretoken', 'number'",
        ),
        (table.take([1, 0]), "entry 1 doesn't come after the one before it"),
    ]:
        pq.write_table(changed, path)
        with pytest.raises(CountsError, match=told):
            PretokenCounts.load(path)


def test_the_file_says_how_texts_were_cut(tmp_path: Path) -> None:
    counts_of("a b", name="one", normalizer="NFC").save(tmp_path / "a.parquet")

    metadata = pq.read_schema(tmp_path / "a.parquet").metadata
    details = json.loads(metadata[b"hf_bpe.pretoken_counts"])

    assert details["split_pattern"] == "gpt2"
    assert details["normalizer"] == {"type": "NFC"}
    assert details["sources"] == ["one"]
    assert (details["texts"], details["bytes"], details["max_pretoken_bytes"]) == (1, 3, 4096)
    assert set(details["unicode"]) == {"normalizer", "pre_tokenizer"}
    assert pq.read_table(tmp_path / "a.parquet").to_pydict() == {"pretoken": [b" b", b"a"], "count": [1, 1]}


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.parquet"
    counts_of("a").save(path)
    before = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        counts_of("b").save(path)

    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


# Bounds


def test_sizes_are_numbers_or_texts_with_a_unit() -> None:
    sizes = {"8MB": 8_000_000, " 1.5 GiB": 3 << 29, "10": 10, "2k": 2000, "1TB": 10**12, 7: 7, "3 B": 3}

    assert {size: memory_size("max_memory", size) for size in sizes} == sizes
    assert CountingLimits.of().max_memory == machine_memory() // 4 > 0


@pytest.mark.parametrize("size", ["", "8 apples", "-1", "MB", -1, "1e3"])
def test_sizes_that_are_none_are_refused(size: str | int) -> None:
    with pytest.raises(ValueError, match=r"max_memory=.* (is no size; write a number of bytes|is out of range)"):
        counts_of("a", max_memory=size)


def test_limits_that_make_no_sense_are_refused() -> None:
    with pytest.raises(TypeError, match=r"max_memory is a number of bytes or a text such as '8MB', got 1.5"):
        counts_of("a", max_memory=1.5)
    with pytest.raises(ValueError, match="max_pretoken_bytes=3 has no room for a character"):
        counts_of("a", max_pretoken_bytes=3)
    with pytest.raises(ValueError, match="temporary_directory='no/such' is no directory"):
        counts_of("a", temporary_directory="no/such")
    with pytest.raises(ValueError, match="alphabet is 'bytes' or 'characters', got 'words'"):
        counts_of("a", alphabet="words")


def test_long_pretokens_are_cut_between_characters_and_told() -> None:
    text = "語" * 3000 + " low"

    with pytest.warns(UserWarning, match="1 pretokens were longer than 4,096 bytes and counted in parts"):
        counts = counts_of(text)
    assert dict(counts) == {"語".encode() * 1365: 2, "語".encode() * 270: 1, b" low": 1}
    assert counts.report.cut_pretokens == 1
    with pytest.warns(UserWarning, match="2 pretokens were longer than 4,096 bytes"):
        assert hf_bpe.train([text] * 2, vocab_size=260, progress=False).training_report.cut_pretokens == 2
    assert dict(counts_of(text, max_pretoken_bytes=None)) == {"語".encode() * 3000: 1, b" low": 1}


def test_nothing_is_cut_at_the_limit() -> None:
    counts = counts_of("a" * 4096)

    assert (dict(counts), counts.report.cut_pretokens) == ({b"a" * 4096: 1}, 0)


def test_a_chunk_that_lies_about_its_data_is_refused() -> None:
    builder = SortedCountsBuilder()
    number = (1).to_bytes(8, "little")

    with pytest.raises(ValueError, match="an entry lies outside the data: 0 to 9"):
        builder.push(b"a", bytes(8) + (9).to_bytes(8, "little"), number)
    builder.finish()
    with pytest.raises(RuntimeError, match="these counts are finished"):
        builder.push(b"a", bytes(8), number)


BOUNDED = """
import random, resource, sys
import hf_bpe
from hf_bpe import PretokenCounts
import warnings
warnings.simplefilter("ignore")

def words(kind):
    if kind == "a":
        yield "a" * 20_000_000
    elif kind == "chinese":
        draw = random.Random(1)
        for _ in range(80):
            yield "".join(map(chr, draw.choices(range(0x4E00, 0x9FA5), k=100_000)))
    else:
        for start in range(0, 2_000_000, 10_000):
            numbers = " ".join(f"{number * 2654435761 % 2**32:x}" for number in range(start, start + 10_000))
            yield numbers.translate({48 + digit: 103 + digit for digit in range(10)})  # to letters

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10

PretokenCounts.count(["a"], split_pattern="gpt2", progress=False)
before = peak()
counts = PretokenCounts.count(
    words(sys.argv[1]), split_pattern="gpt2", max_memory="16MB", num_threads=2, progress=False
)
print(peak() - before, len(counts), counts.report.bytes, counts._counts.in_file)
"""


@pytest.mark.parametrize(("kind", "most"), [("a", 120), ("chinese", 60), ("words", 60)])
def test_counting_stays_within_its_memory(kind: str, most: int) -> None:
    """16 MB for the table; the rest is for a batch of texts: the long one is there three times."""
    command = [sys.executable, "-c", BOUNDED, kind]
    result = subprocess.run(command, capture_output=True, text=True, check=True)

    grown, distinct, size, in_file = result.stdout.split()
    assert int(grown) < most << 20
    assert (int(distinct) > 1000, in_file) == (kind != "a", str(kind != "a"))
    assert int(size) > 16_000_000


def test_a_full_disk_is_a_clear_error_and_leaves_nothing(tmp_path: Path) -> None:
    """The size of files is limited for a child: as on a full disk, no write goes beyond it."""
    program = (
        "import resource, signal, hf_bpe\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))\n"
        "texts = [' '.join(map(str, range(start, start + 1000))) for start in range(0, 200_000, 1000)]\n"
        "options = {'split_pattern': 'gpt2', 'progress': False}\n"
        f"counts = hf_bpe.PretokenCounts.count(texts, max_memory=0, temporary_directory={str(tmp_path)!r}, **options)\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert result.returncode == 1
    assert f"go to a temporary file in {tmp_path}, and that failed" in result.stderr
    assert "set another temporary_directory or a larger max_memory" in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["normalizer", "pre_tokenizer", "max_pretoken_bytes", "unicode", "texts", "sources"])
@pytest.mark.parametrize("value", [-1, "x", [3], {"type": "Nope"}, {"type": "Split"}, True, 1.5, 2**70])
def test_forged_settings_are_refused_when_they_are_read(name: str, value: object, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    forge(path, counts_of("a b"), {name: value})

    if name == "unicode" and isinstance(value, dict):  # other versions, by their form
        assert PretokenCounts.load(path).settings.unicode == value
        return
    with pytest.raises(CountsError, match=rf"a\.parquet.*{name}"):
        PretokenCounts.load(path)


@pytest.mark.parametrize("name", ["normalizer", "pre_tokenizer", "unicode", "bad_rows", "sources", "total", "format"])
def test_settings_that_are_missing_are_told(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    forge(path, counts_of("a b"), {name: ...})

    with pytest.raises(CountsError, match=rf"a\.parquet .*{name}"):
        PretokenCounts.load(path)


@pytest.mark.parametrize(("text", "told"), [("[]", "but list"), ("{", "no JSON"), ("[" * 100_000, "no JSON")])
def test_settings_that_are_no_object_are_damage(text: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    forge(path, counts_of("a b"), text)

    with pytest.raises(CountsError, match=f"is damaged: its settings are .*{told}"):
        PretokenCounts.load(path)


def forge(path: Path, counts: PretokenCounts, changes: dict[str, Any] | str) -> None:
    """Write counts with other settings and the checksum of these; `...` leaves a setting out."""
    counts.save(path)
    table = pq.read_table(path)
    details = b"hf_bpe.pretoken_counts"
    if isinstance(changes, dict):
        told = json.loads(table.schema.metadata[details]) | changes
        changes = json.dumps({name: value for name, value in told.items() if value is not ...})
    checksum = hashlib.sha256(changes.encode()).hexdigest()
    pq.write_table(table.replace_schema_metadata({details: changes, details + b".sha256": checksum}), path)


def test_a_full_temporary_directory_is_not_called_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def __init__(self, **_: Any) -> None: ...

        def push(self, *_: object) -> None:
            raise OSError("counts that don't fit into max_memory go to a temporary file, and that failed")

    counts_of("a b").save(tmp_path / "a.parquet")
    monkeypatch.setattr("hf_bpe.pretoken_counts.storage.SortedCountsBuilder", Full)

    with pytest.raises(OSError, match=r"^counts that don't fit"):
        PretokenCounts.load(tmp_path / "a.parquet")


def test_a_full_disk_names_the_file_of_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("hf_bpe.whole_files.os.fsync", full)

    with pytest.raises(OSError, match=r"No space left on device: '.*/a\.parquet'"):
        counts_of("a b").save(tmp_path / "a.parquet")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("weight", [np.float64(0.5), np.float32(0.5), Decimal("0.5"), Fraction(1, 2)])
def test_weights_are_numbers_of_any_kind(weight: Any) -> None:
    assert list(counts_of("a a", "a").weighted(weight)) == [(b" a", 1), (b"a", 1)]
    assert counts_of("a").weighted(np.int64(3)).total == 3  # type: ignore[arg-type]


@pytest.mark.parametrize("weight", [True, "2", None, 1j])
def test_weights_that_are_no_numbers_are_a_type_error(weight: Any) -> None:
    with pytest.raises(TypeError, match=r"weight=.* is a .*; give a number"):
        counts_of("a").weighted(weight)


def test_arguments_of_a_wrong_type_are_told() -> None:
    for call, told in [
        (lambda: PretokenCounts.sum([1]), r"sum\(\) takes PretokenCounts, got int"),  # type: ignore[list-item]
        (lambda: counts_of("a", tokenizer="gpt2", split_pattern=None), r"takes a tokenizer of hf_bpe, .* got str"),
        (lambda: counts_of("a", name=3), "name is a str, got 3"),
        (lambda: counts_of("a").most_common("all"), "number is a whole number, got 'all'"),  # type: ignore[arg-type]
    ]:
        with pytest.raises(TypeError, match=told):
            call()  # type: ignore[no-untyped-call]
    assert counts_of("a b").most_common(2**70) == [(b" b", 1), (b"a", 1)]


def test_so_many_threads_that_they_fill_memory_are_refused() -> None:
    with pytest.raises(ValueError, match="num_threads=1000000000 is out of range; give at most 1,024"):
        counts_of("a", num_threads=10**9)


def test_the_name_of_a_file_need_not_be_utf8(tmp_path: Path) -> None:
    counts_of("a", name="\udcff.txt").save(tmp_path / "a.parquet")

    assert PretokenCounts.load(tmp_path / "a.parquet").sources == ("\udcff.txt",)


def test_counts_never_take_the_place_of_a_directory_or_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")

    for name in ("folder", "pipe"):
        with pytest.raises(ValueError, match=f"{name} is a directory or a device; counts are written to a file"):
            counts_of("a").save(tmp_path / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "pipe"]


def test_counts_are_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "a.parquet")
    counts_of("a").save(tmp_path / "link")

    assert (tmp_path / "link").is_symlink()
    assert PretokenCounts.load(tmp_path / "a.parquet") == counts_of("a")


def test_counts_that_are_read_as_texts_are_told(tmp_path: Path) -> None:
    counts_of("a").save(tmp_path / "a.parquet")

    with pytest.raises(hf_bpe.CorpusError, match=r"holds counts, not texts: .* --from-counts"):
        trained(tmp_path / "a.parquet")
