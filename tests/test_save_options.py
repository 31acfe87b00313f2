"""`save_pretrained(stock=True)` and `save_pretrained(auto_map=True)`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from hf_bpe import HfBpeTokenizer
from hf_bpe.vocabulary import Vocabulary

CONFIG = "tokenizer_config.json"


@pytest.fixture
def tokenizer() -> HfBpeTokenizer:
    """A small tokenizer with a special token of each kind."""
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256}
    vocabulary = Vocabulary.from_ranks(ranks, split_pattern="gpt2", added_tokens={"</s>": 257, "<a>": 258})
    return HfBpeTokenizer.from_vocabulary(vocabulary, eos_token="</s>", extra_special_tokens=["<a>"])


def test_stock_s_class_name_gives_stock_s_class_and_the_same_ids(tokenizer: HfBpeTokenizer, tmp_path: Path) -> None:
    tokenizer.save_pretrained(tmp_path, stock=True)

    config = json.loads((tmp_path / CONFIG).read_text())
    assert config["tokenizer_class"] == "PreTrainedTokenizerFast"
    # A list under its new name is what transformers 4 can't read.
    assert config["additional_special_tokens"] == ["<a>"]
    assert "extra_special_tokens" not in config
    stock = AutoTokenizer.from_pretrained(tmp_path)
    assert isinstance(stock, PreTrainedTokenizerFast)
    assert stock.encode("ab<a> b</s>") == tokenizer.encode("ab<a> b</s>")
    assert stock.extra_special_tokens == ["<a>"]
    assert HfBpeTokenizer.from_pretrained(tmp_path).vocabulary.special_tokens == tokenizer.vocabulary.special_tokens


def test_auto_map_finds_the_class_without_an_import(tokenizer: HfBpeTokenizer, tmp_path: Path) -> None:
    names = tokenizer.save_pretrained(tmp_path / "saved", auto_map=True)
    code = f"""
from transformers import AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained({str(tmp_path / "saved")!r}, trust_remote_code=True)
print(type(tokenizer).__module__, tokenizer.encode("ab<a>"))
"""

    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert output == "hf_bpe.tokenizer [256, 258]\n"
    assert str(tmp_path / "saved" / "tokenization_hf_bpe.py") in names


def test_a_later_save_takes_the_auto_map_away(tokenizer: HfBpeTokenizer, tmp_path: Path) -> None:
    tokenizer.save_pretrained(tmp_path, auto_map=True)
    loaded = HfBpeTokenizer.from_pretrained(tmp_path)

    loaded.save_pretrained(tmp_path)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["tokenizer.json", CONFIG]
    assert "auto_map" not in (tmp_path / CONFIG).read_text()
