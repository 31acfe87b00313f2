"""Training anew: a new vocabulary in the pipeline of an old tokenizer, as upstream's `train_new_from_iterator` does."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tokenizers import AddedToken

from hf_bpe import pipeline_json
from hf_bpe import trainer_settings as checks
from hf_bpe.counting import counter_of
from hf_bpe.keywords import check_keywords
from hf_bpe.learning import train_pipeline
from hf_bpe.limits import CountingLimits
from hf_bpe.pretoken_counts import CountSettings, PretokenCounts
from hf_bpe.trainer_settings import TrainerSettings
from hf_bpe.training_inputs import check_reading, opened_source
from hf_bpe.training_tokens import added_token_json


def retrain(
    tokenizer_json: str,
    text_iterator: Iterable[str] | Iterable[list[str]] | PretokenCounts,
    vocab_size: int,
    length: int | None = None,
    new_special_tokens: Sequence[str | AddedToken] | None = None,
    special_tokens_map: Mapping[str, str] | None = None,
    *,
    min_frequency: int = 0,
    max_token_length: int | None = None,
    show_progress: bool = True,
    special_tokens_last: bool = False,
    num_threads: int | None = None,
    max_memory: int | str | None = None,
    temporary_directory: str | Path | None = None,
    max_pretoken_bytes: int | None = None,
    text_column: str = "text",
    skip_bad_rows: bool = True,
    **kwargs: Any,
) -> str:
    """Return the `tokenizer.json` of a tokenizer trained anew in the pipeline of another one.

    Does what upstream's `train_new_from_iterator` does, with the stock trainer's defaults: the special tokens of
    the old tokenizer come first, then new ones; its other added tokens are left out, and every id that the pipeline
    holds is looked up anew, in a `Sequence` of post-processors too, where upstream keeps the old ones. Affixes are
    those of the old model, unless they are given.

    Args:
        tokenizer_json: The old tokenizer.
        text_iterator: The texts, or anything else that `train` accepts.
        vocab_size: The number of tokens.
        length: The number of texts, for the progress bar.
        new_special_tokens: Special tokens to add.
        special_tokens_map: New names for special tokens, by their old names.
        min_frequency: As in `train`.
        max_token_length: As in `train`.
        show_progress: Whether to show a bar on stderr.
        special_tokens_last: As in `train`.
        num_threads: As in `train`.
        max_memory: As in `train`.
        temporary_directory: As in `train`.
        max_pretoken_bytes: As in `train`, but for the default: as upstream, nothing is cut.
        text_column: As in `train`.
        skip_bad_rows: As in `train`.
        **kwargs: Further settings of the stock trainer: `initial_alphabet` and `limit_alphabet`, for characters,
            `continuing_subword_prefix` and `end_of_word_suffix`; `progress_format` is accepted and not needed.

    Raises:
        ValueError: The post-processor adds a token that the new vocabulary lacks, or a setting can't be followed.
        CountsError: Counts were made by another pipeline.
        CorpusError: As in `train`, where files are read.
    """
    pipeline = json.loads(tokenizer_json)
    checks.check_numbers(num_threads=num_threads)
    renamed = dict(special_tokens_map or {})
    kept = [token for token in pipeline["added_tokens"] if token["special"]]
    specials = [_renamed(token, renamed) for token in kept] + [
        added_token_json(token) for token in new_special_tokens or ()
    ]
    trainer = TrainerSettings(
        vocab_size=vocab_size,
        special_tokens=[token["content"] for token in specials],
        special_tokens_last=special_tokens_last,
        min_frequency=min_frequency,
        max_token_length=max_token_length,
        **_stock_settings(kwargs, pipeline),
    )
    limits = CountingLimits.of(
        max_memory=max_memory, temporary_directory=temporary_directory, max_pretoken_bytes=max_pretoken_bytes
    )
    counter = counter_of(pipeline, num_threads, who="tokenizer.json", limits=limits)
    if isinstance(text_iterator, PretokenCounts):
        settings = text_iterator.settings
        wanted = CountSettings.of_pipeline(pipeline, settings.max_pretoken_bytes)
        settings.check_same(wanted, what="counts and the tokenizer don't go together")
        check_reading(
            text_iterator,
            limits,
            unsaid_length=None,
            length=length,
            num_threads=num_threads,
            text_column=text_column,
            skip_bad_rows=skip_bad_rows,
        )
    reading: dict[str, Any] = {
        "text_column": text_column,
        "skip_bad_rows": skip_bad_rows,
        "temporary_directory": limits.temporary_directory,
    }
    corpus = opened_source(text_iterator, reading)
    trained, _ = train_pipeline(
        pipeline,
        counter,
        corpus,
        trainer,
        specials,
        progress=show_progress,
        length=length,
        renamed=renamed,
        may_exceed=True,
        max_memory=limits.max_memory,
    )
    return json.dumps(trained, ensure_ascii=False)


def _renamed(token: Mapping[str, Any], renamed: Mapping[str, str]) -> pipeline_json.Json:
    flags = {name: value for name, value in token.items() if name != "id"}
    return flags | {"content": renamed.get(token["content"], token["content"])}


def _stock_settings(kwargs: Mapping[str, Any], pipeline: pipeline_json.Json) -> dict[str, Any]:
    """Return the trainer's settings that upstream takes from `kwargs` or from the old tokenizer.

    Raises:
        TypeError: The stock trainer has no such setting.
        ValueError: `limit_alphabet` would drop bytes.
    """
    check_keywords(kwargs, retrain, also=_STOCK_SETTINGS, who="train_new_from_iterator()")
    model = pipeline["model"]
    affixes = {name: kwargs.get(name, model.get(name)) for name in ("continuing_subword_prefix", "end_of_word_suffix")}
    limit = kwargs.get("limit_alphabet")
    if not pipeline_json.is_byte_level(pipeline["pre_tokenizer"]):
        # Of longer strings the stock trainer takes the first character.
        initial = [text[0] for text in kwargs.get("initial_alphabet") or () if text]
        return affixes | {"characters": True, "initial_alphabet": initial, "limit_alphabet": limit}
    if limit:
        raise ValueError(f"limit_alphabet={limit!r} is for vocabularies of characters; this one has all 256 bytes")
    return affixes


_STOCK_SETTINGS = (
    "initial_alphabet",
    "progress_format",
    "limit_alphabet",
    "continuing_subword_prefix",
    "end_of_word_suffix",
)
