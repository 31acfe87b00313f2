"""`chat.check`: what a template changes or loses in silence is found by message, and clean chats have no findings."""

from __future__ import annotations

import dataclasses
import random
from pathlib import Path
from typing import Any

import pytest
from chat_families import small_sides
from conversations import TEXTS
from hypothesis import given
from hypothesis import strategies as st
from template_styles import STYLES
from transformers import PreTrainedTokenizerFast

from hf_bpe import HfBpeTokenizer, chat
from hf_bpe.chat.checking import KINDS
from hf_bpe.errors import ChatError

USER = {"role": "user", "content": "What is it?"}
TOOL = {
    "type": "function",
    "function": {
        "name": "look",
        "description": "Look it up.",
        "parameters": {"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"]},
    },
}
PLAIN = "{% for m in messages %}[{{ m.role }}]{{ m.content }}[/]{% endfor %}"


def call(arguments: Any, **others: Any) -> dict[str, Any]:
    """Return a turn that calls the tool."""
    function = {"name": "look", "arguments": arguments}
    return {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": function}], **others}


def found(family: str, messages: Any, tools: Any = None, **options: Any) -> list[tuple[str, int | None, str | None]]:
    """Return the kind, message and field of each finding."""
    findings = chat.check(small_sides(family)[0], messages, tools, **options)
    return [(finding.kind, finding.message, finding.field) for finding in findings]


@pytest.mark.parametrize("family", ["llama3", "llama3.1", "qwen2.5", "qwen3"])
def test_a_clean_chat_has_no_findings(family: str) -> None:
    messages = [
        {"role": "system", "content": "Be kind."},
        USER,
        {"role": "assistant", "content": "A cat.\n\nReally."},
        {"role": "user", "content": "<b>cat</b> {{ or }} `not`?"},
    ]

    assert found(family, messages, add_generation_prompt=True) == []
    assert found(family, messages, add_generation_prompt=False) == []


@pytest.mark.parametrize("family", ["llama3.1", "qwen2.5", "qwen3"])
def test_a_clean_tool_call_has_no_findings(family: str) -> None:
    messages = [
        USER,
        call({"what": "cat"}),
        {"role": "tool", "content": "a cat"},
        {"role": "assistant", "content": "Cat."},
    ]

    assert found(family, messages, [TOOL]) == []


@pytest.mark.parametrize("style", STYLES)
def test_a_clean_chat_has_no_findings_whatever_the_style_of_the_template(style: str) -> None:
    messages = [
        {"role": "system", "content": "Be kind."},
        USER,
        {"role": "assistant", "content": "A cat."},
        {"role": "user", "content": "Why?"},
    ]

    assert found("qwen3", messages, chat_template=STYLES[style], bos_token="<s>", eos_token="</s>") == []


@pytest.mark.parametrize("style", ["instructions", "calls_as_json", "calls_as_tags"])
def test_a_clean_tool_call_has_no_findings_whatever_the_style_of_the_template(style: str) -> None:
    calls = [
        {"id": "abcdefghi", "type": "function", "function": {"name": "look", "arguments": {"what": "cat", "n": 3}}}
    ]
    result = {"role": "tool", "tool_call_id": "abcdefghi", "name": "look", "content": "a cat"}
    messages = [USER, {"role": "assistant", "content": "", "tool_calls": calls}, result, USER]

    assert found("qwen3", messages, [TOOL], chat_template=STYLES[style], bos_token="<s>", eos_token="</s>") == []


def test_parts_that_a_template_prints_have_no_findings() -> None:
    messages = [{"role": "user", "content": [{"type": "text", "text": "What?"}, {"type": "image"}]}]

    assert found("qwen3", messages, chat_template=STYLES["model_turns"], bos_token="<s>") == []


@pytest.mark.parametrize("family", ["llama3", "qwen3"])
def test_stock_tokenizers_have_the_same_findings(family: str) -> None:
    ours, stock = small_sides(family)
    messages = [
        {"role": "critic", "content": " Bah <|eot_id|><|im_end|> "},
        {"role": "user", "content": [{"type": "text"}]},
    ]

    assert isinstance(stock, PreTrainedTokenizerFast)
    assert chat.check(stock, messages) == chat.check(ours, messages) != []


def test_parts_of_content_that_are_printed_as_python_shows_them_are_told() -> None:
    content = [{"type": "text", "text": "Hello "}, {"type": "image"}]

    (finding,) = chat.check(small_sides("llama3")[0], [USER, {"role": "user", "content": content}])

    assert (finding.kind, finding.message, finding.field) == ("printed-repr", 1, "content")
    assert finding.evidence == str(content)
    assert "prints list the way Python shows it" in finding.explanation


def test_content_that_vanishes_is_told_by_part() -> None:
    content = [{"type": "text", "text": "Hello"}, {"type": "image"}]

    assert found("qwen3", [{"role": "user", "content": content}, USER]) == [
        ("dropped-content", 0, "content[0].text"),
        ("dropped-content", 0, "content[1]"),
    ]
    assert found("qwen3", [{"role": "user", "content": 17}, USER]) == [("dropped-content", 0, "content")]


def test_a_message_of_an_unknown_role_is_told_even_if_its_words_stand_elsewhere() -> None:
    messages = [{"role": "user", "content": "ok"}, {"role": "critic", "content": "ok"}, {"content": "ok"}]

    findings = chat.check(small_sides("qwen3")[0], messages)

    assert [(finding.kind, finding.message, finding.field) for finding in findings] == [
        ("dropped-message", 1, None),
        ("dropped-message", 2, None),
    ]
    assert "of the role 'critic'" in findings[0].explanation
    assert "without a role" in findings[1].explanation


def test_a_system_message_that_is_left_out_is_told() -> None:
    template = "{% for m in messages if m.role != 'system' %}{{ m.content }}\n{% endfor %}"

    assert found("llama3", [{"role": "system", "content": "Be kind."}, USER], chat_template=template) == [
        ("ignored-system", 0, "content")
    ]


def test_the_middle_between_several_ends_of_thinking_is_told() -> None:
    answer = "<think>hmm</think>the middle</think>the end"

    findings = chat.check(small_sides("qwen3")[0], [USER, {"role": "assistant", "content": answer}])

    assert [(finding.kind, finding.message, finding.evidence) for finding in findings] == [
        ("dropped-content", 1, "the middle")
    ]


def test_thinking_that_the_template_drops_from_history_is_a_note() -> None:
    messages = [USER, {"role": "assistant", "content": "<think>\nhmm\n</think>\n\nA cat."}, USER]

    (finding,) = chat.check(small_sides("qwen3")[0], messages)

    assert (finding.kind, finding.level, finding.message, finding.evidence) == ("dropped-reasoning", "note", 1, "hmm")


def test_text_before_thinking_is_told_as_content() -> None:
    assert found("qwen3", [USER, {"role": "assistant", "content": "so <think>hmm</think>A cat."}]) == [
        ("dropped-content", 1, "content")
    ]


@pytest.mark.parametrize("space", [" ", "\n", "\t", "\u3000"])
def test_white_space_that_is_trimmed_is_told_at_either_end(space: str) -> None:
    for content in (f"{space}hi", f"hi{space}", space):
        assert found("llama3", [{"role": "user", "content": content}]) == [("trimmed-content", 0, "content")]
        assert found("qwen3", [{"role": "user", "content": content}]) == []


@pytest.mark.parametrize("space", ["\u200b", "\ufeff"])
def test_what_no_template_trims_is_not_told(space: str) -> None:
    assert found("llama3", [{"role": "user", "content": f"hi{space}"}]) == []


@pytest.mark.parametrize("content", ["Sure, ", "Sure:\n", " Sure", ""])
def test_a_prefill_that_loses_its_ends_is_told(content: str) -> None:
    messages = [USER, {"role": "assistant", "content": content}]

    assert found("llama3", messages, continue_final_message=True) == [("trimmed-prefill", 1, "content")]
    assert found("qwen2.5", messages, continue_final_message=True) == []


def test_a_prefill_without_white_space_is_not_told() -> None:
    messages = [USER, {"role": "assistant", "content": "Sure"}]

    assert found("llama3", messages, continue_final_message=True) == []


def test_empty_tools_that_print_a_preamble_are_told() -> None:
    findings = chat.check(small_sides("llama3.1")[0], [USER], [])

    assert [(finding.kind, finding.field, finding.evidence) for finding in findings] == [
        ("empty-tools", "tools", "Environment: ipython")
    ]
    assert found("qwen2.5", [USER], []) == []


def test_tools_and_calls_that_a_template_ignores_are_told() -> None:
    messages = [USER, call({"what": "cat"}), {"role": "tool", "content": "a cat"}]

    assert found("llama3", messages, [TOOL]) == [
        ("dropped-tool-calls", 1, "tool_calls[0].function"),
        ("dropped-tools", None, "tools"),
    ]


def test_documents_that_a_template_ignores_are_told() -> None:
    assert found("llama3", [USER], documents=[{"title": "Cats", "text": "They are."}]) == [
        ("dropped-documents", None, "documents")
    ]
    template = PLAIN + "{% for d in documents %}{{ d.text }}{% endfor %}"
    assert found("llama3", [USER], documents=[{"title": "Cats", "text": "They are."}], chat_template=template) == []


def test_one_tool_of_several_that_is_left_out_is_told() -> None:
    other = {"type": "function", "function": {**TOOL["function"], "name": "listen"}}
    template = PLAIN + "{{ tools[0] | tojson }}"

    assert found("llama3", [USER], [TOOL, other], chat_template=template) == [("dropped-tools", None, "tools[1]")]


def test_tools_and_arguments_that_python_prints_are_told() -> None:
    template = PLAIN + "{{ tools }}{% for m in messages if m.tool_calls %}{{ m.tool_calls }}{% endfor %}"

    assert found("llama3", [USER, call({"what": "cat"})], [TOOL], chat_template=template) == [
        ("printed-repr", 1, "tool_calls[0].function.arguments"),
        ("printed-repr", None, "tools[0]"),
    ]


@pytest.mark.parametrize(("family", "doubled"), [("llama3.1", True), ("qwen2.5", True), ("qwen3", False)])
def test_arguments_that_are_encoded_twice_are_told(family: str, doubled: bool) -> None:
    expected = [("double-encoded", 1, "tool_calls[0].function.arguments")] if doubled else []

    assert found(family, [USER, call('{"what": "cat"}')], [TOOL]) == expected


def test_results_that_are_encoded_twice_are_told() -> None:
    messages = [USER, call({"what": "cat"}), {"role": "tool", "content": '{"is": "a cat"}'}]

    assert found("llama3.1", messages, [TOOL]) == [("double-encoded", 2, "content")]
    assert found("qwen3", messages, [TOOL]) == []


def test_a_first_message_that_becomes_the_users_is_told() -> None:
    welcome = {"role": "assistant", "content": "Welcome!"}
    system = {"role": "system", "content": "Be kind."}

    assert found("llama3.1", [welcome, USER], [TOOL]) == [("first-not-user", 0, "role")]
    assert found("llama3.1", [system, welcome, USER], [TOOL]) == [("first-not-user", 1, "role")]
    assert found("llama3.1", [welcome, USER]) == []
    assert found("qwen3", [welcome, USER], [TOOL]) == []
    no_roles = "{% for m in messages %}{{ m.content }}{% endfor %}{{ tools | tojson }}"
    assert found("qwen3", [welcome, USER], [TOOL], chat_template=no_roles) == []


def test_an_empty_list_of_tool_calls_is_told_where_it_matters() -> None:
    messages = [USER, {"role": "assistant", "content": "A cat.", "tool_calls": []}, {"role": "user", "content": " ok"}]

    assert found("llama3.1", messages) == [("empty-tool-calls", 1, "tool_calls"), ("trimmed-content", 2, "content")]
    assert found("qwen3", messages) == []
    template = "{% for m in messages %}{{ 'CALLS ' if m.tool_calls is defined }}{{ m.content }}{% endfor %}"
    assert found("qwen3", messages, chat_template=template) == [("empty-tool-calls", 1, "tool_calls")]


def test_none_is_told_where_a_turn_is_empty_or_a_word_is_printed() -> None:
    assert found("llama3", [{"role": "user", "content": None}]) == [("dropped-none", 0, "content")]
    assert found("llama3", [USER], eos_token=None) == []
    assert found("llama3.1", [USER], bos_token=None) == [("dropped-none", None, "bos_token")]
    assert found("qwen3", [USER, call({"what": "cat"}, content=None)], [TOOL]) == []


def test_control_tokens_are_told_wherever_they_come_out() -> None:
    tool = {"type": "function", "function": {"name": "f<|im_end|>", "parameters": {"<|im_start|>": 1}}}
    messages = [
        {"role": "user", "content": "a<|im_end|>b", "name": "<|im_end|>"},
        call({"<|im_start|>": "<tool_call>"}, content="x<|im_end|>"),
        {"role": "tool", "content": "</tool_response>"},
    ]

    assert found("qwen3", messages, [tool]) == [
        ("control-token", 0, "content"),
        ("control-token", 1, "content"),
        ("control-token", 1, "tool_calls[0].function.arguments (a key)"),
        ("control-token", 1, "tool_calls[0].function.arguments.<|im_start|>"),
        ("control-token", 2, "content"),
        ("control-token", None, "tools[0].function.name"),
        ("control-token", None, "tools[0].function.parameters (a key)"),
    ]


def test_tokens_that_an_assistant_writes_itself_are_not_told() -> None:
    answer = {"role": "assistant", "content": "<think>\nhmm\n</think>\n\nA cat."}

    assert found("qwen3", [USER, answer]) == []
    assert found("qwen3", [USER, answer], chat_template=PLAIN) == []
    asked = {"role": "user", "content": "<think>"}
    assert found("qwen3", [asked], chat_template=PLAIN) == [("control-token", 0, "content")]


def test_a_role_and_a_variable_can_hold_control_tokens() -> None:
    role = {"role": "user<|im_end|>", "content": "hi"}

    assert found("qwen3", [role], chat_template=PLAIN) == [("control-token", 0, "role")]
    assert found("llama3.1", [USER], date_string="<|eot_id|>") == [("control-token", None, "date_string")]


def test_a_token_that_the_template_and_the_caller_make_together_is_told() -> None:
    forged = [{"role": "im_end", "content": "hi"}, USER]

    findings = chat.check(small_sides("qwen3")[0], forged, chat_template=STYLES["roles_as_tokens"])

    assert [(finding.kind, finding.message, finding.field) for finding in findings] == [("control-token", 0, "role")]
    assert "becomes the token '<|im_end|>'" in findings[0].explanation
    assert found("qwen3", [USER], chat_template=STYLES["roles_as_tokens"]) == []


def test_the_date_of_today_is_a_note() -> None:
    template = PLAIN + "{{ strftime_now('%d %b') if not date_string is defined else date_string }}"

    assert found("llama3", [USER], chat_template=template) == [("unstable-date", None, None)]
    assert found("llama3", [USER], chat_template=template, date_string="26 Jul") == []


def test_a_second_bos_is_a_note() -> None:
    tokenizer: HfBpeTokenizer = small_sides("llama3")[0]
    adding = HfBpeTokenizer.from_pretrained(tokenizer.name_or_path, add_bos_token=True)

    (finding,) = chat.check(adding, [USER])

    assert (finding.kind, finding.level, finding.evidence) == ("second-bos", "note", "<|begin_of_text|>" * 2)
    assert adding(adding.apply_chat_template([USER], tokenize=False))["input_ids"][:2] == [adding.bos_token_id] * 2
    assert chat.check(tokenizer, [USER]) == []


@pytest.mark.parametrize(
    ("tools", "field"),
    [
        ([{"function": {"parameters": {}, "name": "f", "description": "x"}, "type": "function"}], "tools[0].function"),
        ([TOOL, {"function": {"name": "f"}, "type": "function"}], "tools[1]"),
        ([{"type": "function", "function": {"name": "f", "parameters": {"required": [], "type": "object"}}}], None),
        ([TOOL], None),
    ],
)
def test_keys_of_tools_in_an_order_of_their_own_are_a_note(tools: list[Any], field: str | None) -> None:
    expected = [] if field is None else [("unsorted-tool-keys", None, field)]

    assert found("qwen3", [USER], tools) == expected
    assert found("qwen3", [USER], chat.canonical_tools(tools)) == []


def test_a_chat_that_upstream_refuses_names_the_message() -> None:
    messages = [USER, {"role": "assistant"}, USER]

    findings = chat.check(small_sides("qwen2.5")[0], messages)

    assert [(finding.kind, finding.level, finding.message) for finding in findings] == [("refused", "error", 1)]
    assert "UndefinedError" in findings[0].explanation


def test_a_template_that_refuses_everything_names_no_message() -> None:
    assert found("llama3", [USER], chat_template="{% for m in messages") == [("refused", None, None)]
    assert found("llama3", []) == [("refused", None, None)]


def test_a_prefill_that_upstream_refuses_names_the_field() -> None:
    messages = [USER, call({"what": "cat"}, content="x")]

    assert found("llama3.1", messages, continue_final_message=True) == [("refused", 1, "content")]
    assert found("llama3.1", [USER], continue_final_message=True, add_generation_prompt=True) == [
        ("refused", None, "add_generation_prompt")
    ]


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ("hi", "a chat is a list of messages, got str"),
        (None, "a chat is a list of messages, got NoneType"),
        ({"role": "user"}, "a chat is a list of messages, got dict"),
        ([USER, 5], "message 1 is no dictionary, but int"),
        ([[USER]], "message 0 is no dictionary, but list: this is a batch of chats"),
    ],
)
def test_what_is_no_chat_is_a_type_error_with_the_index(messages: Any, reason: str) -> None:
    with pytest.raises(TypeError, match=reason):
        chat.check(small_sides("llama3")[0], messages)


def test_messages_may_be_objects() -> None:
    @dataclasses.dataclass
    class Message:
        role: str
        content: str

    assert found("llama3", [Message("user", " hi")]) == [("trimmed-content", 0, "content")]


def test_a_tokenizer_without_a_template_is_upstreams_error(tmp_path: Path) -> None:
    tokenizer = HfBpeTokenizer.from_pretrained(small_sides("llama3")[0].name_or_path)
    tokenizer.chat_template = None

    with pytest.raises(ValueError, match="chat_template is not set"):
        chat.check(tokenizer, [USER])


@pytest.mark.parametrize(
    "template",
    [
        "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
        "{{ 'x' * 99999999999 }}",
    ],
)
def test_a_template_that_runs_away_is_stopped(template: str) -> None:
    with pytest.raises(ChatError, match=r"the chat template (runs|makes)"):
        chat.check(small_sides("llama3")[0], [USER], chat_template=template)


def test_cyclic_messages_and_tools_are_refused_as_upstream_refuses_them() -> None:
    message: dict[str, Any] = {"role": "user"}
    message["content"] = [message]
    tool: dict[str, Any] = {"type": "function"}
    tool["function"] = tool

    assert found("llama3", [message]) == [("refused", 0, None)]
    assert found("qwen3", [USER], [tool]) == [("refused", None, "tools")]


@pytest.mark.parametrize("family", ["llama3", "qwen3"])
def test_ten_thousand_turns_and_ten_megabytes_are_checked(family: str) -> None:
    roles = ("user", "assistant", "critic")
    turns = [{"role": roles[at % 3], "content": "hello"} for at in range(3_000)]
    large = [{"role": "user", "content": "ab cd " * 500_000 + "."}]

    assert len(found(family, turns)) == (1_000 if family == "qwen3" else 0)
    assert found(family, large) == []


@given(st.integers(0, 2**32), st.sampled_from(["llama3", "llama3.1", "qwen2.5", "qwen3"]))
def test_random_chats_have_findings_of_known_kinds_in_order(seed: int, family: str) -> None:
    chance = random.Random(seed)
    roles = ["user", "assistant", "system", "tool", "critic"]
    messages = [{"role": chance.choice(roles), "content": chance.choice(TEXTS)} for _ in range(chance.randint(1, 6))]

    findings = chat.check(small_sides(family)[0], messages, chance.choice([None, [], [TOOL]]))

    places = [len(messages) if finding.message is None else finding.message for finding in findings]
    assert places == sorted(places)
    assert {finding.kind for finding in findings} <= set(KINDS)
    assert all(finding.explanation for finding in findings)


@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs", "Zs", "Cc", "Zl", "Zp"]), min_size=1), min_size=1, max_size=4
    )
)
def test_plain_words_in_turn_have_no_findings(contents: list[str]) -> None:
    words = [content for content in contents if "<" not in content] or ["a"]
    messages = [{"role": ("user", "assistant")[at % 2], "content": word} for at, word in enumerate(words)]

    assert found("llama3.1", messages) == found("qwen3", messages) == []


def test_a_finding_reads_as_a_line_and_as_json() -> None:
    (finding,) = chat.check(small_sides("llama3")[0], [{"role": "user", "content": " hi"}])

    assert str(finding).startswith("note: message 0, content: the template cuts off the white space around it")
    assert finding.as_json() == {
        "kind": "trimmed-content",
        "level": "note",
        "message": 0,
        "field": "content",
        "explanation": finding.explanation,
        "evidence": " hi",
    }
