"""The report of an extension as one HTML page.

A token may be `</script>`, and a corpus may hold anything: every text passes `escaped`, there is no script, and nothing
is fetched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from hf_bpe.extension.report import ExtensionReport, Saving
from hf_bpe.html_text import escaped

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #222; }
h2 { margin-top: 2rem; }
table { border-collapse: collapse; }
th, td { border-bottom: 1px solid #ddd; padding: .2rem .8rem; text-align: left; vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
span.token { background: #e8f0fe; border-radius: 3px; margin-right: 2px; padding: 0 3px; white-space: pre-wrap; }
span.token:nth-child(even) { background: #fdeeda; }
.token, .text { font-family: ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
"""


def page_of(report: ExtensionReport) -> str:
    """Return the page."""
    return "\n".join(_page(report)) + "\n"


def _page(report: ExtensionReport) -> Iterator[str]:
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>Vocabulary extension</title>'
    yield f"<style>{_STYLE}</style>\n</head>\n<body>\n<h1>Vocabulary extension</h1>"
    yield f"<p>{report.old_size:,} &rarr; {report.new_size:,} ids: {len(report.added):,} tokens added, "
    yield f"{len(report.dropped):,} dropped.</p>"
    yield from _notes(report.notes)
    yield from _savings(report)
    if report.bad_rows:
        yield f"<h2>Bad rows, left out</h2>\n<p>{report.bad_rows:,} rows of the source hold no text. The first:</p>"
        yield from (f'<p class="text">{escaped(row)}</p>' for row in report.first_bad_rows)
    yield from _section("Words refused", ("word", "reason"), ((word.word, word.reason) for word in report.refused))
    yield from _section("Words that were tokens", ("word", "id"), report.known.items())
    unreachable = ((token.id, token.text) for token in report.unreachable)
    yield from _section("New tokens that no text gives", ("id", "token"), unreachable)
    changed = ((token.id, token.text, _ids(token.before), _ids(token.after)) for token in report.changed_tokens)
    yield from _section("Old tokens that changed", ("id", "text", "was", "is"), changed)
    yield from _lines(report)
    moved = (report.id_map or {}).items()
    yield from _section("Ids that moved", ("old", "new"), (pair for pair in moved if pair[0] != pair[1]))
    added = ((token.id, token.text, _ids(token.parts), token.saved) for token in report.added)
    yield from _section("Tokens added", ("id", "token", "old tokens", "tokens saved"), added)
    yield "</body>\n</html>"


def _notes(notes: Sequence[str]) -> Iterator[str]:
    for note in notes:
        yield f"<p>{escaped(note)}</p>"


def _savings(report: ExtensionReport) -> Iterator[str]:
    groups: list[tuple[str, Mapping[str, Saving]]] = [
        ("", {} if report.source is None else {"source": report.source}),
        (", in a sample of the source", report.languages),
        ("", report.texts),
    ]
    rows = [
        (f"{name}{where}", saving.texts, saving.before, saving.after, f"{saving.share:.1%}")
        for where, savings in groups
        for name, saving in savings.items()
    ]
    yield from _section("Tokens saved", ("", "texts", "tokens before", "tokens now", "saved"), rows)


def _lines(report: ExtensionReport) -> Iterator[str]:
    if not report.lines_read:
        return
    yield "<h2>Lines that changed</h2>"
    yield f"<p>{report.lines_changed:,} of {report.lines_read:,} lines that were read; {len(report.lines):,} shown.</p>"
    yield "<table>\n<tr><th>before</th><th>now</th><th></th></tr>"
    for line in report.lines:
        cells = f"<td>{_tokens(line.before)}</td><td>{_tokens(line.after)}</td>"
        yield f"<tr>{cells}<td>{'joined' if line.coarser else 'cut anew'}</td></tr>"
    yield "</table>"


def _section(title: str, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Yield a table, unless it has no row."""
    cells = [[_cell(value) for value in row] for row in rows]
    if not cells:
        return
    yield f"<h2>{escaped(title)}</h2>\n<table>"
    yield f"<tr>{''.join(f'<th>{escaped(head)}</th>' for head in heads)}</tr>"
    yield from (f"<tr>{''.join(row)}</tr>" for row in cells)
    yield "</table>"


def _cell(value: object) -> str:
    if isinstance(value, int):
        return f'<td class="number">{value}</td>'
    return f'<td class="text">{escaped(str(value))}</td>'


def _tokens(tokens: Sequence[str]) -> str:
    return "".join(f'<span class="token">{escaped(token)}</span>' for token in tokens)


def _ids(ids: Sequence[int]) -> str:
    return " ".join(map(str, ids))
