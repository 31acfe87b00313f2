"""Jinja's filters that would lose who wrote what, or that could make strings without bound.

All others are Jinja's own: they call the methods of traced strings, or return plain strings, which count as the
caller's.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from math import prod
from typing import Any

from jinja2 import pass_environment, pass_eval_context
from jinja2.filters import FILTERS, make_attrgetter
from jinja2.nodes import EvalContext
from jinja2.runtime import Undefined
from jinja2.sandbox import SandboxedEnvironment

from hf_bpe.chat.containers import built, origin_of, together
from hf_bpe.chat.limits import charge
from hf_bpe.chat.markup import TracedMarkup, escaped, safe
from hf_bpe.chat.printf import formatted
from hf_bpe.chat.provenance import LOST, TEMPLATE, Traced, join, make, plain, uniform

Filter = Callable[..., Any]
DOTS: Any = make("...", TEMPLATE)


def trim(value: Any, chars: Any = None) -> Any:
    """Strip both ends."""
    return soft(value).strip(chars)


def soft(value: Any) -> Any:
    """Return a string as it is, and anything else in print."""
    return value if isinstance(value, str) else printed(value)


def printed(value: Any) -> Any:
    """Return what a value prints, of the origin that it has as a whole."""
    if type(value) is Traced:
        return value
    if type(value) is TracedMarkup:
        return make(plain(value), getattr(value, "source", LOST))
    text = str(value)
    if isinstance(value, str | Undefined) or isinstance(text, Traced):
        return text
    return make(text, origin_of(value))


@pass_eval_context
def replace(context: EvalContext, value: Any, old: Any, new: Any, count: Any = None) -> Any:
    """Replace, as `str.replace` does."""
    if context.autoescape:
        return FILTERS["replace"](context, value, old, new, count)
    old, new = str(old), printed(new)
    text = printed(value)
    charge(len(text) + text.count(old) * len(new))
    return text.replace(old, new, -1 if count is None else count)


@pass_eval_context
def joined(context: EvalContext, value: Any, d: Any = "", attribute: Any = None) -> Any:
    """Join, as Jinja's filter does."""
    if attribute is not None:
        value = map(make_attrgetter(context.environment, attribute), value)
    if context.autoescape:
        return FILTERS["join"](context, value, d)
    separator = printed(d)
    pieces: list[str] = []
    for item in value:
        if pieces and separator:
            pieces.append(separator)
        pieces.append(printed(item))
    charge(sum(map(len, pieces)))
    return join(pieces)


def title(value: Any) -> Any:
    """Capitalize words."""
    text = soft(value)
    if not isinstance(text, Traced):
        return FILTERS["title"](text)
    result = FILTERS["title"](text)
    return like(text, result)


def like(text: Traced, result: str) -> Any:
    """Return the result of a filter that invents no characters, with the origin of its one input."""
    origin = origin_of(text)
    return result if origin.lost else make(result, origin)


def indent(value: Any, width: Any = 4, first: Any = False, blank: Any = False) -> Any:
    """Indent lines, as Jinja's filter does."""
    if not isinstance(value, Traced):
        if isinstance(width, int):
            charge(max(width, 0) * (str.count(value, "\n") + 2 if isinstance(value, str) else 1))
        return FILTERS["indent"](value, width, first, blank)
    indention = width if isinstance(width, str) else make(" " * bounded(width), TEMPLATE)
    text = value + make("\n", TEMPLATE)
    lines = text.splitlines()
    charge(len(value) + len(indention) * len(lines))
    pieces: list[str] = [indention] if first else []
    before = len(pieces)
    for line, whole_line in zip(lines, text.splitlines(True), strict=True):
        pieces += [indention, line] if len(pieces) > before and (blank or line) else [line]
        pieces.append(make("\n", uniform(whole_line[-1:]) or LOST))
    return join(pieces[:-1])


def bounded(width: Any) -> Any:
    """Return a width, after it was counted."""
    if isinstance(width, int):
        charge(max(width, 0))
    return width


def trusting(name: str) -> Filter:
    """Return Jinja's filter, whose result is the template's if all of its arguments are."""
    original = FILTERS[name]

    @wraps(original)
    def filtered(*args: Any, **kwargs: Any) -> Any:
        given = (*args, *kwargs.values())
        texts = sorted((len(value) for value in given if isinstance(value, str)), reverse=True)
        charge(prod(size + 1 for size in texts[:2]))
        for value in given:
            bounded(value)
        result = original(*args, **kwargs)
        strings = [
            value
            for value in (*args, *kwargs.values())
            if not isinstance(value, int | SandboxedEnvironment | EvalContext) and value is not None
        ]
        if type(result) is str and all(isinstance(value, Traced) and origin_of(value) == TEMPLATE for value in strings):
            return make(result, TEMPLATE)
        if type(result) is str and len(strings) == 1 and isinstance(strings[0], Traced):
            return like(strings[0], result)
        return result

    return filtered


def whole(name: str) -> Filter:
    """Return Jinja's filter that prints a value as a whole."""
    original = FILTERS[name]

    def filtered(value: Any) -> Any:
        return make(str(original(value)), origin_of(value))

    return filtered


def tojson_with(dump: Callable[..., str]) -> Filter:
    """Return the filter `tojson` of `transformers`, whose text has the origin of the value as a whole."""

    def tojson(
        x: Any, ensure_ascii: Any = False, indent: Any = None, separators: Any = None, sort_keys: Any = False
    ) -> Any:
        bounded(indent)
        text = dump(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)
        origin = origin_of(x)
        layout = [word for word in (indent, *(separators or ())) if isinstance(word, str)]
        return make(text, LOST if layout and origin.trusted and not together(layout).trusted else origin)

    return tojson


def format_(value: Any, *args: Any, **kwargs: Any) -> Any:
    """Format like printf, as Jinja's filter does."""
    if args and kwargs:
        return FILTERS["format"](value, *args, **kwargs)
    return formatted(soft(value), kwargs or args)


def batch(value: Any, linecount: Any, fill_with: Any = None) -> Any:
    """Batch, within bounds."""
    return FILTERS["batch"](value, bounded(linecount), fill_with)


@pass_eval_context
def slice_(context: EvalContext, value: Any, slices: Any, fill_with: Any = None) -> Any:
    """Slice, within bounds."""
    return FILTERS["slice"](context, value, bounded(slices), fill_with)


def center(value: Any, width: Any = 80) -> Any:
    """Center, within bounds."""
    return soft(value).center(bounded(width))


def round_(value: Any, precision: Any = 0, method: Any = "common") -> Any:
    """Round, within bounds."""
    return FILTERS["round"](value, bounded(precision), method)


@pass_environment
def truncate(
    environment: Any, s: Any, length: Any = 255, killwords: Any = False, end: Any = DOTS, leeway: Any = None
) -> Any:
    """Truncate, as Jinja's filter does."""
    return FILTERS["truncate"](environment, s, length, killwords, end, leeway)


@pass_environment
def sum_(environment: Any, iterable: Any, attribute: Any = None, start: Any = 0) -> Any:
    """Sum, within bounds: lists can be summed, too."""
    values = list(iterable)
    charge(sum(len(value) for value in values if isinstance(value, list | tuple)) * max(len(values), 1))
    return FILTERS["sum"](environment, values, attribute, start)


def list_(value: Any) -> Any:
    """Make a list, which is weighed."""
    return built(list(value))


def upper(value: Any) -> Any:
    """Convert to upper case."""
    return soft(value).upper()


def lower(value: Any) -> Any:
    """Convert to lower case."""
    return soft(value).lower()


def capitalize(value: Any) -> Any:
    """Capitalize."""
    return soft(value).capitalize()


def traced_filters(filters: dict[str, Filter]) -> dict[str, Filter]:
    """Return the filters of an environment, with those here in place of Jinja's."""
    return {
        **filters,
        "batch": batch,
        "capitalize": capitalize,
        "center": center,
        "e": escaped,
        "escape": escaped,
        "format": format_,
        "indent": indent,
        "join": joined,
        "list": list_,
        "lower": lower,
        "pprint": whole("pprint"),
        "replace": replace,
        "round": round_,
        "safe": safe,
        "slice": slice_,
        "string": soft,
        "sum": sum_,
        "title": title,
        "tojson": tojson_with(filters["tojson"]),
        "trim": trim,
        "truncate": truncate,
        "upper": upper,
        **{name: trusting(name) for name in ("wordwrap", "striptags", "urlencode")},
    }
