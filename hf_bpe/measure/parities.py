"""`parity`: how many more tokens the same text takes in one language than in another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hf_bpe.measure.results import Column, Result, Table, ratio
from hf_bpe.measure.tokens import measured
from hf_bpe.verification.changes import SAMPLES

PARALLEL: Mapping[str, Sequence[str]] = {name: [text] for name, text in SAMPLES.items() if name != "Python"}
"""The first sentence of the Universal Declaration of Human Rights. One sentence is an indication, not more."""


@dataclass(frozen=True)
class Parity(Result):
    """The tokens of the same texts in several languages.

    Attributes:
        tokenizer: The tokenizer.
        reference: The language that others are compared with.
        tokens: How many tokens each language takes.
    """

    tokenizer: str
    reference: str
    tokens: Mapping[str, int]

    def premium(self, language: str) -> float | None:
        """Return how many tokens a language takes for each of the reference. None where that has none."""
        return ratio(self.tokens[language], self.tokens[self.reference])

    @property
    def title(self) -> str:
        """What was measured."""
        return f"The same text in several languages, {self.tokenizer}"

    def tables(self) -> list[Table]:
        """Return a row for each language, the cheapest first."""
        factor = Column(f"times {self.reference}", "number", compared=True)
        columns = [Column("language", "text"), Column("tokens", compared=True), factor]
        ordered = sorted(self.tokens.items(), key=lambda item: item[1])
        rows = [(name, count, self.premium(name)) for name, count in ordered]
        return [Table("Tokens of parallel text", columns, rows, plotted=[factor.name])]


def parity(
    tokenizer: Any,
    texts: Mapping[str, Sequence[str]] = PARALLEL,
    *,
    reference: str = "English",
    name: str | None = None,
) -> Parity:
    """Count the tokens of the same texts in several languages.

    Args:
        tokenizer: A tokenizer of any library, or the path of one.
        texts: The texts of each language; the n-th of each means the same.
        reference: The language that others are compared with.
        name: How the tokenizer is named.

    Raises:
        TypeError: `texts` is no dict.
        ValueError: The reference isn't among them, or the languages don't have the same number of texts.

    Example:
        >>> parity(tokenizer, {"English": english, "Thai": thai}).premium("Thai")
        2.4
    """
    if not isinstance(texts, Mapping):
        raise TypeError(f"texts is a dict of texts by language, got {type(texts).__name__}")
    if reference not in texts:
        raise ValueError(f"reference={reference!r} is none of the languages given: {', '.join(map(repr, texts))}.")
    for language, members in texts.items():
        if isinstance(members, str) or len(members) != len(texts[reference]):
            count = "a str" if isinstance(members, str) else f"{len(members):,} texts"
            wanted = f"{reference!r} {len(texts[reference]):,}"
            raise ValueError(f"{language!r} has {count}, and {wanted}: parallel texts come in equal numbers.")
    source = measured(tokenizer, name=name)
    counts = {language: int(source.lengths(list(members)).sum()) for language, members in texts.items()}
    return Parity(source.name, reference, counts)
