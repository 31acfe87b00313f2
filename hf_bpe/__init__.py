"""Train, load and use byte pair encoding tokenizers, the Hugging Face way, with a native core."""

from __future__ import annotations

from hf_bpe.auto import register as _register
from hf_bpe.errors import (
    ConversionError,
    HfBpeError,
    SplitPatternError,
    TokenizerFileError,
    TrainingError,
    UnsupportedComponentError,
)
from hf_bpe.from_formats import from_gguf, from_sentencepiece
from hf_bpe.importing import from_gpt2, from_tekken, from_tiktoken
from hf_bpe.parallelism import note_worker_process as _note_worker_process
from hf_bpe.tokenizer import HfBpeTokenizer
from hf_bpe.training import TrainingReport, train

__all__ = [
    "ConversionError",
    "HfBpeError",
    "HfBpeTokenizer",
    "SplitPatternError",
    "TokenizerFileError",
    "TrainingError",
    "TrainingReport",
    "UnsupportedComponentError",
    "from_gguf",
    "from_gpt2",
    "from_sentencepiece",
    "from_tekken",
    "from_tiktoken",
    "train",
]

_register()
_note_worker_process()
