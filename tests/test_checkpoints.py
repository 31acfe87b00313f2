"""Counting that was stopped goes on from a checkpoint, and gives the counts and the vocabulary of a run that wasn't."""

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
import pyarrow.parquet as pq
import pytest
from stopping import DAMAGES, StopAfter, damage, kept, killed_at_random_moments

import hf_bpe
from hf_bpe import CorpusError, CountsError, PretokenCounts
from hf_bpe.limits import CountingLimits
from hf_bpe.pretoken_counts import storage

DRAW = random.Random(5)
TEXTS = [
    f"{DRAW.randrange(10**6)} word{DRAW.randrange(3000)} {DRAW.choice('äöü語😀')} low lower\n" for _ in range(7000)
]


def count(source: Any = None, **options: Any) -> PretokenCounts:
    return PretokenCounts.count(source, **({"split_pattern": "gpt2", "progress": False} | options))


def arrow_stream(shards: int = 3) -> Any:
    return datasets.Dataset.from_dict({"text": TEXTS, "n": [*range(len(TEXTS))]}).to_iterable_dataset(shards)


def rows_of_shards(shards: list[int]) -> Iterator[dict[str, str]]:
    for shard in shards:
        for text in TEXTS[shard::4]:
            yield {"text": text}


def generated_stream() -> Any:
    return datasets.IterableDataset.from_generator(rows_of_shards, gen_kwargs={"shards": [0, 1, 2, 3]})


def shuffled_stream(seed: int | None = 1) -> Any:
    return arrow_stream().shuffle(seed=seed, buffer_size=500)


def interleaved_stream() -> Any:
    halves = [arrow_stream().filter(lambda row, rest=rest: row["n"] % 2 == rest) for rest in (0, 1)]
    return datasets.interleave_datasets(halves, stopping_strategy="all_exhausted")


def mapped_stream() -> Any:
    def doubled(rows: dict[str, list[str]]) -> dict[str, list[str]]:
        return {"text": [text for text in rows["text"] for _ in range(2)]}

    return arrow_stream().map(doubled, batched=True, batch_size=70, remove_columns=["n"])


SOURCES: dict[str, Callable[[], Any]] = {
    "a list": lambda: TEXTS,
    "a list with nulls": lambda: [None, *TEXTS, None],
    "a generator of lists": lambda: (TEXTS[at : at + 9] for at in range(0, len(TEXTS), 9)),
    "a table": lambda: pa.table({"text": pa.array([None, *TEXTS], pa.large_string())}),
    "a chunked column": lambda: pa.chunked_array([TEXTS[:3000], TEXTS[3000:]]),
    "a dataset": lambda: datasets.Dataset.from_dict({"text": [None, *TEXTS]}),
    "a shuffled dataset": lambda: datasets.Dataset.from_dict({"text": TEXTS}).shuffle(seed=3),
    "a stream of tables": arrow_stream,
    "a stream of rows": generated_stream,
    "a stream with a shuffle buffer": shuffled_stream,
    "a stream of two": interleaved_stream,
    "a stream mapped in batches": mapped_stream,
}


@pytest.mark.parametrize("name", SOURCES)
def test_any_source_goes_on_to_the_same_counts(name: str, tmp_path: Path, stop_after: StopAfter) -> None:
    whole = count(SOURCES[name]())
    where: dict[str, Any] = {"checkpoint_dir": tmp_path, "checkpoint_minutes": 0, "resume_from": tmp_path}

    for number in (2, 1, 3):
        with stop_after(number):
            count(SOURCES[name](), **where)
    counts = count(SOURCES[name](), **where)

    assert counts == whole
    assert counts.report == whole.report
    assert len(kept(tmp_path)) == 2
    assert count(SOURCES[name](), **where) == whole


def write_jsonl(path: Path, texts: list[str]) -> None:
    rows = [json.dumps({"text": text}) for text in texts]
    path.write_text("\n".join([*rows[:5], "no JSON", "", *rows[5:]]), encoding="utf-8")


FILES: dict[str, Callable[[Path, list[str]], object]] = {
    "a.txt": lambda path, texts: path.write_text("".join(texts) + "an end", encoding="utf-8"),
    "a.jsonl": write_jsonl,
    "a.parquet": lambda path, texts: pq.write_table(pa.table({"text": texts}), path, row_group_size=1500),
}


@pytest.mark.filterwarnings("ignore:2 of 7,004 rows hold no text")
@pytest.mark.parametrize("name", FILES)
def test_files_go_on_from_a_row_to_the_same_vocabulary(name: str, tmp_path: Path, stop_after: StopAfter) -> None:
    for part in range(2):
        FILES[name](tmp_path / f"{part}{name}", TEXTS[part::2])
    options: dict[str, Any] = {"files": [tmp_path / f"*{name}"], "skip_bad_rows": True, "progress": False}
    whole = hf_bpe.train(**options, vocab_size=900)
    where = {"checkpoint_minutes": 0, "resume_from": tmp_path / "stops", "checkpoint_dir": tmp_path / "stops"}

    for number in (2, 1, 3):
        with stop_after(number):
            hf_bpe.train(**options, vocab_size=900, **where)
    tokenizer = hf_bpe.train(**options, vocab_size=900, **where)

    assert tokenizer._core.to_json() == whole._core.to_json()
    assert tokenizer.training_report == whole.training_report


def spilled_in(path: Path) -> int:
    return PretokenCounts.load(path).report.spilled_bytes


def test_what_went_to_temporary_files_is_told_across_stops(tmp_path: Path, stop_after: StopAfter) -> None:
    options: dict[str, Any] = {"max_memory": 0, "progress": False, "checkpoint_minutes": 0}
    where: dict[str, Any] = {"checkpoint_dir": tmp_path, "resume_from": tmp_path}
    with stop_after(5):
        hf_bpe.train(TEXTS, vocab_size=300, **options, **where)
    before = spilled_in(kept(tmp_path)[-1])

    report = hf_bpe.train(TEXTS, vocab_size=300, **options, **where).training_report

    assert report.spilled_bytes == spilled_in(kept(tmp_path)[-1]) > before > 1_000
    assert hf_bpe.train(TEXTS, vocab_size=290, **options, **where).training_report.spilled_bytes == report.spilled_bytes


def test_what_went_to_temporary_files_is_kept_with_counts(tmp_path: Path) -> None:
    counts = count(TEXTS, max_memory=0)
    counts.save(tmp_path / "counts.parquet")

    assert spilled_in(tmp_path / "counts.parquet") == counts.report.spilled_bytes > 10_000
    assert (counts + counts).report.spilled_bytes == 2 * counts.report.spilled_bytes
    for source in ({"source": counts}, {"sources": {"many": counts, "few": ["few"]}}):
        report = hf_bpe.train(**source, vocab_size=300, progress=False, split_pattern="gpt2").training_report
        assert report.spilled_bytes == counts.report.spilled_bytes


def test_checkpoints_of_before_spilled_bytes_were_kept_are_gone_on_from(stopped: Path, tmp_path: Path) -> None:
    newest = kept(stopped)[-1]
    counts, details = storage.read(newest, CountingLimits.of())
    del details["spilled_bytes"]
    storage.write(newest, counts, details)

    assert spilled_in(newest) == 0
    assert count(files=[tmp_path / "a.txt"], resume_from=stopped) == count(files=[tmp_path / "a.txt"])


def test_other_vocabularies_are_learned_from_the_last_checkpoint(tmp_path: Path) -> None:
    hf_bpe.train(TEXTS, vocab_size=500, checkpoint_dir=tmp_path, progress=False)

    tokenizer = hf_bpe.train(TEXTS, vocab_size=700, resume_from=tmp_path, progress=False)

    assert tokenizer._core.to_json() == hf_bpe.train(TEXTS, vocab_size=700, progress=False)._core.to_json()


def test_a_checkpoint_is_a_file_of_counts(tmp_path: Path) -> None:
    counts = count(TEXTS, checkpoint_dir=tmp_path)

    assert PretokenCounts.load(*kept(tmp_path)) == counts


@pytest.fixture
def stopped(tmp_path: Path, stop_after: StopAfter) -> Path:
    """A folder with checkpoints of TEXTS in a file, after the third one."""
    folder = tmp_path / "stops"
    FILES["a.txt"](tmp_path / "a.txt", TEXTS)
    with stop_after(3):
        count(files=[tmp_path / "a.txt"], checkpoint_dir=folder, checkpoint_minutes=0)
    return folder


@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_checkpoint_is_found_and_the_one_before_is_used(how: str, stopped: Path, tmp_path: Path) -> None:
    newest = kept(stopped)[-1]
    damage(newest, how)

    with pytest.warns(UserWarning, match=r"checkpoint-00000003\.parquet is damaged.*gone on from: checkpoint-00000002"):
        counts = count(files=[tmp_path / "a.txt"], resume_from=stopped)

    assert counts == count(files=[tmp_path / "a.txt"])


def test_a_damaged_checkpoint_is_none_of_the_two_that_are_kept(
    stopped: Path, tmp_path: Path, stop_after: StopAfter
) -> None:
    good, damaged = kept(stopped)
    damaged.write_bytes(b"")

    with pytest.warns(UserWarning, match="is damaged"), stop_after(1):
        count(files=[tmp_path / "a.txt"], resume_from=stopped, checkpoint_minutes=0)

    newest = stopped / "checkpoint-00000004.parquet"
    assert kept(stopped) == [good, newest]
    newest.write_bytes(b"")
    with pytest.warns(UserWarning, match=rf"gone on from: {good.name}"):
        assert count(files=[tmp_path / "a.txt"], resume_from=stopped) == count(files=[tmp_path / "a.txt"])


def test_checkpoints_that_are_all_damaged_are_an_error(stopped: Path, tmp_path: Path) -> None:
    for path in kept(stopped):
        path.write_bytes(path.read_bytes()[:-9])

    with pytest.raises(CountsError, match=r"no checkpoint in .*stops is whole.*checkpoint-00000003\.parquet is dam"):
        count(files=[tmp_path / "a.txt"], resume_from=stopped)


def test_counts_that_are_no_checkpoint_are_not_gone_on_from(tmp_path: Path) -> None:
    count(TEXTS).save(tmp_path / "checkpoint-00000001.parquet")

    with pytest.raises(CountsError, match=r"checkpoint-00000001\.parquet holds counts, and doesn't say where they end"):
        count(TEXTS, resume_from=tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"split_pattern": "llama3"}, "can't be gone on from: they have different settings, pre_tokenizer of the spl"),
        ({"normalizer": "NFC"}, 'different settings, normalizer null and {"type": "NFC"}'),
        ({"max_pretoken_bytes": 9}, "different settings, max_pretoken_bytes 4096 and 9"),
        ({"skip_bad_rows": False}, "its source had skip_bad_rows=True, and now it has skip_bad_rows=False"),
        ({"text_column": "t"}, "its source had text_column='text', and now it has text_column='t'"),
    ],
)
def test_settings_that_changed_are_refused_by_name(
    change: dict[str, Any], message: str, stopped: Path, tmp_path: Path
) -> None:
    with pytest.raises(CountsError) as error:
        count(files=[tmp_path / "a.txt"], resume_from=stopped, **change)

    assert message in str(error.value)
    assert "checkpoint-00000003.parquet" in str(error.value)


def test_files_that_changed_are_refused_by_name(stopped: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    other = tmp_path / "b.txt"
    other.write_text("b", encoding="utf-8")
    about = path.stat()

    with pytest.raises(CountsError, match=r"there were 1 files and there are 2\."):
        count(files=[path, other], resume_from=stopped)
    with pytest.raises(CountsError, match=r"file .*a\.txt was counted where .*b\.txt comes now"):
        count(files=[other], resume_from=stopped)
    os.utime(path, ns=(0, 0))
    with pytest.raises(CountsError, match=r"file .*a\.txt was written to since"):
        count(files=[path], resume_from=stopped)
    path.write_bytes(path.read_bytes() + b"more")
    with pytest.raises(CountsError, match=rf"file .*a\.txt had {about.st_size:,} bytes and has {about.st_size + 4:,}"):
        count(files=[path], resume_from=stopped)


def test_another_kind_of_source_is_refused(stopped: Path) -> None:
    with pytest.raises(CountsError, match="its source had kind='files', and now it has kind='texts'"):
        count(TEXTS, resume_from=stopped)


def test_texts_that_changed_are_found_by_their_digest(tmp_path: Path, stop_after: StopAfter) -> None:
    with stop_after(2):
        count(TEXTS, checkpoint_dir=tmp_path, checkpoint_minutes=0)

    with pytest.raises(CorpusError, match=r"aren't those that were counted before the stop; pass the same texts in"):
        count(["another", *TEXTS[1:]], resume_from=tmp_path)
    with pytest.raises(CorpusError, match=r"the source has 5 rows, and \d+ were counted before the stop"):
        count(TEXTS[:5], resume_from=tmp_path)


def test_a_stream_that_is_shuffled_anew_is_refused_with_the_reason(tmp_path: Path, stop_after: StopAfter) -> None:
    with stop_after(2):
        count(shuffled_stream(1), checkpoint_dir=tmp_path, checkpoint_minutes=0)

    with pytest.raises(CorpusError, match=r"it is shuffled or mapped in batches.*give shuffle\(\) a seed"):
        count(shuffled_stream(2), resume_from=tmp_path)


def test_a_dataset_of_another_fingerprint_is_read_again_and_checked(tmp_path: Path, stop_after: StopAfter) -> None:
    def dataset(texts: list[str], fingerprint: str) -> Any:
        return datasets.Dataset(pa.table({"text": texts}), fingerprint=fingerprint)

    with stop_after(3):
        count(dataset(TEXTS, "a"), checkpoint_dir=tmp_path, checkpoint_minutes=0)

    with pytest.raises(CorpusError, match="aren't those that were counted before the stop"):
        count(dataset(TEXTS[::-1], "b"), resume_from=tmp_path)
    assert count(dataset(TEXTS, "b"), resume_from=tmp_path) == count(TEXTS)


def test_checkpoints_are_not_written_over(stopped: Path, tmp_path: Path) -> None:
    with pytest.raises(CountsError, match=r"stops holds checkpoints; pass resume_from='.*stops' \(--resume-from\)"):
        count(TEXTS, checkpoint_dir=stopped)
    count(TEXTS, checkpoint_dir=tmp_path / "others")
    with pytest.raises(CountsError, match="stops holds checkpoints"):
        count(TEXTS, checkpoint_dir=stopped, resume_from=tmp_path / "others")


def test_a_folder_without_checkpoints_is_no_place_to_go_on_from(tmp_path: Path) -> None:
    with pytest.raises(CountsError, match=r"there is no folder '.*none' to go on from"):
        count(TEXTS, checkpoint_dir=tmp_path / "a", resume_from=tmp_path / "none")
    (tmp_path / "empty").mkdir()
    with pytest.raises(CountsError, match=r"there is no checkpoint in .*empty to go on from"):
        count(TEXTS, checkpoint_dir=tmp_path / "a", resume_from=tmp_path / "empty")
    assert [path.name for path in tmp_path.iterdir()] == ["empty"]


def test_going_on_does_not_begin_anew_where_no_checkpoint_is_found(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    with pytest.raises(CountsError, match=r"there is no folder '.*mistyped' to go on from"):
        count(TEXTS, resume_from=tmp_path / "mistyped")
    with pytest.raises(CountsError, match=r"there is no checkpoint in .*empty to go on from"):
        count(TEXTS, resume_from=tmp_path / "empty")
    assert [*tmp_path.rglob("*")] == [tmp_path / "empty"]


def test_counts_need_no_checkpoints(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="are for counting, and these counts are made already"):
        hf_bpe.train(count(TEXTS), vocab_size=300, checkpoint_dir=tmp_path)


@pytest.mark.parametrize("minutes", [-1, float("nan"), float("inf"), "ten"])
def test_minutes_are_a_number(minutes: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"checkpoint_minutes=.* is no number of minutes; give at least 0"):
        count(TEXTS, checkpoint_dir=tmp_path, checkpoint_minutes=minutes)


def test_minutes_need_a_folder() -> None:
    with pytest.raises(ValueError, match=r"checkpoint_minutes=5 .* needs a folder .*give checkpoint_dir"):
        count(TEXTS, checkpoint_minutes=5)
    with pytest.raises(ValueError, match=r"checkpoint_minutes=5 .* needs a folder .*give checkpoint_dir"):
        hf_bpe.train(TEXTS, vocab_size=300, checkpoint_minutes=5)


def test_two_processes_do_not_share_a_folder(tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    with (tmp_path / "lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)

        with pytest.raises(CountsError, match="another process writes checkpoints to"):
            count(TEXTS, checkpoint_dir=tmp_path)


def test_a_folder_that_can_not_be_made_is_told_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(OSError, match=r"checkpoints can't be written there: Not a directory: '.*file/stops'"):
        count((1 / 0 for _ in "a"), checkpoint_dir=tmp_path / "file" / "stops")


def test_only_checkpoints_that_were_begun_are_removed(tmp_path: Path) -> None:
    begun = [tmp_path / name for name in (".checkpoint-00000001.parquet.a8f.new", ".tokens.bin.b7e.new", ".mine.new")]
    for path in begun:
        path.touch()

    count(TEXTS[:10], checkpoint_dir=tmp_path)

    assert [path for path in begun if path.exists()] == begun[1:]


FULL = """
import resource, signal, sys, hf_bpe
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
hf_bpe.PretokenCounts.count(files=[sys.argv[1]], resume_from=sys.argv[2], split_pattern="gpt2", progress=False)
"""


def test_a_full_disk_is_an_error_that_leaves_the_last_good_checkpoint(stopped: Path, tmp_path: Path) -> None:
    pytest.importorskip("resource")
    before = {path: path.read_bytes() for path in kept(stopped)}

    run = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path / "a.txt"), str(stopped)], capture_output=True, text=True
    )

    assert "no checkpoint can be written, and the last good one is checkpoint-00000003.parquet: File too" in run.stderr
    assert {path: path.read_bytes() for path in kept(stopped)} == before
    assert sorted(path.name for path in stopped.iterdir()) == [*(path.name for path in before), "lock"]
    assert count(files=[tmp_path / "a.txt"], resume_from=stopped) == count(files=[tmp_path / "a.txt"])


# Killed processes


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that takes some dozens of checkpoints to count."""
    path = tmp_path_factory.mktemp("large") / "a.txt"
    draw = random.Random(11)
    lines = [" ".join(f"w{draw.randrange(5000)}" for _ in range(12)) + "\n" for _ in range(20_000)]
    path.write_text("".join(lines * 70), encoding="utf-8")
    return path


@pytest.mark.skipif(os.name == "nt", reason="processes are killed by a signal")
def test_a_command_that_is_killed_three_times_trains_the_same_tokenizer(large: Path, tmp_path: Path) -> None:
    stops, common = tmp_path / "stops", [sys.executable, "-m", "hf_bpe.cli", "train", str(large), "--no-progress"]
    common += ["--vocab-size", "600", "--split-pattern", "gpt2"]
    where = ["--checkpoint-dir", str(stops), "--resume-from", str(stops), "--checkpoint-minutes", "0"]
    command = [*common, "--out", str(tmp_path / "killed"), *where]

    kills = killed_at_random_moments(command, stops, seed=1)
    subprocess.run(command, check=True, capture_output=True)
    subprocess.run([*common, "--out", str(tmp_path / "whole")], check=True, capture_output=True)

    assert kills == 3
    names = sorted(path.name for path in (tmp_path / "whole").iterdir())
    assert [(tmp_path / "killed" / name).read_bytes() for name in names] == [
        (tmp_path / "whole" / name).read_bytes() for name in names
    ]


STREAMED = """
import sys, time, datasets, hf_bpe

def slowly(row, at):
    if at % 500 == 0:
        time.sleep(0.02)  # there is time to be killed, on any machine
    return row

stream = datasets.load_dataset("text", data_files=[sys.argv[1]] * 2, split="train", streaming=True)
stops = sys.argv[2]
if stops:
    stream = stream.map(slowly, with_indices=True)
where = {"checkpoint_dir": stops, "resume_from": stops, "checkpoint_minutes": 0.002} if stops else {}
counts = hf_bpe.PretokenCounts.count(stream, split_pattern="gpt2", progress=False, **where)
counts.save(sys.argv[3])
"""


@pytest.mark.skipif(os.name == "nt", reason="processes are killed by a signal")
def test_a_stream_that_is_killed_three_times_gives_the_same_counts(large: Path, tmp_path: Path) -> None:
    small = tmp_path / "a.txt"
    with large.open("rb") as file:
        small.write_bytes(file.read(4_000_000).rpartition(b"\n")[0])
    command = [sys.executable, "-c", STREAMED, str(small)]

    kills = killed_at_random_moments(
        [*command, str(tmp_path / "stops"), str(tmp_path / "1")], tmp_path / "stops", seed=2
    )
    subprocess.run([*command, str(tmp_path / "stops"), str(tmp_path / "1")], check=True, capture_output=True)
    subprocess.run([*command, "", str(tmp_path / "2")], check=True, capture_output=True)

    assert kills == 3
    one, two = (PretokenCounts.load(tmp_path / name) for name in "12")
    assert one == two
    assert one.report == two.report
    assert one.report.texts > 50_000
