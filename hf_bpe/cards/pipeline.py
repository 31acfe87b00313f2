"""What a card says of the steps from a text to ids."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hf_bpe._native import Tokenizer
from hf_bpe.cards import markdown
from hf_bpe.cards.unicode_versions import compositions_of, letters_of
from hf_bpe.pipeline_identity import normalizer_steps, pre_tokenizer_steps
from hf_bpe.split_patterns import SPLIT_PATTERNS

_COMPOSING = {"NFC", "NFD", "NFKC", "NFKD"}


def pipeline(core: Tokenizer) -> Iterator[str]:
    """Yield the sections on normalizer, split pattern, Unicode and ties."""
    normalizer = normalizer_steps(_parsed(core.component("normalizer")))
    yield "## Normalizer"
    yield _listed(normalizer) if normalizer else "None: a text is encoded as it is."
    yield "## Split pattern"
    yield from _split(pre_tokenizer_steps(_parsed(core.component("pre_tokenizer"))))
    yield "## Unicode versions"
    yield from _unicode(core, {str(step["type"]) for step in normalizer})
    yield "## Ties"
    yield (
        "In encoding, the pair whose merge comes first in the list is joined first, and of equal pairs the leftmost. "
        "hf_bpe trains as `tokenizers` does: the pair that occurs most often is merged first, and of pairs that occur "
        "equally often the one with the lowest ids."
    )


def _split(steps: list[dict[str, Any]]) -> Iterator[str]:
    if not steps:
        yield "None: merges may join anything."
        return
    for step in steps:
        pattern = step.get("pattern")
        if isinstance(pattern, dict) and "Regex" in pattern:
            names = [name for name, known in SPLIT_PATTERNS.items() if known == pattern["Regex"]]
            named = f", which is that of {' and '.join(map(markdown.code, names))}" if names else ""
            yield f"Texts are cut by a regex (behavior {markdown.code(str(step['behavior']))}){named}:"
            yield markdown.block(pattern["Regex"])
        else:
            yield _listed([step])


def _unicode(core: Tokenizer, normalizers: set[str]) -> Iterator[str]:
    letters, compositions = letters_of(core), compositions_of(core)
    if letters is None:
        yield "Words are not cut by classes of characters."
    else:
        yield f"Letters are those of Unicode {letters}: characters that later versions added are cut off from words."
    if compositions is None or not normalizers & _COMPOSING:
        yield "Characters are not composed or decomposed."
    else:
        known, unknown = compositions
        yield (
            f"Characters are composed and decomposed by tables that know what Unicode {known} added, and not what "
            f"{unknown} did: those of `tokenizers`."
        )


def _listed(steps: list[dict[str, Any]]) -> str:
    return "\n".join(f"- {markdown.code(json.dumps(step, ensure_ascii=False))}" for step in steps)


def _parsed(component: str | None) -> Any:
    return None if component is None else json.loads(component)
