"""`str.format` for templates: in the sandbox, and knowing which part came from where."""

from __future__ import annotations

import re
from collections.abc import Callable
from string import Formatter
from typing import Any

from jinja2.sandbox import SandboxedFormatter

from hf_bpe.chat.limits import charge
from hf_bpe.chat.printf import printed_origin
from hf_bpe.chat.provenance import LOST, Traced, join, make, plain, uniform

NUMBER = re.compile(r"\d+")


class TracedFormatter(SandboxedFormatter):
    """Jinja's formatter, which counts widths and notes what each field gave."""

    def __init__(self, environment: Any) -> None:
        """Start with no field."""
        super().__init__(environment)
        self.fields: list[Any] = []

    def format_field(self, value: Any, format_spec: str) -> Any:
        """Format one field."""
        for number in NUMBER.findall(format_spec):
            charge(int(number) if len(number) < 18 else 10**18)
        text = super().format_field(value, format_spec)
        self.fields.append(value if text == value else make(text, printed_origin(value)))
        return text


def format_traced(environment: Any, form: str, *, is_map: bool) -> Callable[..., Any]:
    """Return what a template gets for `form.format`, or for `form.format_map`."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if is_map:
            if kwargs:
                raise TypeError("format_map() takes no keyword arguments")
            if len(args) != 1:
                raise TypeError(f"format_map() takes exactly one argument ({len(args)} given)")
            kwargs, args = args[0], ()
        formatter = TracedFormatter(environment)
        text = formatter.vformat(plain(form), args, kwargs)
        origin = uniform(form) if isinstance(form, Traced) else None
        if origin is None:
            return make(text, LOST)
        whole = assembled(plain(form), formatter.fields, origin)
        return whole if whole == text else make(text, LOST)

    return wrapper


def assembled(form: str, fields: list[Any], origin: Any) -> Any:
    """Return the literal parts of a format with the fields between them."""
    pieces: list[Any] = []
    waiting = iter(fields)
    for literal, name, spec, _ in Formatter().parse(form):
        if spec and "{" in spec:
            return None  # fields inside of fields: which came first is beyond us
        pieces.append(make(literal, origin))
        if name is not None:
            pieces.append(next(waiting, ""))
    return join(pieces)
