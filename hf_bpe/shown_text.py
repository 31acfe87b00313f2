"""A text by token as lines and as HTML.

In a notebook colours are inline and fetch nothing, so that a saved one shows them too; each has dark letters of its
own, so that it can be read on a light page and on a dark one. A token may be `</script>`: every text passes `escaped`.
"""

from __future__ import annotations

from dataclasses import dataclass

from hf_bpe.html_text import escaped

_COLOURS = ("#cfe3ff", "#ffe2b8", "#d3f2cf", "#f6d2ea", "#fdf3b0")
_ADDED_COLOUR = "#d5d5d5"
_STYLE = "font-family: ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.7"
_TOKEN_STYLE = "color: #111; border-radius: 3px; padding: 1px 0"

PAGE_STYLE = "\n".join(
    [
        f".hfbpe-text {{ {_STYLE}; }}",
        f".hfbpe-text span {{ {_TOKEN_STYLE}; }}",
        *(f".hfbpe-text .t{number} {{ background: {colour}; }}" for number, colour in enumerate(_COLOURS)),
        f".hfbpe-text .added {{ background: {_ADDED_COLOUR}; }}",
    ]
)
"""What a page that holds `Shown.to_html(inline=False)` has in its style."""


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
        name: How the tokenizer is named.
    """

    spans: tuple[Span, ...]
    name: str = ""

    @property
    def ids(self) -> list[int]:
        """All ids, in order."""
        return [token_id for span in self.spans for token_id in span.ids]

    def to_html(self, *, inline: bool = True) -> str:
        """Return the text as one element.

        Args:
            inline: Whether each token has its colour with it; a page has `PAGE_STYLE` instead.
        """
        tokens = "".join(_html_of(span, number, inline) for number, span in enumerate(self.spans))
        look = f'style="{_STYLE}"' if inline else 'class="hfbpe-text"'
        return f"<div {look}>{tokens}</div>"

    def __str__(self) -> str:
        return "\n".join(f"{span.text!r}: {_said(span)}" for span in self.spans)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        characters = sum(len(span.text) for span in self.spans)
        return f"{self.to_html()}<small>{len(self.ids):,} tokens, {characters:,} characters</small>"


def _said(span: Span) -> str:
    return ", ".join(f"{token!r} {token_id}" for token, token_id in zip(span.tokens, span.ids, strict=True)) or "-"


def _html_of(span: Span, number: int, inline: bool) -> str:
    if not span.ids:
        return f'<span title="no token">{escaped(span.text)}</span>'
    # A newline alone would have no place to point at.
    shown = escaped(span.text or " ".join(span.tokens)).replace("\n", "↵\n")
    return f'<span {_look(span, number, inline)} title="{escaped(_said(span))}">{shown}</span>'


def _look(span: Span, number: int, inline: bool) -> str:
    place = number % len(_COLOURS)
    if inline:
        return f'style="background: {_COLOURS[place] if span.text else _ADDED_COLOUR}; {_TOKEN_STYLE}"'
    name = f"t{place}" if span.text else "added"
    return f'class="{name}"'
