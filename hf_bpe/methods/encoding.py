"""The encoding side of `HfBpeTokenizer`: from texts to ids."""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence
from typing import Any, ClassVar, Literal

from transformers.tokenization_utils_base import BatchEncoding, PreTrainedTokenizerBase

from hf_bpe import batch, inputs, tiktoken_rules
from hf_bpe.encoding import LazyEncodings
from hf_bpe.methods.flat import FlatMethods

# What upstream calls on the way through a plain call; a subclass may have its own.
_STEPS = (
    "_encode_plus",
    "_eventual_warn_about_too_long_sequence",
    "_get_padding_truncation_strategies",
    "_switch_to_input_mode",
)


class EncodingMethods(FlatMethods):
    """All ways from text to ids. Settings of a call stay in that call."""

    # Whether the steps of a plain call are those of this class, as the short ways take them for granted.
    _steps_are_known: ClassVar[bool] = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._steps_are_known = not any(
            getattr(cls, name, None) is not getattr(EncodingMethods, name, None) for name in _STEPS
        )

    def __call__(self, text: Any = None, *args: Any, **kwargs: Any) -> BatchEncoding:
        if type(text) is str and not args and self._steps_are_known:
            if not kwargs:
                return self._encode_one(text, True)
            if len(kwargs) == 1 and type(add_special_tokens := kwargs.get("add_special_tokens")) is bool:
                return self._encode_one(text, add_special_tokens)
        encoding: BatchEncoding = super().__call__(text, *args, **kwargs)
        return encoding

    # Callers read the names of arguments from the signature.
    functools.update_wrapper(__call__, PreTrainedTokenizerBase.__call__)

    def _encode_one(self, text: str, add_special_tokens: bool) -> BatchEncoding:
        """Return what a call with one text and no other settings returns, several times faster than the general way."""
        names = self.model_input_names
        core = self._core
        if "token_type_ids" in names or core.dropout is not None:
            return self._encode_plus(text, add_special_tokens=add_special_tokens)
        split = self.split_special_tokens
        ids = core.encode_ids(text, add_special_tokens=add_special_tokens, split_special_tokens=split)
        if len(ids) > self.model_max_length:
            self._eventual_warn_about_too_long_sequence(ids, None, True)
        # The initialiser of BatchEncoding costs more than encoding a line.
        encoding = BatchEncoding.__new__(BatchEncoding)
        encoding.data = {"input_ids": ids}
        if "attention_mask" in names:
            encoding.data["attention_mask"] = [1] * len(ids)
        encoding._encodings = LazyEncodings(core, (text,), add_special_tokens, split)  # type: ignore[assignment]
        encoding._n_sequences = 1
        return encoding

    def _encode_plus(  # type: ignore[override]
        self, text: Any, text_pair: Any = None, **given: Any
    ) -> BatchEncoding:
        if given.get("sanitize_control_tokens") or inputs.holds_ids(text):
            if given.get("add_special_tokens", True) and given.get("sanitize_control_tokens"):
                self._refuse_template_specials()
            return super()._encode_plus(text, text_pair, **given)
        options = batch.Options.of_call(self, given)
        items, is_batched = inputs.as_batch(text, text_pair, is_split_into_words=options.is_split_into_words)
        if "sanitize_control_tokens" in given:
            # Only chat templates pass it, and upstream refuses their surrogates.
            inputs.refuse_surrogates(items)
        if not is_batched and options.wants_flat_overflow:
            return super()._encode_plus(text, text_pair or None, **given)
        return batch.encode_batch(self, items, options, is_batched=is_batched)

    def _refuse_template_specials(self) -> None:
        if self.num_special_tokens_to_add():
            raise NotImplementedError("sanitize_control_tokens=True needs a template that writes special tokens")

    def encode(
        self,
        text: Any,
        text_pair: Any = None,
        add_special_tokens: bool = True,
        *args: Any,
        allowed_special: Literal["all"] | Collection[str] | None = None,
        disallowed_special: Literal["all"] | Collection[str] | None = None,
        **kwargs: Any,
    ) -> Any:
        """Encode a text to ids: as upstream, or by tiktoken's rules where one of their arguments is given.

        Args:
            text: The text. For upstream's call also a list of words, or of ids.
            text_pair: A second text.
            add_special_tokens: Whether the post-processor adds its special tokens, such as BOS.
            *args: Upstream's further positional arguments.
            allowed_special: The special tokens that `text` may spell out, or "all". Others are ordinary text.
            disallowed_special: The special tokens whose text raises, or "all" but the allowed ones, the default.
            **kwargs: Upstream's further arguments.

        Returns:
            The ids. By tiktoken's rules no BOS or EOS is added.

        Raises:
            ValueError: `text` spells out a disallowed special token.

        Example:
            >>> tokenizer.encode("a<|endoftext|>", disallowed_special=())
            [64, 27, 91, 437, 1659, 5239, 91, 29]
            >>> tokenizer.encode("a<|endoftext|>", allowed_special="all")
            [64, 50256]
        """
        if allowed_special is not None or disallowed_special is not None:
            return tiktoken_rules.encode(self._core, text, allowed_special, disallowed_special)
        if type(text) is str and text_pair is None and not args and not kwargs and self._steps_are_known:
            ids = self._core.encode_ids(
                text, add_special_tokens=add_special_tokens, split_special_tokens=self.split_special_tokens
            )
            self._eventual_warn_about_too_long_sequence(ids, None, True)
            return ids
        return super().encode(text, text_pair, add_special_tokens, *args, **kwargs)

    def encode_ordinary(self, text: str) -> list[int]:
        """Encode `text` without ever yielding a special token: their text is text, and no BOS is added."""
        return self._core.encode_ordinary(text)

    def encode_ordinary_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Encode each of `texts` as `encode_ordinary` does, on all cores."""
        return self._core.encode_ordinary_batch(texts)

    def encode_bytes(self, data: bytes) -> list[int]:
        """Encode any bytes, damaged UTF-8 included, so that `decode_bytes` gives them back. No special tokens."""
        return self._core.encode_bytes(data)

    def tokenize(self, text: Any, pair: Any = None, add_special_tokens: bool = False, **kwargs: Any) -> list[str]:
        """Return the tokens of a text, or of a pair.

        Raises:
            TypeError: `text` is a list of ids.
        """
        if kwargs or type(text) is not str:
            if inputs.holds_ids(text):
                raise TypeError("tokenize takes a text, got a list of ids: call convert_ids_to_tokens() for those")
            if isinstance(text, (list, tuple)) and not text and not kwargs.get("is_split_into_words"):
                return []
            encoding = self._encode_plus(text, pair, add_special_tokens=add_special_tokens, **kwargs)
            tokens: list[str] = encoding.tokens()
            return tokens
        return self._core.tokenize(
            text, pair or None, add_special_tokens=add_special_tokens, split_special_tokens=self.split_special_tokens
        )

    def _encode_without_added_tokens(self, text: str) -> list[int]:
        # Added tokens that aren't special count as well here, and only the stock pipeline can run without them.
        twin = self.backend_tokenizer
        if twin.normalizer is not None:
            text = twin.normalizer.normalize_str(text)
        pieces = [text]
        if twin.pre_tokenizer is not None:
            pieces = [piece for piece, _ in twin.pre_tokenizer.pre_tokenize_str(text)]
        return [token.id for piece in pieces for token in twin.model.tokenize(piece)]
