"""Who wrote what, for people to read: a chat in two colours, and a line for each of its tokens.

Lines come in blocks, so that a chat of any length begins to be shown at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from hf_bpe.cli.output import printable

if TYPE_CHECKING:
    from rich.text import Text

    from hf_bpe.chat import ChatEncoding
    from hf_bpe.chat.rendered import Origin, Rendered

TEMPLATE, CALLER = "cyan", "bold yellow"
"""The colours of what the template and the caller wrote."""

HEAD = ("", "id", "token", "message", "from", "mask")
LEFT = {2, 4}
BLOCK = 1000

Row = tuple[str, ...]


def coloured(rendered: Rendered) -> Text:
    """Return a chat in colours by who wrote it. What a filter hides the writer of counts as the caller's."""
    from rich.text import Text

    text = Text()
    for start, end, origin in rendered.runs:
        part = printable(rendered.text[start:end], keep_lines=True)
        callers = not origin.trusted and (origin.field is not None or origin.lost)
        text.append(part, style=CALLER if callers else TEMPLATE)
    return text


def legend() -> Text:
    """Return what the colours mean."""
    from rich.text import Text

    return Text.assemble("written by ", ("the template", TEMPLATE), " and by ", ("the caller", CALLER))


def lines_of_tokens(encoding: ChatEncoding, decode: Callable[[list[int]], str]) -> Iterator[Text]:
    """Yield a heading, and lines for the tokens: place, id, text, message, where it is from, mask."""
    from rich.text import Text

    runs = encoding.columns.rendered.runs
    origins = [runs[at].origin if runs else None for at in encoding.columns.run_of_token.tolist()]
    spelled = {id: repr(decode([id])) for id in dict.fromkeys(encoding.ids)}
    rows = [
        (str(at), str(id), spelled[id], "" if index is None else str(index), _place(origin), str(trained))
        for at, (id, index, origin, trained) in enumerate(
            zip(encoding.ids, encoding.message_index, origins, encoding.assistant_mask, strict=True)
        )
    ]
    widths = _widths([HEAD, *rows])
    yield Text(_line(HEAD, widths).rstrip())
    yield Text("─" * (sum(widths) + 2 * len(widths) - 2))
    for first in range(0, len(rows), BLOCK):
        block = Text()
        for row in rows[first : first + BLOCK]:
            line = _line(row, widths)
            start = sum(widths[:2]) + 4
            block.append("\n" if block else "").append(line[:start])
            block.append(line[start : start + len(row[2])], style=TEMPLATE if row[4] == "template" else CALLER)
            block.append(line[start + len(row[2]) :])
        yield block


def _place(origin: Origin | None) -> str:
    if origin is not None and origin.lost:
        return "unknown"
    return "template" if origin is None or origin.field is None else printable(origin.field)


def _widths(rows: Sequence[Row]) -> list[int]:
    from rich.cells import cell_len

    return [max(map(cell_len, dict.fromkeys(cells))) for cells in zip(*rows, strict=True)]


def _line(row: Row, widths: list[int]) -> str:
    from rich.cells import cell_len

    cells = []
    for at, (cell, width) in enumerate(zip(row, widths, strict=True)):
        blank = " " * (width - cell_len(cell))
        cells.append(cell + blank if at in LEFT else blank + cell)
    return "  ".join(cells)
