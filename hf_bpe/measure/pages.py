"""Results as one HTML page that needs nothing else: no script, no font, nothing that is fetched.

A token may be `</script>`, and a corpus may hold anything: every text passes `escaped`. Tables scroll on a narrow
screen, bars are drawn by the widths of elements.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from math import isfinite

from hf_bpe.html_text import escaped
from hf_bpe.measure.results import Cell, Result, Table, written
from hf_bpe.shown_text import PAGE_STYLE, Shown

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 1.5rem auto; max-width: 72rem; padding: 0 1rem; color: #222; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; } h3 { font-size: 1rem; margin-bottom: .3rem; }
h1, h2, h3, p { overflow-wrap: anywhere; }
.hfbpe-table { overflow-x: auto; }
.hfbpe-table table { border-collapse: collapse; font-size: .88rem; }
.hfbpe-table th, .hfbpe-table td { border-bottom: 1px solid #ddd; padding: .25rem .6rem; text-align: right; }
.hfbpe-table th { vertical-align: bottom; }
.hfbpe-table .text { text-align: left; overflow-wrap: anywhere; min-width: 5rem; max-width: 30rem; }
.hfbpe-table td { font-variant-numeric: tabular-nums; }
.hfbpe-bar { display: block; height: .45rem; min-width: 1px; background: #4a7fd6; border-radius: 2px; }
.hfbpe-bar + .hfbpe-bar { background: #e0913a; margin-top: 1px; }
.hfbpe-bars { min-width: 9rem; }
"""


def page_of(results: Sequence[Result], texts: Sequence[Shown] = (), *, title: str = "Tokenizer report") -> str:
    """Return results, and texts coloured by token, as one page.

    Args:
        results: What measures returned.
        texts: What `hf_bpe.show` returned.
        title: The title of the page.

    Example:
        >>> Path("report.html").writeescaped(page_of([numbers(tokenizer)]), encoding="utf-8")
    """
    return "\n".join(_page(results, texts, title)) + "\n"


def section_of(result: Result) -> str:
    """Return one result for a notebook, with its style."""
    return "\n".join([f"<style>{_STYLE}</style>", *_section(result)])


def _page(results: Sequence[Result], texts: Sequence[Shown], title: str) -> Iterator[str]:
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{escaped(title)}</title>\n<style>{_STYLE}{PAGE_STYLE}</style>\n</head>\n<body>"
    yield f"<h1>{escaped(title)}</h1>"
    for result in results:
        yield from _section(result)
    if texts:
        yield "<h2>Text by token</h2>\n<p>Each colour is a token; its id shows on hover.</p>"
    for text in texts:
        yield f"<h3>{escaped(text.name)}: {len(text.ids):,} tokens</h3>\n{text.to_html(inline=False)}"
    yield "</body>\n</html>"


def _section(result: Result) -> Iterator[str]:
    yield f"<h2>{escaped(result.title)}</h2>"
    for table in result.tables():
        yield from _table(table)


def _table(table: Table) -> Iterator[str]:
    yield f'<h3>{escaped(table.title)}</h3>\n<div class="hfbpe-table"><table>'
    heads = (f'<th class="{_class(column.form)}">{escaped(column.name)}</th>' for column in table.columns)
    yield f"<tr>{''.join(heads)}{_bar_head(table)}</tr>"
    bars = _bars(table)
    for row, bar in zip(table.rows, bars, strict=True):
        cells = (
            f'<td class="{_class(column.form)}">{escaped(written(cell, column.form))}</td>'
            for cell, column in zip(row, table.columns, strict=True)
        )
        yield f"<tr>{''.join(cells)}{bar}</tr>"
    yield "</table></div>"


def _bars(table: Table) -> list[str]:
    """Return the last cell of each row: its bars, each as long as its share of the largest like it."""
    if not table.plotted:
        return [""] * len(table.rows)
    places = [[column.name for column in table.columns].index(name) for name in table.plotted]
    scale = table.scale
    largest: dict[Cell, float] = defaultdict(float)
    for row in table.rows:
        largest[scale(row)] = max(largest[scale(row)], *(_number(row[place]) for place in places))
    return [_bar([_number(row[place]) / (largest[scale(row)] or 1) for place in places]) for row in table.rows]


def _bar_head(table: Table) -> str:
    return f'<th class="text">{escaped(", ".join(table.plotted))}</th>' if table.plotted else ""


def _bar(shares: Sequence[float]) -> str:
    bars = (f'<span class="hfbpe-bar" style="width:{share:.1%}"></span>' for share in shares)
    return f'<td class="hfbpe-bars">{"".join(bars)}</td>'


def _number(cell: Cell) -> float:
    return max(0.0, float(cell)) if isinstance(cell, int | float) and isfinite(cell) else 0.0


def _class(form: str) -> str:
    return "text" if form == "text" else "number"
