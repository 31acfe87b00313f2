"""`numbers`: into which pieces a vocabulary cuts numbers. One number cut in two ways is hard to learn to count with."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from hf_bpe.measure.results import Cell, Column, Result, Table, ratio
from hf_bpe.measure.tokens import Measured, measured

Shape = tuple[int, ...]

_LONGEST = 9
_SAMPLE = 1_000
_SEED = 20_240
_FORMS = {"leading space": " {}", "minus": "-{}", "plus": "+{}", "behind a comma": ",{}", "behind a point": ".{}"}
_SHOWN = 5


def grouped(digits: str, size: int = 3, *, start: Literal["left", "right"] = "right") -> list[str]:
    """Return digits in groups of one size, counted from the left or from the right.

    Example:
        >>> grouped("1234567")
        ['1', '234', '567']
    """
    if size < 1:
        raise ValueError(f"size={size}: a group has at least 1 digit.")
    first = len(digits) % size if start == "right" else 0
    cuts = [0, *range(first or size, len(digits), size), len(digits)]
    return [digits[low:high] for low, high in pairwise(cuts) if low < high]


def spelled(shape: Shape) -> str:
    """Return a way to split as text: the number of digits of each piece, such as `"1-3-3"`."""
    return "-".join(map(str, shape)) or "no digit is known"


@dataclass(frozen=True)
class NumberLength:
    """How numbers of one length are split.

    Attributes:
        digits: How many digits they have.
        ways: Each way to split, by the lengths of the pieces, with how many numbers are split so.
        same: In how many the digits are split the same in each of some surroundings, by surroundings.
    """

    digits: int
    ways: Mapping[Shape, int]
    same: Mapping[str, int]

    @property
    def numbers(self) -> int:
        """How many numbers were tried."""
        return sum(self.ways.values())

    @property
    def pieces(self) -> float | None:
        """Into how many pieces a number is cut, on average."""
        return ratio(sum(len(shape) * count for shape, count in self.ways.items()), self.numbers)

    @property
    def at_place_value(self) -> float | None:
        """The share of numbers that are cut before thousands, millions and so on, and nowhere else."""
        return ratio(self._count("right"), self.numbers)

    @property
    def grouping(self) -> str:
        """How the numbers are cut: `"whole"`, `"digits"`, `"right"` or `"left"` in threes, else `"mixed"`."""
        if self.ways.keys() == {(self.digits,)}:
            return "whole"
        if self.ways.keys() == {(1,) * self.digits}:
            return "digits"
        return next((start for start in ("right", "left") if self._count(start) == self.numbers), "mixed")

    def _count(self, start: str) -> int:
        groups = grouped("0" * self.digits, start="left" if start == "left" else "right")
        return self.ways.get(tuple(map(len, groups)), 0)


@dataclass(frozen=True)
class Numbers(Result):
    """How numbers are split, by their length.

    Attributes:
        tokenizer: The tokenizer.
        lengths: The numbers of each length.
    """

    tokenizer: str
    lengths: Sequence[NumberLength]

    @property
    def pieces(self) -> float | None:
        """Into how many pieces a number is cut, on average over all that were tried."""
        total = sum(length.numbers for length in self.lengths)
        pieces = sum(len(shape) * count for length in self.lengths for shape, count in length.ways.items())
        return ratio(pieces, total)

    @property
    def title(self) -> str:
        """What was measured."""
        return f"How numbers are split, {self.tokenizer}"

    def tables(self) -> list[Table]:
        """Return a row for each length."""
        columns = [
            *(Column("digits", "text"), Column("numbers"), Column("ways", compared=True)),
            *(Column("pieces", "number", compared=True), Column("at place value", "share", compared=True)),
            *(Column("groups", "text"), Column("most common ways", "text")),
        ]
        same = [Column(f"same: {form}", "share", compared=True) for form in _FORMS]
        rows = [self._row(length) for length in self.lengths]
        keyed = [Column("digits", "text"), *same]
        surroundings = [[str(length.digits), *_shares(length)] for length in self.lengths]
        return [
            Table("Numbers by their length", columns, rows, plotted=["ways"]),
            Table("Numbers that are split as when they stand alone", keyed, surroundings),
        ]

    def _row(self, length: NumberLength) -> list[Cell]:
        common = sorted(length.ways.items(), key=lambda item: (-item[1], item[0]))[:_SHOWN]
        ways = ", ".join(spelled(shape) for shape, _ in common) + (", …" if len(length.ways) > _SHOWN else "")
        figures = (length.numbers, len(length.ways), length.pieces, length.at_place_value)
        return [str(length.digits), *figures, length.grouping, ways]

    def __getitem__(self, digits: int) -> NumberLength:
        by_digits = {length.digits: length for length in self.lengths}
        if digits not in by_digits:
            raise KeyError(
                f"no number of {digits!r} digits was tried; the lengths are {', '.join(map(str, by_digits))}."
            )
        return by_digits[digits]


def numbers(
    tokenizer: Any,
    given: Iterable[str | int] | None = None,
    *,
    sample: int = _SAMPLE,
    name: str | None = None,
) -> Numbers:
    """Return how numbers of 1 to 9 digits are split: in how many ways, and whether at place value.

    Args:
        tokenizer: A tokenizer of any library, or the path of one.
        given: The numbers to try. By default all of up to three digits, and a fixed sample of longer ones.
        sample: How many numbers of each length are tried, at most.
        name: How the tokenizer is named.

    Raises:
        ValueError: A given number isn't written in the digits 0 to 9, or `sample` isn't positive.

    Example:
        >>> numbers(tokenizer)[4].ways
        {(3, 1): 1000}
    """
    if sample < 1:
        raise ValueError(f"sample={sample}: at least 1 number of each length is tried.")
    source = measured(tokenizer, name=name)
    by_length: dict[int, list[str]] = {}
    for number in _some(sample) if given is None else map(str, given):
        if not (number.isascii() and number.isdigit()):
            raise ValueError(f"{number!r} is no number in the digits 0 to 9.")
        by_length.setdefault(len(number), []).append(number)
    return Numbers(source.name, [_of_length(source, *item) for item in sorted(by_length.items())])


def _some(sample: int) -> Iterator[str]:
    rng = random.Random(_SEED)
    for digits in range(1, _LONGEST + 1):
        low, high = (10 ** (digits - 1) if digits > 1 else 0), 10**digits
        numbers = range(low, high) if high - low <= sample else sorted(rng.sample(range(low, high), sample))
        yield from map(str, numbers)


def _of_length(tokenizer: Measured, digits: int, members: Sequence[str]) -> NumberLength:
    alone = _shapes(tokenizer, members, "{}")
    same = {}
    for form_name, form in _FORMS.items():
        pairs = zip(alone, _shapes(tokenizer, members, form), strict=True)
        same[form_name] = sum(one == other for one, other in pairs)
    return NumberLength(digits, dict(Counter(alone)), same)


def _shares(length: NumberLength) -> list[Cell]:
    return [ratio(length.same[form], length.numbers) for form in _FORMS]


def _shapes(tokenizer: Measured, numbers: Sequence[str], form: str) -> list[Shape]:
    """Return how many digits each piece of each number has; a piece without a digit, such as a space, has no part."""
    ids, lengths = tokenizer.encode([form.format(number) for number in numbers])
    digits = [_digits(tokenizer.token_bytes.get(id, b"")) for id in ids.tolist()]
    shapes, start = [], 0
    for length in lengths.tolist():
        shapes.append(tuple(count for count in digits[start : start + length] if count))
        start += length
    return shapes


def _digits(token: bytes) -> int:
    return sum(byte in b"0123456789" for byte in token)
