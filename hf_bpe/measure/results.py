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
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from rich.console import RenderableType

Cell: TypeAlias = str | int | float | None
Key: TypeAlias = tuple[Cell, ...]
Form = Literal["text", "count", "number", "share"]

TOTAL = "all"
"""The name of the row for all parts together."""

_WIDTH = 120
_KEY_WIDTH = 24
_NUMBER = re.compile("[0-9][0-9,]*")
_SURROGATES = re.compile("[\ud800-\udfff]")
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        name: What it holds.
        form: How its cells are written.
        compared: Whether it tells something about the tokenizer, so that two tokenizers are compared by it.
        counts: Whether it is 0, and not unknown, in a row that one of the two doesn't have.
    """

    name: str
    form: Form = "count"
    compared: bool = False
    counts: bool = False


@dataclass(frozen=True)
class Table:
    """A table of a result. The columns of form `"text"` that it begins with name the row.

    Attributes:
        title: What it is about.
        columns: Its columns.
        rows: Its rows.
        plotted: The columns that a page draws as bars, all of one scale.
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    plotted: Sequence[str] = ()

    def as_json(self) -> list[dict[str, Cell]]:
        """Return the rows, each by the names of the columns."""
        return [dict(zip((column.name for column in self.columns), row, strict=True)) for row in self.rows]

    def key_of(self, row: Sequence[Cell]) -> Key:
        """Return the cells that name a row."""
        return tuple(row[: len(self.keys)])

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
        second = getattr(self.second, "tokenizer", self.second.title)
        return f"{self.first.title} against {second}"

    def tables(self) -> list[Table]:
        """Return a table for each that both results have: a row for each figure."""
        return [_by_row(table, figures) for table, figures in self._pairs()]

    def figures(self) -> list[list[Table]]:
        """Return the same by figure: for each table that both results have, a table for each of its figures.

        What the table itself draws comes first.
        """
        return [_drawn_first(table, figures) for table, figures in self._pairs()]

    def shown_tables(self) -> list[Table]:
        """Return the first figure of each table alone: all of them are too many to read."""
        return [figures[0] for _, figures in self._pairs()]

    def _pairs(self) -> list[tuple[Table, list[Table]]]:
        others = {table.title: table for table in self.second.tables()}
        pairs = [(table, others[table.title]) for table in self.first.tables() if table.title in others]
        found = [(table, _figures(table, other, self._names())) for table, other in pairs]
        return [(table, figures) for table, figures in found if figures and figures[0].rows]

    def _names(self) -> tuple[str, str]:
        first, second = (getattr(result, "tokenizer", "") for result in (self.first, self.second))
        return (first, second) if first and second and first != second else ("first", "second")


def _figures(table: Table, other: Table, names: tuple[str, str]) -> list[Table]:
    """Return a table for each figure by which tokenizers are compared, with every row that one of them has."""
    ours, theirs = ({side.key_of(row): row for row in side.rows} for side in (table, other))
    keys = _merged(list(ours), list(theirs))
    made = []
    for place, column in enumerate(table.columns):
        if column.compared:
            columns = [*table.keys, *(Column(name, column.form) for name in names), Column("change", "share")]
            missing = 0 if column.counts else None
            pairs = [[rows[key][place] if key in rows else missing for rows in (ours, theirs)] for key in keys]
            rows = [[*key, *pair, change(*pair)] for key, pair in zip(keys, pairs, strict=True)]
            made.append(Table(f"{table.title}: {column.name}", columns, rows, plotted=names))
    return made


def _merged(first: list[Key], second: list[Key]) -> list[Key]:
    """Return the keys of both in the order of the first: by number if they are numbers, else before what follows."""
    merged, place = list(first), len(first)
    for key in reversed(second):
        if key in first:
            place = merged.index(key)
        else:
            merged.insert(place, key)
    starts = [_NUMBER.match(" ".join(map(str, key))) for key in merged]
    numbers = [int(start[0].replace(",", "")) for start in starts if start is not None]
    if len(numbers) < len(merged):
        return merged
    return [key for _, key in sorted(zip(numbers, merged, strict=True), key=itemgetter(0))]


def _drawn_first(table: Table, figures: Sequence[Table]) -> list[Table]:
    drawn = {f"{table.title}: {name}" for name in table.plotted}
    return sorted(figures, key=lambda figure: figure.title not in drawn)


def _by_row(table: Table, figures: Sequence[Table]) -> Table:
    """Return all figures in one table: those of the first row, of the second, and so on."""
    names = [figure.title.removeprefix(f"{table.title}: ") for figure in figures]
    lines = zip(*(figure.rows for figure in figures), strict=True)
    keys = len(table.keys)
    rows = [[*row[:keys], name, *row[keys:]] for line in lines for name, row in zip(names, line, strict=True)]
    columns = [
        Column("figure", "text"),
        Column("first", "number"),
        Column("second", "number"),
        Column("change", "share"),
    ]
    return Table(table.title, [*table.keys, *columns], rows)


def change(first: Cell, second: Cell) -> float | None:
    """Return by which share a number grows from `first` to `second`, or None where that says nothing."""
    if isinstance(first, int | float) and isinstance(second, int | float) and first:
        return second / first - 1
    return None


def ratio(part: float, whole: float) -> float | None:
    """Return `part / whole`, or None where `whole` is nothing."""
    return part / whole if whole else None


def beside_total(name: str) -> str:
    """Return the name of a part as it stands beside the row of the total, `"all"`: a part of that name is quoted.

    Example:
        >>> beside_total("all")
        "'all'"
    """
    return f"'{name}'" if name.strip("'") == TOTAL else name


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
