"""What makes counts comparable: how texts were normalized and cut."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hf_bpe import pipeline_json
from hf_bpe._native import unicode_versions
from hf_bpe.character_pipeline import CharacterOptions
from hf_bpe.errors import CountsError
from hf_bpe.pipeline_json import Json
from hf_bpe.split_patterns import SPLIT_PATTERNS


@dataclass(frozen=True)
class CountSettings:
    """How texts become pretokens.

    Attributes:
        normalizer: The normalizer, as in `tokenizer.json`.
        pre_tokenizer: The pre-tokenizer, as in `tokenizer.json`.
        max_pretoken_bytes: The length from which pretokens are cut; None for none.
        unicode: The versions of the tables behind normalizer and pre-tokenizer.
    """

    normalizer: Json | None
    pre_tokenizer: Json | None
    max_pretoken_bytes: int | None = None
    unicode: Mapping[str, str] = field(default_factory=unicode_versions)

    @classmethod
    def of_pipeline(cls, pipeline: Mapping[str, Any], max_pretoken_bytes: int | None) -> CountSettings:
        """Return the settings of a parsed `tokenizer.json`."""
        return cls(pipeline.get("normalizer"), pipeline.get("pre_tokenizer"), max_pretoken_bytes)

    @property
    def bytes(self) -> bool:
        """Whether pretokens are bytes, for a vocabulary of bytes; else they are characters."""
        return pipeline_json.is_byte_level(self.pre_tokenizer)

    @property
    def split_pattern(self) -> str | None:
        """The split pattern, where one regex alone cuts: its published name, or itself."""
        pattern = pipeline_json.split_pattern_of(self.pre_tokenizer)
        if pattern is None and self.pre_tokenizer is not None and self.pre_tokenizer["type"] == "Split":
            pattern = self.pre_tokenizer["pattern"].get("Regex")
        names = {regex: name for name, regex in SPLIT_PATTERNS.items()}
        return pattern and names.get(pattern, pattern)

    def check_same(self, other: CountSettings, *, what: str) -> None:
        """Raise unless `other` makes the same pretokens.

        Raises:
            CountsError: It doesn't. The message names both settings, of each that differs.
        """
        mine, others = self._told(), other._told()
        different = [f"{name} {mine[name]} and {others[name]}" for name in mine if mine[name] != others[name]]
        if different:
            raise CountsError(
                f"{what}: they have different settings, {'; '.join(different)}. Count with the same ones."
            )

    def _told(self) -> dict[str, str]:
        cut = "split pattern" if self.split_pattern else "pre_tokenizer"
        told = {
            "pre_tokenizer": _text(self.pre_tokenizer),
            "normalizer": _text(self.normalizer),
            "max_pretoken_bytes": str(self.max_pretoken_bytes),
            "Unicode tables": _text(dict(self.unicode)),
        }
        if cut == "split pattern" and self.pre_tokenizer == _usual(self):
            told["pre_tokenizer"] = f"of the split pattern {self.split_pattern!r}"
        return told


def _usual(settings: CountSettings) -> Json | None:
    """Return the pre-tokenizer that training makes of the split pattern of these settings."""
    pattern = settings.split_pattern
    if pattern is None:
        return None
    if settings.bytes:
        made: Json = pipeline_json.byte_level_pipeline(pattern)["pre_tokenizer"]
        return made
    return CharacterOptions(split_pattern=pattern).pipeline()["pre_tokenizer"]  # type: ignore[no-any-return]


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
