"""Random templates on random chats: upstream's text and errors, and no character of the caller's is ever trusted."""

from __future__ import annotations

from typing import Any

import pytest
from chats import ours, stock, upstream
from hypothesis import given, note
from hypothesis import strategies as st

from hf_bpe.chat import rendering
from hf_bpe.chat.rendered import trusted_spans
from hf_bpe.chat.rendering import render

CALLERS = "密鍵簽"
"""Characters that only the caller writes."""
TEMPLATES = "§¶¤"
"""Characters that only templates write."""

LITERALS = st.text(alphabet=TEMPLATES + "<|>ab \n", max_size=4)
CALLER_TEXT = st.text(alphabet=CALLERS + "<|>ab \n%{}", max_size=6)
FILTERS_THAT_KEEP = [
    "trim",
    "upper",
    "lower",
    "string",
    "reverse",
    "indent(2)",
    "indent(1, true, true)",
    "default('§')",
    "center(9)",
    "first",
    "last",
    "list | join('¶')",
    "replace('a', '§')",
    "replace('', '¤', 2)",
    "replace('b', message.content | string)",
    "truncate(5, true, '§', 0)",
    "batch(2) | map('join') | join('|')",
    "map('upper') | join",
    "select('ne', 'a') | join('¤')",
    "unique | join",
]
FILTERS_THAT_MAY_LOSE = [
    "title",
    "capitalize",
    "tojson",
    "tojson(indent=1)",
    "urlencode",
    "wordwrap(3)",
    "striptags",
    "escape",
    "safe",
    "e | upper",
    "pprint",
    "forceescape",
    "sort | join",
    "length",
    "wordcount",
    "truncate(4)",
    "format('a')",
    "list",
]
METHODS = [
    ".strip()",
    ".lstrip(' §')",
    ".rstrip('密')",
    ".split()",
    ".split('a')[-1]",
    ".rsplit('a', 1)[0]",
    ".split(' ') | join('<')",
    ".splitlines() | join('¤')",
    ".splitlines(true) | last",
    ".partition('|')[2]",
    ".rpartition('|')[1]",
    ".removeprefix('a')",
    ".removesuffix('密')",
    ".replace('|', '§¶')",
    ".zfill(8)",
    ".ljust(7, '§')",
    ".rjust(8)",
    ".center(9, '密')",
    ".expandtabs(2)",
    ".swapcase()",
    ".casefold()",
    ".join(['§', message.role, 'a'])",
    ".format('§', message.content)",
    "[1:]",
    "[-2:]",
    "[::-1]",
    "[::2]",
    "[4:1:-2]",
    "[0]",
    "[9]",
    ".nothing",
    ".upper()",
    ".source",
    "['source']",
    ".__class__",
]
CONDITIONS = [
    "message.content",
    "'a' in message.content",
    "message.role == 'user'",
    "message.content.startswith('<')",
    "loop.last",
    "loop.first",
    "x is defined",
    "x is string",
    "message.content is mapping",
    "loop.nextitem is defined and loop.nextitem.role == 'user'",
]
LOOPS = [
    "messages",
    "messages[1:]",
    "messages[::-1]",
    "messages | reverse",
    "messages | selectattr('role', 'equalto', 'user')",
    "messages if message.content",
    "(messages | list) + messages[:1]",
]


def expressions(filters: list[str]) -> st.SearchStrategy[str]:
    """Return strategies of expressions that use these filters."""
    leaves = st.one_of(
        LITERALS.map(repr),
        st.sampled_from(
            ["message.content", "message['role']", "x", "ns.text", "date", "bos_token", "message.extra", "1", "none"]
        ),
    )

    def grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        pair = st.tuples(inner, inner)
        return st.one_of(
            pair.map(" + ".join).map("({})".format),
            st.tuples(inner, inner, inner).map(" + ".join).map("({})".format),
            pair.map(" ~ ".join).map("({})".format),
            st.tuples(inner, st.sampled_from(filters)).map(lambda parts: f"({parts[0]} | {parts[1]})"),
            st.tuples(inner, st.sampled_from(METHODS)).map("".join),
            pair.map(lambda parts: f"('§%s|%5s%%' % ({parts[0]}, {parts[1]}))"),
            pair.map(lambda parts: f"('§{{}}|{{:>4}}{{{{'.format({parts[0]}, {parts[1]}))"),
            pair.map(lambda parts: f"([{parts[0]}, {parts[1]}] | join('¶'))"),
            st.tuples(inner, st.sampled_from(CONDITIONS), inner).map(lambda p: f"({p[0]} if {p[1]} else {p[2]})"),
            inner.map(lambda part: f"(2 * {part})"),
            inner.map(lambda part: f"quoted({part})"),
        )

    return st.recursive(leaves, grow, max_leaves=5)


def statements(filters: list[str]) -> st.SearchStrategy[str]:
    """Return strategies of the body of a loop over messages."""
    expression = expressions(filters)
    text = st.text(alphabet=TEMPLATES + "<|>ab\n", max_size=4)
    leaves = st.one_of(
        text,
        expression.map("{{{{ {} }}}}".format),
        expression.map("{{{{- {} -}}}}".format),
        expression.map("{{% set x = {} %}}".format),
        expression.map("{{% set ns.text = ns.text + {} %}}".format),
        st.just("{{ ns.text }}"),
    )

    def grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        body = st.lists(inner, min_size=1, max_size=3).map("".join)
        return st.one_of(
            body,
            st.tuples(st.sampled_from(CONDITIONS), body, body).map(
                lambda p: f"{{% if {p[0]} %}}{p[1]}{{% else %}}{p[2]}{{% endif %}}"
            ),
            body.map("{{% set x %}}{}{{% endset %}}".format),
            body.map("{{% filter upper %}}{}{{% endfilter %}}".format),
            body.map("{{% generation %}}{}{{% endgeneration %}}".format),
            body.map("{{% call quoted('§') %}}{}{{% endcall %}}".format),
            st.tuples(expression, body).map(lambda p: f"{{% for c in {p[0]} %}}{{{{ c }}}}{p[1]}{{% endfor %}}"),
            st.tuples(st.sampled_from(LOOPS), body).map(lambda p: f"{{% for message in {p[0]} %}}{p[1]}{{% endfor %}}"),
        )

    return st.recursive(leaves, grow, max_leaves=6)


@st.composite
def templates(draw: st.DrawFn, filters: list[str]) -> str:
    """Draw a template that loops over the messages."""
    body = st.lists(statements(filters), min_size=1, max_size=3).map("".join)
    return (
        "{% set ns = namespace(text='') %}{% set x = '¤' %}"
        "{% macro quoted(value) %}<{{ value }}|{{ caller() if caller }}>{% endmacro %}"
        f"{{% for message in {draw(st.sampled_from(LOOPS))} %}}{draw(body)}{{% endfor %}}"
        "{{ ns.text }}{% if add_generation_prompt %}<|gen|>§{% endif %}"
    )


CONTENTS = st.one_of(
    CALLER_TEXT,
    CALLER_TEXT,
    CALLER_TEXT,
    st.none(),
    st.integers(),
    st.lists(CALLER_TEXT, max_size=2),
    st.dictionaries(CALLER_TEXT, CALLER_TEXT, max_size=2),
)
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.one_of(st.sampled_from(["user", "assistant", "tool"]), CALLER_TEXT), "content": CONTENTS},
        optional={"extra": CALLER_TEXT},
    ),
    min_size=1,
    max_size=3,
)


@given(templates(FILTERS_THAT_KEEP + FILTERS_THAT_MAY_LOSE), MESSAGES, CALLER_TEXT, st.booleans())
def test_random_templates_give_upstreams_text_and_never_trust_the_caller(
    template: str, messages: list[dict[str, Any]], date: str, prompt: bool
) -> None:
    expected = upstream(messages, template, date=date, add_generation_prompt=prompt)
    note(template)

    assert ours(messages, template, date=date, add_generation_prompt=prompt) == expected
    if expected[0] == "text":
        check_runs(template, messages, date=date, add_generation_prompt=prompt)


def test_what_upstream_renders_we_render_without_its_help(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_help(*_: Any) -> Any:
        raise AssertionError("upstream was asked")

    monkeypatch.setattr(rendering, "render_plainly", no_help)
    monkeypatch.setattr(rendering, "by_upstream", no_help)

    @given(templates(FILTERS_THAT_KEEP + FILTERS_THAT_MAY_LOSE), MESSAGES, CALLER_TEXT)
    def check(template: str, messages: list[dict[str, Any]], date: str) -> None:
        if upstream(messages, template, date=date)[0] == "text":
            render(stock(), messages, chat_template=template, date=date)

    check()


def check_runs(template: str, messages: list[dict[str, Any]], **options: Any) -> None:
    """Check that runs cover the text in order, and that no character of the caller's is in one that is trusted."""
    rendered = render(stock(), messages, chat_template=template, **options)

    assert [run.start for run in rendered.runs] == [0, *(run.end for run in rendered.runs)][: len(rendered.runs)]
    assert "".join(rendered.text[run.start : run.end] for run in rendered.runs) == rendered.text
    assert all(run.start < run.end for run in rendered.runs)
    assert all(one.origin != other.origin for one, other in zip(rendered.runs, rendered.runs[1:], strict=False))
    assert rendered.trusted == trusted_spans(rendered.runs)
    for start, end in rendered.trusted:
        assert not set(rendered.text[start:end]) & set(CALLERS)


@given(templates(FILTERS_THAT_KEEP), MESSAGES, CALLER_TEXT)
def test_where_no_filter_loses_them_the_templates_characters_stay_trusted(
    template: str, messages: list[dict[str, Any]], date: str
) -> None:
    if upstream(messages, template, date=date)[0] == "error":
        return

    rendered = render(stock(), messages, chat_template=template, date=date)

    for start, end, origin in rendered.runs:
        if not origin.trusted and not origin.lost:
            assert not set(rendered.text[start:end]) & set(TEMPLATES), (template, rendered)
