"""What is common to all checks: the text of a token, and which tokens the model makes."""

from __future__ import annotations

import re

from hf_bpe.byte_alphabet import CHAR_TO_BYTE
from hf_bpe.vocabulary import Vocabulary

_BYTE_PIECE = re.compile(r"<0x[0-9A-F]{2}>")


def text_of(token: str, vocabulary: Vocabulary) -> str | None:
    """Return the text that a token of the model stands for, or None where it is part of a character."""
    token = token.removesuffix(vocabulary.model_settings["end_of_word_suffix"] or "")
    if not vocabulary.is_byte_level:
        return token.replace("▁", " ")
    if any(char not in CHAR_TO_BYTE for char in token):
        return None
    try:
        return bytes(CHAR_TO_BYTE[char] for char in token).decode()
    except UnicodeDecodeError:
        return None


def made_tokens(vocabulary: Vocabulary) -> dict[str, int]:
    """Return the tokens that the model makes of text: not added ones, not the unknown token, not byte pieces."""
    settings = vocabulary.model_settings
    others = {token["content"] for token in vocabulary.added_tokens.values()} | {settings["unk_token"]}
    vocab = vocabulary.get_vocab(with_added_tokens=False)
    skipped = _BYTE_PIECE.fullmatch if settings["byte_fallback"] else lambda token: None
    return {token: token_id for token, token_id in vocab.items() if token not in others and not skipped(token)}


def has_affixes(vocabulary: Vocabulary) -> bool:
    """Whether tokens at the end or inside a word are spelled in another way, so that symbols aren't characters."""
    settings = vocabulary.model_settings
    return bool(settings["continuing_subword_prefix"] or settings["end_of_word_suffix"])
