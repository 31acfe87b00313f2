"""The project's model cards are what `model_cards/make.py` writes: no figure in them was typed."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "model_cards"


@pytest.mark.parametrize("name", ["english-chinese", "gpt2-chinese", "python-code"])
def test_a_card_is_what_its_recipe_gives(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(FOLDER)
    committed = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    recipes, make = importlib.import_module("recipes"), importlib.import_module("make")
    try:
        texts = recipes.RECIPES[name].texts()
    except ModuleNotFoundError as error:
        pytest.skip(str(error))
    about = recipes.RECIPES[name].about(texts)
    made_from = re.search("SHA-256 `([0-9a-f]{16})`", committed)
    assert made_from
    if texts.digest != made_from[1]:
        pytest.skip(f"the card is of texts with the SHA-256 {made_from[1]}; here are {about.training_data!r}")

    assert str(make.make(name)) == committed


def test_each_recipe_has_a_card_and_each_card_a_recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(FOLDER)
    recipes = importlib.import_module("recipes")

    assert {path.stem for path in FOLDER.glob("*.md")} - {"README"} == set(recipes.RECIPES)
