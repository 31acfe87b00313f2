"""`hf-bpe prune`: a smaller vocabulary from a larger one."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import Annotated, Any

import typer

from hf_bpe.cli import extension
from hf_bpe.cli.output import reported_failures
from hf_bpe.cli.sources import open_sources
from hf_bpe.cli.training_options import SkipBadRows

_EXAMPLES = """
Examples:

    hf-bpe prune gpt2 english.txt --vocab-size 8000 --out gpt2-english --report gpt2.html

    hf-bpe prune llama3 --keep tokens.json --out llama3-small --id-map ids.json

A file of tokens is a JSON list of tokens, as in the vocabulary, and of ids.
"""

Sources = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="SOURCE",
        help="Files, directories or globs of UTF-8 text, JSON lines or Parquet; - is stdin.",
        show_default=False,
    ),
]
VocabSize = Annotated[int | None, typer.Option(min=1, help="The number of tokens to be left with.", show_default=False)]
Keep = Annotated[
    Path | None, typer.Option(help="A file of tokens to keep.", exists=True, dir_okay=False, show_default=False)
]
Drop = Annotated[
    Path | None, typer.Option(help="A file of tokens to drop.", exists=True, dir_okay=False, show_default=False)
]
IdMap = Annotated[
    Path | None,
    typer.Option(help="Write the new id of each old one, as JSON, for hf-bpe resize.", show_default=False),
]
Progress = Annotated[bool, typer.Option(help="Show a bar on stderr.")]


def prune(
    tokenizer: extension.Old,
    sources: Sources = None,
    *,
    out: extension.Out,
    vocab_size: VocabSize = None,
    keep: Keep = None,
    drop: Drop = None,
    id_map: IdMap = None,
    report_on: extension.ReportOn = [],  # noqa: B006 (typer copies defaults)
    report: extension.Report = [],  # noqa: B006
    max_lines: extension.MaxLines = 200,
    text_column: extension.TextColumn = "text",
    skip_bad_rows: SkipBadRows = True,
    progress: Progress = True,
    overwrite: extension.Overwrite = False,
    json: extension.Json = False,
) -> None:
    """Drop tokens: text that needs none of them keeps its tokens, and ids close up in their order."""
    if bool(sources) + (keep is not None) + (drop is not None) != 1:
        raise typer.BadParameter("give SOURCE with --vocab-size, or --keep, or --drop")
    if bool(sources) != (vocab_size is not None):
        raise typer.BadParameter("SOURCE and --vocab-size go together")
    with reported_failures():
        from hf_bpe import extension as library

        old = extension.read_tokenizer(tokenizer)
        texts = extension.texts_by_name(report_on)
        chosen: dict[str, Any] = {}
        if sources:
            chosen = open_sources(sources, skip_bad_rows=skip_bad_rows)
        for name, path in (("keep", keep), ("drop", drop)):
            if path is not None:
                chosen[name] = _tokens(path)

        def pruned() -> tuple[Any, Any]:
            return library.prune(
                old,
                **chosen,
                vocab_size=vocab_size,
                report_on=texts,
                max_lines=max_lines,
                text_column=text_column,
                skip_bad_rows=skip_bad_rows,
                progress=progress,
            )

        extension.write_extended(pruned, out, report, overwrite=overwrite, json=json, id_map=id_map)


prune.__doc__ = f"{prune.__doc__}\n\n\b{_EXAMPLES}"


def _tokens(path: Path) -> list[str | int]:
    try:
        content = json_module.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: no JSON: {error}") from None
    if not isinstance(content, list):
        raise ValueError(f'{path}: holds no list of tokens and ids, such as ["Ġthe", 995]')
    return content
