"""`hf-bpe encode` and `hf-bpe decode`: text to ids and back, exactly, also through a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from hf_bpe.cli.output import json_line, printable, reported_failures, stdin, write

if TYPE_CHECKING:
    from hf_bpe.tokenizer import HfBpeTokenizer

_STDIN = "-"
_BATCH_LINES = 1000

_ENCODE_EXAMPLES = """
Examples:

    hf-bpe encode my-tokenizer 'hello world'

    hf-bpe encode my-tokenizer --tokens 'hello world'

    hf-bpe encode my-tokenizer --lines --json < corpus.txt

    hf-bpe encode my-tokenizer 'corpus/*.jsonl.zst' --out tokens.bin --append-eos

With --out, arguments are files, directories and globs: text, JSON lines, Parquet, Arrow; gzip and zstd. They may be
larger than memory. The same command goes on where one was stopped.
"""
_DECODE_EXAMPLES = """
Examples:

    hf-bpe decode my-tokenizer 31373 995

    hf-bpe encode my-tokenizer - < file.txt | hf-bpe decode my-tokenizer - --skip-special-tokens > same.txt
"""

Directory = Annotated[
    Path, typer.Argument(metavar="DIR", help="A tokenizer directory.", exists=True, file_okay=False, show_default=False)
]
Text = Annotated[
    list[str] | None,
    typer.Argument(metavar="TEXT", help="The text; - or nothing reads stdin. With --out: FILES.", show_default=False),
]
ShowIds = Annotated[bool, typer.Option("--ids", help="Print the ids of a text in a line. The default.")]
ShowTokens = Annotated[bool, typer.Option("--tokens", help="Print one token a line, and an empty line after a text.")]
ShowJson = Annotated[bool, typer.Option("--json", help="Print ids, tokens and offsets of a text as a line of JSON.")]
Lines = Annotated[bool, typer.Option("--lines", help="Each line of stdin, without its newline, is a text.")]
NoSpecial = Annotated[bool, typer.Option("--no-special-tokens", help="Add none, such as BOS.")]
SplitSpecial = Annotated[
    bool, typer.Option("--split-special-tokens", help="Read special tokens in the text as ordinary text.")
]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="Encode files to *.bin, *.npy or *.parquet.", show_default=False),
]
TextColumn = Annotated[str, typer.Option(help="With --out: the column, or JSON key, with the text.")]
DocumentsAre = Annotated[
    str, typer.Option("--documents", help="With --out: what a document of text is, lines or files.")
]
AppendEos = Annotated[bool, typer.Option("--append-eos", help="With --out: EOS after each document.")]
SkipBadRows = Annotated[bool, typer.Option("--skip-bad-rows", help="With --out: leave bad rows out, and count them.")]
Restart = Annotated[bool, typer.Option("--restart", help="With --out: begin anew, whatever was done before.")]
Progress = Annotated[
    bool | None, typer.Option(help="With --out: a bar on stderr; by default on a terminal.", show_default=False)
]


def encode(
    directory: Directory,
    text: Text = None,
    ids: ShowIds = False,
    tokens: ShowTokens = False,
    json: ShowJson = False,
    lines: Lines = False,
    no_special_tokens: NoSpecial = False,
    split_special_tokens: SplitSpecial = False,
    out: Out = None,
    text_column: TextColumn = "text",
    documents: DocumentsAre = "lines",
    append_eos: AppendEos = False,
    skip_bad_rows: SkipBadRows = False,
    restart: Restart = False,
    progress: Progress = None,
) -> None:
    """Turn text into ids, or files into a file of ids."""
    if out is not None:
        if ids or tokens or json or lines or split_special_tokens:
            raise typer.BadParameter("--out doesn't go with --ids, --tokens, --json, --lines, --split-special-tokens")
        if not text:
            raise typer.BadParameter("--out needs FILES to encode")
        with reported_failures():
            from hf_bpe.token_files import encode_files

            report = encode_files(
                load(directory),
                text,
                out,
                text_column=text_column,
                documents=cast(Literal["lines", "files"], documents),
                add_special_tokens=not no_special_tokens,
                append_eos=append_eos,
                skip_bad_rows=skip_bad_rows,
                restart=restart,
                progress=progress,
            )
            write(f"{printable(str(report), keep_lines=True)}\n")
        return
    if text is not None and len(text) > 1:
        raise typer.BadParameter("TEXT is one argument; quote it, or name files with --out")
    given = text[0] if text else _STDIN
    if ids + tokens + json > 1:
        raise typer.BadParameter("choose one of --ids, --tokens and --json")
    if lines and given != _STDIN:
        raise typer.BadParameter("--lines reads stdin; leave TEXT out")
    show = _show_tokens if tokens else _show_json if json else _show_ids
    options = {"add_special_tokens": not no_special_tokens, "split_special_tokens": split_special_tokens}
    with reported_failures():
        tokenizer = load(directory)
        for batch in _batches(_texts(given, lines=lines)):
            for encoding in tokenizer(batch, verbose=False, **options).encodings or ():
                write(show(encoding))


encode.__doc__ = f"{encode.__doc__}\n\n\b{_ENCODE_EXAMPLES}"

Ids = Annotated[
    list[str] | None, typer.Argument(metavar="IDS", help="The ids; - or nothing reads stdin.", show_default=False)
]
IdLines = Annotated[bool, typer.Option("--lines", help="Each line of stdin is a text, and is printed as a line.")]
SkipSpecial = Annotated[bool, typer.Option("--skip-special-tokens", help="Leave special tokens out of the text.")]
Raw = Annotated[bool, typer.Option("--raw", help="Write control characters to a terminal as they are.")]


def decode(
    directory: Directory,
    ids: Ids = None,
    lines: IdLines = False,
    skip_special_tokens: SkipSpecial = False,
    raw: Raw = False,
) -> None:
    """Turn ids into text. On a terminal, control characters are shown as escapes."""
    if lines and ids not in (None, [], [_STDIN]):
        raise typer.BadParameter("--lines reads stdin; leave IDS out")
    with reported_failures():
        tokenizer = load(directory)
        on_terminal = sys.stdout is not None and sys.stdout.isatty()
        for row in _rows(ids, lines=lines):
            text = str(tokenizer.decode(row, skip_special_tokens=skip_special_tokens))
            shown = text if raw or not on_terminal else printable(text, keep_lines=True)
            write(f"{shown}\n" if lines or on_terminal else shown)


decode.__doc__ = f"{decode.__doc__}\n\n\b{_DECODE_EXAMPLES}"


def load(directory: Path) -> HfBpeTokenizer:
    """Return the tokenizer of a directory."""
    from hf_bpe import HfBpeTokenizer

    tokenizer: HfBpeTokenizer = HfBpeTokenizer.from_pretrained(directory)
    return tokenizer


def _texts(text: str, *, lines: bool) -> Iterator[str]:
    if text != _STDIN:
        yield _utf8(text.encode("utf-8", "surrogateescape"), "TEXT")
    elif lines:
        for number, line in enumerate(stdin(), start=1):
            yield _utf8(line.removesuffix(b"\n"), f"stdin, line {number}")
    else:
        yield _utf8(stdin().read(), "stdin")


def _utf8(data: bytes, where: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{where} isn't UTF-8: byte {error.start} is {data[error.start]:#04x}") from None


def _batches(texts: Iterator[str]) -> Iterator[list[str]]:
    while batch := list(islice(texts, _BATCH_LINES)):
        yield batch


def _show_ids(encoding: Any) -> str:
    return " ".join(map(str, encoding.ids)) + "\n"


def _show_tokens(encoding: Any) -> str:
    return "".join(f"{printable(token)}\n" for token in encoding.tokens) + "\n"


def _show_json(encoding: Any) -> str:
    return json_line({"ids": encoding.ids, "tokens": encoding.tokens, "offsets": encoding.offsets}) + "\n"


def _rows(ids: list[str] | None, *, lines: bool) -> Iterator[list[int]]:
    if ids not in (None, [], [_STDIN]):
        yield [_id(word) for word in ids or []]
    elif lines:
        for line in stdin():
            yield [_id(word) for word in line.decode("utf-8", "replace").split()]
    else:
        yield [_id(word) for word in stdin().read().decode("utf-8", "replace").split()]


def _id(word: str) -> int:
    if not (word.isascii() and word.isdigit()):
        raise ValueError(f"{word!r} is no id: ids are numbers from 0 up, with spaces between")
    return int(word)
