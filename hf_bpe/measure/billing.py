"""`bill`: the tokens and the price of texts, bucket by bucket, and how wrong another tokenizer's estimate would be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hf_bpe.chat.prefixes.requests import Request, read_requests
from hf_bpe.measure.prefixes import log_reader
from hf_bpe.measure.results import TOTAL, Column, Result, Table, beside_total, change
from hf_bpe.measure.texts import batches
from hf_bpe.measure.tokens import measured

_MILLION = 1_000_000
_HIGHEST_PRICE = 10**15  # above it sums would be infinite, or too wide for a table


@dataclass(frozen=True)
class Item:
    """What is paid for one bucket.

    Attributes:
        texts: How many texts it has.
        tokens: How many tokens they take.
        price_per_million: What a million tokens costs.
    """

    texts: int
    tokens: int
    price_per_million: float

    @property
    def price(self) -> float:
        """What its tokens cost."""
        return self.tokens * self.price_per_million / _MILLION


@dataclass(frozen=True)
class Bill(Result):
    """The tokens and the price of texts.

    Attributes:
        tokenizer: The tokenizer.
        items: What each bucket costs.
        currency: How amounts are named.
    """

    tokenizer: str
    items: Mapping[str, Item]
    currency: str = ""

    @property
    def tokens(self) -> int:
        """All tokens."""
        return sum(item.tokens for item in self.items.values())

    @property
    def price(self) -> float:
        """What all of it costs."""
        return sum(item.price for item in self.items.values())

    @property
    def title(self) -> str:
        """What was measured."""
        return f"The bill, {self.tokenizer}"

    def error_of(self, estimate: Bill) -> dict[str, float | None]:
        """Return by which share an estimate misses this bill: for each bucket, and for `"all"`.

        A bucket that is itself named `"all"` is `"'all'"` here.

        Above 0 the estimate is too high. None where this bill has no token.
        """
        tokens = {name: item.tokens for name, item in self.items.items()}
        estimated = {name: estimate.items[name].tokens if name in estimate.items else 0 for name in tokens}
        errors = {beside_total(name): change(tokens[name], estimated[name]) for name in tokens}
        return errors | {TOTAL: change(self.tokens, estimate.tokens)}

    def tables(self) -> list[Table]:
        """Return a row for each bucket, and one for all."""
        rows = [(beside_total(name), item.texts, item.tokens, item.price) for name, item in self.items.items()]
        texts = sum(item.texts for item in self.items.values())
        price = Column(f"price, {self.currency}" if self.currency else "price", "number", compared=True, counts=True)
        columns = [Column("bucket", "text"), Column("texts"), Column("tokens", compared=True, counts=True), price]
        return [Table("Bill", columns, [*rows, (TOTAL, texts, self.tokens, self.price)], plotted=["tokens"])]


def bill(
    tokenizer: Any,
    texts: Any,
    *,
    price_per_million: float | Mapping[str, float],
    bucket_of: Callable[[str], str] | None = None,
    currency: str = "",
    text_column: str = "text",
    name: str | None = None,
) -> Bill:
    """Count the tokens of texts, bucket by bucket, and what they cost.

    Args:
        tokenizer: A tokenizer of any library, or the path of one.
        texts: Texts, as `fertility` takes them: a mapping names the buckets.
        price_per_million: What a million tokens costs, for all or by bucket.
        bucket_of: Tells the bucket of a text. By default it is where the text is from.
        currency: How amounts are named.
        text_column: The column with the text, in rows.
        name: How the tokenizer is named.

    Raises:
        ValueError: A price is negative, absurd or no number, or a bucket has none.
        TypeError: An argument has a wrong type.
        CorpusError: A file can't be read, or isn't UTF-8.

    Example:
        >>> bill(tokenizer, {"system": systems, "user": questions}, price_per_million={"system": 0.3, "user": 3}).price
        12.7
    """
    _check_prices(price_per_million)
    source = measured(tokenizer, name=name)
    counts: dict[str, tuple[int, int]] = {}
    for origin, batch in batches(texts, text_column=text_column):
        buckets = np.array([origin if bucket_of is None else bucket_of(text) for text in batch])
        lengths = source.lengths(batch)
        for bucket in dict.fromkeys(buckets.tolist()):
            chosen = buckets == bucket
            old_texts, old_tokens = counts.get(bucket, (0, 0))
            counts[bucket] = old_texts + int(chosen.sum()), old_tokens + int(lengths[chosen].sum())
    return Bill(source.name, _items(counts, price_per_million), currency)


def bill_of_requests(
    requests: Any,
    *,
    tokenizer: Any,
    price_per_million: float | Mapping[str, float],
    bucket_of: Callable[[Request], str] | None = None,
    currency: str = "",
    name: str | None = None,
) -> Bill:
    """Count the tokens of the prompts of a log, with what templates add, and what they cost.

    Args:
        requests: The log: see `hf_bpe.chat.prefix_report`.
        tokenizer: Encodes texts: of any library. One of transformers renders messages as well.
        price_per_million: What a million tokens costs, for all or by bucket.
        bucket_of: Tells the bucket of a request. By default all are in one, `"requests"`.
        currency: How amounts are named.
        name: How the tokenizer is named.

    Raises:
        ValueError: A request can't be read, a price is no number, or a bucket has none.
        TypeError: `requests` is no log.

    Example:
        >>> bill_of_requests("requests.jsonl", tokenizer=tokenizer, price_per_million=3).price
        41.2
    """
    _check_prices(price_per_million)
    label, reader = log_reader(tokenizer, name)
    counts: dict[str, tuple[int, int]] = {}
    for request in read_requests(requests, reader):
        bucket = "requests" if bucket_of is None else bucket_of(request)
        texts, tokens = counts.get(bucket, (0, 0))
        counts[bucket] = texts + 1, tokens + len(request.ids)
    return Bill(label, _items(counts, price_per_million), currency)


def _items(counts: Mapping[str, tuple[int, int]], prices: float | Mapping[str, float]) -> dict[str, Item]:
    return {bucket: Item(texts, tokens, _price(prices, bucket)) for bucket, (texts, tokens) in counts.items()}


def _check_prices(prices: float | Mapping[str, float]) -> None:
    for price in prices.values() if isinstance(prices, Mapping) else [prices]:
        if isinstance(price, bool) or not isinstance(price, int | float) or not price >= 0:
            raise ValueError(f"price_per_million is a number from 0 up, or one for each bucket, got {price!r}.")
        if price > _HIGHEST_PRICE:
            raise ValueError(f"price_per_million={price!s:.20} is no price; the highest is {_HIGHEST_PRICE:,}.")


def _price(prices: float | Mapping[str, float], bucket: str) -> float:
    if not isinstance(prices, Mapping):
        return prices
    if bucket not in prices:
        raise ValueError(
            f"price_per_million has no bucket {bucket!r}; it has {', '.join(map(repr, prices)) or 'none'}."
        )
    return prices[bucket]
