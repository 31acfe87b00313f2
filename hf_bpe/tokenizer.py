"""`HfBpeTokenizer`: the class that people hold in their hands.

It is a `PreTrainedTokenizer` whose work is done by an immutable native core, `_core`. Nothing that decides ids
changes in place: adding tokens builds a new core and swaps it in, and settings of a call stay in that call. So one
tokenizer can serve many threads, its `__dict__` is what `datasets` may hash, and a copy shares the core.
"""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self

from tokenizers import AddedToken
from transformers.tokenization_utils_base import PreTrainedTokenizerBase

from hf_bpe import auto, backend, loading, saving, special_tokens
from hf_bpe._native import Tokenizer
from hf_bpe.methods.decoding import DecodingMethods
from hf_bpe.methods.encoding import EncodingMethods
from hf_bpe.methods.template import TemplateMethods
from hf_bpe.vocabulary import Vocabulary

if TYPE_CHECKING:
    import tiktoken
    import tokenizers

# What loading leaves among the arguments and must not reach tokenizer_config.json: it differs from machine to machine,
# or, as the fingerprint, is found anew.
_TRANSIENT_ARGUMENTS = (
    *("backend", "is_local", "local_files_only", "trust_remote_code", "files_loaded", "_from_auto"),
    saving.FINGERPRINT,
)


class HfBpeTokenizer(EncodingMethods, DecodingMethods, TemplateMethods):
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
            `tokenizer_object`, a `tokenizers.Tokenizer` to copy; `dropout_seed`, see `with_dropout_seed`; and
            `compiled=False`, which reads tokenizer.json itself and keeps no compiled form of it.

    Raises:
        TokenizerFileError: No file is given, or one is damaged.
        UnsupportedComponentError: tokenizer.json has a part that the core can't run exactly.

    Example:
        >>> tokenizer = HfBpeTokenizer.from_pretrained("path/to/directory")
        >>> tokenizer("hello world")["input_ids"]
        [31373, 995]
    """

    # Grammar engines take "tiktoken" in the name of the vocab file as the mark of a byte-level vocabulary.
    vocab_files_names: ClassVar[dict[str, str]] = {  # type: ignore[misc]
        "vocab_file": "vocab.tiktoken",
        "vocab_json_file": "vocab.json",
        "merges_file": "merges.txt",
        "tokenizer_file": "tokenizer.json",
    }
    # Read by methods of the Python base class, whose tables the core replaces.
    special_tokens_pattern = None
    token_type_ids_pattern = "bert_style"
    token_type_ids_include_special_tokens = True
    # What the format that this tokenizer was read from knows beyond tokenizer.json.
    _details: Mapping[str, object] = MappingProxyType({})

    def __init__(
        self,
        vocab_file: str | None = None,
        merges_file: str | None = None,
        tokenizer_file: str | None = None,
        **kwargs: Any,
    ) -> None:
        for name in _TRANSIENT_ARGUMENTS:
            kwargs.pop(name, None)
        dropout_seed = kwargs.pop("dropout_seed", None)
        compiled = kwargs.pop("compiled", True) is not False
        files = {"vocab_file": kwargs.pop("vocab_json_file", None) or vocab_file, "merges_file": merges_file}
        settings = {**kwargs, **files}
        self._core = loading.read_core(
            kwargs.pop("tokenizer_object", None), tokenizer_file, settings, compiled=compiled
        )
        if dropout_seed is not None:
            self._core = self._core.with_dropout_seed(dropout_seed)
        for oddity in self._core.warnings():
            warnings.warn(oddity, stacklevel=2)
        kwargs = {name: settings[name] for name in settings if name not in (*files, "tokenizer_object")}
        listed = kwargs.pop("added_tokens_decoder", None) or {}
        # Not the parent's initialiser: it fills a trie and tables of added tokens that the core replaces.
        PreTrainedTokenizerBase.__init__(self, **kwargs)  # type: ignore[no-untyped-call]
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
    def _from_pretrained(cls, resolved_vocab_files: dict[str, str | None], *args: Any, **kwargs: Any) -> HfBpeTokenizer:
        loading.add_saved_tokens(resolved_vocab_files, kwargs)
        tokenizer: HfBpeTokenizer = super()._from_pretrained(  # type: ignore[no-untyped-call]
            resolved_vocab_files, *args, **kwargs
        )
        return tokenizer

    def with_dropout_seed(self, seed: int | None) -> Self:
        """Return a tokenizer that drops merges by other random numbers, for a model with BPE dropout.

        With a seed, ids are a function of the seed, the text and its place in a batch: the same on each call, each
        machine and any number of threads. For other segmentations in each epoch, take another seed for each.
        Without one, which is the default and the stock library's way, each call draws new numbers, in forked workers
        too. The seed is kept by pickling and copying, and not by `save_pretrained`.

        Args:
            seed: From 0 to 2**64 - 1, or None.

        Returns:
            A copy of this tokenizer, which shares its tables.

        Example:
            >>> tokenizer.with_dropout_seed(1).dropout_seed
            1
        """
        clone = copy.deepcopy(self)
        clone._core = self._core.with_dropout_seed(seed)
        return clone

    @property
    def dropout_seed(self) -> int | None:
        """The seed of the random numbers that drop merges; None where each call draws its own."""
        return self._core.dropout_seed

    @classmethod
    def from_vocabulary(cls, vocabulary: Vocabulary, **kwargs: Any) -> HfBpeTokenizer:
        """Return the tokenizer of a vocabulary that was trained, extended or read from any format.

        Args:
            vocabulary: Tokens, pipeline, special tokens by role, chat template.
            **kwargs: The constructor's arguments, in place of what the vocabulary says.

        Example:
            >>> HfBpeTokenizer.from_vocabulary(tokenizer.vocabulary).vocabulary == tokenizer.vocabulary
            True
        """
        settings = special_tokens.settings_of_vocabulary(vocabulary) | kwargs
        tokenizer = cls(tokenizer_object=vocabulary.core, **settings)
        if vocabulary.post_processor is None and not {"add_bos_token", "add_eos_token"} & settings.keys():
            # The constructor puts an empty template there, as stock does.
            tokenizer._core = tokenizer._core.with_component("post_processor", None)
        tokenizer._details = dict(vocabulary.details)
        return tokenizer

    @property
    def vocabulary(self) -> Vocabulary:
        """Everything that this tokenizer consists of, as the immutable value that formats write."""
        return Vocabulary(
            self._core,
            special_tokens=special_tokens.roles_of(self),
            chat_template=self.chat_template,
            details={**self._details, **special_tokens.settings_beside_vocabulary(self)},
        )

    @classmethod
    def register_for_auto_class(cls, auto_class: str | type = "AutoTokenizer") -> None:
        """Do nothing for this class, which importing hf_bpe registers; upstream's way copies its source on saving."""
        if cls is not HfBpeTokenizer:
            super().register_for_auto_class(auto_class)  # type: ignore[no-untyped-call]

    @property
    def backend_tokenizer(self) -> tokenizers.Tokenizer:
        """A stock `tokenizers.Tokenizer` of the same JSON, built on demand. Changing it doesn't change this object."""
        return backend.stock_twin(self)

    def to_tiktoken(self, name: str | None = None) -> tiktoken.Encoding:
        """Return a `tiktoken.Encoding` with the ids of this tokenizer.

        Each added token becomes a special token, found where a call allows it. tiktoken adds no BOS or EOS.

        Args:
            name: The name of the encoding.

        Raises:
            ConversionError: tiktoken would give other ids. The message has the shortest text that shows it.

        Example:
            >>> tokenizer.to_tiktoken().encode("hello world")
            [31373, 995]
        """
        from hf_bpe.formats import tiktoken_encoding

        return tiktoken_encoding.to_encoding(self.vocabulary, name)

    def save_pretrained(
        self,
        save_directory: str | os.PathLike[str],
        legacy_format: bool | None = None,
        filename_prefix: str | None = None,
        push_to_hub: bool = False,
        *,
        stock: bool = False,
        auto_map: bool = False,
        **kwargs: Any,
    ) -> tuple[str, ...]:
        """Write a directory that this class, `AutoTokenizer` and stock load with the same ids.

        Saving what was loaded from a saved directory writes the same bytes. Each file is replaced whole; chat
        templates and token files of an older save that this one doesn't write are removed. tokenizer_config.json holds
        the tokenizer's `hf_bpe.fingerprint`: where it isn't that of the files any more, something else changed them.

        Args:
            save_directory: Where to write. Made when absent.
            legacy_format: Upstream's; tokenizer.json is written whatever it says.
            filename_prefix: Put before each file name, with a hyphen.
            push_to_hub: Whether to upload the tokenizer afterwards.
            stock: Whether the config names stock's class, `PreTrainedTokenizerFast`: for `transformers` 4, and for
                converters that know no other. `AutoTokenizer` then loads stock's class, with the same ids.
            auto_map: Whether a module is written by which `AutoTokenizer` finds this class with
                `trust_remote_code=True`, in a program that doesn't import hf_bpe.
            **kwargs: Upstream's further arguments, such as `save_jinja_files`.

        Returns:
            The paths of the files.
        """
        from hf_bpe.fingerprinting import fingerprint

        directory = Path(save_directory)
        if directory.is_file():
            raise NotADirectoryError(f"{directory} is a file; save_pretrained() needs a directory.")
        with saving.staging(directory) as staged:
            written = super().save_pretrained(staged, None, filename_prefix, False, **kwargs)
            identity = fingerprint(self)
            more = saving.adapt(staged, filename_prefix, stock=stock, auto_map=auto_map, fingerprint=identity)
            written = (*written, *map(str, more))
            saving.publish(staged, directory, filename_prefix)
            names = tuple(str(directory / Path(file).relative_to(staged)) for file in written)
        auto.warn_if_forced(directory)
        if push_to_hub:
            kwargs.pop("save_jinja_files", None)
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
            text_iterator: Texts, lists of texts, or anything else that `hf_bpe.train` reads; a list of paths too.
            vocab_size: The size of the new vocabulary, special tokens included.
            length: How many texts there are, for the progress bar.
            new_special_tokens: Special tokens to add to this tokenizer's.
            special_tokens_map: New names for this tokenizer's special tokens, by their old names.
            **kwargs: Settings of the stock trainer, such as `min_frequency`, and of `hf_bpe.train`: `text_column`,
                `skip_bad_rows`, `num_threads`, `max_memory`, `temporary_directory` and `max_pretoken_bytes`.

        Returns:
            The new tokenizer.
        """
        from hf_bpe.retraining import retrain

        # Being special decides whether a token is normalized, unless it says so itself.
        new = [
            special_tokens.from_flags(special_tokens.to_flags(token, special=True))
            for token in new_special_tokens or ()
        ]
        trained = retrain(self._core.to_json(), text_iterator, vocab_size, length, new, special_tokens_map, **kwargs)
        settings = special_tokens.settings_of_retrained(self, new_special_tokens or (), special_tokens_map or {})
        return type(self)(tokenizer_object=Tokenizer.from_json(trained), **settings)
