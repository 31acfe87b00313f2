"""New vocabularies from one that a model already speaks: more tokens, chosen words, fewer tokens.

`extend` learns on from a corpus, `add_words` makes tokens of chosen words. What a text's tokens were is never cut anew,
only joined, unless that is asked for; the report shows what changes. `prune` drops tokens, and leaves alone what needs
none of them; `retrain_for` shows what a vocabulary of that size would be if it were trained anew.
"""

from __future__ import annotations

from hf_bpe.extension.extending import extend
from hf_bpe.extension.pruning import prune
from hf_bpe.extension.report import ExtensionReport
from hf_bpe.extension.retraining import SideBySide, retrain_for
from hf_bpe.extension.words import add_words

__all__ = ["ExtensionReport", "SideBySide", "add_words", "extend", "prune", "retrain_for"]
