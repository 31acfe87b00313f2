"""`hf-bpe lint`: what is odd in a vocabulary, for people and for continuous integration."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hf_bpe.cli.convert import FORMATS
from hf_bpe.cli.output import json_line, message, printable, reported_failures, write

_EXAMPLES = """
Examples:

    hf-bpe lint my-tokenizer

    hf-bpe lint tekken.json --json

    hf-bpe lint my-tokenizer --ignore dead-token

Exit codes: 0 there are at most notes, 1 there are warnings or errors, 2 wrong usage.
"""

Source = Annotated[Path, typer.Argument(metavar="DIR|FILE", help="A tokenizer of any format.", show_default=False)]
From = Annotated[str | None, typer.Option("--from", help=f"Its format, if its content doesn't say it: {FORMATS}.")]
Ignore = Annotated[
    list[str], typer.Option("--ignore", metavar="KIND", help="Leave out a kind of findings.", show_default=False)
]
Json = Annotated[bool, typer.Option("--json", help="Print all findings as one line of JSON.")]


def lint(source: Source, source_format: From = None, ignore: Ignore = [], json: Json = False) -> None:  # noqa: B006
    """Find dead tokens, merges that depend on the algorithm, doubles, holes, and odd added tokens."""
    with reported_failures():
        import hf_bpe
        from hf_bpe.linting.report import KINDS

        for kind in ignore:
            if kind not in KINDS:
                raise typer.BadParameter(f"--ignore {kind}: the kinds are {', '.join(KINDS)}")
        found = hf_bpe.lint(source, source_format=source_format, ignore=ignore)
        write(json_line(found.as_json()) + "\n" if json else f"{printable(str(found), keep_lines=True)}\n")
        if not found:
            message(f"{source}: there are warnings or errors")
            raise typer.Exit(1)


lint.__doc__ = f"{lint.__doc__}\n\n\b{_EXAMPLES}"
