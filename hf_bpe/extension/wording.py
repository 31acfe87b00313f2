"""Words that a person wants as tokens: what the model sees of each, and what the pipeline cuts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from hf_bpe._native import Tokenizer, words_of
from hf_bpe.byte_alphabet import CHAR_TO_BYTE
from hf_bpe.extension.arguments import listed
from hf_bpe.trainer_settings import check_text

LeadingSpace = Literal["as_written", "add", "both"]
LEADING_SPACES = ("as_written", "add", "both")


@dataclass(frozen=True)
class Wanted:
    """A word that may become a token.

    Attributes:
        word: The word, as it was given.
        text: The text that is to give the one token: without a space that the pipeline puts there itself.
        token: The token, as the vocabulary will spell it.
    """

    word: str
    text: str
    token: str


def forms_of(words: Iterable[str], leading_space: LeadingSpace) -> list[str]:
    """Return the words to make, once each: as they are written, with a space before, or both.

    Raises:
        TypeError: `words` is one str, or holds something else.
        ValueError: A word is empty or no text, or `leading_space` is none of the three.
    """
    if leading_space not in LEADING_SPACES:
        raise ValueError(f"leading_space is one of {list(LEADING_SPACES)}, got {leading_space!r}")
    forms: list[str] = []
    for word in listed(words, "words", "words"):
        if not isinstance(word, str):
            raise TypeError(f"words holds str, got {word!r}")
        if not word:
            raise ValueError("a word is empty")
        check_text("the word", word)
        spaced = word if word.startswith(" ") else f" {word}"
        forms += {"as_written": [word], "add": [spaced], "both": [word, spaced]}[leading_space]
    return list(dict.fromkeys(forms))


def wanted_or_reason(core: Tokenizer, word: str) -> Wanted | str:
    """Return what the model is to make one token of, or why it can't be one."""
    content = {token_id: flags[0] for token_id, flags in core.added_tokens()}
    ids = core.encode_ids(word, add_special_tokens=False)
    if inside := [token_id for token_id in ids if token_id in content]:
        if ids == inside[:1]:
            return f"it is the added token {inside[0]} already"
        return f"it holds the added token {content[inside[0]]!r}, which is cut out of every text"
    seen = words_of(core, word)
    if len(seen) > 1:
        pieces = " | ".join(repr(readable(core, piece)) for piece in seen)
        return f"the split pattern cuts it, and merges stay inside of the pieces: {pieces}"
    if not seen or not seen[0]:
        return "the normalizer leaves nothing of it"
    bare = words_of(core, word[1:]) if word.startswith(" ") else []
    if len(bare) == 1 and bare[0] != word[1:] and bare[0] == seen[0][1:]:
        return Wanted(word, word[1:], bare[0])
    return Wanted(word, word, seen[0])


def readable(core: Tokenizer, spelled: str) -> str:
    """Return what the vocabulary spells as a person reads it: of bytes their text, if it is text."""
    if core.is_byte_level and all(char in CHAR_TO_BYTE for char in spelled):
        return bytes(CHAR_TO_BYTE[char] for char in spelled).decode("utf-8", "backslashreplace")
    return spelled


def names_of(core: Tokenizer, ids: Sequence[int]) -> str:
    """Return tokens as a message names them: `'a' + 'bc'`."""
    tokens = core.ids_to_tokens(ids)
    return " + ".join(repr(readable(core, token or "")) for token in tokens)
