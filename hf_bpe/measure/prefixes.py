"""`prefix`: what a prefix cache reuses of a log, and what it would gain if fields stood in the order of stability."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from transformers import PreTrainedTokenizerBase

from hf_bpe.chat.prefixes import BREAKS, PrefixReport, prefix_report
from hf_bpe.measure.results import Column, Result, Table, ratio
from hf_bpe.measure.tokens import Measured, measured

BLOCK_SIZE = 16
"""How many tokens a block of vLLM's cache has."""


@dataclass(frozen=True)
class PrefixReuse(Result):
    """What a prefix cache reuses of a log.

    Attributes:
        tokenizer: The tokenizer.
        report: All of it, request by request.
    """

    tokenizer: str
    report: PrefixReport

    @property
    def share(self) -> float:
        """The share of all tokens that are reused, from 0 to 1."""
        return self.report.share

    @property
    def title(self) -> str:
        """What was measured."""
        return f"What a prefix cache reuses in blocks of {self.report.block_size}, {self.tokenizer}"

    def tables(self) -> list[Table]:
        """Return what is reused, and what breaks prefixes."""
        report = self.report
        reused = (Column(report.unit, compared=True), Column("reused", compared=True))
        whole = ("all", len(report.requests), report.tokens, report.reused, report.share)
        columns = [Column("log", "text"), Column("requests"), *reused, Column("share", "share", compared=True)]
        lost = [(f"{kind}: {BREAKS[kind]}", place, tokens) for (kind, place), tokens in report.lost.items()]
        breaks = [
            Column("what breaks prefixes", "text"),
            Column("where", "text"),
            Column("lost", compared=True, counts=True),
        ]
        return [Table("Prefix cache", columns, [whole]), Table("Broken prefixes", breaks, lost, plotted=["lost"])]


def prefix(
    requests: Iterable[Any] | Any,
    *,
    tokenizer: Any = None,
    block_size: int = BLOCK_SIZE,
    name: str | None = None,
) -> PrefixReuse:
    """Return what a prefix cache reuses of a log of requests, and which fields keep it from reusing more.

    Args:
        requests: The log: see `hf_bpe.chat.prefix_report`.
        tokenizer: Encodes texts: of any library. One of transformers renders messages as well. Without one, texts are
            counted in bytes.
        block_size: How many tokens a block of the cache has: 16 in vLLM.
        name: How the tokenizer is named.

    Raises:
        TypeError: `requests` is no log.
        ValueError: A request can't be read.

    Example:
        >>> prefix("requests.jsonl", tokenizer=tokenizer).share
        0.976
    """
    label, reader = log_reader(tokenizer, name)
    return PrefixReuse(label, prefix_report(requests, tokenizer=reader, block_size=block_size))


class _TextsOnly:
    """A tokenizer without chat templates, as a log is read: called as those of transformers are."""

    def __init__(self, tokenizer: Measured) -> None:
        self._tokenizer = tokenizer

    def __call__(self, text: str, **_options: Any) -> dict[str, Any]:
        return {"input_ids": self._tokenizer.encode([text])[0]}


def log_reader(tokenizer: Any, name: str | None) -> tuple[str, Any]:
    """Return the name of a tokenizer, and what reads a log with it. Only those of transformers render messages."""
    if tokenizer is None:
        return name or "no tokenizer", None
    source = measured(tokenizer, name=name)
    return source.name, tokenizer if isinstance(tokenizer, PreTrainedTokenizerBase) else _TextsOnly(source)


@dataclass(frozen=True)
class FieldOrder(Result):
    """What a prefix cache reuses of prompts made of fields, in the order given and in that of stability.

    Attributes:
        tokenizer: The tokenizer.
        given: The fields, as they were given.
        stable: The fields with fewest values first.
        values: How many values each field has.
        before: What is reused in the order given.
        after: What is reused in the order of stability.
    """

    tokenizer: str
    given: Sequence[str]
    stable: Sequence[str]
    values: Mapping[str, int]
    before: PrefixReport
    after: PrefixReport

    @property
    def gain(self) -> float:
        """How much more of all tokens is reused, as a share of them."""
        return self.after.share - self.before.share

    @property
    def title(self) -> str:
        """What was measured."""
        return f"Fields in the order of their stability, {self.tokenizer}"

    def tables(self) -> list[Table]:
        """Return what is reused in both orders, and the fields."""
        orders = (("as given", self.given, self.before), ("stable first", self.stable, self.after))
        rows = [(name, r.tokens, r.reused, ratio(r.reused, r.tokens), ", ".join(fields)) for name, fields, r in orders]
        figures = (Column("tokens", compared=True), Column("reused", compared=True))
        columns = [Column("order", "text"), *figures, Column("share", "share", compared=True), Column("fields", "text")]
        values = [(name, self.values[name]) for name in self.stable]
        return [
            Table("Tokens reused by the order of fields", columns, rows),
            Table("Values of fields", [Column("field", "text"), Column("values")], values),
        ]


def field_order(
    requests: Iterable[Mapping[str, str]],
    *,
    tokenizer: Any = None,
    block_size: int = BLOCK_SIZE,
    separator: str = "\n",
    name: str | None = None,
) -> FieldOrder:
    """Return what a prefix cache would gain if the fields of prompts stood with the most stable first.

    Args:
        requests: The prompts: the text of each field, in the order in which they are written now.
        tokenizer: Encodes the texts. Without one, they are counted in bytes.
        block_size: How many tokens a block of the cache has.
        separator: What stands between two fields.
        name: How the tokenizer is named.

    Raises:
        ValueError: A request lacks a field that another has.

    Example:
        >>> field_order([{"session": "a1", "rules": rules}, {"session": "b2", "rules": rules}]).stable
        ['rules', 'session']
    """
    prompts = [dict(request) for request in requests]
    given = list(prompts[0]) if prompts else []
    for index, prompt in enumerate(prompts):
        if prompt.keys() != set(given):
            raise ValueError(f"request {index} has the fields {list(prompt)}, and the first one has {given}.")
    values = {field: len({prompt[field] for prompt in prompts}) for field in given}
    stable = sorted(given, key=values.__getitem__)
    label, reader = log_reader(tokenizer, name)
    before, after = (
        prefix_report(
            [separator.join(prompt[field] for field in order) for prompt in prompts],
            tokenizer=reader,
            block_size=block_size,
        )
        for order in (given, stable)
    )
    return FieldOrder(label, given, stable, values, before, after)
