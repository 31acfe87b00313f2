"""Format strings, printf's and `str.format`'s, whose results know which part came from where."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hf_bpe.chat.limits import charge
from hf_bpe.chat.provenance import LOST, PRINTED, Traced, join, make, plain, source_of, uniform

CONVERSION = re.compile(
    r"%(?:\((?P<key>[^()]*)\))?[-#0 +]*(?P<width>\*|\d+)?(?:\.(?P<precision>\*|\d+)?)?[hlL]?(?P<type>.)", re.DOTALL
)
"""A conversion of printf's. Keys with parentheses in them, which Python allows, are left to the plain route."""


def formatted(form: str, values: Any) -> Any:
    """Return `form % values`."""
    bound(form, values)
    text = str.__mod__(form, values)
    if text is NotImplemented or not isinstance(form, Traced):
        return text
    origin = uniform(form)
    pieces = piecewise(form, values, origin) if origin else None
    return pieces if pieces == text else make(str(text), LOST)


def bound(form: str, values: Any) -> None:
    """Count the widths that a format asks for before they are made."""
    arguments = values if isinstance(values, tuple) else (values,)
    stars = [value for value in arguments if isinstance(value, int)]
    for conversion in CONVERSION.finditer(plain(form)):
        for number in (conversion["width"], conversion["precision"]):
            if number == "*":
                charge(max(map(abs, stars), default=0))
            elif number and len(number) > 3:
                charge(int(number) if len(number) < 18 else 10**18)


def piecewise(form: Traced, values: Any, origin: Any) -> Any:
    """Return the result conversion by conversion, or None where that is beyond us."""
    waiting = list(values) if isinstance(values, tuple) else [values]
    pieces: list[str] = []
    end = 0
    for conversion in CONVERSION.finditer(plain(form)):
        pieces.append(make(str.__getitem__(form, slice(end, conversion.start())), origin))
        end = conversion.end()
        spec = conversion[0]
        if conversion["type"] == "%":
            pieces.append(make("%", origin))
            continue
        if "*" in (conversion["width"], conversion["precision"]):
            return None
        if conversion["key"] is not None:
            if not isinstance(values, Mapping):
                return None
            value = values[conversion["key"]]
            spec = "%" + spec[spec.index(")") + 1 :]
        elif waiting:
            value = waiting.pop(0)
        else:
            return None
        pieces.append(converted(spec, value))
    pieces.append(make(str.__getitem__(form, slice(end, None)), origin))
    return join(pieces)


def converted(spec: str, value: Any) -> str:
    """Return one value in print."""
    if spec == "%s":
        return str(value)
    text: str = make(spec % (value,), printed_origin(value))
    return text


def printed_origin(value: Any) -> Any:
    """Return the origin of a value that was formatted as a whole."""
    if isinstance(value, str):
        return uniform(value) or LOST
    if value is None or isinstance(value, int | float):
        return PRINTED
    return source_of(str(value))
