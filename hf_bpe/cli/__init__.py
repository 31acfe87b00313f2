"""The command line, `hf-bpe`: one module a command.

Results go to stdout, progress and messages to stderr. Exit codes: 0 done, 1 failed (with one line that says why),
2 wrong usage, 130 interrupted, 141 the reader of our output went away.
"""

from __future__ import annotations

import typer

from hf_bpe.cli.add_words import add_words
from hf_bpe.cli.chat import app as chat
from hf_bpe.cli.convert import convert
from hf_bpe.cli.diff import diff
from hf_bpe.cli.encode import decode, encode
from hf_bpe.cli.extend import extend
from hf_bpe.cli.lint import lint
from hf_bpe.cli.prune import prune
from hf_bpe.cli.resize import resize
from hf_bpe.cli.train import train

app = typer.Typer(
    name="hf-bpe",
    help="Train BPE tokenizers, turn text and chats into ids and back, convert, check and extend vocabularies.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(train)
app.command()(encode)
app.command()(decode)
app.command()(convert)
app.command()(diff)
app.command()(lint)
app.command()(extend)
app.command()(add_words)
app.command()(prune)
app.command()(resize)
app.add_typer(chat)


def main() -> None:
    """Run the command line. This is what the `hf-bpe` script calls."""
    app(prog_name="hf-bpe")
