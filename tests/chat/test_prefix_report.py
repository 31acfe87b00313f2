"""`chat.prefix_report`: what a cache would have reused, where prefixes break, and which field does it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chat_families import small_sides
from hypothesis import given
from hypothesis import strategies as st

from hf_bpe import chat
from hf_bpe.chat import PrefixBreak
from hf_bpe.chat.prefixes import BREAKS
from hf_bpe.chat.prefixes.overlap import common_behind, first_difference

RULES = "You answer questions about cats, dogs and foxes, and about nothing else at all. " * 6
TOOLS = [
    {"type": "function", "function": {"name": name, "description": "Look up what it is. " * 5, "parameters": {}}}
    for name in ("look", "ask")
]


def turns(system: str, *contents: str) -> list[dict[str, Any]]:
    """Return a chat in which user and assistant take turns."""
    roles = ("user", "assistant")
    said = [{"role": roles[at % 2], "content": content} for at, content in enumerate(contents)]
    return [{"role": "system", "content": system}, *said]


def broken(first: Any, second: Any, family: str = "qwen3") -> PrefixBreak | None:
    """Return where the second of two requests parts from the first."""
    return chat.prefix_report([first, second], tokenizer=small_sides(family)[0]).requests[1].broken


def cause(first: Any, second: Any, family: str = "qwen3") -> tuple[str, int | None, str | None]:
    """Return kind, message and field of the break."""
    found = broken(first, second, family)
    assert found is not None
    return found.kind, found.message, found.field


def test_a_conversation_that_goes_on_breaks_nothing() -> None:
    first = turns(RULES, "What is it?")
    second = [*first, {"role": "assistant", "content": "A cat."}, {"role": "user", "content": "Why?"}]

    report = chat.prefix_report([first, second], tokenizer=small_sides("qwen3")[0])

    assert report.requests[1].broken is None
    assert report.requests[1].reused == report.requests[0].tokens // 16 * 16
    assert report.breaks == []
    assert "no prefix breaks before its time" in str(report)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("8f14e45f-ceea-467a-9a57-1d5c0f3a2b11", "c9f0f895-fb98-4b91-8f3c-7a6b5d4e3c2a"),
        ("a1b2c3d4e5", "f6a7b8c9d0"),
        ("17", "18"),
        ("user_0001", "user_0002"),
    ],
)
def test_a_session_id_is_the_cause(one: str, other: str) -> None:
    first, second = (turns(f"Session: {id}. {RULES}", "What?") for id in (one, other))

    found = broken(first, second)

    assert found is not None
    assert (found.kind, found.message, found.field) == ("session-id", 0, "content")
    assert found.before.startswith(one[:2])
    assert found.lost > 100


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2026-11-30", "2026-12-01"),
        ("2026-11-30T11:20:01Z", "2026-11-30T11:20:02Z"),
        ("2026-11-30 11:20:01.250", "2026-11-30 11:20:01.750"),
        ("11:20", "11:21"),
        ("30 Nov 2026", "1 Dec 2026"),
        ("November 30, 2026", "December 1, 2026"),
        ("Monday", "Tuesday"),
        ("1795000000", "1795000017"),
    ],
)
def test_a_time_is_the_cause(one: str, other: str) -> None:
    first, second = (turns(f"It is {now}. {RULES}", "What?") for now in (one, other))

    found = broken(first, second)

    assert found is not None
    assert (found.kind, found.message, found.field) == ("timestamp", 0, "content")
    assert (found.before, found.after) == (one, other)


def test_the_order_of_tools_and_of_their_keys_is_the_cause() -> None:
    messages = turns(RULES, "What?")
    turned = [{"function": tool["function"], "type": "function"} for tool in TOOLS]

    def request(tools: Any) -> dict[str, Any]:
        return {"messages": messages, "tools": tools}

    assert cause(request(TOOLS), request(TOOLS[::-1])) == ("tools-order", None, "tools[0]")
    assert cause(request(TOOLS), request(turned)) == ("key-order", None, "tools[0]")
    assert cause(request(TOOLS), request(TOOLS[:1])) == ("tools-changed", None, "tools[1]")
    assert cause({"messages": messages}, request(TOOLS)) == ("tools-changed", None, "tools")


def test_arguments_in_another_order_or_spelling_are_the_cause() -> None:
    def request(arguments: Any) -> list[dict[str, Any]]:
        call = {"function": {"name": "look", "arguments": arguments}}
        return [*turns(RULES, "What?"), {"role": "assistant", "tool_calls": [call]}, {"role": "tool", "content": RULES}]

    assert cause(request({"a": 1, "b": 2}), request({"b": 2, "a": 1})) == (
        "key-order",
        2,
        "tool_calls[0].function.arguments",
    )
    assert cause(request('{"a": 1}'), request('{"a":1}'))[:2] == ("json-format", 2)
    assert cause(request({"a": 1, "b": 2}), request({"a": 1, "b": 3}))[0] == "changed-content"


def test_history_that_the_template_rewrites_is_the_cause() -> None:
    first = turns(RULES, "What?", f"<think>\nhmm\n</think>\n\n{RULES}")

    assert cause(first, [*first, {"role": "user", "content": "Why?"}]) == ("history-rewritten", 2, "content")


def test_a_variable_is_the_cause() -> None:
    messages = turns(RULES, "What?")
    requests = [
        {"messages": messages, "date_string": "one"},
        {"messages": messages, "kwargs": {"date_string": "two"}},
        {"messages": messages, "chat_template_kwargs": {"date_string": "26 Jul 2024"}},
        {"messages": messages, "date_string": "27 Jul 2024", "temperature": 0.5},
    ]

    assert cause(*requests[:2], "llama3.1") == ("variable", None, "date_string")
    assert cause(*requests[2:], "llama3.1") == ("timestamp", None, "date_string")


def test_other_texts_are_told_apart_by_what_they_cost() -> None:
    assert cause(turns("Be terse. " + RULES, "What?"), turns("Be kind. " + RULES, "What?")) == (
        "system-prompt",
        0,
        "content",
    )
    assert cause(turns(RULES, "What?"), turns(RULES, "Why?")) == ("new-content", 1, "content")
    assert cause(turns(RULES, "What?", RULES), turns(RULES, "Why?", RULES)) == ("changed-content", 1, "content")
    assert cause(turns("A  b " + RULES, "What?"), turns("A b " + RULES, "What?"))[0] == "white-space"


def test_new_text_at_the_end_costs_nothing_and_is_no_break() -> None:
    report = chat.prefix_report([turns(RULES, "What?"), turns(RULES, "Why?")], tokenizer=small_sides("qwen3")[0])

    assert report.breaks == []
    assert report.lost == {}
    assert report.requests[1].broken is not None
    assert report.requests[1].broken.lost == 0


def test_a_request_is_compared_with_the_one_that_it_is_most_like() -> None:
    log = [turns(f"It is 11:20:0{at}. {RULES}", content) for at, content in enumerate(("cats " * 40, "dogs " * 40))]
    log.append([*turns(f"It is 11:20:05. {RULES}", "cats " * 40), {"role": "assistant", "content": "Yes."}])

    report = chat.prefix_report(log, tokenizer=small_sides("qwen3")[0])

    assert [request.broken and request.broken.earlier for request in report.requests] == [None, 0, 0]


# --- blocks, as vLLM counts them


def test_only_full_blocks_are_reused_and_the_last_token_never() -> None:
    ids = list(range(64))

    report = chat.prefix_report([ids, ids, [*ids, 1], ids[:40], ids[:15]])

    assert [request.reused for request in report.requests] == [0, 48, 64, 32, 0]
    assert report.share == 144 / (64 + 64 + 65 + 40 + 15)


def test_a_block_is_reused_only_behind_the_blocks_that_it_was_behind() -> None:
    one, two = list(range(16)), list(range(100, 116))

    report = chat.prefix_report([one + two, two + one, one + two + one])

    assert [request.reused for request in report.requests] == [0, 0, 32]


@given(st.lists(st.lists(st.integers(0, 2), max_size=12), max_size=8), st.integers(1, 4))
def test_reuse_is_the_longest_prefix_in_whole_blocks(log: list[list[int]], size: int) -> None:
    log = [ids or [0] for ids in log]

    report = chat.prefix_report(log, block_size=size)

    for index, ids in enumerate(log):
        prefixes = {tuple(earlier[:length]) for earlier in log[:index] for length in range(0, len(earlier) + 1, size)}
        longest = max((len(prefix) for prefix in prefixes if list(prefix) == ids[: len(prefix)]), default=0)
        assert report.requests[index].reused == min(longest, (len(ids) - 1) // size * size)


@given(st.lists(st.integers(0, 1), max_size=60), st.lists(st.integers(0, 1), max_size=60), st.integers(0, 20))
def test_what_is_common_behind_a_break_is_found_as_a_plain_search_finds_it(
    ids: list[int], earlier: list[int], start: int
) -> None:
    found = common_behind(np.array(ids, dtype=np.int64), np.array(earlier, dtype=np.int64), start)

    theirs = {tuple(earlier[at : at + 16]) for at in range(start, len(earlier) - 15)}
    starts = [at for at in range(start, len(ids) - 15) if tuple(ids[at : at + 16]) in theirs]
    assert found == len({at + step for at in starts for step in range(16)})


@given(st.text(alphabet="ab", max_size=8), st.text(alphabet="ab", max_size=8))
def test_the_first_difference_is_the_first(text: str, other: str) -> None:
    at = first_difference(text, other)

    assert text[:at] == other[:at]
    assert at == min(len(text), len(other)) or text[at] != other[at]


# --- published figures


def test_the_published_shares_of_a_changing_part_first_and_last_come_out(shared: Path) -> None:
    published = (shared / "vectors" / "published" / "README.md").read_text(encoding="utf-8")
    word = "<|eot_id|>"  # one token each, whatever stands beside it

    def prompts(before: int, behind: int) -> list[str]:
        return [f"{word * before}{id}{word * behind}" for id in "AB"]

    for before, total in ((946, 969), (11, 1_035)):
        log = prompts(before, total - before - 1)
        row = chat.prefix_report(log, tokenizer=small_sides("llama3")[0], block_size=1).requests[1]

        assert f"{row.reused:,} of {row.tokens:,}" in published
        assert f"{row.share:.1%}".replace("%", " %") in published
        assert row.broken is not None
        assert row.broken.lost == total - before - 1


# --- what is read


def test_a_file_of_json_lines_is_read_as_the_list_is(tmp_path: Path) -> None:
    log: list[Any] = [
        turns(RULES, "What?"),
        {"messages": turns(RULES, "Why?"), "tools": TOOLS, "model": "some", "temperature": 0.1},
        {"messages": turns(RULES, "Why?"), "add_generation_prompt": True},
        "a rendered text",
        {"text": "a rendered text, too"},
        [1, 2, 3],
        {"ids": [1, 2, 3, 4]},
    ]
    path = tmp_path / "log.jsonl"
    path.write_text("\ufeff" + "\n\n".join(map(json.dumps, log)), encoding="utf-8")
    tokenizer = small_sides("qwen3")[0]

    report = chat.prefix_report(path, tokenizer=tokenizer)

    assert report == chat.prefix_report(iter(log), tokenizer=tokenizer)
    assert report == chat.prefix_report(str(path), tokenizer=tokenizer)
    assert [request.tokens for request in report.requests[-2:]] == [3, 4]


def test_tokens_are_those_of_upstream() -> None:
    tokenizer = small_sides("qwen3")[0]
    request = {"messages": turns(RULES, "What?"), "tools": TOOLS, "add_generation_prompt": True}

    report = chat.prefix_report([request], tokenizer=tokenizer)

    messages = request.pop("messages")
    assert report.tokens == len(tokenizer.apply_chat_template(messages, **request, return_dict=False))


def test_stock_tokenizers_give_the_same_report() -> None:
    ours, stock = small_sides("qwen3")
    log = [turns(f"It is 11:20:0{at}. {RULES}", "What?") for at in range(3)]

    assert chat.prefix_report(log, tokenizer=stock) == chat.prefix_report(log, tokenizer=ours)


def test_texts_without_a_tokenizer_are_counted_in_bytes() -> None:
    report = chat.prefix_report([f"Session 1234567{at}. {RULES}é" for at in range(2)])

    assert report.unit == "bytes"
    assert report.tokens == 2 * len(f"Session 12345670. {RULES}é".encode())
    assert [(found.kind, found.field) for _, found in report.breaks] == [("session-id", "text")]


def test_json_in_a_text_that_is_ordered_otherwise_is_the_cause() -> None:
    log = [f"Tools:\n{line}\n{RULES}" for line in ('{"a": 1, "b": [2]}', '{"b": [2], "a": 1}', '{"b":[2],"a":1}')]

    found = [request.broken and request.broken.kind for request in chat.prefix_report(log).requests]
    assert found == [None, "key-order", "json-format"]


def test_ids_alone_tell_where_and_how_much() -> None:
    body = list(range(100, 200))

    report = chat.prefix_report([[1, 2, *body], [1, 3, *body], [1, 3, *body, 4]])

    assert report.requests[1].broken == PrefixBreak(
        "changed-content", 0, 1, 100, None, "ids", "2, 100, 101, 102", "3, 100, 101, 102"
    )
    assert report.requests[2].broken is None


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (5, "request 1: expected a text, messages, ids, or an object .*, got int"),
        ([], "request 1: expected a text, messages, ids, or an object .*, got list, empty"),
        ({}, "request 1: expected one of 'messages', 'text' and 'ids', got no keys"),
        ({"model": "x"}, "request 1: expected one of 'messages', 'text' and 'ids', got 'model'"),
        ({"text": "a", "ids": [1]}, "request 1: expected one of"),
        ({"text": 5}, "request 1: 'text' is no text, but int"),
        ({"ids": ["a"]}, "request 1: ids are a list of numbers, got"),
        ({"ids": [[1], [2, 3]]}, "request 1: ids are a list of numbers, got"),
        ({"ids": [1.5]}, "request 1: ids are a list of numbers, got"),
        ({"messages": "hi"}, "request 1: 'messages' is str, and a chat is a list of objects"),
        ({"messages": [{"role": "user", "content": "a"}, 5]}, "request 1: message 1 is int"),
        ({"messages": []}, "request 1: upstream refuses the chat: ValueError: Cannot apply chat template to an empty"),
        ({"messages": [{"content": "a"}]}, "request 1: upstream refuses the chat: UndefinedError"),
        ({"messages": [{"role": "user", "content": "a"}], "kwargs": 5}, "request 1: 'kwargs' is int"),
    ],
)
def test_a_request_that_cannot_be_read_is_named(entry: Any, reason: str, tmp_path: Path) -> None:
    tokenizer = small_sides("llama3")[0]
    (tmp_path / "log.jsonl").write_text(f"[1, 2]\n{json.dumps(entry)}\n", encoding="utf-8")

    with pytest.raises(ValueError, match=reason):
        chat.prefix_report([[1, 2], entry], tokenizer=tokenizer)
    with pytest.raises(ValueError, match=reason.replace("request 1", r"log\.jsonl, line 2")):
        chat.prefix_report(tmp_path / "log.jsonl", tokenizer=tokenizer)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"messages": [', "line 2: not JSON: Expecting value"),
        (b'"a\xff"', "line 2: not UTF-8: invalid start byte at byte 2"),
        (b"[" * 100_000, "line 2: not JSON"),
    ],
)
def test_a_damaged_line_is_named(line: bytes, reason: str, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_bytes(b'"a"\n' + line + b"\n")

    with pytest.raises(ValueError, match=reason):
        chat.prefix_report(tmp_path / "log.jsonl")


def test_messages_without_a_tokenizer_are_refused() -> None:
    with pytest.raises(ValueError, match="request 0: messages need a template: pass tokenizer="):
        chat.prefix_report([turns(RULES)])


@pytest.mark.parametrize("log", [5, None, b"log", {"messages": []}])
def test_what_is_no_log_is_a_type_error(log: Any) -> None:
    with pytest.raises(TypeError, match="a log is a path of JSON lines or a list of requests"):
        chat.prefix_report(log)


def test_a_block_has_a_token() -> None:
    with pytest.raises(ValueError, match="block_size=0: a block has at least 1 token"):
        chat.prefix_report([], block_size=0)


# --- how it is told


def test_an_empty_log_reports_nothing() -> None:
    report = chat.prefix_report([])

    assert (report.tokens, report.reused, report.share) == (0, 0, 0.0)
    assert str(report).startswith("0 requests, 0 of 0 tokens (0.0%) reused in blocks of 16")


def test_the_table_shows_markup_and_escapes_as_text() -> None:
    log = [f"[bold]a{mark}\x1b[31m[/bold] {RULES}" for mark in ("1[red]", "2[/red]")]

    table = str(chat.prefix_report(log))

    assert "\x1b" not in table
    assert "changed-content" in table
    found = [line for line in table.splitlines() if "'a1'" in line]
    assert len(found) == 1


def test_the_table_names_the_most_costly_causes_first() -> None:
    log = [turns(f"It is 11:20:0{at}. {RULES}", f"Session 1234567{at}", RULES) for at in range(3)]
    log += [turns("Be kind.", f"Session 1234567{at}. {RULES}") for at in range(2)]

    report = chat.prefix_report(log, tokenizer=small_sides("qwen3")[0])

    assert next(iter(report.lost)) == ("timestamp", "message 0, content")
    assert ("session-id", "message 1, content") in report.lost
    assert list(report.lost.values()) == sorted(report.lost.values(), reverse=True)
    assert [found.lost for _, found in report.breaks] == sorted(
        (found.lost for _, found in report.breaks), reverse=True
    )
    assert all(meaning in BREAKS for meaning, _ in report.lost)


def test_a_report_is_saved_as_json(tmp_path: Path) -> None:
    report = chat.prefix_report([f"Session 1234567{at}. {RULES}" for at in range(2)])

    report.save(tmp_path / "report.json")

    saved = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert saved == report.as_json()
    assert saved["requests"][1]["broken"]["kind"] == "session-id"
    assert saved["lost"] == [{"kind": "session-id", "place": "text", "tokens": report.breaks[0][1].lost}]
