"""A tokenizer.json with fewer tokens, whose ids close up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hf_bpe.extension.derivations import merged

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
        if left in kept and right in kept and merged(left, right, prefix) in kept
    ]
    added = [token | {"id": id_map[token["id"]]} for token in pipeline["added_tokens"]]
    return dict(pipeline) | {
        "model": model,
        "added_tokens": added,
        "post_processor": _renumbered(pipeline["post_processor"], id_map),
    }


def ids_in(post_processor: Any) -> set[int]:
    """Return the ids that a post-processor adds."""
    if post_processor is None:
        return set()
    match post_processor["type"]:
        case "Sequence":
            return set().union(*(ids_in(part) for part in post_processor["processors"]))
        case "TemplateProcessing":
            return {token_id for token in post_processor["special_tokens"].values() for token_id in token["ids"]}
        case "RobertaProcessing" | "BertProcessing":
            return {post_processor[name][1] for name in ("sep", "cls")}
    return set()


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
                name: token | {"ids": [_moved(name, token_id, id_map) for token_id in token["ids"]]}
                for name, token in changed["special_tokens"].items()
            }
        case "RobertaProcessing" | "BertProcessing":
            for name in ("sep", "cls"):
                token, token_id = changed[name]
                changed[name] = [token, _moved(token, token_id, id_map)]
    return changed


def _moved(token: str, token_id: int, id_map: Mapping[int, int]) -> int:
    if token_id not in id_map:
        raise ValueError(
            f"the post-processor adds the id {token_id} for {token!r}, which no token has: it would be that of another "
            "token when ids close up. Give it the id of a token first."
        )
    return id_map[token_id]
