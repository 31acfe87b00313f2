"""The stock twin of a tokenizer, for libraries that ask for `backend_tokenizer`.

Stop-string search, TRL and grammar engines read a real `tokenizers.Tokenizer`. It is built from the tokenizer's JSON
at the first request and kept outside the object, whose `__dict__` is what `datasets` hashes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import tokenizers

from hf_bpe._native import Tokenizer

if TYPE_CHECKING:
    from hf_bpe.tokenizer import HfBpeTokenizer

_TWINS: WeakKeyDictionary[HfBpeTokenizer, tuple[Tokenizer, tokenizers.Tokenizer]] = WeakKeyDictionary()


def stock_twin(tokenizer: HfBpeTokenizer) -> tokenizers.Tokenizer:
    """Return the twin, built again when tokens have been added since. Changing it doesn't change the tokenizer."""
    core, twin = _TWINS.get(tokenizer, (None, None))
    if twin is None or core is not tokenizer._core:
        twin = tokenizers.Tokenizer.from_str(tokenizer._core.to_json(pretty=False))
        _TWINS[tokenizer] = (tokenizer._core, twin)
    return twin
