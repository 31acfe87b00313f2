"""Vocabularies of scored pieces: what a SentencePiece model and a GGUF file of kind `llama` have in common.

A piece model merges, of all neighbours whose joined text is a piece, those with the highest score, leftmost first.
`merges` turns the scores into a merge list, `scores` a merge list into scores, `pipeline` writes the rules of such a
model as the components of a `tokenizer.json`, and `recognition` reads those components back.
"""

from __future__ import annotations
