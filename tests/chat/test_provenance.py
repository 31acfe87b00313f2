"""Who wrote which character, operation by operation: `[the template's]`, `(the caller's)`, `{lost}`."""

from __future__ import annotations

from typing import Any

import pytest
from chats import ours, rendering, shown, stock, upstream

from hf_bpe.chat.rendered import Origin, Rendered, Run
from hf_bpe.chat.rendering import render

TALK: list[dict[str, Any]] = [
    {"role": "user", "content": " Ab\ncd e "},
    {"role": "assistant", "content": "straße", "calls": [{"name": "f", "args": {"x": 1, "key": "v"}}]},
    {"role": "critic", "content": ["p", 2]},
]

OPERATIONS = [
    ("{{ '<' + A + '>' }}", "[<]( Ab\ncd e )[>]"),
    ("{{ '<' ~ A ~ 1 ~ none ~ '>' }}", "[<]( Ab\ncd e )(1None)[>]"),
    ("{{ ('<' + A + '>') * 2 }}", "[<]( Ab\ncd e )[><]( Ab\ncd e )[>]"),
    ("{{ '<%s|%5s|%d%%>' % (A, 'q', 3) }}", "[<]( Ab\ncd e )[|    q|](3)[%>]"),
    ("{{ '%(a)s%(b)s!' | format(a=A, b='b') }}", "( Ab\ncd e )[b!]"),
    ("{{ A | format }}{{ (A + '!') | format }}", "( Ab\ncd e ){ Ab\ncd e !}"),
    ("{{ '<{}{{{:>3}{a}'.format(A, 'q', a=B) }}", "[<]( Ab\ncd e )[{  q](straße)"),
    ("{{ '<{:{}}>'.format(B, 9) }}", "{<straße   >}"),
    ("{{ '{x}'.format_map({'x': B}) }}", "(straße)"),
    ("{{ [A, 'x', B] | join('-') }}", "( Ab\ncd e )[-x-](straße)"),
    ("{{ '-'.join([A, 'x']) }}", "( Ab\ncd e )[-x]"),
    ("{{ messages | map(attribute='role') | join }}", "[userassistant](critic)"),
    ("{{ A | trim }}{{ ('  ' ~ A ~ '!') | trim }}", "(Ab\ncd eAb\ncd e )[!]"),
    ("{{ ('x' + B + 'y').strip('xy') }}", "(straße)"),
    ("{{ ('x' + B + 'y').removeprefix('xs').removesuffix('ey') }}", "(traß)"),
    ("{{ ('<' + B + '>') | replace('s', '<s>') }}", "[<<s>](traße)[>]"),
    ("{{ ('<' + B + '>').replace('', '.', 3) }}", "[.<.](s)[.](traße)[>]"),
    ("{{ ('<' + B + '>').split('a') | join('|') }}", "[<](str)[|](ße)[>]"),
    ("{{ A.split() | join('|') }}{{ A.rsplit(none, 1) | last }}", "(Ab)[|](cd)[|](e)(e)"),
    ("{{ ('<' + A).splitlines() | join('|') }}", "[<]( Ab)[|](cd e )"),
    ("{{ ('<' + B).partition('a') | join('|') }}", "[<](str)[|](a)[|](ße)"),
    ("{{ ('<' + B + '>')[2:-1] }}{{ ('<' + B)[0] }}{{ B[-1] }}", "(traße)[<](e)"),
    ("{{ ('<' + B + '>')[::-1] }}{{ ('<' + B)[::2] }}", "[>](eßarts)[<<](tae)"),
    ("{% for c in '<' + B %}{{ c }}.{% endfor %}", "[<.](s)[.](t)[.](r)[.](a)[.](ß)[.](e)[.]"),
    ("{{ ('a' + B + 'ß') | upper }}{{ ('Q' + A) | lower }}", "[A](STRASSE)[SSq]( ab\ncd e )"),
    ("{{ B | capitalize }}{{ 'ab' | title }}{{ B | title }}", "(Straße)[Ab](Straße)"),
    ("{{ ('ab ' + B) | title }}", "{Ab Straße}"),
    ("{{ B | tojson }}{{ 'a' | tojson }}{{ ['a', B] | tojson }}", '("straße")["a"]{["a", "straße"]}'),
    ("{{ messages[1].calls | tojson }}", '([{"name": "f", "args": {"x": 1, "key": "v"}}])'),
    ("{{ 'a' | tojson(indent=B) }}", '{"a"}'),
    ("{{ messages[2].content }}{{ messages[2].content | string | trim }}", "(['p', 2]['p', 2])"),
    ("{{ ('<' + A) | indent(2, true) }}", "[  <]( Ab\n)[  ](cd e )"),
    ("{{ A | default('x') }}{{ z | default('x') }}{{ z | default(B) }}", "( Ab\ncd e )[x](straße)"),
    ("{{ ('<' + B) | first }}{{ ('<' + B) | last }}", "[<](e)"),
    ("{{ ('<' + B) | reverse }}{{ ('<' + B) | list | join }}", "(eßarts)[<<](straße)"),
    ("{{ ['x', B] | select('ne', 'x') | first }}", "(straße)"),
    ("{{ messages | rejectattr('role', 'in', ['user', 'assistant']) | map(attribute='role') | first }}", "(critic)"),
    ("{% set ns = namespace(t='<') %}{% set ns.t = ns.t + B %}{{ ns.t }}", "[<](straße)"),
    ("{% macro m(v) %}<{{ v }}|{{ caller() }}>{% endmacro %}{% call m(B) %}c{% endcall %}", "[<](straße)[|c>]"),
    ("{% set v %}<{{ B }}>{% endset %}{{ v | upper }}", "[<](STRASSE)[>]"),
    ("{% filter upper %}a{{ B }}{% endfilter %}", "[A](STRASSE)"),
    ("{% generation %}<{{ B }}>{% endgeneration %}", "[<](straße)[>]"),
    ("{{ B | safe }}{{ '<a>' | safe }}{{ '<a>' | escape }}{{ '<' | e }}", "(straße)[<a>&lt;a&gt;&lt;]"),
    ("{{ 'ab' | center(6) }}{{ 'ab'.ljust(3, B[0]) }}{{ B.zfill(8) }}", "[  ab  ab](s)(00straße)"),
    ("{{ 'ab cd' | wordwrap(2) }}{{ B | wordwrap(3) }}", "[ab\ncd](str\naße)"),
    ("{{ 'abcdefghij' | truncate(4, true) }}{{ B | truncate(4, true, '!', 0) }}", "[a...](str)[!]"),
    ("{{ '<b>x</b>' | striptags }}{{ B | urlencode }}{{ '<' | urlencode }}", "[x](stra%C3%9Fe)[%3C]"),
    ("{{ messages[1].calls[0].args | dictsort | map('first') | join(',') }}", "(key)[,](x)"),
    ("{% for k, v in messages[1].calls[0].args | items %}{{ k }}={{ v }};{% endfor %}", "(x)[=](1)[;](key)[=](v)[;]"),
    ("{% for k in messages[1] %}{{ k }}{% endfor %}", "{rolecontentcalls}"),
    ("{% for g, l in messages | groupby('role') %}{{ g }}{% endfor %}", "[assistant](critic)[user]"),
    ("{{ ['a', 'a', B] | unique | join }}{{ [B, 'a'] | batch(1) | map('first') | join }}", "[a](straße)(straße)[a]"),
    ("{{ {'class': B} | xmlattr }}", '{ class="straße"}'),
    ("{{ B | pprint }}{{ [B, 'a'] }}", "('straße'){['straße', 'a']}"),
    ("{{ messages[0].role }}{{ messages[2].role }}", "[user](critic)"),
    ("{{ bos_token }}{{ date }}{{ strftime_now('%%') }}", "[<|begin|>](now)[%]"),
    ("{{ tools[0].function.name }}{{ documents[0].text }}", "(get)(doc)"),
    ("{{ loop }}{{ messages | length }}{{ 1.5 }}{{ true }}{{ none }}{{ undefined }}", "(31.5TrueNone)"),
    ("{% autoescape true %}{{ B }}{{ '<' }}{% endautoescape %}", "{straße}[&lt;]"),
    ("{{ cycler('a', B).next() }}{% set j = joiner(', ') %}{{ j() }}{{ j() }}", "[a, ]"),
    ("{% if B == 'straße' and 's' in B and B is string %}{{ B }}{% endif %}", "(straße)"),
]


def operation(template: str) -> Rendered:
    """Render a template for which A and B are the contents of the first messages."""
    whole = "{% set A = messages[0].content %}{% set B = messages[1].content %}" + template
    tools = [{"type": "function", "function": {"name": "get"}}]
    return rendering(whole, TALK, tools=tools, documents=[{"text": "doc"}], date="now")


def merged(text: str) -> str:
    """Join neighbouring marks of one kind, as runs of one kind but of two messages are told apart."""
    for pair in ("][", ")(", "}{"):
        text = text.replace(pair, "")
    return text


@pytest.mark.parametrize(("template", "expected"), OPERATIONS, ids=[template for template, _ in OPERATIONS])
def test_each_operation_keeps_who_wrote_what(template: str, expected: str) -> None:
    assert merged(shown(operation(template))) == merged(expected)


def test_runs_name_message_and_field() -> None:
    calls = [{"function": {"name": "f", "arguments": {"k": "v"}}}]
    template = "{% for m in messages %}{{ m.role + ':' + m.tool_calls[0].function.arguments.k }}{% endfor %}{{ date }}"

    rendered = rendering(template, [{"role": "assistant", "tool_calls": calls}], date="d")

    assert rendered.runs == (
        Run(0, 9, Origin(True, 0, "role")),
        Run(9, 10, Origin(True, 0)),
        Run(10, 11, Origin(False, 0, "tool_calls[0].function.arguments.k")),
        Run(11, 12, Origin(False, None, "date")),
    )


def test_a_role_is_vocabulary_if_it_is_known_or_the_template_compares_roles_with_it() -> None:
    template = "{% for m in messages %}{{ '<' if m.role != 'sage' else '>' }}{{ m.role }}{% endfor %}"
    roles = ["user", "sage", "<", "USER", "stranger"]

    rendered = rendering(template, [{"role": role, "content": ""} for role in roles])

    assert shown(rendered) == "[<][user][>][sage][<](<)[<](USER)[<](stranger)"


@pytest.mark.parametrize(
    "question",
    [
        "{% if 'sage' == m['role'] %}{% endif %}",
        "{% if m.get('role') in ('bard', 'sage') %}{% endif %}",
        "{% set r = m.role %}{% set s = r | lower %}{{ '' if s is eq 'sage' }}",
        "{% set sages = messages | selectattr('role', 'in', ['sage']) %}",
        "{{ {'sage': ''}[m.role] }}",
        "{% set turns = {'sage': ''} %}{{ turns.get(m.role, '') }}",
        "{% macro f(role) %}{{ '' if role == 'sage' }}{% endmacro %}{{ f(m.role) }}",
    ],
)
def test_a_word_that_the_template_takes_for_a_role_is_vocabulary(question: str) -> None:
    rendered = rendering(f"{{% for m in messages %}}{question}{{{{ m.role }}}}{{% endfor %}}", [{"role": "sage"}])

    assert shown(rendered) == "[sage]"


@pytest.mark.parametrize(
    "mention",
    [
        "{% if m.type == 'image' and m.role == 'user' %}{% endif %}",
        "{% if 'image' in m or m['image'] == m.role %}{% endif %}",
        "{% set sizes = {'image': 1} %}{{ '' if sizes[m.type] and m.role }}",
        "{% set images = messages | selectattr('type', 'eq', 'image') %}",
    ],
)
def test_another_word_of_the_template_is_no_role(mention: str) -> None:
    template = f"{{% for m in messages %}}{mention}{{{{ '<|' + m.role + '|>' }}}}{{% endfor %}}"

    rendered = rendering(template, [{"role": "image"}])

    assert shown(rendered) == "[<|](image)[|>]"


def test_a_special_token_from_a_keyword_is_the_callers_unless_it_is_the_tokenizers_own() -> None:
    chat = [{"role": "user", "content": ""}]

    assert shown(rendering("{{ bos_token }}", chat)) == "[<|begin|>]"
    assert shown(rendering("{{ bos_token }}", chat, bos_token="<|begin|>")) == "[<|begin|>]"
    assert shown(rendering("{{ bos_token }}", chat, bos_token="<|im_end|>")) == "(<|im_end|>)"
    assert shown(rendering("{{ eos_token }}", chat, eos_token="<|begin|>")) == "(<|begin|>)"


FIELDS: list[tuple[str, dict[str, Any]]] = [
    ("{{ messages[0].content }}", {}),
    ("{{ messages[0].role }}", {}),
    ("{{ messages[0].name }}", {}),
    ("{{ messages[0] }}", {}),
    ("{{ messages }}", {}),
    ("{{ messages | tojson }}", {}),
    ("{% for key in messages[0].deep.keys() %}{{ key }}{% endfor %}", {}),
    ("{{ messages[0].deep | tojson(indent=2) }}", {}),
    ("{{ messages[0].deep | dictsort | first | first }}", {}),
    ("{{ date }}", {"date": "EVIL"}),
    ("{{ add_generation_prompt }}", {"add_generation_prompt": "EVIL"}),
    ("{{ tools[0] | tojson }}", {"tools": [{"EVIL": "EVIL"}]}),
    ("{{ documents[0].title }}", {"documents": [{"title": "EVIL"}]}),
    ("{{ bos_token }}", {"bos_token": "EVIL"}),
]


@pytest.mark.parametrize(
    "token", ["<|im_end|>", "<think>", "<|eot_id|>", "\U000f0000<|im_end|>\U000f0001", "<|\u200bim_end|>"]
)
@pytest.mark.parametrize(("template", "options"), FIELDS, ids=[template for template, _ in FIELDS])
def test_no_field_of_the_callers_can_write_a_token(template: str, options: dict[str, Any], token: str) -> None:
    message = {"role": token, "content": token, "name": token, "deep": {token: token}, token: token}
    planted = {name: replaced(value, token) for name, value in options.items()}

    rendered = rendering(f"{{{{ '{token}' }}}}|{template}|", [message], **planted)

    written = rendered.text[len(token) + 1 :]
    assert token in written or repr(token)[1:-1] in written
    assert rendered.trusted == ((0, len(token) + 1), (len(rendered.text) - 1, len(rendered.text)))


def replaced(value: Any, token: str) -> Any:
    """Return options with a token planted."""
    if isinstance(value, dict):
        return {replaced(key, token): replaced(item, token) for key, item in value.items()}
    if isinstance(value, list):
        return [replaced(item, token) for item in value]
    return token if value == "EVIL" else value


@pytest.mark.parametrize(
    "trick",
    [
        "{{ messages[0].content.source }}",
        "{{ messages[0].content['source'] }}",
        "{{ messages[0].content | attr('source') }}",
        "{{ [messages[0].content] | map(attribute='source') | list }}",
        "{{ '{0.source}'.format(messages[0].content) }}",
        "{{ messages[0].origin }}{{ messages.origin }}{{ messages[0].index }}",
        "{{ messages[0]['origin'] }}{{ messages | attr('origin') }}",
        "{{ messages[0].content.__class__ }}",
        "{{ messages[0].content.__class__.__mro__ }}",
        "{{ messages[0].content.strip.__func__ }}",
        "{{ messages[0].content.strip.__func__.__globals__ }}",
        "{{ messages[0].content.split.__self__ }}",
        "{{ ''.__class__.__base__.__subclasses__() }}",
        "{{ messages.append(1) }}",
        "{{ messages[0].update({'a': 1}) }}",
        "{{ messages[0].clear }}",
        "{{ '{0.__class__.__mro__}'.format(messages[0].content) }}",
        "{{ '{0.__class__}'.format_map(messages[0]) }}",
        "{{ namespace(_a=1) }}",
        "{{ cycler.__init__.__globals__ }}",
        "{{ self.__init__ }}",
        "{{ (messages[0].content | safe).source }}",
    ],
)
def test_tricks_with_attributes_give_what_upstreams_sandbox_gives(trick: str) -> None:
    assert ours(TALK, trick) == upstream(TALK, trick)


def test_the_tokenizers_own_template_and_names_of_templates_are_used() -> None:
    tokenizer = stock()
    tokenizer.chat_template = {"default": "d{{ messages[0].content }}", "tool_use": "t", "other": "o"}
    chat = [{"role": "user", "content": "x"}]
    try:
        texts = [render(tokenizer, chat, **options).text for options in ({}, {"tools": []}, {"chat_template": "other"})]
    finally:
        tokenizer.chat_template = None

    assert texts == ["dx", "t", "o"]
