"""The tokenizer that a format's own library makes of a file, to compare with ours."""

from __future__ import annotations

import base64
import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hf_bpe.converting.report import TOKENS_BY_ID
from hf_bpe.errors import ConversionError
from hf_bpe.formats.rank_files import added_tokens
from hf_bpe.verification import Agreement
from hf_bpe.verification.sides import MOST_ROWS, library
from hf_bpe.vocabulary import Vocabulary


class NoLibrary(Exception):
    """No library here can run the file. The message says why."""


def open_with_library(name: str, path: Path, vocabulary: Vocabulary) -> tuple[Any, Any]:
    """Return what stands for `vocabulary` in a comparison, and the tokenizer of the format's own library.

    Args:
        name: The format.
        path: The file or directory.
        vocabulary: What it was read as, or written from: what the file leaves out is taken from here.

    Raises:
        NoLibrary: The library isn't installed, or there is none, or it can't hold a part of the pipeline.
        Exception: The library refuses the file.
    """
    return _OPENERS[name](path, vocabulary)


def _stock(path: Path, vocabulary: Vocabulary) -> tuple[Any, Any]:
    import tokenizers

    _check_rows(vocabulary)

    file = path / "tokenizer.json" if path.is_dir() else path
    return vocabulary, tokenizers.Tokenizer.from_file(str(file))


def _gpt2(path: Path, vocabulary: Vocabulary) -> tuple[Any, Any]:
    """The model of the two files as `tokenizers` reads them, in the pipeline of the vocabulary."""
    import tokenizers

    from hf_bpe.formats import gpt2

    _check_rows(vocabulary)
    files = [str(file) for file in gpt2.pair_of(path)]
    model = tokenizers.models.BPE.from_file(*files, ignore_merges=vocabulary.ignore_merges)
    whole = json.loads(vocabulary.core.to_json())
    whole["model"] = json.loads(tokenizers.Tokenizer(model).to_str())["model"]
    return vocabulary, tokenizers.Tokenizer.from_str(json.dumps(whole))


def _tiktoken(path: Path, vocabulary: Vocabulary) -> tuple[Any, Any]:
    """The ranks, split by the one pattern of the vocabulary. What is done to a text before that is left out."""
    _need("tiktoken")
    import tiktoken

    if vocabulary.split_pattern is None:
        raise NoLibrary("tiktoken has one split pattern, and this vocabulary more than that")
    lines = (line.split() for line in path.read_bytes().splitlines() if line)
    encoding = tiktoken.Encoding(
        "file",
        pat_str=vocabulary.split_pattern,
        mergeable_ranks={base64.b64decode(token): int(rank) for token, rank in lines},
        special_tokens={token["content"]: token_id for token_id, token in added_tokens(vocabulary)},
    )
    return vocabulary.core.with_component("normalizer", None), encoding


def _tekken(path: Path, vocabulary: Vocabulary) -> tuple[Any, Any]:
    _need("mistral_common")
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    return vocabulary, Tekkenizer.from_file(path)


def _sentencepiece(path: Path, vocabulary: Vocabulary) -> tuple[Any, Any]:
    _need("sentencepiece")
    import sentencepiece

    return vocabulary, sentencepiece.SentencePieceProcessor(model_file=str(path))


def _gguf(path: Path, vocabulary: Vocabulary) -> tuple[Any, Any]:
    raise NoLibrary("no Python library runs the tokenizer of a GGUF file")


def compare_token_lists(path: Path, vocabulary: Vocabulary) -> Agreement | None:
    """Compare the tokens of a GGUF file, as the package gguf reads them, with those of the vocabulary.

    Returns:
        The agreement, or None where the package isn't installed.

    Raises:
        ConversionError: A token stands under another id. The message names it.
    """
    if importlib.util.find_spec("gguf") is None:
        return None
    import gguf

    field = gguf.GGUFReader(path).fields["tokenizer.ggml.tokens"]
    listed = [bytes(field.parts[part]).decode() for part in field.data]
    tokens = sorted(set(vocabulary.get_vocab().values()))
    for token_id, token in zip(tokens, vocabulary.core.ids_to_tokens(tokens), strict=True):
        found = listed[token_id] if token_id < len(listed) else None
        if found != token:
            raise ConversionError(f"{path.name}: tokenizer.ggml.tokens[{token_id}] is {found!r}, and not {token!r}.")
    return Agreement(library("hf_bpe"), library("gguf"), {TOKENS_BY_ID: len(tokens)})


def _check_rows(vocabulary: Vocabulary) -> None:
    if len(vocabulary) > MOST_ROWS:
        raise NoLibrary(f"the highest id is {len(vocabulary) - 1:,}, and it takes memory for each id below that")


def _need(package: str) -> None:
    if importlib.util.find_spec(package) is None:
        raise NoLibrary(f"{package} isn't installed")


_OPENERS: dict[str, Callable[[Path, Vocabulary], tuple[Any, Any]]] = {
    "gguf": _gguf,
    "gpt2": _gpt2,
    "sentencepiece": _sentencepiece,
    "tekken": _tekken,
    "tiktoken": _tiktoken,
    "tokenizer_json": _stock,
}
