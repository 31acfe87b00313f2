"""`hf-bpe train`: from text to a tokenizer directory, whole or not at all."""

from __future__ import annotations

import re
import time
from typing import Any

import typer

from hf_bpe.cli import learning_options as learning
from hf_bpe.cli import training_options as options
from hf_bpe.cli.directories import whole_directory, whole_files
from hf_bpe.cli.output import message, printable, reported_failures, write
from hf_bpe.cli.training_options import length_of, skipped_rows
from hf_bpe.cli.training_sources import counts_of, numbers_of, texts_of
from hf_bpe.limits import MAX_PRETOKEN_BYTES

_EPILOG = r"""
Examples:

    hf-bpe train corpus.txt --vocab-size 32000 --out my-tokenizer

    hf-bpe train 'data/*.parquet' --text-column content --vocab-size 50000 --eos-token '<|end|>' --out my-tokenizer

    hf-bpe train corpus.txt --alphabet characters --byte-fallback --unk-token '<unk>' --vocab-size 32000 --out sp

    hf-bpe train corpus.txt --vocab-size 32000 --chat-template chatml --out my-tokenizer

    hf-bpe train --from-counts a.parquet b.parquet --vocab-size 32000 --out my-tokenizer

    hf-bpe train corpus.txt --vocab-size 128000 --out my-tokenizer --report report.html --hidden-size 4096:32

    hf-bpe train corpus.txt --vocab-size 32000 --out my-tokenizer --checkpoint-dir stops --resume-from stops

    hf-bpe train --source 'en=en/*.txt' --source zh=zh.jsonl --quota zh=0.3 --vocab-size 32000 --out both

    zcat corpus.gz | hf-bpe train - --vocab-size 8000 --split-pattern gpt2 --out my-tokenizer
"""

_OF_TEXTS = (
    "text_column",
    "skip_bad_rows",
    "max_pretoken_bytes",
    "threads",
    "checkpoint_dir",
    "checkpoint_minutes",
    "resume_from",
)
"""Parameters that are for reading texts, so that counts have no use for them."""


def train(
    context: typer.Context,
    vocab_size: learning.VocabSize,
    out: learning.Out,
    sources: options.OptionalSources = None,
    named_sources: learning.NamedSources = [],  # noqa: B006 (typer copies defaults)
    weights: learning.Weights = [],  # noqa: B006
    temperature: learning.Temperature = None,
    quotas: learning.Quotas = [],  # noqa: B006
    from_counts: learning.FromCounts = False,
    alphabet: options.Alphabet = "bytes",
    split_pattern: options.SplitPattern = None,
    normalizer: options.Normalizer = None,
    pre_tokenizer: options.PreTokenizer = None,
    special_tokens: learning.SpecialTokens = [],  # noqa: B006 (typer copies defaults)
    special_tokens_last: learning.SpecialsLast = False,
    bos_token: learning.BosToken = None,
    eos_token: learning.EosToken = None,
    pad_token: learning.PadToken = None,
    unk_token: learning.UnkToken = None,
    fuse_unk: learning.FuseUnk = False,
    byte_fallback: learning.ByteFallback = False,
    end_of_word_suffix: learning.Suffix = None,
    continuing_subword_prefix: learning.Prefix = None,
    initial_alphabet: learning.InitialAlphabet = None,
    limit_alphabet: learning.LimitAlphabet = None,
    min_frequency: learning.MinFrequency = 2,
    max_token_length: learning.MaxTokenLength = None,
    within_scripts: learning.WithinScripts = False,
    max_digits: learning.MaxDigits = None,
    protected: learning.Protected = [],  # noqa: B006
    segmenter: learning.SegmenterName = None,
    pad_to_multiple_of: learning.PadToMultipleOf = None,
    text_column: options.TextColumn = "text",
    skip_bad_rows: options.SkipBadRows = True,
    max_memory: options.MaxMemory = None,
    temporary_directory: options.TemporaryDirectory = None,
    max_pretoken_bytes: options.MaxPretokenBytes = str(MAX_PRETOKEN_BYTES),
    checkpoint_dir: options.CheckpointDir = None,
    checkpoint_minutes: options.CheckpointMinutes = 10,
    resume_from: options.ResumeFrom = None,
    chat_template: learning.ChatTemplate = None,
    threads: options.Threads = None,
    progress: options.Progress = True,
    overwrite: learning.Overwrite = False,
    report: learning.Report = None,
    hidden_sizes: learning.HiddenSize = [],  # noqa: B006 (typer copies defaults)
) -> None:
    """Train a tokenizer and save it as a directory that AutoTokenizer loads."""
    import hf_bpe

    started = time.monotonic()
    if from_counts:
        _check_for_counts(context)
    models = _models(hidden_sizes)
    if report is not None and not report.parent.is_dir():
        raise typer.BadParameter(f"--report: {report.parent} is no directory")
    named: dict[str, Any] = {"bos_token": bos_token, "eos_token": eos_token, "pad_token": pad_token}
    given = {name: token for name, token in named.items() if token is not None}
    limits: dict[str, Any] = {"max_memory": max_memory, "temporary_directory": temporary_directory}
    pages = [] if report is None else [report]
    with reported_failures():
        with whole_files(pages) as beside:
            with whole_directory(out, overwrite=overwrite) as directory:
                if from_counts:
                    corpus = counts_of(sources or [], named_sources, limits, writes=report)
                else:
                    corpus = texts_of(sources or [], named_sources, writes=report, skip_bad_rows=skip_bad_rows)
                tokenizer = hf_bpe.train(
                    **corpus,
                    **limits,
                    max_pretoken_bytes=length_of(max_pretoken_bytes),
                    checkpoint_dir=checkpoint_dir,
                    checkpoint_minutes=checkpoint_minutes,
                    resume_from=resume_from,
                    skip_bad_rows=skip_bad_rows,
                    vocab_size=vocab_size,
                    weights=numbers_of("--weight", weights),
                    temperature=temperature,
                    quota=numbers_of("--quota", quotas),
                    pad_to_multiple_of=pad_to_multiple_of,
                    alphabet=alphabet,
                    split_pattern=split_pattern,
                    normalizer=normalizer,
                    pre_tokenizer=pre_tokenizer,
                    special_tokens=special_tokens,
                    special_tokens_last=special_tokens_last,
                    unk_token=unk_token,
                    fuse_unk=fuse_unk,
                    byte_fallback=byte_fallback,
                    end_of_word_suffix=end_of_word_suffix,
                    continuing_subword_prefix=continuing_subword_prefix,
                    initial_alphabet=initial_alphabet,
                    limit_alphabet=limit_alphabet,
                    min_frequency=min_frequency,
                    max_token_length=max_token_length,
                    within_scripts=within_scripts,
                    max_digits=max_digits,
                    protected=protected,
                    segmenter=segmenter,
                    text_column=text_column,
                    num_threads=threads,
                    chat_template=chat_template,
                    progress=progress,
                    **given,
                )
                tokenizer.save_pretrained(directory)
                _summarize(tokenizer, time.monotonic() - started)
            for page in pages:
                beside[page].write_bytes(tokenizer.training_report.to_html(hidden_sizes=models).encode())
        write(f"{printable(str(out))}\n")


train.__doc__ = f"{train.__doc__}\n\n\b{_EPILOG}"


def _check_for_counts(context: typer.Context) -> None:
    """Raise when an option is given that is for reading texts, also where its value is the default."""
    for name in _OF_TEXTS:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            option = ("--no-" if context.params[name] is False else "--") + name.replace("_", "-")
            raise typer.BadParameter(f"{option} is for texts, and with --from-counts they are counted already")


def _models(sizes: list[str]) -> dict[int, int] | None:
    """Return what `--hidden-size` says; None for nothing."""
    matches = [re.fullmatch(r"([1-9][0-9]*):([1-9][0-9]*)", size) for size in sizes]
    for size, match in zip(sizes, matches, strict=True):
        if match is None:
            raise typer.BadParameter(f"--hidden-size is SIZE:LAYERS, such as 4096:32, got {size!r}")
    return {int(match[1]): int(match[2]) for match in matches if match} or None


def _summarize(tokenizer: Any, seconds: float) -> None:
    from hf_bpe import chat

    report = tokenizer.training_report
    message(f"{len(tokenizer):,} tokens from {report.bytes:,} bytes in {seconds:.1f} s{skipped_rows(report)}")
    for source in report.sources:
        message(
            f"{printable(source.name)}: {source.share:.1%} of the training, "
            f"{source.bytes_per_token:.3f} bytes a token, uses {source.used_most:,} learned tokens most"
        )
    if tokenizer.chat_template is not None:
        ids = ", ".join(map(str, chat.stop_ids(tokenizer)))
        message(f"generation stops at {ids}; EOS is {printable(tokenizer.eos_token)}")
