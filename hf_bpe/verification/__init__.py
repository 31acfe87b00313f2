"""Do two tokenizers give the same ids and the same text? `compare` tries to show that they don't.

No number of texts proves that two tokenizers are equal. These texts are where tokenizers part in practice: hostile
ones, each token, each piece that a token can be cut into, pairs of tokens, each added token between others, and the
caller's own. What is found is cut down to the shortest text that still shows it.
"""

from __future__ import annotations

from hf_bpe.verification.comparing import compare
from hf_bpe.verification.results import Agreement, Difference

__all__ = ["Agreement", "Difference", "compare"]
