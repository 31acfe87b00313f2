"""Pipelines of character vocabularies: which pre-tokenizer marks the words, and which decoder undoes it.

A vocabulary of characters can be read back as text when something in its tokens says where words begin or end:
`▁` (`Metaspace`), a suffix such as `</w>` or a prefix such as `##`; or when no white space is dropped at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hf_bpe import split_patterns
from hf_bpe.pipeline_json import Json, component_json, empty_pipeline

_METASPACE: Json = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": True}
"""The mark of SentencePiece, put before the first word too, but not once more after each added token in a text."""

_DROPS_SPACES = ("WhitespaceSplit", "Whitespace", "BertPreTokenizer")


@dataclass(frozen=True)
class CharacterOptions:
    """What `train` is told that means something for vocabularies of characters.

    Attributes:
        split_pattern: The name of a published pattern, or a regex.
        pre_tokenizer: Instead of a pattern: a name, JSON, or a pre-tokenizer of `tokenizers`.
        decoder: A name, JSON, or a decoder of `tokenizers`; None for the one that undoes the pre-tokenizer.
        unk_token: The token for unknown characters.
        fuse_unk: Whether unknown characters in a row become one token.
        byte_fallback: Whether unknown characters are spelled by their bytes.
        continuing_subword_prefix: What each symbol but the first of a word carries.
        end_of_word_suffix: What the last symbol of a word carries.
        initial_alphabet: Characters that are tokens in any case.
        limit_alphabet: How many characters are tokens at most.
    """

    split_pattern: str | None = None
    pre_tokenizer: object = None
    decoder: object = None
    unk_token: str | None = None
    fuse_unk: bool = False
    byte_fallback: bool = False
    continuing_subword_prefix: str | None = None
    end_of_word_suffix: str | None = None
    initial_alphabet: Sequence[str] | None = None
    limit_alphabet: int | None = None

    def check_for_bytes(self) -> None:
        """Raise for settings that mean nothing in a vocabulary of bytes.

        Raises:
            ValueError: One is given.
        """
        for name, value in vars(self).items():
            if name not in ("split_pattern", "unk_token") and value is not None and value is not False:
                raise ValueError(
                    f"{name}={value!r} is for alphabet='characters'; a vocabulary of bytes has all 256 of them, "
                    "and split_pattern cuts its words"
                )

    def check(self) -> None:
        """Raise for settings that make no sense together.

        Raises:
            ValueError: Two settings contradict each other, or an affix is empty.
        """
        for name in ("continuing_subword_prefix", "end_of_word_suffix"):
            if getattr(self, name) == "":
                raise ValueError(f"{name} is empty; leave it out to have none")
        if self.continuing_subword_prefix and self.end_of_word_suffix:
            raise ValueError(
                "continuing_subword_prefix and end_of_word_suffix both tell words apart, and no decoder takes off "
                "both: give one of them"
            )
        if self.continuing_subword_prefix and self.byte_fallback:
            raise ValueError(
                "byte_fallback=True spells an unknown character with its continuing_subword_prefix, which no decoder "
                "takes off again: use end_of_word_suffix, or neither"
            )
        if self.split_pattern is not None and self.pre_tokenizer is not None:
            raise ValueError("split_pattern and pre_tokenizer both cut texts into words: give one of them")
        if self.fuse_unk and self.unk_token is None:
            raise ValueError("fuse_unk=True joins unknown tokens: give an unk_token")
        initial = len(self.initial_alphabet or ())
        if self.limit_alphabet is not None and self.limit_alphabet < initial:
            raise ValueError(
                f"limit_alphabet={self.limit_alphabet} is less than the {initial} characters of initial_alphabet, "
                "which always count"
            )

    def pipeline(self, normalizer: object = None) -> Json:
        """Return a pipeline without a vocabulary.

        Without a pre-tokenizer and a pattern, words are cut and marked as SentencePiece does (`Metaspace`), or at
        white space when an affix marks them. Without a decoder, the one that undoes pre-tokenizer and affix is taken.

        Raises:
            ValueError: The pre-tokenizer and the affix mark words both, or the pre-tokenizer makes bytes.
        """
        words = self._words()
        steps = list(_steps(words))
        self._check_steps([step.get("type") for step in steps])
        pipeline = empty_pipeline()
        names = ("unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk", "byte_fallback")
        return pipeline | {
            "normalizer": component_json("normalizer", normalizer),
            "pre_tokenizer": words,
            "decoder": component_json("decoder", self.decoder) or _in_a_row(self._undoing(steps)),
            "model": pipeline["model"] | {name: getattr(self, name) for name in names},
        }

    def _words(self) -> Json | None:
        """Return the pre-tokenizer."""
        if self.pre_tokenizer is not None:
            return component_json("pre_tokenizer", self.pre_tokenizer, {"Metaspace": _METASPACE})
        if self.split_pattern is not None:
            pattern = {"Regex": split_patterns.resolve(self.split_pattern)}
            return {"type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": False}
        return {"type": "WhitespaceSplit"} if self._affix else _METASPACE

    @property
    def _affix(self) -> str | None:
        return self.continuing_subword_prefix or self.end_of_word_suffix

    def _check_steps(self, kinds: list[str | None]) -> None:
        if "ByteLevel" in kinds:
            raise ValueError("the pre_tokenizer has a ByteLevel, which makes bytes of characters: use alphabet='bytes'")
        if self._affix and "Metaspace" in kinds:
            raise ValueError(
                f"the pre_tokenizer Metaspace and the affix {self._affix!r} both mark words: give one of them, "
                "or pre_tokenizer='WhitespaceSplit' with the affix"
            )

    def _undoing(self, steps: list[Json]) -> list[Json]:
        """Return the decoders that make text of tokens, in a row; none where nothing says where words end."""
        prefix, suffix = self.continuing_subword_prefix, self.end_of_word_suffix
        bytes_to_text: list[Json] = [{"type": "ByteFallback"}, {"type": "Fuse"}] if self.byte_fallback else []
        marked = [step for step in steps if step.get("type") == "Metaspace"]
        if marked:
            return [marked[-1], *bytes_to_text]
        if not any(step.get("type") in _DROPS_SPACES or step.get("behavior") == "Removed" for step in steps):
            affixes = [_replace({"String": suffix}, "")] if suffix else []
            affixes += [_replace({"Regex": "^" + _escaped(prefix)}, "")] if prefix else []
            # An unknown character is spelled with its suffix, which is whole again only when the bytes are fused.
            return [*bytes_to_text, *affixes] if self.byte_fallback else [*affixes, {"type": "Fuse"}]
        if suffix and self.byte_fallback:
            # As above: the suffix can only be looked for in the whole text, and the last one is no space.
            last = _replace({"Regex": _escaped(suffix) + r"\z"}, "")
            return [*bytes_to_text, last, _replace({"String": suffix}, " ")]
        if suffix:
            return [{"type": "BPEDecoder", "suffix": suffix}]
        if prefix:
            return [{"type": "WordPiece", "prefix": prefix, "cleanup": False}]
        return bytes_to_text


def _steps(pre_tokenizer: Json | None) -> Iterator[Json]:
    """Yield the pre-tokenizers in a row that one is made of."""
    if pre_tokenizer is None:
        return
    if "pretokenizers" not in pre_tokenizer:
        yield pre_tokenizer
    for member in pre_tokenizer.get("pretokenizers", ()):
        yield from _steps(member)


def _replace(pattern: dict[str, Any], content: str) -> Json:
    return {"type": "Replace", "pattern": pattern, "content": content}


def _escaped(text: str) -> str:
    r"""Return `text` as a regex that both engines read: each character as `\x{...}`."""
    return "".join(f"\\x{{{ord(char):x}}}" for char in text)


def _in_a_row(decoders: list[Json]) -> Json | None:
    if not decoders:
        return None
    return decoders[0] if len(decoders) == 1 else {"type": "Sequence", "decoders": decoders}
