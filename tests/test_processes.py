"""One tokenizer in many places: copies, pickles, threads, forks, and the fingerprints of `datasets`."""

from __future__ import annotations

import copy
import json
import multiprocessing
import os
import pickle
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import datasets
import pytest
from datasets.fingerprint import Hasher
from directories import HOSTILE, KINDS, directory, pair

from hf_bpe import HfBpeTokenizer

kinds = pytest.mark.parametrize("kind", KINDS)
LONG = "The quick brown fox jumps over the lazy dog. " * 20


def use(tokenizer: HfBpeTokenizer) -> None:
    """Call everything that could leave a trace."""
    tokenizer(LONG)
    tokenizer(HOSTILE, truncation=True, max_length=5)
    tokenizer(
        LONG, truncation=True, max_length=9, stride=2, return_overflowing_tokens=True, return_offsets_mapping=True
    )
    tokenizer("a", "b").char_to_token(0)
    tokenizer(LONG).tokens()
    tokenizer.decode(tokenizer.encode(LONG), skip_special_tokens=True)
    tokenizer.encode(LONG, allowed_special="all")
    tokenizer.convert_tokens_to_ids(["a", "nothing"])
    assert tokenizer.backend_tokenizer.get_vocab_size() == len(tokenizer)
    assert tokenizer.all_special_ids is not None
    len(tokenizer), tokenizer.get_vocab(), repr(tokenizer)


@kinds
def test_no_call_changes_the_fingerprint(kind: str) -> None:
    tokenizer = HfBpeTokenizer.from_pretrained(directory(kind))
    before = Hasher.hash(tokenizer)

    use(tokenizer)

    assert Hasher.hash(tokenizer) == before
    assert Hasher.hash(copy.deepcopy(tokenizer)) == before
    assert Hasher.hash(pickle.loads(pickle.dumps(tokenizer))) == before
    tokenizer.add_tokens(["<new>"])
    assert Hasher.hash(tokenizer) != before


@kinds
def test_the_fingerprint_is_the_same_in_each_process(kind: str) -> None:
    code = """
        import sys
        from datasets.fingerprint import Hasher
        from hf_bpe import HfBpeTokenizer
        print(Hasher.hash(HfBpeTokenizer.from_pretrained(sys.argv[1])))
    """
    folder = directory(kind)
    hashes = set()
    for seed in ("0", "1"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", textwrap.dedent(code), str(folder)]
        hashes.add(subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout.strip())

    assert hashes == {Hasher.hash(HfBpeTokenizer.from_pretrained(folder))}


MAP = """
    import sys, json
    import datasets
    from hf_bpe import HfBpeTokenizer

    tokenizer = HfBpeTokenizer.from_pretrained(sys.argv[1])
    if sys.argv[3] == "truncate":
        tokenizer("some text", truncation=True, max_length=3)
    rows = datasets.load_dataset("text", data_files=sys.argv[2], split="train", cache_dir=sys.argv[4])
    mapped = rows.map(lambda batch: tokenizer(batch["text"]), batched=True, num_proc=2)
    print(json.dumps([mapped["input_ids"][:], mapped._fingerprint, [file["filename"] for file in mapped.cache_files]]))
"""


def test_map_in_processes_finds_its_cache_again_after_truncation(tmp_path: Path) -> None:
    texts = [f"line {number} of the quick dog's text" for number in range(50)]
    (tmp_path / "rows.txt").write_text("\n".join(texts))

    def run(mode: str) -> list[Any]:
        arguments = [str(directory("template")), str(tmp_path / "rows.txt"), mode, str(tmp_path / "cache")]
        command = [sys.executable, "-c", textwrap.dedent(MAP), *arguments]
        process = subprocess.run(command, capture_output=True, text=True, check=False)
        assert process.returncode == 0, process.stderr
        result: list[Any] = json.loads(process.stdout.splitlines()[-1])
        return result

    first = run("plain")
    times = {name: os.stat(name).st_mtime_ns for name in first[2]}
    second = run("truncate")

    assert first == second
    assert {name: os.stat(name).st_mtime_ns for name in second[2]} == times
    assert first[0] == pair("template")[0](texts)["input_ids"]


@kinds
@pytest.mark.parametrize("copier", [copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))])
def test_a_copy_is_equal_and_independent(kind: str, copier: Any) -> None:
    tokenizer = HfBpeTokenizer.from_pretrained(directory(kind))
    use(tokenizer)

    copied = copier(tokenizer)

    assert type(copied) is HfBpeTokenizer
    assert copied._core == tokenizer._core
    assert copied(HOSTILE)["input_ids"] == tokenizer(HOSTILE)["input_ids"]
    assert copied.__dict__.keys() == tokenizer.__dict__.keys()
    copied.add_tokens(["<only in the copy>"])
    assert len(copied) == len(tokenizer) + 1
    assert "<only in the copy>" not in tokenizer.get_vocab()
    assert copied.backend_tokenizer.get_vocab_size() == tokenizer.backend_tokenizer.get_vocab_size() + 1


def test_a_deep_copy_shares_the_core() -> None:
    tokenizer, _ = pair("gpt2")

    assert copy.deepcopy(tokenizer)._core is tokenizer._core
    assert copy.deepcopy({"a": tokenizer, "b": tokenizer})["a"]._core is tokenizer._core


def test_a_copy_can_change_its_class() -> None:
    """What vLLM does to cache what it asks for often."""
    tokenizer, _ = pair("template")
    ids, vocab = tokenizer.all_special_ids, tokenizer.get_vocab()

    class Cached(tokenizer.__class__):  # type: ignore[name-defined,misc]
        @property
        def all_special_ids(self) -> list[int]:
            return ids

        def get_vocab(self) -> dict[str, int]:
            return vocab

        def __len__(self) -> int:
            return len(vocab)

        def __reduce__(self) -> Any:
            return copy.copy, (tokenizer,)

    copied = copy.copy(tokenizer)
    copied.__class__ = Cached

    assert copied(HOSTILE)["input_ids"] == tokenizer(HOSTILE)["input_ids"]
    assert copied.decode(copied.encode(LONG), skip_special_tokens=True) == LONG
    assert copied.get_vocab() is vocab
    assert copied.is_fast


@kinds
def test_threads_with_different_settings_do_not_meet(kind: str) -> None:
    tokenizer, _ = pair(kind)
    lengths = range(4, 20)
    expected = {length: tokenizer(LONG, truncation=True, max_length=length)["input_ids"] for length in lengths}
    barrier = threading.Barrier(len(lengths))

    def work(length: int) -> bool:
        barrier.wait()
        single = all(
            tokenizer(LONG, truncation=True, max_length=length)["input_ids"] == expected[length] for _ in range(30)
        )
        batch = tokenizer([LONG] * 5, truncation=True, max_length=length, return_offsets_mapping=True)
        return single and batch["input_ids"] == [expected[length]] * 5

    with ThreadPoolExecutor(len(lengths)) as pool:
        assert all(pool.map(work, lengths))


def encode_in_child(tokenizer: HfBpeTokenizer, texts: list[str], queue: Any) -> None:
    queue.put(tokenizer(texts)["input_ids"])


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_child_process_encodes_after_its_parent_did(method: str) -> None:
    tokenizer, _ = pair("template")
    texts = [LONG] * 64
    expected = tokenizer(texts)["input_ids"]
    context = multiprocessing.get_context(method)
    queue = context.Queue()

    child = context.Process(target=encode_in_child, args=(tokenizer, texts, queue))
    child.start()
    got = queue.get(timeout=60)
    child.join(timeout=60)

    assert got == expected
    assert child.exitcode == 0


def test_a_child_forked_while_another_thread_encodes_does_not_hang() -> None:
    tokenizer, _ = pair("template")
    texts = [LONG] * 64
    expected = tokenizer(texts)["input_ids"]
    stop = threading.Event()

    def keep_encoding() -> None:
        while not stop.is_set():
            tokenizer(texts)

    thread = threading.Thread(target=keep_encoding)
    thread.start()
    try:
        for _ in range(10):
            context = multiprocessing.get_context("fork")
            queue = context.Queue()
            child = context.Process(target=encode_in_child, args=(tokenizer, texts, queue))
            child.start()
            assert queue.get(timeout=60) == expected
            child.join(timeout=60)
            assert child.exitcode == 0
    finally:
        stop.set()
        thread.join()


def test_datasets_takes_the_tokenizer_itself_as_a_function() -> None:
    tokenizer, _ = pair("gpt2")
    rows = datasets.Dataset.from_dict({"text": HOSTILE})

    mapped = rows.map(tokenizer, input_columns="text", batched=True)

    assert mapped["input_ids"][:] == tokenizer(HOSTILE)["input_ids"]
