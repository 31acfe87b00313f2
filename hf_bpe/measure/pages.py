"""Results as one HTML page that needs nothing else: no script, no font, nothing that is fetched.

A token may be `</script>`, and a corpus may hold anything: every text passes `escaped`. Tables scroll on a narrow
screen, bars are drawn by the widths of elements. What is compared is shown first; the figures of each tokenizer by
itself are folded away, and so is all but the first figure of a comparison.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite

from hf_bpe.html_text import escaped
from hf_bpe.measure.results import Cell, Comparison, Result, Table, written
from hf_bpe.shown_text import PAGE_STYLE, Shown

_STYLE = """
.hfbpe { font: 16px/1.5 system-ui, sans-serif; color: #222; background: #fff; color-scheme: light; }
body.hfbpe { margin: 1.5rem auto; max-width: 64rem; padding: 0 1rem; }
.hfbpe h1 { font-size: 1.5rem; }
.hfbpe h2 { font-size: 1.2rem; margin: 2.2rem 0 .5rem; border-bottom: 2px solid #4a7fd6; }
.hfbpe h3 { font-size: 1rem; margin: 1.2rem 0 .3rem; }
.hfbpe h1, .hfbpe h2, .hfbpe h3, .hfbpe p, .hfbpe summary { overflow-wrap: anywhere; }
.hfbpe details { margin: .4rem 0; }
.hfbpe summary { cursor: pointer; color: #2a5db0; }
.hfbpe details.section { border: 1px solid #ddd; border-radius: 6px; padding: .4rem .8rem; margin-top: 1rem; }
.hfbpe-table { overflow-x: auto; }
.hfbpe-table table { border-collapse: collapse; font-size: .88rem; }
.hfbpe-table th, .hfbpe-table td { border-bottom: 1px solid #e4e4e4; padding: .25rem .6rem; text-align: right; }
.hfbpe-table th { vertical-align: bottom; }
.hfbpe-table :is(th, td):first-child { position: sticky; left: 0; background: #fff; padding-left: 0; }
.hfbpe-table .text { text-align: left; overflow-wrap: anywhere; min-width: 4rem; max-width: 30rem; }
.hfbpe-table td { font-variant-numeric: tabular-nums; }
.hfbpe-table tr.all td { font-weight: 600; }
.hfbpe-bar { display: block; height: .45rem; min-width: 1px; background: #4a7fd6; border-radius: 2px; }
.hfbpe-bar + .hfbpe-bar { background: #e0913a; margin-top: 1px; }
.hfbpe-bars { width: 14rem; min-width: 7rem; }
.hfbpe-key::before { content: "■ "; color: #4a7fd6; }
.hfbpe-key { margin-right: .6rem; }
.hfbpe-key + .hfbpe-key::before { color: #e0913a; }
@media (max-width: 40rem) {
  .hfbpe-table th, .hfbpe-table td { padding: .25rem .3rem; }
  .hfbpe-table table { font-size: .8rem; }
  .hfbpe-table .text:first-child { min-width: 5.6rem; }
  .hfbpe-bars { min-width: 4rem; }
  .hfbpe-key { display: block; }
}
"""


def page_of(results: Sequence[Result], texts: Sequence[Shown] = (), *, title: str = "Tokenizer report") -> str:
    """Return results, and texts coloured by token, as one page.

    Args:
        results: What measures returned. Those that one of the comparisons among them holds are folded away.
        texts: What `hf_bpe.show` returned.
        title: The title of the page.

    Example:
        >>> Path("report.html").write_text(page_of([numbers(tokenizer)]), encoding="utf-8")
    """
    return "\n".join(_page(results, texts, title)) + "\n"


def section_of(result: Result) -> str:
    """Return one result for a notebook, with its style."""
    return "\n".join([f'<style>{_STYLE}</style>\n<div class="hfbpe">', *_section(result), "</div>"])


def _page(results: Sequence[Result], texts: Sequence[Shown], title: str) -> Iterator[str]:
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{escaped(title)}</title>\n<style>{_STYLE}{PAGE_STYLE}</style>\n</head>"
    yield f'<body class="hfbpe">\n<h1>{escaped(title)}</h1>'
    held = [id(part) for each in results if isinstance(each, Comparison) for part in (each.first, each.second)]
    for result in results:
        if id(result) not in held:
            yield from _section(result)
    yield from _coloured(texts)
    if held:
        yield "<h2>Each by itself</h2>"
    for result in results:
        if id(result) in held:
            yield f'<details class="section"><summary>{escaped(result.title)}</summary>'
            yield from _tables(result)
            yield "</details>"
    yield "</body>\n</html>"


def _coloured(texts: Sequence[Shown]) -> Iterator[str]:
    if texts:
        yield "<h2>Text by token</h2>\n<p>Each colour is a token; its id shows on hover.</p>"
    for text in texts:
        yield f"<h3>{escaped(text.name)}: {len(text.ids):,} tokens</h3>\n{text.to_html(inline=False)}"


def _section(result: Result) -> Iterator[str]:
    yield f"<h2>{escaped(result.title)}</h2>"
    yield from _tables(result)


def _tables(result: Result) -> Iterator[str]:
    if not isinstance(result, Comparison):
        for table in result.tables():
            yield from _table(table)
        return
    for first, *others in result.figures():
        yield from _table(first)
        if others:
            names = ", ".join(table.title.removeprefix(f"{first.title.rpartition(': ')[0]}: ") for table in others)
            yield f"<details><summary>{escaped(names)}</summary>"
            for table in others:
                yield from _table(table)
            yield "</details>"


def _table(table: Table) -> Iterator[str]:
    yield f'<h3>{escaped(table.title)}</h3>\n<div class="hfbpe-table"><table>'
    heads = (f'<th class="{_class(column.form)}">{escaped(column.name)}</th>' for column in table.columns)
    yield f"<tr>{''.join(heads)}{_bar_head(table)}</tr>"
    for row, bar in zip(table.rows, _bars(table), strict=True):
        cells = (
            f'<td class="{_class(column.form)}">{escaped(written(cell, column.form))}</td>'
            for cell, column in zip(row, table.columns, strict=True)
        )
        kind = ' class="all"' if row[0] == "all" else ""
        yield f"<tr{kind}>{''.join(cells)}{bar}</tr>"
    yield "</table></div>"


def _bars(table: Table) -> list[str]:
    """Return the last cell of each row: its bars, each as long as its share of the largest.

    The row of all together has none where there are others: it would leave them no room.
    """
    if not table.plotted:
        return [""] * len(table.rows)
    places = [[column.name for column in table.columns].index(name) for name in table.plotted]
    alone = len(table.rows) == 1
    lengths = [[_number(row[place]) for place in places] if alone or row[0] != "all" else [] for row in table.rows]
    largest = max((length for row in lengths for length in row), default=0) or 1
    return [_bar([length / largest for length in row]) for row in lengths]


def _bar_head(table: Table) -> str:
    names = "".join(f'<span class="hfbpe-key">{escaped(name)}</span>' for name in table.plotted)
    return f'<th class="text">{names}</th>' if names else ""


def _bar(shares: Sequence[float]) -> str:
    bars = (f'<span class="hfbpe-bar" style="width:{share:.1%}"></span>' for share in shares)
    return f'<td class="hfbpe-bars">{"".join(bars)}</td>'


def _number(cell: Cell) -> float:
    return max(0.0, float(cell)) if isinstance(cell, int | float) and isfinite(cell) else 0.0


def _class(form: str) -> str:
    return "text" if form == "text" else "number"
