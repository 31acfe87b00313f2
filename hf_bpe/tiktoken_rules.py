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
    special = {flags[0] for _, flags in core.added_tokens() if flags[1]}
    allowed_names = special if allowed == "all" else set(allowed or ())
    disallowed_names = special - allowed_names if disallowed in ("all", None) else set(disallowed or ())
    found = core.find_special_token(text, sorted(disallowed_names)) if disallowed_names else None
    if found is not None:
        raise ValueError(
            f"Encountered text corresponding to disallowed special token {found!r}.\n"
            f"To encode it as a token, pass allowed_special={{{found!r}}}; to encode it as the text it is, leave it "
            "out of disallowed_special, or pass disallowed_special=() to check for none."
        )
    return core.encode_with_special_tokens(text, sorted(allowed_names & special))
