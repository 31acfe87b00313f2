"""`show`: a text coloured by token, with ids on hover, for notebooks and pages; with bars between tokens as text."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hf_bpe.measure.results import shown
from hf_bpe.measure.tokens import measured

TOKEN_STYLE = """
.hfbpe-text { font-family: ui-monospace, monospace; line-height: 1.9; white-space: pre-wrap; overflow-wrap: anywhere; }
.hfbpe-text span { border-radius: 3px; padding: 1px 0; color: #222; }
.hfbpe-text span:nth-child(5n+1) { background: #cfe2ff; }
.hfbpe-text span:nth-child(5n+2) { background: #ffe1b8; }
.hfbpe-text span:nth-child(5n+3) { background: #d4f0d0; }
.hfbpe-text span:nth-child(5n+4) { background: #f7d3e3; }
.hfbpe-text span:nth-child(5n+5) { background: #e3dafa; }
"""

_LINE_ENDS = re.compile("(\n)")


@dataclass(frozen=True)
class ColouredText:
    """A text cut into tokens. Shows itself in colours in a notebook, and with bars between tokens as text.

    Attributes:
        tokenizer: The tokenizer.
        ids: The ids.
        pieces: The text of each; bytes that are part of a character are written as escapes.
    """

    tokenizer: str
    ids: Sequence[int]
    pieces: Sequence[str]

    def to_html(self) -> str:
        """Return the text as HTML, without a style. Every token is escaped: one may be `</script>`."""
        spans = (
            f'<span title="id {id}">{_visible(piece)}</span>' for id, piece in zip(self.ids, self.pieces, strict=True)
        )
        return f'<div class="hfbpe-text">{"".join(spans)}</div>'

    def _repr_html_(self) -> str:
        return f"<style>{TOKEN_STYLE}</style>{self.to_html()}"

    def __str__(self) -> str:
        return "|".join(map(shown, self.pieces))


def show(tokenizer: Any, text: str, *, name: str | None = None) -> ColouredText:
    """Return a text cut into tokens, to be looked at.

    Args:
        tokenizer: A tokenizer of any library, or the path of one.
        text: The text.
        name: How the tokenizer is named.

    Example:
        >>> print(show(tokenizer, "1234567"))
        123|456|7
    """
    source = measured(tokenizer, name=name)
    ids = source.encode([text])[0].tolist()
    specials = source.special_tokens() if any(id not in source.token_bytes for id in ids) else []
    pieces = [_piece(source.token_bytes.get(id), specials) for id in ids]
    return ColouredText(source.name, ids, pieces)


def _piece(token: bytes | None, specials: Sequence[str]) -> str:
    if token is not None:
        return token.decode("utf-8", "backslashreplace")
    return specials[0] if len(specials) == 1 else "added token"


def _visible(piece: str) -> str:
    """Return a token as HTML: a line end is drawn, and then obeyed."""
    parts = _LINE_ENDS.split(piece)
    return "".join("&#8629;\n" if part == "\n" else html.escape(shown(part)) for part in parts)
