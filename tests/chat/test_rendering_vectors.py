"""Golden renders of upstream's, and every template at hand against upstream itself."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import pytest
from chats import ours, stock, upstream
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast
from transformers.utils import chat_template_utils

from hf_bpe.chat import rendering
from hf_bpe.chat.rendering import render

GOLDEN = ["llama3", "llama3_1", "chatml", "qwen2_5", "qwen3"]


@pytest.fixture(scope="module")
def cases(shared: Path) -> dict[str, Any]:
    """The golden cases."""
    loaded: dict[str, Any] = json.loads((shared / "vectors" / "chat" / "cases.json").read_text(encoding="utf-8"))
    return loaded


@pytest.fixture
def noon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop upstream's clock, which ours is."""

    class Noon(datetime.datetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> Noon:
            return cls(2024, 7, 26, 12)

    monkeypatch.setattr(chat_template_utils, "datetime", Noon)


def options_of(case: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a golden case."""
    names = ("tools", "add_generation_prompt", "continue_final_message")
    return {**{name: case[name] for name in names}, **case["kwargs"]}


def golden_tokenizer(cases: dict[str, Any], folder: Path, name: str) -> PreTrainedTokenizerFast:
    """Return a tokenizer with a golden template."""
    source = (folder / cases["templates"][name]).read_text(encoding="utf-8")
    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.BPE()), chat_template=source, **cases["template_globals"][name]
    )


@pytest.mark.usefixtures("noon")
@pytest.mark.parametrize("name", GOLDEN)
def test_every_golden_case_renders_to_its_text_or_error(name: str, cases: dict[str, Any], shared: Path) -> None:
    tokenizer = golden_tokenizer(cases, shared / "vectors" / "chat", name)

    for case in cases["cases"]:
        expected = case["expected"][name]
        outcome = ours(case["messages"], None, tokenizer, **options_of(case))
        if "text" in expected:
            assert outcome == ("text", "", expected["text"]), case["id"]
        else:
            assert outcome == ("error", expected["error"]["class"], expected["error"]["message"]), case["id"]


@pytest.mark.usefixtures("noon")
@pytest.mark.parametrize("name", GOLDEN)
def test_golden_templates_lose_nothing_and_need_no_help(
    name: str, cases: dict[str, Any], shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizer = golden_tokenizer(cases, shared / "vectors" / "chat", name)
    good = [case for case in cases["cases"] if "text" in case["expected"][name]]
    monkeypatch.setattr(rendering, "render_plainly", None)
    monkeypatch.setattr(rendering, "by_upstream", None)

    for case in good:
        rendered = render(tokenizer, case["messages"], **options_of(case))
        assert not any(run.origin.lost for run in rendered.runs), case["id"]

    assert len(good) > 60


@pytest.mark.usefixtures("noon")
@pytest.mark.parametrize("template", ["llama3_2", "smollm3", "trl_llama3_training", "trl_qwen3_training"])
def test_other_templates_agree_with_upstream_on_every_golden_case(
    template: str, cases: dict[str, Any], shared: Path
) -> None:
    source = (shared / "vectors" / "chat" / "templates" / f"{template}.jinja").read_text(encoding="utf-8")

    for case in cases["cases"]:
        expected = upstream(case["messages"], source, **options_of(case))
        assert ours(case["messages"], source, stock(), **options_of(case)) == expected, case["id"]
