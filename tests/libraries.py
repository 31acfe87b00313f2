"""The same small vocabulary in several libraries, for tests of what takes any of them."""

from __future__ import annotations

import tiktoken
import tokenizers

from hf_bpe import HfBpeTokenizer
from hf_bpe.split_patterns import SPLIT_PATTERNS
from hf_bpe.vocabulary import Vocabulary

RANKS = {bytes([byte]): byte for byte in range(256)} | {
    token: 256 + index
    for index, token in enumerate((b"th", b"the", b" the", b"ca", b"cat", b" c", b"\xe4\xbd", b"The"))
}


def small() -> Vocabulary:
    """Return a vocabulary of bytes and a few words."""
    return Vocabulary.from_ranks(RANKS, split_pattern="gpt2", added_tokens={"<|end|>": 300})


def in_every_library() -> dict[str, object]:
    """Return the vocabulary as a tokenizer of each library that can hold it."""
    made = small()
    return {
        "vocabulary": made,
        "hf_bpe": HfBpeTokenizer.from_vocabulary(made),
        "tokenizers": tokenizers.Tokenizer.from_str(made.core.to_json()),
        "tiktoken": tiktoken.Encoding(
            "small", pat_str=SPLIT_PATTERNS["gpt2"], mergeable_ranks=RANKS, special_tokens={"<|end|>": 300}
        ),
    }
