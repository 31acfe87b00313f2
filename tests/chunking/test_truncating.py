"""A truncated text fits when it is encoded again, and one more character doesn't."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest
from chunking.random_texts import TEXTS

from hf_bpe import HfBpeTokenizer
from hf_bpe.chunking import borders, truncate_to_tokens


@pytest.fixture(scope="module")
def tokenizer(small_tokenizer_json: Path) -> HfBpeTokenizer:
    return HfBpeTokenizer(tokenizer_file=str(small_tokenizer_json))


@pytest.mark.parametrize("side", ["right", "left"])
def test_the_rest_of_a_text_fits_and_no_character_more(
    side: Literal["right", "left"], tokenizer: HfBpeTokenizer
) -> None:
    cut = 0
    for text in TEXTS:
        kept = truncate_to_tokens(text, tokenizer, 20, side)
        assert len(tokenizer.encode(kept)) <= 20
        assert text.startswith(kept) if side == "right" else text.endswith(kept)
        if kept == text or "<s>" in text:
            continue
        places = [0, *borders.character_ends(text)]
        at = places.index(len(kept) if side == "right" else len(text) - len(kept))
        more = text[: places[at + 1]] if side == "right" else text[places[at - 1] :]
        assert len(tokenizer.encode(more)) > 20
        cut += 1
    assert cut > 500


def test_a_text_that_fits_stays_whole(tokenizer: HfBpeTokenizer) -> None:
    assert truncate_to_tokens("def", tokenizer, 20) == "def"
    assert truncate_to_tokens("", tokenizer, 2) == ""


def test_nothing_is_left_where_no_character_fits(tokenizer: HfBpeTokenizer) -> None:
    assert truncate_to_tokens("🙂🙂", tokenizer, 5) == ""
    assert truncate_to_tokens("🙂🙂", tokenizer, 6) == "🙂"


def test_a_character_of_several_code_points_is_cut_where_it_alone_is_too_long(tokenizer: HfBpeTokenizer) -> None:
    assert truncate_to_tokens("👩\u200d👧", tokenizer, 9) == "👩\u200d"
    assert truncate_to_tokens("👩\u200d👧", tokenizer, 6, "left") == "👧"


def test_an_added_token_stays_whole_or_goes(tokenizer: HfBpeTokenizer) -> None:
    assert truncate_to_tokens("</s></s>", tokenizer, 3) == "</s>"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_tokens": 1}, r"truncate_to_tokens\(\): max_tokens=1, and an empty text takes 2"),
        ({"side": "up"}, r"truncate_to_tokens\(\): side is 'right' or 'left', got 'up'"),
    ],
)
def test_arguments_out_of_range_are_refused(options: Any, message: str, tokenizer: HfBpeTokenizer) -> None:
    with pytest.raises(ValueError, match=message):
        truncate_to_tokens("text", tokenizer, **({"max_tokens": 9} | options))
