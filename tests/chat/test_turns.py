"""Whose turn it is where the template writes: by loops over messages, and by the caller's text where there is none."""

from __future__ import annotations

import pytest
from chats import rendering, turns

from hf_bpe.chat.training import turns_of

CHAT = [
    {"role": "system", "content": "S"},
    {"role": "user", "content": "U"},
    {"role": "assistant", "content": "A"},
]
BY_MESSAGE = [(0, "<system>S</>"), (1, "<user>U</>"), (2, "<assistant>A</>"), (None, "<gen>")]
TURN = "<{{ m.role }}>{{ m.content }}</>"

SAME_TURNS = [
    "{% for m in messages %}" + TURN + "{% endfor %}<gen>",
    "{% for m in messages %}{{ '<' + m.role + '>' + m.content + '</>' }}{% endfor %}<gen>",
    "{% for m in messages %}" + TURN + "{% if loop.last %}{% endif %}{% set n = loop.nextitem %}{% endfor %}<gen>",
    "{% for m in messages %}{% if loop.last or loop.nextitem.role %}" + TURN + "{% endif %}{% endfor %}<gen>",
    "{% macro turn(m) %}" + TURN + "{% endmacro %}{% for m in messages %}{{ turn(m) }}{% endfor %}<gen>",
    "{% for m in messages[::-1] %}{% set x = m.content %}{% endfor %}{% for m in messages %}"
    + TURN
    + "{% endfor %}<gen>",
    "{% for m in messages %}<{{ m.role }}>{% for k in messages %}{% if k.content == 'U' %}{% endif %}{% endfor %}"
    "{{ m.content }}</>{% endfor %}<gen>",
    "{% for m in messages %}<{{ m.role }}>{% for k in messages if false %}{% endfor %}{{ m.content }}</>{% endfor %}"
    "<gen>",
    "{% set ns = namespace(t='') %}{% for m in messages %}"
    "{% set ns.t = ns.t + '<' + m.role + '>' + m.content + '</>' %}{% endfor %}{{ ns.t + '<gen>' }}",
    "{% for i in range(messages | length) %}{% set m = messages[i] %}{{ '<' }}{{ m.role }}>{{ m.content }}{{ '</>' }}"
    "{% endfor %}{{ '<gen>' }}",
    "{{ '<system>' + messages[0].content + '</>' }}{% for m in messages[1:] %}" + TURN + "{% endfor %}<gen>",
    "<system>{{ messages[0].content }}{{ '</>' }}{% for m in messages[1:] %}" + TURN + "{% endfor %}<gen>",
    "{% for m in messages[:-1] %}"
    + TURN
    + "{% endfor %}{% set m = messages[-1] %}"
    + TURN.replace("</>", "{{ '</>' }}")
    + "{{ '<gen>' }}",
    "{% for m in messages %}{% set text %}" + TURN + "{% endset %}{{ text | trim }}{% endfor %}<gen>",
    "{% for m in messages %}{% generation %}" + TURN + "{% endgeneration %}{% endfor %}<gen>",
    "{% for m in messages %}{% if m.role != 'x' %}" + TURN + "{% continue %}{% endif %}{% endfor %}<gen>",
    "{% for m in messages recursive %}" + TURN + "{% endfor %}<gen>",
    "{% for role, group in messages | groupby('role') | sort(attribute='grouper', reverse=true) %}{% endfor %}"
    "{% for m in messages %}" + TURN + "{% endfor %}<gen>",
]


@pytest.mark.parametrize("template", SAME_TURNS)
def test_a_turn_is_found_however_the_template_goes_through_the_messages(template: str) -> None:
    assert turns(rendering(template, CHAT)) == BY_MESSAGE


def test_what_stands_before_the_loop_belongs_to_no_message() -> None:
    template = "<begin>{% for m in messages %}" + TURN + "{% endfor %}"

    assert turns(rendering(template, CHAT[1:])) == [(None, "<begin>"), (0, "<user>U</>"), (1, "<assistant>A</>")]


def test_a_message_whose_content_is_dropped_still_has_its_turn() -> None:
    template = "{% for m in messages %}{% if m.role == 'user' %}<ask>{% else %}{{ m.content }}{% endif %}{% endfor %}"

    assert turns(rendering(template, CHAT)) == [(0, "S"), (1, "<ask>"), (2, "A")]


def test_what_is_quoted_in_the_turn_of_another_message_knows_both() -> None:
    template = (
        "{% for m in messages %}<{{ m.role }}>{{ m.content }}{{ loop.previtem.content if loop.previtem }}{% endfor %}"
    )

    rendered = rendering(template, CHAT)

    assert [(turn.message, rendered.text[turn.start : turn.end]) for turn in turns_of(rendered.runs)] == [
        (0, "<system>S"),
        (1, "<user>US"),
        (2, "<assistant>AU"),
    ]
    assert [run.origin[1:] for run in rendered.runs if run.origin.quoted_in is not None] == [
        (0, "content", False, 1),
        (1, "content", False, 2),
    ]


def test_an_answer_without_a_turn_of_its_own_is_no_quotation() -> None:
    template = "{% for m in messages[::2] %}<{{ m.content }}>{{ messages[loop.index0 * 2 + 1].content }}{% endfor %}"

    rendered = rendering(template, [*CHAT[1:], *CHAT[1:]])

    assert [turn.message for turn in turns_of(rendered.runs)] == [0, 1, 2, 3]


def test_tools_and_keyword_arguments_belong_to_no_message() -> None:
    template = "{{ date }}{% for m in messages %}{{ m.content }}{{ date }}{% endfor %}"

    rendered = rendering(template, CHAT[:1], date="d")

    assert [(run.origin.message, run.origin.field) for run in rendered.runs] == [
        (None, "date"),
        (0, "content"),
        (None, "date"),
    ]


def test_two_messages_in_one_breath_share_the_text_between_them() -> None:
    template = (
        "{{ '<s>' }}{{ messages[0].content }}{{ '</s>' }}{{ '<u>' }}{{ messages[1].content }}{{ '</u>' }}{{ 'gen' }}"
    )

    assert turns(rendering(template, CHAT)) == [(0, "<s>S</s>"), (1, "<u>U</u>"), (None, "gen")]


def test_the_loop_after_a_system_message_begins_with_its_own_turn() -> None:
    template = (
        "<begin>{{ '<sys>' }}{{ messages[0].content }}{{ '</>' }}{{ tools | tojson }}{{ '|' }}"
        "{% for m in messages[1:] %}" + TURN + "{% endfor %}{% if add_generation_prompt %}<gen>{% endif %}"
    )

    rendered = rendering(template, CHAT, tools=[{"a": 1}], add_generation_prompt=True)

    assert turns(rendered) == [
        (0, "<begin><sys>S</>"),
        (None, '[{"a": 1}]'),
        (0, "|"),
        (1, "<user>U</>"),
        (2, "<assistant>A</>"),
        (None, "<gen>"),
    ]


def test_a_prefill_ends_where_upstream_ends() -> None:
    template = "{% for m in messages %}<{{ m.role }}>{{ m.content | trim }}</>{% endfor %}"

    rendered = rendering(template, [*CHAT[:2], {"role": "assistant", "content": "Sure: "}], continue_final_message=True)

    assert turns(rendered)[-1] == (2, "<assistant>Sure:")
    assert rendered.runs[-1].end == len(rendered.text)
