"""`show`: a text coloured by token, for notebooks and pages, and as lines for terminals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hf_bpe.showing.places import Token, tokens_of
from hf_bpe.shown_text import Shown, Span

__all__ = ["Shown", "Span", "show"]


def show(tokenizer: Any, text: str, *, add_special_tokens: bool = True, name: str | None = None) -> Shown:
    """Return a text coloured by token: as the last line of a notebook's cell it shows itself, with ids on hover.

    Args:
        tokenizer: A tokenizer of hf_bpe, `tokenizers`, `transformers` (a fast one), tiktoken, sentencepiece or
            mistral-common, or the path of one. Other libraries than hf_bpe show the tokens of the text alone.
        text: The text.
        add_special_tokens: Whether what an `HfBpeTokenizer` puts around a text is shown too.
        name: How the tokenizer is named on a page.

    Raises:
        TypeError: An argument is of another type.

    Example:
        >>> print(show(tokenizer, "hello world"))
        'hello': 'hello' 31373
        ' world': 'Ġworld' 995
    """
    if not isinstance(text, str):
        raise TypeError(f"show() takes a str, got {type(text).__name__}")
    label, tokens = tokens_of(tokenizer, text, add_special_tokens=add_special_tokens)
    return Shown(tuple(_spans(text, tokens)), label if name is None else name)


def _spans(text: str, tokens: list[Token]) -> Iterator[Span]:
    """Yield the parts of a text: tokens that share a character are one part, and what no token has is one as well."""
    at = 0
    held: list[tuple[str, int]] = []
    start = end = 0
    for span, token, token_id in tokens:
        inside = span is not None and held and span[0] < end
        if held and not inside:
            yield _span(text[start:end], held)
            at, held = end, []
        if span is not None and span[0] > max(at, end):
            yield Span(text[max(at, end) : span[0]], (), ())
        if not inside:
            start = end = at if span is None else max(at, span[0])
        held.append((token, token_id))
        end = end if span is None else max(end, span[1])
    if held:
        yield _span(text[start:end], held)
    if end < len(text):
        yield Span(text[end:], (), ())


def _span(text: str, held: list[tuple[str, int]]) -> Span:
    return Span(text, tuple(token for token, _ in held), tuple(token_id for _, token_id in held))
