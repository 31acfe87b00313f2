"""What a comparison needs of a tokenizer, whatever library it is from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from hf_bpe._native import Tokenizer
from hf_bpe.byte_alphabet import CHAR_TO_BYTE
from hf_bpe.errors import ConversionError
from hf_bpe.tokenizer import HfBpeTokenizer
from hf_bpe.vocabulary import Vocabulary

if TYPE_CHECKING:
    import tiktoken
    import tokenizers

Rows = list[list[int]]

MOST_ROWS = 1 << 24
"""Ids of a `tokenizers.Tokenizer`: written as JSON, it goes through each id up to the highest, and keeps the holes."""


class Side(Protocol):
    """A tokenizer in a comparison.

    Attributes:
        name: The library and its version.
        finds_special_tokens: Whether it can find special tokens that are written out in a text.
        has_template: Whether it can add what a template adds, such as BOS.
    """

    name: str
    finds_special_tokens: bool
    has_template: bool

    def encode(self, texts: Sequence[str], *, special_tokens: bool, template: bool = False) -> Rows:
        """Return the ids of each text, with or without finding special tokens in it."""

    def decode(self, rows: Rows) -> list[str]:
        """Return the text of each row, special tokens included."""

    def ordinary_ids(self) -> set[int]:
        """Return the ids of tokens that aren't added tokens."""

    def token_texts(self) -> Iterator[str]:
        """Yield the text of each ordinary token that has one: part of a character has none."""

    def added_tokens(self) -> list[str]:
        """Return the added tokens."""

    def merges(self) -> list[tuple[str, str]]:
        """Return the merges in order; none where the library has no list of them."""

    def texts_of(self, tokens: Iterator[str]) -> Iterator[str]:
        """Yield the text of each of these that has one, spelled as in `merges`."""


def library(package: str) -> str:
    """Return the name and the version of an installed package."""
    try:
        return f"{package} {version(package.replace('_', '-'))}"
    except PackageNotFoundError:
        return package


class Ours:
    """The native core."""

    finds_special_tokens = True
    has_template = True

    def __init__(self, core: Tokenizer) -> None:
        self.core = core
        self.name = library("hf_bpe")

    def encode(self, texts: Sequence[str], *, special_tokens: bool, template: bool = False) -> Rows:
        return self.core.encode_ids_batch(texts, add_special_tokens=template, split_special_tokens=not special_tokens)

    def decode(self, rows: Rows) -> list[str]:
        return self.core.decode_batch(rows)

    def ordinary_ids(self) -> set[int]:
        """Leave out `<0x20>` where spaces are "▁": no text gives it, and some decoders drop it at the start."""
        ids = set(self.core.get_vocab(with_added_tokens=False).values()) - {id for id, _ in self.core.added_tokens()}
        space = self.core.token_to_id("<0x20>")
        if space is None or not self.core.model_settings()["byte_fallback"]:
            return ids
        met = {id for row in self.core.encode_ids_batch([" ", "  "]) for id in row}
        return ids if space in met else ids - {space}

    def token_texts(self) -> Iterator[str]:
        added = {flags[0] for _, flags in self.core.added_tokens()}
        tokens = (token for token in self.core.get_vocab(with_added_tokens=False) if token not in added)
        return self.texts_of(tokens)

    def added_tokens(self) -> list[str]:
        return [flags[0] for _, flags in self.core.added_tokens()]

    def merges(self) -> list[tuple[str, str]]:
        return self.core.merges()

    def texts_of(self, tokens: Iterator[str]) -> Iterator[str]:
        return _texts(tokens, byte_level=self.core.is_byte_level)


class Stock:
    """A `tokenizers.Tokenizer`. It is copied, since settings of the original may change what it gives."""

    finds_special_tokens = True
    has_template = True

    def __init__(self, tokenizer: tokenizers.Tokenizer) -> None:
        self.name = library("tokenizers")
        rows = 1 + max(tokenizer.get_vocab().values(), default=0)
        if rows > MOST_ROWS:
            raise ConversionError(
                f"{self.name} has ids up to {rows - 1:,}, and takes memory for each below that; compare() reads "
                f"{MOST_ROWS:,} at most."
            )
        self._tokenizer = type(tokenizer).from_str(tokenizer.to_str())
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def encode(self, texts: Sequence[str], *, special_tokens: bool, template: bool = False) -> Rows:
        self._tokenizer.encode_special_tokens = not special_tokens
        encodings = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=template)
        return [encoding.ids for encoding in encodings]

    def decode(self, rows: Rows) -> list[str]:
        return list(self._tokenizer.decode_batch(rows, skip_special_tokens=False))

    def ordinary_ids(self) -> set[int]:
        vocab = self._tokenizer.get_vocab(with_added_tokens=False)
        return set(vocab.values()) - set(self._tokenizer.get_added_tokens_decoder())

    def token_texts(self) -> Iterator[str]:
        added = set(self.added_tokens())
        return self.texts_of(
            token for token in self._tokenizer.get_vocab(with_added_tokens=False) if token not in added
        )

    def added_tokens(self) -> list[str]:
        return [token.content for token in self._tokenizer.get_added_tokens_decoder().values()]

    def merges(self) -> list[tuple[str, str]]:
        listed = json.loads(self._tokenizer.to_str())["model"].get("merges") or []
        return [tuple(pair) if isinstance(pair, list) else tuple(pair.split(" ")) for pair in listed]

    def texts_of(self, tokens: Iterator[str]) -> Iterator[str]:
        decoder = self._tokenizer.decoder
        return _texts(tokens, byte_level=decoder is not None and b"ByteLevel" in decoder.__getstate__())


class _WithoutMerges:
    """A side whose library has ranks or scores, and no list of merges."""

    def merges(self) -> list[tuple[str, str]]:
        return []

    def texts_of(self, tokens: Iterator[str]) -> Iterator[str]:
        return _texts(tokens, byte_level=False)


class Tiktoken(_WithoutMerges):
    """A `tiktoken.Encoding`."""

    finds_special_tokens = True
    has_template = False

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        self.name = library("tiktoken")
        self._encoding = encoding

    def encode(self, texts: Sequence[str], *, special_tokens: bool, template: bool = False) -> Rows:
        if special_tokens and self._encoding._special_tokens:
            return [self._encoding.encode(text, allowed_special="all") for text in texts]
        return [self._encoding.encode_ordinary(text) for text in texts]

    def decode(self, rows: Rows) -> list[str]:
        return [self._encoding.decode(row) for row in rows]

    def ordinary_ids(self) -> set[int]:
        return set(self._encoding._mergeable_ranks.values())

    def token_texts(self) -> Iterator[str]:
        return _valid(self._encoding._mergeable_ranks)

    def added_tokens(self) -> list[str]:
        return list(self._encoding._special_tokens)


class SentencePiece(_WithoutMerges):
    """A `sentencepiece.SentencePieceProcessor`. It never finds control pieces in a text."""

    finds_special_tokens = False
    has_template = False

    def __init__(self, processor: Any) -> None:
        self.name = library("sentencepiece")
        self._processor = processor

    def encode(self, texts: Sequence[str], *, special_tokens: bool, template: bool = False) -> Rows:
        return list(self._processor.encode(list(texts), out_type=int, add_bos=False, add_eos=False))

    def decode(self, rows: Rows) -> list[str]:
        return [self._processor.decode(row) if row else "" for row in rows]

    def ordinary_ids(self) -> set[int]:
        """Byte pieces are left out: alone they stand for no text, and `<0x20>` is a space only here."""
        model = self._processor
        odd = (model.is_control, model.is_unknown, model.is_unused, model.is_byte)
        return {id for id in range(model.get_piece_size()) if not any(is_odd(id) for is_odd in odd)}

    def token_texts(self) -> Iterator[str]:
        pieces = (self._processor.id_to_piece(id) for id in sorted(self.ordinary_ids()))
        return _texts(pieces, byte_level=False)

    def added_tokens(self) -> list[str]:
        return []


class Tekken(_WithoutMerges):
    """mistral-common's `Tekkenizer`. It never finds special tokens in a text."""

    finds_special_tokens = False
    has_template = False

    def __init__(self, tekkenizer: Any) -> None:
        from mistral_common.tokens.tokenizers.base import SpecialTokenPolicy

        self.name = library("mistral_common")
        self._tekkenizer = tekkenizer
        self._keep = SpecialTokenPolicy.KEEP

    def encode(self, texts: Sequence[str], *, special_tokens: bool, template: bool = False) -> Rows:
        return [self._tekkenizer.encode(text, bos=False, eos=False) for text in texts]

    def decode(self, rows: Rows) -> list[str]:
        return [self._tekkenizer.decode(row, special_token_policy=self._keep) for row in rows]

    def ordinary_ids(self) -> set[int]:
        return set(range(self._tekkenizer.num_special_tokens, self._tekkenizer.n_words))

    def token_texts(self) -> Iterator[str]:
        return _valid(self._tekkenizer.id_to_byte_piece(id, self._keep) for id in sorted(self.ordinary_ids()))

    def added_tokens(self) -> list[str]:
        return []


def side_of(tokenizer: Any) -> Side:
    """Return a tokenizer of any known kind as a side.

    Raises:
        TypeError: It is of no known kind.
    """
    kinds = {f"{kind.__module__.split('.')[0]}.{kind.__name__}" for kind in type(tokenizer).__mro__}
    if isinstance(tokenizer, HfBpeTokenizer):
        return Ours(tokenizer._core)
    if isinstance(tokenizer, Vocabulary):
        return Ours(tokenizer.core)
    if isinstance(tokenizer, Tokenizer):
        return Ours(tokenizer)
    if "tokenizers.Tokenizer" in kinds:
        return Stock(tokenizer)
    if "tiktoken.Encoding" in kinds:
        return Tiktoken(tokenizer)
    if "sentencepiece.SentencePieceProcessor" in kinds:
        return SentencePiece(tokenizer)
    if "mistral_common.Tekkenizer" in kinds:
        return Tekken(tokenizer)
    inner = _inside(tokenizer, kinds)
    if inner is None:
        raise TypeError(
            f"hf_bpe knows tokenizers of hf_bpe, tokenizers, transformers (fast ones), tiktoken, sentencepiece and "
            f"mistral-common, got {type(tokenizer)!r}."
        )
    return side_of(inner)


def _inside(tokenizer: Any, kinds: set[str]) -> Any:
    """Return the tokenizer that a known wrapper holds, or None."""
    if "mistral_common.MistralTokenizer" in kinds:
        return tokenizer.instruct_tokenizer.tokenizer
    if "mistral_common.SentencePieceTokenizer" in kinds:
        return tokenizer._model
    if "transformers.PreTrainedTokenizerBase" in kinds:
        return getattr(tokenizer, "backend_tokenizer", None)
    return None


def _texts(tokens: Iterator[str], *, byte_level: bool) -> Iterator[str]:
    if byte_level:
        spelled = (token for token in tokens if all(char in CHAR_TO_BYTE for char in token))
        return _valid(bytes(CHAR_TO_BYTE[char] for char in token) for token in spelled)
    return (token.replace("▁", " ").removesuffix("</w>") for token in tokens)


def _valid(tokens: Any) -> Iterator[str]:
    """Yield those tokens that are UTF-8."""
    for token in tokens:
        try:
            yield token.decode()
        except UnicodeDecodeError:
            continue


def read(source: Any) -> Any:
    """Return `source`, or the vocabulary in the file that it names."""
    if not isinstance(source, str | Path):
        return source
    from hf_bpe import formats

    path = Path(source)
    return formats.get(formats.detect(path)).read(path)
