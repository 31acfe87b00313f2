"""`hf-bpe measure`: what texts cost with a tokenizer, or with two, as tables, as a page and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hf_bpe.cli.directories import whole_files
from hf_bpe.cli.output import message, reported_failures, show
from hf_bpe.cli.sources import STDIN, text_lines

if TYPE_CHECKING:
    from hf_bpe.measure import Fertility, Measured, Result

_EXAMPLES = """
Examples:

    hf-bpe measure my-tokenizer english.txt chinese.txt code.jsonl

    hf-bpe measure gpt2 --against llama3 *.txt --html report.html --json report.json

    hf-bpe measure my-tokenizer corpus.parquet --model-config Qwen2.5-7B/config.json --context 32768
"""

_LINES, _SAMPLE = 20, 1_500

Source = Annotated[
    Path, typer.Argument(metavar="TOKENIZER", help="A directory, or a file of any format.", show_default=False)
]
Corpus = Annotated[
    list[str],
    typer.Argument(
        metavar="CORPUS",
        help="Text (each line is one), JSON lines, Parquet or Arrow; - is stdin.",
        show_default=False,
    ),
]
Against = Annotated[Path | None, typer.Option(help="Another tokenizer to compare with.", show_default=False)]
Html = Annotated[Path | None, typer.Option(help="Write a page with plots.", dir_okay=False, show_default=False)]
Json = Annotated[Path | None, typer.Option(help="Write all figures as JSON.", dir_okay=False, show_default=False)]
ModelConfig = Annotated[
    Path | None, typer.Option(help="config.json of a model: its KV cache and embeddings.", exists=True)
]
Context = Annotated[int | None, typer.Option(min=1, help="A context, in tokens, for --model-config.")]
Price = Annotated[float | None, typer.Option(min=0, help="The price of a million tokens: adds the bill.")]
Speed = Annotated[bool, typer.Option("--throughput", help="Measure the speed as well.")]
TextColumn = Annotated[str, typer.Option(help="Column of JSON lines and Parquet.")]


def measure(
    tokenizer: Source,
    corpus: Corpus,
    against: Against = None,
    html: Html = None,
    json: Json = None,
    model_config: ModelConfig = None,
    context: Context = None,
    price: Price = None,
    throughput: Speed = False,
    text_column: TextColumn = "text",
) -> None:
    """Show tokens by corpus, script and kind of content, how numbers split, what the vocabulary holds and costs."""
    with reported_failures():
        from hf_bpe.measure import Comparison, fertilities, measured, page_of, shared_tokens
        from hf_bpe.showing import show as coloured

        with whole_files(path for path in (html, json) if path is not None) as files:
            texts, places = _texts(corpus), dict(files)
            paths = [tokenizer] if against is None else [tokenizer, against]
            sources = [measured(path, name=_name(path, paths)) for path in paths]
            counted = fertilities(sources, texts, text_column=text_column)
            if not counted[0].total.tokens:
                message("warning: there is no text in the corpus")
            options = {"price": price, "throughput": throughput, "text_column": text_column}
            found = [_results(*pair, texts, options) for pair in zip(sources, counted, strict=True)]
            single = _of_model(model_config, context, sources, counted)
            compared: list[Result] = []
            if against is not None:
                compared = [shared_tokens(*sources), *(Comparison(*pair) for pair in zip(*found, strict=True))]
            if html is not None:
                sample = _sample(texts, text_column)
                results = [*compared, *(result for results in found for result in results), *single]
                page = page_of(results, [coloured(source, sample) for source in sources], title=_title(sources))
                places[html].write_text(page, encoding="utf-8")
            if json is not None:
                _save(places[json], sources, found, compared, single)
        show(*(compared or found[0]), *single)


measure.__doc__ = f"{measure.__doc__}\n\n\b{_EXAMPLES}"


def _texts(corpus: Sequence[str]) -> dict[str, Any]:
    """Return what is to be read, by its name. What stdin holds is read now: two tokenizers need it."""
    names = [Path(source).name for source in corpus]
    named: dict[str, Any] = {}
    for source, name in zip(corpus, names, strict=True):
        if source == STDIN:
            named["stdin"] = list(text_lines([STDIN]))
        else:
            named[name if names.count(name) == 1 else source] = Path(source)
    return named


def _name(path: Path, paths: Sequence[Path]) -> str:
    names = [path.resolve().name for path in paths]
    return path.resolve().name if len(set(names)) == len(names) else str(path)


def _results(source: Measured, counted: Fertility, texts: Any, options: dict[str, Any]) -> list[Result]:
    from hf_bpe.measure import bill, numbers, parity, throughput, vocabulary

    found: list[Result] = [counted, parity(source), numbers(source), vocabulary(source, counted)]
    column = options["text_column"]
    if options["price"] is not None:
        found.append(bill(source, texts, price_per_million=options["price"], text_column=column))
    if options["throughput"]:
        found.append(throughput(source, texts, text_column=column))
    return found


def _of_model(
    config: Path | None, context: int | None, sources: Sequence[Measured], counted: Sequence[Fertility]
) -> list[Result]:
    """Return what a model's cache takes, what longer text costs, and the embeddings of each tokenizer."""
    from hf_bpe.measure import LongerText, embedding_share, kv_cache
    from hf_bpe.measure.results import change

    if config is None:
        return []
    cache = kv_cache(config, context=context)
    found: list[Result] = [cache]
    if len(sources) > 1:
        first, second = counted
        share = change(first.total.tokens, second.total.tokens)
        found += [] if share is None else [LongerText(cache, first.tokenizer, second.tokenizer, share)]
    try:
        found += [embedding_share(config, source.embedding_rows, name=source.name) for source in sources]
    except ValueError as error:
        message(f"warning: the share of embeddings is left out: {error}")
    return found


def _sample(texts: Any, text_column: str) -> str:
    """Return how each corpus begins."""
    from hf_bpe.measure.texts import batches

    first = (next(batches(source, text_column=text_column), ("", [])) for source in texts.values())
    return "".join("".join(batch[:_LINES])[:_SAMPLE].rstrip() + "\n" for _, batch in first)


def _title(sources: Sequence[Measured]) -> str:
    return " against ".join(source.name for source in sources)


def _save(
    place: Path,
    sources: Sequence[Measured],
    found: Sequence[list[Result]],
    compared: list[Result],
    single: list[Result],
) -> None:
    import json

    from hf_bpe.cli.output import json_line

    value = {
        "tokenizers": [
            {"name": source.name, "results": [result.as_json() for result in results]}
            for source, results in zip(sources, found, strict=True)
        ],
        "comparison": [result.as_json() for result in compared],
        "model": [result.as_json() for result in single],
    }
    json.dumps(value, allow_nan=False)
    place.write_text(json_line(value) + "\n", encoding="utf-8", errors="replace")
