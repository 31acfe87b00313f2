"""Counting and encoding on a cluster: what one process gives, also when a worker is killed on the way."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hf_bpe
from hf_bpe import CorpusError, CountsError, HfBpeTokenizer, PretokenCounts, distributed
from hf_bpe.corpus import Corpus, open_part
from hf_bpe.distributed import counting, encoding, running
from hf_bpe.distributed.encoder import Encoder
from hf_bpe.whole_files import locked

needs_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="ray isn't installed")
needs_signals = pytest.mark.skipif(os.name == "nt", reason="processes are killed by a signal")

GPT2: dict[str, Any] = {"split_pattern": "gpt2", "max_pretoken_bytes": None, "progress": False}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Start a cluster of two workers on this machine, and stop it whatever happens."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_AUTH_MODE", "disabled")  # else Ray writes a token into the home directory
        import ray

        folder = tempfile.mkdtemp(prefix="ray")  # sockets in it may have 107 characters
        try:
            ray.init(
                num_cpus=2,
                include_dashboard=False,
                object_store_memory=100 << 20,
                log_to_driver=False,
                logging_level="error",
                _node_ip_address="127.0.0.1",
                _temp_dir=folder,
            )
            yield ray
        finally:
            ray.shutdown()
            shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def texts() -> list[str | None]:
    draw = random.Random(5)
    words = ["".join(draw.choices("abcdeé語😀 \n", k=7)) for _ in range(9000)]
    many = [" ".join(draw.choices(words, k=draw.randrange(60))) for _ in range(6000)]
    return [None, "", "a" * 5000, "\0\ufeff\u2028", "<|end|>", *many, None]


@pytest.fixture(scope="module")
def files(texts: list[str | None], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """JSON lines, Parquet and text, of which each has several parts."""
    folder = tmp_path_factory.mktemp("corpus")
    lines = [json.dumps({"text": text, "n": 1}, ensure_ascii=number % 2 == 0) for number, text in enumerate(texts)]
    (folder / "a.jsonl").write_text("\n".join([*lines, '{"text": "\\ud800 alone"}']), encoding="utf-8")
    pq.write_table(pa.table({"n": range(len(texts)), "text": texts}), folder / "b.parquet", row_group_size=500)
    (folder / "c.txt").write_text("\n".join(filter(None, texts)), encoding="utf-8", newline="")
    return [folder / name for name in ("a.jsonl", "b.parquet", "c.txt")]


@pytest.fixture(scope="module")
def tokenizer(files: list[Path]) -> HfBpeTokenizer:
    return hf_bpe.train(files=files, vocab_size=400, eos_token="<|end|>", progress=False, max_pretoken_bytes=None)


def same_files(mine: Path, others: Path) -> None:
    for suffix in (mine.suffix, ".json", *([] if mine.suffix == ".parquet" else [".bounds.npy"])):
        assert mine.with_suffix(suffix).read_bytes() == others.with_suffix(suffix).read_bytes(), suffix


# A worker that is lost


def waiting_once(marker: Path) -> Callable[[], None]:
    """Return what the first process that calls it waits in, to be killed; it comes to workers by value."""

    def wait() -> None:
        try:
            os.symlink(str(os.getpid()), marker)  # which is there at once, with the number
        except FileExistsError:
            return
        time.sleep(60)

    return wait


class Killer:
    """Kills the process that waits in `waiting_once`."""

    def __init__(self, marker: Path) -> None:
        self._marker = marker
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.killed: list[int] = []

    def _run(self) -> None:
        while not self._stopped.wait(0.01):
            if self._marker.is_symlink():
                self.killed.append(int(os.readlink(self._marker)))
                os.kill(self.killed[0], signal.SIGKILL)
                return

    def __enter__(self) -> Killer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()


@needs_ray
@needs_signals
def test_a_worker_that_is_killed_while_it_counts_changes_nothing(
    cluster: Any, files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    local = PretokenCounts.count(files=files, **GPT2)
    wait = waiting_once(tmp_path / "waits")

    def count_part(rows: pa.Table, *, documents: Any, options: Any) -> pa.Table:
        def batches(corpus: Corpus) -> Iterator[Any]:
            for batch in corpus.batches:
                yield batch
                wait()

        corpus = open_part(documents, running.part_of(rows)[1])
        return counting._counted(lambda: Corpus(batches(corpus)), options)

    monkeypatch.setattr(counting, "_count_part", count_part)
    with Killer(tmp_path / "waits") as killer:
        counts = distributed.count(files, part_bytes=100_000, **GPT2)

    assert len(killer.killed) == 1
    assert (counts, counts.report, counts.sources) == (local, local.report, local.sources)
    assert counts.report.null_rows == 4


@needs_ray
@needs_signals
def test_a_worker_that_is_killed_while_it_encodes_changes_nothing(
    cluster: Any, files: list[Path], tokenizer: HfBpeTokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hf_bpe.encode_files(tokenizer, files, tmp_path / "local.bin", append_eos=True, progress=False)
    parts = tmp_path / ".tokens.bin.parts"
    wait = waiting_once(tmp_path / "waits")

    class WaitsOnce(Encoder):
        def _ids_of(self, found: Any) -> Any:
            if any(parts.glob("?.json")):  # others are done, and this one has files that are half written
                wait()
            return super()._ids_of(found)

    monkeypatch.setattr(encoding, "Encoder", WaitsOnce)
    with Killer(tmp_path / "waits") as killer:
        report = distributed.encode(
            files, tokenizer, tmp_path / "tokens.bin", append_eos=True, part_bytes=100_000, progress=False
        )

    assert len(killer.killed) == 1
    same_files(tmp_path / "tokens.bin", tmp_path / "local.bin")
    assert report.documents == len(np.load(tmp_path / "local.bounds.npy")) - 1
    assert sorted(report.files) == sorted(tmp_path.glob("tokens.*"))
    assert not parts.exists()


@needs_ray
def test_parts_are_removed_while_no_other_process_may_go_on_with_them(
    cluster: Any, files: list[Path], tokenizer: HfBpeTokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free: list[bool] = []

    def removed(folder: Path) -> None:
        lock = locked(folder / "lock")
        free.append(lock is not None)
        remove(folder)

    remove = shutil.rmtree
    with monkeypatch.context() as patch:
        patch.setattr(encoding.shutil, "rmtree", removed)
        distributed.encode(files[2:], tokenizer, tmp_path / "a.bin", workers=1, progress=False)

    assert free == [False]
    assert not (tmp_path / ".a.bin.parts").exists()


# The same as one process


@needs_ray
def test_training_on_a_cluster_gives_the_tokenizer_of_one_process(cluster: Any, files: list[Path]) -> None:
    options: dict[str, Any] = {"vocab_size": 350, "normalizer": "NFC", "eos_token": "<|end|>", "progress": False}

    with pytest.warns(UserWarning, match="pretokens were longer than 99 bytes and counted in parts") as warned:
        trained = distributed.train(files, part_bytes=300_000, max_pretoken_bytes=99, **options)
    with pytest.warns(UserWarning, match="pretokens were longer than 99 bytes and counted in parts"):
        local = hf_bpe.train(files=files, max_pretoken_bytes=99, **options)

    assert trained._core.to_json() == local._core.to_json()
    assert trained.training_report == local.training_report
    assert [told.filename for told in warned if told.category is UserWarning] == [__file__]


@needs_ray
def test_characters_with_an_affix_are_trained_as_in_one_process(cluster: Any, files: list[Path]) -> None:
    options: dict[str, Any] = {"vocab_size": 60, "alphabet": "characters", "end_of_word_suffix": "</w>"}
    options["max_pretoken_bytes"] = None

    trained = distributed.train(files[:1], progress=False, **options)

    assert trained._core.to_json() == hf_bpe.train(files=files[:1], progress=False, **options)._core.to_json()


@needs_ray
def test_a_dataset_of_ray_is_counted_where_its_blocks_are(cluster: Any, texts: list[str | None]) -> None:
    tables = [pa.table({"other": range(1000), "body": texts[at : at + 1000]}) for at in range(0, 6000, 1000)]
    dataset = cluster.data.from_arrow(tables)

    counts = distributed.count(dataset, text_column="body", name="ray", **GPT2)

    local = PretokenCounts.count(texts[:6000], **GPT2)
    assert (counts, counts.report, counts.sources) == (local, local.report, ("ray",))


@needs_ray
def test_a_table_of_ids_is_that_of_one_process(
    cluster: Any, files: list[Path], tokenizer: HfBpeTokenizer, tmp_path: Path
) -> None:
    out, local = tmp_path / "a.parquet", tmp_path / "b.parquet"

    distributed.encode(files, tokenizer, out, part_bytes=10**6, workers=1, add_special_tokens=False, progress=False)

    hf_bpe.encode_files(tokenizer, files, local, add_special_tokens=False, progress=False)
    same_files(out, local)


@needs_ray
def test_a_run_that_was_stopped_does_what_is_left(
    cluster: Any, files: list[Path], tokenizer: HfBpeTokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, parts = tmp_path / "a.bin", tmp_path / ".a.bin.parts"
    times: list[dict[str, int]] = []
    put_together = encoding._put_together

    def stops_at_first(*args: Any, **options: Any) -> Any:
        times.append({path.name: path.stat().st_mtime_ns for path in parts.glob("*.json")})
        if len(times) == 1:
            raise KeyboardInterrupt
        return put_together(*args, **options)

    monkeypatch.setattr(encoding, "_put_together", stops_at_first)
    with pytest.raises(KeyboardInterrupt):
        distributed.encode(files[1:], tokenizer, out, part_bytes=200_000, workers=1, progress=False)
    (parts / "1.json").unlink()
    with pytest.raises(CorpusError, match=r"a\.bin was begun with other .*: append_eos; begin anew with restart=True"):
        distributed.encode(files[1:], tokenizer, out, part_bytes=200_000, append_eos=True, progress=False)
    report = distributed.encode(files[1:], tokenizer, out, part_bytes=200_000, workers=1, progress=False)

    assert len(times[0]) > 4
    assert {name for name in times[0] if times[0][name] != times[1][name]} == {"1.json"}
    assert report.resumed
    hf_bpe.encode_files(tokenizer, files[1:], tmp_path / "b.bin", progress=False)
    same_files(out, tmp_path / "b.bin")


# Errors


@needs_ray
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vocab_size": 10}, "vocab_size=10 is too small"),
        ({"segmenter": "nope"}, "segmenter='nope' is unknown"),
        ({"chat_template": "nope"}, "there is no chat template 'nope'"),
        ({"pad_to_multiple_of": 0}, "pad_to_multiple_of=0 is out of range"),
        ({"min_frequency": -1}, "min_frequency=-1 is out of range"),
        ({"protected": ["<br>"]}, "protected is for hf_bpe.train"),
        ({"files": ["a.txt"]}, "files is for hf_bpe.train"),
        ({"sources": {"a": ["a"]}}, "sources is for hf_bpe.train"),
        ({"checkpoint_dir": "stops"}, "checkpoint_dir is for hf_bpe.train"),
        ({"num_threads": 2}, "num_threads is for hf_bpe.train: .* on one thread for each task"),
        ({"initial_alphabet": "ab", "limit_alphabet": 1, "alphabet": "characters"}, "limit_alphabet=1 is less"),
    ],
    ids=str,
)
def test_options_of_training_are_checked_before_a_cluster_counts(
    options: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hf_bpe.distributed.training.count_all", lambda *_, **__: pytest.fail("it counted"))

    with pytest.raises(ValueError, match=message):
        distributed.train(["a.txt"], **({"vocab_size": 300, "progress": False} | options))


def test_misspelt_keywords_are_refused_before_a_cluster_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("training", "counting"):
        monkeypatch.setattr(f"hf_bpe.distributed.{module}.count_all", lambda *_, **__: pytest.fail("it counted"))

    with pytest.raises(TypeError, match=r"distributed\.train\(\) got .* 'part_byte'; did you mean 'part_bytes'\?"):
        distributed.train(["a.txt"], vocab_size=300, part_byte=9)
    with pytest.raises(TypeError, match=r"distributed\.train\(\) got .* 'min_freq'; did you mean 'min_frequency'\?"):
        distributed.train(["a.txt"], vocab_size=300, min_freq=9)
    with pytest.raises(TypeError, match=r"distributed\.count\(\) got .* 'normaliser'; did you mean 'normalizer'\?"):
        distributed.count(["a.txt"], normaliser="NFC")
    with pytest.raises(TypeError, match=r"count\(\) got .* 'checkpoint_dir'; it takes alphabet, max_memory, "):
        distributed.count(["a.txt"], checkpoint_dir="stops")


def test_cuts_at_a_length_with_a_unit_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.warns(UserWarning, match="longer than 4,000 bytes"):
        counts = PretokenCounts.count(["a" * 9000], max_pretoken_bytes="4KB", progress=False)
    monkeypatch.setattr("hf_bpe.distributed.training.count_all", lambda *_, **__: counts)
    monkeypatch.setattr("hf_bpe.distributed.counting.count_all", lambda *_, **__: counts)

    with pytest.warns(UserWarning, match="longer than 4,000 bytes") as training:
        distributed.train(["a.txt"], vocab_size=258, max_pretoken_bytes="4KB", progress=False)
    with pytest.warns(UserWarning, match="longer than 4,000 bytes") as counting:
        distributed.count(["a.txt"], max_pretoken_bytes="4KB", progress=False)

    assert [warning.filename for warning in (*training, *counting)] == [__file__] * 2


@needs_ray
def test_the_first_bad_row_in_order_is_told_as_in_one_process(
    cluster: Any, tokenizer: HfBpeTokenizer, tmp_path: Path
) -> None:
    lines = ['{"text": "a good one"}\n'] * 3000
    lines[1700] = lines[2900] = '{"text": 7}\n'
    path = tmp_path / "a.jsonl"
    path.write_text("".join(lines))
    told = "line 1,701: has int in 'text', not a text .skip_bad_rows leaves such rows out"

    with pytest.raises(CorpusError, match=told):
        PretokenCounts.count(files=[path], skip_bad_rows=False, **GPT2)
    with pytest.raises(CorpusError, match=told):
        distributed.count([path], part_bytes=10_000, skip_bad_rows=False, **GPT2)
    with pytest.raises(CorpusError, match=told):
        distributed.encode([path], tokenizer, tmp_path / "a.bin", part_bytes=10_000, workers=1, progress=False)

    with pytest.warns(
        UserWarning, match=r"2 of 3,000 rows .*a\.jsonl, from byte 30,\d\d\d on, line \d+: has int"
    ) as warned:
        counts = distributed.count([path], part_bytes=10_000, **GPT2)
    made = distributed.encode(
        [path],
        tokenizer,
        tmp_path / "a.bin",
        part_bytes=10_000,
        workers=1,
        skip_bad_rows=True,
        restart=True,
        progress=False,
    )
    assert (counts.report.texts, counts.report.bad_rows) == (2998, 2)
    assert counts == PretokenCounts.count(["a good one"] * 2998, **GPT2)
    assert [warning.filename for warning in warned] == [__file__]
    assert [_line_of(row) for row in counts.report.first_bad_rows] == [lines[1700]] * 2
    assert (made.documents, made.bad_rows, len(made.first_bad_rows)) == (2998, 2, 2)
    assert [_line_of(row) for row in made.first_bad_rows] == [lines[2900]] * 2
    assert made.first_bad_rows == counts.report.first_bad_rows


@needs_ray
def test_a_file_whose_name_is_no_utf8_is_read_by_tasks(cluster: Any, tokenizer: HfBpeTokenizer, tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"\xff.jsonl")
    path.write_text('{"text": "a good one"}\n' * 300 + "no JSON\n")
    told = r"\udcff\.jsonl, line 301: is no JSON"

    for _ in range(2):  # the second goes on from the first
        with pytest.raises(CorpusError, match=told):
            distributed.encode([path], tokenizer, tmp_path / "a.bin", part_bytes=2000, workers=1, progress=False)
    with pytest.raises(CorpusError, match=told):
        distributed.count([path], part_bytes=2000, skip_bad_rows=False, **GPT2)
    with pytest.warns(UserWarning, match=r"1 of 301 rows .*\udcff\.jsonl, from byte "):
        assert distributed.count([path], part_bytes=2000, **GPT2).report.texts == 300
    options: dict[str, Any] = {"part_bytes": 2000, "workers": 1, "skip_bad_rows": True, "restart": True}
    made = distributed.encode([path], tokenizer, tmp_path / "a.bin", progress=False, **options)
    assert (made.documents, made.bad_rows) == (300, 1)


def _line_of(told: str) -> str:
    """Return the line that a report tells of, which is counted from a byte of its file."""
    path, start, number = re.findall(r"^(.*), from byte ([\d,]+) on, line ([\d,]+): ", told)[0]
    rest = Path(path).read_bytes()[int(start.replace(",", "")) :]
    return rest.splitlines(keepends=True)[int(number.replace(",", "")) - 1].decode()


@needs_ray
@pytest.mark.parametrize("rows", [50, 120_000])
def test_a_cluster_refuses_a_source_of_bad_rows_alone_as_one_process_does(
    cluster: Any, rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"content": "a"}\n' * rows)
    with pytest.raises(CorpusError, match=r"none of .* holds a text.*line 1: has no 'text'; it has 'content'") as one:
        PretokenCounts.count(files=[path], **GPT2)

    if rows > 100_000:  # found before anything runs
        monkeypatch.setattr("hf_bpe.distributed.counting.dataset_of", None)
    with pytest.raises(CorpusError) as many:
        distributed.count([path], part_bytes=200, **GPT2)

    assert str(many.value) == str(one.value)


@needs_ray
def test_a_part_of_bad_rows_alone_is_left_out_on_a_cluster(cluster: Any, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"content": "a"}\n' * 99)
    (tmp_path / "b.jsonl").write_text('{"text": "a b"}\n' * 99)

    with pytest.warns(UserWarning, match=r"99 of 198 rows hold no text and were left out"):
        counts = distributed.count([tmp_path], part_bytes=300, **GPT2)

    assert counts == PretokenCounts.count(["a b"] * 99, **GPT2)
    assert len(counts.report.first_bad_rows) == 10
    assert counts.report.first_bad_rows[0].endswith("a.jsonl, line 1: has no 'text'; it has 'content'")


@needs_ray
def test_sources_that_are_none_are_refused(cluster: Any, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").touch()
    numbers = cluster.data.from_arrow(pa.table({"text": [1, 2]}))

    assert len(distributed.count([tmp_path / "empty.txt"], **GPT2)) == 0
    with pytest.raises(TypeError, match=r"list of paths or a ray\.data\.Dataset, got 'a\.txt'; write \[path\]"):
        distributed.count("a.txt", **GPT2)
    with pytest.raises(TypeError, match=r"list of paths or a ray\.data\.Dataset, got a dict"):
        distributed.count({}, **GPT2)
    with pytest.raises(ValueError, match="there is no column 'body'; choose a text_column among 'text'"):
        distributed.count(numbers, text_column="body", **GPT2)
    with pytest.raises(TypeError, match="the column holds int64; training reads strings"):
        distributed.count(numbers, **GPT2)
    with pytest.raises(CorpusError, match="is no file, no directory"):
        distributed.count([tmp_path / "none.txt"], **GPT2)


def test_without_ray_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tokenizer: HfBpeTokenizer, files: list[Path], tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setitem(sys.modules, "ray.data", None)

    with pytest.raises(ImportError, match=r"counting on a cluster needs ray.*pip install 'hf-bpe\[ray\]'"):
        distributed.train(files, vocab_size=300)
    with pytest.raises(ImportError, match=r"encoding on a cluster needs ray.*pip install 'hf-bpe\[ray\]'"):
        distributed.encode(files, tokenizer, tmp_path / "a.bin")
    assert list(tmp_path.iterdir()) == []


def test_arguments_are_checked_before_a_cluster_is_needed(
    tokenizer: HfBpeTokenizer, files: list[Path], tmp_path: Path
) -> None:
    with pytest.raises(TypeError, match=r"encode\(\) takes files, then an HfBpeTokenizer, got str"):
        distributed.encode(files, "gpt2", tmp_path / "a.bin")  # type: ignore[arg-type]
    with pytest.raises(CorpusError, match=r"must end in \.bin, \.npy or \.parquet"):
        distributed.encode(files, tokenizer, tmp_path / "a.txt")
    with pytest.raises(ValueError, match="workers must be at least 1, got 0"):
        distributed.encode(files, tokenizer, tmp_path / "a.bin", workers=0)


# What needs no cluster


@pytest.mark.parametrize("damaged", ["{", "[]", ""])
def test_parts_whose_settings_are_damaged_are_not_gone_on_with(damaged: str, tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text(damaged)
    (tmp_path / "0.json").touch()

    with pytest.raises(CorpusError, match=r"begun with other .* settings\.json is damaged .*restart=True"):
        encoding._begin(tmp_path, tmp_path / "a.bin", {"part_bytes": 1}, 1, restart=False)
    assert encoding._begin(tmp_path, tmp_path / "a.bin", {"part_bytes": 1}, 1, restart=True) == set()
    assert json.loads((tmp_path / "settings.json").read_text()) == {"part_bytes": 1}


@pytest.mark.parametrize(
    "error", [CountsError("two\nlines"), FileNotFoundError("no file"), TypeError("a type"), CorpusError("")]
)
def test_errors_come_back_as_what_they_are(error: Exception) -> None:
    found = running._error_of(running.bytes_of(error))

    assert (type(found), str(found)) == (type(error), str(error))


def test_errors_that_others_define_come_back_as_their_base() -> None:
    with pytest.raises(UnicodeDecodeError) as caught:
        b"\xff".decode()

    assert type(running._error_of(running.bytes_of(caught.value))) is ValueError
    assert type(running._error_of(running.bytes_of(pa.ArrowInvalid("x")))) is ValueError


@pytest.mark.parametrize("number", [1, 15, 16, 17, 300])
def test_counts_are_added_a_few_at_a_time(number: int) -> None:
    part = PretokenCounts.count(["a b a"], **GPT2)
    rows = [counting._row(part) for _ in range(number)]
    largest: list[int] = []
    empty = PretokenCounts.count([], **GPT2)

    class Bar:
        def update(self, size: int) -> None:
            largest.append(size)

    total = counting._total(iter(rows), empty, {"max_memory": "1MB"}, Bar())

    assert total == part.weighted(number)
    assert (total.report.texts, largest) == (number, [5] * number)
