"""What is known of a batch of texts before any tokenizer reads it: found once, however many are measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hf_bpe.characters import scripts_of
from hf_bpe.measure.kinds import kinds_of
from hf_bpe.measure.tokens import Counts
from hf_bpe.measure.words import WordRule, Words

Label = Callable[[str], str]


@dataclass(frozen=True)
class Labels:
    """A label for each text.

    Attributes:
        names: The labels that there are.
        codes: Which of them each text has.
    """

    names: Sequence[str]
    codes: NDArray[np.int64]


@dataclass(frozen=True)
class Facts:
    """What is known of a batch of texts.

    Attributes:
        characters: How many code points each text has.
        bytes: How many bytes, as UTF-8.
        words: The words.
        scripts: The script of each text.
        kinds: The kind of content of each.
    """

    characters: Counts
    bytes: Counts
    words: Words
    scripts: Labels
    kinds: Labels


def facts_of(texts: Sequence[str], words: WordRule, script_of: Label | None, kind_of: Label | None) -> Facts:
    """Return what is known of texts.

    Args:
        texts: The texts.
        words: Cuts a text into words.
        script_of: Tells the script of a text, in place of the rule of this package.
        kind_of: Tells the kind of a text, likewise.
    """
    scripts = scripts_of(texts) if script_of is None else [script_of(text) for text in texts]
    kinds: Sequence[str] = kinds_of(texts) if kind_of is None else [kind_of(text) for text in texts]
    sizes = (len(text.encode("utf-8", "surrogatepass")) for text in texts)
    return Facts(
        np.fromiter(map(len, texts), np.int64, len(texts)),
        np.fromiter(sizes, np.int64, len(texts)),
        Words.of(texts, words),
        _labels(scripts),
        _labels(kinds),
    )


def _labels(labels: Sequence[str]) -> Labels:
    codes = {name: code for code, name in enumerate(dict.fromkeys(map(str, labels)))}
    return Labels(list(codes), np.fromiter((codes[str(label)] for label in labels), np.int64, len(labels)))
