"""Sources of text: strings, Arrow, datasets, files. Each is read once and gives the same counts."""

from __future__ import annotations

import json
from collections import Counter as Tally
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tokenizers import pre_tokenizers, trainers
from trainings import Merges, counter, quietly, stdlib_sources, stock_pipeline

from hf_bpe.byte_alphabet import bytes_to_token

SENTENCES = [
    "low lower lowest",
    "",
    "new newer newest \n",
    "wide\rwider\u2028widest\ufeff",
    "naïve 你好 🙂",
    "x" * 50,
] * 3


def expected_report(texts: list[str], nulls: int = 0) -> tuple[int, int, int]:
    return len(texts), nulls, sum(len(text.encode()) for text in texts)


def trained(source: Any = None, **options: Any) -> tuple[Merges, tuple[int, int, int]]:
    tokenizer = quietly(source, vocab_size=300, split_pattern="gpt2", **options)
    report = tokenizer.training_report
    return tokenizer._core.merges(), (report.texts, report.null_rows, report.bytes)


@pytest.fixture(scope="module")
def expected() -> Merges:
    return trained(list(SENTENCES))[0]


def test_strings_come_one_by_one_or_in_lists(expected: Merges) -> None:
    batches = [SENTENCES[:5], [], SENTENCES[5:6], tuple(SENTENCES[6:])]

    assert trained(iter(SENTENCES)) == (expected, expected_report(SENTENCES))
    assert trained(iter(batches)) == (expected, expected_report(SENTENCES))
    assert trained([None, *SENTENCES, [None]]) == (expected, expected_report(SENTENCES, nulls=2))


def test_a_str_is_one_text_even_when_it_names_a_file(tmp_path: Path) -> None:
    file = tmp_path / "corpus.txt"
    file.write_text("abab")

    assert trained(str(file))[1] == expected_report([str(file)])


def arrow_columns() -> dict[str, Callable[[], Any]]:
    pa = pytest.importorskip("pyarrow")
    rows = [None, *SENTENCES[:7], None, *SENTENCES[7:]]
    plain = pa.array(rows)
    return {
        "string": lambda: plain,
        "large_string": lambda: plain.cast(pa.large_string()),
        "string_view": lambda: plain.cast(pa.string_view()),
        "dictionary": lambda: plain.dictionary_encode(),
        "chunked": lambda: pa.chunked_array([rows[:3], [], rows[3:4], rows[4:]], pa.string()),
        "sliced": lambda: pa.array(["zzz", None, *rows, "zzz"]).slice(2, len(rows)),
        "table": lambda: pa.table({"other": range(len(rows)), "text": rows}),
        "sliced table": lambda: pa.table({"text": [None, "zzz", *rows]}).slice(2),
        "record batch": lambda: pa.record_batch({"text": rows}),
        "reader": lambda: pa.table({"text": rows}).to_reader(max_chunksize=4),
    }


@pytest.mark.parametrize("kind", sorted(arrow_columns()))
def test_arrow_data_of_any_shape_gives_the_same_merges(kind: str, expected: Merges) -> None:
    assert trained(arrow_columns()[kind]()) == (expected, expected_report(SENTENCES, nulls=2))


def test_arrow_columns_without_texts_are_empty_corpora() -> None:
    pa = pytest.importorskip("pyarrow")

    assert trained(pa.array([], pa.string())) == ([], (0, 0, 0))
    assert trained(pa.chunked_array([], pa.string())) == ([], (0, 0, 0))
    assert trained(pa.array([None, None])) == ([], (0, 2, 0))
    assert trained(pa.array([None, None], pa.string())) == ([], (0, 2, 0))
    assert trained(pa.array(["", None, ""])) == ([], (2, 1, 0))


def test_large_arrow_columns_are_cut_into_batches() -> None:
    pa = pytest.importorskip("pyarrow")
    rows = [f"{number} lines of text, or {number % 7}" * 10 if number % 3 else None for number in range(40_000)]
    texts = [row for row in rows if row is not None]

    assert trained(pa.array(rows)) == (trained(texts)[0], expected_report(texts, nulls=len(rows) - len(texts)))


def test_damaged_arrow_data_names_the_row() -> None:
    counts = counter()
    offsets = b"".join(offset.to_bytes(4, "little") for offset in (0, 1, 3, 2))

    with pytest.raises(ValueError, match="row 1 of the Arrow column is not valid UTF-8 at byte 1"):
        counts.count_arrow(b"ab\xff", offsets, None, data_start=0, first_bit=0, length=2, large=False)
    with pytest.raises(ValueError, match="row 2 of the Arrow column points outside its data"):
        counts.count_arrow(b"abc", offsets, None, data_start=0, first_bit=0, length=3, large=False)
    with pytest.raises(ValueError, match="row 3 of the Arrow column has no valid offsets"):
        counts.count_arrow(b"abc", offsets[:8] + offsets[4:12], None, data_start=0, first_bit=0, length=9, large=False)


def test_a_column_of_something_else_is_refused() -> None:
    pa = pytest.importorskip("pyarrow")

    with pytest.raises(TypeError, match="the column holds int64; training reads strings"):
        trained(pa.table({"text": [1, 2]}))


def test_an_unknown_column_is_refused_with_the_known_ones() -> None:
    pa = pytest.importorskip("pyarrow")
    datasets = pytest.importorskip("datasets")
    rows = {"title": ["a"], "body": ["b"]}

    for source in (pa.table(rows), pa.table(rows).to_reader(), datasets.Dataset.from_dict(rows)):
        with pytest.raises(ValueError, match="no column 'text'; choose a text_column among 'title', 'body'"):
            trained(source)


def test_datasets_and_their_streams_give_the_same_merges(expected: Merges, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    rows = [None, *SENTENCES]
    report = expected_report(SENTENCES, nulls=1)
    table = datasets.Dataset.from_dict({"id": range(len(rows)), "text": rows})
    with (tmp_path / "rows.jsonl").open("w") as file:
        file.writelines(json.dumps({"id": 1, "body": row}) + "\n" for row in rows)
    load = {"path": "json", "data_files": str(tmp_path / "rows.jsonl"), "split": "train", "streaming": True}

    assert trained(table) == (expected, report)
    assert trained(table.shuffle(seed=1)) == (expected, report)
    assert trained(table.to_iterable_dataset(num_shards=3)) == (expected, report)
    assert trained(table.to_iterable_dataset().shuffle(seed=1, buffer_size=4)) == (expected, report)
    assert trained(datasets.load_dataset(**load, cache_dir=str(tmp_path)), text_column="body") == (expected, report)


def test_a_generated_stream_is_read_once(expected: Merges) -> None:
    datasets = pytest.importorskip("datasets")
    reads = []

    def rows() -> Iterator[dict[str, str]]:
        reads.append(1)
        yield from ({"text": text} for text in SENTENCES)

    assert trained(datasets.IterableDataset.from_generator(rows)) == (expected, expected_report(SENTENCES))
    assert len(reads) == 1


def test_a_generated_stream_may_hold_nulls(expected: Merges) -> None:
    datasets = pytest.importorskip("datasets")

    def rows() -> Iterator[dict[str, Any]]:
        yield {"text": None, "number": None}
        for number, text in enumerate(SENTENCES):
            yield {"text": text, "number": number}
            yield {"text": None, "number": None}

    stream = datasets.IterableDataset.from_generator(rows)
    nulls = 1 + len(SENTENCES)
    features = datasets.Features({"text": datasets.Value("string"), "number": datasets.Value("int64")})

    assert trained(stream) == (expected, expected_report(SENTENCES, nulls))
    assert trained(stream.with_format("numpy")) == (expected, expected_report(SENTENCES, nulls))
    assert trained(stream.map(lambda row: row)) == (expected, expected_report(SENTENCES, nulls))
    assert trained(stream.cast(features)) == (expected, expected_report(SENTENCES, nulls))
    with pytest.raises(ValueError, match="there is no column 'body'; choose a text_column among 'text', 'number'"):
        trained(stream, text_column="body")
    with pytest.raises(TypeError, match="the column holds int; training reads strings"):
        trained(stream, text_column="number")


@pytest.mark.parametrize("name", ["DatasetDict", "IterableDatasetDict"])
def test_several_datasets_ask_for_a_split(name: str) -> None:
    datasets = pytest.importorskip("datasets")
    split = datasets.Dataset.from_dict({"text": ["a"]})
    split = split.to_iterable_dataset() if name.startswith("Iterable") else split

    with pytest.raises(TypeError, match=f"a {name} holds several datasets; choose one of its splits: 'train', 'test'"):
        trained(getattr(datasets, name)({"train": split, "test": split}))


class Frame:
    columns = ("text",)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (5, "a source is a str, an iterable of str .* or files=.*; got int"),
        (b"bytes", "got bytes"),
        ({"text": ["a"]}, "got dict"),
        (Frame(), "a Frame has columns; pass one of them"),
        ([{"text": "a"}], "item 0 of the source is a dict, not a str or a list of str; take the text out of each row"),
        (["a", 5], "item 1 of the source is a int"),
        ([["a"], ["b", b"c"]], "item 1 of the source is a list whose item 1 is a bytes"),
        ([Path("a")], "pass paths as files="),
    ],
)
def test_other_sources_are_refused_with_what_is_accepted(source: object, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        trained(source)


def test_one_of_source_and_files_is_needed() -> None:
    with pytest.raises(TypeError, match="give either a source or files"):
        trained()
    with pytest.raises(TypeError, match="give either a source or files"):
        trained(["a"], files=["b"])
    with pytest.raises(TypeError, match="files is a list of paths"):
        trained(files="corpus.txt")


def test_files_are_read_as_stock_reads_them(tmp_path: Path) -> None:
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    first.write_bytes("\ufeffone two\r\nthree\rfour\u2028five\u0085six\n\n\nseven \n".encode())
    second.write_bytes(b" no newline at the end\nlast last last" * 3)
    stock = stock_pipeline()
    trainer = trainers.BpeTrainer(
        vocab_size=300, min_frequency=2, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )

    stock.train([str(first), str(second)], trainer)
    merges = [tuple(pair) for pair in json.loads(stock.to_str())["model"]["merges"]]

    assert trained(files=[first, str(second)])[0] == merges
    assert trained(first)[1] == (5, 0, first.stat().st_size)


def test_a_file_longer_than_a_batch_is_cut_at_lines_only(tmp_path: Path) -> None:
    file = tmp_path / "long.txt"
    lines = [f"line {number} of {'many words ' * (number % 50)}\n" for number in range(30_000)]
    lines.insert(100, "a single line " * 700_000 + "\n")
    file.write_text("".join(lines))

    assert trained(file) == trained(lines)


def test_a_file_that_is_not_utf8_names_the_line_and_the_byte(tmp_path: Path) -> None:
    file = tmp_path / "latin.txt"
    file.write_bytes(b"first line\nna\xefve\n")

    with pytest.raises(ValueError, match=r"latin\.txt, line 2: isn't UTF-8 at byte 2"):
        trained(file, skip_bad_rows=False)
    with pytest.raises(FileNotFoundError):
        trained(files=[file, tmp_path / "absent.txt"])


def test_surrogates_become_what_they_stand_for() -> None:
    assert counted(["\ud83d\ude42 \udc00x"]) == counted(["🙂 \ufffdx"])


def counted(texts: list[str]) -> list[tuple[bytes, int]]:
    counts = counter()
    counts.count(texts)
    return counts.counts()


def test_counting_equals_counting_the_splits_of_stock() -> None:
    texts = [*stdlib_sources(50_000), *SENTENCES, "\x00\u0300e\u0301 👩‍👩‍👧 \U000e0001\U0010ffff"]
    split = stock_pipeline().pre_tokenizer.pre_tokenize_str

    tally = Tally(piece for text in texts for piece, _ in split(text))

    assert {bytes_to_token(pretoken): count for pretoken, count in counted(texts)} == tally
