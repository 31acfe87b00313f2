"""Counting, training and encoding on several machines, by Ray Data: the same results as on one, bit for bit."""

from __future__ import annotations

from hf_bpe.distributed.counting import count
from hf_bpe.distributed.encoding import encode
from hf_bpe.distributed.training import train

__all__ = ["count", "encode", "train"]
