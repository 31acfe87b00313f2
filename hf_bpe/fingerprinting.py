"""`fingerprint`: a hash of what decides the ids of a tokenizer, and of nothing else.

What is hashed, part by part: the tokens and their ids; the merges in effect; the added tokens with their flags; the
normalizer, the pre-tokenizer and what the post-processor adds; the model's flags. What can't change an id is left out:
the decoder, chat templates, padding and truncation, trimmed offsets, type ids, names of special tokens by role, the
layout of files, merges that stand twice. Options that a file leaves to their defaults are filled in.

Merges that are proved to join what the ids of the tokens say, as a rank file does, are hashed as just that. So a
vocabulary has one fingerprint as a rank file, where one token has several merges, and as `tokenizer.json`.

Equal fingerprints mean equal ids. Different ones mean that something which may decide ids is different: two pipelines
that say the same in other components are not recognized.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hf_bpe._native import Tokenizer
from hf_bpe.pipeline_identity import normalizer_steps, post_processor_steps, pre_tokenizer_steps
from hf_bpe.tokenizer import HfBpeTokenizer
from hf_bpe.vocabulary import Vocabulary

if TYPE_CHECKING:
    import tokenizers

RULES = "v1"
"""Which rules made a fingerprint. Changed with them, so that another fingerprint is not taken for another tokenizer."""


def fingerprint(tokenizer: HfBpeTokenizer | Vocabulary | tokenizers.Tokenizer) -> str:
    """Return a stable hash of what decides the ids that a tokenizer gives.

    It is the same on every machine, and for the same tokenizer in another format, where that holds all of it.

    Args:
        tokenizer: A tokenizer of hf_bpe or of `tokenizers`, a fast one of `transformers`, or a `Vocabulary`.

    Returns:
        `v1:` and 64 hexadecimal digits.

    Raises:
        TypeError: It is another object.

    Example:
        >>> fingerprint(tokenizer)
        'v1:5c7e6087c1bbfa6bb13feab045a0235bde1cf341cea2319090718a3bd79058f2'
    """
    return fingerprint_of_parts(parts(tokenizer))


def fingerprint_of_parts(digests: Mapping[str, str]) -> str:
    """Return the fingerprint of a tokenizer by the digests of its parts."""
    return f"{RULES}:{_digest(dict(digests))}"


def parts(tokenizer: HfBpeTokenizer | Vocabulary | tokenizers.Tokenizer) -> dict[str, str]:
    """Return a hash of each part, to say which one differs."""
    core, splits_special_tokens = _core_of(tokenizer)
    settings = core.model_settings()
    merges = _merges(core, settings)
    found = {
        "vocabulary": _vocab(core, merges, settings),
        "merges": merges,
        "added_tokens": sorted([token_id, *flags] for token_id, flags in core.added_tokens()),
        "normalizer": normalizer_steps(_parsed(core.component("normalizer"))),
        "pre_tokenizer": pre_tokenizer_steps(_parsed(core.component("pre_tokenizer"))),
        "post_processor": post_processor_steps(_parsed(core.component("post_processor"))),
        "settings": _settings(core, settings, merges) | {"split_special_tokens": splits_special_tokens},
    }
    return {name: _digest(value) for name, value in found.items()}


def core_of(tokenizer: Any) -> Tokenizer:
    """Return the core of a tokenizer of any kind that `fingerprint` takes."""
    return _core_of(tokenizer)[0]


def _core_of(tokenizer: Any) -> tuple[Tokenizer, bool]:
    if isinstance(tokenizer, HfBpeTokenizer):
        return tokenizer._core, bool(tokenizer.split_special_tokens)
    if isinstance(tokenizer, Vocabulary):
        settings = tokenizer.details.get("transformers")
        return tokenizer.core, isinstance(settings, Mapping) and bool(settings.get("split_special_tokens"))
    if isinstance(tokenizer, Tokenizer):
        return tokenizer, False
    inner = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if type(inner).__module__.split(".")[0] == "tokenizers":
        return Tokenizer.from_json(inner.to_str()), bool(getattr(tokenizer, "split_special_tokens", False))
    raise TypeError(
        f"fingerprint() takes a tokenizer of hf_bpe, tokenizers or transformers (a fast one), or a Vocabulary, "
        f"got {type(tokenizer).__name__}"
    )


def _merges(core: Tokenizer, settings: Mapping[str, Any]) -> Any:
    """Return the merges in effect, or whether a look-up of whole pretokens goes before ranks that stand for them."""
    if core.is_byte_level and not any(settings[name] for name in ("dropout", *_AFFIXES)):
        try:
            verdict, _, dead = core.agreement_with_ranks()
        except ValueError:
            verdict, dead = "unproved", []
        if verdict == "equal":
            return {"by_rank": True, "whole_pretokens": bool(dead) and settings["ignore_merges"]}
    # Of a merge that stands twice the last one counts.
    kept = dict.fromkeys(reversed(core.merges()))
    return list(reversed(kept))  # as JSON, pairs and lists are the same


def _vocab(core: Tokenizer, merges: Any, settings: Mapping[str, Any]) -> dict[str, int]:
    """Return the ids of tokens, without those of added tokens that the model itself never makes.

    Some formats list these in the vocabulary too, some don't.
    """
    vocab = core.get_vocab(with_added_tokens=False)
    added = {flags[0] for _, flags in core.added_tokens()}
    looks_up = settings["ignore_merges"] and not (isinstance(merges, dict) and not merges["whole_pretokens"])
    if looks_up or any(settings[name] for name in _AFFIXES) or not added & vocab.keys():
        return vocab
    made = {left + right for left, right in core.merges()} | _BYTE_TOKENS | {settings["unk_token"]}
    return {
        token: token_id for token, token_id in vocab.items() if token not in added or len(token) == 1 or token in made
    }


def _settings(core: Tokenizer, settings: Mapping[str, Any], merges: Any) -> dict[str, Any]:
    unknown = settings["unk_token"]
    has_bytes = any(core.token_to_id(token) is not None for token in _BYTE_TOKENS)
    return {
        **{name: settings[name] or None for name in _AFFIXES},
        "unk": None if unknown is None else core.token_to_id(unknown),
        "fuse_unk": unknown is not None and settings["fuse_unk"],
        "byte_fallback": has_bytes and settings["byte_fallback"],
        "dropout": [settings["dropout"], core.dropout_seed] if settings["dropout"] else None,
        # With ranks, it is said there.
        "ignore_merges": settings["ignore_merges"] and not isinstance(merges, dict),
    }


_BYTE_TOKENS = {f"<0x{byte:02X}>" for byte in range(256)}
_AFFIXES = ("continuing_subword_prefix", "end_of_word_suffix")


def _parsed(component: str | None) -> Any:
    return None if component is None else json.loads(component)


def _digest(value: object) -> str:
    text = json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()
