"""What callers pass by mistake is told by the name of the argument, in the exceptions that are promised."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hf_bpe
from hf_bpe import HfBpeTokenizer
from hf_bpe.vocabulary import Vocabulary

WRONG: list[Any] = [
    *(None, 5, -1, 1.5, True, b"x", [], [1], {}, {1: 2}, {"a": "b"}, object(), "", "\0", "nope", "a" * 5_000, "\ud800"),
    *(Path("/nonexistent/x"), float("nan"), 10**30, ("a",), {"a"}, Vocabulary),
]
BARE = re.compile("not iterable|unsupported operand|unhashable|has no attribute|not subscriptable|NoneType' obj|codec")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a small vocabulary in three formats."""
    folder = tmp_path_factory.mktemp("wrong")
    made = tokenizer()
    made.save_pretrained(folder / "directory")
    hf_bpe.convert(made, folder / "a.tiktoken", sample=1, progress=False)
    hf_bpe.convert(made, folder / "gpt2", destination_format="gpt2", sample=1, progress=False)
    return folder


def tokenizer() -> HfBpeTokenizer:
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"th": 256}
    plain = Vocabulary.from_ranks(ranks, split_pattern="gpt2", ignore_merges=False)
    split = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    core = plain.core.with_component("pre_tokenizer", json.dumps(split)).with_component("post_processor", None)
    return HfBpeTokenizer.from_vocabulary(plain.replace(core=core))


def quiet_convert(place: Path, **options: Any) -> Any:
    given = {"source": place / "directory", "destination": place / "made", "overwrite": True} | options
    return hf_bpe.convert(**{"sample": 1, "progress": False} | given)


def ranks_with(name: str) -> Callable[[Path, Any], Any]:
    return lambda place, wrong: hf_bpe.from_tiktoken(place / "a.tiktoken", **{"split_pattern": "gpt2"} | {name: wrong})


def convert_with(name: str) -> Callable[[Path, Any], Any]:
    return lambda place, wrong: quiet_convert(place, **{name: wrong})


def convert_ranks_with(name: str) -> Callable[[Path, Any], Any]:
    return lambda place, wrong: quiet_convert(
        place, source=place / "a.tiktoken", read_options={"split_pattern": "gpt2"} | {name: wrong}
    )


CALLS: dict[str, Callable[[Path, Any], Any]] = {
    "from_gguf": lambda place, wrong: hf_bpe.from_gguf(wrong),
    "from_gpt2": lambda place, wrong: hf_bpe.from_gpt2(wrong),
    "from_gpt2 add_prefix_space": lambda place, wrong: hf_bpe.from_gpt2(place / "gpt2", add_prefix_space=wrong),
    "from_sentencepiece": lambda place, wrong: hf_bpe.from_sentencepiece(wrong),
    "from_tekken": lambda place, wrong: hf_bpe.from_tekken(wrong),
    "from_tiktoken": lambda place, wrong: hf_bpe.from_tiktoken(wrong),
    **{
        f"from_tiktoken {name}": ranks_with(name)
        for name in ("split_pattern", "special_tokens", "normalizer", "add_bos_token", "extra_special_tokens")
    },
    "compare a": lambda place, wrong: hf_bpe.compare(wrong, tokenizer(), sample=1),
    "compare b": lambda place, wrong: hf_bpe.compare(tokenizer(), wrong, sample=1),
    "compare texts": lambda place, wrong: hf_bpe.compare(
        tokenizer(), tokenizer().backend_tokenizer, wrong, sample=1, progress=False
    ),
    "compare sample": lambda place, wrong: hf_bpe.compare(
        tokenizer(), tokenizer().backend_tokenizer, sample=wrong, progress=False
    ),
    "lint": lambda place, wrong: hf_bpe.lint(wrong),
    "lint source_format": lambda place, wrong: hf_bpe.lint(place / "directory", source_format=wrong),
    "lint ignore": lambda place, wrong: hf_bpe.lint(place / "directory", ignore=wrong),
    **{
        f"convert {name}": convert_with(name)
        for name in ("source", "destination", "source_format", "destination_format", "texts", "read_options")
    },
    **{f"convert {name}": convert_with(name) for name in ("write_options", "sample")},
    **{
        f"convert ranks, {name}": convert_ranks_with(name)
        for name in ("split_pattern", "special_tokens", "normalizer", "encoding")
    },
    "convert architecture": lambda place, wrong: quiet_convert(
        place, destination=place / "a.gguf", write_options={"architecture": wrong}
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_value_is_taken_or_told_in_words(name: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    told = []
    for wrong in WRONG:
        try:
            CALLS[name](place, wrong)
        except (TypeError, ValueError) as error:  # a ConversionError is a ValueError
            told.append((wrong, str(error)))

    assert [pair for pair in told if BARE.search(pair[1]) or not 0 < len(pair[1]) <= 800] == []
    assert told or name == "from_tiktoken add_bos_token"


@pytest.mark.parametrize("function", ["from_gguf", "from_gpt2", "from_sentencepiece", "from_tekken"])
def test_what_is_no_path_is_told_by_name(function: str) -> None:
    with pytest.raises(TypeError, match=r"^path is a path \(str or os.PathLike\), got int: 5\.$"):
        getattr(hf_bpe, function)(5)


MESSAGES: dict[str, tuple[Any, type[Exception], str]] = {
    "from_tiktoken": (5, TypeError, r"encoding is a tiktoken.Encoding, the name of one, or a path, got int: 5"),
    "from_tiktoken special_tokens": ({"a": "b"}, TypeError, r"special_tokens is a dict of ids by token, such as"),
    "from_tiktoken extra_special_tokens": ([1], TypeError, r"special tokens are of type str or AddedToken, got int: 1"),
    "from_gpt2 add_prefix_space": ("no", TypeError, r"add_prefix_space is True or False, got str: 'no'"),
    "compare texts": ("a text", TypeError, r"texts is a list of texts \(of one text, write \[text\]\), got str"),
    "compare sample": (-1, ValueError, r"sample is a number of texts from 0 up, or None for all, got -1"),
    "lint ignore": (None, TypeError, r"ignore is a list of kinds of findings, such as \['dead-token'\], got None"),
    "lint source_format": ([1], TypeError, r"format is a name \(str\), got list: \[1\]"),
    "convert write_options": (5, TypeError, r"write_options is a dict such as \{'stock': True\}, got int: 5"),
    "convert source": (None, TypeError, r"source is a path \(str or os.PathLike\), got NoneType: None"),
    "convert architecture": ("\ud800", ValueError, r"architecture is a name such as 'llama', got '\\ud800'"),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_a_message_says_what_was_wanted_and_what_was_found(name: str, place: Path) -> None:
    wrong, kind, message = MESSAGES[name]

    with pytest.raises(kind, match=message):
        CALLS[name](place, wrong)
