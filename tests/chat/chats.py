"""What the tests of chat share: tokenizers that only render, upstream's answer, and runs that a person can read."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

from hf_bpe.chat.rendered import Rendered
from hf_bpe.chat.rendering import render

Outcome = tuple[str, str, str]


@lru_cache(maxsize=1)
def stock() -> PreTrainedTokenizerFast:
    """Return stock's tokenizer without a vocabulary: rendering needs none."""
    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.BPE()), bos_token="<|begin|>", eos_token="<|im_end|>"
    )


def upstream(messages: Any, template: str | None, tokenizer: Any = None, **options: Any) -> Outcome:
    """Return the text that upstream renders, or the class and message of its error."""
    tokenizer = tokenizer or stock()
    try:
        return "text", "", tokenizer.apply_chat_template(messages, chat_template=template, tokenize=False, **options)
    except Exception as error:
        return "error", type(error).__name__, str(error)


def ours(messages: Any, template: str | None, tokenizer: Any = None, **options: Any) -> Outcome:
    """Return the text that we render, or the class and message of the error."""
    tokenizer = tokenizer or stock()
    try:
        return "text", "", render(tokenizer, messages, chat_template=template, **options).text
    except Exception as error:
        return "error", type(error).__name__, str(error)


def shown(rendered: Rendered) -> str:
    """Return the text with the template's parts in square brackets, the caller's in round ones, lost ones in braces."""
    words = []
    for start, end, origin in rendered.runs:
        opening, closing = "[]" if origin.trusted else "{}" if origin.lost else "()"
        words.append(opening + rendered.text[start:end] + closing)
    return "".join(words)


def turns(rendered: Rendered) -> list[tuple[int | None, str]]:
    """Return the text by whose turn it is in, neighbours of one turn joined."""
    parts: list[tuple[int | None, str]] = []
    for start, end, origin in rendered.runs:
        text = rendered.text[start:end]
        if parts and parts[-1][0] == origin.message:
            parts[-1] = (origin.message, parts[-1][1] + text)
        else:
            parts.append((origin.message, text))
    return parts


def rendering(template: str, messages: Any, **options: Any) -> Rendered:
    """Render with a template, after upstream has agreed on the text."""
    rendered = render(stock(), messages, chat_template=template, **options)
    options.pop("limits", None)
    assert upstream(messages, template, **options) == ("text", "", rendered.text)
    return rendered
