"""What a card says of the chat template, with an example rendered by it."""

from __future__ import annotations

from collections.abc import Iterator

from hf_bpe.cards import markdown
from hf_bpe.tokenizer import HfBpeTokenizer

MESSAGES = [
    {"role": "system", "content": "Answer in one word."},
    {"role": "user", "content": "What is the capital of France?"},
    {"role": "assistant", "content": "Paris."},
    {"role": "user", "content": "And of Japan?"},
]
_DATE = "1 January 2026"


def chat(tokenizer: HfBpeTokenizer) -> Iterator[str]:
    """Yield the section on chats."""
    yield "## Chat template"
    templates = tokenizer.chat_template
    if not templates:
        yield "None: the tokenizer is for plain text."
        return
    if isinstance(templates, dict):
        yield f"There are several: {', '.join(map(markdown.code, templates))}. Of the default one:"
    yield "An example, as `apply_chat_template` renders it with `add_generation_prompt=True`:"
    yield markdown.block(rendered(tokenizer))


def rendered(tokenizer: HfBpeTokenizer) -> str:
    """Return the example as text; without its system message where the template refuses one, or why there is none."""
    failure: Exception | None = None
    for messages in (MESSAGES, MESSAGES[1:]):
        try:
            text = tokenizer.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=True, date_string=_DATE
            )
        except Exception as error:  # a template may raise anything
            failure = error
        else:
            return str(text)
    return f"The template doesn't render plain messages: {failure}"
