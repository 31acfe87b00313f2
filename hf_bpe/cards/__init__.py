"""Model cards: what a tokenizer is, written from measurements. No figure in a card was typed by a person."""

from __future__ import annotations

from hf_bpe.cards.about import About, read_about
from hf_bpe.cards.writing import Card, card

__all__ = ["About", "Card", "card", "read_about"]
