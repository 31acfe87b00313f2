"""`chat.check` on golden cases with the templates of five families: each finding is expected, and none is missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from chat_families import small_sides
from golden_findings import EXPECTED

from hf_bpe import chat

FAMILIES = {"llama3": "llama3", "llama3_1": "llama3.1", "chatml": "qwen3", "qwen2_5": "qwen2.5", "qwen3": "qwen3"}
"""Whose tokens the tokenizer of each template has."""


@pytest.fixture(scope="module")
def goldens(shared: Path) -> Path:
    """The folder of golden chats."""
    folder = shared / "vectors" / "chat"
    if not folder.is_dir():
        pytest.skip("no golden chats")
    return folder


@pytest.mark.parametrize("template", FAMILIES)
def test_the_findings_of_all_golden_cases_are_the_expected_ones(template: str, goldens: Path) -> None:
    cases = json.loads((goldens / "cases.json").read_text(encoding="utf-8"))["cases"]
    source = (goldens / "templates" / f"{template}.jinja").read_text(encoding="utf-8")
    tokenizer = small_sides(FAMILIES[template])[0]

    found = {case["id"]: places(tokenizer, case, source) for case in cases}

    assert found == {case["id"]: expected(case["id"], template) for case in cases}
    assert len(found) > 80
    assert set(EXPECTED) <= set(found)


def places(tokenizer: Any, case: dict[str, Any], source: str) -> list[Any]:
    """Return the kind, message and field of each finding."""
    findings = chat.check(
        tokenizer,
        case["messages"],
        case["tools"],
        chat_template=source,
        add_generation_prompt=case["add_generation_prompt"],
        continue_final_message=case["continue_final_message"],
        **case["kwargs"],
    )
    return list(dict.fromkeys((found.kind, found.message, found.field) for found in findings))


def expected(case: str, template: str) -> list[Any]:
    """Return what is expected of a case."""
    by_template = {name: found for names, found in EXPECTED.get(case, {}).items() for name in names.split()}
    return list(by_template.get(template, []))


@pytest.mark.parametrize("template", ["llama3_2", "smollm3"])
def test_a_template_that_prints_the_date_is_told(template: str, goldens: Path) -> None:
    source = (goldens / "templates" / f"{template}.jinja").read_text(encoding="utf-8")

    findings = chat.check(small_sides("llama3")[0], [{"role": "user", "content": "hi"}], chat_template=source)

    assert [(found.kind, found.message) for found in findings] == [("unstable-date", None)]
    assert findings[0].evidence.startswith("Today Date: 03 Feb")
