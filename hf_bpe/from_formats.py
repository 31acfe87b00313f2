"""Tokenizers from files of other libraries: one public function a format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hf_bpe.formats import gguf, sentencepiece
from hf_bpe.tokenizer import HfBpeTokenizer


def from_sentencepiece(
    path: str | Path, *, add_bos_token: bool = True, add_eos_token: bool = False, **kwargs: Any
) -> HfBpeTokenizer:
    """Make a tokenizer of a SentencePiece model of type BPE.

    Ids equal those of `sentencepiece` on any text, between the special tokens that are added. Control pieces are
    found in texts unless `split_special_tokens=True`; SentencePiece never finds them.

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
    return HfBpeTokenizer.from_vocabulary(gguf.read(path), **kwargs)
