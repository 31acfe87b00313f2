"""What `chat.check` finds in each golden case: by case, templates, and kind, message and field of each finding.

What isn't listed has no findings. Several findings of one kind in one field are listed once.
"""

from __future__ import annotations

Place = tuple[str, int | None, str | None]

EXPECTED: dict[str, dict[str, list[Place]]] = {
    "bos_token_none": {
        "llama3": [("refused", None, None)],
        "llama3_1": [("dropped-none", None, "bos_token")],
    },
    "builtin_tool_call_eom": {
        "llama3 chatml": [("dropped-tool-calls", 1, "tool_calls[0].function")],
    },
    "builtin_tool_call_nonstring_arg": {
        "llama3 chatml": [("dropped-tool-calls", 1, "tool_calls[0].function")],
        "llama3_1": [("refused", 1, None)],
    },
    "consecutive_tool_responses": {
        "llama3 chatml": [("dropped-tool-calls", 1, "tool_calls[0].function"), ("dropped-tools", None, "tools")],
    },
    "content_bool": {
        "llama3 llama3_1": [("printed-repr", 0, "content")],
        "chatml qwen2_5": [("refused", 0, None)],
        "qwen3": [("dropped-content", 0, "content")],
    },
    "content_dict": {
        "llama3 llama3_1": [("printed-repr", 0, "content")],
        "chatml qwen2_5": [("refused", 0, None)],
        "qwen3": [("dropped-content", 0, "content.text")],
    },
    "content_missing_user": {
        "chatml qwen2_5": [("refused", 0, None)],
    },
    "content_none_user": {
        "llama3 llama3_1 qwen3": [("dropped-none", 0, "content")],
        "chatml qwen2_5": [("refused", 0, None), ("dropped-none", 0, "content")],
    },
    "content_parts_image": {
        "llama3 llama3_1": [("printed-repr", 0, "content")],
        "chatml qwen2_5": [("refused", 0, None)],
        "qwen3": [("dropped-content", 0, "content[1].text"), ("dropped-content", 0, "content[0]")],
    },
    "content_parts_multi": {
        "llama3 llama3_1": [
            ("printed-repr", 0, "content"),
            ("printed-repr", 1, "content"),
            ("printed-repr", 2, "content"),
        ],
        "chatml qwen2_5 qwen3": [("refused", 0, None)],
    },
    "continue_and_gen": {
        "llama3 llama3_1 chatml qwen2_5 qwen3": [("refused", None, "add_generation_prompt")],
    },
    "continue_empty": {
        "llama3 llama3_1": [("trimmed-prefill", 1, "content")],
    },
    "continue_none": {
        "llama3 llama3_1 qwen3": [("refused", 1, "content"), ("dropped-none", 1, "content")],
        "chatml qwen2_5": [("refused", 1, None), ("dropped-none", 1, "content")],
    },
    "continue_parts": {
        "llama3 llama3_1": [("printed-repr", 1, "content")],
        "chatml qwen2_5": [("refused", 1, None)],
        "qwen3": [("refused", 1, "content")],
    },
    "continue_tag_in_content": {
        "llama3 llama3_1": [("trimmed-content", 0, "content")],
    },
    "continue_tool_calls": {
        "llama3 chatml": [("dropped-tool-calls", 1, "tool_calls[0].function"), ("dropped-tools", None, "tools")],
        "llama3_1": [("refused", 1, "content")],
    },
    "continue_trailing_newline": {
        "llama3 llama3_1": [("trimmed-prefill", 1, "content")],
    },
    "empty_conversation": {
        "llama3 llama3_1 chatml qwen2_5 qwen3": [("refused", None, None)],
    },
    "empty_conversation_gen": {
        "llama3 llama3_1 chatml qwen2_5 qwen3": [("refused", None, None)],
    },
    "empty_role": {
        "qwen2_5 qwen3": [("dropped-message", 0, None)],
    },
    "inject_chatml": {
        "llama3 llama3_1": [("trimmed-content", 0, "content")],
        "chatml qwen2_5 qwen3": [("control-token", 0, "content")],
    },
    "inject_date_kwarg": {
        "llama3_1": [("control-token", None, "date_string")],
    },
    "inject_in_args": {
        "llama3 chatml": [("dropped-tool-calls", 1, "tool_calls[0].function")],
        "llama3_1": [("control-token", 1, "tool_calls[0].function.arguments (a key)")],
        "qwen2_5 qwen3": [("control-token", 1, "tool_calls[0].function.arguments.<|eot_id|>")],
    },
    "inject_in_assistant": {
        "llama3 llama3_1 chatml qwen2_5 qwen3": [("control-token", 1, "content")],
    },
    "inject_in_role_chatml": {
        "chatml": [("control-token", 0, "role")],
        "qwen2_5 qwen3": [("dropped-message", 0, None)],
    },
    "inject_in_tool_description": {
        "llama3 chatml": [("dropped-tools", None, "tools")],
        "llama3_1": [("control-token", None, "tools[0].function.description")],
        "qwen2_5 qwen3": [
            ("control-token", None, "tools[0].function.name"),
            ("control-token", None, "tools[0].function.parameters.properties (a key)"),
        ],
    },
    "inject_llama3": {
        "llama3 llama3_1": [("control-token", 0, "content")],
    },
    "inject_partial_tokens": {
        "chatml qwen2_5 qwen3": [("control-token", 2, "content")],
    },
    "inject_reserved_token": {
        "llama3 llama3_1": [("control-token", 0, "content")],
        "chatml qwen2_5 qwen3": [("control-token", 0, "content")],
    },
    "inner_newlines_tabs": {
        "llama3 llama3_1": [("trimmed-content", 0, "content")],
    },
    "ipython_role": {
        "llama3 chatml": [("dropped-tool-calls", 1, "tool_calls[0].function"), ("dropped-tools", None, "tools")],
        "qwen2_5 qwen3": [("dropped-message", 2, None)],
    },
    "leading_trailing_spaces": {
        "llama3 llama3_1": [
            ("trimmed-content", 0, "content"),
            ("trimmed-content", 1, "content"),
            ("trimmed-content", 2, "content"),
            ("trimmed-content", 3, "content"),
        ],
    },
    "missing_role": {
        "llama3 llama3_1 chatml": [("refused", 0, None)],
        "qwen2_5 qwen3": [("dropped-message", 0, None)],
    },
    "private_use_markers": {
        "llama3 llama3_1": [("control-token", 0, "content")],
    },
    "reasoning_content_empty": {
        "llama3 llama3_1 qwen3": [("trimmed-content", 1, "content")],
    },
    "reasoning_content_last": {
        "llama3 llama3_1 chatml qwen2_5": [("dropped-reasoning", 1, "reasoning_content")],
    },
    "think_in_history": {
        "qwen3": [("dropped-reasoning", 1, "content")],
    },
    "think_multistep_tools": {
        "llama3": [
            ("dropped-tool-calls", 1, "tool_calls[0].function"),
            ("trimmed-content", 1, "content"),
            ("dropped-tools", None, "tools"),
        ],
        "llama3_1": [("dropped-content", 1, "content")],
        "chatml": [("dropped-tool-calls", 1, "tool_calls[0].function"), ("dropped-tools", None, "tools")],
    },
    "think_multistep_tools_next_user": {
        "llama3": [
            ("dropped-tool-calls", 1, "tool_calls[0].function"),
            ("trimmed-content", 1, "content"),
            ("dropped-tools", None, "tools"),
        ],
        "llama3_1": [("dropped-content", 1, "content")],
        "chatml": [("dropped-tool-calls", 1, "tool_calls[0].function"), ("dropped-tools", None, "tools")],
        "qwen3": [("dropped-reasoning", 1, "content"), ("dropped-reasoning", 3, "content")],
    },
    "tool_args_empty": {
        "llama3 chatml": [("dropped-tool-calls", 1, "tool_calls[0].function")],
    },
    "tool_call_on_user": {
        "llama3 chatml qwen2_5 qwen3": [("dropped-tool-calls", 0, "tool_calls[0].function")],
        "llama3_1": [("dropped-content", 0, "content")],
    },
    "tool_calls_content_empty": {
        "llama3 chatml": [("dropped-tool-calls", 1, "tool_calls[0].function"), ("dropped-tools", None, "tools")],
    },
    "tool_calls_content_missing": {
        "llama3": [("dropped-tool-calls", 1, "tool_calls[0].function"), ("dropped-tools", None, "tools")],
        "chatml": [("refused", 1, None)],
    },
    "tool_calls_content_none": {
        "llama3": [
            ("dropped-tool-calls", 1, "tool_calls[0].function"),
            ("dropped-none", 1, "content"),
            ("dropped-tools", None, "tools"),
        ],
        "chatml": [("refused", 1, None)],
    },
    "tool_calls_empty_list": {
        "llama3_1": [("empty-tool-calls", 1, "tool_calls")],
    },
    "tool_calls_no_tools_arg": {
        "llama3 chatml": [("dropped-tool-calls", 1, "tool_calls[0].function")],
    },
    "tool_response_dict": {
        "llama3": [
            ("dropped-tool-calls", 1, "tool_calls[0].function"),
            ("printed-repr", 2, "content"),
            ("dropped-tools", None, "tools"),
        ],
        "chatml": [("refused", 2, None)],
        "qwen2_5": [("printed-repr", 2, "content")],
        "qwen3": [("dropped-content", 2, "content.note")],
    },
    "tool_response_none": {
        "llama3": [
            ("dropped-tool-calls", 1, "tool_calls[0].function"),
            ("dropped-none", 2, "content"),
            ("dropped-tools", None, "tools"),
        ],
        "llama3_1 chatml": [("refused", 2, None), ("dropped-none", 2, "content")],
        "qwen2_5 qwen3": [("dropped-none", 2, "content")],
    },
    "tool_response_number": {
        "llama3": [("dropped-tool-calls", 1, "tool_calls[0].function"), ("dropped-tools", None, "tools")],
        "chatml": [("refused", 2, None)],
        "qwen3": [("dropped-content", 2, "content")],
    },
    "tool_roundtrip": {
        "llama3 chatml": [("dropped-tool-calls", 2, "tool_calls[0].function"), ("dropped-tools", None, "tools")],
    },
    "tool_roundtrip_gen": {
        "llama3 chatml": [("dropped-tool-calls", 1, "tool_calls[0].function"), ("dropped-tools", None, "tools")],
    },
    "tools_bare_function_schema": {
        "llama3 chatml": [("dropped-tools", None, "tools")],
    },
    "tools_empty_list": {
        "llama3_1": [("empty-tools", None, "tools")],
    },
    "tools_order_ab": {
        "llama3 chatml": [("dropped-tools", None, "tools")],
    },
    "tools_system_only": {
        "llama3 chatml": [("dropped-tools", None, "tools")],
        "llama3_1": [("refused", None, "tools")],
    },
    "tools_with_system": {
        "llama3": [
            ("trimmed-content", 0, "content"),
            ("trimmed-content", 1, "content"),
            ("dropped-tools", None, "tools"),
        ],
        "llama3_1": [("trimmed-content", 0, "content"), ("trimmed-content", 1, "content")],
        "chatml": [("dropped-tools", None, "tools")],
    },
    "unknown_role": {
        "qwen2_5 qwen3": [("dropped-message", 1, None)],
    },
    "uppercase_role": {
        "qwen2_5 qwen3": [("dropped-message", 0, None)],
    },
    "user_tool_response_literal": {
        "chatml qwen3": [("control-token", 2, "content")],
    },
    "very_long_message": {
        "llama3 llama3_1": [("trimmed-content", 0, "content")],
    },
    "whitespace_only": {
        "llama3 llama3_1": [("trimmed-content", 0, "content")],
    },
}
