"""Compiles templates to code that keeps who wrote what: Jinja's compiler, with other words for literals and output.

What differs from Jinja's code: literals are traced strings of the template's; sums of strings are joined in one step;
what is printed goes through `printed`; loops and macros are counted; and a loop over messages marks where in the output
each message's turn begins. Nothing is folded at compile time, since `'a' * 10**10` would be.

It relies on the hooks that Jinja's own `NativeCodeGenerator` uses, and on `blockvisit` (jinja2 3.1).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.nodes import Name, Node

NAMES = ("add", "built", "joined", "printed")
"""Functions of the environment that the code calls by these names."""


class TracingCodeGenerator(CodeGenerator):
    """Jinja's code generator, for traced strings."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Start a module."""
        super().__init__(*args, **kwargs)
        self.literals: dict[tuple[str, ...], str] = {}
        self.bodies: dict[int, nodes.For | None] = {}
        self.numbers: dict[int, int] = {}
        self.loops = 0

    def visit_Template(self, node: nodes.Template, frame: Frame | None = None) -> None:
        """Write the module, and its literals at the end."""
        super().visit_Template(node, frame)
        for name in NAMES:
            self.writeline(f"{name} = environment.{name}")
        for pieces, name in self.literals.items():
            self.writeline(f"{name} = environment.literal({pieces!r})")

    def literal(self, pieces: Iterable[str]) -> str:
        """Return the name of a literal that is these strings joined."""
        key = tuple(map(str, pieces))
        return self.literals.setdefault(key, f"literal_{len(self.literals)}")

    def visit_Const(self, node: nodes.Const, frame: Frame) -> None:
        """Write a constant."""
        if isinstance(node.value, str):
            self.write(self.literal([node.value]))
        else:
            super().visit_Const(node, frame)

    def visit_plain(self, node: nodes.Expr, frame: Frame) -> None:
        """Write an expression whose text can't reach the output: a literal may be plain there, which is faster."""
        if isinstance(node, nodes.Const) and isinstance(node.value, str):
            self.write(repr(node.value))
        else:
            self.visit(node, frame)

    def visit_Compare(self, node: nodes.Compare, frame: Frame) -> None:
        """Write a comparison."""
        self.write("(")
        self.visit_plain(node.expr, frame)
        for operand in node.ops:
            self.visit(operand, frame)
        self.write(")")

    def visit_Operand(self, node: nodes.Operand, frame: Frame) -> None:
        """Write the right side of a comparison."""
        self.write(f" {OPERATORS[node.op]} ")
        self.visit_plain(node.expr, frame)

    def visit_Getitem(self, node: nodes.Getitem, frame: Frame) -> None:
        """Write a subscript."""
        if not isinstance(node.arg, nodes.Const):
            super().visit_Getitem(node, frame)
            return
        self.write("environment.getitem(")
        self.visit(node.node, frame)
        self.write(", ")
        self.visit_plain(node.arg, frame)
        self.write(")")

    def visit_List(self, node: nodes.List, frame: Frame) -> None:
        """Write a list, which is weighed."""
        self.write("built(")
        super().visit_List(node, frame)
        self.write(")")

    def visit_Dict(self, node: nodes.Dict, frame: Frame) -> None:
        """Write a dict, which is weighed."""
        self.write("built(")
        super().visit_Dict(node, frame)
        self.write(")")

    def visit_Tuple(self, node: nodes.Tuple, frame: Frame) -> None:
        """Write a tuple, which is weighed if it isn't the target of an assignment."""
        if node.ctx != "load":
            super().visit_Tuple(node, frame)
            return
        self.write("built(")
        super().visit_Tuple(node, frame)
        self.write(")")

    def visit_Add(self, node: nodes.BinExpr, frame: Frame) -> None:
        """Write a sum, all of it in one call, with neighbouring literals joined."""
        self.write("add(")
        for operand in joined_literals(summands(node)):
            if isinstance(operand, list):
                self.write(self.literal(operand))
            else:
                self.visit(operand, frame)
            self.write(", ")
        self.write(")")

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:
        """Write a `~`."""
        if frame.eval_ctx.volatile or frame.eval_ctx.autoescape:
            super().visit_Concat(node, frame)
            return
        self.write("joined((")
        for operand in node.nodes:
            self.visit(operand, frame)
            self.write(", ")
        self.write("))")

    def _output_const_repr(self, group: Iterable[Any]) -> str:
        return self.literal(group)

    def _output_child_to_const(self, node: nodes.Expr, frame: Frame, finalize: Any) -> str:
        if isinstance(node, nodes.TemplateData) or (isinstance(node, nodes.Const) and isinstance(node.value, str)):
            return super()._output_child_to_const(node, frame, finalize)
        raise nodes.Impossible

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        if frame.eval_ctx.volatile or frame.eval_ctx.autoescape:
            super()._output_child_pre(node, frame, finalize)
        else:
            self.write("printed(")

    def visit_For(self, node: nodes.For, frame: Frame) -> None:
        """Write a loop, and after it that no turn goes on."""
        self.bodies[id(node.body)] = node
        self.loops += 1
        number = self.loops
        self.numbers[id(node.body)] = number
        super().visit_For(node, frame)
        if isinstance(node.target, nodes.Name):
            self.simple_write(f"environment.leave({number})", frame)

    def macro_body(self, node: nodes.Macro | nodes.CallBlock, frame: Frame) -> Any:
        """Write a macro."""
        self.bodies[id(node.body)] = None
        return super().macro_body(node, frame)

    def blockvisit(self, nodes: Iterable[Node], frame: Frame) -> None:
        """Write statements, which begin with a tick if they are the body of a loop or macro."""
        if id(nodes) in self.bodies:
            loop = self.bodies.pop(id(nodes))
            if loop is not None and isinstance(loop.target, Name):
                item = frame.symbols.ref(loop.target.name)
                self.simple_write(f"context.enter({item}, {self.numbers[id(nodes)]})", frame)
            else:
                self.writeline("context.tick()")
        super().blockvisit(nodes, frame)


OPERATORS = {"eq": "==", "ne": "!=", "gt": ">", "gteq": ">=", "lt": "<", "lteq": "<=", "in": "in", "notin": "not in"}


def summands(node: nodes.Expr) -> list[nodes.Expr]:
    """Return the operands of a sum from left to right, as far as it is one of `(a + b) + c`."""
    operands: list[nodes.Expr] = []
    while isinstance(node, nodes.Add):
        operands.append(node.right)
        node = node.left
    return [node, *reversed(operands)]


def joined_literals(operands: list[nodes.Expr]) -> list[nodes.Expr | list[str]]:
    """Return operands with neighbouring string literals in one list."""
    result: list[nodes.Expr | list[str]] = []
    for operand in operands:
        if not (isinstance(operand, nodes.Const) and isinstance(operand.value, str)):
            result.append(operand)
        elif result and isinstance(result[-1], list):
            result[-1].append(operand.value)
        else:
            result.append([operand.value])
    return result
