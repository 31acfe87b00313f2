"""Text cut by a budget of tokens: every chunk fits, and no word is cut that fits by itself."""

from __future__ import annotations

from hf_bpe.chunking.splitting import Chunk, split_by_tokens
from hf_bpe.chunking.truncating import truncate_to_tokens

__all__ = ["Chunk", "split_by_tokens", "truncate_to_tokens"]
