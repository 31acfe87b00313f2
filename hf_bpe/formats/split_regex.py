"""Split patterns between two regex engines: Oniguruma, which runs tokenizer.json, and fancy-regex, which runs tiktoken.

A published pattern is known in either spelling. Any other is taken over if both engines read it alike, and refused by
the construct that they don't.
"""

from __future__ import annotations

import re

from hf_bpe import known_encodings

# A class in brackets (which may hold classes), an escape, or whatever is looked for outside of these.
_PARTS = re.compile(
    r"(?P<posix>\[\[:\^?\w+:\])|(?P<escape>\\.)|(?P<open>\[)|(?P<close>\])|(?P<interval>\{\d*,?\d*\}[+])|(?P<anchor>[$^])"
    r"|(?P<flags>\(\?[a-zA-Z-]*[a-hj-zA-Z][a-zA-Z-]*[:)])|(?P<verb>\(\*)",
    re.DOTALL,
)
_REASONS = {
    "posix": "a POSIX class, which holds symbols in one engine only",
    "interval": "a possessive interval, which one engine reads as a repeated interval",
    "anchor": "an anchor, which means a line in one engine and the text in the other",
    "flags": "a flag that the engines read differently",
    "verb": "a backtracking verb",
}
_ESCAPES = set("pPsSdDwWrntx\\.[]{}()*+?|^$-/#&~!\"'%,:;<=>@_` ")


def canonical(pattern: str) -> str:
    """Return a pattern that cuts alike in both engines: the published spelling, or the pattern itself.

    Raises:
        ValueError: The engines would read it differently. The message names the construct.

    Example:
        >>> canonical(r"\\w+|\\s+")
        '\\\\w+|\\\\s+'
    """
    known = known_encodings.canonical_pattern(pattern)
    if known is not None:
        return known
    depth = 0
    for part in _PARTS.finditer(pattern):
        kind = str(part.lastgroup)
        depth += {"open": 1, "close": -1}.get(kind, 0)
        if kind == "escape" and part[0][1] not in _ESCAPES:
            raise ValueError(f"{part[0]!r} at {part.start()}, an escape that the engines may read differently")
        if kind in _REASONS and (kind == "posix" or depth == 0):
            raise ValueError(f"{part[0]!r} at {part.start()}, {_REASONS[kind]}")
        if kind == "posix":
            depth += 1
    return pattern
