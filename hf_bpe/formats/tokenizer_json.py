"""`tokenizer.json`: read and written by the core, which is its only reader.

A directory may have tokenizer_config.json and a chat template beside it: special tokens by role come from there.
`write` makes the file alone; `HfBpeTokenizer.save_pretrained` makes a directory.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hf_bpe.errors import ConversionError, TokenizerFileError
from hf_bpe.formats import files
from hf_bpe.vocabulary import Roles, Vocabulary

NAME = "tokenizer_json"

_FILE = "tokenizer.json"
_KIND = "tokenizer.json"
_TEMPLATE, _MORE_TEMPLATES = "chat_template.jinja", "additional_chat_templates"
_MARKS = (b'"model"', b'"added_tokens"', b'"truncation"', b'"pre_tokenizer"', b'"normalizer"')


def sniff(path: Path) -> bool:
    """Whether `path` begins like a tokenizer.json, or is a directory with one."""
    path = Path(path)
    start = files.head(path / _FILE if path.is_dir() else path).removeprefix(b"\xef\xbb\xbf").lstrip()
    return start.startswith(b"{") and sum(mark in start for mark in _MARKS) >= 2


def read(path: str | Path) -> Vocabulary:
    """Read a tokenizer.json, or a directory with one.

    Raises:
        ConversionError: The file is damaged, or has a part that hf_bpe can't run exactly. The message says where.
    """
    path = Path(path)
    file = path / _FILE if files.is_directory(path) and path.name != _FILE else path
    data = files.read_bytes(file, kind=_KIND)
    try:
        vocabulary = Vocabulary.from_json(data)
    except TokenizerFileError as error:
        raise ConversionError(f"{file}: {str(error).removeprefix('tokenizer.json: ')}") from error
    roles, template = _beside(file.parent) if file.name == _FILE else ({}, None)
    roles = _known(roles, vocabulary)
    details = {NAME: {"merges": "strings"}} if _has_string_merges(data) else {}
    return vocabulary.replace(special_tokens=roles, chat_template=template, details=details)


def write(vocabulary: Vocabulary, path: str | Path, *, merges: str | None = None) -> list[Path]:
    """Write a tokenizer.json, which holds every vocabulary.

    Args:
        vocabulary: What to write.
        path: The file, or the directory.
        merges: `"pairs"` or, as old files have them, `"strings"`. By default as the vocabulary was read.

    Raises:
        ConversionError: Strings are asked for, and a piece holds a space.
    """
    path = Path(path)
    file = path / _FILE if path.is_dir() else path
    known = vocabulary.details.get(NAME)
    form = merges or (known.get("merges") if isinstance(known, dict) else None) or "pairs"
    file.write_text(_with_strings(vocabulary) if form == "strings" else vocabulary.core.to_json(), encoding="utf-8")
    return [file]


def options(vocabulary: Vocabulary) -> dict[str, Any]:
    """Return nothing: the file says everything that decides ids."""
    return {}


def _with_strings(vocabulary: Vocabulary) -> str:
    for rank, pair in enumerate(vocabulary.merges):
        for piece in pair:
            if " " in piece or not piece or (rank == 0 and piece.startswith("#version")):
                raise ConversionError(f"merge {rank} has the piece {piece!r}, which a string can't hold; write pairs.")
    whole = json.loads(vocabulary.core.to_json())
    whole["model"]["merges"] = [" ".join(pair) for pair in whole["model"]["merges"]]
    return json.dumps(whole, ensure_ascii=False, indent=2)


def _has_string_merges(data: bytes) -> bool:
    """Whether the merges of a valid file are strings: what follows the opening bracket says it."""
    after = data.rpartition(b'"merges"')[2].lstrip(b" \t\r\n:")
    return after[:1] == b"[" and after[1:].lstrip()[:1] == b'"'


def _beside(directory: Path) -> tuple[Roles, str | dict[str, str] | None]:
    """Return the roles and the chat templates that the files of a directory name."""
    path = directory / "tokenizer_config.json"
    config = _config(path)
    named = {role: value for role, value in config.items() if role.endswith("_token") and value}
    roles = {role: text for role, value in named.items() if (text := _content(value)) is not None}
    extra = config.get("extra_special_tokens") or config.get("additional_special_tokens")
    listed = [text for value in extra if (text := _content(value)) is not None] if isinstance(extra, list) else []
    return roles | ({"extra_special_tokens": listed} if listed else {}), _templates(directory, config)


def _known(roles: Roles, vocabulary: Vocabulary) -> Roles:
    """Return those roles whose tokens there are."""
    known = vocabulary.core.token_to_id
    kept = {
        role: tokens if isinstance(tokens, str) else [token for token in tokens if known(token) is not None]
        for role, tokens in roles.items()
        if not isinstance(tokens, str) or known(tokens) is not None
    }
    return {role: tokens for role, tokens in kept.items() if tokens}


def _content(token: Any) -> str | None:
    text = token.get("content") if isinstance(token, dict) else token
    return text if isinstance(text, str) else None


def _templates(directory: Path, config: dict[str, Any]) -> str | dict[str, str] | None:
    """Return the one template, or several by name: those in files go before those in tokenizer_config.json."""
    found = [directory / _TEMPLATE, *sorted((directory / _MORE_TEMPLATES).glob("*.jinja"))]
    texts = {file.stem: file for file in found if file.is_file() and file.stat().st_size}
    named = {name: files.read_text(file, kind="a chat template") for name, file in texts.items()}
    if "chat_template" in named:
        named = {"default": named.pop("chat_template")} | named
    if not named:
        return _listed_templates(config.get("chat_template"), directory / "tokenizer_config.json")
    return named["default"] if named.keys() == {"default"} else named


def _listed_templates(template: Any, path: Path) -> str | dict[str, str] | None:
    if template is None or isinstance(template, str):
        return template
    if not isinstance(template, list):
        raise ConversionError(f"{path}: chat_template is {template!r:.60}; it should be a string or a list of them.")
    for place, entry in enumerate(template):
        if not (isinstance(entry, dict) and all(isinstance(entry.get(key), str) for key in ("name", "template"))):
            raise ConversionError(
                f"{path}: chat_template[{place}] is {entry!r:.60}; it should be an object with a name and a template."
            )
    return {entry["name"]: entry["template"] for entry in template}


def _config(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    config = files.read_json(path, kind="tokenizer_config.json")
    if not isinstance(config, dict):
        raise ConversionError(f"{path} holds no JSON object.")
    return config
