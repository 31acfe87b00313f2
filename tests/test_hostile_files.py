"""Damaged and hostile files are normal errors: with the place in the file, in bounded time and memory.

Where stock refuses a file, hf_bpe refuses it too. The reverse need not hold: stock guesses at some damaged files.
"""

from __future__ import annotations

import base64
import copy
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from pipelines.charsmap import charsmap
from pipelines.probes import StockPanicked, stock_outcome

from hf_bpe import HfBpeTokenizer, TokenizerFileError
from hf_bpe._native import Tokenizer

Json = dict[str, Any]

BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
SPLIT = {"type": "Split", "pattern": {"Regex": r"\s+"}, "behavior": "Isolated", "invert": False}


def token(id: int, content: str) -> Json:
    """Return an added token."""
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {"id": id, "content": content, **flags}


FILE: Json = {
    "version": "1.0",
    "truncation": {"direction": "Right", "max_length": 512, "strategy": "LongestFirst", "stride": 0},
    "padding": {
        **{"strategy": {"Fixed": 8}, "direction": "Left", "pad_to_multiple_of": 8},
        **{"pad_id": 4, "pad_type_id": 0, "pad_token": "<s>"},
    },
    "added_tokens": [token(4, "<s>"), token(5, "</s>")],
    "normalizer": {
        "type": "Sequence",
        "normalizers": [
            {"type": "NFC"},
            {"type": "Lowercase"},
            {"type": "Strip", "strip_left": True, "strip_right": False},
            {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
            {"type": "Prepend", "prepend": "▁"},
            {
                **{"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True},
                **{"strip_accents": None, "lowercase": False},
            },
            {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(charsmap({"ﬁ": "fi"})).decode()},
        ],
    },
    "pre_tokenizer": {
        "type": "Sequence",
        "pretokenizers": [
            SPLIT,
            {"type": "Digits", "individual_digits": True},
            {"type": "Punctuation", "behavior": "Isolated"},
            {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": True},
            {"type": "CharDelimiterSplit", "delimiter": "-"},
            {"type": "FixedLength", "length": 5},
            BYTE_LEVEL,
        ],
    },
    "post_processor": {
        "type": "Sequence",
        "processors": [
            dict(BYTE_LEVEL),
            {
                **{"type": "RobertaProcessing", "sep": ["</s>", 5], "cls": ["<s>", 4]},
                **{"trim_offsets": True, "add_prefix_space": False},
            },
            {
                "type": "TemplateProcessing",
                "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
                "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
                "special_tokens": {"<s>": {"id": "<s>", "ids": [4], "tokens": ["<s>"]}},
            },
        ],
    },
    "decoder": {
        "type": "Sequence",
        "decoders": [
            {"type": "Replace", "pattern": {"Regex": "▁"}, "content": " "},
            {"type": "ByteFallback"},
            {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
            {"type": "BPEDecoder", "suffix": "</w>"},
            {"type": "WordPiece", "prefix": "##", "cleanup": True},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0},
            {"type": "Fuse"},
        ],
    },
    "model": {
        **{"type": "BPE", "dropout": 0.1, "unk_token": "a", "continuing_subword_prefix": "", "end_of_word_suffix": ""},
        **{"fuse_unk": False, "byte_fallback": True, "ignore_merges": False},
        **{"vocab": {"a": 0, "b": 1, "ab": 2, "abab": 3}, "merges": [["a", "b"], ["ab", "ab"]]},
    },
}
"""A file with every kind of component, as far as one file can hold them."""

WRONG: list[Any] = [None, True, -1, 0.5, 7, "text", [], ["a"], {}, {"type": "Nonsense"}]

Path_ = tuple[str | int, ...]


def nodes(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """Yield the path of each node below `value`."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*path, key)
        if isinstance(item, (dict, list)):
            yield from nodes(item, (*path, key))


def changed(path: Path_, *value: Any) -> Json:
    """Return the file with another value at `path`, or without one."""
    data = copy.deepcopy(FILE)
    at: Any = data
    for key in path[:-1]:
        at = at[key]
    if value:
        at[path[-1]] = value[0]
    else:
        del at[path[-1]]
    return data


def refusal(data: bytes | str) -> TokenizerFileError | None:
    """Return the error that hf_bpe refuses `data` with; any other exception is a failure."""
    try:
        Tokenizer.from_json(data)
    except TokenizerFileError as error:
        return error
    return None


def stock_refuses(data: str) -> bool:
    """Whether stock refuses `data`, or panics on it."""
    try:
        return isinstance(stock_outcome(lambda: tokenizers.Tokenizer.from_str(data)), Exception)
    except StockPanicked:
        return True


def test_the_file_that_the_others_damage_loads() -> None:
    assert refusal(json.dumps(FILE)) is None
    assert not stock_refuses(json.dumps(FILE))


@pytest.mark.parametrize("fraction", range(50))
def test_a_file_that_ends_early_is_an_error_with_its_line(fraction: int) -> None:
    data = json.dumps(FILE, indent=1).encode()

    error = refusal(data[: len(data) * fraction // 50])

    assert error is not None
    assert "tokenizer.json can't be read: EOF while parsing" in str(error)
    assert "at line" in str(error)


@pytest.mark.parametrize("key", list(FILE))
def test_a_value_of_a_wrong_type_is_refused_where_stock_refuses_it(key: str) -> None:
    for path in [(key,), *((key, *path) for path in nodes(FILE[key]) if isinstance(FILE[key], dict | list))]:
        for value in WRONG:
            data = json.dumps(changed(path, value))
            error = refusal(data)
            assert error is not None or not stock_refuses(data), f"{path} = {value!r}: stock refuses it"
            places = (f"tokenizer.json: {key}", *(("tokenizer.json: merge ",) if key == "model" else ()))
            assert error is None or str(error).startswith(places), f"{path} = {value!r}: {error}"


@pytest.mark.parametrize("key", list(FILE))
def test_a_missing_value_is_refused_where_stock_refuses_it(key: str) -> None:
    for path in [(key,), *((key, *path) for path in nodes(FILE[key]) if isinstance(FILE[key], dict | list))]:
        data = json.dumps(changed(path))
        error = refusal(data)
        assert error is not None or not stock_refuses(data), f"without {path}: stock refuses it"
        assert error is None or str(error).startswith("tokenizer.json: "), f"without {path}: {error}"


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("model",), None, "model should be an object, found null"),
        (("model", "vocab"), None, "model.vocab should be an object of ids by token, found null"),
        (("model", "vocab"), ["a"], "model.vocab should be an object of ids by token, found an array"),
        (("model", "vocab", "ab"), -1, r"model.vocab\['ab'\] should be an id from 0 to 4294967295, found -1"),
        (("model", "vocab", "ab"), 2**32, r"model.vocab\['ab'\] should be an id .*, found 4294967296"),
        (("model", "vocab", "ab"), 2.0, r"model.vocab\['ab'\] should be an id .*, found 2.0"),
        (("model", "vocab", "ab"), 10**30, r"model.vocab\['ab'\] should be an id .*, found 1e\+?30"),
        (("model", "merges"), {}, "model.merges should be an array of pairs, found an object"),
        (("model", "merges", 1), "ab", r"model.merges\[1\] should be a pair .*, found 'ab'"),
        (("model", "merges", 1), ["a", "b", "c"], r"model.merges\[1\] should be a pair .*, found an array of 3"),
        (("model", "merges", 1), ["a", 1], r"model.merges\[1\] should be a pair of two strings, found 1"),
        (("model", "merges", 1), 5, r"model.merges\[1\] should be a pair .*, found 5"),
        (("model", "merges", 0), ["a", "c"], "merge 0 is 'a c', but 'c' is not in model.vocab"),
        (("model", "merges", 0), ["b", "b"], "merge 0 is 'b b', but 'bb' is not in model.vocab"),
        (("model", "dropout"), 1.5, "model.dropout should be a number from 0 to 1, found 1.5"),
        (("model", "type"), "Unigram", "model.type is 'Unigram'; hf_bpe supports 'BPE'"),
        (("added_tokens",), None, "added_tokens should be an array, found null"),
        (("added_tokens",), {}, "added_tokens should be an array, found an object"),
        (("added_tokens", 1), "a", r"added_tokens\[1\] should be an object, found \"a\""),
        (("added_tokens", 1, "id"), -1, r"added_tokens\[1\].id should be a number from 0 to 4294967295, found -1"),
        (("added_tokens", 1, "content"), 5, r"added_tokens\[1\].content should be a string, found 5"),
        (("truncation", "direction"), "Up", "truncation.direction should be 'Left' or 'Right', found \"Up\""),
        (("truncation", "max_length"), -1, "truncation.max_length should be a number that isn't negative, found -1"),
        (("padding", "strategy"), {"Fixed": "x"}, "padding.strategy.Fixed should be a number"),
        (("padding", "strategy"), "Longest", "padding.strategy should be 'BatchLongest' or an object with 'Fixed'"),
        (("version",), "2.0", "version is \"2.0\"; hf_bpe reads version '1.0'"),
        (("pre_tokenizer", "pretokenizers", 0, "pattern"), {"Regex": "("}, r"pretokenizers\[0\].pattern: .*compiled"),
        (("normalizer", "normalizers", 3, "pattern"), {"Regex": "["}, r"normalizers\[3\].pattern: .*compiled"),
    ],
)
def test_an_error_names_the_place_and_what_was_found(path: Path_, value: Any, message: str) -> None:
    with pytest.raises(TokenizerFileError, match=message):
        Tokenizer.from_json(json.dumps(changed(path, value)))


@pytest.mark.parametrize(
    ("original", "twice", "message"),
    [
        ('"version": "1.0"', '"version": "1.0", "version": "1.0"', "the file has 'version' twice"),
        ('"decoder": {', '"decoder": null, "decoder": {', "the file has 'decoder' twice"),
        ('"model": {', '"model": {"type": "BPE", "vocab": {}, "merges": []}, "model": {', "the file has 'model' twice"),
        ('"fuse_unk": false', '"fuse_unk": false, "fuse_unk": true', "model has 'fuse_unk' twice"),
        ('"merges": [', '"merges": [], "merges": [', "model has 'merges' twice"),
        ('"ab": 2', '"ab": 2, "ab": 3', "model.vocab has 'ab' twice"),
        ('"invert": false', '"invert": false, "invert": true', r"pre_tokenizer.pretokenizers\[0\] has 'invert' twice"),
        ('"id": 5', '"id": 5, "id": 6', r"added_tokens\[1\] has 'id' twice"),
    ],
)
def test_a_key_that_stands_twice_is_an_error(original: str, twice: str, message: str) -> None:
    """Stock takes the last of both; which of them was meant nobody knows."""
    data = json.dumps(FILE)
    assert original in data

    with pytest.raises(TokenizerFileError, match=f"tokenizer.json: {message}"):
        Tokenizer.from_json(data.replace(original, twice, 1))


@pytest.mark.parametrize(
    "text",
    [
        "NaN",
        "Infinity",
        "-",
        "01",
        "1.",
        "'a'",
        '"\\ud800"',
        '"\\udc00\\ud800"',
        '"\\x"',
        '"\n"',
        "[1,]",
        "{,}",
        "/**/1",
    ],
)
def test_what_is_no_json_is_an_error_with_its_line(text: str) -> None:
    for place in ("version", "decoder"):
        data = json.dumps(FILE | {place: "HERE"}).replace('"HERE"', text, 1)
        with pytest.raises(TokenizerFileError, match=r"tokenizer.json can't be read: .* at line \d+ column \d+"):
            Tokenizer.from_json(data)


@pytest.mark.parametrize(
    "data",
    [b"", b" ", b"null", b"[]", b'"text"', b"5", b"\x00" * 100, b"\xff\xfe", b"\xef\xbb\xbf", b"PK\x03\x04", b"{} {}"],
)
def test_what_is_no_object_is_an_error(data: bytes) -> None:
    assert refusal(data) is not None


def test_a_byte_order_mark_is_passed_over_and_utf_16_is_an_error(tmp_path: Path) -> None:
    text = json.dumps(FILE)

    assert refusal(b"\xef\xbb\xbf" + text.encode()) is None
    for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32"):
        assert refusal(text.encode(encoding)) is not None
        path = tmp_path / "tokenizer.json"
        path.write_bytes(text.encode(encoding))
        with pytest.raises(TokenizerFileError, match=r"tokenizer\.json holds a NUL byte at .*UTF-16"):
            HfBpeTokenizer(tokenizer_file=str(path))


def test_text_that_is_no_utf_8_is_an_error() -> None:
    data = json.dumps(FILE, ensure_ascii=False).encode("utf-8").replace("▁".encode(), b"\xe2\x96", 1)

    with pytest.raises(TokenizerFileError, match=r"tokenizer\.json can't be read: invalid unicode"):
        Tokenizer.from_json(data)


PLACES: dict[str, Path_] = {
    "normalizer": ("normalizer",),
    "pattern": ("pre_tokenizer", "pretokenizers", 0, "pattern"),
    "added token": ("added_tokens", 0),
    "truncation": ("truncation",),
    "vocab": ("model", "vocab"),
    "id": ("model", "vocab", "a"),
    "merges": ("model", "merges"),
    "merge": ("model", "merges", 0),
    "part of a merge": ("model", "merges", 0, 0),
    "setting of the model": ("model", "unk_token"),
    "model": ("model",),
    "version": ("version",),
}


@pytest.mark.parametrize("brackets", ["[]", "{}"])
@pytest.mark.parametrize("place", PLACES)
def test_brackets_in_brackets_end_in_an_error(place: str, brackets: str) -> None:
    nested = "[" * 100_000 + "]" * 100_000 if brackets == "[]" else '{"a":' * 100_000 + "1" + "}" * 100_000
    data = json.dumps(changed(PLACES[place], "HERE")).replace('"HERE"', nested)

    started = time.monotonic()
    assert refusal(data) is not None
    assert time.monotonic() - started < 5


def test_a_key_that_no_file_has_is_an_error_as_in_stock() -> None:
    data = json.dumps(FILE | {"extra": None})

    assert stock_refuses(data)
    with pytest.raises(
        TokenizerFileError, match=r"the file has 'extra', which no tokenizer.json has; expected 'version'"
    ):
        Tokenizer.from_json(data)


@pytest.mark.parametrize(
    "pattern", ["(", "[", "*", "a{2", r"\p{Nonsense}", "(?<n>a)(?<n", r"\1", "(?", "[z-a]", r"(?<=a*)b"]
)
def test_a_pattern_that_is_refused_by_stock_is_refused_with_its_path(pattern: str) -> None:
    places: list[Path_] = [
        ("pre_tokenizer", "pretokenizers", 0, "pattern"),
        ("normalizer", "normalizers", 3, "pattern"),
        ("decoder", "decoders", 0, "pattern"),
    ]
    for path in places:
        data = json.dumps(changed(path, {"Regex": pattern}))
        error = refusal(data)
        assert (error is not None) == stock_refuses(data)
        assert error is None or str(error).startswith(f"tokenizer.json: {path[0]}.{path[1]}[{path[2]}].pattern")


# --- bounded time and memory


_LOAD = """
import resource, sys, time
from hf_bpe import HfBpeTokenizer, HfBpeError
from hf_bpe._native import Tokenizer
def megabytes(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
before, started = megabytes(), time.monotonic()
try:
    {work}
    print("loaded", end="; ")
except HfBpeError as error:
    print(type(error).__name__, str(error)[:300], end="; ")
print(f"{{megabytes() - before:.0f}} MB {{time.monotonic() - started:.2f}} s")
"""


def load_apart(work: str, *, timeout: float = 60) -> tuple[str, float, float]:
    """Return what loading in a process of its own says, and the megabytes and seconds that it takes."""
    done = subprocess.run(
        [sys.executable, "-c", _LOAD.format(work=work)],
        capture_output=True,
        text=True,
        timeout=timeout,
        cwd=Path(__file__).parents[1],
        check=True,
    )
    said, _, figures = done.stdout.rpartition("; ")
    megabytes, _, seconds, _ = figures.split()
    return said, float(megabytes), float(seconds)


@pytest.mark.parametrize("head", [b"", b"{", b'{"version": "1.0", "model": {"type": "BPE", "vocab": {"a'])
def test_a_gigabyte_of_zeros_is_an_error_before_it_is_read(tmp_path: Path, head: bytes) -> None:
    path = tmp_path / "tokenizer.json"
    with path.open("wb") as file:
        file.write(head)
        file.truncate(1 << 30)

    for work in (f"HfBpeTokenizer(tokenizer_file={str(path)!r})", f"HfBpeTokenizer.from_pretrained({str(tmp_path)!r})"):
        said, megabytes, seconds = load_apart(work)

        assert said.startswith(f"TokenizerFileError tokenizer.json holds a NUL byte at {len(head)}")
        assert megabytes < 100
        assert seconds < 10


def test_a_directory_in_place_of_the_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").mkdir()

    with pytest.raises(TokenizerFileError, match=r"tokenizer\.json is a directory"):
        HfBpeTokenizer(tokenizer_file=str(tmp_path / "tokenizer.json"))


@pytest.mark.parametrize("id", [10**9, 2**32 - 1])
def test_a_huge_id_costs_no_memory(id: int) -> None:
    data = changed(("model", "vocab", "abab"), id)
    data["added_tokens"][1]["id"] = id - 1

    said, megabytes, seconds = load_apart(f"Tokenizer.from_json({json.dumps(data)!r}).encode('abab</s>')")

    assert said == "loaded"
    assert megabytes < 50
    assert seconds < 2


def test_there_is_no_id_behind_the_last_one() -> None:
    data = changed(("model", "vocab", "abab"), 2**32 - 1)
    data["added_tokens"] = []
    data["post_processor"] = None
    tokenizer = Tokenizer.from_json(json.dumps(data))

    with pytest.raises(ValueError, match="no id is left for '<new>'"):
        tokenizer.with_added_tokens([("<new>", False, False, False, False, False)])


BOMBS = {
    "counts in counts": "((((a{1000}){1000}){1000}){1000}){1000}",
    "optional counts": "(a?){30000}a{30000}",
    "a hundred thousand groups": "(" * 30_000 + ")" * 30_000,
    "a long pattern": "a|" * 500_000,
    "a class of classes": "[" * 5_000 + "a" + "]" * 5_000,
    "backtracking": "(x+x+)+y",
    "alternatives in a star": "(a|aa|aaa)*b",
    "lookbehind": "(?<=" + "|".join("a" * n for n in range(1, 200)) + ")b",
    "a call of itself": r"(?<n>a\g<n>?b)*c",
    "an endless call": r"(?<n>\g<n>)",
    "back references": r"(a*)\1\1\1\1b",
}


@pytest.mark.parametrize("kind", BOMBS)
@pytest.mark.parametrize("component", ["pre_tokenizer", "normalizer", "decoder"])
def test_a_pattern_that_explodes_ends_in_a_result_or_an_error(component: str, kind: str, tmp_path: Path) -> None:
    pattern = {"Regex": BOMBS[kind]}
    replace = {"type": "Replace", "pattern": pattern, "content": "-"}
    parts = {"pre_tokenizer": SPLIT | {"pattern": pattern}, "normalizer": replace, "decoder": replace}
    nothing = dict.fromkeys(("normalizer", "pre_tokenizer", "post_processor", "decoder", "truncation", "padding"))
    data = FILE | nothing | {component: parts[component]}
    (tmp_path / "tokenizer.json").write_text(json.dumps(data))
    read = f"tokenizer = Tokenizer.from_json(open({str(tmp_path / 'tokenizer.json')!r}).read())"
    use = "tokenizer.decode([3] * 20_000)" if component == "decoder" else "tokenizer.encode('ax' * 9 + 'a' * 40_000)"

    said, megabytes, seconds = load_apart(f"{read}; {use}")

    assert said == "loaded" or said.startswith(("TokenizerFileError tokenizer.json: ", "SplitPatternError "))
    assert megabytes < 500
    assert seconds < 30
