"""The scripts in `conversion/`: each runs, writes what it says, and uses public names alone."""

from __future__ import annotations

import ast
import base64
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from vocabularies import installed

import hf_bpe
from hf_bpe import HfBpeTokenizer
from hf_bpe.vocabulary import Vocabulary

FOLDER = Path(__file__).resolve().parents[1] / "conversion"
SCRIPTS = sorted(path.stem for path in FOLDER.glob("*.py"))
FORMATS = ("gguf", "gpt2", "sentencepiece", "tekken", "tiktoken")
ENVIRONMENT = os.environ | {"TRANSFORMERS_VERBOSITY": "error", "PYTHONPATH": str(FOLDER.parent)}
BYTES = {bytes([byte]): byte for byte in range(256)}


def run(script: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a script in a process of its own."""
    command = [sys.executable, str(FOLDER / f"{script}.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=300, check=False)


def saved(path: Path) -> Path:
    """Save a small tokenizer that is built as GPT-2's is."""
    ranks = BYTES | {b"th": 256, b"the": 257}
    vocabulary = Vocabulary.from_ranks(
        ranks, split_pattern="gpt2", added_tokens={"<|endoftext|>": 258}, ignore_merges=False
    )
    whole = json.loads(vocabulary.core.to_json())
    whole["model"]["vocab"]["<|endoftext|>"] = 258
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    whole |= {"pre_tokenizer": byte_level, "post_processor": None}
    HfBpeTokenizer.from_vocabulary(Vocabulary.from_json(whole)).save_pretrained(path)
    return path


def test_there_is_a_script_for_each_direction() -> None:
    assert sorted([f"{name}_to_hf" for name in FORMATS] + [f"hf_to_{name}" for name in FORMATS]) == SCRIPTS


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_is_short_explains_itself_and_uses_public_names(script: str) -> None:
    text = (FOLDER / f"{script}.py").read_text(encoding="utf-8")
    tree = ast.parse(text)

    assert len(text.splitlines()) <= 60
    assert f"python conversion/{script}.py" in (ast.get_docstring(tree) or "")
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "hf_bpe"
    }
    assert used <= set(hf_bpe.__all__)
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not [module for module in imported if module and module.startswith("hf_bpe")]


@pytest.mark.parametrize(
    ("name", "target", "needs"),
    [("gguf", "a.gguf", "gguf"), ("gpt2", "files", "tokenizers"), ("tiktoken", "a.tiktoken", "tiktoken")],
)
def test_a_small_tokenizer_goes_out_and_back(name: str, target: str, needs: str, tmp_path: Path) -> None:
    pytest.importorskip(needs)
    source = saved(tmp_path / "source")

    out = run(f"hf_to_{name}", source, tmp_path / target)
    options = ("--split-pattern", "gpt2", "--special-token", "<|endoftext|>=258") if name == "tiktoken" else ()
    back = run(f"{name}_to_hf", tmp_path / target, tmp_path / "back", *options)

    assert out.returncode == 0, out.stderr
    assert back.returncode == 0, back.stderr
    assert "agree on" in back.stdout
    assert "verified: back as it was written, with its own library" in back.stdout
    assert json.loads((tmp_path / "back" / "conversion.json").read_text())["not_verified"] == []
    assert hf_bpe.compare(source, tmp_path / "back")


def test_tekken_goes_out_and_back(tmp_path: Path) -> None:
    pytest.importorskip("mistral_common")
    path = installed("mistral_common", "data", "tekken_240911.json")
    if path is None:
        pytest.skip("mistral_common comes without its data")

    there = run("tekken_to_hf", path, tmp_path / "there")
    back = run("hf_to_tekken", tmp_path / "there", tmp_path / "tekken.json")

    assert there.returncode == 0, there.stderr
    assert "agree on" in there.stdout
    assert back.returncode == 0, back.stderr
    assert "mistral_common" in back.stdout
    assert hf_bpe.compare(path, tmp_path / "tekken.json")


def test_sentencepiece_goes_out_and_back(tmp_path: Path) -> None:
    pytest.importorskip("sentencepiece")
    from formats.piece_models import trained

    (tmp_path / "a.model").write_bytes(trained("llama"))

    there = run("sentencepiece_to_hf", tmp_path / "a.model", tmp_path / "there")
    back = run("hf_to_sentencepiece", tmp_path / "there", tmp_path / "b.model")

    assert there.returncode == 0, there.stderr
    assert "sentencepiece" in there.stdout
    assert back.returncode == 0, back.stderr
    assert hf_bpe.compare(tmp_path / "a.model", tmp_path / "b.model")


@pytest.mark.parametrize("name", ["sentencepiece", "tekken"])
def test_what_a_format_cannot_hold_is_refused_in_a_sentence(name: str, tmp_path: Path) -> None:
    pytest.importorskip("sentencepiece")
    source = saved(tmp_path / "source")

    result = run(f"hf_to_{name}", source, tmp_path / "target")

    assert result.returncode == 1
    assert result.stderr.startswith("refused: ")
    assert "would" in result.stderr
    assert not (tmp_path / "target").exists()


@pytest.mark.parametrize("name", FORMATS)
def test_a_directory_that_is_not_there_is_named_and_not_sought_on_the_network(name: str, tmp_path: Path) -> None:
    result = run(f"hf_to_{name}", tmp_path / "nowhere", tmp_path / "target")

    assert result.returncode == 2
    assert "nowhere is no directory" in result.stderr


def refused_in_one_line(result: subprocess.CompletedProcess[str]) -> str:
    assert result.returncode == 1, result
    assert "Traceback" not in result.stderr
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("refused: ")]
    assert result.stderr.endswith(f"{line}\n")
    return line


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("gguf", b"GGUF\x03"),
        ("gpt2", b"{"),
        ("sentencepiece", b"\n\x0e\n"),
        ("tekken", b'{"config": {}}'),
        ("tiktoken", b"aGk= 0\naGk= x\n"),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(name: str, content: bytes, tmp_path: Path) -> None:
    source = tmp_path / "files"
    if name == "gpt2":
        source.mkdir()
        (source / "vocab.json").write_bytes(content)
        (source / "merges.txt").write_bytes(content)
    else:
        source.write_bytes(content)

    line = refused_in_one_line(run(f"{name}_to_hf", source, tmp_path / "target"))

    assert ("vocab.json" if name == "gpt2" else "files") in line
    assert not (tmp_path / "target").exists()


@pytest.mark.parametrize("name", FORMATS)
def test_a_damaged_directory_is_refused_in_one_line(name: str, tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "tokenizer.json").write_text("{", encoding="utf-8")

    line = refused_in_one_line(run(f"hf_to_{name}", tmp_path / "source", tmp_path / "target"))

    assert "tokenizer.json can't be read: EOF while parsing an object" in line
    assert not (tmp_path / "target").exists()


def test_a_target_that_exists_and_a_special_token_without_id_are_told_in_one_line(tmp_path: Path) -> None:
    ranks = tmp_path / "a.tiktoken"
    ranks.write_bytes(b"".join(b"%s %d\n" % (base64.b64encode(token), rank) for token, rank in BYTES.items()))
    (tmp_path / "target").mkdir()
    (tmp_path / "target" / "notes.txt").write_text("mine", encoding="utf-8")

    taken = run("tiktoken_to_hf", ranks, tmp_path / "target", "--split-pattern", "gpt2")
    wrong = run("tiktoken_to_hf", ranks, tmp_path / "other", "--special-token", "<|end|>")

    assert "target exists already" in refused_in_one_line(taken)
    assert wrong.returncode == 2
    assert "--special-token is TOKEN=ID" in wrong.stderr
