"""Random conversations: mostly such as people have, some with what no template was written for."""

from __future__ import annotations

import random
from typing import Any

TEXTS = [
    "Hello",
    "",
    " ",
    "\n",
    "  two words \n",
    "\n\nafter lines",
    "naïve café — 漢字 🙂",
    "{{ bos_token }} {% raw %}",
    "<b>a & b</b> \"q\" 'q'",
    "<|eot_id|><|start_header_id|>system<|end_header_id|>\n\n",
    "<|im_end|>\n<|im_start|>system\n",
    "<think>\nsteps\n</think>\n\nanswer",
    "<think>\n\n</think>\n\nanswer",
    "half </think>\n\nanswer\n",
    "a<think>b<think>c</think>d</think>e",
    "<think>never closed",
    "<tool_response>\nfake\n</tool_response>",
    "<tool_response>open",
    "\x1c\x85trimmed\u3000\u2028",
    "\u200b\ufeffkept\u2060",
    "CONTINUE_FINAL_MESSAGE_TAG ",
]
ROLES = ["system", "user", "assistant", "tool"]
ODD_ROLES = ["ipython", "developer", "User", "", "<|im_end|>"]
ODD_VALUES: list[Any] = [None, 0, 22.0, True, False, [], {}, [1, "x"], {"a": "b"}, [{"type": "text", "text": "part"}]]
NAMES = ["get_weather", "brave_search", "f<|im_end|>", "код"]
_MISSING = object()


def conversation(rng: random.Random, *, odd: float = 0.08) -> dict[str, Any]:
    """Return the arguments of `apply_chat_template`: messages, tools, and keywords.

    Args:
        rng: Where chance comes from.
        odd: How likely each value is one that it should not be.
    """
    messages = [_message(rng, odd) for _ in range(rng.choice((1, 1, 2, 3, 4, 5, 6)))]
    if rng.random() < 0.6:
        messages.insert(0, {"role": "system", "content": _content(rng, odd)})
    keywords: dict[str, Any] = {"messages": messages, "tools": _tools(rng, odd)}
    ending = rng.random()
    if ending < 0.4:
        keywords["add_generation_prompt"] = True
    elif ending < 0.5:
        keywords["continue_final_message"] = True
    for name, values in _VARIABLES.items():
        if rng.random() < 0.07:
            keywords[name] = rng.choice(values)
    return keywords


_VARIABLES: dict[str, list[Any]] = {
    "date_string": ["01 Jan 2030", "", "x<|eot_id|>", None, 5],
    "enable_thinking": [True, False, None, 0, ""],
    "builtin_tools": [["brave_search"], ["brave_search", "code_interpreter"], [], None, "abc", [5]],
    "tools_in_user_message": [True, False, None],
    "custom_tools": [[{"name": "custom"}], [], None],
    "bos_token": ["<s>", "", None, 5],
}


def _message(rng: random.Random, odd: float) -> dict[str, Any]:
    role: Any = rng.choice(ROLES) if rng.random() > odd else rng.choice([*ODD_ROLES, 5, _MISSING])
    message = {"role": role, "content": _content(rng, odd)}
    if (role == "assistant" and rng.random() < 0.35) or rng.random() < odd / 4:
        message["tool_calls"] = _calls(rng, odd)
        if rng.random() < 0.4:
            message["content"] = rng.choice(["", _MISSING, None])
    if role == "assistant" and rng.random() < 0.3:
        message[rng.choice(["reasoning_content", "thinking", "reasoning"])] = _content(rng, odd)
    if rng.random() < 0.1:
        message["name"] = rng.choice(TEXTS)
    return {key: value for key, value in message.items() if value is not _MISSING}


def _content(rng: random.Random, odd: float) -> Any:
    return rng.choice([*ODD_VALUES, _MISSING]) if rng.random() < odd else rng.choice(TEXTS)


def _calls(rng: random.Random, odd: float) -> Any:
    if rng.random() < odd:
        return rng.choice([*ODD_VALUES, "ab", [5], [{}], [None], [{"function": {}}], [{"function": None, "name": "n"}]])
    return [_call(rng, odd) for _ in range(rng.choice((1, 1, 1, 2, 3)))]


def _call(rng: random.Random, odd: float) -> dict[str, Any]:
    texts = {rng.choice([*NAMES, "query"]): rng.choice(TEXTS) for _ in range(rng.choice((0, 1, 2)))}
    arguments: Any = rng.choice([texts, {"n": 1e-7, "deep": [None, {"k": rng.choice(TEXTS)}]}, '{"as": "text"}'])
    function = {"name": rng.choice(NAMES), "arguments": arguments}
    for key in ("name", "arguments"):
        if rng.random() < odd / 2:
            function[key] = rng.choice(ODD_VALUES)
        elif rng.random() < odd / 2:
            del function[key]
    return function if rng.random() < 0.3 else {"id": "call_1", "type": "function", "function": function}


def _tools(rng: random.Random, odd: float) -> Any:
    if rng.random() < 0.6:
        return None
    tools = [_tool(rng) for _ in range(rng.choice((0, 1, 1, 2)))]
    return rng.choice([[5], ["x"], {}, [{}]]) if rng.random() < odd / 4 else tools


def _tool(rng: random.Random) -> dict[str, Any]:
    properties = {rng.choice(NAMES): {"type": "string", "enum": [rng.choice(TEXTS), 1.0, float("nan")]}}
    function = {"name": rng.choice(NAMES), "description": rng.choice(TEXTS), "parameters": {"properties": properties}}
    return rng.choice([function, {"type": "function", "function": function}])
