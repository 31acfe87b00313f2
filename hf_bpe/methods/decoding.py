"""The decoding side of `HfBpeTokenizer`: from ids to text and bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from transformers.utils import logging
from transformers.utils.generic import to_py_obj

from hf_bpe._native import DecodeStream
from hf_bpe.methods.vocabulary import VocabularyMethods

logger = logging.get_logger(__name__)


def _is_array(ids: object, dimensions: int) -> bool:
    return isinstance(ids, np.ndarray) and ids.ndim == dimensions and ids.dtype.kind in "iu"


def _is_batch(sequences: object) -> bool:
    """Return whether the core reads each of these as a list of ids."""
    if not isinstance(sequences, (list, tuple)) or not sequences:
        return False
    return all(isinstance(ids, (list, tuple)) or _is_array(ids, 1) for ids in sequences)


class DecodingMethods(VocabularyMethods):
    """All ways from ids to text. No space is added, none is dropped."""

    def decode(self, token_ids: Any, skip_special_tokens: bool = False, **kwargs: Any) -> Any:
        """Return the text of ids, or of each list of ids. An id that no token has adds nothing.

        Args:
            token_ids: An id, a list, array or tensor of ids, or a batch of these.
            skip_special_tokens: Whether special tokens are left out.
            **kwargs: Upstream's further arguments. No spaces are put between special tokens.

        Raises:
            ValueError: An id is negative, or beyond 32 bits.
        """
        is_flat = _is_array(token_ids, 1) or (type(token_ids) is list and token_ids and type(token_ids[0]) is int)
        if is_flat and not kwargs:
            return self._decode(token_ids, skip_special_tokens)
        return super().decode(token_ids, skip_special_tokens, **kwargs)

    def batch_decode(
        self,
        sequences: Any,
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
        **kwargs: Any,
    ) -> list[str]:
        """Return the text of each list of ids, decoded on all cores."""
        if _is_array(sequences, 2):
            sequences = list(sequences)
        # It looks at each id on its own, which takes longer than decoding does.
        if not _is_batch(sequences):
            sequences = to_py_obj(sequences)  # type: ignore[no-untyped-call]
        if _is_batch(sequences):
            texts = self._core.decode_batch(sequences, skip_special_tokens=skip_special_tokens)
            return [self._clean_up(text, clean_up_tokenization_spaces) for text in texts]
        one_by_one: list[str] = super().batch_decode(
            sequences, skip_special_tokens, clean_up_tokenization_spaces, **kwargs
        )
        return one_by_one

    def _decode(
        self,
        token_ids: Any,
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
        **kwargs: Any,
    ) -> str:
        if isinstance(token_ids, Mapping):
            token_ids = token_ids["input_ids"]
        ids = [token_ids] if isinstance(token_ids, int) else token_ids
        return self._clean_up(
            self._core.decode(ids, skip_special_tokens=skip_special_tokens), clean_up_tokenization_spaces
        )

    def _clean_up(self, text: str, asked: bool | None) -> str:
        """Drop spaces before punctuation where stock does: never for BPE, unless told twice."""
        if not (self.clean_up_tokenization_spaces if asked is None else asked):
            return text
        if self.clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output:
            cleaned: str = self.clean_up_tokenization(text)
            return cleaned
        logger.warning_once(
            "Ignoring clean_up_tokenization_spaces=True: it would drop spaces that the text had. To force it, set "
            "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output=True."
        )
        return text

    def convert_tokens_to_string(self, tokens: Sequence[str]) -> str:
        """Return the text that the decoder makes of tokens.

        Raises:
            TypeError: `tokens` is one str, or not a list of str.
        """
        if isinstance(tokens, str) or not isinstance(tokens, Iterable):
            raise TypeError(f"tokens must be a list of str, got {type(tokens).__name__}: put one token into a list")
        return self._core.decode_tokens(list(tokens))

    def decode_bytes(self, ids: Sequence[int]) -> bytes:
        """Return the bytes that ids stand for, without repairing damaged UTF-8."""
        return self._core.decode_bytes(ids)

    def decode_stream(self, *, skip_special_tokens: bool = False) -> DecodeStream:
        """Return a decoder for ids that come one by one. It never hands out half a character.

        Example:
            >>> stream = tokenizer.decode_stream()
            >>> "".join(stream.step(token_id) for token_id in tokenizer.encode("hi 🙂")) + stream.flush()
            'hi 🙂'
        """
        return DecodeStream(self._core, skip_special_tokens=skip_special_tokens)
