"""Reads the files of a tokenizer directory: tokenizer.json, or GPT-2's vocab.json with merges.txt.

The base class of `transformers` parses tokenizer.json once more, in Python (a third of a second for 128k tokens),
when the directory's config doesn't list its added tokens. `add_saved_tokens` hands it that list from the core.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from tokenizers import AddedToken

from hf_bpe import compiled as compiled_forms
from hf_bpe import special_tokens
from hf_bpe._native import Tokenizer
from hf_bpe.errors import ConversionError, TokenizerFileError
from hf_bpe.formats import gpt2

_END_OF_TEXT = "<|endoftext|>"
_CHUNK = 1 << 24


def read_core(
    tokenizer_object: Any, tokenizer_file: str | None, settings: dict[str, Any], *, compiled: bool = True
) -> Tokenizer:
    """Return the core that a constructor's arguments describe.

    Args:
        tokenizer_object: A core, or a `tokenizers.Tokenizer` whose JSON is taken.
        tokenizer_file: The path of a tokenizer.json.
        settings: The other arguments, of which `vocab_file`, `merges_file` and `add_prefix_space` are read. What the
            files say about special tokens and sides is put where the arguments leave it open.
        compiled: Whether a compiled form of tokenizer.json may be read and kept.

    Raises:
        TokenizerFileError: No file is named, or a file is damaged.
        UnsupportedComponentError: The core can't run what the file describes.
    """
    if isinstance(tokenizer_object, Tokenizer):
        return tokenizer_object
    if tokenizer_object is not None or tokenizer_file is not None:
        if tokenizer_object is not None:
            core = Tokenizer.from_json(tokenizer_object.to_str())
        else:
            core = compiled_forms.read(str(tokenizer_file), _read_json_bytes, compiled=compiled)
        _set_defaults(settings, _saved_sides(core))
        return core
    if settings.get("vocab_file") and settings.get("merges_file"):
        core = read_vocab_and_merges(
            settings["vocab_file"], settings["merges_file"], add_prefix_space=settings.get("add_prefix_space", False)
        )
        if core.token_to_id(_END_OF_TEXT) is not None:
            _set_defaults(settings, dict.fromkeys(("bos_token", "eos_token", "unk_token"), _END_OF_TEXT))
        return core
    place = f" in {str(settings['name_or_path'])!r}" if settings.get("name_or_path") else ""
    raise TokenizerFileError(
        f"HfBpeTokenizer needs a tokenizer.json, or a vocab.json with a merges.txt beside it, and found neither{place}."
    )


def _read_json_bytes(path: str) -> bytes:
    """Read a JSON text up to its end, or up to the first byte that none can hold.

    A NUL says early that a file is damaged, before a gigabyte of them is read, or that it is no UTF-8.
    """
    read: list[bytes] = []
    if os.path.isdir(path):
        raise TokenizerFileError(f"{os.path.basename(path)} is a directory, expected a file; see {path!r}.")
    with open(path, "rb") as file:
        while chunk := file.read(_CHUNK):
            if (at := chunk.find(0)) >= 0:
                at += sum(map(len, read))
                raise TokenizerFileError(
                    f"{os.path.basename(path)} holds a NUL byte at {at}, which no JSON text does: "
                    f"the file is damaged, or it is UTF-16 and should be saved as UTF-8; see {path!r}."
                )
            read.append(chunk)
    return b"".join(read)


def _set_defaults(settings: dict[str, Any], defaults: dict[str, Any]) -> None:
    for name, value in defaults.items():
        settings.setdefault(name, value)


def read_vocab_and_merges(vocab_file: str, merges_file: str, *, add_prefix_space: bool = False) -> Tokenizer:
    """Read GPT-2's pair of files: byte-level BPE with the GPT-2 split pattern.

    `<|endoftext|>` becomes a special token where the vocabulary has it, as the pair's own tokenizer has it.
    """
    try:
        return gpt2.read_model(Path(vocab_file), Path(merges_file), add_prefix_space=add_prefix_space)
    except ConversionError as error:
        raise TokenizerFileError(str(error)) from error


def add_saved_tokens(files: dict[str, str | None], kwargs: dict[str, Any]) -> None:
    """Read the core, and list its added tokens as the base class would, before it does so slowly.

    Does nothing where the directory's config lists them, as every directory does that this package saves.

    Args:
        files: The resolved files of the directory. Those that are read here are taken out.
        kwargs: The keyword arguments of `from_pretrained`, which receive the result.
    """
    tokenizer_file = kwargs.get("tokenizer_file") or files.get("tokenizer_file")
    config_file = files.get("tokenizer_config_file")
    # Not parsed to see this: with many added tokens the file is large, and the base class parses it twice already.
    listed = config_file is not None and b'"added_tokens_decoder"' in Path(config_file).read_bytes()
    if not tokenizer_file or listed or "added_tokens_decoder" in kwargs:
        return
    config = _read_json(config_file)
    settings: dict[str, Any] = {}
    core = read_core(
        kwargs.get("tokenizer_object"), tokenizer_file, settings, compiled=kwargs.get("compiled", True) is not False
    )
    _set_defaults(kwargs, {name: value for name, value in settings.items() if name not in config})
    kwargs.update(_legacy_special_tokens(_read_json(files.pop("special_tokens_map_file", None)), config, kwargs))
    special = _special_contents({**config, **kwargs})
    tokens = {
        token_id: AddedToken(content, normalized=content not in special, special=content in special)
        for content, token_id in _read_json(files.pop("added_tokens_file", None)).items()
    }
    kwargs["added_tokens_decoder"] = tokens | special_tokens.added_tokens_by_id(core)
    kwargs["tokenizer_object"] = core


def _legacy_special_tokens(saved: dict[str, Any], config: dict[str, Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the entries of an old special_tokens_map.json that the call doesn't override."""
    found: dict[str, Any] = {}
    for name, value in saved.items():
        if kwargs.get(name):
            continue
        if name == "additional_special_tokens" and (name in config or name in kwargs):
            # The config's are extra special tokens by the time that stock reads this file, and count alone.
            continue
        if name == "extra_special_tokens" and isinstance(value, list):
            listed = list(kwargs.get(name) or config.get(name) or [])
            value = listed + [token for token in map(_as_special, value) if token not in listed]
        found[name] = _as_special(value) if name != "extra_special_tokens" else value
    return found


def _as_special(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return AddedToken(**{key: item for key, item in value.items() if key not in ("special", "__type")}, special=True)


def _special_contents(settings: dict[str, Any]) -> set[str]:
    """Return the contents of the special tokens that a config names."""
    named = [value for name, value in settings.items() if name.endswith("_token") and value]
    extra = settings.get("extra_special_tokens") or settings.get("additional_special_tokens") or []
    return {str(value["content"] if isinstance(value, dict) else value) for value in [*named, *extra]}


def _read_json(path: str | None) -> dict[str, Any]:
    if path is None or not os.path.isfile(path):
        return {}
    with open(path, encoding="utf-8") as file:
        data: dict[str, Any] = json.load(file)
    return data


def _saved_sides(core: Tokenizer) -> dict[str, Any]:
    """Return what a tokenizer.json with truncation or padding switched on says beyond a single call."""
    settings: dict[str, Any] = {}
    if truncation := json.loads(core.component("truncation") or "null"):
        settings["truncation_side"] = truncation.get("direction", "Right").lower()
    if padding := json.loads(core.component("padding") or "null"):
        settings.update(padding_side=padding["direction"].lower(), pad_token=padding["pad_token"])
    return settings
