"""`HfBpeTokenizer`: the class that people hold in their hands.

It is a `PreTrainedTokenizer` whose work is done by an immutable native core, `_core`. Nothing that decides ids
changes in place: adding tokens builds a new core and swaps it in, and settings of a call stay in that call. So one
tokenizer can serve many threads, its `__dict__` is what `datasets` may hash, and a copy shares the core.
"""

from __future__ import annotations

import copy
import functools
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tokenizers import AddedToken
from transformers import PreTrainedTokenizer
from transformers.tokenization_utils_base import BatchEncoding, PreTrainedTokenizerBase
from transformers.utils import logging
from transformers.utils.generic import to_py_obj

from hf_bpe import auto, backend, batch, inputs, loading, saving, special_tokens, tiktoken_rules
from hf_bpe._native import DecodeStream, Tokenizer
from hf_bpe.encoding import LazyEncodings

if TYPE_CHECKING:
    import numpy as np
    import tokenizers
    from numpy.typing import NDArray

logger = logging.get_logger(__name__)

# What loading leaves among the arguments and must not reach tokenizer_config.json: it differs from machine to machine.
_TRANSIENT_ARGUMENTS = ("backend", "is_local", "local_files_only", "trust_remote_code", "files_loaded", "_from_auto")


class HfBpeTokenizer(PreTrainedTokenizer):  # type: ignore[misc]
    """A byte pair encoding tokenizer with the stock fast tokenizer's ids and interface, and a native core.

    Everything that `transformers.PreTrainedTokenizerFast` returns for a directory comes out the same here, offsets,
    words, overflow windows and assistant masks included, but for these differences:

    - One text with `return_overflowing_tokens=True` and `add_special_tokens=False`, without offsets and tensors, has
      the shape of upstream's Python tokenizers: flat ids, `overflowing_tokens`, `num_truncated_tokens`. Any other
      call with overflow returns a list of windows and `overflow_to_sample_mapping`.
    - Lone surrogates become U+FFFD and pairs of them one character, where stock raises TypeError.
    - A stride that leaves no room to move on, and a `max_length` below the number of special tokens, raise ValueError.
    - An empty batch returns an empty encoding, and a list of ids is taken as already encoded.
    - An added token whose characters are all in the byte alphabet, such as "café", is decoded as it is written.

    Args:
        vocab_file: Unused beside `tokenizer_file`; with `merges_file`, the path of GPT-2's vocab.json.
        merges_file: The path of GPT-2's merges.txt.
        tokenizer_file: The path of a tokenizer.json.
        **kwargs: Upstream's arguments (special tokens, sides, `model_max_length`, `chat_template`, ...), and
            `tokenizer_object`, a `tokenizers.Tokenizer` to copy.

    Raises:
        TokenizerFileError: No file is given, or one is damaged.
        UnsupportedComponentError: tokenizer.json has a part that the core can't run exactly.

    Example:
        >>> tokenizer = HfBpeTokenizer.from_pretrained("path/to/directory")
        >>> tokenizer("hello world")["input_ids"]
        [31373, 995]
    """

    # Grammar engines take "tiktoken" in the name of the vocab file as the mark of a byte-level vocabulary.
    vocab_files_names = {
        "vocab_file": "vocab.tiktoken",
        "vocab_json_file": "vocab.json",
        "merges_file": "merges.txt",
        "tokenizer_file": "tokenizer.json",
    }
    # Read by methods of the Python base class, whose tables the core replaces.
    special_tokens_pattern = None
    token_type_ids_pattern = "bert_style"
    token_type_ids_include_special_tokens = True

    _core: Tokenizer

    def __init__(
        self,
        vocab_file: str | None = None,
        merges_file: str | None = None,
        tokenizer_file: str | None = None,
        **kwargs: Any,
    ) -> None:
        for name in _TRANSIENT_ARGUMENTS:
            kwargs.pop(name, None)
        files = {"vocab_file": kwargs.pop("vocab_json_file", None) or vocab_file, "merges_file": merges_file}
        settings = {**kwargs, **files}
        self._core = loading.read_core(kwargs.pop("tokenizer_object", None), tokenizer_file, settings)
        kwargs = {name: settings[name] for name in settings if name not in (*files, "tokenizer_object")}
        listed = kwargs.pop("added_tokens_decoder", None) or {}
        # Not the parent's initialiser: it fills a trie and tables of added tokens that the core replaces.
        PreTrainedTokenizerBase.__init__(self, **kwargs)
        # Upstream asks for this name before it uses offsets for assistant masks.
        self.backend = "tokenizers"
        self.add_prefix_space = kwargs.get("add_prefix_space", False)
        self._add_bos_token = kwargs.get("add_bos_token", False)
        self._add_eos_token = kwargs.get("add_eos_token", False)
        listed_tokens = [token for _, token in sorted(listed.items())]
        self._swap_in(
            special_tokens.tokens_to_add(
                self._core, listed_tokens, self._special_tokens_map.values(), self._extra_special_tokens
            )
        )
        if "add_bos_token" in kwargs or "add_eos_token" in kwargs or self._core.component("post_processor") is None:
            self.update_post_processor()

    @classmethod
    def _from_pretrained(
        cls, resolved_vocab_files: dict[str, str | None], *args: Any, **kwargs: Any
    ) -> HfBpeTokenizer:
        loading.add_saved_tokens(resolved_vocab_files, kwargs)
        tokenizer: HfBpeTokenizer = super()._from_pretrained(resolved_vocab_files, *args, **kwargs)
        return tokenizer

    @classmethod
    def register_for_auto_class(cls, auto_class: str | type = "AutoTokenizer") -> None:
        """Do nothing for this class, which importing hf_bpe registers; upstream's way copies its source on saving."""
        if cls is not HfBpeTokenizer:
            super().register_for_auto_class(auto_class)

    # Vocabulary

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

    @property
    def added_tokens_decoder(self) -> dict[int, AddedToken]:
        """Each added token by its id, in the order of ids."""
        return special_tokens.added_tokens_by_id(self._core)

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
        return self.convert_tokens_to_ids(self.all_special_tokens)

    def _add_tokens(self, new_tokens: Sequence[str | AddedToken], special_tokens: bool = False) -> int:
        return self._swap_in([_flags(token, special=special_tokens) for token in new_tokens])

    def _swap_in(self, tokens: list[special_tokens.Flags]) -> int:
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

    def _convert_id_to_token(self, index: int) -> str | None:
        return self._core.id_to_token(int(index))

    def get_token_bytes(self, id: int) -> bytes:
        """Return the bytes that a token stands for, which need not be whole characters.

        Example:
            >>> tokenizer.get_token_bytes(995)
            b' world'
        """
        return self._core.get_token_bytes(id)

    # Encoding

    @functools.wraps(PreTrainedTokenizerBase.__call__)
    def __call__(self, text: Any = None, *args: Any, **kwargs: Any) -> BatchEncoding:
        if type(text) is str and not args and not kwargs:
            return self._encode_one(text)
        return super().__call__(text, *args, **kwargs)

    def _encode_one(self, text: str) -> BatchEncoding:
        """Return what a call with one text and no settings returns, several times faster than the general way."""
        names = self.model_input_names
        if "token_type_ids" in names:
            return self._encode_plus(text)
        core = self._core
        split = self.split_special_tokens
        ids = core.encode_ids(text, split_special_tokens=split)
        if len(ids) > self.model_max_length:
            self._eventual_warn_about_too_long_sequence(ids, None, True)
        # The initialiser of BatchEncoding costs more than encoding a line.
        encoding = BatchEncoding.__new__(BatchEncoding)
        encoding.data = {"input_ids": ids}
        if "attention_mask" in names:
            encoding.data["attention_mask"] = [1] * len(ids)
        encoding._encodings = LazyEncodings(core, (text,), True, split)
        encoding._n_sequences = 1
        return encoding

    def _encode_plus(self, text: Any, text_pair: Any = None, **given: Any) -> BatchEncoding:
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

    def encode(  # type: ignore[override]
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
        if type(text) is str and text_pair is None and not args and not kwargs:
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

    def encode_to_numpy(
        self, texts: Sequence[str], *, add_special_tokens: bool = True, split_special_tokens: bool | None = None
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint64]]:
        """Encode `texts` to one flat array of ids, and the bounds of each text in it.

        Returns:
            `ids` and `bounds`: the ids of text `i` are `ids[bounds[i]:bounds[i + 1]]`.
        """
        split = self.split_special_tokens if split_special_tokens is None else split_special_tokens
        return self._core.encode_to_numpy(texts, add_special_tokens=add_special_tokens, split_special_tokens=split)

    def encode_bytes(self, data: bytes) -> list[int]:
        """Encode any bytes, damaged UTF-8 included, so that `decode_bytes` gives them back. No special tokens."""
        return self._core.encode_bytes(data)

    def tokenize(self, text: Any, pair: Any = None, add_special_tokens: bool = False, **kwargs: Any) -> list[str]:
        """Return the tokens of a text, or of a pair."""
        if kwargs or type(text) is not str:
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

    # Special tokens around texts

    def num_special_tokens_to_add(self, pair: bool = False) -> int:
        """Return how many tokens the post-processor adds to a text, or to a pair."""
        return self._core.num_special_tokens_to_add(pair=pair)

    def build_inputs_with_special_tokens(
        self, token_ids_0: list[int], token_ids_1: list[int] | None = None
    ) -> list[int]:
        """Put the post-processor's special tokens around ids."""
        return special_tokens.around(self._core, token_ids_0, token_ids_1).ids

    def create_token_type_ids_from_sequences(
        self, token_ids_0: list[int], token_ids_1: list[int] | None = None
    ) -> list[int]:
        """Return the type ids of what `build_inputs_with_special_tokens` returns."""
        return special_tokens.around(self._core, token_ids_0, token_ids_1).type_ids

    def get_special_tokens_mask(
        self, token_ids_0: list[int], token_ids_1: list[int] | None = None, already_has_special_tokens: bool = False
    ) -> list[int]:
        """Return 1 for each special token among ids that have them, or would get them, and 0 for the others."""
        if already_has_special_tokens:
            mask: list[int] = PreTrainedTokenizerBase.get_special_tokens_mask(self, token_ids_0, token_ids_1, True)
            return mask
        return special_tokens.around(self._core, token_ids_0, token_ids_1).special_tokens_mask

    @property
    def add_bos_token(self) -> bool:
        """Whether BOS was asked for by argument. Setting it replaces the post-processor, as in stock."""
        return bool(self.__dict__.get("_add_bos_token", False))

    @add_bos_token.setter
    def add_bos_token(self, value: bool) -> None:
        self._add_bos_token = value
        self.update_post_processor()

    @property
    def add_eos_token(self) -> bool:
        """Whether EOS was asked for by argument. Setting it replaces the post-processor, as in stock."""
        return bool(self.__dict__.get("_add_eos_token", False))

    @add_eos_token.setter
    def add_eos_token(self, value: bool) -> None:
        self._add_eos_token = value
        self.update_post_processor()

    def update_post_processor(self) -> None:
        """Make the post-processor add BOS and EOS as `add_bos_token` and `add_eos_token` say."""
        self._add_bos_token = self.add_bos_token and self.bos_token is not None
        self._add_eos_token = self.add_eos_token and self.eos_token is not None
        bos = (self.bos_token, self.bos_token_id) if self.add_bos_token else None
        eos = (self.eos_token, self.eos_token_id) if self.add_eos_token else None
        self._core = self._core.with_component("post_processor", special_tokens.bos_eos_template(bos, eos))

    # Decoding

    def decode(self, token_ids: Any, skip_special_tokens: bool = False, **kwargs: Any) -> Any:
        """Return the text of ids, or of each list of ids. An id that no token has adds nothing.

        Args:
            token_ids: An id, a list, array or tensor of ids, or a batch of these.
            skip_special_tokens: Whether special tokens are left out.
            **kwargs: Upstream's further arguments. No spaces are put between special tokens.

        Raises:
            OverflowError: An id is negative, or beyond 32 bits.
        """
        if type(token_ids) is list and token_ids and type(token_ids[0]) is int and not kwargs:
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
        sequences = to_py_obj(sequences)
        if not sequences or not all(isinstance(ids, (list, tuple)) for ids in sequences):
            texts: list[str] = super().batch_decode(
                sequences, skip_special_tokens, clean_up_tokenization_spaces, **kwargs
            )
            return texts
        texts = self._core.decode_batch(sequences, skip_special_tokens=skip_special_tokens)
        return [self._clean_up(text, clean_up_tokenization_spaces) for text in texts]

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
        """Return the text that the decoder makes of tokens."""
        return self._core.decode_tokens(tokens)

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

    # Saving, copying, training

    @property
    def backend_tokenizer(self) -> tokenizers.Tokenizer:
        """A stock `tokenizers.Tokenizer` of the same JSON, built on demand. Changing it doesn't change this object."""
        return backend.stock_twin(self)

    def save_pretrained(
        self,
        save_directory: str | os.PathLike[str],
        legacy_format: bool | None = None,
        filename_prefix: str | None = None,
        push_to_hub: bool = False,
        **kwargs: Any,
    ) -> tuple[str, ...]:
        """Write a directory that this class, `AutoTokenizer` and stock load with the same ids.

        Saving what was loaded from a saved directory writes the same bytes. Each file is replaced whole; chat
        templates and token files of an older save that this one doesn't write are removed.

        Args:
            save_directory: Where to write. Made when absent.
            legacy_format: Upstream's; tokenizer.json is written whatever it says.
            filename_prefix: Put before each file name, with a hyphen.
            push_to_hub: Whether to upload the tokenizer afterwards.
            **kwargs: Upstream's further arguments, such as `save_jinja_files`.

        Returns:
            The paths of the files.
        """
        directory = Path(save_directory)
        if directory.is_file():
            raise NotADirectoryError(f"{directory} is a file; save_pretrained() needs a directory.")
        with saving.staging(directory) as staged:
            written = super().save_pretrained(staged, None, filename_prefix, False, **kwargs)
            saving.publish(staged, directory, filename_prefix)
            names = tuple(str(directory / Path(file).relative_to(staged)) for file in written)
        auto.warn_if_forced(directory)
        if push_to_hub:
            self.push_to_hub(kwargs.pop("repo_id", directory.name), **kwargs)
        return names

    def _save_pretrained(
        self,
        save_directory: str | os.PathLike[str],
        file_names: tuple[str, ...],
        legacy_format: bool | None = None,
        filename_prefix: str | None = None,
    ) -> tuple[str, ...]:
        path = saving.write_tokenizer_json(self._core, Path(save_directory), filename_prefix)
        return (*file_names, str(path))

    def save_vocabulary(self, save_directory: str, filename_prefix: str | None = None) -> tuple[str, ...]:
        """Write GPT-2's vocab.json and merges.txt: the model alone, without pattern and special tokens.

        Raises:
            ValueError: A piece holds a space or a line end, which merges.txt can't carry.
        """
        return saving.write_vocab_and_merges(self._core, Path(save_directory), filename_prefix)

    def __deepcopy__(self, memo: dict[int, Any]) -> HfBpeTokenizer:
        clone: HfBpeTokenizer = type(self).__new__(type(self))
        memo[id(self)] = clone
        memo[id(self._core)] = self._core  # immutable, so that copies share it
        clone.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return clone

    def train_new_from_iterator(
        self,
        text_iterator: Iterable[str] | Iterable[list[str]],
        vocab_size: int,
        length: int | None = None,
        new_special_tokens: Sequence[str | AddedToken] | None = None,
        special_tokens_map: dict[str, str] | None = None,
        **kwargs: Any,
    ) -> HfBpeTokenizer:
        """Train a new vocabulary with this tokenizer's pipeline, special tokens and settings.

        Args:
            text_iterator: Texts, or lists of texts.
            vocab_size: The size of the new vocabulary, special tokens included.
            length: How many texts there are, for the progress bar.
            new_special_tokens: Special tokens to add to this tokenizer's.
            special_tokens_map: New names for this tokenizer's special tokens, by their old names.
            **kwargs: Settings of the stock trainer, such as `min_frequency`.

        Returns:
            The new tokenizer.
        """
        from hf_bpe.training import retrain

        trained = retrain(
            self._core.to_json(), text_iterator, vocab_size, length, new_special_tokens, special_tokens_map, **kwargs
        )
        settings = special_tokens.settings_of_retrained(self, new_special_tokens or (), special_tokens_map or {})
        return type(self)(tokenizer_object=Tokenizer.from_json(trained), **settings)


_flags = special_tokens.to_flags
