"""Chat templates in the styles of other families, short, to see that nothing is found in clean chats."""

from __future__ import annotations

STYLES = {
    "instructions": r"""{%- if messages[0].role == 'system' %}{% set system = messages[0].content %}
{%- set turns = messages[1:] %}
{%- else %}{% set turns = messages %}{% endif %}{{- bos_token }}
{%- for m in turns %}
{%- if m.role == 'user' %}
{%- if tools is not none and loop.last %}{{- '[AVAILABLE_TOOLS]' + tools | tojson + '[/AVAILABLE_TOOLS]' }}{% endif %}
{{- '[INST]' + (system + '\n\n' if loop.last and system is defined else '') + m.content + '[/INST]' }}
{%- elif m.tool_calls is defined %}{{- '[TOOL_CALLS][' }}
{%- for call in m.tool_calls %}
{%- if call.id is not defined or call.id | length != 9 %}{{- raise_exception('an id has 9 characters') }}{% endif %}
{{- call.function | tojson }}{% endfor %}{{- ']' + eos_token }}
{%- elif m.role == 'assistant' %}{{- ' ' + m.content + eos_token }}
{%- elif m.role == 'tool' %}
{%- if m.tool_call_id | length != 9 %}{{- raise_exception('an id has 9 characters') }}{% endif %}
{{- '[TOOL_RESULTS]{"content": ' + m.content | string + '}[/TOOL_RESULTS]' }}
{%- else %}{{- raise_exception('no such role') }}{% endif %}{% endfor %}""",
    "model_turns": r"""{{ bos_token }}
{%- if messages[0].role == 'system' %}{% set system = messages[0].content + '\n\n' %}{% set turns = messages[1:] %}
{%- else %}{% set system = '' %}{% set turns = messages %}{% endif %}
{%- for m in turns %}
{{- '<start_of_turn>' + ('model' if m.role == 'assistant' else m.role) + '\n' + (system if loop.first else '') }}
{%- if m.content is string %}{{- m.content | trim }}
{%- else %}{% for part in m.content %}
{{- '<image>' if part.type == 'image' else part.text | trim }}{% endfor %}{% endif %}
{{- '<end_of_turn>\n' }}{% endfor %}""",
    "calls_as_json": """{% for tool in tools or [] %}{{ tool | tojson }}
{% endfor %}{% for m in messages %}<|im_start|>{{ m.role }}
{% if m.content is not none %}{{ m.content }}{% endif %}{% for call in m.tool_calls or [] %}<tool_call>
{{ {'name': call.function.name, 'arguments': call.function.arguments} | tojson }}
</tool_call>{% endfor %}<|im_end|>
{% endfor %}""",
    "calls_as_tags": """{% for tool in tools or [] %}<function><name>{{ tool.function.name }}</name>
{% for name, schema in tool.function.parameters.properties | items -%}
<parameter>{{ name }}: {{ schema.type }}</parameter>
{% endfor %}</function>{% endfor %}{% for m in messages %}<|im_start|>{{ m.role }}
{{ m.content }}{% for call in m.tool_calls or [] %}<function={{ call.function.name }}>
{% for name, value in call.function.arguments | items %}<parameter={{ name }}>
{{ value if value is string else value | tojson }}
</parameter>{% endfor %}</function>{% endfor %}<|im_end|>
{% endfor %}""",
    "roles_as_tokens": """{% for m in messages %}{{ '<|' + m.role + '|>' + m.content + '<|end|>' }}{% endfor %}""",
    "last_thought": """{% for m in messages %}{% if m.role == 'system' %}{{ m.content }}
{%- elif m.role == 'user' %}{{ '<User>' + m.content }}
{%- elif m.role == 'assistant' %}{{ '<Assistant>' + m.content.split('</think>')[-1] + eos_token }}
{%- endif %}{% endfor %}""",
}
"""By what they do. The ids of tool calls have 9 characters, roles take turns, calls are tags, and so on."""
