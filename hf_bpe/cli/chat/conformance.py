"""`hf-bpe chat conformance`: whether a directory renders and encodes chats as golden cases say."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hf_bpe.cli.encode import Directory, load
from hf_bpe.cli.output import json_line, message, printable, reported_failures, write

_EXAMPLES = """
Examples:

    hf-bpe chat conformance my-tokenizer --cases cases.json

    hf-bpe chat conformance my-tokenizer --cases cases.json --json

Exit codes: 0 all cases agree, 1 some differ, 2 wrong usage.
"""

Cases = Annotated[
    Path,
    typer.Option(
        "--cases", metavar="FILE", help="Golden cases, as JSON.", exists=True, dir_okay=False, show_default=False
    ),
]
Template = Annotated[
    str | None, typer.Option("--template", metavar="NAME", help="Whose texts are expected, if the cases know several.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as one line of JSON.")]


def conformance(directory: Directory, cases: Cases, template: Template = None, json: Json = False) -> None:
    """Compare text, ids and errors of each case with what upstream gave."""
    with reported_failures():
        from hf_bpe.chat.conformance import conformance as compare

        result = compare(load(directory), cases, template=template)
        write(json_line(result.as_json()) + "\n" if json else f"{printable(str(result), keep_lines=True)}\n")
        if not result:
            message(f"{cases}: some cases differ")
            raise typer.Exit(1)


conformance.__doc__ = f"{conformance.__doc__}\n\n\b{_EXAMPLES}"
