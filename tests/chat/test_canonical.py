"""Tools in one order, and a clock that stands still."""

from __future__ import annotations

import json
import random
from datetime import datetime
from typing import Any

import pytest
from oracle import rendered
from transformers.utils import get_json_schema

from hf_bpe.chat import canonical_tools, clock, pin_clock, templates

NOW = datetime(2024, 7, 26, 12)
USER = [{"role": "user", "content": "hi"}]


def search(query: str, limit: int = 3) -> str:
    """
    Search.

    Args:
        query: What for.
        limit: How many results.
    """
    raise NotImplementedError


TOOLS: list[dict[str, Any]] = [
    get_json_schema(search),
    {
        "name": "bare",
        "parameters": {
            "type": "object",
            "properties": {
                "type": {"type": "string", "enum": ["b", "a"], "x-note": 1, "description": "a name like a keyword"},
                "nested": {"type": "object", "properties": {"name": {}, "a": {}}, "required": ["name", "a"]},
            },
            "required": ["type", "nested"],
            "$defs": {"name": {}, "b": {"anyOf": [{"type": "null"}, {"description": "d", "type": "string"}]}},
        },
    },
]


def shuffled(value: Any, rng: random.Random, *, key: str = "") -> Any:
    """Return the same schema with its keys, and what `required` lists, in another order."""
    if isinstance(value, list):
        items = [shuffled(item, rng) for item in value]
        return rng.sample(items, len(items)) if key == "required" else items
    if not isinstance(value, dict):
        return value
    return {name: shuffled(value[name], rng, key=name) for name in rng.sample(list(value), len(value))}


def test_the_order_of_writing_does_not_show() -> None:
    expected = json.dumps(canonical_tools(TOOLS))
    for seed in range(50):
        rng = random.Random(seed)
        tools = [shuffled(tool, rng) for tool in rng.sample(TOOLS, 2)]
        assert json.dumps(canonical_tools(tools)) == expected


def test_keys_come_as_models_have_seen_them() -> None:
    bare, searching = canonical_tools([search, TOOLS[1]])

    assert json.dumps(searching) == json.dumps(get_json_schema(search) | {"function": searching["function"]})
    assert list(searching["function"]) == ["name", "description", "parameters", "return"]
    assert list(searching["function"]["parameters"]["properties"]) == ["limit", "query"]
    assert list(bare["parameters"]) == ["type", "properties", "required", "$defs"]
    assert bare["parameters"]["required"] == ["nested", "type"]
    assert list(bare["parameters"]["properties"]["nested"]["properties"]) == ["a", "name"], "names, not keywords"
    assert bare["parameters"]["properties"]["type"]["enum"] == ["b", "a"], "other lists keep their order"
    assert list(bare["parameters"]["$defs"]["b"]["anyOf"][1]) == ["type", "description"]


def test_nothing_is_lost_and_what_was_given_is_not_changed() -> None:
    given = json.dumps(TOOLS)
    made = canonical_tools(TOOLS)

    assert json.dumps(TOOLS) == given
    assert sorted(json.dumps(tool, sort_keys=True) for tool in canonical_tools(made)) == sorted(
        json.dumps(tool, sort_keys=True) for tool in made
    )
    assert made[1] == TOOLS[0]
    assert canonical_tools([]) == []


def test_odd_tools_are_ordered_or_refused() -> None:
    assert canonical_tools([{"name": "b"}, {}, {"function": 5, "name": "a"}]) == [
        {},
        {"function": 5, "name": "a"},
        {"name": "b"},
    ]
    assert canonical_tools([{"required": ["b", 1], "required2": ("x", "a")}]) == [
        {"required": ["b", 1], "required2": ["x", "a"]}
    ]
    with pytest.raises(TypeError, match=r"tools\[1\] is a str; a tool is a JSON schema, as a dict, or a function"):
        canonical_tools([{}, "x"])  # type: ignore[list-item]


def test_a_clock_stands_still() -> None:
    assert clock(NOW)("%d %b %Y %H") == NOW.strftime("%d %b %Y %H")


@pytest.mark.parametrize(
    "template",
    [
        templates.load("llama3.2"),
        "\n  x{{ strftime_now('%d\\n\\\\ {{') }}\n",
        "{% for m in messages %}{{ strftime_now('%d') ~ strftime_now(format='%Y') }}{% endfor %}",
        "{% macro today() %}{{ strftime_now('%B') }}{% endmacro %}{{ today() | upper }}{{ strftime_now is defined }}",
        '{%- generation %}{{ strftime_now("it\'s %Y") }}{%- endgeneration %}',
    ],
)
def test_a_pinned_template_says_what_it_said_at_that_moment(template: str) -> None:
    now = datetime.now()
    other = datetime(now.year - 1, now.month % 12 + 1, now.day % 28 + 1)

    assert rendered("llama3", pin_clock(template, now), USER) == rendered("llama3", template, USER)
    assert rendered("llama3", pin_clock(template, other), USER) != rendered("llama3", template, USER)


def test_a_pinned_template_says_the_same_each_day() -> None:
    text = rendered("llama3.2", pin_clock(templates.load("llama3.2"), NOW), USER)

    assert text == rendered("llama3.1", templates.load("llama3.1"), USER, date_string=NOW.strftime("%d %b %Y"))


def test_templates_without_a_clock_stay_as_they_are() -> None:
    for name in templates.NAMES:
        template = templates.load(name)
        assert (pin_clock(template, NOW) == template) == (name != "llama3.2")


@pytest.mark.parametrize(
    "call", ["strftime_now(form)", "strftime_now('%d' ~ x)", "strftime_now()", "strftime_now('a', 1)"]
)
def test_dates_that_are_made_up_as_the_template_runs_are_refused(call: str) -> None:
    with pytest.raises(
        ValueError, match=r"line 2 of the chat template calls strftime_now with a format that isn't a pl"
    ):
        pin_clock(f"\n{{{{ {call} }}}}", NOW)


def test_a_clock_that_is_handed_on_is_refused() -> None:
    with pytest.raises(ValueError, match="hands strftime_now on"):
        pin_clock("{% set now = strftime_now %}{{ now('%d') }}", NOW)
