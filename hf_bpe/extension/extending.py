"""`extend`: learn more tokens from a corpus, on top of a vocabulary that a model already speaks."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from hf_bpe import trainer_settings as checks
from hf_bpe._native import Counter, Tokenizer, check_extensible
from hf_bpe.corpus import Source, open_corpus
from hf_bpe.counting import count_corpus
from hf_bpe.counting_report import warn_of_bad_rows
from hf_bpe.extension.arguments import check_report, check_tokenizer
from hf_bpe.extension.building import new_tokens, tokenizer_of
from hf_bpe.extension.comparing import Comparison
from hf_bpe.extension.reaching import unreachable
from hf_bpe.extension.report import ExtensionReport, Saving
from hf_bpe.extension.sampling import Sample
from hf_bpe.extension.sizes import room_for
from hf_bpe.learning import merging_bar
from hf_bpe.tokenizer import HfBpeTokenizer


def extend(
    tokenizer: HfBpeTokenizer,
    source: Source = None,
    *,
    files: Sequence[str | Path] | None = None,
    num_new_tokens: int | None = None,
    vocab_size: int | None = None,
    fill_padding_rows: int | None = None,
    min_frequency: int = 2,
    max_token_length: int | None = None,
    new_characters: bool = True,
    report_on: Mapping[str, Iterable[str]] | None = None,
    max_lines: int | None = 200,
    text_column: str = "text",
    skip_bad_rows: bool = True,
    num_threads: int | None = None,
    progress: bool = True,
) -> tuple[HfBpeTokenizer, ExtensionReport]:
    """Give a vocabulary more tokens, learned from a corpus, and leave all that it has as it is.

    The corpus is cut into the tokens of the old vocabulary, and merging goes on from there: old tokens keep their ids
    and old merges their ranks, new ones follow. So the tokens of any text are the old ones, some neighbours joined.
    Each new token is made of its own text; one that the split pattern would cut is not made, nor is a text that is a
    token already, and a special token never is part of one. An extension can be extended again.

    Args:
        tokenizer: The old vocabulary, of bytes or of characters.
        source: The texts, as for `train`. Added tokens that they spell are cut out.
        files: Paths, directories and globs, as for `train`, instead of `source`.
        num_new_tokens: How many tokens to add.
        vocab_size: Instead, the highest id plus one to end with.
        fill_padding_rows: How many rows the model's embedding has, such as 151,936 for Qwen2.5, whose tokens are
            151,665: new ids stay below, so that nothing has to be resized. Alone, it fills all of them.
        min_frequency: How often a pair has to occur to be merged.
        max_token_length: If given, new tokens are shorter than this, in bytes or characters.
        new_characters: Whether characters that the old vocabulary spells in byte tokens (`byte_fallback`) may become
            tokens.
        report_on: Texts by name, such as a language, to report on as well.
        max_lines: How many changed lines the report keeps; None for all.
        text_column: The column to read of tables and datasets.
        skip_bad_rows: As in `train`: bad rows of files are left out, named in the report and told by a warning.
        num_threads: How many threads count; by default all cores, within `RAYON_NUM_THREADS`.
        progress: Whether to show a bar on stderr.

    Returns:
        The new tokenizer, and the report on it. Where no pair is left that may be merged, there are fewer tokens than
        asked for, and a warning says so.

    Raises:
        TypeError: `tokenizer` is none of this package, `source` is of no accepted type, or no number is given.
        ValueError: A number is out of its range or leaves no room, or there is no such column.
        CorpusError: A file is damaged, or there are bad rows and no text, or bad rows with `skip_bad_rows=False`.

    Example:
        >>> longer, report = extend(tokenizer, ["区块链技术"] * 9, num_new_tokens=2, progress=False)
        >>> len(longer) - len(tokenizer)
        2
    """
    checks.check_numbers(min_frequency=min_frequency, max_token_length=max_token_length, num_threads=num_threads)
    check_report(report_on=report_on, max_lines=max_lines)
    old = vocabulary_core(tokenizer)
    wanted = room_for(
        tokenizer.vocabulary,
        num_new_tokens=num_new_tokens,
        vocab_size=vocab_size,
        fill_padding_rows=fill_padding_rows,
    )
    counter = Counter(old, between_added_tokens=True, num_threads=num_threads)
    corpus = open_corpus(source, files=files, text_column=text_column, skip_bad_rows=skip_bad_rows)
    sample = Sample()
    read = count_corpus(counter, replace(corpus, batches=sample.watch(corpus.batches)), progress=progress)
    warn_of_bad_rows(read)
    first_id = old.max_id + 1
    with merging_bar(progress=progress) as show:
        made, before, after = counter.learn_on(
            new_tokens=wanted,
            first_id=first_id,
            min_frequency=min_frequency,
            max_token_length=max_token_length,
            new_characters=new_characters,
            progress=show,
        )
        show(len(made), wanted)
    learned = [(token, first_id + place, halves, saved) for place, (token, halves, saved) in enumerate(made)]
    merges = [(*halves, token_id) for _, token_id, halves, _ in learned if halves is not None]
    new = old.extended([(token, token_id) for token, token_id, _, _ in learned], merges)
    added = new_tokens(old, new, learned)
    longer = tokenizer_of(tokenizer, new)
    comparison = Comparison(old, new, added, max_lines=max_lines)
    notes = [] if len(made) == wanted else [_shortfall(len(made), wanted, min_frequency)]
    for note in notes:
        warnings.warn(note, stacklevel=2)
    return longer, ExtensionReport(
        old_size=first_id,
        new_size=first_id + len(added),
        added=tuple(added),
        source=Saving(read.texts, before, after),
        languages=comparison.by_script(sample.texts),
        texts=comparison.by_name(report_on or {}),
        lines_read=comparison.read,
        lines_changed=comparison.changed,
        lines=tuple(comparison.lines),
        unreachable=tuple(unreachable(longer.vocabulary, added, seen=comparison.seen)),
        notes=tuple(notes),
        bad_rows=read.bad_rows,
        first_bad_rows=read.first_bad_rows,
    )


def vocabulary_core(tokenizer: HfBpeTokenizer) -> Tokenizer:
    """Return the native tables of a tokenizer.

    Raises:
        TypeError: It is a tokenizer of another library, or something else.
        ValueError: It has an added token that would become one of ordinary text, or ignores merges and has affixes.
    """
    check_tokenizer(tokenizer, "extend")
    core = tokenizer.vocabulary.core
    settings = core.model_settings()
    affixes = settings["continuing_subword_prefix"] or settings["end_of_word_suffix"]
    if settings["ignore_merges"] and affixes:
        raise ValueError(
            f"the model has ignore_merges and the affix {affixes!r}: a word that is spelled like a new token inside of "
            "words would become that token, whatever it was. Set ignore_merges to false to extend it."
        )
    check_extensible(core)
    return core


def _shortfall(made: int, wanted: int, min_frequency: int) -> str:
    return (
        f"{made} tokens were added, not the {wanted} asked for: no pair is left that occurs at least "
        f"{max(1, min_frequency)} times and may be merged. Use more text or a lower min_frequency."
    )
