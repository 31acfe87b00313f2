"""Golden cases against a tokenizer: what agrees, and the first difference where something doesn't."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from chat_families import VOCABULARIES, families, sides, small_sides
from oracle import goldens, upstream

from hf_bpe.chat import conformance, pin_clock, templates
from hf_bpe.chat.cases import read_cases

CHAT = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "low"}]


def golden_cases(family: str) -> dict[str, Any]:
    """Return cases as stock's tokenizer of a family gives them."""
    stock = small_sides(family)[1]
    cases = []
    for number, prompt in enumerate((False, True)):
        arguments: dict[str, Any] = {"add_generation_prompt": prompt}
        text = stock.apply_chat_template(CHAT, tokenize=False, **arguments)
        ids = stock.apply_chat_template(CHAT, return_dict=False, **arguments)
        cases.append({"id": f"c{number}", "messages": CHAT, **arguments, "expected": {"text": text, "ids": ids}})
    error = {"class": "ValueError", "message": "Cannot apply chat template to an empty conversation. Provide at "}
    cases.append({"messages": [], "expected": {"error": error | {"message": error["message"] + "least one message."}}})
    return {"cases": cases}


@pytest.mark.parametrize("family", VOCABULARIES)
def test_goldens_of_stock_come_out(family: str, tmp_path: Path) -> None:
    (tmp_path / "cases.json").write_text(json.dumps(golden_cases(family)), encoding="utf-8")
    result = conformance(small_sides(family)[0].name_or_path, tmp_path / "cases.json")

    assert result
    assert result == conformance(small_sides(family)[1], str(tmp_path / "cases.json")), "stock's tokenizer will do"
    assert (result.template, result.compared, result.differences) == (None, 3, ())
    assert str(result) == "3 of 3 cases come out as expected"
    assert result.as_json() == {"template": None, "compared": 3, "differences": []}


def changed(**changes: Any) -> Any:
    """Return what is found when the second case expects something else."""
    golden = golden_cases("qwen3")
    golden["cases"][1]["expected"] |= changes
    result = conformance(small_sides("qwen3")[0], golden["cases"])
    assert not result
    assert [difference.case for difference in result.differences] == ["c1"]
    return result.differences[0]


def test_the_first_difference_is_told() -> None:
    expected = golden_cases("qwen3")["cases"][1]["expected"]
    text, ids = expected["text"], expected["ids"]

    longer, other = changed(text=text + "x"), changed(text=text.replace("user", "User"))
    assert (longer.what, longer.at) == ("text", len(text))
    assert longer.expected == repr(text[-20:] + "x")
    assert (other.at, other.expected[:18], other.got[:18]) == (12, "'<|im_start|>User\\", "'<|im_start|>user\\")
    assert str(other) == f"c1: text differs at 12: expected {other.expected}, got {other.got}"
    moved = changed(ids=[*ids[:5], -1, *ids[6:]])
    assert (moved.what, moved.at) == ("ids", 5)
    assert changed(ids=[]).at == 0
    assert changed(assistant_masks=[0] * (len(ids) - 1)).what == "assistant_masks"


def test_errors_are_compared_by_what_is_given_of_them() -> None:
    one = changed(error={"class": "TypeError"})
    assert str(one) == "c1: error differs: expected TypeError, got none"

    golden = golden_cases("qwen3")
    for given in ({"class": "TypeError"}, {"class": "ValueError", "message": "Other"}, {"module": "jinja2.exceptions"}):
        golden["cases"][2]["expected"] = {"error": given}
        assert not conformance(small_sides("qwen3")[0], golden)
    golden["cases"][2]["expected"] = {"error": {"class": "ValueError", "module": "builtins"}}
    assert conformance(small_sides("qwen3")[0], golden)
    golden["cases"][2]["expected"] = {"text": ""}
    assert (
        "2: error differs: expected none, got ValueError: Cannot apply chat template to an empty conversation"
        in str(conformance(small_sides("qwen3")[0], golden))
    )


def test_a_text_that_can_not_be_encoded_is_a_case_too() -> None:
    refused = {"class": "TypeError"}
    case = {"messages": [{"role": "user", "content": "\udc00"}], "expected": {"ids": {"error": refused}}}
    good = {"messages": CHAT, "expected": {"ids": {"error": refused}}}

    assert conformance(small_sides("qwen3")[0], [case])
    assert not conformance(small_sides("qwen3")[0], [good])
    assert not conformance(small_sides("qwen3")[0], [case | {"expected": {"ids": [1]}}])


def test_masks_are_compared() -> None:
    tokenizer = copy.deepcopy(small_sides("qwen3")[0])
    tokenizer.chat_template = templates.load("qwen3", training=True)
    batch = tokenizer.apply_chat_template(CHAT, return_assistant_tokens_mask=True)
    expected = {"ids": batch["input_ids"], "assistant_masks": batch["assistant_masks"]}

    assert 1 in batch["assistant_masks"]
    assert conformance(tokenizer, [{"messages": CHAT, "expected": expected}])
    assert not conformance(tokenizer, [{"messages": CHAT, "expected": expected | {"assistant_masks": [1]}}])


def test_the_template_that_agrees_most_is_the_one_compared() -> None:
    golden = golden_cases("qwen3")["cases"]
    for case in golden:
        case["expected"] = {"other": {"text": "x"}, "qwen3": case["expected"]}
    tokenizer = small_sides("qwen3")[0]

    assert conformance(tokenizer, golden).template == "qwen3"
    assert str(conformance(tokenizer, golden)) == "3 of 3 cases of qwen3 come out as expected"
    assert len(conformance(tokenizer, golden, template="other").differences) == 3
    with pytest.raises(ValueError, match="the cases expect nothing of 'llama3'; they know 'other', 'qwen3'"):
        conformance(tokenizer, golden, template="llama3")


def test_no_cases_are_no_success() -> None:
    result = conformance(small_sides("qwen3")[0], [])

    assert not result
    assert str(result) == "0 of 0 cases come out as expected"


def test_the_clock_of_the_cases_stands_still() -> None:
    tokenizer = copy.deepcopy(small_sides("llama3")[0])
    tokenizer.chat_template = templates.load("llama3.2")
    text = tokenizer.apply_chat_template(CHAT, tokenize=False, date_string="26 Jul 2024")
    cases = [{"messages": CHAT, "expected": {"text": text}}]

    assert conformance(tokenizer, {"clock": "frozen at 2024-07-26T12:00 (for dates)", "cases": cases})
    assert not conformance(tokenizer, {"cases": cases})
    assert "26 Jul" in pin_clock(tokenizer.chat_template, read_cases({"clock": "2024-07-26", "cases": []}).now)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("cases", "match"),
    [
        ({"case": []}, "golden cases are a list, or an object with a list of them under 'cases'"),
        ({"cases": "text"}, "golden cases are a list"),
        (
            [{"expected": {}}],
            r"cases\[0\] has \['expected'\]; a case needs 'messages', a list, and 'expected', an object",
        ),
        ([{"messages": 5, "expected": {}}], r"cases\[0\] has \['expected', 'messages'\]; a case needs"),
        ([5], r"cases\[0\] is a int; a case needs 'messages'"),
        (
            [{"messages": [], "expected": {"a": {}}}],
            r"cases\[0\].expected\['a'\] says none of assistant_masks, error, ids, t",
        ),
    ],
)
def test_damaged_cases_are_told_by_their_place(cases: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        conformance(small_sides("qwen3")[0], cases)


def test_a_damaged_file_is_told_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("{", encoding="utf-8")

    with pytest.raises(ValueError, match=r"bad\.json is no JSON: Expecting property name"):
        conformance(small_sides("qwen3")[0], tmp_path / "bad.json")


@families
def test_handed_in_cases_come_out(shared: Path, family: str, real_vocabulary: Path) -> None:
    tokenizer = copy.deepcopy(sides(family, real_vocabulary)[0])
    file = {"llama3.1": "llama3_1", "qwen2.5": "qwen2_5"}.get(family, family)
    for template in (templates.load(family), upstream(shared, file)):
        tokenizer.chat_template = template
        result = conformance(tokenizer, shared / "vectors" / "chat" / "cases.json")
        assert result, str(result)
        assert (result.template, result.compared) == (file, len(goldens(shared)["cases"]))
