"""Pins: a file that holds a tokenizer's fingerprint, to fail a build when the tokenizer behind a model changes.

A pin holds the tokenizer itself as well, compressed, so that what changed can be shown; a small one holds only a hash
of each part.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hf_bpe import formats
from hf_bpe.errors import ConversionError
from hf_bpe.fingerprinting import RULES, core_of, fingerprint_of_parts, parts
from hf_bpe.tokenizer import HfBpeTokenizer
from hf_bpe.verification.changes import Changes, changes_between
from hf_bpe.vocabulary import Vocabulary

_KIND = "hf-bpe pin"


@dataclass(frozen=True)
class Pin:
    """What a tokenizer was.

    Attributes:
        fingerprint: Its fingerprint.
        parts: A hash of each part.
        vocabulary: The tokenizer itself, unless the pin is small.
    """

    fingerprint: str
    parts: Mapping[str, str]
    vocabulary: Vocabulary | None = None

    def as_json(self) -> dict[str, Any]:
        """Return what a file holds."""
        data: dict[str, Any] = {"kind": _KIND, "fingerprint": self.fingerprint, "parts": dict(self.parts)}
        if self.vocabulary is not None:
            text = self.vocabulary.core.to_json(pretty=False)
            data["tokenizer"] = base64.b64encode(zlib.compress(text.encode(), 9)).decode("ascii")
        return data


@dataclass(frozen=True)
class PinCheck:
    """Whether a tokenizer is the one of a pin. True in a condition if it is.

    Attributes:
        pinned: The fingerprint of the pin.
        found: The fingerprint of the tokenizer.
        differing: The parts that differ.
        pinned_vocabulary: The tokenizer of the pin, if it holds one.
        vocabulary: The one that was looked at.
    """

    pinned: str
    found: str
    differing: tuple[str, ...]
    pinned_vocabulary: Vocabulary | None
    vocabulary: Vocabulary

    def __bool__(self) -> bool:
        return self.pinned == self.found

    def changes(self) -> Changes | None:
        """Return what changed: tokens, ids, texts; None where the pin doesn't hold the tokenizer."""
        if self.pinned_vocabulary is None:
            return None
        return changes_between(self.pinned_vocabulary, self.vocabulary)


def pin(source: str | Path | HfBpeTokenizer | Vocabulary, *, small: bool = False) -> Pin:
    """Return the pin of a tokenizer.

    Args:
        source: A tokenizer, a tokenizer directory, or a file of any format.
        small: Whether it holds no more than hashes.

    Raises:
        HfBpeError: The files are damaged.
    """
    tokenizer = _read(source)
    digests = parts(tokenizer)
    return Pin(fingerprint_of_parts(digests), digests, None if small else _vocabulary(tokenizer))


def read_pin(path: str | Path) -> Pin:
    """Read the pin in a file.

    Raises:
        ConversionError: The file holds none.
    """
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ConversionError(f"{path} is no pin: it isn't JSON ({error}). hf-bpe pin writes one.") from None
    if not isinstance(data, dict) or data.get("kind") != _KIND:
        raise ConversionError(f"{path} is no pin: it lacks the kind {_KIND!r}. hf-bpe pin writes one.")
    try:
        held = data.get("tokenizer")
        text = None if held is None else zlib.decompress(base64.b64decode(held, validate=True))
        vocabulary = None if text is None else Vocabulary.from_json(text)
        fingerprint, digests = str(data["fingerprint"]), {str(name): str(of) for name, of in data["parts"].items()}
        if fingerprint.startswith(f"{RULES}:") and fingerprint != fingerprint_of_parts(digests):
            raise ValueError("its fingerprint isn't that of its parts")
        return Pin(fingerprint, digests, vocabulary)
    except (KeyError, AttributeError, TypeError, ValueError, zlib.error) as error:
        raise ConversionError(f"{path} is a damaged pin ({type(error).__name__}: {error}). Pin again.") from None


def check_pin(source: str | Path | HfBpeTokenizer | Vocabulary, pinned: Pin) -> PinCheck:
    """Return whether a tokenizer is the one of a pin.

    Args:
        source: A tokenizer, a tokenizer directory, or a file of any format.
        pinned: The pin. One that was made by other rules is made anew from the tokenizer that it holds.

    Raises:
        ConversionError: The pin was made by other rules, and is small.
    """
    tokenizer = _read(source)
    if not pinned.fingerprint.startswith(f"{RULES}:"):
        if pinned.vocabulary is None:
            raise ConversionError(
                f"the pin has the fingerprint {pinned.fingerprint!r:.80}, and this version of hf_bpe makes those that "
                f"begin with '{RULES}:'. Pin again, without --small to have pins that outlive such changes."
            )
        digests = parts(pinned.vocabulary)
        pinned = Pin(fingerprint_of_parts(digests), digests, pinned.vocabulary)
    found = parts(tokenizer)
    differing = tuple(name for name in found if found[name] != pinned.parts.get(name))
    now = fingerprint_of_parts(found)
    return PinCheck(pinned.fingerprint, now, differing, pinned.vocabulary, _vocabulary(tokenizer))


def _read(source: Any) -> HfBpeTokenizer | Vocabulary:
    """Return the tokenizer of a directory as `AutoTokenizer` loads it, or the vocabulary of a file."""
    if not isinstance(source, str | Path):
        core_of(source)
        return source  # type: ignore[no-any-return]
    path = Path(source)
    kind = formats.detect(path)
    if path.is_dir() and kind == "tokenizer_json":
        tokenizer: HfBpeTokenizer = HfBpeTokenizer.from_pretrained(path)
        return tokenizer
    return formats.get(kind).read(path)


def _vocabulary(tokenizer: Any) -> Vocabulary:
    if isinstance(tokenizer, HfBpeTokenizer):
        return tokenizer.vocabulary
    return tokenizer if isinstance(tokenizer, Vocabulary) else Vocabulary(core_of(tokenizer))
