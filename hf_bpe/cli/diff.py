"""`hf-bpe diff`: what changes for those who go from one tokenizer to another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hf_bpe.cli.output import json_line, printable, reported_failures, write
from hf_bpe.cli.sources import text_lines

if TYPE_CHECKING:
    from hf_bpe.verification.changes import Changes

_EXAMPLES = """
Examples:

    hf-bpe diff old-tokenizer new-tokenizer

    hf-bpe diff old-tokenizer new-tokenizer corpus.txt

    hf-bpe diff cl100k_base.tiktoken my-tokenizer --json
"""

First = Annotated[Path, typer.Argument(metavar="A", help="A tokenizer of any format.", show_default=False)]
Second = Annotated[Path, typer.Argument(metavar="B", help="Another one.", show_default=False)]
Corpus = Annotated[
    list[str] | None,
    typer.Argument(metavar="CORPUS", help="Text files; - is stdin. Each line is a text.", show_default=False),
]
Show = Annotated[int, typer.Option(min=0, help="How many tokens and texts of each kind are shown.")]
Json = Annotated[bool, typer.Option("--json", help="Print all as one line of JSON.")]
ExitCode = Annotated[bool, typer.Option("--exit-code", help="Exit with 1 if anything differs.")]


def diff(
    first: First,
    second: Second,
    corpus: Corpus = None,
    show: Show = 10,
    json: Json = False,
    exit_code: ExitCode = False,
) -> None:
    """Show tokens that moved, appeared and vanished, texts that change, and tokens saved or lost by language."""
    with reported_failures():
        from hf_bpe import compare
        from hf_bpe.verification.changes import changes_between
        from hf_bpe.verification.sides import read

        one, other = read(first), read(second)
        changes = changes_between(one, other, text_lines(corpus) if corpus else None)
        found = compare(one, other, progress=False, sample=None if changes.any else 2_000)
        if json:
            write(
                json_line({"first": str(first), "second": str(second), **changes.as_json(), **found.as_json()}) + "\n"
            )
        else:
            lines = lines_of(changes, show)
            write("".join(f"{printable(line)}\n" for line in lines))
            write(f"{printable(str(found), keep_lines=True)}\n")
        if exit_code and (changes.any or not found):
            raise typer.Exit(1)


diff.__doc__ = f"{diff.__doc__}\n\n\b{_EXAMPLES}"


def lines_of(changes: Changes, show: int) -> Iterator[str]:
    """Yield changes as lines for a terminal, with so many tokens and texts of each kind."""
    yield f"tokens with the same id: {changes.shared:,}"
    yield from _some("tokens with another id", changes.moved, show, lambda ids: f"{ids[0]} -> {ids[1]}")
    yield from _some("tokens that appeared", changes.appeared, show, str)
    yield from _some("tokens that vanished", changes.vanished, show, str)
    yield f"texts with other tokens: {changes.changed:,} of {changes.texts:,}"
    for text, one, other in changes.examples[:show]:
        yield f"  {text[:80]!r}: {one[:12]} -> {other[:12]}"
    yield "tokens by language or script"
    width = max(map(len, changes.counts), default=0)
    for name, count in sorted(changes.counts.items(), key=lambda item: item[0]):
        saved = count.first - count.second
        share = f"{-saved / count.first:+.1%}" if count.first else "0"
        yield f"  {name:<{width}}  {count.first:,} -> {count.second:,}  {share}"


def _some(what: str, tokens: Mapping[str, Any], show: int, said: Any) -> Iterator[str]:
    yield f"{what}: {len(tokens):,}"
    for token, value in list(tokens.items())[:show]:
        yield f"  {token!r}  {said(value)}"
    if len(tokens) > show:
        yield f"  … and {len(tokens) - show:,} more; --json shows all"
