"""`hf-bpe add-words`: one token for each of some chosen words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, get_args

import typer

from hf_bpe.cli import extension
from hf_bpe.cli.output import reported_failures
from hf_bpe.cli.sources import open_sources, text_lines
from hf_bpe.cli.training_options import SkipBadRows

_EXAMPLES = """
Examples:

    hf-bpe add-words gpt2 区块链 ' Kubernetes' ' MCP' --out gpt2-words

    hf-bpe add-words llama3 --words-file terms.txt --leading-space both --skip-refused --out llama3-words

    hf-bpe add-words my-tokenizer Rust --source corpus.txt --allow-changes --report words.html --out mine
"""

Words = Annotated[
    list[str], typer.Argument(metavar="WORD", help="Words; a space before one is part of it.", show_default=False)
]
WordsFile = Annotated[
    list[Path],
    typer.Option("--words-file", help="A file with a word in each line.", exists=True, dir_okay=False),
]
LeadingSpace = Annotated[
    str, typer.Option(help="as_written, add (a space before each word), or both (with and without).")
]
Source = Annotated[
    list[str], typer.Option("--source", metavar="SOURCE", help="Text in which to look for what changes.")
]
AllowChanges = Annotated[
    bool, typer.Option("--allow-changes", help="Put merges before older ones that stand in the way.")
]
SkipRefused = Annotated[bool, typer.Option("--skip-refused", help="Only report words that can't become tokens.")]


def add_words(
    tokenizer: extension.Old,
    out: extension.Out,
    words: Words = [],  # noqa: B006 (typer copies defaults)
    words_file: WordsFile = [],  # noqa: B006
    leading_space: LeadingSpace = "as_written",
    source: Source = [],  # noqa: B006
    allow_changes: AllowChanges = False,
    skip_refused: SkipRefused = False,
    report_on: extension.ReportOn = [],  # noqa: B006
    report: extension.Report = [],  # noqa: B006
    max_lines: extension.MaxLines = None,
    text_column: extension.TextColumn = "text",
    skip_bad_rows: SkipBadRows = True,
    overwrite: extension.Overwrite = False,
    json: extension.Json = False,
) -> None:
    """Make one token of each word, by merges behind the old ones, and say what stands in the way of others."""
    with reported_failures():
        listed = [*words, *(line.rstrip("\r\n") for line in text_lines([str(path) for path in words_file]))]
        listed = [word for word in listed if word]
    if not listed:
        raise typer.BadParameter("give words, or a --words-file")
    form = _leading_space(leading_space)
    with reported_failures():
        import hf_bpe

        old = extension.read_tokenizer(tokenizer)
        texts = extension.texts_by_name(report_on)
        extension.write_extended(
            lambda: hf_bpe.add_words(
                old,
                listed,
                leading_space=form,
                **(open_sources(source, skip_bad_rows=skip_bad_rows) if source else {}),
                allow_changes=allow_changes,
                skip_refused=skip_refused,
                report_on=texts,
                max_lines=max_lines,
                text_column=text_column,
                skip_bad_rows=skip_bad_rows,
            ),
            out,
            report,
            overwrite=overwrite,
            json=json,
        )


add_words.__doc__ = f"{add_words.__doc__}\n\n\b{_EXAMPLES}"

_Form = Literal["as_written", "add", "both"]


def _leading_space(given: str) -> _Form:
    for form in get_args(_Form):
        if form == given:
            chosen: _Form = form
            return chosen
    raise typer.BadParameter(f"--leading-space is one of {', '.join(get_args(_Form))}, got {given!r}")
