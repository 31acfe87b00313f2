"""Training on several machines: counts of all of them, and merges learned on one."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from hf_bpe.character_pipeline import CharacterOptions
from hf_bpe.counting_report import warn_of_losses
from hf_bpe.distributed.counting import count_all
from hf_bpe.distributed.running import PART_BYTES
from hf_bpe.keywords import TOKENIZER_SETTINGS, check_keywords
from hf_bpe.limits import MAX_PRETOKEN_BYTES
from hf_bpe.pretoken_counts import PretokenCounts
from hf_bpe.tokenizer import HfBpeTokenizer
from hf_bpe.training import train as hf_bpe_train

_OF_ONE_PROCESS = (
    *("files", "sources", "weights", "temperature", "quota", "protected"),
    *("checkpoint_dir", "resume_from", "num_threads"),
)
"""Options of `hf_bpe.train` that say what is read, and how."""


def train(
    source: Any,
    *,
    vocab_size: int,
    alphabet: str = "bytes",
    split_pattern: str | None = None,
    normalizer: object = None,
    pre_tokenizer: object = None,
    text_column: str = "text",
    skip_bad_rows: bool = True,
    part_bytes: int = PART_BYTES,
    max_memory: int | str | None = None,
    temporary_directory: str | Path | None = None,
    max_pretoken_bytes: int | None = MAX_PRETOKEN_BYTES,
    progress: bool = True,
    **settings: Any,
) -> HfBpeTokenizer:
    """Train a tokenizer: count on all machines, and learn merges on this one.

    The tokenizer is that of `hf_bpe.train` of the same texts. Learning takes 10 to 25 times the bytes of the distinct
    pretokens in memory, on this machine alone.

    Args:
        source: See `count`.
        vocab_size: As in `hf_bpe.train`, like all arguments that `count` doesn't have.
        alphabet: As in `hf_bpe.train`.
        split_pattern: As in `hf_bpe.train`.
        normalizer: As in `hf_bpe.train`.
        pre_tokenizer: As in `hf_bpe.train`.
        text_column: See `count`.
        skip_bad_rows: See `count`.
        part_bytes: See `count`.
        max_memory: See `count`.
        temporary_directory: See `count`.
        max_pretoken_bytes: See `count`.
        progress: Whether to show bars on stderr.
        **settings: Everything else that `hf_bpe.train` takes.

    Raises:
        ImportError: Ray isn't installed.
        TypeError: A keyword is unknown.
        Exception: As `count` and `hf_bpe.train`.

    Example:
        >>> tokenizer = hf_bpe.distributed.train(["corpus/*.jsonl"], vocab_size=32_000, eos_token="<|endoftext|>")
    """
    check_keywords(settings, train, hf_bpe_train, also=TOKENIZER_SETTINGS, who="hf_bpe.distributed.train()")
    for name in _OF_ONE_PROCESS:
        if settings.pop(name, None):
            raise ValueError(
                f"{name} is for hf_bpe.train: a cluster counts one source, whole, without checkpoints, on one thread "
                "for each task"
            )
    for name in ("special_tokens", "initial_alphabet"):
        if settings.get(name) is not None and not isinstance(settings[name], str):
            settings[name] = list(settings[name])  # which may be read once, and is needed twice
    cutting: dict[str, Any] = {"split_pattern": split_pattern, "pre_tokenizer": pre_tokenizer}
    memory: dict[str, Any] = {"max_memory": max_memory, "temporary_directory": temporary_directory}
    learning = settings | memory | {"alphabet": alphabet, "vocab_size": vocab_size, "progress": progress}
    if alphabet == "characters":
        affixes: dict[str, Any] = {
            name: settings.get(name) for name in ("end_of_word_suffix", "continuing_subword_prefix")
        }
        made = CharacterOptions(**cutting, **affixes).pipeline()["pre_tokenizer"]
        cutting = {"split_pattern": None, "pre_tokenizer": made}
        learning["pre_tokenizer"] = made
    cutting |= {"alphabet": alphabet, "normalizer": normalizer, "max_pretoken_bytes": max_pretoken_bytes}
    counting = cutting | memory | {"text_column": text_column}
    _rehearse(PretokenCounts.count([], **counting, progress=False), learning)
    counts = count_all(
        source, counting, skip_bad_rows=skip_bad_rows, part_bytes=part_bytes, name=None, progress=progress
    )
    warn_of_losses(counts.report, counts.settings.max_pretoken_bytes)
    return hf_bpe_train(counts, **learning)


def _rehearse(nothing: PretokenCounts, learning: dict[str, Any]) -> None:
    """Train from no pretokens: that checks every option, before a cluster counts for hours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a vocabulary that is too small
        hf_bpe_train(nothing, **(learning | {"progress": False}))
