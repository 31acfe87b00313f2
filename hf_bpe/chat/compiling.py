"""Compiles chat templates, and keeps them.

Filters, tests, globals and extensions are taken from the environment that `transformers` compiles templates with, so
whatever is registered there holds here.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from jinja2 import Template, nodes
from transformers.utils.chat_template_utils import _compile_jinja_template

from hf_bpe.chat.environment import TracingEnvironment
from hf_bpe.chat.filters import traced_filters
from hf_bpe.chat.limits import charge
from hf_bpe.chat.provenance import LOST, make, uniform
from hf_bpe.chat.roles import known_roles
from hf_bpe.chat.upstream import folds_large

WORD = 64
"""What a word of nonsense is charged as: it is shorter, but takes as long as that to make."""


def bounded_lipsum(lipsum: Any) -> Any:
    """Return Jinja's generator of nonsense, within bounds."""

    def bounded(n: Any = 5, html: Any = True, min: Any = 20, max: Any = 100) -> Any:
        for number in (n, min, max):
            charge(abs(number) if isinstance(number, int) else 0)
        charge(n * max * WORD if isinstance(n, int) and isinstance(max, int) and n > 0 and max > 0 else 0)
        return lipsum(n, html, min, max)

    return bounded


def traced_clock(clock: Any) -> Any:
    """Return `strftime_now`, whose text is of the origin of its format."""

    def strftime_now(format: Any) -> Any:
        text = clock(format)
        return make(text, (uniform(format) if isinstance(format, str) else None) or LOST)

    return strftime_now


@lru_cache(maxsize=1)
def environment() -> TracingEnvironment:
    """Return the environment, made after that of `transformers`."""
    upstream = _compile_jinja_template("").environment
    made = TracingEnvironment(
        trim_blocks=upstream.trim_blocks,
        lstrip_blocks=upstream.lstrip_blocks,
        keep_trailing_newline=upstream.keep_trailing_newline,
        extensions=[type(extension) for extension in upstream.extensions.values()],
        optimized=False,
    )
    made.filters = traced_filters(upstream.filters)
    made.tests = upstream.tests
    made.namespace_type = upstream.globals["namespace"]
    made.globals.update(upstream.globals)
    made.globals["lipsum"] = bounded_lipsum(upstream.globals["lipsum"])
    made.globals["strftime_now"] = traced_clock(upstream.globals["strftime_now"])
    return made


class Compiled:
    """A template, and what is to be known of it before it runs.

    Attributes:
        roles: The role names that are its vocabulary.
        folds_large: Whether upstream's compiler would compute something large.
        has_clock: Whether it asks for the time.
        is_repeatable: Whether it prints the same if it runs again, given the same time.
    """

    def __init__(self, source: str) -> None:
        """Compile."""
        self.template: Template = environment().from_string(source)
        tree = environment().parse(source)
        literals = {node.value for node in tree.find_all(nodes.Const) if isinstance(node.value, str)}
        self.roles = known_roles(tree)
        self.folds_large = folds_large(tree)
        names = {node.name for node in tree.find_all(nodes.Name)} | {node.name for node in tree.find_all(nodes.Filter)}
        self.has_clock = "strftime_now" in names
        self.is_repeatable = not names & {"lipsum", "random"} and "random" not in literals


@lru_cache(maxsize=256)
def compiled(source: str) -> Compiled:
    """Return a compiled template, which is kept."""
    return Compiled(source)
