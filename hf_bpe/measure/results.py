"""What every measure returns: a `Result`, made of tables, that prints, is saved as JSON, and is compared.

A cell is a text, a number, or None where there is nothing to divide by: never NaN, never infinity.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from rich.console import RenderableType

Cell: TypeAlias = str | int | float | None
Form = Literal["text", "count", "number", "share"]

_WIDTH = 120
_KEY_WIDTH = 24
_SURROGATES = re.compile("[\ud800-\udfff]")
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        name: What it holds.
        form: How its cells are written.
        compared: Whether it tells something about the tokenizer, so that two tokenizers are compared by it.
    """

    name: str
    form: Form = "count"
    compared: bool = False


@dataclass(frozen=True)
class Table:
    """A table of a result. The columns of form `"text"` that it begins with name the row.

    Attributes:
        title: What it is about.
        columns: Its columns.
        rows: Its rows.
        plotted: The columns that a page draws as bars.
        figure: The column that says which rows have bars of one scale. None where all have.
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    plotted: Sequence[str] = ()
    figure: str | None = None

    def as_json(self) -> list[dict[str, Cell]]:
        """Return the rows, each by the names of the columns."""
        return [dict(zip((column.name for column in self.columns), row, strict=True)) for row in self.rows]

    def key_of(self, row: Sequence[Cell]) -> tuple[Cell, ...]:
        """Return the cells that name a row."""
        return tuple(row[: len(self.keys)])

    def scale(self, row: Sequence[Cell]) -> Cell:
        """Return what tells which rows have bars of the same scale."""
        names = [column.name for column in self.columns]
        return row[names.index(self.figure)] if self.figure is not None else None

    @property
    def keys(self) -> list[Column]:
        """The columns that name a row."""
        return list(takewhile(lambda column: column.form == "text", self.columns))


class Result:
    """What a measure found. Prints as tables, also through `rich`; markup in tokens is never obeyed."""

    @property
    def title(self) -> str:
        """What was measured, of which tokenizer."""
        raise NotImplementedError

    def tables(self) -> list[Table]:
        """Return the result as tables."""
        raise NotImplementedError

    def shown_tables(self) -> list[Table]:
        """Return the tables that are printed."""
        return self.tables()

    def as_json(self) -> dict[str, Any]:
        """Return the result as JSON."""
        return {"title": self.title, "tables": {table.title: table.as_json() for table in self.tables()}}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result to a file, as JSON."""
        text = json.dumps(self.as_json(), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
        text = _SURROGATES.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
        Path(path).write_text(text, encoding="utf-8")

    def compared_with(self, other: Result) -> Comparison:
        """Return this result beside the same one of another tokenizer.

        Raises:
            TypeError: The other result is of another measure.
        """
        if type(self) is not type(other):
            raise TypeError(f"a {type(self).__name__} is compared with its like, got a {type(other).__name__}.")
        return Comparison(self, other)

    def __rich__(self) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        return Group(Text(shown(self.title)), *map(_rich_table, self.shown_tables()))

    def _repr_html_(self) -> str:
        from hf_bpe.measure.pages import section_of

        return section_of(self)

    def __str__(self) -> str:
        from rich.console import Console

        file = StringIO()
        Console(file=file, width=_WIDTH, color_system=None, legacy_windows=False).print(self)
        return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


class Comparison(Result):
    """The same measure of two tokenizers: each figure of both, and the change from the first to the second.

    Attributes:
        first: The result of the first tokenizer.
        second: That of the second.
    """

    def __init__(self, first: Result, second: Result) -> None:
        self.first = first
        self.second = second

    @property
    def title(self) -> str:
        """What was measured, of which tokenizers."""
        return f"{self.first.title}, against {self.second.title}"

    def tables(self) -> list[Table]:
        """Return a table for each that both results have: a row for each figure."""
        others = {table.title: table for table in self.second.tables()}
        found = [_compared(table, others[table.title]) for table in self.first.tables() if table.title in others]
        return [table for table in found if table.rows]

    def shown_tables(self) -> list[Table]:
        """Return the first figure of each row alone: all of them are too many to read."""
        names = [getattr(result, "tokenizer", None) for result in (self.first, self.second)]
        return [_first_figure(table, *(names if all(names) else ("first", "second"))) for table in self.tables()]


def _first_figure(table: Table, *names: str) -> Table:
    place = len(table.keys) - 1
    figure = table.rows[0][place]
    columns = [*table.keys[:-1], *(Column(shown(name), "number") for name in names), table.columns[-1]]
    rows = [[*row[:place], *row[place + 1 :]] for row in table.rows if row[place] == figure]
    return Table(f"{table.title}: {figure}", columns, rows)


def _compared(table: Table, other: Table) -> Table:
    others = {other.key_of(row): row for row in other.rows}
    figures = [(place, column) for place, column in enumerate(table.columns) if column.compared]
    rows: list[list[Cell]] = []
    for row in table.rows:
        key = table.key_of(row)
        if (match := others.get(key)) is None:
            continue
        for place, column in figures:
            one, two = row[place], match[place]
            rows.append([*key, column.name, one, two, change(one, two)])
    named = [*table.keys, Column("figure", "text"), Column("first", "number"), Column("second", "number")]
    columns = [*named, Column("change", "share")]
    return Table(table.title, columns, rows, plotted=("first", "second"), figure="figure")


def change(first: Cell, second: Cell) -> float | None:
    """Return by which share a number grows from `first` to `second`, or None where that says nothing."""
    if isinstance(first, int | float) and isinstance(second, int | float) and first:
        return second / first - 1
    return None


def ratio(part: float, whole: float) -> float | None:
    """Return `part / whole`, or None where `whole` is nothing."""
    return part / whole if whole else None


def written(cell: Cell, form: Form) -> str:
    """Return a cell as a person reads it."""
    if cell is None:
        return "–"
    if isinstance(cell, str):
        return shown(cell)
    if form == "share":
        return f"{cell:.1%}"
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:,.3f}"


def shown(text: str) -> str:
    """Return `text` with what could not be seen, or could steer a terminal, as escapes."""
    return _CONTROLS.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def _is_short_key(table: Table, place: int) -> bool:
    return place < len(table.keys) and all(len(written(row[place], "text")) <= _KEY_WIDTH for row in table.rows)


def _least_width(table: Table, place: int) -> int:
    """Return how narrow a column may become: a number is never cut, nor a word of a heading."""
    column = table.columns[place]
    cells = max((len(written(row[place], column.form)) for row in table.rows), default=0)
    if column.form == "text":
        return min(cells, _KEY_WIDTH if place < len(table.keys) else 0)
    return max(cells, *map(len, column.name.split()))


def _rich_table(table: Table) -> Any:
    from rich.box import SIMPLE
    from rich.table import Table as RichTable
    from rich.text import Text

    made = RichTable(
        title=Text(shown(table.title)), title_justify="left", box=SIMPLE, padding=(0, 1), collapse_padding=True
    )
    for place, column in enumerate(table.columns):
        justify: Any = "left" if column.form == "text" else "right"
        width, short = _least_width(table, place), _is_short_key(table, place)
        made.add_column(Text(column.name), overflow="fold", justify=justify, min_width=width, no_wrap=short)
    for row in table.rows:
        cells = zip(row, table.columns, strict=True)
        made.add_row(*(Text(written(cell, column.form)) for cell, column in cells))
    return made
