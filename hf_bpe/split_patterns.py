"""The published split patterns that training knows by name.

A split pattern cuts text into pretokens, which merges never cross. Each is spelled as `tokenizer.json` files
spell it, so that the core runs it by a hand-written scanner, and stock by its regex engine, with the same cuts.
"""

from __future__ import annotations

SPLIT_PATTERNS: dict[str, str] = {
    "gpt2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "cl100k": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|"
        r"\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    "llama3": (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|"
        r"\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    "qwen2": (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|"
        r"\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    "o200k": (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
        r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
}
"""The patterns by name."""


def resolve(split_pattern: str) -> str:
    """Return the regex that `split_pattern` names, or itself when it is a regex.

    Raises:
        TypeError: It isn't a str.
        ValueError: A bare word that is no known name, most likely a misspelled one; or it isn't Unicode text.

    Example:
        >>> resolve("gpt2") == SPLIT_PATTERNS["gpt2"], resolve(r"\\w+|\\W+")
        (True, '\\\\w+|\\\\W+')
    """
    if not isinstance(split_pattern, str):
        raise TypeError(f"split_pattern is a name or a regex, got {type(split_pattern).__name__}")
    if any("\ud800" <= char <= "\udfff" for char in split_pattern):
        raise ValueError(f"split_pattern {split_pattern!r} holds a lone surrogate, which is no character")
    if split_pattern in SPLIT_PATTERNS:
        return SPLIT_PATTERNS[split_pattern]
    if split_pattern.replace("-", "").replace("_", "").isalnum() or not split_pattern:
        names = ", ".join(repr(name) for name in sorted(SPLIT_PATTERNS))
        raise ValueError(
            f"split_pattern {split_pattern!r:.60} is not one of {names}. "
            f"To split by this very word, write '(?:{split_pattern:.60})'."
        )
    return split_pattern
