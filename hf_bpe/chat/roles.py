"""Which role names are a template's vocabulary, not the caller's text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jinja2 import nodes

ROLES = frozenset(
    {
        "assistant",
        "bot",
        "developer",
        "environment",
        "function",
        "gpt",
        "human",
        "ipython",
        "model",
        "observation",
        "system",
        "tool",
        "user",
    }
)
"""Role names that chat templates are written for. Others are the caller's text, unless the template knows them."""

WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
"""What a role name looks like. A literal such as `<|im_end|>` in a template makes no role name of it."""

SELECTING = frozenset({"selectattr", "rejectattr"})
"""Filters that compare an attribute, which they are given first, by a test with what they are given last."""


def known_roles(tree: nodes.Template) -> frozenset[str]:
    """Return the role names that are trusted: those of the table, and words that the template takes for roles.

    These are words that it compares with a role, and keys of dicts that it asks for a role. Other words of its don't
    count: one that knows parts of the type `image` and writes `'<|' + message.role + '|>'` would let a caller write
    `<|image|>`.
    """
    asking = RoleWords(tree)
    return ROLES.union(word for word in asking.words() if WORD.fullmatch(word))


class RoleWords:
    """Finds the words that a template takes for roles."""

    def __init__(self, tree: nodes.Template) -> None:
        """Read a template."""
        self.tree = tree
        assigned = [
            (node.target.name, node.node) for node in tree.find_all(nodes.Assign) if isinstance(node.target, nodes.Name)
        ]
        self.dicts: dict[str, list[nodes.Dict]] = {}
        for name, value in assigned:
            if isinstance(value, nodes.Dict):
                self.dicts.setdefault(name, []).append(value)
        self.names: set[str] = set()
        for _ in range(2):  # a name may stand for a name
            self.names.update(name for name, value in assigned if self.is_role(value))

    def is_role(self, node: nodes.Node) -> bool:
        """Tell whether an expression is made of the role of a message."""
        return any(
            self.says_role(inner)
            for kind in (nodes.Getattr, nodes.Getitem, nodes.Name, nodes.Call)
            for inner in ([node] if isinstance(node, kind) else []) + list(node.find_all(kind))
        )

    def says_role(self, node: nodes.Node) -> bool:
        """Tell whether an expression is itself a role, going by its name."""
        match node:
            case nodes.Getattr(attr=str(name)) | nodes.Getitem(arg=nodes.Const(value=str(name))):
                return "role" in name.lower()
            case nodes.Call(node=nodes.Getattr(attr="get"), args=[nodes.Const(value=str(name)), *_]):
                return "role" in name.lower()
            case nodes.Name(name=str(name)):
                return "role" in name.lower() or name in self.names
        return False

    def words(self) -> Iterator[str]:
        """Yield the words."""
        for compare in self.tree.find_all((nodes.Compare, nodes.Test)):
            if self.is_role(compare):
                yield from strings(compare)
        for filtered in self.tree.find_all(nodes.Filter):
            if filtered.name in SELECTING and "role" in [*strings(*filtered.args[:1])]:
                yield from strings(*filtered.args[2:])
        for asked, key in self.lookups():
            if self.is_role(key):
                yield from strings(*(pair.key for table in self.tables(asked) for pair in table.items))

    def lookups(self) -> Iterator[tuple[nodes.Node, nodes.Node]]:
        """Yield what is asked for a key, and the key."""
        for item in self.tree.find_all(nodes.Getitem):
            yield item.node, item.arg
        for call in self.tree.find_all(nodes.Call):
            if isinstance(call.node, nodes.Getattr) and call.node.attr == "get" and call.args:
                yield call.node.node, call.args[0]

    def tables(self, node: nodes.Node) -> list[nodes.Dict]:
        """Return the dicts that an expression may be."""
        if isinstance(node, nodes.Name):
            return self.dicts.get(node.name, [])
        return [node] if isinstance(node, nodes.Dict) else []


def strings(*trees: nodes.Node) -> Iterator[str]:
    """Yield the string literals of expressions, without those in subscripts."""
    for tree in trees:
        if isinstance(tree, nodes.Const) and isinstance(tree.value, str):
            yield tree.value
        yield from strings(*tree.iter_child_nodes(exclude=("arg",)))
