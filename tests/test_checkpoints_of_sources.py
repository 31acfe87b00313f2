"""Several sources that were stopped go on from their checkpoints, and give the vocabulary of a run that wasn't."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pytest
from stopping import DAMAGES, StopAfter, damage, kept, killed_at_random_moments

import hf_bpe
from hf_bpe import CorpusError, CountsError, HfBpeTokenizer, PretokenCounts
from hf_bpe.pretoken_counts import storage

DRAW = random.Random(7)
EN = [f"{DRAW.randrange(10**6)} the lowest{DRAW.randrange(3000)} tower of the town\n" for _ in range(3000)]
ZH = [f"最低的塔和最新的塔{DRAW.randrange(3000)} {DRAW.choice('高低大小新旧')}\n" for _ in range(2500)]
JA = [f"塔は{DRAW.choice('高低大小新旧')}い。{DRAW.randrange(3000)}\n" for _ in range(1500)]
BALANCES: list[dict[str, Any]] = [
    {},
    {"weights": {"en": 1, "zh": 3, "ja": 2}},
    {"temperature": 2.5, "quota": {"ja": 0.3}},
]


def train(sources: Any, **options: Any) -> HfBpeTokenizer:
    return hf_bpe.train(sources=sources, **({"vocab_size": 500, "split_pattern": "gpt2", "progress": False} | options))


def rows_of_shards(shards: list[int]) -> Iterator[dict[str, str]]:
    for shard in shards:
        for text in ZH[shard::4]:
            yield {"text": text}


def a_stream() -> Any:
    return datasets.IterableDataset.from_generator(rows_of_shards, gen_kwargs={"shards": [0, 1, 2, 3]})


def of_files(folder: Path) -> dict[str, Any]:
    """Return three sources of files of several kinds, which are written once."""
    rows = "".join(json.dumps({"text": text}) + "\n" for text in ZH)
    written = {"en.txt": "".join(EN), "zh.jsonl": rows, "ja-0.txt": "".join(JA[::2]), "ja-1.txt": "".join(JA[1::2])}
    for name, text in written.items():
        if not (folder / name).exists():
            (folder / name).write_text(text, encoding="utf-8")
    return {"en": folder / "en.txt", "zh": folder / "zh.jsonl", "ja": [folder / "ja-0.txt", folder / "ja-1.txt"]}


def of_all_kinds(folder: Path) -> dict[str, Any]:
    """Return three sources of texts, of a stream with a state, and of a table."""
    return {"en": iter(EN), "zh": a_stream(), "ja": pa.table({"text": [None, *JA]})}


def of_counts_and_texts(folder: Path) -> dict[str, Any]:
    """Return three sources, one of which is counted already."""
    counts = PretokenCounts.count(ZH, split_pattern="gpt2", progress=False)
    return {"en": EN, "zh": counts, "ja": datasets.Dataset.from_dict({"text": JA})}


SOURCES: list[Callable[[Path], dict[str, Any]]] = [of_files, of_all_kinds, of_counts_and_texts]


@pytest.mark.parametrize("balance", BALANCES, ids=str)
@pytest.mark.parametrize("make", SOURCES, ids=lambda make: make.__name__)
def test_any_stop_gives_the_vocabulary_of_a_run_without(
    make: Callable[[Path], dict[str, Any]],
    balance: dict[str, Any],
    tmp_path: Path,
    stop_after: StopAfter,
) -> None:
    whole = train(make(tmp_path), **balance)
    stops = tmp_path / "stops"
    where: dict[str, Any] = {"checkpoint_dir": stops, "resume_from": stops, "checkpoint_minutes": 0}

    last: set[str] = set()  # folders of the sources that a stop was in
    for number in (2, 4, 6, 5):
        with stop_after(number):
            train(make(tmp_path), **balance, **where)
        last.add(max(kept(stops), key=os.path.getmtime).parent.name)
    tokenizer = train(make(tmp_path), **balance, **where)

    assert len(last) > 1
    assert tokenizer._core.to_json() == whole._core.to_json()
    assert tokenizer.training_report == whole.training_report
    assert train(make(tmp_path), **balance, **where)._core.to_json() == whole._core.to_json()


def test_sources_that_are_done_are_not_read_again(tmp_path: Path, stop_after: StopAfter) -> None:
    stops = tmp_path / "stops"
    sources = of_files(tmp_path)
    whole = train(sources)
    train(sources, checkpoint_dir=stops)
    about = sources["en"].stat()
    sources["en"].write_text("x" * about.st_size, encoding="utf-8")
    os.utime(sources["en"], ns=(about.st_atime_ns, about.st_mtime_ns))

    assert train(sources, resume_from=stops)._core.to_json() == whole._core.to_json()


def test_another_balance_is_learned_from_the_same_checkpoints(tmp_path: Path) -> None:
    stops = tmp_path / "stops"
    train(of_files(tmp_path), checkpoint_dir=stops)

    tokenizer = train(of_files(tmp_path), resume_from=stops, quota={"ja": 0.2}, vocab_size=450)

    again = train(of_files(tmp_path), quota={"ja": 0.2}, vocab_size=450)
    assert tokenizer._core.to_json() == again._core.to_json()


def test_words_are_cut_by_a_segmenter_after_a_stop(tmp_path: Path, stop_after: StopAfter) -> None:
    options: dict[str, Any] = {"segmenter": lambda word: [len(word) // 2] if len(word) > 3 else [], "vocab_size": 400}
    with stop_after(4):
        train(of_files(tmp_path), **options, checkpoint_dir=tmp_path / "stops", checkpoint_minutes=0)

    tokenizer = train(of_files(tmp_path), **options, resume_from=tmp_path / "stops")

    assert tokenizer._core.to_json() == train(of_files(tmp_path), **options)._core.to_json()
    assert tokenizer._core.to_json() != train(of_files(tmp_path), vocab_size=400)._core.to_json()


def test_a_checkpoint_names_its_source(tmp_path: Path) -> None:
    train({"a/b": EN, "": ZH}, checkpoint_dir=tmp_path)

    assert [path.parent.name for path in kept(tmp_path)] == ["source-1", "source-2"]
    counts = [PretokenCounts.load(path) for path in kept(tmp_path)]
    assert [part.sources for part in counts] == [("a/b",), ("",)]
    assert counts[1] == PretokenCounts.count(ZH, split_pattern="gpt2", progress=False)


@pytest.fixture
def stopped(tmp_path: Path, stop_after: StopAfter) -> Path:
    """A folder with checkpoints of three sources of files, after the third one of the second source."""
    sources, folder = of_files(tmp_path), tmp_path / "stops"
    train({"en": sources["en"]}, checkpoint_dir=tmp_path / "en", checkpoint_minutes=0)
    number = int(kept(tmp_path / "en")[-1].stem.rpartition("-")[2])
    with stop_after(number + 3):
        train(sources, checkpoint_dir=folder, checkpoint_minutes=0)
    assert kept(folder)[-1] == folder / "source-2" / "checkpoint-00000003.parquet"
    return folder


@pytest.mark.parametrize("source", [1, 2])
@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_checkpoint_of_any_source_is_found_and_the_one_before_is_used(
    source: int, how: str, stopped: Path, tmp_path: Path
) -> None:
    newest = kept(stopped / f"source-{source}")[-1]
    damage(newest, how)

    with pytest.warns(UserWarning, match=rf"source-{source}.*{newest.name} is damaged.*gone on from: ") as warned:
        tokenizer = train(of_files(tmp_path), resume_from=stopped)

    assert {warning.filename for warning in warned} == {__file__}
    assert tokenizer._core.to_json() == train(of_files(tmp_path))._core.to_json()


CHANGES: list[tuple[Callable[[dict[str, Any], Path], dict[str, Any]], str]] = [
    (
        lambda sources, _: {name: sources[name] for name in ("zh", "en", "ja")},
        "its sources were 'en', 'zh', 'ja', in this order, and now they are 'zh', 'en', 'ja'. Pass what was counted",
    ),
    (lambda sources, _: {"en": sources["en"], "zh": sources["zh"]}, "and now they are 'en', 'zh'. Pass what was"),
    (lambda sources, _: sources | {"ko": JA}, "and now they are 'en', 'zh', 'ja', 'ko'. Pass what was counted then"),
    (lambda sources, _: {"en": sources["en"]}, "and now they are 'en'. Pass what was counted then"),
    (lambda sources, _: sources | {"ja": JA}, "source 'ja' had kind='files', and now it has kind='texts'. Pass what"),
    (lambda sources, folder: sources | {"ja": folder / "ja-1.txt"}, "ja-0.txt was counted where "),
    (lambda sources, _: sources | {"ja": sources["ja"][:1]}, "there were 2 files and there are 1. Pass what"),
]


@pytest.mark.parametrize(("change", "message"), CHANGES, ids=[str(number) for number in range(len(CHANGES))])
def test_sources_that_changed_are_refused_by_name(
    change: Callable[[dict[str, Any], Path], dict[str, Any]], message: str, stopped: Path, tmp_path: Path
) -> None:
    before = {path: path.read_bytes() for path in kept(stopped)}

    with pytest.raises(CountsError) as error:
        train(change(of_files(tmp_path), tmp_path), resume_from=stopped)

    assert message in str(error.value)
    assert "begin anew with another checkpoint_dir (--checkpoint-dir)" in str(error.value)
    assert "checkpoint-" in str(error.value)
    assert {path: path.read_bytes() for path in kept(stopped)} == before


def test_a_file_that_was_not_reached_yet_may_not_change_either(stopped: Path, tmp_path: Path) -> None:
    (tmp_path / "ja-1.txt").write_text("another", encoding="utf-8")

    with pytest.raises(CountsError, match=r"file .*ja-1\.txt had [\d,]+ bytes and has 7\."):
        train(of_files(tmp_path), resume_from=stopped)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"split_pattern": "llama3"}, "different settings, pre_tokenizer of the split pattern 'gpt2' and of"),
        ({"normalizer": "NFC"}, 'different settings, normalizer null and {"type": "NFC"}'),
        ({"max_pretoken_bytes": 9}, "different settings, max_pretoken_bytes 4096 and 9"),
        ({"skip_bad_rows": False}, "source 'en' had skip_bad_rows=True, and now it has skip_bad_rows=False"),
        ({"text_column": "t"}, "source 'en' had text_column='text', and now it has text_column='t'"),
    ],
)
def test_settings_that_changed_are_refused_by_name(
    options: dict[str, Any], message: str, stopped: Path, tmp_path: Path
) -> None:
    with pytest.raises(CountsError) as error:
        train(of_files(tmp_path), resume_from=stopped, **options)

    assert message in str(error.value)


def test_texts_of_a_source_that_changed_are_found_by_their_digest(tmp_path: Path, stop_after: StopAfter) -> None:
    with stop_after(2):
        train({"en": EN, "zh": ZH}, checkpoint_dir=tmp_path, checkpoint_minutes=0)

    with pytest.raises(CorpusError, match="aren't those that were counted before the stop"):
        train({"en": ["another", *EN[1:]], "zh": ZH}, resume_from=tmp_path)


def test_one_source_does_not_go_on_from_several_nor_they_from_it(stopped: Path, tmp_path: Path) -> None:
    one = tmp_path / "one"
    hf_bpe.train(EN, vocab_size=300, checkpoint_dir=one, progress=False)

    for where in (
        {"resume_from": stopped},
        {"checkpoint_dir": stopped},
        {"checkpoint_dir": stopped, "resume_from": one},
    ):
        with pytest.raises(CountsError, match="stops holds checkpoints of several sources, and one source is given"):
            hf_bpe.train(EN, vocab_size=300, progress=False, **where)
    with pytest.raises(
        CountsError, match=r"one can't be gone on from: it is of one source alone, and now there are 'en'"
    ):
        train({"en": EN, "zh": ZH}, resume_from=one)
    with pytest.raises(CountsError, match=r"one holds checkpoints; pass resume_from='.*one' \(--resume-from\)"):
        train({"en": EN, "zh": ZH}, checkpoint_dir=one)


def test_checkpoints_of_sources_are_not_written_over(stopped: Path, tmp_path: Path) -> None:
    sources = of_files(tmp_path)

    with pytest.raises(CountsError, match=r"stops holds checkpoints; pass resume_from='.*stops' \(--resume-from\)"):
        train(sources, checkpoint_dir=stopped)
    train(sources, checkpoint_dir=tmp_path / "others")
    with pytest.raises(CountsError, match="stops holds checkpoints"):
        train(sources, checkpoint_dir=stopped, resume_from=tmp_path / "others")


def test_going_on_in_another_folder_leaves_the_first_and_makes_the_second_whole(stopped: Path, tmp_path: Path) -> None:
    sources, other = of_files(tmp_path), tmp_path / "other"
    before = {path: path.read_bytes() for path in kept(stopped)}

    tokenizer = train(sources, resume_from=stopped, checkpoint_dir=other)

    assert {path: path.read_bytes() for path in kept(stopped)} == before
    assert {path.parent.name for path in kept(other)} == {"source-1", "source-2", "source-3"}
    assert all(storage.details_of(path)["checkpoint"]["complete"] for path in kept(other))
    assert (
        train(sources, resume_from=other)._core.to_json() == tokenizer._core.to_json() == train(sources)._core.to_json()
    )


def test_sources_without_a_checkpoint_are_not_begun_anew(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    with pytest.raises(CountsError, match=r"there is no folder '.*mistyped' to go on from"):
        train({"a": EN, "b": ZH}, resume_from=tmp_path / "mistyped")
    with pytest.raises(CountsError, match=r"there is no checkpoint in .*empty to go on from"):
        train({"a": EN, "b": ZH}, resume_from=tmp_path / "empty", checkpoint_dir=tmp_path / "other")
    assert [*tmp_path.rglob("*")] == [tmp_path / "empty"]


def test_sources_that_are_all_counted_need_no_checkpoints(tmp_path: Path) -> None:
    counts = PretokenCounts.count(EN, split_pattern="gpt2", progress=False)

    with pytest.raises(ValueError, match="are for counting, and these counts are made already"):
        train({"a": counts, "b": counts}, checkpoint_dir=tmp_path / "stops")
    assert not (tmp_path / "stops").exists()


def test_two_processes_do_not_share_a_folder_of_sources(tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    with (tmp_path / "lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)

        with pytest.raises(CountsError, match="another process writes checkpoints to"):
            train({"a": EN, "b": ZH}, checkpoint_dir=tmp_path)


def test_a_source_that_can_not_be_read_is_told_before_another_is_counted(tmp_path: Path) -> None:
    def texts() -> Iterator[str]:
        raise AssertionError("a text was read")
        yield ""

    with pytest.raises(FileNotFoundError, match="there is no file"):
        train({"a": texts(), "b": tmp_path / "none.txt"})


@pytest.mark.skipif(os.name == "nt", reason="processes are killed by a signal")
def test_a_command_that_is_killed_in_each_source_trains_the_same_tokenizer(tmp_path: Path) -> None:
    draw, stops = random.Random(11), tmp_path / "stops"
    for name in "abc":
        lines = [" ".join(f"{name}{draw.randrange(5000)}" for _ in range(12)) + "\n" for _ in range(20_000)]
        (tmp_path / f"{name}.txt").write_text("".join(lines * 25), encoding="utf-8")
    common = [sys.executable, "-m", "hf_bpe.cli", "train", "--no-progress", "--vocab-size", "600"]
    common += [part for name in "abc" for part in ("--source", f"{name}={tmp_path / f'{name}.txt'}")]
    common += ["--split-pattern", "gpt2", "--weight", "a=1", "--weight", "b=2", "--weight", "c=3", "--quota", "c=0.4"]
    where = ["--checkpoint-dir", str(stops), "--resume-from", str(stops), "--checkpoint-minutes", "0"]
    command = [*common, "--out", str(tmp_path / "killed"), *where]

    kills = [killed_at_random_moments(command, stops / f"source-{at}", seed=at, times=2) for at in (1, 2, 3)]
    subprocess.run(command, check=True, capture_output=True)
    subprocess.run([*common, "--out", str(tmp_path / "whole")], check=True, capture_output=True)

    assert kills == [2, 2, 2]
    names = sorted(path.name for path in (tmp_path / "whole").iterdir())
    assert [(tmp_path / "killed" / name).read_bytes() for name in names] == [
        (tmp_path / "whole" / name).read_bytes() for name in names
    ]
