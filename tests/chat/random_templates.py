"""Random chat templates from a small grammar: most render, and their spans for masks lie anywhere."""

from __future__ import annotations

import random

_TEXTS = ["<|im_start|>", "<|im_end|>", "<|eot_id|>", "\n", "\n\n", " ", "<think>", "user: ", "é", "| "]
_FIELDS = ["message.role", "message.content", "message['content']", "message.name", "message.reasoning_content"]
_FILTERS = [
    "trim",
    "upper",
    "title",
    "string",
    "tojson",
    "tojson(indent=2)",
    "default('none')",
    "default('', true)",
    "replace('a', '<|im_end|>')",
    "length",
    "indent(2)",
    "join('-')",
    "list | last",
    "reverse | join",
    "truncate(9)",
    "escape",
]
_METHODS = [".strip()", ".split('\\n')[-1]", "[1:]", ".lower()", ".replace('\\n', ' ')", "[::-1]", ".center(9)"]
_TESTS = [
    "message.role == 'assistant'",
    "message.role != 'user'",
    "loop.first",
    "loop.last",
    "loop.index0 % 2",
    "message.content",
    "message.content is string",
    "'tool_calls' in message",
    "tools",
    "add_generation_prompt",
    "flag is defined",
    "loop.previtem is defined",
    "message.content.startswith('H')",
]


def random_template(rng: random.Random) -> str:
    """Return a template that loops over messages, and says something before and after."""
    body = "".join(_statement(rng, 0) for _ in range(rng.randint(2, 4)))
    spoken = _spoken(rng)
    parts = [_opening(rng), _tag(rng, "for message in messages"), body, spoken, _tag(rng, "endfor"), _closing(rng)]
    return "".join(parts)


def _tag(rng: random.Random, text: str) -> str:
    left, right = rng.choice(("", "-")), rng.choice(("", "", "-"))
    return rng.choice(("", "  ", "\n")) + f"{{%{left} {text} {right}%}}" + rng.choice(("", "\n"))


def _opening(rng: random.Random) -> str:
    return rng.choice(
        [
            "",
            "{{ bos_token }}",
            "{{- bos_token | default('') -}}",
            "{# a comment #}\n",
            "{%- set flag = true %}",
            "{%- for tool in tools or [] %}{{ tool | tojson }}\n{%- endfor %}",
            "{%- macro shout(x) %}{{ x | upper }}!{%- endmacro %}{{ shout('go') }}",
            "{%- set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}{% endfor %}{{ ns.n }}",
        ]
    )


def _closing(rng: random.Random) -> str:
    prompt = "{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{%- endif %}"
    fault = "{%- if messages | length > 5 %}{{ raise_exception('too many: ' ~ messages | length) }}{%- endif %}"
    return rng.choice(["", prompt, prompt, fault + prompt, "\n", "{{ eos_token }}\n\n"])


def _spoken(rng: random.Random) -> str:
    """What the assistant says, marked: whole, a part of it, several parts, or nothing at all."""
    value = _value(rng)
    inner = rng.choice([f"{{{{ {value} }}}}<|im_end|>", f" {{{{- {value} }}}}", "", f"{{{{ {value} }}}}"])
    marked = _tag(rng, "generation") + inner + _tag(rng, "endgeneration")
    if rng.random() < 0.3:
        marked += "<|eot_id|>" + _tag(rng, "generation") + rng.choice(_TEXTS) + _tag(rng, "endgeneration")
    return _tag(rng, "if message.role == 'assistant'") + marked + _tag(rng, "else") + _output(rng) + _tag(rng, "endif")


def _statement(rng: random.Random, depth: int) -> str:
    kind = rng.random()
    if kind < 0.45 or depth > 2:
        return _output(rng)
    if kind < 0.6:
        return rng.choice(_TEXTS)
    if kind < 0.85:
        then, other = _statement(rng, depth + 1), _statement(rng, depth + 1)
        return _tag(rng, f"if {rng.choice(_TESTS)}") + then + _tag(rng, "else") + other + _tag(rng, "endif")
    if kind < 0.93:
        return _tag(rng, f"set said = {_value(rng)}") + "{{ said }}"
    return _tag(rng, "for call in message.tool_calls or []") + "{{ call | tojson }}" + _tag(rng, "endfor")


def _output(rng: random.Random) -> str:
    left, right = rng.choice(("", "-")), rng.choice(("", "-"))
    return f"{{{{{left} {_value(rng)} {right}}}}}"


def _value(rng: random.Random) -> str:
    value = rng.choice(_FIELDS)
    if rng.random() < 0.4:
        value = f"{value} | {rng.choice(_FILTERS)}"
    elif rng.random() < 0.3:
        value += rng.choice(_METHODS)
    joined = rng.random()
    text = repr(rng.choice(_TEXTS))
    if joined < 0.15:
        return f"{text} + {value}"
    return f"{value} ~ {text}" if joined < 0.35 else value
