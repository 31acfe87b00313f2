"""Train, load and use byte pair encoding tokenizers, the Hugging Face way, with a native core."""

from __future__ import annotations

import typing as _typing

from hf_bpe._advice import hide_in_command_line as _hide_advice

_hide_advice()

# ruff: noqa: E402
from hf_bpe.auto import register as _register
from hf_bpe.errors import (
    ChatError,
    CheckpointError,
    ConversionError,
    CorpusError,
    CountsError,
    ExtensionError,
    HfBpeError,
    SplitPatternError,
    TokenizerFileError,
    TrainingError,
    UnsupportedComponentError,
)
from hf_bpe.parallelism import note_worker_process as _note_worker_process
from hf_bpe.tokenizer import HfBpeTokenizer

if _typing.TYPE_CHECKING:
    __version__: str
    from hf_bpe import cards as cards
    from hf_bpe import chat as chat
    from hf_bpe import distributed as distributed
    from hf_bpe import embeddings as embeddings
    from hf_bpe import measure as measure
    from hf_bpe.cards import card
    from hf_bpe.chunking import split_by_tokens, truncate_to_tokens
    from hf_bpe.converting import convert
    from hf_bpe.extension import ExtensionReport, SideBySide, add_words, extend, prune, retrain_for
    from hf_bpe.fingerprinting import fingerprint
    from hf_bpe.from_formats import from_gguf, from_gpt2, from_sentencepiece, from_tekken, from_tiktoken
    from hf_bpe.linting import lint
    from hf_bpe.pretoken_counts import PretokenCounts
    from hf_bpe.showing import show
    from hf_bpe.token_files import encode_files
    from hf_bpe.training import train
    from hf_bpe.training_report import TrainingReport
    from hf_bpe.verification import compare

__all__ = [
    "ChatError",
    "CheckpointError",
    "ConversionError",
    "CorpusError",
    "CountsError",
    "ExtensionError",
    "ExtensionReport",
    "HfBpeError",
    "HfBpeTokenizer",
    "PretokenCounts",
    "SideBySide",
    "SplitPatternError",
    "TokenizerFileError",
    "TrainingError",
    "TrainingReport",
    "UnsupportedComponentError",
    "add_words",
    "card",
    "compare",
    "convert",
    "encode_files",
    "extend",
    "fingerprint",
    "from_gguf",
    "from_gpt2",
    "from_sentencepiece",
    "from_tekken",
    "from_tiktoken",
    "lint",
    "prune",
    "retrain_for",
    "show",
    "split_by_tokens",
    "train",
    "truncate_to_tokens",
]

_LAZY_MODULES = ("cards", "chat", "distributed", "embeddings", "measure")

# Imported when first asked for: few programs need them.
_LAZY = {
    "PretokenCounts": "pretoken_counts",
    "ExtensionReport": "extension",
    "SideBySide": "extension",
    "TrainingReport": "training_report",
    "add_words": "extension",
    "card": "cards",
    "compare": "verification",
    "convert": "converting",
    "encode_files": "token_files",
    "extend": "extension",
    "fingerprint": "fingerprinting",
    "from_gguf": "from_formats",
    "from_gpt2": "from_formats",
    "from_sentencepiece": "from_formats",
    "from_tekken": "from_formats",
    "from_tiktoken": "from_formats",
    "lint": "linting",
    "prune": "extension",
    "retrain_for": "extension",
    "show": "showing",
    "split_by_tokens": "chunking",
    "train": "training",
    "truncate_to_tokens": "chunking",
}


def __getattr__(name: str) -> object:
    """Import what few programs need when it is first asked for."""
    from importlib import import_module

    if name == "__version__":
        from importlib.metadata import version

        return version("hf-bpe")
    if name in _LAZY_MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)


def __dir__() -> list[str]:
    """Return what `__getattr__` finds as well, for those who look for names by Tab."""
    return sorted({*globals(), *_LAZY, *_LAZY_MODULES, "__version__"})


_register()
_note_worker_process()
