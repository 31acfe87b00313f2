"""`hf-bpe card`: the model card of a tokenizer, for its README.md."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from hf_bpe.cli.directories import whole_files
from hf_bpe.cli.output import reported_failures, write

_EXAMPLES = """
Examples:

    hf-bpe card my-tokenizer --corpus english.txt --corpus code.jsonl -o my-tokenizer/README.md

    hf-bpe card my-tokenizer --about about.json --license apache-2.0

about.json holds what no one can measure: name, purpose, training_data, sampling, license, languages, base_model, tags.
"""

Source = Annotated[Path, typer.Argument(metavar="DIR", help="A tokenizer directory.", show_default=False)]
Corpus = Annotated[
    list[Path], typer.Option("--corpus", help="Texts to measure: give it again for more.", show_default=False)
]
Out = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="FILE", help="The file to write; else stdout.", show_default=False)
]
AboutFile = Annotated[
    Path | None, typer.Option("--about", metavar="FILE", help="What can't be measured, as JSON.", show_default=False)
]
Name = Annotated[str, typer.Option(help="The repository; by default the name of the directory.", show_default=False)]
License = Annotated[str, typer.Option("--license", help="Its licence, such as apache-2.0.", show_default=False)]
TextColumn = Annotated[str, typer.Option(help="Column of JSON lines and Parquet.")]


def card(
    source: Source,
    corpus: Corpus = [],  # noqa: B006
    out: Out = None,
    about: AboutFile = None,
    name: Name = "",
    license: License = "",
    text_column: TextColumn = "text",
) -> None:
    """Write a Hugging Face model card from measurements."""
    with reported_failures():
        from hf_bpe import cards

        known = cards.About() if about is None else cards.read_about(about)
        known = replace(known, name=name or known.name, license=license or known.license)
        named = {str(path) if _doubled(path, corpus) else path.name: path for path in corpus}
        with whole_files([] if out is None else [out]) as files:
            made = str(cards.card(source, named or None, about=known, text_column=text_column))
            if out is not None:
                files[out].write_text(made, encoding="utf-8", newline="\n")
        if out is None:
            write(made)


card.__doc__ = f"{card.__doc__}\n\n\b{_EXAMPLES}"


def _doubled(path: Path, paths: list[Path]) -> bool:
    return [other.name for other in paths].count(path.name) > 1
