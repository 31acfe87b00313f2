"""`hf-bpe count`: from text to a file of counts, whole or not at all."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from hf_bpe.cli import training_options as options
from hf_bpe.cli.directories import whole_files
from hf_bpe.cli.output import message, printable, reported_failures, write
from hf_bpe.cli.sources import open_sources
from hf_bpe.cli.training_options import length_of, skipped_rows
from hf_bpe.limits import MAX_PRETOKEN_BYTES

_EPILOG = r"""
Examples:

    hf-bpe count 'part-1/*.jsonl.zst' --split-pattern gpt2 --out 1.parquet

    hf-bpe count corpus.txt --tokenizer my-tokenizer --out counts.parquet

    hf-bpe count corpus.txt --out counts.parquet --checkpoint-dir stops --resume-from stops

    hf-bpe train --from-counts 1.parquet 2.parquet --vocab-size 32000 --out my-tokenizer
"""

Out = Annotated[Path, typer.Option("--out", "-o", help="The Parquet file to write.", show_default=False)]
Tokenizer = Annotated[
    str | None, typer.Option(help="A tokenizer whose normalizer and pre-tokenizer cut the texts.", metavar="DIR")
]
Name = Annotated[str | None, typer.Option(help="What the file calls this corpus; the names of SOURCE by default.")]


def count(
    sources: options.Sources,
    out: Out,
    tokenizer: Tokenizer = None,
    alphabet: options.Alphabet = "bytes",
    split_pattern: options.SplitPattern = None,
    normalizer: options.Normalizer = None,
    pre_tokenizer: options.PreTokenizer = None,
    name: Name = None,
    text_column: options.TextColumn = "text",
    skip_bad_rows: options.SkipBadRows = True,
    max_memory: options.MaxMemory = None,
    temporary_directory: options.TemporaryDirectory = None,
    max_pretoken_bytes: options.MaxPretokenBytes = str(MAX_PRETOKEN_BYTES),
    checkpoint_dir: options.CheckpointDir = None,
    checkpoint_minutes: options.CheckpointMinutes = 10,
    resume_from: options.ResumeFrom = None,
    threads: options.Threads = None,
    progress: options.Progress = True,
) -> None:
    """Count the pretokens of a corpus, to be added to others and trained from."""
    import hf_bpe

    started = time.monotonic()
    with reported_failures():
        with whole_files([out]) as beside:
            counts = hf_bpe.PretokenCounts.count(
                **open_sources(sources, writes=out, skip_bad_rows=skip_bad_rows),
                tokenizer=tokenizer and hf_bpe.HfBpeTokenizer.from_pretrained(tokenizer),
                alphabet=alphabet,
                split_pattern=split_pattern,
                normalizer=normalizer,
                pre_tokenizer=pre_tokenizer,
                name=name,
                text_column=text_column,
                skip_bad_rows=skip_bad_rows,
                max_memory=max_memory,
                temporary_directory=temporary_directory,
                max_pretoken_bytes=length_of(max_pretoken_bytes),
                checkpoint_dir=checkpoint_dir,
                checkpoint_minutes=checkpoint_minutes,
                resume_from=resume_from,
                num_threads=threads,
                progress=progress,
            )
            counts.save(beside[out])
        seconds = time.monotonic() - started
        left_out = skipped_rows(counts.report)
        message(f"{len(counts):,} distinct pretokens of {counts.report.bytes:,} bytes in {seconds:.1f} s{left_out}")
        write(f"{printable(str(out))}\n")


count.__doc__ = f"{count.__doc__}\n\n\b{_EPILOG}"
