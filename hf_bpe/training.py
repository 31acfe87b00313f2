"""Training: from a corpus to a tokenizer.

The corpus is read once, batch by batch. The native core counts its pretokens on all threads and learns merges
from the counts: the very merges that the stock `BpeTrainer` learns, whatever the batches and threads are. Counts
have 64 bits; stock's have 32, and from 2^31 occurrences of a pair on, stock's merges are wrong and ours are not.
Where stock draws lots (characters at the cut of `limit_alphabet`, ids of symbols with an affix), order is by code
point.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokenizers import AddedToken

from hf_bpe import pipeline_json
from hf_bpe import trainer_settings as checks
from hf_bpe._native import Tokenizer
from hf_bpe.character_pipeline import CharacterOptions
from hf_bpe.corpus import Corpus, Source, open_corpus
from hf_bpe.counting import counter_of
from hf_bpe.keywords import TOKENIZER_SETTINGS, check_keywords
from hf_bpe.learning import train_pipeline
from hf_bpe.learning_sources import train_sources
from hf_bpe.limits import MAX_PRETOKEN_BYTES, CountingLimits
from hf_bpe.pretoken_counts import PretokenCounts
from hf_bpe.pretoken_counts.resuming import CHECKPOINT_MINUTES, Checkpoints
from hf_bpe.segmenting import Segmenter, segmenter_of
from hf_bpe.trainer_settings import TrainerSettings
from hf_bpe.training_inputs import (
    check_alphabet,
    check_reading,
    check_sources,
    counted_sources,
    counted_with_checkpoints,
    pipeline_of_counts,
)
from hf_bpe.training_sources import Balance
from hf_bpe.training_tokens import protected_tokens, special_tokens_of, with_chat_tokens

if TYPE_CHECKING:
    from hf_bpe.tokenizer import HfBpeTokenizer


def train(
    source: Source = None,
    *,
    files: Sequence[str | Path] | None = None,
    sources: Mapping[str, Any] | None = None,
    weights: Mapping[str, float] | None = None,
    temperature: float | None = None,
    quota: Mapping[str, float] | None = None,
    vocab_size: int,
    pad_to_multiple_of: int | None = None,
    alphabet: str = "bytes",
    split_pattern: str | None = None,
    normalizer: object = None,
    pre_tokenizer: object = None,
    decoder: object = None,
    special_tokens: Iterable[str | AddedToken] = (),
    special_tokens_last: bool = False,
    unk_token: str | AddedToken | None = None,
    fuse_unk: bool = False,
    byte_fallback: bool = False,
    end_of_word_suffix: str | None = None,
    continuing_subword_prefix: str | None = None,
    initial_alphabet: Iterable[str] | None = None,
    limit_alphabet: int | None = None,
    min_frequency: int = 2,
    max_token_length: int | None = None,
    within_scripts: bool = False,
    max_digits: int | None = None,
    protected: Iterable[str] = (),
    segmenter: Segmenter | None = None,
    text_column: str = "text",
    num_threads: int | None = None,
    progress: bool = True,
    max_memory: int | str | None = None,
    temporary_directory: str | Path | None = None,
    max_pretoken_bytes: int | None = MAX_PRETOKEN_BYTES,
    skip_bad_rows: bool = True,
    checkpoint_dir: str | Path | None = None,
    checkpoint_minutes: float = CHECKPOINT_MINUTES,
    resume_from: str | Path | None = None,
    chat_template: str | dict[str, str] | None = None,
    **settings: Any,
) -> HfBpeTokenizer:
    """Train a BPE tokenizer, of bytes or of characters.

    The vocabulary has `vocab_size` tokens, or training raises, or it warns why there are fewer: when a small corpus
    has no pair left that occurs `min_frequency` times. `tokenizer.training_report` says what was read and made.

    A vocabulary of characters knows those of its corpus. What an unknown one becomes is to be chosen: its bytes
    (`byte_fallback`), an `unk_token`, or, without either, nothing.

    Args:
        source: The texts: a str, an iterable of str or of lists of str, a `pathlib.Path`, a `datasets` dataset
            or stream, an Arrow table or column. It is read once; rows that are null are skipped. Or `PretokenCounts`,
            whose settings stand for `split_pattern`, `pre_tokenizer`, `normalizer` and `max_pretoken_bytes`; what is
            said about reading beside them is refused.
        files: Paths, directories and globs, instead of `source`. `*.jsonl`, `*.ndjson` and `*.json` are JSON lines,
            `*.parquet` and `*.arrow` are tables, and their rows are texts; all others are text in UTF-8, and each line,
            with its `\\n`, is one. All but tables may be compressed (`.gz`, `.zst`, `.bz2`, `.xz`).
        sources: Several sources by name, instead of `source`: each anything that `source` may be, or a list of
            `pathlib.Path` to read as `files`. The report then says what each got. All count as they are, as one corpus
            would, unless there are `weights` or a `temperature`.
        weights: The share of the training that each source is to stand for, whatever its size, in any unit:
            `{"zh": 0.3, "en": 0.7}`. Then `min_frequency` is compared with the weighted count, where all sources
            together have the size that they have.
        temperature: Instead: each source gets the share that its bytes to the power of 1 / `temperature` have. 1 leaves
            them as they are, 2 takes the square root, and the higher, the more equal they are.
        quota: The least share of the learned tokens that a source is to use most, such as `{"zh": 0.3}`. Merges are
            learned as ever while all quotas can be met by what is still to come; from then on, the most frequent pair
            is merged of those that a source uses most whose quota isn't met. So the least frequent tokens are given up,
            and a quota that is met anyway changes nothing. The two phases are those of the hybrid form of parity-aware
            BPE (Foroutan et al. 2025, arXiv 2508.04796; `ParityBpeTrainer` in tokenizers 0.23.3), where the source that
            compresses worst chooses its own most frequent pair; here a quota chooses, and pairs count as in all
            sources together. Where a source has no pairs left, a warning says what is missing.
        vocab_size: The number of tokens, special tokens and 256 bytes included.
        pad_to_multiple_of: If given, special tokens `<|pad_0|>`, `<|pad_1|>` ... follow all others until their number
            is a multiple of this, such as 128.
        alphabet: `"bytes"` or `"characters"`: what words are cut into.
        split_pattern: `"llama3"` (the default for bytes), `"gpt2"`, `"cl100k"`, `"o200k"`, `"qwen2"`, or any regex.
            Merges stay inside the pieces that it cuts.
        normalizer: `"NFC"` or another name, JSON, or a normalizer of `tokenizers`. None keeps texts as they are.
        pre_tokenizer: For characters, instead of `split_pattern`: a name, JSON, or a pre-tokenizer of `tokenizers`.
            By default `Metaspace`, which writes spaces as `▁` as SentencePiece does, and puts one before the first
            word; with an affix, `WhitespaceSplit`.
        decoder: For characters: a name, JSON, or a decoder of `tokenizers`. By default the one that undoes the
            pre-tokenizer and the affix.
        special_tokens: Tokens such as `"<|endoftext|>"`, in the order of their ids. They don't split the corpus.
        special_tokens_last: Whether they get the last ids, not the first. One that training makes as an ordinary
            token keeps the id that it got there.
        unk_token: The special token for what the vocabulary can't spell.
        fuse_unk: For characters: whether unknown characters in a row become one `unk_token`.
        byte_fallback: For characters: whether `<0x00>` to `<0xFF>` follow the special tokens, and spell any other
            character. No merge makes one of them.
        end_of_word_suffix: For characters: what the last character of a word carries, such as `"</w>"`.
        continuing_subword_prefix: For characters: what each but the first carries, such as `"##"`.
        initial_alphabet: For characters: those that are tokens whether or not the corpus has them.
        limit_alphabet: For characters: how many to keep; the most frequent, of equals those of lowest code points.
        min_frequency: How often a pair has to occur to be merged.
        max_token_length: If given, merges of merged tokens are shorter than this, in bytes or characters.
        within_scripts: Whether every learned token is of one script, apart from what scripts share (spaces, 0 to 9,
            punctuation, marks), and whole characters or a part of one. Japanese is one script, Han included.
        max_digits: How many digits a learned token may hold, of any script; with 0 no digit is merged with anything.
            Numbers are cut where the merges cut them: from the left, mostly.
        protected: Strings that are always one token each, in any text, and never a part of another one. They are added
            tokens behind the special ones, but not special: they are decoded as text. Training cuts the corpus at them,
            after normalizing; encoding does so before.
        segmenter: Where words begin in languages without spaces, while training only: merges never cross the borders.
            `"jieba"` for Chinese, `"icu"` for these and Japanese, Thai, Lao, Khmer and Burmese, or a callable from a
            pretoken (str) to its words (list of str) or to the offsets of borders (list of int). It is called once for
            each distinct pretoken, after normalizing. Those named leave pretokens of other scripts whole, and a space
            on the word behind it.
        text_column: The column to read of tables and datasets.
        num_threads: How many threads count; by default all cores, within `RAYON_NUM_THREADS`.
        progress: Whether to show a bar on stderr.
        max_memory: How much memory the table of distinct pretokens takes: bytes, or a text such as `"8MB"`. By default
            a quarter of the machine's. What doesn't fit goes to temporary files, and is merged exactly. Learning merges
            takes what it needs: 10 to 25 bytes for each byte of distinct pretokens. Where that will be more than
            `max_memory`, a warning says how much.
        temporary_directory: Where those files are made, without names; by default where the system has them. A line of
            4 MB or more of a compressed text file waits there until it is known to be UTF-8.
        max_pretoken_bytes: The length from which a pretoken is cut between characters, and its parts are counted, with
            a warning; None for none. Where nothing was cut, merges are those of the stock trainer.
        skip_bad_rows: Whether rows of files that hold no text (no JSON, no such column, no UTF-8, ...) are left out,
            counted in the report and told by a warning; else the first is an error. It is one as well where a source
            holds no text at all, or 100,000 such rows before the first text.
        checkpoint_dir: A folder for checkpoints of counting, from which a run can go on after a stop of any kind, and
            makes the same vocabulary; the last two are kept, of several sources in a folder for each. By default none
            are written, or to `resume_from`.
        checkpoint_minutes: How often one is written.
        resume_from: A folder of checkpoints to go on from; when it is `checkpoint_dir` as well and there is none in it,
            the corpus is read from its beginning. Source and settings have to be those of the stopped run.
        chat_template: `"chatml"`, `"llama3"`, `"llama3.1"`, `"qwen2.5"`, `"qwen3"` or another name of
            `hf_bpe.chat.templates.NAMES`: the tokens of this format follow the special tokens, and
            `hf_bpe.chat.install` does the rest. EOS becomes the format's; one named here stays among the stop ids. Or
            the text of any Jinja template, which is kept.
        **settings: Arguments of `HfBpeTokenizer`, such as `eos_token="<|endoftext|>"` or `model_max_length`. Named
            special tokens follow `special_tokens` where they aren't among them; any `..._token` names one. Others are
            refused with the nearest that there is.

    Returns:
        The tokenizer.

    Raises:
        TrainingError: `vocab_size` has no room for the special tokens and the bytes, or the characters of the corpus.
        TypeError: `source` is of no accepted type, or a keyword is unknown.
        ValueError: An argument is out of its range or contradicts another one, or there is no such column or chat
            template.
        CorpusError: A file is damaged, a table has no such column, or there are bad rows and no text, or bad rows with
            `skip_bad_rows=False`.
        SplitPatternError: `split_pattern` is no valid regex, or ran away on a text.
        CountsError: `PretokenCounts` were made with other settings than those asked for, or than other sources; or
            checkpoints can't be gone on from, or would be written over.
        ImportError: The `segmenter` that is named isn't installed.

    Example:
        >>> tokenizer = train(["a text", "another text"], vocab_size=260, progress=False)
        >>> len(tokenizer)
        260
        >>> tokenizer = train(["low lower"], vocab_size=9, alphabet="characters", progress=False)
        >>> tokenizer.tokenize("lower low")
        ['▁low', 'e', 'r', '▁low']
    """
    from hf_bpe.tokenizer import HfBpeTokenizer

    check_keywords(settings, train, also=TOKENIZER_SETTINGS, who="train()")
    if alphabet not in ("bytes", "characters"):
        raise ValueError(f"alphabet is 'bytes' or 'characters', got {alphabet!r}")
    checks.check_numbers(num_threads=num_threads, pad_to_multiple_of=pad_to_multiple_of)
    balance = Balance(weights, temperature, quota)
    check_sources(sources, source, files, balance)
    strings = checks.protected_strings(protected)
    cut = None if segmenter is None else segmenter_of(segmenter)
    if cut is not None and (end_of_word_suffix or continuing_subword_prefix):
        raise ValueError("segmenter has no use for an affix: a word that it cuts is no word to end or to continue")
    if unk_token is not None:
        settings["unk_token"] = unk_token
    chat_format = chat_template if isinstance(chat_template, str) and "{" not in chat_template else None
    if chat_format is None and chat_template is not None:
        settings["chat_template"] = chat_template
    specials = special_tokens_of(special_tokens, settings)
    if chat_format is not None:
        specials = with_chat_tokens(specials, chat_format, has_bos=settings.get("bos_token") is not None)
    specials += protected_tokens(strings, specials)
    options = CharacterOptions(
        split_pattern=split_pattern,
        pre_tokenizer=pre_tokenizer,
        decoder=decoder,
        unk_token=None if unk_token is None else str(unk_token),
        fuse_unk=fuse_unk,
        byte_fallback=byte_fallback,
        continuing_subword_prefix=continuing_subword_prefix,
        end_of_word_suffix=end_of_word_suffix,
        initial_alphabet=checks.characters_of(initial_alphabet),
        limit_alphabet=limit_alphabet,
    )
    trainer = TrainerSettings(
        vocab_size=vocab_size,
        special_tokens=[token["content"] for token in specials],
        special_tokens_last=special_tokens_last,
        min_frequency=min_frequency,
        max_token_length=max_token_length,
        within_scripts=within_scripts,
        max_digits=max_digits,
        characters=alphabet == "characters",
        initial_alphabet=options.initial_alphabet,
        limit_alphabet=limit_alphabet,
        continuing_subword_prefix=continuing_subword_prefix,
        end_of_word_suffix=end_of_word_suffix,
        reserved_tokens=checks.BYTE_TOKENS if byte_fallback else (),
    )
    limits = CountingLimits.of(
        max_memory=max_memory, temporary_directory=temporary_directory, max_pretoken_bytes=max_pretoken_bytes
    )
    checkpoints = Checkpoints.of(checkpoint_dir, checkpoint_minutes, resume_from)
    given = [source] if sources is None and files is None else list((sources or {}).values())
    counted = [part for part in given if isinstance(part, PretokenCounts)]
    counts = counted[0] if counted else None
    if counts is not None:
        if strings:
            raise ValueError("protected has to be known before texts are counted: give texts, not counts")
        check_reading(
            counts,
            limits,
            only_counts=len(counted) == len(given),
            text_column=text_column,
            skip_bad_rows=skip_bad_rows,
            num_threads=num_threads,
        )
        for part in counted:
            check_alphabet(part, alphabet)
            counts.settings.check_same(part.settings, what="counts of these sources don't go together")
    if trainer.characters:
        if counts is not None and split_pattern is None and pre_tokenizer is None:
            options = replace(options, pre_tokenizer=counts.settings.pre_tokenizer)
        options.check()
        pipeline = options.pipeline(normalizer)
    else:
        options.check_for_bytes()
        pipeline = pipeline_json.byte_level_pipeline("llama3" if split_pattern is None else split_pattern, normalizer)
    if counts is not None:
        pipeline = pipeline_of_counts(pipeline, counts.settings, split_pattern or pre_tokenizer, normalizer)
    trainer.check_room()
    if counts is not None:
        limits = replace(limits, max_pretoken_bytes=counts.settings.max_pretoken_bytes)
    counting = pipeline_json.cut_at_strings(pipeline, strings)
    reading: dict[str, Any] = {
        "text_column": text_column,
        "skip_bad_rows": skip_bad_rows,
        "temporary_directory": limits.temporary_directory,
    }
    if sources is not None:
        parts = counted_sources(sources, counting, num_threads, checkpoints, limits, cut, reading, progress=progress)
        trained, report = train_sources(
            pipeline,
            parts,
            balance,
            trainer,
            specials,
            pad_to_multiple_of,
            progress=progress,
            max_memory=limits.max_memory,
        )
    else:
        counter = counter_of(counting, num_threads, who="train()", limits=limits)
        corpus: Corpus | PretokenCounts = open_corpus(source, files=files, **reading) if counts is None else counts
        if checkpoints is not None:
            corpus = counted_with_checkpoints(counting, num_threads, corpus, checkpoints, limits, progress=progress)
        trained, report = train_pipeline(
            pipeline,
            counter,
            corpus,
            trainer,
            specials,
            progress=progress,
            cut=cut,
            pad=pad_to_multiple_of,
            max_memory=limits.max_memory,
        )
    tokenizer = HfBpeTokenizer(tokenizer_object=Tokenizer.from_json(json.dumps(trained)), **settings)
    tokenizer.training_report = report
    if chat_format is not None:
        from hf_bpe import chat

        chat.install(tokenizer, chat_format)
    return tokenizer
