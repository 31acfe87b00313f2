"""From a changed vocabulary to the checkpoint that follows it, by command, as GPT-2 and Llama 3 are laid out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from embedding_models import numbers
from safetensors.numpy import load_file, save_file
from test_cli import run

from hf_bpe import HfBpeTokenizer, chat, prune, train
from hf_bpe.embeddings import plan_rows, resize_rows

TEXT = "the cat sat on the mat, the cat sat on the hat; 语言模型和语言 " * 20


def _gpt2(folder: Path) -> HfBpeTokenizer:
    tokenizer = train([TEXT], vocab_size=290, eos_token="<|endoftext|>", special_tokens_last=True, progress=False)
    tokenizer.save_pretrained(folder)
    tensors = {"wte.weight": numbers(len(tokenizer), 8), "wpe.weight": numbers(32, 8), "ln_f.bias": numbers(8)}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    end = tokenizer.eos_token_id
    config = {"vocab_size": len(tokenizer), "bos_token_id": end, "eos_token_id": end, "n_ctx": 32}
    (folder / "config.json").write_text(json.dumps(config))
    return tokenizer


def _llama3(folder: Path) -> HfBpeTokenizer:
    reserved = [f"<|reserved_special_token_{number}|>" for number in range(9)]
    tokenizer = train(
        [TEXT],
        vocab_size=310,
        split_pattern="llama3",
        bos_token="<|begin_of_text|>",
        eos_token="<|end_of_text|>",
        special_tokens=reserved,
        special_tokens_last=True,
        progress=False,
    )
    tokenizer.save_pretrained(folder)
    rows = len(tokenizer) + 10
    tensors = {"model.embed_tokens.weight": numbers(rows, 8), "lm_head.weight": numbers(rows, 8, seed=1)}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    config = {"vocab_size": rows, "bos_token_id": tokenizer.bos_token_id, "eos_token_id": [tokenizer.eos_token_id]}
    (folder / "config.json").write_text(json.dumps(config))
    return tokenizer


def _changed(how: str, old: HfBpeTokenizer, model: Path, out: Path) -> list[str | Path]:
    """Change the vocabulary; return the options for the resize."""
    match how:
        case "extend":
            done = run("extend", model, "-", "--num-new-tokens", "12", "--out", out, stdin=b"zebra okapi\n" * 9)
        case "add-words":
            done = run("add-words", model, " Kubernetes", "区块链", "--out", out)
        case "prune":
            size, ids = str(len(old) - 10), out.parent / "ids.json"
            done = run("prune", model, "-", "--vocab-size", size, "--out", out, "--id-map", ids, stdin=TEXT.encode())
            assert done.returncode == 0, done.stderr
            return ["--id-map", ids]
        case _:
            tokenizer = HfBpeTokenizer.from_pretrained(model)
            chat.install(tokenizer, "chatml")
            tokenizer.save_pretrained(out)
            return []
    assert done.returncode == 0, done.stderr
    return []


@pytest.mark.parametrize("how", ["extend", "add-words", "prune", "chat"])
@pytest.mark.parametrize("make", [_gpt2, _llama3])
def test_each_token_has_its_row_whatever_changed_the_vocabulary(make: Any, how: str, tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    old = make(tmp_path / "model")
    options = _changed(how, old, tmp_path / "model", tmp_path / "new")

    done = run("resize", tmp_path / "model", tmp_path / "model", tmp_path / "new", tmp_path / "out", *options)

    assert done.returncode == 0, done.stderr
    new = HfBpeTokenizer.from_pretrained(tmp_path / "out")
    was, now = (load_file(tmp_path / name / "model.safetensors") for name in ("model", "out"))
    tables = [name for name in was if name.split(".")[-2] in ("wte", "embed_tokens", "lm_head")]
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    for name in tables:
        assert len(now[name]) == config["vocab_size"] >= len(new)
        for token, token_id in old.get_vocab().items():
            if token in new.get_vocab():
                assert (now[name][new.get_vocab()[token]] == was[name][token_id]).all(), token
        for token_id in set(new.get_vocab().values()):
            assert now[name][token_id].any()
    for name in was.keys() - set(tables):
        assert now[name].tobytes() == was[name].tobytes()
    stops = config["eos_token_id"] if isinstance(config["eos_token_id"], list) else [config["eos_token_id"]]
    assert new.eos_token_id in stops
    assert new.decode(new.encode_ordinary(TEXT)) == TEXT


@pytest.mark.parametrize("added", [100, 271, 272, 400])
def test_new_ids_in_rows_of_padding_are_made_and_rows_never_shrink(added: int, tmp_path: Path) -> None:
    """As Qwen2.5 has it, in small: ids of text, ids with added tokens, and rows are three numbers."""
    old = train([TEXT], vocab_size=280, progress=False)
    old.add_special_tokens({"additional_special_tokens": [f"<|{number}|>" for number in range(22)]})
    ids, rows = len(old), len(old) + 271
    new = HfBpeTokenizer.from_vocabulary(old.vocabulary)
    new.add_tokens([f"word{number}" for number in range(added)])
    table = numbers(rows, 8)

    plan = plan_rows(old, new, num_old_rows=rows)
    out = resize_rows(table, plan)

    assert len(out) == max(rows, ids + added)
    assert (out[:ids] == table[:ids]).all()
    assert sorted(plan.parts) == list(range(ids, ids + added))
    for token_id in range(ids, ids + added):
        parts = old.encode_ordinary(f"word{token_id - ids}")
        mean = table[parts].astype(np.float64).mean(axis=0)
        assert np.allclose(out[token_id] / np.linalg.norm(out[token_id]), mean / np.linalg.norm(mean), atol=1e-5)
    assert (out[ids + added : rows] == table[ids + added : rows]).all()


def test_rows_of_a_vocabulary_without_ing_belong_to_the_tokens_that_stay(tmp_path: Path) -> None:
    texts = ["going doing being seeing thing sing ring " * 20]
    old = train(texts, vocab_size=275, eos_token="<|end|>", special_tokens_last=True, progress=False)
    assert "ing" in old.get_vocab()

    new, report = prune(old, drop=["ing"])

    gone = {token for token in old.get_vocab() if token not in new.get_vocab()}
    assert gone == {token for token in old.get_vocab() if token.endswith("ing")}
    vocab = new.get_vocab()
    for left, right in new.vocabulary.merges:
        assert {left, right, left + right} <= vocab.keys()
    made = {left + right for left, right in new.vocabulary.merges}
    assert {token for token in vocab if len(token) > 1} == made | {"<|end|>"}
    for text in ("go do be see", " ring", "a thin g", "ing"):
        before = old.encode_ordinary(text)
        if not {old.convert_ids_to_tokens(token_id) for token_id in before} & gone:
            assert new.encode_ordinary(text) == [(report.id_map or {})[token_id] for token_id in before]
        assert new.decode(new.encode_ordinary(text)) == text
