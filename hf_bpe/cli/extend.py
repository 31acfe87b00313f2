"""`hf-bpe extend`: more tokens, learned from text, on top of a vocabulary that a model already speaks."""

from __future__ import annotations

from typing import Annotated

import typer

from hf_bpe.cli import extension
from hf_bpe.cli.output import reported_failures
from hf_bpe.cli.sources import open_sources
from hf_bpe.cli.training_options import SkipBadRows

_EXAMPLES = """
Examples:

    hf-bpe extend gpt2 chinese.txt --num-new-tokens 1000 --out gpt2-chinese

    hf-bpe extend qwen2.5 'src/**/*.py' --fill-padding-rows 151936 --out qwen2.5-code --report qwen.html

    hf-bpe extend llama3 corpus.txt --num-new-tokens 500 --report-on English=english.txt --out llama3-mine
"""

Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="SOURCE",
        help="Files, directories or globs of UTF-8 text, JSON lines or Parquet; - is stdin.",
        show_default=False,
    ),
]
NewTokens = Annotated[int | None, typer.Option(min=0, help="How many tokens to add.", show_default=False)]
VocabSize = Annotated[
    int | None, typer.Option(min=1, help="Instead, the highest id plus one to end with.", show_default=False)
]
Rows = Annotated[
    int | None,
    typer.Option(min=1, help="How many rows the model's embedding has: new ids stay below.", show_default=False),
]
MinFrequency = Annotated[int, typer.Option(min=0, help="How often a pair must occur to be merged.")]
MaxTokenLength = Annotated[
    int | None, typer.Option(min=1, help="New tokens stay shorter than this, in bytes or characters.")
]
NewCharacters = Annotated[
    bool, typer.Option(help="Whether characters that are spelled in byte tokens may become tokens.")
]
Threads = Annotated[int | None, typer.Option(min=1, help="Threads; all cores by default.")]
Progress = Annotated[bool, typer.Option(help="Show a bar on stderr.")]


def extend(
    tokenizer: extension.Old,
    sources: Sources,
    out: extension.Out,
    num_new_tokens: NewTokens = None,
    vocab_size: VocabSize = None,
    fill_padding_rows: Rows = None,
    min_frequency: MinFrequency = 2,
    max_token_length: MaxTokenLength = None,
    new_characters: NewCharacters = True,
    report_on: extension.ReportOn = [],  # noqa: B006 (typer copies defaults)
    report: extension.Report = [],  # noqa: B006
    max_lines: extension.MaxLines = 200,
    text_column: extension.TextColumn = "text",
    skip_bad_rows: SkipBadRows = True,
    threads: Threads = None,
    progress: Progress = True,
    overwrite: extension.Overwrite = False,
    json: extension.Json = False,
) -> None:
    """Give a vocabulary more tokens, learned from text: old ids stay, and texts' tokens are only joined."""
    if num_new_tokens is vocab_size is fill_padding_rows is None:
        raise typer.BadParameter("give --num-new-tokens, --vocab-size or --fill-padding-rows")
    with reported_failures():
        import hf_bpe

        old = extension.read_tokenizer(tokenizer)
        texts = extension.texts_by_name(report_on)
        extension.write_extended(
            lambda: hf_bpe.extend(
                old,
                **open_sources(sources, skip_bad_rows=skip_bad_rows),
                num_new_tokens=num_new_tokens,
                vocab_size=vocab_size,
                fill_padding_rows=fill_padding_rows,
                min_frequency=min_frequency,
                max_token_length=max_token_length,
                new_characters=new_characters,
                report_on=texts,
                max_lines=max_lines,
                text_column=text_column,
                skip_bad_rows=skip_bad_rows,
                num_threads=threads,
                progress=progress,
            ),
            out,
            report,
            overwrite=overwrite,
            json=json,
        )


extend.__doc__ = f"{extend.__doc__}\n\n\b{_EXAMPLES}"
