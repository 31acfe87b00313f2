"""The native core: immutable objects, safe to share between threads, pickled by content."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Buffer

__all__ = [
    "Counter",
    "CountsChunks",
    "DecodeStream",
    "Encoding",
    "SortedCounts",
    "SortedCountsBuilder",
    "Tokenizer",
    "_rebuild_encoding",
    "cache_limit",
    "check_extensible",
    "compile_json",
    "crossing_merges",
    "digest_of_file",
    "encode_words",
    "learn_from_sources",
    "load_compiled",
    "num_threads",
    "plan_words",
    "set_cache_limit",
    "set_worker_process",
    "supported_components",
    "unicode_versions",
    "words_of",
]

# content, special, normalized, single_word, lstrip, rstrip
_Flags = tuple[str, bool, bool, bool, bool, bool]
# max_length, stride, strategy, side
_Truncation = tuple[int, int, Literal["longest_first", "only_first", "only_second"], Literal["right", "left"]]
# start, end, which list of tokens may be found there (None: all of them)
_Part = tuple[int, int, int | None]
_Ids = Sequence[int] | NDArray[np.integer[Any]]
_Component = Literal["truncation", "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder"]

@final
class Tokenizer:
    """The pipeline that a `tokenizer.json` describes."""

    @staticmethod
    def from_json(data: str | bytes, dropout_seed: int | None = None) -> Tokenizer: ...
    @staticmethod
    def from_vocab_and_merges(
        vocab: dict[str, int],
        merges: Sequence[tuple[str, str]],
        components: dict[str, str],
        *,
        ignore_merges: bool = False,
        unk_token: str | None = None,
    ) -> Tokenizer: ...
    @staticmethod
    def from_ranks(
        ranks: dict[bytes, int],
        special_tokens: dict[str, int],
        components: dict[str, str],
        *,
        ignore_merges: bool = True,
    ) -> Tokenizer: ...
    def ranks(self) -> dict[bytes, int]: ...
    def with_model(
        self, vocab: dict[str, int], merges: Sequence[tuple[str, str]], ignore_merges: bool
    ) -> Tokenizer: ...
    def extended(
        self,
        tokens: Sequence[tuple[str, int]],
        merges: Sequence[tuple[int, int, int]],
        *,
        at: int | None = None,
    ) -> Tokenizer: ...
    def as_rank_file(self) -> Tokenizer: ...
    def agreement_with_ranks(
        self,
    ) -> tuple[Literal["equal", "different", "unproved"], list[bytes], list[bytes]]: ...
    def to_json(self, *, pretty: bool = True) -> str: ...
    def component(self, name: _Component) -> str | None: ...
    def with_component(self, name: _Component, value: str | None) -> Tokenizer: ...
    def with_dropout_seed(self, seed: int | None) -> Tokenizer: ...
    def with_added_tokens(self, tokens: Sequence[_Flags]) -> tuple[Tokenizer, int]: ...
    def added_tokens(self) -> list[tuple[int, _Flags]]: ...
    @property
    def longest_added_token(self) -> int: ...
    def warnings(self) -> list[str]: ...
    # vocabulary
    @property
    def vocab_size(self) -> int: ...
    @property
    def max_id(self) -> int: ...
    @property
    def is_byte_level(self) -> bool: ...
    @property
    def unk_token(self) -> str | None: ...
    def model_settings(self) -> dict[str, Any]: ...
    def get_vocab(self, *, with_added_tokens: bool = True) -> dict[str, int]: ...
    @property
    def dropout(self) -> float | None: ...
    @property
    def dropout_seed(self) -> int | None: ...
    def merges(self) -> list[tuple[str, str]]: ...
    def token_to_id(self, token: str) -> int | None: ...
    def id_to_token(self, id: int) -> str | None: ...
    def tokens_to_ids(self, tokens: Sequence[str]) -> list[int | None]: ...
    def ids_to_tokens(self, ids: Sequence[int]) -> list[str | None]: ...
    def get_token_bytes(self, id: int) -> bytes: ...
    def num_special_tokens_to_add(self, *, pair: bool = False) -> int: ...
    def with_special_tokens(
        self, ids: Sequence[int], pair_ids: Sequence[int] | None = None
    ) -> tuple[list[int], list[int], list[int]]: ...
    # encoding
    def encode_ids(
        self, text: str, pair: str | None = None, *, add_special_tokens: bool = True, split_special_tokens: bool = False
    ) -> list[int]: ...
    def encode_ids_batch(
        self,
        texts: Sequence[str],
        *,
        add_special_tokens: bool = True,
        split_special_tokens: bool = False,
    ) -> list[list[int]]: ...
    def encode_to_numpy(
        self,
        texts: Sequence[str],
        *,
        add_special_tokens: bool = True,
        split_special_tokens: bool = False,
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint64]]: ...
    def encode_to_numpy_with_offsets(
        self,
        texts: Sequence[str],
        *,
        add_special_tokens: bool = True,
        split_special_tokens: bool = False,
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint64], NDArray[np.uint32]]: ...
    def encode_arrow(
        self,
        columns: Sequence[tuple[Buffer, Buffer, Buffer | None, int, int, int, bool]],
        *,
        add_special_tokens: bool = True,
        split_special_tokens: bool = False,
    ) -> tuple[NDArray[np.uint32], NDArray[np.int32] | NDArray[np.int64], NDArray[np.uint8] | None]: ...
    def count_tokens(
        self, text: str, *, add_special_tokens: bool = True, split_special_tokens: bool = False
    ) -> int: ...
    def count_tokens_batch(
        self, texts: Sequence[str], *, add_special_tokens: bool = True, split_special_tokens: bool = False
    ) -> list[int]: ...
    def cut_places(self, text: str, size: int) -> list[int]: ...
    def encode_ordinary(self, text: str) -> list[int]: ...
    def encode_ordinary_batch(self, texts: Sequence[str]) -> list[list[int]]: ...
    def encode_with_special_tokens(self, text: str, allowed: Sequence[str] | None) -> list[int]: ...
    def encode_within(
        self, text: str, parts: Sequence[_Part], lists: Sequence[Sequence[str]] = ..., *, start: int = 0
    ) -> tuple[list[int], list[tuple[int, int, int]]]: ...
    def align_within(
        self, text: str, parts: Sequence[_Part], lists: Sequence[Sequence[str]] = ..., *, start: int = 0
    ) -> tuple[list[int], NDArray[np.int64]]: ...
    def find_added_tokens(self, text: str, parts: Sequence[_Part] = ...) -> list[tuple[int, int, str]]: ...
    def find_special_token(
        self, text: str, disallowed: Sequence[str] | None, allowed: Sequence[str] = ...
    ) -> str | None: ...
    def is_special_token(self, token: str) -> bool: ...
    def encode_bytes(self, data: bytes) -> list[int]: ...
    def encode(
        self,
        text: str | Sequence[str],
        pair: str | Sequence[str] | None = None,
        *,
        add_special_tokens: bool = True,
        split_special_tokens: bool = False,
        truncation: _Truncation | None = None,
    ) -> Encoding: ...
    def encode_batch(
        self,
        inputs: Sequence[str | Sequence[str] | tuple[str | Sequence[str], str | Sequence[str]]],
        *,
        add_special_tokens: bool = True,
        split_special_tokens: bool = False,
        truncation: _Truncation | None = None,
    ) -> list[Encoding]: ...
    def tokenize(
        self,
        text: str,
        pair: str | None = None,
        *,
        add_special_tokens: bool = False,
        split_special_tokens: bool = False,
    ) -> list[str]: ...
    # decoding
    def decode(self, ids: _Ids, *, skip_special_tokens: bool = False) -> str: ...
    def decode_batch(self, batch: Sequence[_Ids], *, skip_special_tokens: bool = False) -> list[str]: ...
    def decode_bytes(self, ids: _Ids) -> bytes: ...
    def decode_tokens(self, tokens: Sequence[str]) -> str: ...
    # the cache of pretokens
    def clear_cache(self) -> None: ...
    def __reduce__(self) -> tuple[object, ...]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Encoding:
    """One window of one text (or pair): ids, offsets, masks; the overflowing windows behind it."""

    @property
    def ids(self) -> list[int]: ...
    @property
    def tokens(self) -> list[str]: ...
    @property
    def offsets(self) -> list[tuple[int, int]]: ...
    @property
    def word_ids(self) -> list[int | None]: ...
    @property
    def words(self) -> list[int | None]: ...
    @property
    def sequence_ids(self) -> list[int | None]: ...
    @property
    def type_ids(self) -> list[int]: ...
    @property
    def special_tokens_mask(self) -> list[int]: ...
    @property
    def attention_mask(self) -> list[int]: ...
    @property
    def overflowing(self) -> list[Encoding]: ...
    @property
    def n_sequences(self) -> int: ...
    def token_to_sequence(self, token_index: int) -> int | None: ...
    def token_to_chars(self, token_index: int) -> tuple[int, int] | None: ...
    def token_to_word(self, token_index: int) -> int | None: ...
    def char_to_token(self, char_pos: int, sequence_index: int = 0) -> int | None: ...
    def char_to_word(self, char_pos: int, sequence_index: int = 0) -> int | None: ...
    def word_to_tokens(self, word_index: int, sequence_index: int = 0) -> tuple[int, int] | None: ...
    def word_to_chars(self, word_index: int, sequence_index: int = 0) -> tuple[int, int] | None: ...
    def pad(
        self, length: int, *, pad_id: int, pad_type_id: int, pad_token: str, side: Literal["right", "left"]
    ) -> Encoding: ...
    def __len__(self) -> int: ...
    def __reduce__(self) -> tuple[object, ...]: ...

@final
class DecodeStream:
    """Decodes ids one by one; never hands out half a character."""

    def __new__(cls, tokenizer: Tokenizer, *, skip_special_tokens: bool = False) -> DecodeStream: ...
    def step(self, ids: int | Sequence[int]) -> str: ...
    def flush(self) -> str: ...

@final
class Counter:
    """A table of pretokens and their counts, filled batch by batch; from it a vocabulary is learned."""

    def __new__(
        cls,
        tokenizer: Tokenizer,
        *,
        between_added_tokens: bool = False,
        num_threads: int | None = None,
        max_memory: int | None = None,
        temporary_directory: str | None = None,
        max_pretoken_bytes: int | None = None,
        part_size: int = ...,
    ) -> Counter: ...
    @property
    def max_pretoken_bytes(self) -> int | None: ...
    @property
    def cut_pretokens(self) -> int: ...
    @property
    def spilled_bytes(self) -> int: ...
    def count(self, texts: Sequence[str]) -> tuple[int, int, int]: ...
    def count_parts(self, parts: Iterable[str]) -> tuple[int, int, int]: ...
    def count_arrow(
        self,
        data: Buffer,
        offsets: Buffer,
        validity: Buffer | None,
        *,
        data_start: int,
        first_bit: int,
        length: int,
        large: bool,
    ) -> tuple[int, int, int]: ...
    def count_weighted(self, pretokens: Sequence[tuple[bytes, int]]) -> None: ...
    def count_sorted(self, counts: SortedCounts) -> None: ...
    def take_sorted(self) -> SortedCounts: ...
    def counts(self) -> list[tuple[bytes, int]]: ...
    def distinct_bytes(self) -> int: ...
    def containing(self, token: str) -> list[tuple[tuple[bytes, int], int]]: ...
    def learn(
        self,
        *,
        vocab_size: int,
        min_frequency: int = 0,
        max_token_length: int | None = None,
        within_scripts: bool = False,
        max_digits: int | None = None,
        characters: bool = False,
        initial_alphabet: Sequence[str] | None = None,
        limit_alphabet: int | None = None,
        continuing_subword_prefix: str | None = None,
        end_of_word_suffix: str | None = None,
        special_tokens: Sequence[str] = ...,
        reserved_tokens: Sequence[str] = ...,
        last_special_tokens: Sequence[str] = ...,
        keep: bool = True,
        progress: Callable[[int, int], object] | None = None,
    ) -> tuple[list[str], list[tuple[str, str]]]: ...
    def growth(self) -> tuple[int, int, list[tuple[int, int]]]: ...
    def learn_on(
        self,
        *,
        new_tokens: int,
        first_id: int,
        min_frequency: int = 0,
        max_token_length: int | None = None,
        new_characters: bool = True,
        progress: Callable[[int, int], object] | None = None,
    ) -> tuple[list[tuple[str, tuple[int, int] | None, int]], int, int]: ...
    def __len__(self) -> int: ...

@final
class SortedCounts:
    """Distinct pretokens in order of bytes and their counts, in memory or in a temporary file without a name."""

    @staticmethod
    def sum(
        parts: Sequence[tuple[SortedCounts, int, int]],
        *,
        max_memory: int | None = None,
        temporary_directory: str | None = None,
    ) -> SortedCounts: ...
    @property
    def total(self) -> int: ...
    @property
    def text_bytes(self) -> int: ...
    @property
    def in_file(self) -> bool: ...
    def corpus_bytes(self, *, characters: bool) -> int: ...
    def most_common(self, number: int) -> list[tuple[bytes, int]]: ...
    def chunks(self) -> CountsChunks: ...
    @staticmethod
    def distinct_bytes(parts: Sequence[SortedCounts]) -> int: ...
    def __len__(self) -> int: ...

def learn_from_sources(
    parts: Sequence[tuple[SortedCounts, int]],
    *,
    quotas: Sequence[tuple[int, int, int]],
    settings: dict[str, object],
    progress: Callable[[int, int], object] | None = None,
) -> tuple[
    tuple[list[str], list[tuple[str, str]]],
    tuple[int, list[int], list[int], list[tuple[int, int, list[int]]], list[int], list[tuple[int, int]]],
]: ...

@final
class CountsChunks:
    """An iterator of the bytes of pretokens, where they begin and end, and their counts, numbers of 64 bits each."""

    def __iter__(self) -> CountsChunks: ...
    def __next__(self) -> tuple[bytes, bytes, bytes]: ...

@final
class SortedCountsBuilder:
    """Makes counts of chunks that come in order of bytes."""

    def __new__(
        cls, *, max_memory: int | None = None, temporary_directory: str | None = None
    ) -> SortedCountsBuilder: ...
    def push(self, data: Buffer, offsets: Buffer, counts: Buffer) -> None: ...
    def finish(self) -> SortedCounts: ...

def unicode_versions() -> dict[str, str]:
    """Return the versions of Unicode that normalizers and split patterns follow."""

def words_of(tokenizer: Tokenizer, text: str) -> list[str]:
    """Return the words that the model sees of a text between its added tokens, as the vocabulary spells them."""

def check_extensible(tokenizer: Tokenizer) -> None:
    """Raise unless the tokenizer can have more tokens, and keep the ids that it gives."""

def encode_words(tokenizer: Tokenizer, words: Sequence[str]) -> list[list[int]]:
    """Return what the model makes of words alone, which are spelled as in the vocabulary."""

def plan_words(
    tokenizer: Tokenizer, words: Sequence[str], *, first_id: int, at: int | None = None
) -> list[
    tuple[
        Literal["known", "chain", "dead", "unspellable", "taken"],
        list[int],
        list[tuple[str, int, tuple[int, int] | None]],
    ]
]:
    """Return, for each word, the tokens to make: text, id, halves of the merge; or the ids that stand in the way."""

def crossing_merges(
    tokenizer: Tokenizer, part: str, words: Sequence[tuple[bytes, int]]
) -> list[tuple[int, tuple[int, int]] | None]:
    """Return the first merge across an end of `part` in each word: its rank and halves; None where there is none."""

def digest_of_file(path: str) -> bytes:
    """Return the BLAKE3 digest of what a file holds."""

def compile_json(data: bytes) -> tuple[Tokenizer, bytes, bytes | None]:
    """Return the tokenizer of a tokenizer.json, the digest of its bytes, and its compiled form.

    The form is None where it would not give the same tokenizer: a number that no 64 bits hold exactly.
    """

def load_compiled(form: bytes, digest: bytes) -> Tokenizer | None:
    """Return the tokenizer of a compiled form, or None where it is damaged, or of another file or version."""

def num_threads() -> int:
    """Return the number of threads that a batch may use."""

def cache_limit() -> int:
    """Return how many bytes the pretoken caches of this process may take together."""

def set_cache_limit(bytes: int) -> None:
    """Set how many bytes the pretoken caches of this process may take together."""

def set_worker_process() -> None:
    """Say that this process is one of several workers, each of which should use one thread."""

def supported_components() -> dict[str, list[str]]:
    """Return the kinds of components that can run, by the part of a tokenizer.json that holds them."""

def _rebuild_encoding(state: Any) -> Encoding:
    """Make an encoding of what `__reduce__` gave."""
