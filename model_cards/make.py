"""Make the vocabularies of this folder again, and their cards from measurements.

    python model_cards/make.py [NAME ...] [--vocabularies FOLDER]

Cards are committed; vocabularies are left in FOLDER, where it is given.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

from recipes import RECIPES

import hf_bpe
from hf_bpe.cards import Card

HERE = Path(__file__).resolve().parent


def make(name: str, vocabularies: Path | None = None) -> Card:
    """Return the card of a vocabulary, made anew.

    Args:
        name: Which one.
        vocabularies: Where the vocabulary is saved, with its card.
    """
    recipe = RECIPES[name]
    texts = recipe.texts()
    tokenizer = recipe.make(texts)
    card = hf_bpe.card(tokenizer, texts.held_out, about=recipe.about(texts))
    if vocabularies is not None:
        tokenizer.save_pretrained(vocabularies / name)
        card.save(vocabularies / name / "README.md")
    return card


def main() -> None:
    """Make those that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", metavar="NAME", nargs="*", help=", ".join(RECIPES))
    parser.add_argument("--vocabularies", metavar="FOLDER", type=Path, help="where to save the vocabularies")
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in RECIPES]:
        parser.error(f"there is no {', '.join(unknown)}; the vocabularies are {', '.join(RECIPES)}")
    for name in options.names or RECIPES:
        make(name, options.vocabularies).save(HERE / f"{name}.md")
        print(HERE / f"{name}.md")


if __name__ == "__main__":
    main()
