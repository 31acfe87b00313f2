"""The vocabulary side of `HfBpeTokenizer`: tokens, ids, and the tokens that people add."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tokenizers import AddedToken
from transformers import PreTrainedTokenizer

from hf_bpe import special_tokens as tokens_of
from hf_bpe._native import Tokenizer


class VocabularyMethods(PreTrainedTokenizer):
    """What the core knows of tokens. Adding some builds a new core and swaps it in."""

    _core: Tokenizer

    @property
    def is_fast(self) -> bool:
        """True: offsets, word ids and overflow windows are available."""
        return True

    @property
    def vocab_size(self) -> int:
        """The number of tokens of the model, without added ones."""
        return self._core.vocab_size

    def __len__(self) -> int:
        """Return the highest id plus one: the rows that an embedding needs, where ids have holes too."""
        return self._core.max_id + 1

    def __bool__(self) -> bool:
        return True

    def get_vocab(self) -> dict[str, int]:
        """Return each token with its id, added ones included."""
        return self._core.get_vocab()

    @property
    def vocab(self) -> dict[str, int]:
        """Each token with its id, added ones included."""
        return self.get_vocab()

    @property  # type: ignore[misc]
    def added_tokens_decoder(self) -> dict[int, AddedToken]:
        """Each added token by its id, in the order of ids."""
        return tokens_of.added_tokens_by_id(self._core)

    @property
    def added_tokens_encoder(self) -> dict[str, int]:
        """The id of each added token, in the order of ids."""
        return {flags[0]: token_id for token_id, flags in sorted(self._core.added_tokens())}

    _added_tokens_decoder = added_tokens_decoder
    _added_tokens_encoder = added_tokens_encoder

    def get_added_vocab(self) -> dict[str, int]:
        """Return the id of each added token, in the order of ids."""
        return self.added_tokens_encoder

    @property
    def all_special_ids(self) -> list[int]:
        """The ids of the special tokens that are named, or extra."""
        ids: list[int] = self.convert_tokens_to_ids(self.all_special_tokens)
        return ids

    def _add_tokens(self, new_tokens: Sequence[str | AddedToken], special_tokens: bool = False) -> int:
        return self._swap_in([tokens_of.to_flags(token, special=special_tokens) for token in new_tokens])

    def _swap_in(self, tokens: list[tokens_of.Flags]) -> int:
        if not tokens:
            return 0
        self._core, added = self._core.with_added_tokens(tokens)
        return added

    def _update_trie(self, unique_no_split_tokens: list[str] | None = None) -> None:
        """The core finds added tokens: there is no trie."""

    def _update_total_vocab_size(self) -> None:
        """The core knows its size."""

    def convert_tokens_to_ids(self, tokens: str | Sequence[str]) -> Any:
        """Return the id of a token, or of each; the id of `unk_token` for an unknown one, and None without it."""
        if isinstance(tokens, str):
            return self._convert_token_to_id_with_added_voc(tokens)
        ids = self._core.tokens_to_ids(list(tokens))
        if None not in ids:
            return ids
        unknown = self._unknown_id()
        return [unknown if token_id is None else token_id for token_id in ids]

    def _convert_token_to_id_with_added_voc(self, token: str) -> int | None:
        token_id = self._core.token_to_id(token)
        return self._unknown_id() if token_id is None else token_id

    _convert_token_to_id = _convert_token_to_id_with_added_voc

    def _unknown_id(self) -> int | None:
        # Not `unk_token_id`, which asks for the id of the token and would come back here.
        unk_token = self._special_tokens_map.get("unk_token")
        return None if unk_token is None else self._core.token_to_id(str(unk_token))

    def convert_ids_to_tokens(self, ids: int | Sequence[int], skip_special_tokens: bool = False) -> Any:
        """Return the token of an id, or of each; None for an unknown one."""
        if isinstance(ids, int):
            return self._core.id_to_token(ids)
        listed = [int(token_id) for token_id in ids]
        if skip_special_tokens:
            skipped = set(self.all_special_ids)
            listed = [token_id for token_id in listed if token_id not in skipped]
        return self._core.ids_to_tokens(listed)

    def _convert_id_to_token(self, index: int) -> str | None:  # type: ignore[override]
        return self._core.id_to_token(int(index))

    def get_token_bytes(self, id: int) -> bytes:
        """Return the bytes that a token stands for, which need not be whole characters.

        Example:
            >>> tokenizer.get_token_bytes(995)
            b' world'
        """
        return self._core.get_token_bytes(id)
