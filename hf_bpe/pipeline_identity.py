"""The components of a pipeline in one form each: flat, with defaults filled in, without what can't change ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from hf_bpe.split_patterns import SPLIT_PATTERNS

Json: TypeAlias = dict[str, Any]

_DEFAULTS: Mapping[str, Json] = {
    "ByteLevel": {"use_regex": True},
    "Metaspace": {"prepend_scheme": "always", "split": True},
    "Split": {"invert": False},
}
_WITHOUT_EFFECT: Mapping[str, tuple[str, ...]] = {
    "ByteLevel": ("trim_offsets",),
    "Metaspace": ("str_rep", "add_prefix_space"),
}
_TEXT = "text"


def normalizer_steps(normalizer: Json | None) -> list[Json]:
    """Return what is done to a text, step by step."""
    return _flat(normalizer, "normalizers")


def pre_tokenizer_steps(pre_tokenizer: Json | None) -> list[Json]:
    """Return how a text is cut, step by step. GPT-2's pattern inside `ByteLevel` is a step of its own."""
    return [part for step in _flat(pre_tokenizer, "pretokenizers") for part in _cutting(step)]


def post_processor_steps(post_processor: Json | None) -> list[Json]:
    """Return what is put around the ids of one text, and of two, step by step."""
    steps = [_template(step) for step in _flat(post_processor, "processors") if step["type"] != "ByteLevel"]
    return [step for step in steps if step != {"single": [[_TEXT, "A"]], "pair": [[_TEXT, "A"], [_TEXT, "B"]]}]


def _flat(component: Json | None, members: str) -> list[Json]:
    if component is None:
        return []
    if component["type"] == "Sequence":
        return [step for member in component[members] for step in _flat(member, members)]
    return [component]


def _cutting(step: Json) -> list[Json]:
    kind = step["type"]
    left_out = _WITHOUT_EFFECT.get(kind, ())
    full = {name: value for name, value in (_DEFAULTS.get(kind, {}) | step).items() if name not in left_out}
    if "behavior" in full:
        full["behavior"] = str(full["behavior"]).lower()
    if kind == "ByteLevel" and full["use_regex"] and not full["add_prefix_space"]:
        split = {"type": "Split", "pattern": {"Regex": SPLIT_PATTERNS["gpt2"]}, "behavior": "isolated", "invert": False}
        return [split, full | {"use_regex": False}]
    return [full]


def _template(step: Json) -> Json:
    if step["type"] in ("BertProcessing", "RobertaProcessing"):
        first, last = [step["cls"][1]], [step["sep"][1]]
        between = last if step["type"] == "BertProcessing" else last + last
        text, second = [[_TEXT, "A"]], [[_TEXT, "B"]]
        return {"single": [first, *text, last], "pair": [first, *text, *([token] for token in between), *second, last]}
    if step["type"] != "TemplateProcessing":
        return step
    ids = {name: list(special["ids"]) for name, special in step["special_tokens"].items()}
    return {name: [_piece(piece, ids) for piece in step[name]] for name in ("single", "pair")}


def _piece(piece: Json, ids: Mapping[str, list[int]]) -> list[Any]:
    if "Sequence" in piece:
        return [_TEXT, piece["Sequence"]["id"]]
    name = piece["SpecialToken"]["id"]
    # A name that isn't defined is an error when it is used.
    return ids.get(name, ["undefined", name])
