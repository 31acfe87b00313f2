"""The numbers of a model's `config.json` and `generation_config.json` that follow its vocabulary."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hf_bpe.errors import CheckpointError

FILES = ("config.json", "generation_config.json")
# Objects in which models of several kinds of input keep the numbers of their text part.
_NESTED = ("text_config", "llm_config", "language_config", "thinker_config", "decoder", "encoder")
# Numbers that end so are ids of tokens.
_ID_KEYS = ("_token_id", "_token_ids", "_token_index")
# Lists of ids, or of lists of them, and objects of ids by name.
_ID_LISTS = ("suppress_tokens", "begin_suppress_tokens", "bad_words_ids", "force_words_ids")
_ID_OBJECTS = ("lang_to_id", "task_to_id")
# Lists of pairs: in one the second is an id, in the other the first is a list of ids.
_FORCED, _BIASED = "forced_decoder_ids", "sequence_bias"
# What is a text in ids, in which one may be there twice; other lists are sets.
_SEQUENCES = ("bad_words_ids", "force_words_ids", _BIASED)


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object.

    Raises:
        CheckpointError: The file holds something else.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{path}: no JSON: {error}") from None
    if not isinstance(content, dict):
        raise CheckpointError(f"{path}: holds no JSON object.")
    return content


def text_part(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the object that says `vocab_size`: the config itself, or its part for text."""
    if "vocab_size" in config:
        return config
    parts = [text_part(part) for key in _NESTED if isinstance(part := config.get(key), dict)]
    return next((part for part in parts if "vocab_size" in part), config)


def follow(
    config: Mapping[str, Any],
    *,
    old_rows: int,
    new_rows: int,
    ids: Mapping[int, int],
    roles: Mapping[str, tuple[int, int]],
) -> tuple[dict[str, Any], dict[str, tuple[Any, Any]]]:
    """Return a config for the new vocabulary, and what changed, as (before, after) by JSON path.

    Args:
        config: The content of `config.json` or `generation_config.json`.
        old_rows: The rows before, which is what `vocab_size` was.
        new_rows: The rows now.
        ids: The new id of each old one.
        roles: Of each key whose role another token has now, such as `eos_token_id`, the old id and the new one.

    Raises:
        CheckpointError: It names an id whose token was dropped.
    """
    changes: dict[str, tuple[Any, Any]] = {}

    def moved(value: int, key: str, path: str) -> int:
        if value < 0 or isinstance(value, bool) or value >= old_rows:
            return value
        before, after = roles.get(key, (-1, -1))
        if value == before:
            return after
        if value not in ids:
            raise CheckpointError(
                f"{path} is {value}, whose token is not in the new tokenizer: set it to another first."
            )
        return ids[value]

    def all_moved(value: Any, key: str, path: str) -> Any:
        """Return an id, or a list of ids, of any depth; what is neither stays."""
        if isinstance(value, int):
            return moved(value, key, path)
        if not isinstance(value, list):
            return value
        after = [all_moved(item, key, path) for item in value]
        if all(isinstance(item, int) for item in after):
            after = list(dict.fromkeys(after)) if key not in _SEQUENCES else after
            return value if key not in _SEQUENCES and set(after) == set(value) else after
        return after

    def visit(value: Any, key: str, path: str) -> Any:
        if isinstance(value, dict) and key not in (*_ID_OBJECTS, _BIASED):
            return {
                name: visit(item, name, f"{path}.{name}" if path else name)
                if not isinstance(item, dict) or name in (*_NESTED, *_ID_OBJECTS)
                else item
                for name, item in value.items()
            }
        after = value
        if key == "vocab_size" and value == old_rows and not isinstance(value, bool):
            after = new_rows
        elif key.endswith(_ID_KEYS) or key in _ID_LISTS:
            after = all_moved(value, key, path)
        elif key in _ID_OBJECTS and isinstance(value, dict):
            after = {name: all_moved(item, key, path) for name, item in value.items()}
        elif key in (_FORCED, _BIASED) and isinstance(value, list):
            place = 1 if key == _FORCED else 0
            after = [
                [all_moved(item, key, path) if at == place else item for at, item in enumerate(pair)]
                if isinstance(pair, list)
                else pair
                for pair in value
            ]
        if after != value:
            changes[path] = (value, after)
        return after

    return visit(dict(config), "", ""), changes
