"""The command line, `hf-bpe`: one module a command.

Results go to stdout, progress and messages to stderr. Exit codes: 0 done, 1 failed (with one line that says why),
2 wrong usage, 130 interrupted, 141 the reader of our output went away.
"""

from __future__ import annotations

from typing import Annotated

import typer

from hf_bpe.cli.add_words import add_words
from hf_bpe.cli.card import card
from hf_bpe.cli.chat import app as chat
from hf_bpe.cli.convert import convert
from hf_bpe.cli.count import count
from hf_bpe.cli.diff import diff
from hf_bpe.cli.encode import decode, encode
from hf_bpe.cli.extend import extend
from hf_bpe.cli.lint import lint
from hf_bpe.cli.measure import measure
from hf_bpe.cli.pin import check_pin, pin
from hf_bpe.cli.prune import prune
from hf_bpe.cli.resize import resize
from hf_bpe.cli.train import train

app = typer.Typer(
    name="hf-bpe",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
# Short enough for the list in `hf-bpe --help`, which cuts what is longer.
app.command(short_help="Train a tokenizer that AutoTokenizer loads.")(train)
app.command(short_help="Count pretokens, to add and to train from.")(count)
app.command(short_help="Turn text into ids, or files into a file of ids.")(encode)
app.command(short_help="Turn ids into text.")(decode)
app.command(short_help="Convert a tokenizer to another format, verified.")(convert)
app.command(short_help="Show where two tokenizers differ.")(diff)
app.command(short_help="Find what is wrong or odd in a vocabulary.")(lint)
app.command(short_help="Measure what texts cost with a tokenizer.")(measure)
app.command(short_help="Write a model card from measurements.")(card)
app.command(short_help="Add tokens, learned from text; old ids stay.")(extend)
app.command(short_help="Make one token of each of some chosen words.")(add_words)
app.command(short_help="Drop tokens that a corpus doesn't need.")(prune)
app.command(short_help="Make a model's embeddings follow its vocabulary.")(resize)
app.command(short_help="Write down which tokenizer a model has.")(pin)
app.command("check-pin", short_help="Fail if that tokenizer changed, and show what.")(check_pin)
app.add_typer(chat)


def _print_version(asked: bool) -> None:
    if asked:
        import hf_bpe

        typer.echo(f"hf-bpe {hf_bpe.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Train BPE tokenizers, turn text and chats into ids and back, convert, check and extend vocabularies."""


def main() -> None:
    """Run the command line. This is what the `hf-bpe` script calls."""
    app(prog_name="hf-bpe")
