"""Merges that stand in a file twice: the last counts here and in stock, and a program that counts the first may differ.

A text shows it where one is known: the pair beside a symbol with which one half of it merges in between.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hf_bpe.formats import differences
from hf_bpe.formats.gpt2 import Merge, double_merges
from hf_bpe.linting.report import Finding
from hf_bpe.linting.spelling import text_of
from hf_bpe.vocabulary import Vocabulary


def findings(merges: Sequence[Merge], where: str, vocabulary: Vocabulary | None) -> Iterator[Finding]:
    """Yield each pair that stands there twice.

    Args:
        merges: The pairs as the file has them, each with its place.
        where: How a place is called, with `{}` for the number.
        vocabulary: What was read from the file; None where it can't be loaded, and then no text is sought.
    """
    doubles = double_merges(merges)
    if not doubles:
        return
    first_counts = None if vocabulary is None else _with_first_counting(merges, vocabulary)
    for first, last, pair in doubles:
        spelled = " ".join(pair)
        text = None
        if vocabulary is not None and first_counts is not None:
            between = [other for place, other in merges if first < place < last]
            text = _shown(pair, between, vocabulary, first_counts)
        shown = "" if text is None else f": with the first, {text!r} has other ids"
        message = f"{where.format(last)}, {spelled!r}, stands at {first} already, and the last counts{shown}"
        yield Finding("double-merge", message, token=spelled, text=text)


def _with_first_counting(merges: Sequence[Merge], vocabulary: Vocabulary) -> Vocabulary:
    pairs = list(dict.fromkeys(pair for _, pair in merges))
    vocab = vocabulary.get_vocab(with_added_tokens=False)
    return vocabulary.replace(core=vocabulary.core.with_model(vocab, pairs, vocabulary.ignore_merges))


def _shown(
    pair: tuple[str, str], between: Sequence[tuple[str, str]], vocabulary: Vocabulary, other: Vocabulary
) -> str | None:
    """Return the shortest text found to which the two give other ids: a rival merges a half of `pair` with a third."""
    left, right = pair
    spelled = [rival[0] + left + right for rival in between if rival[1] == left]
    spelled += [left + right + rival[1] for rival in between if rival[0] == right]
    texts = [text for token in spelled if (text := text_of(token, vocabulary)) is not None]
    return differences.find(differences.encoder(vocabulary.core), differences.encoder(other.core), texts)
