"""The keys of a GGUF file beside its tokens: roles, switches, the chat template, and what only the file knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

from hf_bpe.errors import ConversionError
from hf_bpe.formats.gguf.container import ARRAY, BOOL, INT32, STRING, UINT32, Field

MODEL = "tokenizer.ggml.model"
PRE = "tokenizer.ggml.pre"
TOKENS = "tokenizer.ggml.tokens"
TYPES = "tokenizer.ggml.token_type"
SCORES = "tokenizer.ggml.scores"
MERGES = "tokenizer.ggml.merges"
ADD_BOS = "tokenizer.ggml.add_bos_token"
ADD_EOS = "tokenizer.ggml.add_eos_token"
ADD_PREFIX = "tokenizer.ggml.add_space_prefix"
ARCHITECTURE = "general.architecture"
MODEL_NAME = "general.name"
TEMPLATE = "tokenizer.chat_template"
TEMPLATES = "tokenizer.chat_templates"

ROLES = {
    "bos_token": "tokenizer.ggml.bos_token_id",
    "eos_token": "tokenizer.ggml.eos_token_id",
    "unk_token": "tokenizer.ggml.unknown_token_id",
    "sep_token": "tokenizer.ggml.seperator_token_id",
    "pad_token": "tokenizer.ggml.padding_token_id",
    "cls_token": "tokenizer.ggml.cls_token_id",
    "mask_token": "tokenizer.ggml.mask_token_id",
}
"""The key of each role. `seperator` is how the format spells it."""

_OURS = {MODEL, PRE, TOKENS, TYPES, SCORES, MERGES, ADD_BOS, ADD_EOS, ADD_PREFIX, TEMPLATE, TEMPLATES, *ROLES.values()}


class Kept(TypedDict):
    """What a file holds beyond its vocabulary, for its own writer."""

    fields: dict[str, Field | None]
    """Every key in its order. Those that the vocabulary says are None."""
    pre: str | None
    """The name of the pre-tokenizer, of which several may mean the same."""
    types: bytes
    """The types of the tokens."""
    scores: Sequence[float]
    """Their scores, if the file has some."""


def kept(fields: Mapping[str, Field], types: Sequence[int], scores: Sequence[float]) -> Kept:
    """Return what `write` needs to give back the same file."""
    ours = {key for key in fields if key in _OURS or key.startswith(TEMPLATE + ".")}
    rest = {key: None if key in ours else field for key, field in fields.items()}
    pre = fields.get(PRE)
    return Kept(fields=rest, pre=pre.value if pre else None, types=bytes(types), scores=scores)


def model_name(fields: Mapping[str, Field | None]) -> str:
    """Return what the model is called, by which llama.cpp knows some of its habits."""
    field = fields.get(MODEL_NAME)
    return str(field.value) if field is not None and field.type == STRING else ""


def tokens_of(fields: Mapping[str, Field], where: str) -> list[str]:
    """Return the tokens in the order of their ids, once no two are spelled alike."""
    tokens = array(fields, TOKENS, where, items=(STRING,))
    if tokens is None:
        raise ConversionError(f"{where}: {TOKENS} is missing; the file holds no vocabulary")
    ids: dict[str, int] = {}
    for token_id, token in enumerate(tokens):
        if ids.setdefault(token, token_id) != token_id:
            raise ConversionError(
                f"{where}: {TOKENS} {ids[token]} and {token_id} are both {token!r}; tokenizer.json holds a token once"
            )
    return list(tokens)


def types_of(fields: Mapping[str, Field], count: int, where: str) -> list[int]:
    """Return the type of each token; without types all are normal."""
    types = array(fields, TYPES, where, items=(INT32, UINT32), count=count)
    if types is None:
        return [1] * count
    odd = next((place for place, kind in enumerate(types) if not 1 <= kind <= 6), None)
    if odd is not None:
        raise ConversionError(f"{where}: {TYPES} {odd} is {types[odd]}; token types are 1 to 6")
    return list(types)


def array(
    fields: Mapping[str, Field], key: str, where: str, *, items: tuple[int, ...], count: int | None = None
) -> Sequence[Any] | None:
    """Return an array, once its entries have the right type and number; None where there is none."""
    field = fields.get(key)
    if field is None:
        return None
    if field.type != ARRAY or field.item_type not in items:
        raise ConversionError(f"{where}: {key} is no array of the type that it should have")
    if count is not None and len(field.value) != count:
        raise ConversionError(f"{where}: {key} has {len(field.value)} entries for {count} tokens")
    values: Sequence[Any] = field.value
    return values


def switch(fields: Mapping[str, Field], key: str, where: str, *, default: bool) -> bool:
    """Return a switch, or `default` where the file doesn't say."""
    field = fields.get(key)
    if field is None:
        return default
    if field.type != BOOL:
        raise ConversionError(f"{where}: {key} is {field.value!r}; it should be a bool")
    return bool(field.value)


def text(fields: Mapping[str, Field], key: str, where: str) -> str | None:
    """Return a string, or None where there is none."""
    field = fields.get(key)
    if field is not None and field.type != STRING:
        raise ConversionError(f"{where}: {key} is {field.value!r}; it should be a string")
    return None if field is None else str(field.value)


def roles_of(fields: Mapping[str, Field], tokens: Sequence[str], where: str) -> dict[str, str]:
    """Return the tokens that play a role."""
    roles = {}
    for role, key in ROLES.items():
        field = fields.get(key)
        if field is None:
            continue
        if not isinstance(field.value, int) or not 0 <= field.value < len(tokens):
            raise ConversionError(f"{where}: {key} is {field.value!r}, but the ids end at {len(tokens) - 1}")
        roles[role] = tokens[field.value]
    return roles


def chat_template_of(fields: Mapping[str, Field], where: str) -> str | dict[str, str] | None:
    """Return the chat template, or several by name if the file has more than the default one."""
    default = text(fields, TEMPLATE, where)
    named = {
        key.removeprefix(TEMPLATE + "."): str(field.value)
        for key, field in fields.items()
        if key.startswith(TEMPLATE + ".") and field.type == STRING
    }
    if not named:
        return default
    return ({"default": default} if default is not None else {}) | named


def chat_template_fields(template: str | Mapping[str, str] | None) -> dict[str, Field]:
    """Return the keys that `chat_template_of` reads."""
    if template is None:
        return {}
    if isinstance(template, str):
        return {TEMPLATE: Field(template, STRING)}
    named = {name: body for name, body in template.items() if name != "default"}
    fields = {f"{TEMPLATE}.{name}": Field(body, STRING) for name, body in named.items()}
    if named:
        fields[TEMPLATES] = Field(list(named), ARRAY, STRING)
    if "default" in template:
        fields[TEMPLATE] = Field(template["default"], STRING)
    return fields


def write_fields(fields: Mapping[str, Field], path: Path) -> None:
    """Write a file of keys alone, by the `gguf` package.

    Raises:
        ImportError: The package is missing.
    """
    try:
        import gguf
    except ImportError as error:
        raise ImportError("writing GGUF files needs gguf. Install it with `pip install gguf`.") from error
    writer = gguf.GGUFWriter(None, str(fields[ARCHITECTURE].value))
    for key, field in fields.items():
        if key != ARCHITECTURE:
            items = None if field.item_type is None else gguf.GGUFValueType(field.item_type)
            writer.add_key_value(key, field.value, gguf.GGUFValueType(field.type), items)
    writer.write_header_to_file(path)
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    writer.close()
