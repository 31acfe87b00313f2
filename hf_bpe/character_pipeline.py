"""Pipelines of character vocabularies: which pre-tokenizer marks the words, and which decoder undoes it.

A vocabulary of characters can be read back as text when something in its tokens says where words begin or end:
`▁` (`Metaspace`), a suffix such as `</w>` or a prefix such as `##`; or when no white space is dropped at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hf_bpe import split_patterns
from hf_bpe.pipeline_json import Json, component_json, empty_pipeline

_METASPACE: Json = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": True}
"""The mark of SentencePiece, put before the first word too, but not once more after each added token in a text."""

_DROPS_SPACES = ("WhitespaceSplit", "Whitespace", "BertPreTokenizer")


def character_pipeline(
    *,
    normalizer: object = None,
    pre_tokenizer: object = None,
    split_pattern: str | None = None,
    decoder: object = None,
    unk_token: str | None = None,
    fuse_unk: bool = False,
    byte_fallback: bool = False,
    continuing_subword_prefix: str | None = None,
    end_of_word_suffix: str | None = None,
) -> Json:
    """Return a pipeline of characters without a vocabulary.

    Without a pre-tokenizer and a pattern, words are cut and marked as SentencePiece does (`Metaspace`), or at white
    space when an affix marks them. Without a decoder, the one that undoes pre-tokenizer and affixes is taken.

    Raises:
        ValueError: The pre-tokenizer and the affix mark words both, or the pre-tokenizer makes bytes.
    """
    affix = continuing_subword_prefix or end_of_word_suffix
    if pre_tokenizer is not None:
        words = component_json("pre_tokenizer", pre_tokenizer, {"Metaspace": _METASPACE})
    elif split_pattern is not None:
        pattern = {"Regex": split_patterns.resolve(split_pattern)}
        words = {"type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": False}
    else:
        words = {"type": "WhitespaceSplit"} if affix else _METASPACE
    steps = list(_steps(words))
    kinds = [step.get("type") for step in steps]
    if "ByteLevel" in kinds:
        raise ValueError("the pre_tokenizer has a ByteLevel, which makes bytes of characters: use alphabet='bytes'")
    if affix and "Metaspace" in kinds:
        raise ValueError(
            f"the pre_tokenizer Metaspace and the affix {affix!r} both mark words: give one of them, "
            "or pre_tokenizer='WhitespaceSplit' with the affix"
        )
    undo = _undoing(steps, prefix=continuing_subword_prefix, suffix=end_of_word_suffix, byte_fallback=byte_fallback)
    pipeline = empty_pipeline()
    return pipeline | {
        "normalizer": component_json("normalizer", normalizer),
        "pre_tokenizer": words,
        "decoder": _in_a_row(undo) if decoder is None else component_json("decoder", decoder),
        "model": pipeline["model"]
        | {
            "unk_token": unk_token,
            "continuing_subword_prefix": continuing_subword_prefix,
            "end_of_word_suffix": end_of_word_suffix,
            "fuse_unk": fuse_unk,
            "byte_fallback": byte_fallback,
        },
    }


def _steps(pre_tokenizer: Json | None) -> Iterator[Json]:
    """Yield the pre-tokenizers in a row that one is made of."""
    if pre_tokenizer is None:
        return
    if "pretokenizers" not in pre_tokenizer:
        yield pre_tokenizer
    for member in pre_tokenizer.get("pretokenizers", ()):
        yield from _steps(member)


def _undoing(steps: list[Json], *, prefix: str | None, suffix: str | None, byte_fallback: bool) -> list[Json]:
    """Return the decoders that make text of tokens, in a row; none where nothing says where words end."""
    bytes_to_text: list[Json] = [{"type": "ByteFallback"}, {"type": "Fuse"}] if byte_fallback else []
    marked = [step for step in steps if step["type"] == "Metaspace"]
    if marked:
        return [marked[-1], *bytes_to_text]
    dropped = any(step["type"] in _DROPS_SPACES or step.get("behavior") == "Removed" for step in steps)
    if not dropped:
        affixes = [_replace({"String": suffix}, "")] if suffix else []
        affixes += [_replace({"Regex": "^" + _escaped(prefix)}, "")] if prefix else []
        # An unknown character is spelled with its suffix, which is whole again only when the bytes are fused.
        return [*bytes_to_text, *affixes] if byte_fallback else [*affixes, {"type": "Fuse"}]
    if suffix and byte_fallback:
        # As above: the suffix can only be looked for in the whole text, and the last one is no space.
        last = _replace({"Regex": _escaped(suffix) + r"\z"}, "")
        return [*bytes_to_text, last, _replace({"String": suffix}, " ")]
    if suffix:
        return [{"type": "BPEDecoder", "suffix": suffix}]
    if prefix:
        return [{"type": "WordPiece", "prefix": prefix, "cleanup": False}]
    return bytes_to_text


def _replace(pattern: dict[str, Any], content: str) -> Json:
    return {"type": "Replace", "pattern": pattern, "content": content}


def _escaped(text: str) -> str:
    r"""Return `text` as a regex that both engines read: each character as `\x{...}`."""
    return "".join(f"\\x{{{ord(char):x}}}" for char in text)


def _in_a_row(decoders: list[Json]) -> Json | None:
    if not decoders:
        return None
    return decoders[0] if len(decoders) == 1 else {"type": "Sequence", "decoders": decoders}
