"""Training from several sources: what each weighs, what it is to get, and what it got.

Counts of each source stay apart while merges are learned from their weighted sum, so that the report is exact: it says
how many tokens each source takes, and which source used a token most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import isfinite

from hf_bpe._native import SortedCounts
from hf_bpe.counting_report import CountingReport
from hf_bpe.vocabulary_growth import VocabularyGrowth

_MOST = 2**60
"""How large weighted counts may become together: sums of them stay far from 64 bits."""


@dataclass(frozen=True)
class SourceReport:
    """What one source gave to a training, and what it got.

    Attributes:
        name: Its name.
        texts: How many texts were read.
        bytes: How many bytes its pretokens have, each as often as it was seen: those of its texts, as far as normalizer
            and pre-tokenizer leave them as they are. Of characters, `▁` has one: that of the space it stands for.
        share: The part of the training that it stood for, weights applied.
        tokens: How many tokens of the new vocabulary it takes.
        used_most: How many learned tokens no other source used more.
        quota: The share of the learned tokens that was asked for; None for none.
        missing: How many tokens are missing to that.
        growth: How many tokens it takes with smaller vocabularies: those of the first merges of this training.
        bad_rows: How many rows held no text, and were skipped.
    """

    name: str
    texts: int
    bytes: int
    share: float
    tokens: int
    used_most: int
    quota: float | None = None
    missing: int = 0
    growth: VocabularyGrowth | None = field(default=None, repr=False)
    bad_rows: int = 0

    @property
    def bytes_per_token(self) -> float:
        """How many bytes a token has; nan where there are no tokens."""
        return self.bytes / self.tokens if self.tokens else float("nan")


@dataclass(frozen=True)
class CountedSource:
    """A source that was counted.

    Attributes:
        name: Its name.
        counts: Its pretokens.
        read: What was read.
    """

    name: str
    counts: SortedCounts
    read: CountingReport


@dataclass(frozen=True)
class Balance:
    """How sources count against each other.

    Attributes:
        weights: The share that each is to have, by name, in any unit; None for what they have.
        temperature: Each has the share that its bytes to the power of 1 / `temperature` have; None for what they have.
        quotas: The least share of learned tokens that a source is to use most, by name.
    """

    weights: Mapping[str, float] | None = None
    temperature: float | None = None
    quotas: Mapping[str, float] | None = None

    def check(self, names: Sequence[str]) -> None:
        """Raise where these aren't numbers for these sources.

        Raises:
            ValueError: A name is missing or unknown, a number out of range, or two options contradict each other.
        """
        if self.weights is not None and self.temperature is not None:
            raise ValueError("weights and temperature both say what sources weigh: give one of them")
        if self.temperature is not None and not (isfinite(self.temperature) and self.temperature > 0):
            raise ValueError(f"temperature={self.temperature!r} is out of range; give a number above 0")
        if self.weights is not None and set(self.weights) != set(names):
            raise ValueError(f"weights are for {_listed(self.weights)}, and sources are {_listed(names)}")
        for name, weight in (self.weights or {}).items():
            if not (isfinite(weight) and weight > 0):
                raise ValueError(f"weights: {name!r} has {weight!r}; give a number above 0, or leave the source out")
        quotas = self.quotas or {}
        if unknown := [name for name in quotas if name not in names]:
            raise ValueError(f"quota is for {_listed(unknown)}, and sources are {_listed(names)}")
        if any(not 0 <= share <= 1 for share in quotas.values()) or sum(map(_share, quotas.values())) > 1:
            raise ValueError(f"quota={dict(quotas)!r}: give shares from 0 to 1 that are at most 1 together")

    def shares(self, names: Sequence[str], sizes: Sequence[int]) -> list[Fraction]:
        """Return the part of the training that each source is to have; their sum is 1."""
        if self.weights is not None:
            parts = [_fraction(self.weights[name]) for name in names]
        elif self.temperature is not None:
            largest = max(max(sizes), 1)
            parts = [Fraction((size / largest) ** (1 / self.temperature)) for size in sizes]
        else:
            parts = [Fraction(size) for size in sizes]
        total = sum(parts)
        return [part / total if total else Fraction(0) for part in parts]

    def multipliers(self, names: Sequence[str], sizes: Sequence[int]) -> tuple[list[int], int]:
        """Return what an occurrence in each source counts, as whole numbers, and what stands for 1 among them.

        Without weights each occurrence counts once. With them, the largest power of two stands for 1 with which all
        counts together stay below 2^60, so that rounding is far below any count.

        Example:
            >>> Balance(weights={"a": 1, "b": 1}).multipliers(["a", "b"], [2**57, 2**57])
            ([4, 4], 4)
        """
        if self.weights is None and self.temperature is None:
            return [1] * len(sizes), 1
        total = max(sum(sizes), 1)
        scale = max(1, 2 ** ((_MOST // total).bit_length() - 1))
        shares = zip(self.shares(names, sizes), sizes, strict=True)
        return [max(1, round(share * total * scale / size)) if size else 1 for share, size in shares], scale

    def native_quotas(self, names: Sequence[str]) -> list[tuple[int, int, int]]:
        """Return the quotas as the native side has them: source, numerator, denominator."""
        shares = [(names.index(name), _share(share)) for name, share in (self.quotas or {}).items()]
        return [(source, share.numerator, share.denominator) for source, share in shares]


def _fraction(number: float) -> Fraction:
    """Return a number as the decimal that it prints as: 0.3 is three tenths."""
    return Fraction(str(number))


def _share(number: float) -> Fraction:
    """Return a share as a fraction that native numbers hold."""
    return _fraction(number).limit_denominator(10**12)


def _listed(names: Sequence[str] | Mapping[str, float]) -> str:
    return ", ".join(map(repr, names))
