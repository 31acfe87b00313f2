"""`bits_per_byte`: losses of models with different tokenizers on one scale."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, log

from hf_bpe.measure.results import Column, Result, Table


@dataclass(frozen=True)
class BitsPerByte(Result):
    """A loss by the byte of text, which no tokenizer changes.

    Attributes:
        loss_per_token: The mean loss of a token, in nats.
        tokens: How many tokens it is the mean of.
        bytes: How many bytes of UTF-8 these tokens stand for.
    """

    loss_per_token: float
    tokens: int
    bytes: int

    @property
    def value(self) -> float:
        """The bits of loss for each byte."""
        return self.loss_per_token * self.tokens / self.bytes / log(2)

    @property
    def title(self) -> str:
        """What was measured."""
        return "Loss in bits per byte"

    def tables(self) -> list[Table]:
        """Return one row."""
        columns = [
            *(Column("loss", "text"), Column("nats/token", "number", compared=True), Column("tokens", compared=True)),
            *(Column("bytes"), Column("bits/byte", "number", compared=True)),
        ]
        row = ("all", self.loss_per_token, self.tokens, self.bytes, self.value)
        return [Table("Bits per byte", columns, [row])]

    def __float__(self) -> float:
        return self.value


def bits_per_byte(loss_per_token: float, tokens: int, bytes: int) -> BitsPerByte:
    """Return a loss per token as bits per byte of text.

    Args:
        loss_per_token: The mean loss of a token, in nats, as PyTorch's cross entropy gives it.
        tokens: How many tokens it is the mean of.
        bytes: How many bytes of UTF-8 these tokens stand for.

    Raises:
        ValueError: There is no byte, a count is negative, or the loss is no number.

    Example:
        >>> bits_per_byte(2.0, tokens=250, bytes=1_000).value
        0.7213475204444817
    """
    if bytes < 1:
        raise ValueError(f"bytes={bytes}: a loss per byte needs at least 1 byte of text.")
    if tokens < 0:
        raise ValueError(f"tokens={tokens}: there are at least 0 tokens.")
    if not isfinite(loss_per_token) or loss_per_token < 0:
        raise ValueError(f"loss_per_token={loss_per_token}: a cross entropy is a finite number from 0 up.")
    return BitsPerByte(float(loss_per_token), tokens, bytes)
