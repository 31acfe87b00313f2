"""Texts to arrays and numbers: flat ids, offsets, Arrow columns, counts. No Python object is made for a token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from hf_bpe import columns
from hf_bpe.methods.vocabulary import VocabularyMethods

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    FlatIds = tuple[NDArray[np.uint32], NDArray[np.uint64]]
    PlacedIds = tuple[NDArray[np.uint32], NDArray[np.uint64], NDArray[np.uint32]]


class FlatMethods(VocabularyMethods):
    """The ways from text to ids, or to their number, that make no lists."""

    @overload
    def encode_to_numpy(
        self,
        texts: Sequence[str],
        *,
        add_special_tokens: bool = ...,
        split_special_tokens: bool | None = ...,
        return_offsets: Literal[False] = ...,
    ) -> FlatIds: ...
    @overload
    def encode_to_numpy(
        self,
        texts: Sequence[str],
        *,
        add_special_tokens: bool = ...,
        split_special_tokens: bool | None = ...,
        return_offsets: Literal[True],
    ) -> PlacedIds: ...
    def encode_to_numpy(
        self,
        texts: Sequence[str],
        *,
        add_special_tokens: bool = True,
        split_special_tokens: bool | None = None,
        return_offsets: bool = False,
    ) -> FlatIds | PlacedIds:
        """Encode `texts` to one flat array of ids, and the bounds of each text in it, on all cores.

        Args:
            texts: The texts. One that is long is cut between threads where no id can change.
            add_special_tokens: Whether the post-processor adds its special tokens, such as BOS.
            split_special_tokens: Whether special tokens in a text are treated as ordinary text; None: as the tokenizer
                is set.
            return_offsets: Whether to return the offsets, too.

        Returns:
            `ids` (uint32) and `bounds` (uint64): the ids of text `i` are `ids[bounds[i]:bounds[i + 1]]`. With
            `return_offsets` also `offsets`, uint32 of shape `(len(ids), 2)`: the start and end of each id in
            characters of its own text, as in `offset_mapping`; `(0, 0)` for what the post-processor adds.

        Example:
            >>> ids, bounds, offsets = tokenizer.encode_to_numpy(["hello world"], return_offsets=True)
            >>> offsets.tolist()
            [[0, 5], [5, 11]]
        """
        split = self.split_special_tokens if split_special_tokens is None else split_special_tokens
        encode: Any = self._core.encode_to_numpy_with_offsets if return_offsets else self._core.encode_to_numpy
        encoded: FlatIds | PlacedIds = encode(texts, add_special_tokens=add_special_tokens, split_special_tokens=split)
        return encoded

    def encode_arrow(
        self, array: Any, *, add_special_tokens: bool = True, split_special_tokens: bool | None = None
    ) -> pa.ListArray | pa.LargeListArray:
        """Encode a column of strings to a column of lists of ids; no Python object is made for a row.

        This is the way for `datasets.map(function, batched=True)` over rows `.with_format("arrow")`, where `function`
        takes a table and returns `table.append_column("input_ids", tokenizer.encode_arrow(table["text"]))`.

        Args:
            array: A pyarrow array, or chunked array, of type string, large_string or string_view, or a dictionary of
                these; or what another library exports as one (`__arrow_c_array__`, `__arrow_c_stream__`).
            add_special_tokens: Whether the post-processor adds its special tokens, such as BOS.
            split_special_tokens: Whether special tokens in a text are treated as ordinary text; None: as the tokenizer
                is set.

        Returns:
            One array with a row for each row of `array`, null where that is null: of type `list<int32>`, `large_list`
            where there are more than 2**31 - 1 ids, and with uint32 where the vocabulary has ids beyond int32.

        Raises:
            TypeError: `array` is no Arrow array of strings.
            ValueError: The array is damaged: a row is not UTF-8, or lies outside of its data. Or a row has 4 GiB.

        Example:
            >>> tokenizer.encode_arrow(pyarrow.array(["hello world", None])).to_pylist()
            [[31373, 995], None]
        """
        split = self.split_special_tokens if split_special_tokens is None else split_special_tokens
        return columns.encode_arrow(
            self._core, array, add_special_tokens=add_special_tokens, split_special_tokens=split
        )

    @overload
    def count_tokens(  # type: ignore[overload-overlap]  # a str is a sequence of str, too
        self, texts: str, *, add_special_tokens: bool = ..., split_special_tokens: bool | None = ...
    ) -> int: ...
    @overload
    def count_tokens(
        self, texts: Sequence[str], *, add_special_tokens: bool = ..., split_special_tokens: bool | None = ...
    ) -> list[int]: ...
    def count_tokens(
        self, texts: str | Sequence[str], *, add_special_tokens: bool = True, split_special_tokens: bool | None = None
    ) -> int | list[int]:
        """Return how many ids a text has, or each of several: those of a call, which are counted and not kept.

        Args:
            texts: A text, or several, which are counted on all cores.
            add_special_tokens: Whether the special tokens count that the post-processor adds, such as BOS.
            split_special_tokens: Whether special tokens in a text are treated as ordinary text; None: as the tokenizer
                is set.

        Example:
            >>> tokenizer.count_tokens("hello world")
            2
            >>> tokenizer.count_tokens(["hello", "hello world"])
            [1, 2]
        """
        split = self.split_special_tokens if split_special_tokens is None else split_special_tokens
        core = self._core
        if isinstance(texts, str):
            return core.count_tokens(texts, add_special_tokens=add_special_tokens, split_special_tokens=split)
        return core.count_tokens_batch(texts, add_special_tokens=add_special_tokens, split_special_tokens=split)
