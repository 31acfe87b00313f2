"""Long lines take linear time, progress is told, and Ctrl-C stops a training."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest
from trainings import counter, stdlib_sources

from hf_bpe.training import train


def test_a_long_line_without_spaces_takes_little_longer_than_its_length() -> None:
    line = "".join(random.Random(3).choices("acgt", k=1_000_000))
    counts = counter("[a-z]+")
    counts.count([line])

    started = time.perf_counter()
    _, merges = counts.learn(vocab_size=1000)

    assert len(merges) == 744
    assert time.perf_counter() - started < 20  # about half a second; stock, quadratic, needs hours


def test_progress_counts_merges_and_may_stop_the_training() -> None:
    class Stop(Exception):
        pass

    seen: list[int] = []

    def stop(merges: int, expected: int) -> None:
        seen.append(merges)
        assert expected == 30_000 - 256
        raise Stop

    line = "".join(random.Random(3).choices("acgt", k=2_000_000))
    counts = counter("[a-z]+")
    counts.count([line])

    with pytest.raises(Stop):
        counts.learn(vocab_size=30_000, progress=stop)
    assert len(seen) == 1


@pytest.mark.parametrize(
    "options",
    [
        {"vocab_size": 400, "special_tokens": ["<s>", "a"]},
        {"vocab_size": 400, "special_tokens": ["<s>", "in", "er"], "special_tokens_last": True},
        {"vocab_size": 400, "special_tokens": ["<s>", "in"]},
        {"vocab_size": 400, "alphabet": "characters", "special_tokens": ["<s>"]},
        {"vocab_size": 700, "alphabet": "characters", "byte_fallback": True, "unk_token": "<unk>"},
    ],
)
def test_the_bar_of_merges_ends_full(options: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    tokenizer = train(stdlib_sources(100_000), **options)

    last = capsys.readouterr().err.rstrip().split("\r")[-1]
    merges = tokenizer.training_report.merges
    assert "Merging: 100%" in last
    assert f" {merges}/{merges} " in last


@pytest.mark.parametrize("phase", ["counting", "slowly", "merging"])
@pytest.mark.skipif(os.name == "nt", reason="sends a POSIX signal")
def test_ctrl_c_stops_within_a_second(phase: str, tmp_path: Path) -> None:
    script = """
        import random, sys
        import hf_bpe.training
        from hf_bpe._native import Counter

        def corpus():
            chance = random.Random(1)
            print("counting", flush=True)
            while sys.argv[1] == "counting":
                yield "some words to count " * 1000
            if sys.argv[1] == "slowly":  # a few MB, which take this pattern many seconds
                print("slowly", flush=True)
                yield ["".join(chance.choices("abcdefgh  ", k=60_000)) for _ in range(300)]
            yield "".join(chance.choices("abcdefghijklmnop", k=20_000_000))
            print("merging", flush=True)

        slow = r"(?:[a-f]{0,6}?[gh]|.)(?=.*?\\n|(?:[a-h]| ){0,40}z|.)"
        pattern = slow if sys.argv[1] == "slowly" else "[a-z]+"
        hf_bpe.training.train(corpus(), vocab_size=200_000, split_pattern=pattern, progress=False)
    """
    command = [sys.executable, "-c", textwrap.dedent(script), phase]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        while process.stdout.readline().strip() != phase:
            assert process.poll() is None
        time.sleep(1.5)
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        took = time.monotonic() - sent

    assert re.search("KeyboardInterrupt", errors)
    assert took < 1.0 + 0.5  # half a second to shut the interpreter down
