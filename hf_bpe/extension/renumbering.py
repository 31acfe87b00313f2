"""A tokenizer.json with fewer tokens, whose ids close up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]


def without_tokens(pipeline: Mapping[str, Any], kept: set[str], id_map: Mapping[int, int], prefix: str) -> Json:
    """Return a pipeline whose model has some of its tokens only, under new ids.

    Args:
        pipeline: The parsed `tokenizer.json`. It is not changed.
        kept: The tokens of the model that stay.
        id_map: The new id of each old one that stays, added tokens included.
        prefix: The model's `continuing_subword_prefix`.
    """
    model = dict(pipeline["model"])
    model["vocab"] = {token: id_map[token_id] for token, token_id in model["vocab"].items() if token in kept}
    merges = (pair if isinstance(pair, list) else pair.split(" ") for pair in model["merges"])
    model["merges"] = [
        [left, right]
        for left, right in merges
        if left in kept and right in kept and left + right.removeprefix(prefix) in kept
    ]
    added = [token | {"id": id_map[token["id"]]} for token in pipeline["added_tokens"]]
    return dict(pipeline) | {
        "model": model,
        "added_tokens": added,
        "post_processor": _renumbered(pipeline["post_processor"], id_map),
    }


def _renumbered(post_processor: Any, id_map: Mapping[int, int]) -> Any:
    """Return a post-processor with the new ids of the tokens that it adds."""
    if post_processor is None:
        return None
    changed = dict(post_processor)
    match changed["type"]:
        case "Sequence":
            changed["processors"] = [_renumbered(part, id_map) for part in changed["processors"]]
        case "TemplateProcessing":
            changed["special_tokens"] = {
                name: token | {"ids": [id_map[token_id] for token_id in token["ids"]]}
                for name, token in changed["special_tokens"].items()
            }
        case "RobertaProcessing" | "BertProcessing":
            for name in ("sep", "cls"):
                token, token_id = changed[name]
                changed[name] = [token, id_map[token_id]]
    return changed
