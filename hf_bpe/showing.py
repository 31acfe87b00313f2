"""`show`: a text coloured by token, for notebooks, and as lines for terminals.

Colours are inline and fetch nothing, so that a saved notebook shows them too; each has dark letters of its own, so
that it can be read on a light page and on a dark one. A token may be `</script>`: every text passes `escaped`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hf_bpe.html_text import escaped
from hf_bpe.tokenizer import HfBpeTokenizer

_COLOURS = ("#cfe3ff", "#ffe2b8", "#d3f2cf", "#f6d2ea", "#fdf3b0")
_ADDED_COLOUR = "#d5d5d5"
_STYLE = "font-family: ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.7"
_TOKEN_STYLE = "color: #111; border-radius: 3px; padding: 1px 0"


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text and the tokens that it became.

    Attributes:
        text: The part; empty where tokens were added.
        tokens: The tokens as the vocabulary spells them: none where a normalizer drops the part, several where they
            share a character.
        ids: Their ids.
    """

    text: str
    tokens: tuple[str, ...]
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """A text by token. A notebook shows it in colours; `str()` has a line for each span.

    Attributes:
        spans: The parts of the text in order; together they are the text.
    """

    spans: tuple[Span, ...]

    def __str__(self) -> str:
        return "\n".join(f"{span.text!r}: {_said(span)}" for span in self.spans)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        count = sum(len(span.ids) for span in self.spans)
        characters = sum(len(span.text) for span in self.spans)
        tokens = "".join(_html_of(span, number) for number, span in enumerate(self.spans))
        return f'<div style="{_STYLE}">{tokens}</div><small>{count:,} tokens, {characters:,} characters</small>'


def show(tokenizer: HfBpeTokenizer, text: str, *, add_special_tokens: bool = True) -> Shown:
    """Return a text coloured by token: as the last line of a notebook's cell it shows itself, with ids on hover.

    Args:
        tokenizer: What to encode with.
        text: The text.
        add_special_tokens: Whether the post-processor's special tokens are shown too.

    Raises:
        TypeError: An argument is of another type.

    Example:
        >>> print(show(tokenizer, "hello world"))
        'hello': 'hello' 31373
        ' world': 'Ġworld' 995
    """
    if not isinstance(tokenizer, HfBpeTokenizer):
        raise TypeError(f"show() takes an HfBpeTokenizer first, got {type(tokenizer).__name__}")
    if not isinstance(text, str):
        raise TypeError(f"show() takes a str, got {type(text).__name__}")
    return Shown(tuple(_spans(text, _tokens(tokenizer, text, add_special_tokens))))


def _tokens(
    tokenizer: HfBpeTokenizer, text: str, add_special_tokens: bool
) -> list[tuple[tuple[int, int] | None, str, int]]:
    """Return where each token stands in the text, or None where it was added; its spelling and its id."""
    split = bool(tokenizer.split_special_tokens)
    core = tokenizer._core
    encoding = core.encode(text, add_special_tokens=add_special_tokens, split_special_tokens=split)
    inside = [sequence is not None for sequence in encoding.sequence_ids]
    # A post-processor may trim spaces from offsets; here they belong to their tokens.
    ids, aligned = core.align_within(text, [(0, len(text), None)])
    places = aligned.tolist()
    untrimmed = iter(zip(places[::2], places[1::2], strict=True))
    # Other tokens are found where special tokens are split.
    same = ids == [token_id for token_id, is_inside in zip(encoding.ids, inside, strict=True) if is_inside]
    rows = zip(encoding.offsets, encoding.tokens, encoding.ids, inside, strict=True)
    return [
        ((next(untrimmed) if same else offsets) if is_inside else None, token, token_id)
        for offsets, token, token_id, is_inside in rows
    ]


def _spans(text: str, tokens: list[tuple[tuple[int, int] | None, str, int]]) -> Iterator[Span]:
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


def _said(span: Span) -> str:
    return ", ".join(f"{token!r} {token_id}" for token, token_id in zip(span.tokens, span.ids, strict=True)) or "-"


def _html_of(span: Span, number: int) -> str:
    if not span.ids:
        return f'<span title="no token">{escaped(span.text)}</span>'
    colour = _COLOURS[number % len(_COLOURS)] if span.text else _ADDED_COLOUR
    # A newline alone would have no place to point at.
    shown = escaped(span.text or " ".join(span.tokens)).replace("\n", "↵\n")
    return f'<span style="background: {colour}; {_TOKEN_STYLE}" title="{escaped(_said(span))}">{shown}</span>'
