"""Where sentences end: the default rules of Unicode Standard Annex #29, SB1 to SB998.

They know no language and no abbreviations: "Mr. Smith" is cut behind "Mr. ", and "etc. and" is not. White space and
closing quotes behind a sentence belong to it. The classes of characters are those of the `regex` package.
"""

from __future__ import annotations

import regex

_SKIPPED = r"[\p{SB=Extend}\p{SB=Format}]*+"  # SB5
_PARAGRAPH = r"[\p{SB=CR}\p{SB=LF}\p{SB=Sep}]"
_CASED = r"[\p{SB=Upper}\p{SB=Lower}]"
_BEHIND = rf"(?:\p{{SB=Close}}{_SKIPPED})*+(?:\p{{SB=Sp}}{_SKIPPED})*+"
_UP_TO_LOWER = (
    r"[^\p{SB=OLetter}\p{SB=Upper}\p{SB=Lower}\p{SB=CR}\p{SB=LF}\p{SB=Sep}"
    r"\p{SB=STerm}\p{SB=ATerm}]*+\p{SB=Lower}"
)
_END = regex.compile(
    rf"""
      \r\n | {_PARAGRAPH}                                                   # SB3, SB4
    | (?: \p{{SB=STerm}} {_SKIPPED} {_BEHIND}
        | (?! \p{{SB=ATerm}} {_SKIPPED} \p{{SB=Numeric}})                   # SB6
          (?! (?<= {_CASED} {_SKIPPED}) \p{{SB=ATerm}} {_SKIPPED} \p{{SB=Upper}})  # SB7
          \p{{SB=ATerm}} {_SKIPPED} {_BEHIND} (?! {_UP_TO_LOWER})           # SB8
      )
      (?! [\p{{SB=SContinue}}\p{{SB=STerm}}\p{{SB=ATerm}}])                 # SB8a
      (?! {_PARAGRAPH})                                                     # SB9 to SB11
    """,
    regex.VERBOSE,
)


def sentence_ends(text: str) -> list[int]:
    """Return where the sentences of a text end, in characters; the last is the end of the text.

    Example:
        >>> sentence_ends("It is 3.14. Is it? Yes!")
        [12, 19, 23]
    """
    ends = [match.end() for match in _END.finditer(text)]
    return ends if not text or (ends and ends[-1] == len(text)) else [*ends, len(text)]
