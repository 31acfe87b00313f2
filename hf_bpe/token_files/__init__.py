"""Ids in files: a corpus of any size encoded to `.bin`, `.npy` or Parquet, again from where it stopped."""

from __future__ import annotations

from hf_bpe.token_files.encoding import EncodingReport, encode_files

__all__ = ["EncodingReport", "encode_files"]
