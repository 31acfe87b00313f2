"""Any text inside Markdown: nothing in it is markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from hf_bpe.html_text import visible
from hf_bpe.measure.results import Table, written

_MARKUP = re.compile(r"([\\`*_\[\]<>&~#$])")


def text(value: str) -> str:
    r"""Return a text for a line of Markdown, or for a cell of `rows`.

    Example:
        >>> text("a*b|<i>")
        'a\\*b|\\<i\\>'
    """
    return _MARKUP.sub(r"\\\1", visible(value)).replace("\n", " ")


def code(value: str) -> str:
    """Return a text as code in a line, or for a cell of `rows`."""
    shown = visible(value).replace("\n", "\\n")
    fence = "`" * (1 + max(map(len, re.findall("`+", shown)), default=0))
    pad = " " if not shown or shown.startswith(("`", " ")) or shown.endswith(("`", " ")) else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def block(value: str, language: str = "") -> str:
    """Return a text as a block of code."""
    shown = visible(value)
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", shown)), default=0))
    return f"{fence}{language}\n{shown.rstrip()}\n{fence}"


def rows(heads: Sequence[str], cells: Iterable[Sequence[str]], *, numbers: Sequence[bool] = ()) -> str:
    """Return a table, whose cells are Markdown; here a pipe is escaped, also inside code.

    Args:
        heads: The names of the columns.
        cells: The rows.
        numbers: Which columns are flush right. By default none.
    """
    return "\n".join(_rows(heads, cells, numbers or [False] * len(heads)))


def _rows(heads: Sequence[str], cells: Iterable[Sequence[str]], numbers: Sequence[bool]) -> Iterator[str]:
    yield _row(heads)
    yield f"|{'|'.join('---:' if number else '---' for number in numbers)}|"
    for row in cells:
        yield _row(row)


def _row(cells: Sequence[str]) -> str:
    escaped = (cell.replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(escaped)} |"


def table(measured: Table, *, without: Sequence[str] = ()) -> str:
    """Return a table of a measure.

    Args:
        measured: The table.
        without: Columns that are left out.
    """
    kept = [place for place, column in enumerate(measured.columns) if column.name not in without]
    columns = [measured.columns[place] for place in kept]
    cells = ([text(written(row[place], measured.columns[place].form)) for place in kept] for row in measured.rows)
    return rows([text(column.name) for column in columns], cells, numbers=[column.form != "text" for column in columns])
