"""Added tokens in bulk, with holes between ids, and where stock is unsure."""

from __future__ import annotations

import json
import time
from pathlib import Path

from directories import directory
from tokenizers import AddedToken

from hf_bpe import HfBpeTokenizer


def word_of(tokenizer: HfBpeTokenizer) -> str:
    """Return a word that is one token of the model."""
    return next(token for token in tokenizer.get_vocab() if len(token) > 2 and token.isalpha() and token.isascii())


def test_fifty_thousand_added_tokens_load_in_under_a_second(tmp_path: Path) -> None:
    tokenizer = HfBpeTokenizer.from_pretrained(directory("gpt2"))
    before = len(tokenizer)
    assert tokenizer.add_tokens([AddedToken(f"<word {number}>") for number in range(50_000)]) == 50_000
    tokenizer.save_pretrained(tmp_path)

    seconds = []
    for _ in range(3):
        start = time.process_time()
        loaded = HfBpeTokenizer.from_pretrained(tmp_path)
        ids = loaded("a line with <word 7> and <word 49999>.")["input_ids"]
        seconds.append(time.process_time() - start)

    assert {before + 7, before + 49_999} <= set(ids)
    assert len(loaded) == before + 50_000
    assert min(seconds) < 1


def test_adding_one_token_at_a_time_gives_the_ids_of_adding_all() -> None:
    one, all_at_once = (HfBpeTokenizer.from_pretrained(directory("template")) for _ in range(2))
    tokens = ["<a>", "<b>", word_of(one), "<a>", "<c>"]

    added = sum(one.add_tokens(token) for token in tokens)

    assert added == all_at_once.add_tokens(tokens) == 4  # as stock, a token that the model has counts as added
    assert one.added_tokens_encoder == all_at_once.added_tokens_encoder
    assert one._core == all_at_once._core


def test_holes_between_ids_are_kept(tmp_path: Path) -> None:
    data = json.loads((directory("gpt2") / "tokenizer.json").read_text(encoding="utf-8"))
    base = len(data["model"]["vocab"])
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    data["added_tokens"].append({"id": base + 100, "content": "<far>", **flags})
    (tmp_path / "tokenizer.json").write_text(json.dumps(data), encoding="utf-8")

    tokenizer = HfBpeTokenizer.from_pretrained(tmp_path)

    assert tokenizer.convert_tokens_to_ids("<far>") == base + 100
    assert len(tokenizer) == base + 101
    assert tokenizer.vocab_size == base
    assert tokenizer.decode([base + 50]) == ""
    assert tokenizer.convert_ids_to_tokens(base + 50) is None
    assert tokenizer.add_tokens(["<next>"]) == 1
    assert tokenizer.convert_tokens_to_ids("<next>") == base + 101
    tokenizer.save_pretrained(tmp_path / "saved")
    again = HfBpeTokenizer.from_pretrained(tmp_path / "saved")
    assert again.convert_tokens_to_ids(["<far>", "<next>"]) == [base + 100, base + 101]


def test_a_token_of_the_model_keeps_its_id_when_it_is_added() -> None:
    tokenizer = HfBpeTokenizer.from_pretrained(directory("gpt2"))
    word, size = word_of(tokenizer), len(tokenizer)
    token_id = tokenizer.get_vocab()[word]

    tokenizer.add_tokens([word], special_tokens=True)

    assert len(tokenizer) == size
    assert tokenizer.added_tokens_decoder[token_id].special
    assert tokenizer.encode(f"x{word}x")[1] == token_id
    assert tokenizer.decode([token_id], skip_special_tokens=True) == ""


def test_names_and_spaces_are_never_put_between_added_tokens() -> None:
    tokenizer = HfBpeTokenizer.from_pretrained(directory("gpt2"))
    tokenizer.add_tokens(["<think>", "</think>"])

    for text in ("<think>ok</think>1", "a<think><think>b", "<|end|><think>"):
        assert tokenizer.decode(tokenizer.encode(text)) == text
        assert tokenizer.decode(tokenizer.encode(text), spaces_between_special_tokens=True) == text
        assert tokenizer.batch_decode([tokenizer.encode(text)]) == [text]
