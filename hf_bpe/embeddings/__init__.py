"""Embedding rows that follow a vocabulary, in memory and in safetensors files."""

from __future__ import annotations

from hf_bpe.embeddings.checkpoint import ResizeReport, resize_checkpoint
from hf_bpe.embeddings.model import resize_embeddings
from hf_bpe.embeddings.plan import RowPlan, plan_rows
from hf_bpe.embeddings.rows import Init, resize_rows

__all__ = ["Init", "ResizeReport", "RowPlan", "plan_rows", "resize_checkpoint", "resize_embeddings", "resize_rows"]
