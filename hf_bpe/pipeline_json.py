"""Builds and changes the JSON of a pipeline around a vocabulary that is being trained.

Everything here works on the parsed `tokenizer.json`. No function changes its arguments.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from hf_bpe import split_patterns

Json: TypeAlias = dict[str, Any]


def byte_level_pipeline(split_pattern: str, normalizer: object = None) -> Json:
    """Return a byte-level pipeline without a vocabulary: split by pattern, then bytes.

    Args:
        split_pattern: The name of a published pattern, or a regex.
        normalizer: None, a name such as `"NFC"`, JSON as text or parsed, or a `tokenizers` normalizer.
    """
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    split = {
        "type": "Split",
        "pattern": {"Regex": split_patterns.resolve(split_pattern)},
        "behavior": "Isolated",
        "invert": False,
    }
    return empty_pipeline() | {
        "normalizer": component_json("normalizer", normalizer),
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, byte_level]},
        "post_processor": byte_level,
        "decoder": byte_level,
    }


def empty_pipeline() -> Json:
    """Return a BPE model without a vocabulary, and nothing around it."""
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {},
            "merges": [],
        },
    }


def component_json(name: str, component: object, defaults: Mapping[str, Json] | None = None) -> Json | None:
    """Return the JSON of a component given by name, as JSON, or as an object of `tokenizers`.

    Args:
        name: What it is, as `tokenizer.json` calls it.
        component: None, the name of a kind, JSON as text or parsed, or an object.
        defaults: What a name stands for, where it is more than a kind without settings.

    Raises:
        TypeError: It is none of these.
        ValueError: The text isn't JSON.

    Example:
        >>> component_json("normalizer", "NFC")
        {'type': 'NFC'}
    """
    if component is None:
        return None
    if isinstance(component, Mapping):
        return dict(component)
    if isinstance(component, str) and component.lstrip().startswith("{"):
        try:
            return _object(name, json.loads(component))
        except json.JSONDecodeError as error:
            raise ValueError(f"train(): {name} is not JSON: {error}") from None
    if isinstance(component, str):
        if not component.isprintable():
            raise ValueError(f"{name} is {_AN_EXAMPLE.get(name, 'a name')}, or JSON; got {component!r:.60}")
        return dict((defaults or {}).get(component, {"type": component}))
    if type(component).__module__.startswith("tokenizers"):
        return _object(name, json.loads(component.__getstate__()))  # type: ignore[arg-type]
    raise TypeError(
        f"{name} is {_AN_EXAMPLE.get(name, 'a name')}, JSON, or a tokenizers {name}; got {type(component).__name__}"
    )


_AN_EXAMPLE = {
    "normalizer": "a name such as 'NFC'",
    "pre_tokenizer": "a name such as 'Metaspace'",
    "decoder": "a name such as 'Fuse'",
}


def split_pattern_of(pre_tokenizer: Json | None) -> str | None:
    """Return the regex that cuts text before `ByteLevel`, or None where it isn't one regex that isolates its matches.

    A string to split at counts as the regex of that string. A `ByteLevel` with `use_regex` has GPT-2's pattern.
    """
    steps = _steps(pre_tokenizer)
    bare = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
    if len(steps) == 1 and steps[0]["type"] == "ByteLevel":
        plain = steps[0].get("use_regex", True) and not steps[0].get("add_prefix_space", True)
        return split_patterns.SPLIT_PATTERNS["gpt2"] if plain else None
    if len(steps) != 2 or not bare.items() <= steps[1].items():
        return None
    only = steps[0]
    if only["type"] != "Split" or only.get("invert") or str(only.get("behavior")).lower() != "isolated":
        return None
    pattern = only["pattern"]
    regex: str = pattern["Regex"] if "Regex" in pattern else re.escape(pattern["String"])
    return regex


def last_pattern_of(pre_tokenizer: Json | None) -> str | None:
    """Return the regex of the last `Split`, whatever stands around it."""
    splits = [step for step in _steps(pre_tokenizer) if step["type"] == "Split"]
    patterns = [regex for step in splits if (regex := step["pattern"].get("Regex")) is not None]
    return patterns[-1] if patterns else None


def _steps(pre_tokenizer: Json | None) -> list[Json]:
    if pre_tokenizer is None:
        return []
    if pre_tokenizer["type"] == "Sequence":
        return [step for member in pre_tokenizer["pretokenizers"] for step in _steps(member)]
    return [pre_tokenizer]


def counting_pipeline(pipeline: Json) -> Json:
    """Return the part of `pipeline` that cuts texts for training: no added tokens, no vocabulary, as in stock.

    The decoder is kept, so that one that can't be run is found before the corpus is read.
    """
    return empty_pipeline() | {name: pipeline.get(name) for name in ("normalizer", "pre_tokenizer", "decoder")}


def cut_at_strings(pipeline: Json, strings: Iterable[str]) -> Json:
    """Return `pipeline` with these strings in no pretoken: they are cut out first, the longest where several begin."""
    longest_first = sorted(strings, key=len, reverse=True)
    if not longest_first:
        return pipeline
    pattern = {"Regex": "|".join(map(re.escape, longest_first))}
    split = {"type": "Split", "pattern": pattern, "behavior": "Removed", "invert": False}
    rest = pipeline.get("pre_tokenizer")
    steps = [split] if rest is None else [split, rest]
    return pipeline | {"pre_tokenizer": {"type": "Sequence", "pretokenizers": steps}}


def is_byte_level(pre_tokenizer: Json | None) -> bool:
    """Whether a pre-tokenizer makes bytes of characters: words are then counted as bytes."""
    if pre_tokenizer is None:
        return False
    return pre_tokenizer["type"] == "ByteLevel" or any(map(is_byte_level, pre_tokenizer.get("pretokenizers", ())))


def with_vocabulary(
    pipeline: Json,
    vocab: Sequence[str],
    merges: Iterable[tuple[str, str]],
    special_tokens: Sequence[Json],
    renamed: Mapping[str, str] | None = None,
    affixes: Mapping[str, str | None] | None = None,
) -> Json:
    """Return `pipeline` with a trained vocabulary, and with every id in it looked up anew.

    Args:
        pipeline: The pipeline, of an old vocabulary perhaps.
        vocab: The tokens in the order of their ids.
        merges: The merges in the order of their ranks.
        special_tokens: The added tokens, as in `tokenizer.json` but without ids; a later one wins over an
            earlier one of the same content.
        renamed: New names for special tokens that the pipeline speaks of, by their old names.
        affixes: The affixes that the vocabulary was trained with, by their names in the model.

    Raises:
        ValueError: The post-processor adds a token that isn't in the new vocabulary.
    """
    ids = {token: token_id for token_id, token in enumerate(vocab)}
    renamed = renamed or {}
    by_content = {token["content"]: token for token in special_tokens if token["content"]}
    added = sorted(
        ({"id": ids[content], **token} for content, token in by_content.items()), key=lambda token: token["id"]
    )
    model = pipeline["model"] | {"vocab": ids, "merges": [list(pair) for pair in merges]} | dict(affixes or {})
    if model.get("unk_token") is not None:
        model["unk_token"] = renamed.get(model["unk_token"], model["unk_token"])
    return pipeline | {
        "added_tokens": added,
        "post_processor": _renumbered(pipeline.get("post_processor"), ids, renamed),
        "padding": _renumbered_padding(pipeline.get("padding"), ids, renamed),
        "model": model,
    }


def _object(name: str, value: object) -> Json:
    if not isinstance(value, dict):
        raise TypeError(f"the JSON of a {name} is an object, got {value!r}")
    return value


def _renumbered(post_processor: Json | None, ids: Mapping[str, int], renamed: Mapping[str, str]) -> Json | None:
    if post_processor is None:
        return None
    changed = dict(post_processor)
    if "processors" in changed:
        changed["processors"] = [_renumbered(member, ids, renamed) for member in changed["processors"]]
    if "special_tokens" in changed:
        changed["special_tokens"] = {
            name: _renumbered_special(special, ids, renamed) for name, special in changed["special_tokens"].items()
        }
    for name in ("cls", "sep"):
        if name in changed:
            token = renamed.get(changed[name][0], changed[name][0])
            changed[name] = [token, _id_of(token, ids)]
    return changed


def _renumbered_special(special: Json, ids: Mapping[str, int], renamed: Mapping[str, str]) -> Json:
    tokens = [renamed.get(token, token) for token in special["tokens"]]
    return special | {"tokens": tokens, "ids": [_id_of(token, ids) for token in tokens]}


def _renumbered_padding(padding: Json | None, ids: Mapping[str, int], renamed: Mapping[str, str]) -> Json | None:
    if padding is None:
        return None
    token = renamed.get(padding["pad_token"], padding["pad_token"])
    return padding | {"pad_token": token, "pad_id": ids.get(token, padding["pad_id"])}


def _id_of(token: str, ids: Mapping[str, int]) -> int:
    if token not in ids:
        raise ValueError(f"the post-processor adds {token!r}, which is not a token of the new vocabulary")
    return ids[token]
