"""What becomes of control tokens in the caller's data."""

from __future__ import annotations

import re
from typing import Any

import pytest
from encoded_chats import CHATML, small

from hf_bpe import chat
from hf_bpe.chat import Allow
from hf_bpe.errors import ChatError, HfBpeError

CHAT = [
    {"role": "user", "content": "say <|im_end|>"},
    {"role": "assistant", "content": "<think>no</think>ok<|im_end|>"},
]


def controls(policy: Any, messages: list[dict[str, Any]] = CHAT) -> list[str]:
    """Return the control tokens in an encoded chat."""
    tokenizer = small()
    ids = chat.encode(tokenizer, messages, policy=policy).ids
    return [tokenizer.convert_ids_to_tokens(token) for token in ids if token in tokenizer.added_tokens_decoder]


TURN = ["<|im_start|>", "<|im_end|>"]
THOUGHT = ["<|im_start|>", "<think>", "</think>", "<|im_end|>"]


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (None, [*TURN, *TURN]),
        ("text", [*TURN, *TURN]),
        ({"assistant": Allow("<think>", "</think>")}, [*TURN, *THOUGHT]),
        (Allow("<think>", "</think>"), [*TURN, *THOUGHT]),
        ({"user": Allow("<think>"), "tools": "error"}, [*TURN, *TURN]),
        (
            {"user": Allow("<|im_end|>"), "assistant": Allow("</think>")},
            [*TURN, "<|im_end|>", "<|im_start|>", *THOUGHT[2:]],
        ),
    ],
)
def test_a_policy_says_which_tokens_pass(policy: Any, expected: list[str]) -> None:
    assert controls(policy) == expected


def test_an_allowed_token_is_not_found_across_a_border() -> None:
    template = CHATML.replace("message.content +", "message.content + 'k>' +")
    tokenizer = small(template=template)

    encoding = chat.encode(tokenizer, [{"role": "user", "content": "<thin"}], policy=Allow("<think>"))

    assert "<think>" in encoding.text
    assert tokenizer.convert_tokens_to_ids("<think>") not in encoding.ids


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ("error", "messages[0].content spells the control token '<|im_end|>' at character 21 of the text"),
        ({"assistant": "error"}, "messages[1].content spells the control token '<think>' at character"),
    ],
)
def test_an_error_names_message_field_and_token(policy: Any, message: str) -> None:
    with pytest.raises(ChatError, match=re.escape(message)) as caught:
        chat.encode(small(), CHAT, policy=policy)
    assert isinstance(caught.value, HfBpeError)
    assert "the policy there is 'error'; take it out, or choose 'text' or Allow(" in str(caught.value)


def test_an_error_is_raised_for_a_token_across_two_fields() -> None:
    tokenizer = small(template="{{ messages[0].content + messages[0].name }}")

    with pytest.raises(ChatError, match=r"messages\[0\]\.content spells the control token '<\|im_end\|>'"):
        chat.encode(tokenizer, [{"role": "user", "content": "<|im_", "name": "end|>"}], policy="error")


@pytest.mark.parametrize(
    ("key", "template", "arguments"),
    [
        ("tools", "{{ tools | tojson }}", {"tools": [{"name": "<|im_end|>"}]}),
        ("documents", "{{ documents[0].text }}", {"documents": [{"text": "<|im_end|>"}]}),
        ("kwargs", "{{ date_string }}", {"date_string": "<|im_end|>"}),
    ],
)
def test_what_belongs_to_no_message_has_a_key(key: str, template: str, arguments: dict[str, Any]) -> None:
    tokenizer, messages = small(template=template), [{"role": "user", "content": "hi"}]
    control = tokenizer.convert_tokens_to_ids("<|im_end|>")

    for other in {"tools", "documents", "kwargs", "user"} - {key}:
        assert control not in chat.encode(tokenizer, messages, policy={other: "error"}, **arguments).ids
    assert control in chat.encode(tokenizer, messages, policy={key: Allow("<|im_end|>")}, **arguments).ids
    with pytest.raises(ChatError, match=rf"^{key if key != 'kwargs' else 'date_string'}.* spells the control token"):
        chat.encode(tokenizer, messages, policy={key: "error"}, **arguments)


def test_a_token_whose_writer_a_filter_hides_is_an_error_unless_the_policy_says() -> None:
    tokenizer = small(template="{{ (messages[0].content + '<|im_end|>') | pprint }}")
    control = tokenizer.convert_tokens_to_ids("<|im_end|>")
    messages = [{"role": "user", "content": "hi"}]
    hidden = chat.encode(tokenizer, messages, policy="text")
    assert any(run.origin.lost for run in hidden.columns.rendered.runs), "this filter keeps track: take another"

    with pytest.raises(ChatError, match=r"hides whether the template or the caller wrote it; pass policy='text' to"):
        chat.encode(tokenizer, messages)
    assert control not in hidden.ids
    assert control in chat.encode(tokenizer, messages, policy=Allow("<|im_end|>")).ids


@pytest.mark.parametrize("policy", ["tex", 3, {"user": None}, {"user": ["<think>"]}, ["text"]])
def test_anything_else_is_no_policy(policy: Any) -> None:
    with pytest.raises(
        TypeError, match=r"a policy is 'text', 'error', Allow\(\.\.\.\) or a dict of these by role, got"
    ):
        chat.encode(small(), CHAT, policy=policy)


def test_a_token_that_is_none_is_not_allowed() -> None:
    with pytest.raises(ChatError, match=r"Allow\('<thnk>'\) names '<thnk>', which is no added token of this tokenizer"):
        chat.encode(small(), CHAT, policy=Allow("<thnk>"))
    with pytest.raises(TypeError, match=r"Allow\(\) takes the texts of added tokens, such as Allow\('<think>'\), got"):
        Allow()


def test_policies_are_values() -> None:
    assert Allow("<a>", "<b>") == Allow("<a>", "<b>") != Allow("<a>")
    assert repr(Allow("<a>", "<b>")) == "Allow('<a>', '<b>')"
    assert len({Allow("<a>"), Allow("<a>")}) == 1
