"""What is wrong with arguments is said in words, before a corpus is read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hf_bpe import HfBpeTokenizer, add_words, extend, prune, retrain_for, train

TEXTS = ["the cat sat on the mat and the other cat sat on the hat " * 20]


@pytest.fixture(scope="module")
def tokenizer() -> HfBpeTokenizer:
    return train(TEXTS, vocab_size=280, eos_token="<|end|>", progress=False)


def _unread() -> Any:
    pytest.fail("the corpus was read")
    yield


EXTEND = (extend, {"num_new_tokens": 2})
WORDS = (add_words, {"words": [" MCP"]})
PRUNE = (prune, {"vocab_size": 270})


@pytest.mark.parametrize("function", [EXTEND, WORDS, PRUNE])
@pytest.mark.parametrize(
    ("options", "error", "reason"),
    [
        ({"report_on": "x"}, TypeError, "report_on is a mapping of names to texts, got str"),
        ({"report_on": ["x"]}, TypeError, "report_on is a mapping of names to texts, got list"),
        ({"report_on": {5: ["x"]}}, TypeError, "report_on maps names to texts, got the name 5"),
        ({"report_on": {"a": "x"}}, TypeError, r"report_on\['a'\] is a list of texts, got str; write \['x'\]"),
        ({"report_on": {"a": 5}}, TypeError, r"report_on\['a'\] is a list of texts, got int"),
        ({"max_lines": -1}, ValueError, "max_lines=-1 is out of range"),
        ({"max_lines": "5"}, TypeError, "max_lines is a whole number, got '5'"),
        ({"max_lines": 1.5}, TypeError, "max_lines is a whole number, got 1.5"),
    ],
)
def test_what_is_to_be_reported_is_checked_first(
    function: tuple[Callable[..., Any], dict[str, Any]],
    options: dict[str, Any],
    error: type[Exception],
    reason: str,
    tokenizer: HfBpeTokenizer,
) -> None:
    call, given = function

    with pytest.raises(error, match=reason):
        call(tokenizer, source=_unread(), **given, **options)


@pytest.mark.parametrize("argument", ["keep", "drop"])
def test_tokens_to_keep_and_to_drop_are_lists(argument: str, tokenizer: HfBpeTokenizer) -> None:
    with pytest.raises(TypeError, match=rf"{argument} is a list of tokens and ids, got str; write \['the'\]"):
        prune(tokenizer, **{argument: "the"})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=f"{argument} is a list of tokens and ids, got int"):
        prune(tokenizer, **{argument: 5})  # type: ignore[arg-type]


@pytest.mark.parametrize("words", [5, None, b"a"])
def test_words_are_a_list(words: Any, tokenizer: HfBpeTokenizer) -> None:
    with pytest.raises(TypeError, match=f"words is a list of words, got {type(words).__name__}"):
        add_words(tokenizer, words)


@pytest.mark.parametrize("size", ["270", 270.0])
def test_a_size_is_a_whole_number(size: Any, tokenizer: HfBpeTokenizer) -> None:
    for call in (lambda: prune(tokenizer, _unread(), vocab_size=size), lambda: retrain_for(tokenizer, TEXTS, size)):
        with pytest.raises(TypeError, match=f"vocab_size is a whole number, got {size!r}"):
            call()


def test_what_is_no_vocabulary_is_not_trained_anew(tokenizer: HfBpeTokenizer) -> None:
    with pytest.raises(TypeError, match="the tokenizer to retrain is an HfBpeTokenizer, got str"):
        retrain_for("gpt2", TEXTS, 270)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="vocab_size=-1 is out of range; give at least 1"):
        retrain_for(tokenizer, TEXTS, -1)


@pytest.mark.parametrize("source", [[], [""], iter([])])
def test_nothing_is_dropped_for_a_source_without_text(source: Any, tokenizer: HfBpeTokenizer) -> None:
    with pytest.raises(ValueError, match="the source has no text to count tokens in"):
        prune(tokenizer, source, vocab_size=270, progress=False)


def test_files_are_a_source_of_pruning_and_of_training_anew(tokenizer: HfBpeTokenizer, tmp_path: Path) -> None:
    path = tmp_path / "corpus.txt"
    path.write_text(TEXTS[0] + "\nthe cat\n")

    small, _ = prune(tokenizer, files=[path], vocab_size=270, progress=False)
    retrained, beside = retrain_for(tokenizer, None, 270, files=[path], progress=False)

    assert small.get_vocab() == prune(tokenizer, path, vocab_size=270, progress=False)[0].get_vocab()
    assert beside.pruned.get_vocab() == small.get_vocab()
    assert retrained.get_vocab() == retrain_for(tokenizer, path, 270, progress=False)[0].get_vocab()


@pytest.mark.parametrize("name", ["report.json", "report.html", "report.txt"])
def test_lone_surrogates_do_not_keep_a_report_from_being_saved(
    name: str, tokenizer: HfBpeTokenizer, tmp_path: Path
) -> None:
    _, report = add_words(tokenizer, [" MCP"], source=["\ud83d MCP"], report_on={"\udc4d": [" MCP"]})

    report.save(tmp_path / name)

    text = (tmp_path / name).read_text(encoding="utf-8")
    assert report.lines[0].text == "\ud83d MCP"
    if name.endswith("json"):
        assert json.loads(text) == json.loads(json.dumps(report.as_json()))
    else:
        assert "\ufffd" in text
