"""`hf-bpe chat prefixes`: what a prefix cache would have reused of a log of requests, and what broke prefixes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hf_bpe.cli.encode import Directory, load
from hf_bpe.cli.output import json_line, reported_failures, show, write

_EXAMPLES = """
Examples:

    hf-bpe chat prefixes my-tokenizer requests.jsonl

    hf-bpe chat prefixes my-tokenizer requests.jsonl --block-size 1 --json
"""

Log = Annotated[
    Path,
    typer.Argument(
        metavar="LOG",
        help="JSON lines: requests with messages, tools and variables; rendered texts; or ids.",
        exists=True,
        dir_okay=False,
        show_default=False,
    ),
]
BlockSize = Annotated[int, typer.Option(min=1, help="How many tokens a block of the cache has.")]
Json = Annotated[bool, typer.Option("--json", help="Print the report as one line of JSON.")]


def prefixes(directory: Directory, log: Log, block_size: BlockSize = 16, json: Json = False) -> None:
    """Show what a prefix cache would have reused, where prefixes break, and which field does it."""
    with reported_failures():
        from hf_bpe.chat.prefixes import prefix_report

        report = prefix_report(log, tokenizer=load(directory), block_size=block_size)
        if json:
            write(json_line(report.as_json()) + "\n")
        else:
            show(report.__rich__())


prefixes.__doc__ = f"{prefixes.__doc__}\n\n\b{_EXAMPLES}"
