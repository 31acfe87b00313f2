"""From what was learned to a tokenizer: new tokens with their ids, and what stood in their place."""

from __future__ import annotations

from collections.abc import Iterable

from hf_bpe._native import Tokenizer
from hf_bpe.extension.comparing import shown
from hf_bpe.extension.report import NewToken
from hf_bpe.tokenizer import HfBpeTokenizer

Learned = tuple[str, int, tuple[int, int] | None, int]
"""A token as the vocabulary spells it, its id, the halves of its merge, and how many tokens it saves."""


def tokenizer_of(old: HfBpeTokenizer, core: Tokenizer) -> HfBpeTokenizer:
    """Return `old` with another core. What a format knew of the old vocabulary alone is left out."""
    vocabulary = old.vocabulary
    details = {name: detail for name, detail in vocabulary.details.items() if name == "transformers"}
    return type(old).from_vocabulary(vocabulary.replace(core=core, details=details))


def new_tokens(old: Tokenizer, new: Tokenizer, learned: Iterable[Learned]) -> list[NewToken]:
    """Return new tokens as the report has them, in the order in which they were made."""
    parts: dict[int, tuple[int, ...]] = {}
    for token, token_id, halves, _ in learned:
        parts[token_id] = (
            tuple(_byte_tokens(old, token))
            if halves is None
            else tuple(part for half in halves for part in parts.get(half, (half,)))
        )
    texts = shown(new, [token_id for _, token_id, _, _ in learned])
    rows = zip(learned, texts, strict=True)
    return [
        NewToken(token_id, token, text, halves, parts[token_id], saved)
        for (token, token_id, halves, saved), text in rows
    ]


def _byte_tokens(old: Tokenizer, character: str) -> list[int]:
    names = [f"<0x{byte:02X}>" for byte in character.encode()]
    return [token_id for token_id in old.tokens_to_ids(names) if token_id is not None]
