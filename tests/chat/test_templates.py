"""Our templates say what each family's own template says, byte for byte, errors included."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from oracle import FILES, arguments_of, goldens, outcome_of, random_arguments, rendered, upstream
from transformers.utils.chat_template_utils import render_jinja_template

from hf_bpe.chat import templates

RANDOM = int(os.environ.get("HF_BPE_CHATS", "400"))
USER = {"role": "user", "content": " hi "}
CALL = {"type": "function", "function": {"name": "f", "arguments": {"x": 1.0, "é": "<"}}}
TOOL = {"type": "function", "function": {"name": "f"}}


def say(name: str, *messages: dict[str, Any], **keywords: Any) -> Any:
    return rendered(name, templates.load(name), list(messages), **keywords)


@pytest.mark.parametrize("name", sorted({"chatml", "llama3", "llama3.1", "qwen2.5", "qwen3"}))
@pytest.mark.parametrize("training", [False, True])
def test_golden_renders_come_out(shared: Path, name: str, training: bool) -> None:
    template, compared = templates.load(name, training=training), 0
    for case in goldens(shared)["cases"]:
        expected = outcome_of(case["expected"][FILES[name]])
        assert rendered(name, template, case["messages"], **arguments_of(case)) == expected, case["id"]
        compared += 1

    assert compared >= 80


@pytest.mark.parametrize("name", sorted(FILES))
def test_random_conversations_render_as_with_the_familys_own_template(shared: Path, name: str) -> None:
    own, theirs = templates.load(name), upstream(shared, FILES[name])
    outcomes = [
        (rendered(name, own, **arguments), rendered(name, theirs, **arguments), arguments)
        for arguments in random_arguments(RANDOM, seed=1)
    ]

    for got, expected, arguments in outcomes:
        assert got == expected, arguments
    texts = [got for got, _, _ in outcomes if isinstance(got, str)]
    assert len(outcomes) // 2 < len(texts) < len(outcomes), "most render, and some are errors"


@pytest.mark.parametrize("name", templates.NAMES)
def test_the_training_variant_has_the_same_text_and_errors(name: str) -> None:
    plain, training = templates.load(name), templates.load(name, training=True)

    assert "{%- generation %}" in training
    assert "generation %}" not in plain
    for arguments in random_arguments(RANDOM, seed=2):
        assert rendered(name, training, **arguments) == rendered(name, plain, **arguments), arguments


@pytest.mark.parametrize("name", sorted(FILES))
def test_upstreams_checks_of_the_templates_source_see_the_same(shared: Path, name: str) -> None:
    # A field may be continued when its name is in the source; a token that is in a literal is kept from users.
    sources = templates.load(name), upstream(shared, FILES[name])
    words = "content role name tool_calls arguments function text type documents thinking reasoning reasoning_content"
    tokens = "<think> </think> <tool_call> </tool_call> <tool_response> </tool_response> <tools> <|fim_prefix|>"

    for word in f"{words} {tokens}".split():
        assert (word in sources[0]) == (word in sources[1]), word


def masked(name: str, messages: Any, tools: Any = None, **keywords: Any) -> tuple[str, str]:
    """Return the text of the training variant, and the parts of it that it marks."""
    template = templates.load(name, training=True)
    texts, spans = render_jinja_template(
        [[{key: value for key, value in message.items() if value is not None} for message in messages]],
        tools=tools,
        chat_template=template,
        return_assistant_tokens_mask=True,
        **{"bos_token": "<|begin_of_text|>", **keywords},
    )
    return texts[0], "".join(texts[0][start:end] for start, end in spans[0])


@pytest.mark.parametrize(
    ("name", "keywords", "at_least"),
    [("llama3", {}, 73), ("qwen2.5", {}, 68), ("qwen3", {}, 55), ("qwen3", {"keep_thinking": True}, 73)],
)
def test_masks_are_those_of_trl_where_the_text_is(shared: Path, name: str, keywords: Any, at_least: int) -> None:
    path = shared / "vectors" / "chat" / "assistant_masks.json"
    expected = json.loads(path.read_text(encoding="utf-8"))["masks"][f"trl_{FILES[name]}_training"]
    equal = 0
    for case in goldens(shared)["cases"]:
        golden = expected.get(case["id"], {})
        if "text" not in golden or case["kwargs"].get("bos_token", "") is None:
            continue
        arguments = case["kwargs"] | {"add_generation_prompt": case["add_generation_prompt"]} | keywords
        text, mask = masked(name, case["messages"], case["tools"], **arguments)
        if text == golden["text"]:
            assert mask == golden["masked"], case["id"]
            equal += 1

    assert equal >= at_least


def test_masks_hold_what_the_assistant_says_and_the_end_of_its_turn() -> None:
    chat = [USER, {"role": "assistant", "content": "yes"}, USER, {"role": "assistant", "content": "<think>r</think>no"}]

    think = "<think>\n\n</think>\n\n", "<think>\nr\n</think>\n\n"
    assert masked("chatml", chat)[1] == "yes<|im_end|><think>r</think>no<|im_end|>"
    assert masked("llama3", chat)[1] == "yes<|eot_id|><think>r</think>no<|eot_id|>"
    assert masked("qwen2.5", chat)[1] == "\nyes<|im_end|>\n\n<think>r</think>no<|im_end|>\n"
    assert masked("qwen3", chat)[1] == f"yes<|im_end|>\n{think[1]}no<|im_end|>\n"
    assert masked("qwen3", chat, keep_thinking=True)[1] == f"{think[0]}yes<|im_end|>\n{think[1]}no<|im_end|>\n"


def test_masks_hold_calls_but_not_what_tools_return() -> None:
    chat = [USER, {"role": "assistant", "tool_calls": [CALL]}, {"role": "tool", "content": "secret"}]

    for name in ("llama3.1", "llama3.2"):
        assert masked(name, chat)[1] == '{"name": "f", "parameters": {"x": 1.0, "é": "<"}}<|eot_id|>'
    assert masked("llama3.1", chat[:2], builtin_tools=[])[1].endswith("}<|eom_id|>")
    assert masked("qwen3", chat)[1] == (
        '<tool_call>\n{"name": "f", "arguments": {"x": 1.0, "é": "<"}}\n</tool_call><|im_end|>\n'
    )


# --- facts of each family, wherever this runs


def test_chatml_keeps_blanks_and_roles() -> None:
    assert say("chatml", {"role": "critic", "content": " a\n"}, USER, add_generation_prompt=True) == (
        "<|im_start|>critic\n a\n<|im_end|>\n<|im_start|>user\n hi <|im_end|>\n<|im_start|>assistant\n"
    )
    assert say("chatml", {"role": "user"}) == (
        "UndefinedError",
        "jinja2.exceptions",
        "'dict object' has no attribute 'content'",
    )


def test_llama3_trims_and_puts_bos_before_the_first_turn_alone() -> None:
    turn = "<|start_header_id|>user<|end_header_id|>\n\nhi<|eot_id|>"

    assert say("llama3", USER, USER) == f"<|begin_of_text|>{turn}{turn}"
    assert say("llama3", {"role": "user", "content": ["x"]}, bos_token="") == turn.replace("hi", "['x']")
    assert say("llama3", USER, bos_token=None)[2] == "unsupported operand type(s) for +: 'NoneType' and 'str'"


def test_llama3_1_always_writes_a_system_turn_with_a_date() -> None:
    system = "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\n"
    dates = "Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n"
    turn = "<|start_header_id|>user<|end_header_id|>\n\nhi<|eot_id|>"

    assert say("llama3.1", USER) == f"{system}{dates}<|eot_id|>{turn}"
    assert say("llama3.1", {"role": "system", "content": " Be. "}, USER) == f"{system}{dates}Be.<|eot_id|>{turn}"
    assert say("llama3.1", USER, tools=[]).startswith(f"{system}Environment: ipython\n{dates}<|eot_id|>")
    assert say("llama3.1", USER, date_string="1 May 2025") == say("llama3.1", USER).replace("26 Jul 2024", "1 May 2025")
    assert say("llama3.3", USER) == say("llama3.1", USER)


def test_llama3_2_writes_todays_date_unless_one_is_given() -> None:
    assert re.search(r"\nToday Date: \d\d [A-Z][a-z]{2} 20\d\d\n", say("llama3.2", USER))
    pinned = say("llama3.2", USER, date_string="26 Jul 2024", builtin_tools=["brave_search"])
    assert pinned == say("llama3.1", USER)


def test_llama3_1_puts_tools_before_the_first_user_text_or_into_the_system_turn() -> None:
    schema = '{\n    "type": "function",\n    "function": {\n        "name": "f"\n    }\n}\n\n'

    assert f"Do not use variables.\n\n{schema}hi<|eot_id|>" in say("llama3.1", USER, tools=[TOOL])
    assert f"Do not use variables.\n\n{schema}<|eot_id|>" in say(
        "llama3.1", USER, tools=[TOOL], tools_in_user_message=False
    )
    assert say("llama3.1", {"role": "system", "content": "s"}, tools=[TOOL]) == (
        "TemplateError",
        "jinja2.exceptions",
        "Cannot put tools in the first user message when there's no first user message!",
    )


def test_llama3_1_calls_tools_and_answers_as_ipython() -> None:
    turns = USER, {"role": "assistant", "tool_calls": [CALL]}, {"role": "tool", "content": "22"}
    call = '{"name": "f", "parameters": {"x": 1.0, "é": "<"}}'
    answer = '<|start_header_id|>ipython<|end_header_id|>\n\n"22"<|eot_id|>'

    assert say("llama3.1", *turns).endswith(f"{call}<|eot_id|>{answer}")
    assert say("llama3.1", *turns, builtin_tools=["g"]).endswith(f"{call}<|eom_id|>{answer}")
    searched = {"function": {"name": "g", "arguments": {"q": "a", "r": "b"}}}
    assert say("llama3.1", USER, {"role": "assistant", "tool_calls": [searched]}, builtin_tools=["g"]).endswith(
        '<|python_tag|>g.call(q="a", r="b")<|eom_id|>'
    )
    assert say("llama3.1", USER, {"role": "assistant", "tool_calls": []})[2] == (
        "This model only supports single tool-calls at once!"
    )


def test_qwen2_5_has_default_instructions_and_drops_unknown_roles() -> None:
    default = "You are Qwen, created by Alibaba Cloud. You are a helpful assistant."
    turn = "<|im_start|>user\n hi <|im_end|>\n"

    assert say("qwen2.5", USER) == f"<|im_start|>system\n{default}<|im_end|>\n{turn}"
    assert say("qwen2.5", {"role": "system", "content": ""}, USER) == f"<|im_start|>system\n<|im_end|>\n{turn}"
    assert say("qwen2.5", {"role": "critic", "content": "x"}, USER) == say("qwen2.5", USER)
    assert say("qwen3", USER) == turn


@pytest.mark.parametrize("name", ["qwen2.5", "qwen3"])
def test_qwen_joins_calls_and_groups_what_tools_return(name: str) -> None:
    answers = {"role": "tool", "content": "1"}, {"role": "tool", "content": "2"}
    call = '<tool_call>\n{"name": "f", "arguments": {"x": 1.0, "é": "<"}}\n</tool_call>'
    said = say(name, USER, {"role": "assistant", "content": "ok", "tool_calls": [CALL, CALL]}, *answers)

    assert said.endswith(
        f"<|im_start|>assistant\nok\n{call}\n{call}<|im_end|>\n<|im_start|>user\n"
        "<tool_response>\n1\n</tool_response>\n<tool_response>\n2\n</tool_response><|im_end|>\n"
    )
    assert '\n<tools>\n{"type": "function", "function": {"name": "f"}}\n</tools>\n' in say(name, USER, tools=[TOOL])
    assert say(name, USER, tools=[]) == say(name, USER)


def test_arguments_that_are_text_already_are_encoded_twice_by_all_but_qwen3() -> None:
    call = {"function": {"name": "f", "arguments": '{"a": 1}'}}
    turns = USER, {"role": "assistant", "content": "", "tool_calls": [call]}

    assert '"arguments": {"a": 1}}' in say("qwen3", *turns)
    assert r'"arguments": "{\"a\": 1}"}' in say("qwen2.5", *turns)
    assert r'"parameters": "{\"a\": 1}"}' in say("llama3.1", *turns)


def test_qwen3_keeps_reasoning_after_the_last_question_alone() -> None:
    thought = {"role": "assistant", "content": "<think>\nr\n</think>\n\na"}

    assert say("qwen3", USER, thought).endswith("assistant\n<think>\nr\n</think>\n\na<|im_end|>\n")
    assert say("qwen3", USER, thought, USER, add_generation_prompt=True).endswith(
        "assistant\na<|im_end|>\n<|im_start|>user\n hi <|im_end|>\n<|im_start|>assistant\n"
    )
    assert say("qwen3", USER, {"role": "assistant", "content": "a", "reasoning_content": "r"}) == say(
        "qwen3", USER, thought
    )
    assert say("qwen3", USER, add_generation_prompt=True, enable_thinking=False).endswith(
        "<|im_start|>assistant\n<think>\n\n</think>\n\n"
    )


def test_an_unknown_name_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ValueError, match=r"no chat template 'llama4'; there are 'chatml', 'llama3', 'llama3.1'"):
        templates.load("llama4")
