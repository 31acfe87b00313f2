"""`lint`: each kind of finding on a vocabulary that was made to have it, with the text that shows it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import real_vocabulary_file

import hf_bpe
from hf_bpe import ConversionError
from hf_bpe.linting import Finding, lint
from hf_bpe.linting.report import KINDS
from hf_bpe.linting.runs import heap, replay
from hf_bpe.vocabulary import Vocabulary

BYTES = {bytes([byte]): byte for byte in range(256)}
COMMAND = [sys.executable, "-c", "from hf_bpe.cli import main; main()"]
ENVIRONMENT = os.environ | {"TRANSFORMERS_VERBOSITY": "error", "COLUMNS": "200"}


def made(tokens: list[bytes], added: dict[str, int] | None = None, **changes: Any) -> dict[str, Any]:
    """Return the tokenizer.json of the bytes and of `tokens`, with every merge that makes them."""
    ranks = BYTES | {token: 256 + place for place, token in enumerate(tokens)}
    vocabulary = Vocabulary.from_ranks(
        ranks,
        split_pattern=changes.pop("split_pattern", "gpt2"),
        added_tokens=added or {},
        ignore_merges=False,
        **changes,
    )
    whole: dict[str, Any] = json.loads(vocabulary.core.to_json())
    return whole


def found_in(whole: dict[str, Any], kind: str) -> list[Finding]:
    """Return the findings of one kind."""
    return [finding for finding in lint(Vocabulary.from_json(whole)).findings if finding.kind == kind]


def flagged(whole: dict[str, Any], **flags: bool) -> dict[str, Any]:
    """Return a tokenizer.json whose added tokens have other flags."""
    for token in whole["added_tokens"]:
        token.update(flags)
    return whole


def test_a_vocabulary_in_order_has_no_findings() -> None:
    report = lint(Vocabulary.from_json(made([b"th", b"the"], {"<|end|>": 258})))

    assert report.findings == []
    assert report
    assert str(report) == "tokenizer: nothing found"


# --- tokens


def test_a_token_without_merges_is_dead_by_proof() -> None:
    whole = made([b"th", b"the"])
    whole["model"]["merges"] = [["t", "h"]]

    (finding,) = found_in(whole, "dead-token")

    assert (finding.id, finding.token, finding.text) == (257, "the", "the")
    assert finding.message == "257, 'the': no merges lead to it; the text is [256, 101]"


def test_a_token_that_another_merge_takes_apart_is_dead() -> None:
    whole = made([b"ab", b"bc", b"abc"])
    whole["model"]["merges"] = [["b", "c"], ["a", "b"], ["ab", "c"]]

    (finding,) = found_in(whole, "dead-token")

    assert finding.token == "abc"


def test_a_token_that_the_split_pattern_cuts_is_dead_with_what_its_text_becomes() -> None:
    (finding,) = found_in(made([b"a ", b"b"[:0] + b"1a"]), "dead-token")[:1]

    assert finding.text in ("a ", "1a")
    assert "texts around it gives it; the text is [" in finding.message


def test_a_token_that_the_normalizer_never_leaves_is_dead() -> None:
    decomposed = "e\u0301".encode()

    (finding,) = found_in(made([decomposed[1:], decomposed], normalizer="NFC"), "dead-token")[-1:]

    assert finding.text in ("e\u0301", "\u0301")


def test_part_of_a_character_is_not_dead_for_having_no_text() -> None:
    han = "語".encode()

    assert found_in(made([han[:2], han, b" " + han[:1]]), "dead-token") == []


def test_part_of_a_character_without_merges_is_dead() -> None:
    whole = made(["語".encode()[:2]])
    whole["model"]["merges"] = []

    (finding,) = found_in(whole, "dead-token")

    assert finding.text is None
    assert finding.message == "256, b'\\xe8\\xaa': no merges lead to it"


def test_a_whole_pretoken_needs_no_merges_where_they_are_ignored() -> None:
    whole = made([b"the"])
    assert len(found_in(whole, "dead-token")) == 1
    whole["model"]["ignore_merges"] = True

    assert found_in(whole, "dead-token") == []


@pytest.mark.parametrize("token", [b"'ll", b" the", b"\n\n", b"  ", b"123", b"!!\n"])
def test_a_token_that_needs_a_context_is_alive(token: bytes) -> None:
    tokens = [token[:size] for size in range(2, len(token) + 1)]

    assert token.decode() not in [f.text for f in found_in(made(tokens, split_pattern="cl100k"), "dead-token")]


def test_holes_are_notes_and_doubles_are_warnings() -> None:
    whole = made([b"th"], {"<|end|>": 300})
    whole["model"]["vocab"]["zz"] = 256

    report = lint(Vocabulary.from_json(whole))

    (hole,) = [finding for finding in report.findings if finding.kind == "hole"]
    (double,) = [finding for finding in report.findings if finding.kind == "double-id"]
    assert (hole.message, hole.level) == ("no token has the ids 257 to 299", "note")
    assert double.message == "256 is the id of ['th', 'zz']"
    assert not report


# --- merges


def test_a_heap_and_a_replay_part_where_a_merge_comes_before_its_half() -> None:
    whole = made([b"ab", b"abc"])
    whole["model"]["merges"] = [["ab", "c"], ["a", "b"]]

    (finding,) = found_in(whole, "replay-differs")

    assert (finding.token, finding.text) == ("ab c", "abc")
    assert finding.message == "merge 0, 'ab' + 'c': a heap gives ['abc'], a replay ['ab', 'c']"


def test_merges_in_training_order_are_the_same_for_heap_and_replay() -> None:
    tokenizer = hf_bpe.train(["the cat sat on the mat, then the hat"] * 5, vocab_size=265, progress=False)

    assert lint(tokenizer).counts == {}


def test_a_rank_file_joins_what_the_list_leaves_apart() -> None:
    whole = made([b"ab", b"bc", b"abc"])
    whole["model"]["merges"] = [["a", "b"], ["b", "c"], ["a", "bc"]]

    (finding,) = found_in(whole, "ranks-differ")

    assert finding.text is not None
    core = Vocabulary.from_json(whole).core
    ours, ranked = core.encode_ids(finding.text), core.as_rank_file().encode_ids(finding.text)
    assert ours != ranked
    assert finding.message == f"{finding.text!r} is {ours}, and by ranks {ranked}"


@pytest.mark.parametrize(
    ("symbols", "by_heap", "by_replay"),
    [
        ("abc", ["abc"], ["ab", "c"]),
        ("aaa", ["aa", "a"], ["aa", "a"]),
        ("xyz", ["x", "y", "z"], ["x", "y", "z"]),
        ("", [], []),
    ],
)
def test_heap_and_replay_by_hand(symbols: str, by_heap: list[str], by_replay: list[str]) -> None:
    ranks = {("ab", "c"): 0, ("a", "b"): 1, ("a", "a"): 2}

    assert heap(symbols, ranks) == by_heap
    assert replay(symbols, ranks) == by_replay


# --- files


def test_a_merge_without_a_result_is_a_finding_though_the_file_cannot_be_loaded(tmp_path: Path) -> None:
    whole = made([b"th", b"the"])
    del whole["model"]["vocab"]["the"]
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(whole), encoding="utf-8")

    report = lint(path)

    assert [finding.kind for finding in report.findings] == ["unreadable", "merge-without-result"]
    assert report.findings[1].message == "model.merges[1], 'th e': its result 'the' isn't in model.vocab"
    assert not report


def test_a_merge_that_stands_twice_is_named_with_both_places(tmp_path: Path) -> None:
    whole = made([b"th", b"the"])
    whole["model"]["merges"].append(["t", "h"])
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(whole), encoding="utf-8")

    (double,) = (finding for finding in lint(path).findings if finding.kind == "double-merge")

    assert double.message == "model.merges[2], 't h', stands at 0 already, and the last counts"
    assert double.text is None, "no other merge has a half of it"


@pytest.mark.parametrize("kind", ["tokenizer_json", "gpt2"])
def test_a_text_shows_that_the_last_of_two_equal_merges_counts(kind: str, tmp_path: Path) -> None:
    vocab = {"a": 0, "b": 1, "c": 2, "ab": 3, "bc": 4}
    merges = [["a", "b"], ["b", "c"], ["a", "b"]]
    if kind == "gpt2":
        path, where = tmp_path, "merges.txt, line 4, 'a b', stands at 2"
        (path / "vocab.json").write_text(json.dumps(vocab), encoding="utf-8")
        (path / "merges.txt").write_text("#version: 0.2\na b\nb c\na b\n", encoding="utf-8")
    else:
        path, where = tmp_path / "tokenizer.json", "model.merges[2], 'a b', stands at 0"
        whole = made([])
        whole["model"] |= {"vocab": vocab, "merges": merges}
        path.write_text(json.dumps(whole), encoding="utf-8")

    (double,) = (finding for finding in lint(path).findings if finding.kind == "double-merge")

    assert double.message == f"{where} already, and the last counts: with the first, 'abc' has other ids"
    assert double.text == "abc"
    assert not lint(path)


def test_a_file_of_no_format_raises(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")

    with pytest.raises(ConversionError, match="looks like none of"):
        lint(tmp_path / "file")
    with pytest.raises(ConversionError, match="there is no such file"):
        lint(tmp_path / "nothing")


def test_a_file_of_another_format_is_read(tmp_path: Path) -> None:
    hf_bpe.convert(Vocabulary.from_json(made([b"th"])), tmp_path / "a.gguf", sample=50)

    assert lint(tmp_path / "a.gguf").findings == []


# --- added tokens


def test_added_tokens_that_begin_or_overlap_others_are_notes() -> None:
    whole = made([], {"<|a|>": 256, "<|a|>b": 257, "|>b<": 258})

    report = lint(Vocabulary.from_json(whole))

    messages = [finding.message for finding in report.findings if finding.kind == "overlapping-added-tokens"]
    assert "'<|a|>' begins '<|a|>b': the longer one is found here, either of them elsewhere" in messages
    assert "in '<|a|>b<' the token '<|a|>b' hides '|>b<'" in messages
    assert report, "notes alone are no failure"


def test_an_added_token_that_its_text_does_not_give_is_an_error() -> None:
    whole = flagged(made([], {"Å": 256}, normalizer="NFD"), normalized=False)
    whole["added_tokens"].append(whole["added_tokens"][0] | {"id": 257, "content": "xÅ", "normalized": True})

    hidden = found_in(whole, "hidden-added-token")

    assert [(finding.id, finding.level) for finding in hidden] == [(257, "error")]
    assert hidden[0].message.startswith("257, 'xÅ': its own text is [")


def test_a_special_token_that_merges_make_is_spellable() -> None:
    whole = made([b"en", b"end"], {"end": 257})

    (finding,) = found_in(whole, "spellable-special-token")

    assert (finding.text, finding.id) == ("end", 257)
    assert "even where special tokens are ordinary text" in finding.message


def test_a_special_token_that_the_normalizer_makes_of_another_text_is_spellable() -> None:
    whole = flagged(made([], {"<|end|>": 256}, normalizer="NFKC"), normalized=True)

    (finding,) = found_in(whole, "spellable-special-token")

    assert finding.text == "＜｜ｅｎｄ｜＞"
    assert found_in(flagged(whole, normalized=False), "spellable-special-token") == []


@pytest.mark.parametrize("content", ["the", "End of text", "UNK", "naïve", "語", "!!", "\n", "2024", "e.g."])
def test_a_special_token_that_people_write_is_spellable(content: str) -> None:
    (finding,) = found_in(made([], {content: 256}), "spellable-special-token")

    assert (finding.text, finding.id, finding.level) == (content, 256, "warning")
    assert "people write that, and it is found wherever a text has it, inside words too" in finding.message


@pytest.mark.parametrize("content", ["<s>", "[PAD]", "<|the|>", "｜the｜", "</w>", "\ue000", "\x00", "~~", "@user"])
def test_a_special_token_with_marks_around_it_is_not(content: str) -> None:
    assert found_in(made([], {content: 256}), "spellable-special-token") == []


# --- the report


def test_kinds_can_be_left_out_and_unknown_ones_are_named() -> None:
    whole = made([b"th", b"the"])
    whole["model"]["merges"] = []
    vocabulary = Vocabulary.from_json(whole)

    assert lint(vocabulary).counts["dead-token"] == 2
    assert "dead-token" not in lint(vocabulary, ignore=["dead-token"]).counts
    with pytest.raises(
        ValueError, match=r"ignore has \['dead'\]; the kinds of findings are \['charsmap-differs', 'dead-token'"
    ):
        lint(vocabulary, ignore=["dead"])


def test_long_lists_are_cut_in_print_and_whole_in_json() -> None:
    whole = made([bytes([byte]) * 2 for byte in range(97, 97 + 20)])
    whole["model"]["merges"] = []

    report = lint(Vocabulary.from_json(whole))

    assert "  … and 10 more; --json shows all" in str(report)
    dead = [finding for finding in report.as_json()["findings"] if finding["kind"] == "dead-token"]
    assert len(dead) == 20
    assert dead[0].keys() == {"kind", "level", "message", "id", "token", "text"}


def test_every_kind_has_a_level_and_a_meaning() -> None:
    assert {level for level, _ in KINDS.values()} == {"error", "warning", "note"}


def run(*arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    """Run `hf-bpe lint` in a process of its own."""
    command = [*COMMAND, "lint", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, env=ENVIRONMENT, timeout=120, check=False)


def test_the_command_has_an_exit_code_for_continuous_integration(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    whole = made([b"th", b"the"])
    path.write_text(json.dumps(whole), encoding="utf-8")
    clean = run(path)
    whole["model"]["merges"] = [["t", "h"]]
    path.write_text(json.dumps(whole), encoding="utf-8")

    odd, ignored = run(path, "--json"), run(path, "--ignore", "dead-token", "--ignore", "ranks-differ")
    wrong, missing = run(path, "--ignore", "dead"), run(tmp_path / "nothing")

    assert (clean.returncode, clean.stdout.decode()) == (0, f"{path}: nothing found\n")
    assert odd.returncode == 1
    assert json.loads(odd.stdout)["counts"]["dead-token"] == 1
    assert odd.stderr.decode() == f"hf-bpe: {path}: there are warnings or errors\n"
    assert ignored.returncode == 0, ignored.stdout
    assert (wrong.returncode, missing.returncode) == (2, 1)
    assert b"there is no such file" in missing.stderr


@pytest.mark.parametrize(("name", "kinds"), [("gpt2", set()), ("cl100k", {"hole"})])
def test_real_vocabularies(name: str, kinds: set[str], request: pytest.FixtureRequest) -> None:
    path = real_vocabulary_file(request.config, name)
    if path is None:
        pytest.skip(f"the package with {name} isn't installed: see requirements-vocabularies.txt")

    assert set(lint(path).counts) == kinds
