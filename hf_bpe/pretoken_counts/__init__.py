"""Counts of pretokens as a value: made of a corpus or a shard of it, kept in a file, added, and trained from."""

from __future__ import annotations

from hf_bpe.pretoken_counts.settings import CountSettings
from hf_bpe.pretoken_counts.value import PretokenCounts

__all__ = ["CountSettings", "PretokenCounts"]
