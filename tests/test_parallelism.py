"""How many threads a batch uses, in which process."""

from __future__ import annotations

import multiprocessing
import os

import pytest

import hf_bpe  # noqa: F401 - a child that is started anew imports this module, and hf_bpe with it
from hf_bpe import _native

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TOKENIZERS_PARALLELISM", "RAYON_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)


def threads_of_child(method: str) -> int:
    with multiprocessing.get_context(method).Pool(1) as pool:
        return pool.apply(_native.num_threads)


def test_one_process_uses_all_cores() -> None:
    assert _native.num_threads() == CORES


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_each_of_several_workers_uses_one_thread(method: str) -> None:
    assert threads_of_child(method) == 1


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_worker_uses_as_many_threads_as_it_is_told(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAYON_NUM_THREADS", "3")
    assert threads_of_child(method) == 3

    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false")
    assert threads_of_child(method) == 1


@pytest.mark.parametrize("value", ["0", "off", "False", "no", "F"])
def test_parallelism_is_turned_off_as_in_the_stock_library(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", value)

    assert _native.num_threads() == 1
