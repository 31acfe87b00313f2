"""`hf-bpe chat`: what a chat template makes of messages, whether it keeps to upstream, and where prefixes break.

`hf-bpe chat DIR messages.json` is the short form of `hf-bpe chat show DIR messages.json`.
"""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from hf_bpe.cli.chat.conformance import conformance
from hf_bpe.cli.chat.prefixes import prefixes
from hf_bpe.cli.chat.show import show

_EXAMPLES = """
Examples:

    hf-bpe chat my-tokenizer messages.json

    hf-bpe chat prefixes my-tokenizer requests.jsonl

    hf-bpe chat conformance my-tokenizer --cases cases.json

`hf-bpe chat DIR messages.json` is short for `hf-bpe chat show DIR messages.json`.
"""


class _WithShortForm(TyperGroup):
    """Takes arguments that begin with none of its commands for those of `show`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["show", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    name="chat",
    cls=_WithShortForm,
    help=f"Show and check what a chat template makes of messages.\n\n\b{_EXAMPLES}",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(show)
app.command()(prefixes)
app.command()(conformance)
