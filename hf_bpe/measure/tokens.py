"""A tokenizer of any library as the measures need it: ids in flat arrays, and the bytes of each token."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hf_bpe.byte_alphabet import CHAR_TO_BYTE
from hf_bpe.verification import sides

Ids = NDArray[np.uint32]
Counts = NDArray[np.int64]

_BYTE_PIECE = re.compile(r"<0x([0-9A-F]{2})>")


class Measured:
    """A tokenizer that is measured.

    Special tokens that a text spells out are ordinary text here, and no template adds any: it is the text that counts.

    Attributes:
        side: The tokenizer itself.
        name: How reports name it.
    """

    def __init__(self, side: sides.Side, name: str) -> None:
        self.side = side
        self.name = name

    def encode(self, texts: Sequence[str]) -> tuple[Ids, Counts]:
        """Return the ids of all texts in a row, and how many each text has."""
        if isinstance(self.side, sides.Ours):
            ids, ends = self.side.core.encode_to_numpy(texts, add_special_tokens=False, split_special_tokens=True)
            return ids, np.diff(ends.astype(np.int64))
        rows = self.side.encode(texts, special_tokens=False)
        lengths = np.fromiter(map(len, rows), np.int64, len(rows))
        flat = np.fromiter((id for row in rows for id in row), np.uint32, int(lengths.sum()))
        return flat, lengths

    def lengths(self, texts: Sequence[str]) -> Counts:
        """Return how many tokens each text has."""
        return self.encode(texts)[1]

    def pieces(self, text: str) -> list[bytes]:
        """Return the bytes of each token of a text."""
        return [self.token_bytes.get(id, b"") for id in self.encode([text])[0].tolist()]

    def special_tokens(self) -> list[str]:
        """Return the added tokens."""
        return self.side.added_tokens()

    @cached_property
    def token_bytes(self) -> Mapping[int, bytes]:
        """The bytes that each token stands for, by its id, in the order of ids. Added tokens are left out."""
        return dict(sorted(_token_bytes(self.side)))

    def fallback(self, ids: Ids) -> NDArray[np.bool_]:
        """Return which of these ids are byte pieces, or stand for a part of a character.

        It is what a vocabulary falls back to where it has no better token.
        """
        table = self._fallback_table
        found: NDArray[np.bool_] = table[np.minimum(ids, len(table) - 1)]
        return found

    @cached_property
    def _fallback_table(self) -> NDArray[np.bool_]:
        found = np.zeros(self.rows + 1, np.bool_)  # the last row is for ids behind all ordinary ones
        found[[id for id, token in self.token_bytes.items() if _is_partial(token)]] = True
        found[[id for id in self._byte_pieces if id < self.rows]] = True
        return found

    @cached_property
    def _byte_pieces(self) -> list[int]:
        if isinstance(self.side, sides.SentencePiece):
            model = self.side._processor
            return [id for id in range(model.get_piece_size()) if model.is_byte(id)]
        if isinstance(self.side, sides.Ours | sides.Stock) and not _is_byte_level(self.side):
            return [id for token, id in _vocab(self.side).items() if _BYTE_PIECE.fullmatch(token)]
        return []

    @cached_property
    def rows(self) -> int:
        """The highest id of an ordinary token plus one."""
        return 1 + max(self.token_bytes, default=-1)

    @cached_property
    def embedding_rows(self) -> int:
        """The highest id of any token plus one, added tokens included: how many rows its embedding needs."""
        if isinstance(self.side, sides.Ours | sides.Stock):
            inner = self.side.core if isinstance(self.side, sides.Ours) else self.side._tokenizer
            return 1 + max(inner.get_vocab(with_added_tokens=True).values(), default=-1)
        if isinstance(self.side, sides.Tiktoken):
            return self.side._encoding.n_vocab
        if isinstance(self.side, sides.SentencePiece):
            return int(self.side._processor.get_piece_size())
        return int(self.side._tekkenizer.n_words) if isinstance(self.side, sides.Tekken) else self.rows


def measured(tokenizer: Any, *, name: str | None = None) -> Measured:
    """Return a tokenizer of any library, or the file or directory of one, ready to be measured.

    Raises:
        TypeError: It is of no known kind.
        ConversionError: A file can't be read.
    """
    if isinstance(tokenizer, Measured):
        return tokenizer
    side = sides.side_of(sides.read(tokenizer))
    if name is None:
        name = Path(tokenizer).name or str(tokenizer) if isinstance(tokenizer, str | Path) else side.name
    return Measured(side, name)


def _is_partial(token: bytes) -> bool:
    try:
        token.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False


def _token_bytes(side: sides.Side) -> Iterator[tuple[int, bytes]]:
    if isinstance(side, sides.Ours | sides.Stock):
        yield from _spelled(_vocab(side), _added_ids(side), byte_level=_is_byte_level(side))
    elif isinstance(side, sides.Tiktoken):
        yield from ((id, token) for token, id in side._encoding._mergeable_ranks.items())
    elif isinstance(side, sides.SentencePiece):
        model = side._processor
        odd = (model.is_control, model.is_unknown, model.is_unused)
        ordinary = (id for id in range(model.get_piece_size()) if not any(is_odd(id) for is_odd in odd))
        yield from _spelled({model.id_to_piece(id): id for id in ordinary}, set(), byte_level=False)
    elif isinstance(side, sides.Tekken):
        ids = sorted(side.ordinary_ids())
        yield from ((id, side._tekkenizer.id_to_byte_piece(id, side._keep)) for id in ids)


def _vocab(side: sides.Ours | sides.Stock) -> Mapping[str, int]:
    inner = side.core if isinstance(side, sides.Ours) else side._tokenizer
    return inner.get_vocab(with_added_tokens=False)


def _added_ids(side: sides.Ours | sides.Stock) -> set[int]:
    if isinstance(side, sides.Ours):
        return {id for id, _ in side.core.added_tokens()}
    return set(side._tokenizer.get_added_tokens_decoder())


def _is_byte_level(side: sides.Ours | sides.Stock) -> bool:
    if isinstance(side, sides.Ours):
        return side.core.is_byte_level
    decoder = side._tokenizer.decoder
    return decoder is not None and b"ByteLevel" in decoder.__getstate__()


def _spelled(vocab: Mapping[str, int], added: set[int], *, byte_level: bool) -> Iterator[tuple[int, bytes]]:
    for token, id in vocab.items():
        if id in added:
            continue
        token = token.removesuffix("</w>")
        if byte_level and all(char in CHAR_TO_BYTE for char in token):
            yield id, bytes(CHAR_TO_BYTE[char] for char in token)
        elif (byte := _BYTE_PIECE.fullmatch(token)) and not byte_level:
            yield id, bytes([int(byte[1], 16)])
        else:
            yield id, token.replace("▁", " ").encode("utf-8", "surrogatepass")
