"""Templates that run away, and arguments that are no chats: an error in good time, upstream's wherever it has one."""

from __future__ import annotations

import pickle
import time
from collections import UserDict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import Any

import numpy as np
import pytest
from chats import ours, rendering, stock, upstream

from hf_bpe.chat.limits import Limits
from hf_bpe.chat.rendering import render
from hf_bpe.errors import ChatError, HfBpeError

CHAT = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]
SMALL = Limits(iterations=20_000, characters=1_000_000, work=20_000_000)

BOMBS = [
    "{{ 'a' * 10**9 }}",
    "{{ 10**9 * 'a' }}",
    "{{ [1] * 10**9 }}",
    "{{ (messages * 10**9) | length }}",
    "{{ 10**(10**6) }}",
    "{{ 'x' | center(10**9) }}",
    "{{ 'x'.center(10**9) }}",
    "{{ 'x'.zfill(10**9) }}",
    "{{ '\t'.expandtabs(10**9) }}",
    "{{ 'x'.encode().center(10**9) }}",
    "{{ (1).to_bytes(10**9, 'big') }}",
    "{{ '%1000000000d' % 5 }}",
    "{{ '%*d' % (10**9, 5) }}",
    "{{ '%.1000000000f' % 5 }}",
    "{{ '%9999999s' | format('x') }}",
    "{{ '{:1000000000}'.format(5) }}",
    "{{ '{:{}}'.format(5, 10**9) }}",
    "{{ '{x:1000000000}'.format_map({'x': 5}) }}",
    "{{ 'a\nb' | indent(10**9) }}",
    "{{ messages[0] | tojson(indent=10**9) }}",
    "{{ lipsum(10**9) }}",
    "{{ lipsum(10**5) }}",
    "{{ messages | batch(10**9, 'x') | list }}",
    "{{ messages | slice(10**9) | list }}",
    "{{ ['x'] | map('center', 10**9) | list }}",
    "{% set ns = namespace(x='ab') %}{% for i in range(100) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
    "{% set ns = namespace(x='ab') %}{% for i in range(100) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
    "{% set ns = namespace(x='ab') %}{% for i in range(100) %}{% set ns.x = [ns.x, ns.x] | join %}{% endfor %}",
    "{% set ns = namespace(x='ab') %}{% for i in range(100) %}{% set ns.x = ns.x | replace('a', ns.x) %}{% endfor %}",
    "{% set ns = namespace(x='ab') %}{% for i in range(100) %}{% set ns.x = ns.x.replace('', ns.x) %}{% endfor %}",
    "{% set ns = namespace(x='ab') %}{% for i in range(100) %}{% set ns.x = '%s%s' % (ns.x, ns.x) %}{% endfor %}",
    "{% set ns = namespace(x='ab') %}{% for i in range(100) %}{% set ns.x = '{0}{0}'.format(ns.x) %}{% endfor %}",
    "{% set ns = namespace(x='ab') %}{% for i in range(100) %}{% set ns.x = ns.x.join([ns.x, ns.x]) %}{% endfor %}",
    "{% set ns = namespace(x=[1]) %}{% for i in range(100) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
    "{% set ns = namespace(x=9) %}{% for i in range(100) %}{% set ns.x = ns.x * ns.x %}{% endfor %}",
    "{% set ns = namespace(x=['a']) %}{% for i in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}",
    "{% set ns = namespace(x='a') %}{% for i in range(60) %}{% set ns.x = (ns.x, ns.x) %}{% endfor %}{{ {ns.x: 1} }}",
    "{% set ns = namespace(x='a') %}{% for i in range(60) %}{% set ns.x = {'a': ns.x, 'b': ns.x} %}{% endfor %}"
    "{{ ns.x | tojson }}",
    "{% set ns = namespace(x='a') %}{% for i in range(60) %}{% set ns.x = dict(a=ns.x, b=ns.x) %}{% endfor %}"
    "{{ ns.x }}",
    "{% set ns = namespace(x='a') %}{% for i in range(60) %}{% set ns.x = [ns.x] | batch(2, ns.x) | list %}{% endfor %}"
    "{{ ns.x }}",
    "{% set ns = namespace(x='a'.encode()) %}{% for i in range(60) %}"
    "{% set ns.x = ns.x.replace(''.encode(), ns.x) %}{% endfor %}{{ ns.x }}",
    "{% set ns = namespace(x='a'.encode()) %}{% for i in range(60) %}"
    "{% set ns.x = ns.x.join([ns.x, ns.x]) %}{% endfor %}",
    "{{ (1).to_bytes(length=10**9, byteorder='big') }}",
    "{% set ns = namespace(x={'a': 1} | xmlattr) %}{% for i in range(60) %}{% set ns.x = ns.x.replace('', ns.x) %}"
    "{% endfor %}{{ ns.x }}",
    "{% set ns = namespace(x={'a': 1} | xmlattr) %}{% for i in range(60) %}{% set ns.x = ns.x['join']([ns.x, ns.x]) %}"
    "{% endfor %}{{ ns.x }}",
    "{{ ('a b ' * 9999) | wordwrap(1, wrapstring='x' * 9999) }}",
    "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}",
    "{% for i in range(100000) %}aaaaaaaaaaaaaaaaaaaa{{ messages }}{% endfor %}",
    "{% macro f(n) %}{{ f(n - 1) ~ f(n - 1) if n else '' }}{% endmacro %}{{ f(40) }}",
    "{% for m in messages recursive %}{{ loop(messages) if loop.depth < 40 else '' }}{% endfor %}",
]


@pytest.mark.parametrize("template", BOMBS)
def test_a_template_that_runs_away_is_stopped(template: str) -> None:
    started = time.perf_counter()

    with pytest.raises(ChatError, match=r"chat template .*pass limits=Limits\((iterations|characters|work)=\.\.\.\)"):
        render(stock(), CHAT, chat_template=template, limits=SMALL)

    assert time.perf_counter() - started < 20


def test_the_error_names_the_message_whose_turn_it_was() -> None:
    template = "{% for m in messages %}{% if loop.last %}{% for i in range(99999) %}{% endfor %}{% endif %}{% endfor %}"

    with pytest.raises(ChatError, match=r"runs more than 20,000 iterations, in the turn of messages\[1\]; shorten"):
        render(stock(), CHAT, chat_template=template, limits=SMALL)


def test_chat_errors_are_value_errors_of_ours() -> None:
    assert issubclass(ChatError, HfBpeError)
    assert issubclass(ChatError, ValueError)


def test_limits_of_one_render_leave_no_trace_for_the_next() -> None:
    template = "{% for i in range(15000) %}{% endfor %}ok"

    texts = [render(stock(), CHAT, chat_template=template, limits=SMALL).text for _ in range(3)]

    assert texts == ["ok"] * 3


def test_the_defaults_have_room_for_ten_thousand_turns_and_ten_megabytes() -> None:
    template = "{% for m in messages %}<|{{ m.role }}|>{{ m.content | trim }}</s>{% endfor %}"
    long_chat = [{"role": "user" if turn % 2 else "assistant", "content": f" turn {turn} "} for turn in range(10_000)]
    wide_chat = [{"role": "user", "content": " x\n" * 3_500_000}]

    assert len({run.origin.message for run in rendering(template, long_chat).runs}) == 10_000
    assert len(rendering(template, wide_chat).text) > 10_000_000


def test_a_template_that_gathers_a_long_text_in_a_variable_needs_no_more_memory_than_its_pieces() -> None:
    template = (
        "{% set ns = namespace(t='') %}{% for m in messages %}{% set ns.t = ns.t + '<' + m.content + '>' %}{% endfor %}"
        "{{ ns.t }}"
    )

    rendered = rendering(template, [{"role": "user", "content": f"{turn:050}"} for turn in range(2_000)])

    assert len(rendered.runs) == 6_000


class Role(str, Enum):  # noqa: UP042  # a StrEnum prints its value
    """A role as an enum, which many clients have."""

    USER = "user"


@dataclass
class Note:
    """A message as a dataclass."""

    role: str
    content: Any


class Reply:
    """A message that dumps itself, as those of pydantic do."""

    def model_dump(self) -> dict[str, Any]:
        """Return the fields."""
        return {"role": "user", "content": "hi", "extra": None}


def cycle() -> dict[str, Any]:
    """Return a dict that holds itself."""
    tool: dict[str, Any] = {"name": "t"}
    tool["self"] = tool
    return tool


def documented(x: int) -> int:
    """Do something.

    Args:
        x: A number.
    """
    return x


TEMPLATES = [
    "{% for m in messages %}<{{ m.role }}>{{ m.content | trim }}</>{{ m.extra }}{{ m.thinking }}{% endfor %}"
    "{{ tools }}{{ documents }}",
    "{% for m in messages %}{{ '<' + m['role'] + '>' + m['content'] }}{% endfor %}{{ tools[0] | tojson if tools }}",
    "{{ messages | tojson }}{{ raise_exception('no: ' + messages[0].content) if messages | length == 3 }}",
    "{{ messages[0].content.missing.deeper }}",
    "{{ messages[0].content | nofilter }}",
    "{% if messages[0].content is notest %}{% endif %}",
    "{{ nofunction() }}",
    "{{ messages",
    "{% for %}",
    "{% include 'x' %}",
    "{% extends 'x' %}",
    "{{ 1 / 0 }}{{ messages[0].content }}",
    "",
]
CHATS: list[Any] = [
    [],
    (),
    None,
    "text",
    {},
    {"role": "user", "content": "hi"},
    5,
    [None],
    ["text"],
    [5],
    [{}],
    [{"role": "user"}],
    [{"content": "x"}],
    [{"role": None, "content": None}],
    [{"role": "user", "content": None, "thinking": "t", "reasoning": None}],
    [
        {"role": "user", "content": "a", "reasoning": "r"},
        {"role": "user", "content": "b"},
        {"role": "x", "content": "c"},
    ],
    [{"role": 5, "content": 5.0}, {"role": True, "content": False}],
    [{"role": ["user"], "content": {"a": [1, None, (2, "x")]}}],
    [{1: 2, None: 3, ("a", 1): 4, "role": "user", "content": "x"}],
    [
        {"role": Role.USER, "content": np.str_("np")},
        {"role": "user", "content": np.float32(1.5), "extra": np.array([1])},
    ],
    [Note("user", "hi"), Reply(), UserDict({"role": "user", "content": b"bytes"})],
    ({"role": "user", "content": "tuple"},),
    [{"role": "user", "content": "\ud800 lone \udfff"}],
    [{"role": "user", "content": "a\u0085\u2028\u200b\ufeff\x00\U000f0000İΣß"}],
    [{"role": "user", "content": {1, 2}}, {"role": "user", "content": object}],
    [{"role": "user", "content": [cycle]}],
]


@pytest.mark.parametrize("template", TEMPLATES)
def test_odd_chats_get_upstreams_text_or_error(template: str) -> None:
    for chat in CHATS:
        assert ours(chat, template) == upstream(chat, template), chat


OPTIONS: list[dict[str, Any]] = [
    {"tools": []},
    {"tools": [documented]},
    {"tools": [lambda x: x]},
    {"tools": ["text"]},
    {"tools": 5},
    {"tools": [{"a": UserDict({"b": Role.USER})}]},
    {"documents": []},
    {"documents": ["text"]},
    {"documents": [{"text": "d"}]},
    {"documents": 5},
    {"add_generation_prompt": True, "continue_final_message": True},
    {"continue_final_message": True},
    {"continue_final_message": "content"},
    {"continue_final_message": "role"},
    {"continue_final_message": "nofield"},
    {"continue_final_message": "thinking"},
    {"messages_": 1, "x": None, "date": object()},
]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "-".join(options))
def test_odd_options_get_upstreams_text_or_error(options: dict[str, Any]) -> None:
    endings: list[dict[str, Any]] = [
        {"role": "assistant", "content": "ho "},
        {"role": "assistant", "content": ""},
        {"role": "assistant", "content": [{"type": "text", "text": "part"}, {"type": "image"}]},
        {"role": "assistant", "content": [{"type": "image"}]},
        {"role": "assistant", "content": 5},
        {"role": "assistant", "content": "x", "thinking": "t"},
        {"role": "assistant"},
    ]
    for template in TEMPLATES:
        for ending in endings:
            chat = [CHAT[0], ending]
            assert ours(chat, template, **options) == upstream(chat, template, **options), (template, ending)


def test_tools_that_hold_themselves_raise_as_upstream_does() -> None:
    with pytest.raises(RecursionError):
        render(stock(), CHAT, chat_template="{{ tools }}", tools=[cycle()])


def test_a_template_that_calls_itself_without_end_raises_as_upstream_does() -> None:
    with pytest.raises(RecursionError):
        render(stock(), CHAT, chat_template="{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}")


def test_an_error_of_the_template_is_found_although_upstream_would_fold_its_literals() -> None:
    template = "{{ messages[0].none.none }}{{ 'a' * 10**11 }}"

    assert ours(CHAT, template) == ("error", "UndefinedError", "'dict object' has no attribute 'none'")


def test_upstreams_compiler_is_not_asked_to_fold_large_literals() -> None:
    with pytest.raises(ChatError, match="would first compute the large literals of this chat template"):
        render(stock(), CHAT, chat_template="{{ 'a' * 10**11 if content }}", tools=["no tool"])


def test_a_batch_is_refused() -> None:
    with pytest.raises(ChatError, match="messages is a batch of conversations"):
        render(stock(), [CHAT], chat_template="x")  # type: ignore[list-item]


def test_options_of_encoding_are_no_variables() -> None:
    with pytest.raises(TypeError, match="rendering takes no argument 'padding'"):
        render(stock(), CHAT, chat_template="x", padding=True)


def test_messages_and_tools_may_come_from_generators() -> None:
    def messages() -> Iterator[dict[str, Any]]:
        yield from CHAT

    rendered = render(stock(), messages(), chat_template="{{ messages[1].content }}{{ tools }}", tools=iter([]))  # type: ignore[arg-type]

    assert rendered.text == "ho[]"


def test_the_callers_data_is_left_as_it_was() -> None:
    chat = [{"role": "assistant", "content": [{"text": "a"}], "thinking": "t", "none": None}]

    render(stock(), chat, chat_template="{{ messages[0].content }}", continue_final_message=True)

    assert chat == [{"role": "assistant", "content": [{"text": "a"}], "thinking": "t", "none": None}]


def test_a_pinned_clock_is_what_templates_take_for_now() -> None:
    clock = datetime(2024, 7, 26, 12, tzinfo=UTC)

    rendered = render(stock(), CHAT, chat_template="{{ strftime_now('%d %b %Y') }}{{ date }}", clock=clock, date="|")

    assert (rendered.text, rendered.trusted) == ("26 Jul 2024|", ((0, 11),))


def test_a_rendered_chat_can_be_pickled() -> None:
    rendered = render(stock(), CHAT, chat_template="<{{ messages[0].content }}>")

    assert pickle.loads(pickle.dumps(rendered)) == rendered


def test_a_template_that_draws_lots_is_not_run_again_for_its_error() -> None:
    template = "{{ ['a', 'a'] | random }}{{ messages[0].none.none }}{% if false %}{{ 'b' * 10**11 }}{% endif %}"

    assert ours(CHAT, template)[1] == "UndefinedError"


def test_a_template_that_asks_for_the_time_twice_gets_one_answer() -> None:
    template = "{% set a = strftime_now('%f') %}{% for i in range(9999) %}{% endfor %}{{ a == strftime_now('%f') }}"

    assert render(stock(), CHAT, chat_template=template).text == "True"


def test_threads_render_at_the_same_time_as_one_would() -> None:
    template = (
        "{% for m in messages %}<{{ m.role }}>{{ m.content | trim }}{% endfor %}{% for i in range(900) %}{% endfor %}"
    )
    chats = [[{"role": "user", "content": f" {number} "}] * (number % 7 + 1) for number in range(200)]

    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda chat: render(stock(), chat, chat_template=template, limits=SMALL), chats))

    assert together == [render(stock(), chat, chat_template=template) for chat in chats]
