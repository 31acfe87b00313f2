"""The way back to `transformers`, for the errors that are its own."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from math import prod
from typing import Any

from jinja2 import Template, nodes
from jinja2.compiler import CodeGenerator
from transformers.utils import chat_template_utils
from transformers.utils.chat_template_utils import _compile_jinja_template

from hf_bpe.chat.arguments import Arguments
from hf_bpe.chat.conversions import to_json

LARGE = 10**8
"""What an expression of literals may grow to while upstream's compiler folds it."""


class PlainCodeGenerator(CodeGenerator):
    """Jinja's code generator, which folds nothing but literals: `'a' * 10**10` would be made at compile time."""

    def _output_child_to_const(self, node: nodes.Expr, frame: Any, finalize: Any) -> str:
        if isinstance(node, nodes.TemplateData | nodes.Const):
            return super()._output_child_to_const(node, frame, finalize)
        raise nodes.Impossible


@lru_cache(maxsize=64)
def plain_template(source: str) -> Template:
    """Return the template for plain strings, in upstream's own environment."""
    environment = _compile_jinja_template("").environment.overlay(optimized=False)
    environment.code_generator_class = PlainCodeGenerator
    template: Template = environment.from_string(source)
    return template


def render_plainly(source: str, given: Arguments, clock: datetime | None) -> str:
    """Return what upstream's template prints, or raise what it raises: at a place that we have reached in bounds."""
    variables = {name: to_json(value) for name, value in given.variables.items()}
    variables["add_generation_prompt"] = given.variables["add_generation_prompt"]
    if clock is not None:
        variables.setdefault("strftime_now", clock.strftime)
    return plain_template(source).render(**variables, messages=to_json(given.chat))


def upstreams_time() -> datetime:
    """Return what is now for upstream: one moment for a whole render, so that it can be repeated."""
    now: datetime = vars(chat_template_utils)["datetime"].now()
    return now


def folds_large(tree: nodes.Template) -> bool:
    """Tell whether upstream's compiler may fold an expression of literals into something large."""
    return any(
        isinstance(node, nodes.Pow) or prod(sizes(node)) > LARGE
        for node in tree.find_all((nodes.BinExpr, nodes.Filter, nodes.Call))
        if node.find(nodes.Name) is None
    )


def sizes(node: nodes.Node) -> list[int]:
    """Return the sizes of an expression's literals."""
    values = [const.value for const in node.find_all(nodes.Const)]
    return [
        max(abs(value) if isinstance(value, int) else len(value) if isinstance(value, str) else 1, 1)
        for value in values
    ]
