"""Finds what is odd in a vocabulary: dead tokens, merges that depend on the algorithm, special tokens anyone can spell.

A vocabulary with findings may be just what a model was trained with. What a finding says is that another program, or a
later change, can give other ids than one would think; and it has a text that shows it.
"""

from __future__ import annotations

from hf_bpe.linting.checking import lint
from hf_bpe.linting.report import Finding, LintReport

__all__ = ["Finding", "LintReport", "lint"]
