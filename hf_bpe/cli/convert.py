"""`hf-bpe convert`: from one format to another, verified, whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import cleandoc
from pathlib import Path
from typing import Annotated, Any

import typer

from hf_bpe.cli.output import json_line, printable, reported_failures, write
from hf_bpe.cli.sources import text_lines

_EXAMPLES = """
Examples:

    hf-bpe convert cl100k_base.tiktoken my-directory

    hf-bpe convert llama3/tokenizer.model my-llama3 --add-bos-token

    hf-bpe convert my-directory tekken.json

    hf-bpe convert my.tiktoken my-directory --split-pattern cl100k --special-token '<|endoftext|>=100257'

    hf-bpe convert my-directory vocab-and-merges --to gpt2 --overwrite
"""
FORMATS = "gguf, gpt2, sentencepiece, tekken, tiktoken, tokenizer_json"

Source = Annotated[Path, typer.Argument(metavar="SOURCE", help="A file or directory.", show_default=False)]
Destination = Annotated[
    Path,
    typer.Argument(
        metavar="DESTINATION",
        help="What to write: *.gguf, tekken.json, *.tiktoken, *.model, or else a directory with a tokenizer.json.",
        show_default=False,
    ),
]
From = Annotated[
    str | None, typer.Option("--from", help=f"The format of SOURCE, if its content doesn't say it: {FORMATS}.")
]
To = Annotated[str | None, typer.Option("--to", help="The format of DESTINATION, if its name doesn't say it.")]
Pattern = Annotated[
    str | None, typer.Option("--split-pattern", help="For ranks: llama3, gpt2, cl100k, o200k, qwen2 or a regex.")
]
Specials = Annotated[
    list[str],
    typer.Option("--special-token", metavar="TOKEN=ID", help="For ranks; may be given again.", show_default=False),
]
Encoding = Annotated[
    str | None, typer.Option("--encoding", help="For ranks: a published encoding, such as o200k_harmony.")
]
Normalizer = Annotated[str | None, typer.Option(help="For ranks: NFC, NFD, NFKC or NFKD.")]
AddBos = Annotated[
    bool | None,
    typer.Option(
        "--add-bos-token/--no-add-bos-token",
        help="Add BOS before each text. By default only if SOURCE is of SentencePiece, or says so.",
        show_default=False,
    ),
]
Corpus = Annotated[
    list[str], typer.Option("--corpus", metavar="FILE", help="Text to verify on as well.", show_default=False)
]
Sample = Annotated[int | None, typer.Option(min=1, help="Verify on so many tokens, splits and pairs; all by default.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace DESTINATION.")]
Json = Annotated[bool, typer.Option("--json", help="Print what conversion.json holds in one line.")]
Progress = Annotated[
    bool | None, typer.Option(help="Show a bar on stderr; by default on a terminal.", show_default=False)
]


def convert(
    source: Source,
    destination: Destination,
    source_format: From = None,
    destination_format: To = None,
    split_pattern: Pattern = None,
    special_tokens: Specials = [],  # noqa: B006 (typer copies defaults)
    encoding: Encoding = None,
    normalizer: Normalizer = None,
    add_bos_token: AddBos = None,
    corpus: Corpus = [],  # noqa: B006
    sample: Sample = None,
    overwrite: Overwrite = False,
    json: Json = False,
    progress: Progress = None,
) -> None:
    """Convert a tokenizer to another format, and verify that its ids stay what they are.

    What was verified is printed, and left in conversion.json. On failure nothing is left, and nothing old is lost.
    """
    given = {
        "split_pattern": split_pattern,
        "special_tokens": _special_tokens(special_tokens) or None,
        "encoding": encoding,
        "normalizer": normalizer,
        "add_bos_token": add_bos_token,
    }
    with reported_failures():
        import hf_bpe

        done = hf_bpe.convert(
            source,
            destination,
            source_format=source_format,
            destination_format=destination_format,
            read_options={name: value for name, value in given.items() if value is not None},
            texts=list(text_lines(corpus)) if corpus else None,
            sample=sample,
            overwrite=overwrite,
            progress=progress,
        )
        write(json_line(_report(done)) + "\n" if json else f"{printable(str(done), keep_lines=True)}\n")


convert.__doc__ = f"{cleandoc(convert.__doc__ or '')}\n\n\b{_EXAMPLES}"


def _report(done: Any) -> Any:
    import json

    return json.loads(done.report.read_text(encoding="utf-8"))


def _special_tokens(given: Sequence[str]) -> dict[str, int]:
    tokens = {}
    for item in given:
        token, equals, token_id = item.rpartition("=")
        if not (equals and token and token_id.isascii() and token_id.isdigit()):
            raise typer.BadParameter(f"--special-token is TOKEN=ID, such as '<|end|>=100', got {item!r}")
        tokens[token] = int(token_id)
    return tokens
