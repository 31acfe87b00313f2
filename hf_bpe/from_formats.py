"""Tokenizers from files of other libraries: one public function a format."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hf_bpe.errors import ConversionError
from hf_bpe.formats import arguments, files, gguf, gpt2, sentencepiece, tekken, tiktoken_encoding
from hf_bpe.formats import tiktoken as tiktoken_files
from hf_bpe.tokenizer import HfBpeTokenizer
from hf_bpe.vocabulary import Vocabulary

if TYPE_CHECKING:
    import tiktoken


def from_sentencepiece(
    path: str | Path, *, add_bos_token: bool = True, add_eos_token: bool = False, **kwargs: Any
) -> HfBpeTokenizer:
    """Make a tokenizer of a SentencePiece model of type BPE.

    Ids equal those of `sentencepiece` on any text, between the special tokens that are added. Control pieces are
    found in texts unless `split_special_tokens=True`; SentencePiece never finds them. A model that maps characters
    (NFKC) maps decomposed text a little otherwise than a tokenizer.json can: a warning shows the shortest such text.

    Args:
        path: The `.model` file.
        add_bos_token: Whether encoding adds the model's BOS piece, as Llama and Mistral do.
        add_eos_token: Whether it adds the EOS piece.
        **kwargs: Arguments of `HfBpeTokenizer`, such as `chat_template`.

    Raises:
        ConversionError: The file is damaged, of another type, or says what a tokenizer.json can't.
        ImportError: The packages sentencepiece and protobuf are missing.

    Example:
        >>> tokenizer = from_sentencepiece("tokenizer.model")
        >>> tokenizer("Hello world").input_ids
        [1, 15043, 3186]
    """
    path = arguments.a_path(path, "path")
    read = sentencepiece.read(path, add_bos_token=add_bos_token, add_eos_token=add_eos_token)
    return HfBpeTokenizer.from_vocabulary(read, **kwargs)


def from_gguf(path: str | Path, **kwargs: Any) -> HfBpeTokenizer:
    """Make a tokenizer of the vocabulary in a GGUF file, with its chat template.

    Args:
        path: The `.gguf` file, with or without tensors.
        **kwargs: Arguments of `HfBpeTokenizer`.

    Raises:
        ConversionError: The file is damaged, or of a kind or with a pre-tokenizer that hf_bpe doesn't know.

    Example:
        >>> tokenizer = from_gguf("ggml-vocab-llama-spm.gguf")
        >>> tokenizer("Hello world").input_ids
        [1, 15043, 3186]
    """
    return HfBpeTokenizer.from_vocabulary(gguf.read(arguments.a_path(path, "path")), **kwargs)


def from_tiktoken(
    encoding: tiktoken.Encoding | str | PathLike[str],
    *,
    split_pattern: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    normalizer: object = None,
    add_bos_token: bool = False,
    **kwargs: Any,
) -> HfBpeTokenizer:
    """Return the tokenizer of a tiktoken encoding, or of a file of ranks, with equal ids.

    Files are `.tiktoken` files, and the `tokenizer.model` of Llama 3 and 4, Kimi K2 and Qwen. They hold tokens only:
    what they lack is looked up for published encodings, and asked for otherwise.

    BOS is known by its role, and not added: tiktoken and Meta's own loader add it only where they are told to. For the
    ids of the tokenizer.json that Meta publishes for Llama 3, which begin with BOS, pass `add_bos_token=True`.

    Args:
        encoding: A `tiktoken.Encoding`, the name of one that tiktoken knows, or the path of a file.
        split_pattern: For a file of unknown ranks: the name of a published pattern, or a regex.
        special_tokens: For a file: the id of each special token, in place of those that are known.
        normalizer: For a file of unknown ranks: what happens to a text first, such as `"NFC"`.
        add_bos_token: Whether encoding adds BOS before each text.
        **kwargs: Arguments of `HfBpeTokenizer`, such as `eos_token`.

    Raises:
        ConversionError: The file is damaged, its split pattern isn't known, or the pattern can't be run exactly.

    Example:
        >>> tokenizer = hf_bpe.from_tiktoken("path/to/cl100k_base.tiktoken")
        >>> tokenizer.encode("hello world")
        [15339, 1917]
    """
    special_tokens = arguments.ids_by_token(special_tokens, "special_tokens")
    given: dict[str, Any] = {"split_pattern": split_pattern, "special_tokens": special_tokens, "normalizer": normalizer}
    if isinstance(encoding, str) and not Path(encoding).suffix and not files.is_there(Path(encoding)):
        encoding = _encoding_of_name(encoding)
    if isinstance(encoding, str | PathLike):
        path = arguments.a_path(encoding, "encoding")
        return _with_bos(tiktoken_files.read(path, **given), add_bos_token, kwargs)
    if not hasattr(encoding, "_mergeable_ranks"):
        found = f"{type(encoding).__name__}: {encoding!r:.60}"
        raise TypeError(f"encoding is a tiktoken.Encoding, the name of one, or a path, got {found}.")
    if any(value is not None for value in given.values()):
        raise TypeError("split_pattern, special_tokens and normalizer are for files: an Encoding has its own.")
    return _with_bos(tiktoken_encoding.from_encoding(encoding), add_bos_token, kwargs)


def from_tekken(path: str | PathLike[str], *, add_bos_token: bool = False, **kwargs: Any) -> HfBpeTokenizer:
    """Return the tokenizer of Mistral's `tekken.json`, with the ids of mistral-common.

    Args:
        path: The file.
        add_bos_token: Whether encoding adds BOS before each text, which mistral-common does only when told to, and the
            tokenizer.json of such models always.
        **kwargs: Arguments of `HfBpeTokenizer`.

    Raises:
        ConversionError: The file is damaged. The message has the JSON path.

    Example:
        >>> hf_bpe.from_tekken("path/to/tekken.json").encode("hello", add_special_tokens=False)
        [29706]
    """
    return _with_bos(tekken.read(arguments.a_path(path, "path")), add_bos_token, kwargs)


def from_gpt2(path: str | PathLike[str], *, add_prefix_space: bool = False, **kwargs: Any) -> HfBpeTokenizer:
    """Return the tokenizer of GPT-2's vocab.json and merges.txt.

    Args:
        path: Either file, or the directory that holds both.
        add_prefix_space: Whether a space is put before each text that begins with none.
        **kwargs: Arguments of `HfBpeTokenizer`.

    Raises:
        ConversionError: A file is damaged. The message names it, and the line or the token.

    Example:
        >>> hf_bpe.from_gpt2("path/to/directory").encode("hello world")
        [31373, 995]
    """
    add_prefix_space = arguments.a_switch(add_prefix_space, "add_prefix_space")
    read = gpt2.read(arguments.a_path(path, "path"), add_prefix_space=add_prefix_space)
    return HfBpeTokenizer.from_vocabulary(read, **kwargs)


def _with_bos(vocabulary: Vocabulary, add_bos_token: bool, kwargs: dict[str, Any]) -> HfBpeTokenizer:
    if not add_bos_token:
        return HfBpeTokenizer.from_vocabulary(vocabulary, **kwargs)
    tokenizer = HfBpeTokenizer.from_vocabulary(vocabulary, add_bos_token=True, **kwargs)
    if tokenizer.bos_token is None:
        raise ConversionError("add_bos_token asks for a BOS, and none is known of these ranks: pass bos_token= too.")
    return tokenizer


def _encoding_of_name(name: str) -> tiktoken.Encoding:
    try:
        import tiktoken
    except ImportError as error:
        raise ImportError(f"from_tiktoken({name!r}) needs tiktoken. Install it with `pip install tiktoken`.") from error
    try:
        return tiktoken.get_encoding(name)
    except ValueError as error:
        raise ConversionError(
            f"{name!r:.60} is neither a file nor an encoding of tiktoken, which has {tiktoken.list_encoding_names()}."
        ) from error
