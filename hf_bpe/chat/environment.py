"""The sandbox that chat templates run in: that of `transformers`, for traced strings and within limits.

It gives templates nothing that upstream's sandbox doesn't: on strings and dicts of ours, only the attributes of `str`
and `dict` exist.
"""

from __future__ import annotations

from functools import lru_cache
from types import BuiltinMethodType
from typing import Any

from jinja2.runtime import Context, LoopContext
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

from hf_bpe.chat.code_generator import TracingCodeGenerator
from hf_bpe.chat.containers import Message, TracedDict, TracedList, built, weigh
from hf_bpe.chat.filters import printed
from hf_bpe.chat.limits import Meter, charge
from hf_bpe.chat.markup import MARKUP, TracedMarkup
from hf_bpe.chat.printf import formatted
from hf_bpe.chat.provenance import EMPTY, LOST, TEMPLATE, Marker, Traced, join, make, rope
from hf_bpe.chat.str_format import format_traced
from hf_bpe.chat.string_methods import install

PLAIN: dict[type, frozenset[str]] = {
    Traced: frozenset(dir(str)),
    TracedDict: frozenset(dir(dict)),
    Message: frozenset(dir(dict)),
    TracedList: frozenset(dir(list)),
    TracedMarkup: frozenset(dir(Markup)),
    dict: frozenset(dir(dict)),
}
"""The attributes that values of these types have for a template."""

SAFE = frozenset(name for name in dir(str) if not name.startswith(("_", "format"))) | {
    "copy",
    "get",
    "items",
    "keys",
    "values",
}
"""Those of them that the sandbox hands out as they are."""

CHECKED = frozenset({Traced, str, int, bool, float})
"""Types of values of namespaces that the sandbox has nothing against."""

LOOP = frozenset({"index", "index0", "first", "last", "length", "previtem", "nextitem", "revindex", "revindex0"})
install()


class TracingContext(Context):
    """The variables of one render, and what it has cost."""

    meter: Meter

    def start(self, meter: Meter) -> None:
        """Begin a render."""
        self.meter = meter
        self.tick = meter.tick

    def enter(self, item: Any, loop: int) -> Any:
        """Count an iteration, and return a mark if it is the turn of a message."""
        meter = self.meter
        meter.iterations -= 1
        if meter.iterations < 0:
            meter.iterations = 0
            meter.tick()
        if type(item) is not Message:
            return EMPTY
        meter.message = item.index
        return mark(loop, item.index)

    def derived(self, locals: Any = None) -> Context:
        """Return the context of a scoped block, which is of the same render."""
        context = super().derived(locals)
        assert isinstance(context, TracingContext)
        context.start(self.meter)
        return context


@lru_cache(maxsize=1 << 16)
def mark(loop: int, index: int | None) -> Any:
    """Return the mark of a message's turn in a loop, or of the loop's end."""
    return make("", Marker(loop, index))


class TracingEnvironment(ImmutableSandboxedEnvironment):
    """The sandbox of `transformers`, whose strings know who wrote them."""

    code_generator_class = TracingCodeGenerator
    context_class = TracingContext
    intercepted_binops = frozenset({"*", "**", "%"})

    namespace_type: type | None = None
    """Upstream's class of namespaces."""

    @staticmethod
    def concat(pieces: Any) -> Any:
        """Join what a macro or a block printed."""
        return join(list(pieces))

    @staticmethod
    def add(*operands: Any) -> Any:
        """Add operands from left to right: strings in one step."""
        if MARKUP.isdisjoint(map(type, operands)):
            try:
                return rope("".join(operands), operands)
            except TypeError:
                pass
        total = operands[0]
        for operand in operands[1:]:
            if isinstance(total, list | tuple) and isinstance(operand, list | tuple):
                charge(len(total) + len(operand))
            total = total + operand
        return total

    @staticmethod
    def joined(operands: tuple[Any, ...]) -> Any:
        """Join operands in print, as `~` does."""
        return join([printed(operand) for operand in operands])

    printed = staticmethod(printed)
    built = staticmethod(built)

    @staticmethod
    def literal(pieces: tuple[str, ...]) -> Any:
        """Return a string of the template's."""
        return make(pieces[0], TEMPLATE) if len(pieces) == 1 else join([make(piece, TEMPLATE) for piece in pieces])

    @staticmethod
    def leave(loop: int) -> Any:
        """Return the mark of the end of a loop."""
        return mark(loop, None)

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Return an attribute or item, as upstream's sandbox does."""
        kind = type(obj)
        if kind is str:
            obj, kind = make(obj, LOST), Traced  # whose methods are bounded
        plain = PLAIN.get(kind)
        if plain is not None:
            if attribute not in plain:
                if isinstance(obj, str | list):
                    return self.undefined(obj=obj, name=attribute)
                try:
                    return obj[attribute]
                except LookupError:
                    return self.undefined(obj=obj, name=attribute)
            if attribute in SAFE:
                return getattr(obj, attribute)
        elif kind is LoopContext and attribute in LOOP:
            return getattr(obj, attribute)
        elif kind is self.namespace_type and attribute[:1] != "_":
            value = getattr(obj, attribute, None)
            if type(value) in CHECKED:
                return value
        return super().getattr(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """Return an item or attribute, as upstream's sandbox does."""
        try:
            return obj[argument]
        except (TypeError, LookupError):
            if type(obj) is str:
                return self.getattr(obj, argument) if isinstance(argument, str) else super().getitem(obj, argument)
            if isinstance(argument, str) and argument not in PLAIN.get(type(obj), (argument,)):
                return self.undefined(obj=obj, name=argument)
            return super().getitem(obj, argument)

    def wrap_str_format(self, value: Any) -> Any:
        """Replace `str.format`, as upstream's sandbox does."""
        owner = getattr(value, "__self__", None)
        if isinstance(value, BuiltinMethodType) and isinstance(owner, str) and not isinstance(owner, Markup):
            if value.__name__ in ("format", "format_map"):
                return format_traced(self, owner, is_map=value.__name__ == "format_map")
            return None
        return super().wrap_str_format(value)

    def call(__self, __context: Any, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        """Call, as upstream's sandbox does, within bounds."""
        if isinstance(__obj, BuiltinMethodType):
            bound_method(__obj, (*args, *kwargs.values()))
        result = super().call(__context, __obj, *args, **kwargs)
        return built(result) if type(result) is dict else result

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Multiply, raise to a power, or format, within bounds."""
        if operator == "%":
            return formatted(left, right) if isinstance(left, str) and not isinstance(left, Markup) else left % right
        for one, other in ((left, right), (right, left)):
            if isinstance(one, int) and isinstance(other, int):
                bits = one.bit_length() + other.bit_length() if operator == "*" else left.bit_length() * abs(right)
                charge(bits * bits >> 10)
            elif isinstance(one, int) and hasattr(other, "__len__") and operator == "*":
                charge(max(one, 0) * len(other))
        return super().call_binop(context, operator, left, right)


def bound_method(method: BuiltinMethodType, arguments: tuple[Any, ...]) -> None:
    """Count what a method of bytes or of a number will make, before it does."""
    owner, name = method.__self__, method.__name__
    if name in SIZED:
        charge(max([value for value in arguments if isinstance(value, int)], default=0))
    elif isinstance(owner, bytes) and name in ("join", "replace"):
        sizes = [len(value) for value in arguments if isinstance(value, bytes | list | tuple)]
        charge((len(owner) + 1) * (max(sizes, default=0) + 1))
        charge(sum(weigh(value, {}) for value in arguments))


SIZED = frozenset({"center", "ljust", "rjust", "zfill", "expandtabs", "to_bytes"})
"""Methods of bytes and numbers whose argument is a size."""
