"""Training: from a corpus to a tokenizer.

The corpus is read once, batch by batch. The native core counts its pretokens on all threads and learns merges
from the counts: the very merges that the stock `BpeTrainer` learns, whatever the batches and threads are. Counts
have 64 bits; stock's have 32, and from 2^31 occurrences of a pair on, stock's merges are wrong and ours are not.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex

from tokenizers import AddedToken
from tqdm.auto import tqdm

from hf_bpe import pipeline_json
from hf_bpe._native import Counter, Tokenizer
from hf_bpe.byte_alphabet import bytes_to_token
from hf_bpe.corpus import Corpus, Source, Texts, open_corpus
from hf_bpe.errors import TrainingError
from hf_bpe.special_tokens import to_flags

if TYPE_CHECKING:
    from hf_bpe.tokenizer import HfBpeTokenizer

_BYTES = 256


@dataclass(frozen=True)
class TrainingReport:
    """What a training saw and made.

    Attributes:
        texts: How many texts were read.
        null_rows: How many rows were null, and skipped.
        bytes: How many bytes the texts have.
        distinct_pretokens: How many different pretokens they were cut into.
        merges: How many merges were learned.
        vocab_size: How many tokens there are.
        shortfall: Why there are fewer or more tokens than asked for; None when there are just as many.
    """

    texts: int = 0
    null_rows: int = 0
    bytes: int = 0
    distinct_pretokens: int = 0
    merges: int = 0
    vocab_size: int = 0
    shortfall: str | None = None


def train(
    source: Source = None,
    *,
    files: Sequence[str | Path] | None = None,
    vocab_size: int,
    split_pattern: str = "llama3",
    normalizer: object = None,
    special_tokens: Iterable[str | AddedToken] = (),
    special_tokens_last: bool = False,
    min_frequency: int = 2,
    max_token_length: int | None = None,
    text_column: str = "text",
    num_threads: int | None = None,
    progress: bool = True,
    **settings: Any,
) -> HfBpeTokenizer:
    """Train a byte-level BPE tokenizer.

    The vocabulary has `vocab_size` tokens, or training raises, or it warns why there are fewer: when a small corpus
    has no pair left that occurs `min_frequency` times. `tokenizer.training_report` says what was read and made.

    Args:
        source: The texts: a str, an iterable of str or of lists of str, a `pathlib.Path`, a `datasets` dataset
            or stream, an Arrow table or column. It is read once; rows that are null are skipped.
        files: Paths of UTF-8 text files, instead of `source`. Each line, with its `\\n`, is a text.
        vocab_size: The number of tokens, special tokens and 256 bytes included.
        split_pattern: `"llama3"`, `"gpt2"`, `"cl100k"`, `"o200k"`, `"qwen2"`, or any regex. Merges stay inside the
            pieces that it cuts.
        normalizer: `"NFC"` or another name, JSON, or a normalizer of `tokenizers`. None keeps texts as they are.
        special_tokens: Tokens such as `"<|endoftext|>"`, in the order of their ids. They don't split the corpus.
        special_tokens_last: Whether they get the last ids, not the first. One that training makes as an ordinary
            token keeps the id that it got there.
        min_frequency: How often a pair has to occur to be merged.
        max_token_length: If given, merges of merged tokens are shorter than this, in bytes.
        text_column: The column to read of tables and datasets.
        num_threads: How many threads count; by default all cores, within `RAYON_NUM_THREADS`.
        progress: Whether to show a bar on stderr.
        **settings: Arguments of `HfBpeTokenizer`, such as `eos_token="<|endoftext|>"`, `model_max_length` or
            `chat_template`. Named special tokens follow `special_tokens` where they aren't among them.

    Returns:
        The tokenizer.

    Raises:
        TrainingError: `vocab_size` has no room for the special tokens and the 256 bytes.
        TypeError: `source` is of no accepted type.
        ValueError: An argument is out of its range, a file isn't UTF-8, or there is no such column.
        SplitPatternError: `split_pattern` is no valid regex, or ran away on a text.

    Example:
        >>> tokenizer = train(["a text", "another text"], vocab_size=260, progress=False)
        >>> len(tokenizer)
        260
    """
    from hf_bpe.tokenizer import HfBpeTokenizer

    _check_numbers(vocab_size, min_frequency, max_token_length, num_threads)
    specials = _special_tokens(special_tokens, settings)
    _check_room(vocab_size, {token["content"] for token in specials})
    pipeline = pipeline_json.byte_level_pipeline(split_pattern, normalizer)
    corpus = open_corpus(source, files=files, text_column=text_column)
    trained, report = _train_pipeline(
        pipeline,
        corpus,
        vocab_size=vocab_size,
        specials=specials,
        specials_last=special_tokens_last,
        min_frequency=min_frequency,
        max_token_length=max_token_length,
        num_threads=num_threads,
        progress=progress,
    )
    tokenizer = HfBpeTokenizer(tokenizer_object=Tokenizer.from_json(json.dumps(trained)), **settings)
    tokenizer.training_report = report
    return tokenizer


def retrain(
    tokenizer_json: str,
    text_iterator: Iterable[str] | Iterable[list[str]],
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
    **kwargs: Any,
) -> str:
    """Return the `tokenizer.json` of a tokenizer trained anew in the pipeline of another one.

    Does what upstream's `train_new_from_iterator` does, with the stock trainer's defaults: the special tokens of
    the old tokenizer come first, then new ones; its other added tokens are left out, and every id that the pipeline
    holds is looked up anew, in a `Sequence` of post-processors too, where upstream keeps the old ones.

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
        **kwargs: Further settings of the stock trainer, which have to be at their defaults.

    Raises:
        UnsupportedComponentError: The pipeline isn't byte-level.
        ValueError: The post-processor adds a token that the new vocabulary lacks, or a setting can't be followed.
    """
    _refuse_stock_settings(kwargs)
    _check_numbers(vocab_size, min_frequency, max_token_length, num_threads)
    pipeline = json.loads(tokenizer_json)
    renamed = dict(special_tokens_map or {})
    kept = [token for token in pipeline["added_tokens"] if token["special"]]
    specials = [_renamed(token, renamed) for token in kept] + [_flags(token) for token in new_special_tokens or ()]
    trained, _ = _train_pipeline(
        pipeline,
        open_corpus(text_iterator),
        vocab_size=vocab_size,
        specials=specials,
        specials_last=special_tokens_last,
        min_frequency=min_frequency,
        max_token_length=max_token_length,
        num_threads=num_threads,
        progress=show_progress,
        length=length,
        renamed=renamed,
    )
    return json.dumps(trained, ensure_ascii=False)


def _train_pipeline(
    pipeline: pipeline_json.Json,
    corpus: Corpus,
    *,
    vocab_size: int,
    specials: list[pipeline_json.Json],
    specials_last: bool,
    min_frequency: int,
    max_token_length: int | None,
    num_threads: int | None,
    progress: bool,
    length: int | None = None,
    renamed: Mapping[str, str] | None = None,
) -> tuple[pipeline_json.Json, TrainingReport]:
    counting = pipeline_json.counting_pipeline(pipeline)
    counter = Counter(Tokenizer.from_json(json.dumps(counting)), num_threads=num_threads)
    report = _count(counter, corpus, progress=progress, length=length)
    contents = [token["content"] for token in specials]
    with tqdm(total=max(0, vocab_size - _BYTES), desc="Merging", unit=" merges", disable=not progress) as bar:
        vocab, merges = counter.learn(
            vocab_size=vocab_size,
            min_frequency=min_frequency,
            max_token_length=max_token_length,
            special_tokens=[] if specials_last else contents,
            last_special_tokens=contents if specials_last else [],
            progress=lambda done: bar.update(done - bar.n) and None,
        )
        bar.update(len(merges) - bar.n)
    report = replace(
        report, merges=len(merges), vocab_size=len(vocab), shortfall=_shortfall(len(vocab), vocab_size, min_frequency)
    )
    if report.shortfall is not None:
        warnings.warn(report.shortfall, stacklevel=3)
    return pipeline_json.with_vocabulary(pipeline, vocab, merges, specials, renamed), report


def _count(counter: Counter, corpus: Corpus, *, progress: bool, length: int | None) -> TrainingReport:
    """Count every batch. Ctrl-C stops between two batches, and inside one as often as the native counter asks."""
    texts = nulls = size = 0
    total = corpus.total_bytes if length is None else length
    unit = {"unit": "B", "unit_scale": True} if length is None else {"unit": " texts"}
    with tqdm(total=total, desc="Counting", disable=not progress, **unit) as bar:
        for batch in corpus.batches:
            if isinstance(batch, Texts):
                counted = counter.count(batch.texts)
                nulls += batch.nulls
            else:
                counted = counter.count_arrow(**vars(batch))
            texts, nulls, size = texts + counted[0], nulls + counted[1], size + counted[2]
            bar.update(counted[2] if length is None else counted[0])
    return TrainingReport(texts=texts, null_rows=nulls, bytes=size, distinct_pretokens=len(counter))


def _shortfall(made: int, asked: int, min_frequency: int) -> str | None:
    if made < asked:
        return (
            f"the vocabulary has {made} tokens, not the {asked} asked for: no pair is left that occurs at least "
            f"{max(1, min_frequency)} times and may be merged. Use more text or a lower min_frequency."
        )
    if made > asked:
        return (
            f"the vocabulary has {made} tokens, not the {asked} asked for: special tokens and the {_BYTES} bytes "
            "alone are as many."
        )
    return None


def _check_numbers(vocab_size: int, min_frequency: int, max_token_length: int | None, num_threads: int | None) -> None:
    """Raise before the corpus is read, and not after. `_check_room` sees to a vocabulary that is too small."""
    numbers = {
        "vocab_size": (vocab_size, None),
        "min_frequency": (min_frequency, 0),
        "max_token_length": (max_token_length, 0),
        "num_threads": (num_threads, 1),
    }
    for name, (number, least) in numbers.items():
        if number is None and name in ("max_token_length", "num_threads"):
            continue
        if not isinstance(number, SupportsIndex):
            raise TypeError(f"{name} is a whole number, got {number!r}")
        if (least is not None and index(number) < least) or index(number) >= 2**63:
            raise ValueError(f"{name}={number} is out of range" + ("" if least is None else f"; give at least {least}"))


def _check_room(vocab_size: int, special_tokens: set[str]) -> None:
    """Raise before the corpus is read, and not after."""
    alphabet = {bytes_to_token(bytes([byte])) for byte in range(_BYTES)}
    needed = _BYTES + len(special_tokens - alphabet)
    if vocab_size < needed:
        raise TrainingError(
            f"vocab_size={vocab_size} is too small: "
            f"the {_BYTES} bytes and {needed - _BYTES} special tokens take {needed}"
        )


def _special_tokens(
    special_tokens: Iterable[str | AddedToken], settings: Mapping[str, Any]
) -> list[pipeline_json.Json]:
    """Return the special tokens as JSON, once each: those given, then those that settings name."""
    if isinstance(special_tokens, str | AddedToken):
        raise TypeError(f"special_tokens is a list of tokens; write [{str(special_tokens)!r}]")
    given = [_flags(token) for token in special_tokens]
    named = _named_tokens(settings)
    contents = {token["content"] for token in given}
    tokens = given + [flags for flags in map(_flags, named) if flags["content"] not in contents]
    for token in tokens:
        if not token["content"]:
            raise ValueError("a special token is empty")
        if any("\ud800" <= char <= "\udfff" for char in token["content"]):
            raise ValueError(f"the special token {token['content']!r} holds a lone surrogate, which is no character")
    return tokens


def _named_tokens(settings: Mapping[str, Any]) -> list[str | AddedToken]:
    """Return the special tokens that `settings` name, in any of the ways that `transformers` knows.

    They are those of a tokenizer made with these settings, which also finds wrong settings before the corpus is read.
    """
    from hf_bpe.tokenizer import HfBpeTokenizer

    empty = Tokenizer.from_json(json.dumps(pipeline_json.byte_level_pipeline("gpt2")))
    tokenizer = HfBpeTokenizer(tokenizer_object=empty, **settings)
    named = [token for token in tokenizer._special_tokens_map.values() if token is not None]
    return [*named, *tokenizer._extra_special_tokens]


def _flags(token: str | AddedToken) -> pipeline_json.Json:
    content, special, normalized, single_word, lstrip, rstrip = to_flags(token, special=True)
    return {
        "content": content,
        "single_word": single_word,
        "lstrip": lstrip,
        "rstrip": rstrip,
        "normalized": normalized,
        "special": special,
    }


def _renamed(token: Mapping[str, Any], renamed: Mapping[str, str]) -> pipeline_json.Json:
    flags = {name: value for name, value in token.items() if name != "id"}
    return flags | {"content": renamed.get(token["content"], token["content"])}


def _refuse_stock_settings(kwargs: Mapping[str, Any]) -> None:
    """Raise for settings that would change the result. The alphabet is always all bytes, in stock too."""
    for name, value in kwargs.items():
        if name in ("limit_alphabet", "continuing_subword_prefix", "end_of_word_suffix") and value:
            raise ValueError(
                f"{name}={value!r} is for vocabularies of characters; this one is byte-level. "
                "Train it with tokenizers.trainers.BpeTrainer."
            )
        if name not in _HARMLESS_SETTINGS:
            raise TypeError(f"train_new_from_iterator() got an unexpected keyword argument {name!r}")


_HARMLESS_SETTINGS = (
    "initial_alphabet",
    "progress_format",
    "limit_alphabet",
    "continuing_subword_prefix",
    "end_of_word_suffix",
)
