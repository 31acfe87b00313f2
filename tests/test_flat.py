"""Flat ids with offsets, numbers of ids, and long texts that are cut between threads."""

from __future__ import annotations

import functools
import itertools
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from directories import HOSTILE, KINDS, pair
from hypothesis import given
from hypothesis import strategies as st
from parity import Pair
from vocabularies import REAL

from hf_bpe import HfBpeTokenizer
from hf_bpe._native import Tokenizer

kinds = pytest.mark.parametrize("kind", KINDS)
real = pytest.mark.parametrize("real_vocabulary", REAL, indirect=True)
TEXTS = [*HOSTILE, "a<s>b <|end|> c", "é語🙂 e\u0301", "lone \ud800 and 🙂 \ud83d\ude42 pair"]
PIECES = st.lists(
    st.sampled_from(
        ["\n", "a", " b", "語", "!", "'s", "\r\n", "\u2028", "e\u0301", "\u0301", "1", "/", "\t", "é", "\x00"]
    )
)


@functools.cache
def loaded(path: Path) -> Tokenizer:
    return Tokenizer.from_json(path.read_bytes())


def offsets_of(core: Tokenizer, texts: list[str], **options: bool) -> list[list[tuple[int, int]]]:
    ids, bounds, offsets = core.encode_to_numpy_with_offsets(texts, **options)
    plain_ids, plain_bounds = core.encode_to_numpy(texts, **options)
    assert np.array_equal(ids, plain_ids)
    assert np.array_equal(bounds, plain_bounds)
    assert (offsets.dtype, offsets.shape) == (np.uint32, (len(ids), 2))
    rows = zip(bounds.tolist(), bounds[1:].tolist(), strict=False)
    return [[(start, end) for start, end in offsets[first:last].tolist()] for first, last in rows]


@kinds
@pytest.mark.parametrize("add_special_tokens", [True, False])
def test_offsets_are_those_of_a_call(kind: str, add_special_tokens: bool) -> None:
    ours, _ = pair(kind)

    _, bounds, offsets = ours.encode_to_numpy(TEXTS, add_special_tokens=add_special_tokens, return_offsets=True)

    for at, text in enumerate(TEXTS):
        called = ours(text, add_special_tokens=add_special_tokens, return_offsets_mapping=True)
        row = offsets[int(bounds[at]) : int(bounds[at + 1])].tolist()
        assert list(map(tuple, row)) == called["offset_mapping"], text[:40]


@real
def test_offsets_of_real_vocabularies_are_those_of_encodings(real_vocabulary: Path) -> None:
    core = loaded(real_vocabulary)
    texts = [text for text in TEXTS if len(text) < 5000]

    for options in ({}, {"split_special_tokens": True, "add_special_tokens": False}):
        encodings = core.encode_batch(texts, **options)
        assert offsets_of(core, texts, **options) == [encoding.offsets for encoding in encodings]


@kinds
def test_trimmed_offsets_are_trimmed_in_arrays_too(kind: str) -> None:
    core = pair(kind)[0]._core.with_component(
        "post_processor", '{"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true}'
    )

    assert offsets_of(core, TEXTS) == [core.encode(text).offsets for text in TEXTS]


@kinds
@pytest.mark.parametrize(
    "step",
    [
        {"type": "WhitespaceSplit"},
        {"type": "Punctuation", "behavior": "Removed"},
        {"type": "Split", "pattern": {"Regex": "[a-z]+"}, "behavior": "Removed", "invert": True},
    ],
    ids=lambda step: step["type"],
)
def test_offsets_pass_over_text_that_is_dropped(kind: str, step: dict[str, Any]) -> None:
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    steps = json.dumps({"type": "Sequence", "pretokenizers": [step, byte_level]})
    core = pair(kind)[0]._core.with_component("pre_tokenizer", steps)

    assert offsets_of(core, TEXTS) == [core.encode(text).offsets for text in TEXTS]


@kinds
@pytest.mark.parametrize("normalized", [True, False])
def test_offsets_of_added_tokens_that_share_blanks_are_those_of_stock(kind: str, normalized: bool) -> None:
    core = pair(kind)[0]._core
    data = json.loads(core.to_json())
    for at, (content, strips) in enumerate({"<one>": True, " <two>": False, "\n": False, "<3>": True}.items()):
        flags = {"single_word": False, "lstrip": False, "rstrip": strips, "normalized": normalized, "special": False}
        data["added_tokens"].append({"id": core.max_id + 1 + at, "content": content, **flags})
    texts = ["é<one>  <two>é", "<3>\n\n\n\né\n", "<one> <two><3> \n <two>", "a<one>\u3000\u3000<two>b"]

    Pair(json.dumps(data)).assert_equal(texts)


@kinds
def test_counts_are_the_lengths_of_calls(kind: str) -> None:
    ours, _ = pair(kind)

    for options in ({}, {"add_special_tokens": False}, {"split_special_tokens": True}):
        lengths = [len(ours(text, **options)["input_ids"]) for text in TEXTS]
        assert ours.count_tokens(TEXTS, **options) == lengths
        assert [ours.count_tokens(text, **options) for text in TEXTS] == lengths
    assert ours.count_tokens([]) == []


def test_counting_takes_texts_alone() -> None:
    ours, _ = pair("gpt2")

    with pytest.raises(TypeError, match=r"texts\[1\] must be a str, got int"):
        ours.count_tokens(["a", 1])
    with pytest.raises(TypeError, match="texts, each of them, must be a str, got int"):
        ours.count_tokens(1)


def test_counting_follows_the_setting_of_the_tokenizer() -> None:
    ours = HfBpeTokenizer(tokenizer_object=pair("gpt2")[0]._core)
    ours.add_special_tokens({"extra_special_tokens": ["<s>"]})
    whole = ours.count_tokens("a<s>")

    ours.split_special_tokens = True

    assert ours.count_tokens("a<s>") > whole


@real
@given(pieces=PIECES, size=st.integers(1, 12))
def test_parts_have_the_ids_of_the_whole_with_real_vocabularies(
    real_vocabulary: Path, pieces: list[str], size: int
) -> None:
    core = loaded(real_vocabulary)
    text = "\n".join("".join(pieces[at:]) for at in range(min(len(pieces), 4)))
    data = text.encode()
    edges = [0, *core.cut_places(text, size), len(data)]

    parts = [data[begin:end].decode() for begin, end in itertools.pairwise(edges)]

    rows = core.encode_ids_batch(parts, add_special_tokens=False)
    assert [token_id for row in rows for token_id in row] == core.encode_ids(text, add_special_tokens=False)


def test_a_long_text_has_the_same_ids_on_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, _ = pair("gpt2")
    text = "".join(f"line {n} <s> it's 語\nNext é{n}!\n\n  then\r\nLa fin.\n" for n in range(40_000))
    assert len(ours._core.cut_places(text, 256 << 10)) > 2
    rows = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("RAYON_NUM_THREADS", threads)
        ids, bounds = ours.encode_to_numpy(["", text, "a"])
        assert bounds.tolist()[-1] == len(ids)
        rows.append((ids.tolist(), ours.encode(text), ours.encode_ordinary(text), ours.count_tokens(text)))

    assert rows[0] == rows[1] == rows[2]
    assert rows[0][3] == len(rows[0][1])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_encodes_a_long_text() -> None:
    ours, _ = pair("gpt2")
    text = "one line.\nAnother\n" * 60_000
    count = ours.count_tokens(text)

    child = os.fork()
    if child == 0:
        os._exit(0 if len(ours.encode_ordinary(text)) and ours.count_tokens(text) == count else 1)

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
