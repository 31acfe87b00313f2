"""Which row of the old embeddings each row of the new ones comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from hf_bpe._native import encode_words
from hf_bpe.extension.derivations import merged
from hf_bpe.tokenizer import HfBpeTokenizer


@dataclass(frozen=True)
class RowPlan:
    """Where the rows of new embeddings come from.

    Attributes:
        copied: Shape (new rows,). The old row that a row is a copy of, -1 where it is made anew.
        parts: The old rows that a new token's text was made of, by its id. A row that is neither copied nor here is
            padding: no token has it.
        used: Shape (used rows,). The old rows that tokens have: what means and norms are taken over.
    """

    copied: NDArray[np.int64]
    parts: dict[int, tuple[int, ...]]
    used: NDArray[np.int64]

    @property
    def moved(self) -> int:
        """How many rows are copied to another place."""
        return int(np.count_nonzero((self.copied >= 0) & (self.copied != np.arange(len(self.copied)))))

    @property
    def kept(self) -> int:
        """How many rows stay in their place."""
        return int(np.count_nonzero(self.copied == np.arange(len(self.copied))))

    @property
    def padding(self) -> int:
        """How many new rows belong to no token."""
        return int(np.count_nonzero(self.copied < 0)) - len(self.parts)


def plan_rows(
    old: HfBpeTokenizer,
    new: HfBpeTokenizer,
    *,
    num_old_rows: int,
    id_map: Mapping[int, int] | None = None,
    pad_to_multiple_of: int | None = None,
) -> RowPlan:
    """Decide for each row of the new embeddings where it comes from: by id and token, never by its place.

    A token of both vocabularies keeps its row, wherever its id went. An id whose added token has another name now (a
    reserved token that was put to use) keeps its row too. A new token is traced to its old pieces through the merges
    that make it, or, if none does, by encoding its text with `old`. A new id is traced in this way even where the
    old embeddings have a row for it already, as padding.

    Where every old token keeps its id, no row is taken away, so that padding rows stay. Where tokens were dropped, the
    rows end with the highest id.

    Args:
        old: The tokenizer that the rows belong to.
        new: The tokenizer that they shall belong to.
        num_old_rows: The rows that there are, at least `len(old)`.
        id_map: The new id of each old one that is still there, as pruning returns it. By default tokens are matched by
            what they are.
        pad_to_multiple_of: Rows are added up to a multiple of this.

    Returns:
        The plan. Its length is the number of new rows.

    Raises:
        TypeError: A tokenizer is none of this package, `id_map` holds something else than ids, or
            `pad_to_multiple_of` is no whole number.
        ValueError: There are fewer rows than the old tokenizer has ids, or `id_map` names ids that do not exist.
    """
    check_arguments(old, new, id_map=id_map, pad_to_multiple_of=pad_to_multiple_of)
    if num_old_rows < len(old):
        raise ValueError(
            f"the embeddings have {num_old_rows:,} rows, but the old tokenizer has ids up to {len(old) - 1:,}: "
            "it is not the tokenizer of this model."
        )
    old_tokens, new_tokens = _tokens(old), _tokens(new)
    source = _matched(old, new, old_tokens, new_tokens) if id_map is None else _mapped(id_map, old_tokens, new_tokens)

    all_stay = all(source.get(token_id) == token_id for token_id in old_tokens)
    rows = max(len(new), num_old_rows) if all_stay else len(new)
    if pad_to_multiple_of is not None:
        rows += -rows % pad_to_multiple_of

    copied = np.full(rows, -1, dtype=np.int64)
    for new_id, old_id in source.items():
        copied[new_id] = old_id
    if all_stay:
        padding = [row for row in range(min(rows, num_old_rows)) if row not in new_tokens and row not in old_tokens]
        copied[padding] = padding

    made = [token_id for token_id in new_tokens if token_id not in source]
    tracer = _Tracer(
        old, new, {token: source[token_id] for token_id, token in new_tokens.items() if token_id in source}
    )
    parts = {token_id: tracer.parts(token_id, new_tokens[token_id]) for token_id in made}
    return RowPlan(copied, parts, np.array(sorted(old_tokens), dtype=np.int64))


def check_arguments(old: object, new: object, *, id_map: object, pad_to_multiple_of: object) -> None:
    """Raise for arguments of the wrong types, before anything is read.

    Raises:
        TypeError: One is.
        ValueError: `pad_to_multiple_of` is less than 1.
    """
    for name, tokenizer in (("old", old), ("new", new)):
        if not isinstance(tokenizer, HfBpeTokenizer):
            raise TypeError(
                f"the {name} tokenizer is an HfBpeTokenizer, got {type(tokenizer).__name__}; load it with "
                "HfBpeTokenizer.from_pretrained() or one of the from_... functions"
            )
    if id_map is not None:
        if not isinstance(id_map, Mapping):
            raise TypeError(f"id_map is a mapping of old ids to new ones, got {type(id_map).__name__}")
        for token_id in (part for pair in id_map.items() for part in pair):
            if not _is_whole(token_id):
                raise TypeError(f"id_map maps ids to ids, got {token_id!r}; in JSON keys are str: use int(key)")
    if pad_to_multiple_of is not None:
        if not _is_whole(pad_to_multiple_of):
            raise TypeError(f"pad_to_multiple_of is a whole number, got {pad_to_multiple_of!r}")
        if pad_to_multiple_of < 1:
            raise ValueError(f"pad_to_multiple_of must be at least 1, got {pad_to_multiple_of}.")


def _is_whole(number: object) -> TypeGuard[int]:
    return isinstance(number, int | np.integer) and not isinstance(number, bool)


def _tokens(tokenizer: HfBpeTokenizer) -> dict[int, str]:
    return {token_id: token for token, token_id in tokenizer.get_vocab().items()}


def _matched(
    old: HfBpeTokenizer, new: HfBpeTokenizer, old_tokens: dict[int, str], new_tokens: dict[int, str]
) -> dict[int, int]:
    """Return the old id of each new id that has one."""
    old_ids = {token: token_id for token_id, token in old_tokens.items()}
    known = {token for token in new_tokens.values() if token in old_ids}
    old_added, new_added = old.added_tokens_decoder, new.added_tokens_decoder
    source = {}
    for new_id, token in new_tokens.items():
        if token in old_ids:
            source[new_id] = new_id if old_tokens.get(new_id) == token else old_ids[token]
        elif new_id in old_added and new_id in new_added and old_tokens[new_id] not in known:
            source[new_id] = new_id
    return source


def _mapped(id_map: Mapping[int, int], old_tokens: dict[int, str], new_tokens: dict[int, str]) -> dict[int, int]:
    source: dict[int, int] = {}
    for old_id, new_id in id_map.items():
        if old_id not in old_tokens:
            raise ValueError(f"id_map moves id {old_id}, which no token of the old tokenizer has.")
        if new_id not in new_tokens:
            raise ValueError(f"id_map moves id {old_id} to {new_id}, which no token of the new tokenizer has.")
        if new_id in source:
            raise ValueError(f"id_map moves two ids to {new_id}: {source[new_id]} and {old_id}.")
        source[new_id] = old_id
    return source


class _Tracer:
    """Finds the old pieces of new tokens."""

    def __init__(self, old: HfBpeTokenizer, new: HfBpeTokenizer, known: dict[str, int]) -> None:
        self._old = old
        self._new = new
        self._known = known
        # What a token was first made of: its halves.
        self._halves: dict[str, tuple[str, str]] = {}
        prefix = new._core.model_settings()["continuing_subword_prefix"] or ""
        for left, right in new._core.merges():
            self._halves.setdefault(merged(left, right, prefix), (left, right))

    def parts(self, token_id: int, token: str) -> tuple[int, ...]:
        """Return the old ids whose text is that of a new token."""
        found: list[int] = []
        waiting = [token]
        while waiting:
            piece = waiting.pop()
            known = self._known.get(piece)
            halves = self._halves.get(piece)
            if known is not None:
                found.append(known)
            elif halves is not None:
                waiting.extend(reversed(halves))
            else:
                return self._encoded(token_id, token)
        return tuple(found)

    def _encoded(self, token_id: int, token: str) -> tuple[int, ...]:
        if token_id in self._new.added_tokens_decoder:
            return tuple(self._old.encode_ordinary(token))
        if self._new._core.is_byte_level and self._old._core.is_byte_level:
            return tuple(self._old.encode_bytes(self._new.get_token_bytes(token_id)))
        # As the model spells it: a normalizer would put a mark before it.
        return tuple(encode_words(self._old._core, [token])[0])
