"""From the arguments of one tokenizer call to a `BatchEncoding`, as the stock fast tokenizer fills it.

Two paths with equal results. Where only ids and masks are wanted the core returns ids alone, truncation and padding
happen on the lists, and the encodings behind them are lazy. Offsets, overflow, pairs and words need full encodings
from the core. Nothing here is kept between calls, so calls with different settings may run side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

from transformers.tokenization_utils_base import BatchEncoding, TruncationStrategy
from transformers.utils.generic import PaddingStrategy

from hf_bpe import special_tokens
from hf_bpe.encoding import LazyEncodings, Padding, Truncation

if TYPE_CHECKING:
    from hf_bpe._native import Encoding
    from hf_bpe.methods.vocabulary import VocabularyMethods

_Text = str | list[str]
_Input = _Text | tuple[_Text, _Text]


@dataclass(slots=True)
class Options:
    """The keyword arguments of `_encode_plus`, under upstream's names."""

    add_special_tokens: bool = True
    padding_strategy: PaddingStrategy = PaddingStrategy.DO_NOT_PAD
    truncation_strategy: TruncationStrategy = TruncationStrategy.DO_NOT_TRUNCATE
    max_length: int | None = None
    stride: int = 0
    is_split_into_words: bool = False
    pad_to_multiple_of: int | None = None
    padding_side: Literal["right", "left"] | None = None
    return_tensors: Any = None
    return_token_type_ids: bool | None = None
    return_attention_mask: bool | None = None
    return_overflowing_tokens: bool = False
    return_special_tokens_mask: bool = False
    return_offsets_mapping: bool = False
    return_length: bool = False
    verbose: bool = True
    split_special_tokens: bool | None = None

    @classmethod
    def of_call(cls, tokenizer: VocabularyMethods, given: dict[str, Any]) -> Options:
        """Read the arguments of a call; names that upstream ignores are ignored."""
        options = cls(**{name: value for name, value in given.items() if name in _OPTION_NAMES})
        if options.split_special_tokens is None:
            options.split_special_tokens = tokenizer.split_special_tokens
        if options.return_token_type_ids is None:
            options.return_token_type_ids = "token_type_ids" in tokenizer.model_input_names
        if options.return_attention_mask is None:
            options.return_attention_mask = "attention_mask" in tokenizer.model_input_names
        return options

    @property
    def truncates(self) -> bool:
        """Whether texts that are too long are cut."""
        return self.truncation_strategy != TruncationStrategy.DO_NOT_TRUNCATE and self.max_length is not None

    @property
    def needs_encodings(self) -> bool:
        """Whether ids alone cannot answer the call."""
        return bool(
            self.return_token_type_ids
            or self.return_overflowing_tokens
            or self.return_special_tokens_mask
            or self.return_offsets_mapping
            or self.is_split_into_words
            or (self.truncates and self.truncation_strategy == TruncationStrategy.ONLY_SECOND)
        )

    @property
    def wants_flat_overflow(self) -> bool:
        """Whether one text with overflow gets the shape of upstream's Python tokenizers instead of windows.

        Their users ask for bare ids and what was cut; offsets, special tokens or tensors mean windows.
        """
        return bool(
            self.return_overflowing_tokens
            and not self.add_special_tokens
            and not self.return_offsets_mapping
            and not self.return_tensors
            and not self.is_split_into_words
        )


_OPTION_NAMES = frozenset(field.name for field in fields(Options))


def encode_batch(
    tokenizer: VocabularyMethods, inputs: Sequence[_Input], options: Options, *, is_batched: bool
) -> BatchEncoding:
    """Encode `inputs` and return what stock's call returns; a single text has no batch axis unless it has windows."""
    texts_only = all(isinstance(item, str) for item in inputs)
    encodings: Any  # has what BatchEncoding asks of encodings, not its declared type
    # With dropout a text encoded again, as a lazy encoding is, has other ids.
    lazy = tokenizer._core.dropout is None and not options.needs_encodings
    if texts_only and lazy:
        data, encodings = _from_ids(tokenizer, inputs, options)  # type: ignore[arg-type]
    else:
        data, encodings = _from_encodings(tokenizer, inputs, options)
    for ids in data["input_ids"]:
        tokenizer._eventual_warn_about_too_long_sequence(ids, options.max_length, options.verbose)
    n_sequences = (1 if texts_only else None) if inputs else 1
    if is_batched or options.return_tensors is not None or options.return_overflowing_tokens:
        return BatchEncoding(data, encodings, tensor_type=options.return_tensors, n_sequences=n_sequences)
    single = {key: values[0] if values and isinstance(values[0], list) else values for key, values in data.items()}
    return BatchEncoding(single, encodings, n_sequences=n_sequences)


def _from_ids(
    tokenizer: VocabularyMethods, texts: Sequence[str], options: Options
) -> tuple[dict[str, list[Any]], LazyEncodings]:
    truncation = _truncation(tokenizer, options, pairs=False) if options.truncates else None
    rows = _ids_of(tokenizer, texts, options, truncation)
    padding = _padding(tokenizer, options, [len(ids) for ids in rows])
    data: dict[str, list[Any]] = {"input_ids": rows if padding is None else [_fill(ids, padding) for ids in rows]}
    if options.return_attention_mask:
        masks = [[1] * len(ids) for ids in rows]
        data["attention_mask"] = masks if padding is None else [_fill(mask, padding, 0) for mask in masks]
    if options.return_length:
        data["length"] = [len(ids) for ids in data["input_ids"]]
    split = bool(options.split_special_tokens)
    return data, LazyEncodings(tokenizer._core, texts, options.add_special_tokens, split, truncation, padding)


def _ids_of(
    tokenizer: VocabularyMethods, texts: Sequence[str], options: Options, truncation: Truncation | None
) -> list[list[int]]:
    core = tokenizer._core
    split = bool(options.split_special_tokens)
    added = core.num_special_tokens_to_add() if truncation and options.add_special_tokens else 0
    around = options.add_special_tokens and not added
    if len(texts) == 1:
        rows = [core.encode_ids(texts[0], add_special_tokens=around, split_special_tokens=split)]
    else:
        rows = core.encode_ids_batch(texts, add_special_tokens=around, split_special_tokens=split)
    if truncation is None:
        return rows
    limit, side = truncation[0] - added, truncation[3]
    rows = [row if len(row) <= limit else row[:limit] if side == "right" else row[len(row) - limit :] for row in rows]
    return [special_tokens.around(core, row).ids for row in rows] if added else rows


def _from_encodings(
    tokenizer: VocabularyMethods, inputs: Sequence[_Input], options: Options
) -> tuple[dict[str, list[Any]], list[Encoding]]:
    pairs = any(isinstance(item, tuple) for item in inputs)
    first_windows = tokenizer._core.encode_batch(
        inputs,
        add_special_tokens=options.add_special_tokens,
        split_special_tokens=bool(options.split_special_tokens),
        truncation=_truncation(tokenizer, options, pairs=pairs) if options.truncates else None,
    )
    padding = _padding(tokenizer, options, [len(encoding) for encoding in first_windows])
    windows: list[Encoding] = []
    samples: list[int] = []
    for sample, first in enumerate(first_windows):
        own = [first, *first.overflowing] if options.return_overflowing_tokens else [first]
        windows.extend(own if padding is None else map(padding.apply, own))
        samples.extend([sample] * len(own))
    data = _columns(windows, options)
    if options.return_overflowing_tokens:
        data["overflow_to_sample_mapping"] = samples
    return data, windows


def _columns(windows: list[Encoding], options: Options) -> dict[str, list[Any]]:
    """Return one list a name, in the order in which stock fills them."""
    data: dict[str, list[Any]] = {"input_ids": [window.ids for window in windows]}
    if options.return_token_type_ids:
        data["token_type_ids"] = [window.type_ids for window in windows]
    if options.return_attention_mask:
        data["attention_mask"] = [window.attention_mask for window in windows]
    if options.return_special_tokens_mask:
        data["special_tokens_mask"] = [window.special_tokens_mask for window in windows]
    if options.return_offsets_mapping:
        data["offset_mapping"] = [window.offsets for window in windows]
    if options.return_length:
        data["length"] = [len(window) for window in windows]
    return data


def _truncation(tokenizer: VocabularyMethods, options: Options, *, pairs: bool) -> Truncation:
    """Return the core's truncation settings.

    Raises:
        ValueError: Where stock panics, or returns windows that are too long: no window of `max_length` has room for
            the special tokens, or a stride leaves no room to move on.
    """
    assert options.max_length is not None
    added = tokenizer._core.num_special_tokens_to_add(pair=pairs) if options.add_special_tokens else 0
    window = options.max_length - added
    if window < 0:
        raise ValueError(f"max_length={options.max_length} has no room for the {added} special tokens of each window.")
    if options.stride < 0:
        raise ValueError(f"stride={options.stride} is negative; give the number of tokens that windows share.")
    if options.stride and options.stride >= window:
        raise ValueError(
            f"stride={options.stride} must be smaller than the {window} tokens of text in a window "
            f"(max_length={options.max_length} minus {added} special tokens)."
        )
    strategy: Any = options.truncation_strategy.value
    side: Any = tokenizer.truncation_side
    return (options.max_length, options.stride, strategy, side)


def _padding(tokenizer: VocabularyMethods, options: Options, lengths: list[int]) -> Padding | None:
    """Return what fills each window of a batch, or None where the call doesn't pad."""
    if options.padding_strategy == PaddingStrategy.DO_NOT_PAD or not lengths:
        return None
    fixed = options.padding_strategy == PaddingStrategy.MAX_LENGTH and options.max_length is not None
    length = options.max_length if fixed else max(lengths)
    assert length is not None
    if options.pad_to_multiple_of:
        length = -(-length // options.pad_to_multiple_of) * options.pad_to_multiple_of
    side: Any = options.padding_side or tokenizer.padding_side
    return Padding(
        length=length,
        pad_id=tokenizer.pad_token_id,
        pad_type_id=tokenizer.pad_token_type_id,
        pad_token=tokenizer.pad_token,
        side=side,
    )


def _fill(row: list[int], padding: Padding, value: int | None = None) -> list[int]:
    filler = [padding.pad_id if value is None else value] * (padding.length - len(row))
    return row + filler if padding.side == "right" else filler + row
