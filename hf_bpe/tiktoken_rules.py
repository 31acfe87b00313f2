"""tiktoken's rules for special tokens in a text: allowed ones become tokens, disallowed ones raise."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal

from hf_bpe._native import Tokenizer

Names = Literal["all"] | Collection[str]


def encode(core: Tokenizer, text: Any, allowed: Names | None, disallowed: Names | None) -> list[int]:
    """Encode `text` as tiktoken's `encode` does: nothing is added, nothing is allowed and all is disallowed by default.

    A special token that is neither allowed nor disallowed is encoded as the text it is.

    Raises:
        TypeError: `text` isn't a str.
        ValueError: `text` spells out a disallowed special token.
    """
    if not isinstance(text, str):
        raise TypeError(f"encode() with allowed_special or disallowed_special takes one str, got {text!r:.200}.")
    # The core knows all special tokens: with many thousands, a list of them would cost more than the text.
    names = None if allowed == "all" else sorted({name for name in allowed or () if core.is_special_token(name)})
    found = _find_disallowed(core, text, names, disallowed)
    if found is not None:
        raise ValueError(
            f"Encountered text corresponding to disallowed special token {found!r}.\n"
            f"To encode it as a token, pass allowed_special={{{found!r}}}; to encode it as the text it is, leave it "
            "out of disallowed_special, or pass disallowed_special=() to check for none."
        )
    return core.encode_with_special_tokens(text, names)


def _find_disallowed(core: Tokenizer, text: str, allowed: list[str] | None, disallowed: Names | None) -> str | None:
    if disallowed == "all" or disallowed is None:
        return None if allowed is None else core.find_special_token(text, None, allowed)
    return core.find_special_token(text, sorted(set(disallowed))) if disallowed else None
