"""Random chats in random templates: upstream's ids wherever no control token stands in the caller's data."""

from __future__ import annotations

from typing import Any

import pytest
from encoded_chats import SPECIAL, small, stock
from hypothesis import given
from hypothesis import strategies as st

from hf_bpe import chat
from hf_bpe.chat import ChatEncoding

TEXTS = st.text(alphabet=st.sampled_from("ab <|im_end>\n\t\u0301éÉ漢🙂\u200b\u1100\u1161{}%'\"0"), max_size=8)
ROLES = ("system", "user", "assistant", "tool", "critic")
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(ROLES), "content": TEXTS},
        optional={
            "name": TEXTS,
            "tool_calls": st.lists(
                st.fixed_dictionaries({"name": TEXTS, "arguments": st.dictionaries(TEXTS, TEXTS, max_size=2)}),
                max_size=2,
            ),
        },
    ),
    min_size=1,
    max_size=6,
)
VALUES = [
    "message.content",
    "message.content | trim",
    "message['content'] | replace('a', 'b')",
    "message.content.split('>')[-1]",
    "message.content.strip('\\n')",
    "message | tojson",
    "message.tool_calls | tojson if message.tool_calls else ''",
    "(message.name or 'nobody') | upper",
    "loop.index ~ ': ' ~ message.content",
    "'%s!' % message.content",
    "message.content[:3] + message.content[3:]",
]
PRINTED = [
    "<|im_start|>",
    "<s>",
    "<think>",
    "</think>",
    "\n",
    " ",
    "hello",
    "<|im_",
    "<Left>",
    " <Right> ",
    "<Normal É>",
]


@st.composite
def templates(draw: st.DrawFn) -> str:
    """Return a template that writes each message by a few literals and values, and a prompt."""
    pieces = st.one_of(st.sampled_from(PRINTED), st.sampled_from(VALUES).map(lambda value: f"{{{{ {value} }}}}"))
    body = "".join(draw(st.lists(pieces, max_size=5)))
    rare = "".join(draw(st.lists(pieces, max_size=2)))
    role = draw(st.sampled_from(["", "{{ message.role }}", "{{ '<|im_start|>' + message.role + '\\n' }}"]))
    branch = f"{{% if message.role == 'assistant' %}}{rare}{{% endif %}}"
    prompt = "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    return f"{{% for message in messages %}}{role}{body}{branch}<|im_end|>{{% endfor %}}{prompt}"


def from_the_caller(encoding: ChatEncoding) -> list[str]:
    """Return the added tokens that upstream finds outside of what the template wrote."""
    return [token for _, _, token in encoding.columns.core.find_added_tokens(encoding.text, encoding.columns.parts)]


@pytest.mark.parametrize("kind", ["bytes", "lowercase", "metaspace"])
@given(template=templates(), messages=MESSAGES, prompts=st.booleans(), data=st.data())
def test_ids_are_upstreams_unless_the_caller_spells_a_token(
    kind: str, template: str, messages: list[dict[str, Any]], prompts: bool, data: st.DataObject
) -> None:
    ours = small(kind)
    options: dict[str, Any] = {"chat_template": template, "add_generation_prompt": prompts}

    encoding = chat.encode(ours, messages, policy="text", **options)

    if not from_the_caller(encoding):
        assert encoding.ids == stock(kind).apply_chat_template(messages, return_dict=False, **options)
    special = {ours.convert_tokens_to_ids(token) for token in SPECIAL}
    for token, (start, end) in zip(encoding.ids, encoding.offsets, strict=True):
        if token in special:
            touched = [run for run in encoding.columns.rendered.runs if run.start < end and start < run.end]
            assert all(run.origin.trusted for run in touched)
    count = data.draw(st.integers(1, len(messages)))
    grown = chat.encode(ours, messages[:count], policy="text", **options).append(messages[count:])
    assert grown == encoding
    assert grown.offsets == encoding.offsets
