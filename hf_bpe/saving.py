"""Writes a tokenizer directory: each file whole or not at all, and no file of an older save left behind."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hf_bpe._native import Tokenizer
from hf_bpe.formats import gpt2

_OWN_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "chat_template.jinja",
    "special_tokens_map.json",
    "added_tokens.json",
)
FINGERPRINT = "hf_bpe_fingerprint"
"""The key of tokenizer_config.json that holds the fingerprint. Other libraries keep it among the arguments, unread."""

_MODULE = "tokenization_hf_bpe"
_MODULE_TEXT = '''"""Lets AutoTokenizer find the class of hf_bpe: `pip install hf-bpe`."""

from hf_bpe import HfBpeTokenizer

__all__ = ["HfBpeTokenizer"]
'''
_OWN_FOLDER = "additional_chat_templates"


@contextmanager
def staging(directory: Path) -> Iterator[Path]:
    """Give a folder inside `directory` to write to; it is gone afterwards, whatever happens."""
    directory.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=".saving-", dir=directory))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def publish(staged: Path, directory: Path, prefix: str | None) -> None:
    """Move the staged files over those of `directory`, then remove what an older save wrote and this one doesn't.

    Each file is replaced in one step: a reader, or a process that is killed, sees an old file or a new one.
    """
    files = sorted(path.relative_to(staged) for path in staged.rglob("*") if path.is_file())
    for file in files:
        (directory / file).parent.mkdir(exist_ok=True)
        os.replace(staged / file, directory / file)
    for stale in sorted(own_files(directory, prefix) - {directory / file for file in files}):
        stale.unlink()
    _remove_if_empty(directory / _prefixed(_OWN_FOLDER, prefix))


def own_files(directory: Path, prefix: str | None) -> set[Path]:
    """Return the files in `directory` that loading it would read as this tokenizer's."""
    templates = (directory / _prefixed(_OWN_FOLDER, prefix)).glob("*.jinja")
    named = (directory / _prefixed(name, prefix) for name in _OWN_FILES)
    module = directory / f"{_MODULE}.py"
    return {path for path in (*templates, *named, module) if path.is_file()}


def _remove_if_empty(folder: Path) -> None:
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def _prefixed(name: str, prefix: str | None) -> str:
    return f"{prefix}-{name}" if prefix else name


def adapt(staged: Path, prefix: str | None, *, stock: bool, auto_map: bool, fingerprint: str) -> list[Path]:
    """Change the staged tokenizer_config.json for who is going to load it; return files that came on top.

    Args:
        staged: The folder.
        prefix: What stands before each file name.
        stock: Whether the class is named as stock's, which `transformers` 4 and other libraries know, and extra special
            tokens have their old name there.
        auto_map: Whether `trust_remote_code=True` finds this package's class without an import of it.
        fingerprint: The fingerprint of the tokenizer.
    """
    path = staged / _prefixed("tokenizer_config.json", prefix)
    config = json.loads(path.read_text(encoding="utf-8"))
    config[FINGERPRINT] = fingerprint
    if isinstance(config.get("auto_map"), dict) and _names_own_module(config["auto_map"]):
        del config["auto_map"]
    if isinstance(named := config.get("model_specific_special_tokens"), dict):
        # Their flags are in tokenizer.json, and loading gives the contents alone: so the next save writes the same.
        contents = {name: token["content"] if isinstance(token, dict) else token for name, token in named.items()}
        config["model_specific_special_tokens"] = contents
    if stock:
        config["tokenizer_class"] = "PreTrainedTokenizerFast"
        if isinstance(config.get("extra_special_tokens"), list):
            config["additional_special_tokens"] = config.pop("extra_special_tokens")
    if auto_map:
        config["auto_map"] = {"AutoTokenizer": [f"{_MODULE}.HfBpeTokenizer", None]}
        (staged / f"{_MODULE}.py").write_text(_MODULE_TEXT, encoding="utf-8")
    path.write_text(json.dumps(config, indent=2, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
    return [staged / f"{_MODULE}.py"] if auto_map else []


def _names_own_module(auto_map: dict[str, object]) -> bool:
    return any(f"{_MODULE}." in str(names) for names in auto_map.values())


def write_tokenizer_json(core: Tokenizer, directory: Path, prefix: str | None) -> Path:
    """Write tokenizer.json, which says everything that decides ids."""
    path = directory / _prefixed("tokenizer.json", prefix)
    path.write_text(core.to_json(), encoding="utf-8", newline="")
    return path


def write_vocab_and_merges(core: Tokenizer, directory: Path, prefix: str | None) -> tuple[str, str]:
    """Write GPT-2's vocab.json and merges.txt. They hold no split pattern, special tokens or flags.

    Raises:
        ConversionError: A piece holds a space or a line end, which merges.txt can't carry.
    """
    texts = {_prefixed(name, prefix): text for name, text in gpt2.file_texts(core).items()}
    with staging(directory) as folder:
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8", newline="")
            os.replace(folder / name, directory / name)
    vocab_path, merges_path = (str(directory / name) for name in texts)
    return vocab_path, merges_path
