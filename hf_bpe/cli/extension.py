"""What `hf-bpe extend` and `hf-bpe add-words` share: the old tokenizer, the new directory, the report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from json import dumps
from pathlib import Path
from typing import Annotated, Any

import typer

from hf_bpe.cli.directories import whole_directory, whole_files
from hf_bpe.cli.output import json_line, printable, write
from hf_bpe.cli.sources import text_lines

Old = Annotated[
    Path, typer.Argument(metavar="TOKENIZER", help="The old tokenizer: a directory, or a file.", show_default=False)
]
Out = Annotated[Path, typer.Option(help="Directory to write.", show_default=False)]
ReportOn = Annotated[
    list[str],
    typer.Option("--report-on", metavar="[NAME=]FILE", help="Text to report on as well.", show_default=False),
]
Report = Annotated[
    list[Path],
    typer.Option("--report", help="Write the report: *.html, *.json, or text.", dir_okay=False, show_default=False),
]
MaxLines = Annotated[int | None, typer.Option(min=0, help="How many changed lines the report keeps.")]
TextColumn = Annotated[str, typer.Option(help="Column of JSON lines and Parquet.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the tokenizer files of an existing directory.")]
Json = Annotated[bool, typer.Option("--json", help="Print the report as one line of JSON.")]


def read_tokenizer(path: Path) -> Any:
    """Return the tokenizer of a directory, or of a file of any format."""
    import hf_bpe
    from hf_bpe import formats

    return hf_bpe.HfBpeTokenizer.from_vocabulary(formats.get(formats.detect(path)).read(path))


def texts_by_name(given: Sequence[str]) -> dict[str, list[str]]:
    """Return the lines of files by the names that they are given, or their own."""
    named = {}
    for item in given:
        name, equals, path = item.partition("=")
        if not equals or Path(item).exists():
            name, path = Path(item).stem, item
        if not Path(path).is_file():
            raise typer.BadParameter(f"--report-on is FILE or NAME=FILE, got {item!r}, and {path!r} is no file")
        if name in named:
            raise typer.BadParameter(f"--report-on names {name!r} twice; write NAME=FILE")
        named[name] = list(text_lines([path]))
    return named


def _is_inside(place: Path, out: Path) -> bool:
    return out.resolve() in place.resolve().parents


def write_extended(
    extend: Callable[[], tuple[Any, Any]],
    out: Path,
    reports: Sequence[Path],
    *,
    overwrite: bool,
    json: bool,
    id_map: Path | None = None,
) -> None:
    """Write the new tokenizer, the report and the new ids, all of them or none, and print the report."""
    places = [*reports, *([] if id_map is None else [id_map])]
    inside = {place for place in places if _is_inside(place, out)}
    with (
        whole_files(place for place in places if place not in inside) as files,
        whole_directory(out, overwrite=overwrite) as directory,
    ):
        tokenizer, report = extend()
        tokenizer.save_pretrained(directory)
        here = dict(files) | {place: directory / place.resolve().relative_to(out.resolve()) for place in inside}
        for place in inside:
            here[place].parent.mkdir(parents=True, exist_ok=True)
        for place in reports:
            report.save(here[place])
        if id_map is not None:
            here[id_map].write_text(dumps(report.id_map) + "\n", encoding="utf-8")
    write(json_line(report.as_json()) + "\n" if json else f"{printable(str(report), keep_lines=True)}\n")
