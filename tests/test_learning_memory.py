"""What learning merges will take is told before it begins, where it is more than counting was allowed."""

from __future__ import annotations

import random
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from trainings import stdlib_sources

import hf_bpe
from hf_bpe import PretokenCounts
from hf_bpe._native import SortedCounts
from hf_bpe.learning_memory import expected_memory

OPTIONS: dict[str, Any] = {"split_pattern": "gpt2", "progress": False}


def texts(number: int = 4000, seed: int = 1) -> Iterator[str]:
    """Yield texts of 1 kB that are almost all distinct pretokens of 10 letters."""
    draw = random.Random(seed)
    for _ in range(number):
        yield "".join(f" {draw.getrandbits(50):010x}"[:11].translate(LETTERS) for _ in range(90))


LETTERS = str.maketrans("0123456789", "ghijklmnop")


@pytest.fixture(scope="module")
def counts() -> PretokenCounts:
    """Counts of 4 MB of distinct pretokens."""
    return PretokenCounts.count(texts(), **OPTIONS)


def warned(call: Any) -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    return [warning for warning in found if "learning merges" in str(warning.message)]


def expected(counts: PretokenCounts, vocab_size: int, min_frequency: int) -> str:
    return f"about {expected_memory(counts.text_bytes, vocab_size, min_frequency) / 1e6:,.0f} MB of memory, for "


def test_learning_that_takes_more_than_counting_may_is_told_with_what_to_do(counts: PretokenCounts) -> None:
    options: dict[str, Any] = OPTIONS | {"vocab_size": 6000, "max_memory": "40MB", "min_frequency": 1}
    sources = {"a": texts(2000), "b": counts}
    calls = {
        "texts": lambda: hf_bpe.train(texts(), **options),
        "counts": lambda: hf_bpe.train(counts, **options),
        "sources": lambda: hf_bpe.train(sources=sources, **options),
    }

    for name, call in calls.items():
        found = warned(call)
        assert len(found) == 1, name
        message = str(found[0].message)
        assert expected(counts, 6000, 1) in message, name
        assert "more than max_memory (40 MB), which bounds counting alone." in message
        assert "use min_frequency=2, which takes about half of it, a smaller vocab_size, or a split pattern" in message
        assert found[0].filename == __file__


def test_training_anew_is_told_too(counts: PretokenCounts) -> None:
    tokenizer = hf_bpe.train("a", vocab_size=256, **OPTIONS)
    more = PretokenCounts.count(texts(), tokenizer=tokenizer, progress=False)

    found = warned(
        lambda: tokenizer.train_new_from_iterator(more, 6000, max_memory="8MB", min_frequency=1, show_progress=False)
    )

    assert [expected(more, 6000, 1) in str(warning.message) for warning in found] == [True]


def test_nothing_is_told_where_it_is_allowed_small_or_unknown(counts: PretokenCounts) -> None:
    allowed: list[dict[str, Any]] = [
        {"vocab_size": 300},
        {"vocab_size": 6000, "max_memory": "100MB", "min_frequency": 1},
        {"vocab_size": 300, "max_memory": "1MB", "min_frequency": 50},  # 37 MB
    ]

    for options in allowed:
        assert warned(lambda options=options: hf_bpe.train(counts, **OPTIONS, **options)) == []
    characters = PretokenCounts.count(texts(), alphabet="characters", progress=False)
    assert (
        warned(
            lambda: hf_bpe.train(
                characters, alphabet="characters", vocab_size=60, max_memory=0, min_frequency=1, progress=False
            )
        )
        == []
    )


def test_a_higher_frequency_is_the_advice_where_rare_pairs_are_dropped_already(counts: PretokenCounts) -> None:
    double = PretokenCounts.sum([counts, PretokenCounts.count(texts(4000, seed=2), **OPTIONS)])

    found = warned(lambda: hf_bpe.train(double, vocab_size=3000, max_memory=0, **OPTIONS))

    assert "For less, use a higher min_frequency, a smaller vocab_size" in str(found[0].message)


def test_pretokens_of_several_sources_are_expected_once(counts: PretokenCounts) -> None:
    other = PretokenCounts.count(["another", "word word"], **OPTIONS)

    assert SortedCounts.distinct_bytes([]) == 0
    assert SortedCounts.distinct_bytes([counts._counts, counts._counts]) == counts.text_bytes
    assert SortedCounts.distinct_bytes([counts._counts, other._counts]) == (counts + other).text_bytes


def test_more_is_expected_of_more_text_more_tokens_and_rarer_pairs() -> None:
    sizes = [expected_memory(size, 32_000, 2) for size in (10**6, 10**7, 10**9)]
    vocabularies = [expected_memory(10**8, vocab_size, 2) for vocab_size in (0, 1000, 8000, 32_000, 128_000, 256_000)]
    frequencies = [expected_memory(10**8, 32_000, frequency) for frequency in (50, 10, 5, 2, 1, 0)]

    assert sizes == sorted(set(sizes))
    assert vocabularies == sorted(set(vocabularies))
    assert frequencies == sorted(frequencies)
    assert 9 * 10**8 < frequencies[0] < 10 * 10**8 < 22 * 10**8 < frequencies[-1] < 23 * 10**8


MEASURED = """
import sys
from hf_bpe import PretokenCounts
from hf_bpe.counting import counter_of
from hf_bpe.trainer_settings import TrainerSettings

def memory(name):
    return int(next(line for line in open("/proc/self/status") if line.startswith(name)).split()[1]) * 1024

counts = PretokenCounts.load(sys.argv[1])
counter = counter_of({"normalizer": None, "pre_tokenizer": counts.settings.pre_tokenizer}, 1, who="it")
counter.count_sorted(counts._counts)
settings = TrainerSettings(vocab_size=32_000, min_frequency=int(sys.argv[2])).arguments()
open("/proc/self/clear_refs", "w").write("5")  # the peak begins here
before = memory("VmRSS")
counter.learn(**settings, keep=False)
print(memory("VmHWM") - before)
"""


@pytest.mark.parametrize("min_frequency", [1, 2])
def test_learning_takes_about_what_is_expected(min_frequency: int, tmp_path: Path) -> None:
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("only Linux tells the peak of a part of a run")
    counts = PretokenCounts.count(stdlib_sources(8_000_000), split_pattern=r"[^\n]+", progress=False)
    counts.save(tmp_path / "counts.parquet")

    command = [sys.executable, "-c", MEASURED, str(tmp_path / "counts.parquet"), str(min_frequency)]
    taken = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    assert taken > 50_000_000
    assert 0.6 < expected_memory(counts.text_bytes, 32_000, min_frequency) / taken < 1.6
