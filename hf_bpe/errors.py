"""The exceptions of hf_bpe.

Each derives from the built-in that callers of `transformers` and `tokenizers` already catch::

    Exception
    └── HfBpeError
        ├── TokenizerFileError (ValueError)           a damaged or contradictory tokenizer file
        │   ├── UnsupportedComponentError             a valid file with a part we can't run exactly
        │   └── SplitPatternError                     a file whose pattern can't be compiled, or ran away on a text
        ├── CheckpointError (ValueError)               a model's files that a vocabulary can't be followed in
        ├── CorpusError (ValueError)                   files of text that can't be read
        ├── CountsError (ValueError)                   counts that can't be read, or don't go together
        ├── ChatError (ValueError)                    a template that goes beyond its limits, or a chat we refuse
        ├── ExtensionError (ValueError)               words that can't become tokens
        └── TrainingError (ValueError)                a corpus or settings that can't give the vocabulary asked for
"""

from __future__ import annotations


class HfBpeError(Exception):
    """The base of all errors that hf_bpe defines."""


class TokenizerFileError(HfBpeError, ValueError):
    """A tokenizer file is damaged or contradicts itself. The message names the JSON path."""


class UnsupportedComponentError(TokenizerFileError):
    """A tokenizer file is valid, but holds a component that hf_bpe can't run exactly."""


class SplitPatternError(TokenizerFileError):
    """A pattern of the file can't be compiled, or met its step limit on a text."""


class ConversionError(HfBpeError, ValueError):
    """A vocabulary can't be read from a file, or a format can't hold it. The message names the place, or a text."""


class CheckpointError(HfBpeError, ValueError):
    """The files of a model are damaged, or not those of the tokenizer. The message names the file and the tensor."""


class CorpusError(HfBpeError, ValueError):
    """A file of texts is damaged, or holds no texts. The message names the file, and the line or the column."""


class CountsError(HfBpeError, ValueError):
    """Counts of pretokens can't be read, or can't be added or trained from as asked. The message names both sides."""


class ChatError(HfBpeError, ValueError):
    """A chat can't be rendered or encoded within the rules that were set. The text names the message, if known."""


class TrainingError(HfBpeError, ValueError):
    """A corpus or a setting can't give the vocabulary that was asked for."""


class ExtensionError(HfBpeError, ValueError):
    """Words can't become tokens. The message has the reason for each, and `report` what could be done."""

    report: object = None
