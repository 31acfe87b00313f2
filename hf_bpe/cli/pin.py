"""`hf-bpe pin` and `hf-bpe check-pin`: fail a build when the tokenizer behind a model changed, and show what."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hf_bpe.cli.diff import lines_of
from hf_bpe.cli.directories import whole_files
from hf_bpe.cli.output import json_line, message, printable, reported_failures, write

if TYPE_CHECKING:
    from hf_bpe.pinning import PinCheck

_PIN_EXAMPLES = """
Examples:

    hf-bpe pin my-tokenizer -o tokenizer.pin

    hf-bpe pin my-tokenizer -o tokenizer.pin --small
"""
_CHECK_EXAMPLES = """
Examples:

    hf-bpe check-pin my-tokenizer tokenizer.pin

    hf-bpe check-pin my-tokenizer tokenizer.pin --json

Exit codes: 0 it is the same tokenizer, 1 it changed, or a file can't be read, 2 wrong usage.
"""

Source = Annotated[Path, typer.Argument(metavar="DIR|FILE", help="A tokenizer of any format.", show_default=False)]
Out = Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The file to write.", show_default=False)]
Small = Annotated[
    bool, typer.Option("--small", help="Keep hashes alone: changes are found, but not shown token by token.")
]
PinFile = Annotated[Path, typer.Argument(metavar="FILE", help="What hf-bpe pin wrote.", show_default=False)]
Show = Annotated[int, typer.Option(min=0, help="How many tokens and texts of each kind are shown.")]
Json = Annotated[bool, typer.Option("--json", help="Print all as one line of JSON.")]


def pin(source: Source, out: Out, small: Small = False) -> None:
    """Write a file that tells whether a tokenizer gives the same ids later."""
    with reported_failures():
        from hf_bpe import pinning

        made = pinning.pin(source, small=small)
        with whole_files([out]) as beside:
            beside[out].write_text(json_module.dumps(made.as_json(), indent=2) + "\n", encoding="utf-8")
        write(f"{made.fingerprint}\n")


pin.__doc__ = f"{pin.__doc__}\n\n\b{_PIN_EXAMPLES}"


def check_pin(source: Source, file: PinFile, show: Show = 10, json: Json = False) -> None:
    """Say whether a tokenizer gives the ids of its pin, and what changed."""
    with reported_failures():
        from hf_bpe import pinning

        check = pinning.check_pin(source, pinning.read_pin(file))
        if json:
            _write_json(check)
        elif check:
            write(f"{check.found}\n")
        else:
            _write_changes(check, show)
        if not check:
            message(f"{source} is not the tokenizer of {file}: {_named(check)} changed")
            raise typer.Exit(1)


check_pin.__doc__ = f"{check_pin.__doc__}\n\n\b{_CHECK_EXAMPLES}"


def _named(check: PinCheck) -> str:
    return ", ".join(name.replace("_", " ") for name in check.differing)


def _write_json(check: PinCheck) -> None:
    changes = None if check else check.changes()
    found = {"same": bool(check), "pinned": check.pinned, "found": check.found, "differing": list(check.differing)}
    write(json_line(found | ({} if changes is None else {"changes": changes.as_json()})) + "\n")


def _write_changes(check: PinCheck, show: int) -> None:
    from hf_bpe import compare

    lines = [f"pinned: {check.pinned}", f"found:  {check.found}", f"changed: {_named(check)}"]
    changes = check.changes()
    if changes is None or check.pinned_vocabulary is None:
        lines.append("the pin is small: it doesn't hold the tokenizer that it was made from")
    else:
        lines += lines_of(changes, show)
        found = compare(check.pinned_vocabulary, check.vocabulary, progress=False, sample=2_000)
        lines += str(found).splitlines()
    write("".join(f"{printable(line)}\n" for line in lines))
