"""Which versions of Unicode decide ids, found out from what a tokenizer does with characters of each version."""

from __future__ import annotations

from hf_bpe._native import Tokenizer, words_of

_LETTERS = {
    "11.0": "\u0560",
    "12.0": "\ua7ba",
    "13.0": "\u08be",
    "14.0": "\u0870",
    "15.0": "\U0001e4d0",
    "15.1": "\U0002ebf0",
    "16.0": "\u1c89",
    "17.0": "\U0001e6c0",
}
"""A letter that each version added."""

_COMPOSITIONS = {
    "6.1": ("\U00011131\U00011127", "\U0001112e"),
    "13.0": ("\U00011935\U00011930", "\U00011938"),
    "16.0": ("\U000113c2\U000113c2", "\U000113c5"),
}
"""Two texts that NFC, NFD, NFKC and NFKD make equal since each version."""

_UNASSIGNED = "\u0378"


def letters_of(core: Tokenizer) -> str | None:
    """Return the newest version whose letters a tokenizer keeps in a word, or None where letters don't matter."""
    if len(words_of(core, "aa")) != 1 or len(words_of(core, f"a{_UNASSIGNED}")) == 1:
        return None
    known = [version for version, letter in _LETTERS.items() if len(words_of(core, f"a{letter}")) == 1]
    return known[-1] if known else None


def compositions_of(core: Tokenizer) -> tuple[str, str] | None:
    """Return the newest version whose compositions a tokenizer knows and the first whose it doesn't, or None.

    None where it doesn't normalize, or knows all of them.
    """
    known = [
        version
        for version, pair in _COMPOSITIONS.items()
        if core.encode_ordinary(pair[0]) == core.encode_ordinary(pair[1])
    ]
    unknown = [version for version in _COMPOSITIONS if version not in known]
    return (known[-1], unknown[0]) if known and unknown else None
