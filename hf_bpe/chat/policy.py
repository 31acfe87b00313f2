"""What becomes of added tokens that the caller's own data spells: text, an error, or a few that are let through."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from hf_bpe.chat.rendered import Origin, Rendered
from hf_bpe.errors import ChatError

if TYPE_CHECKING:
    from hf_bpe._native import Tokenizer

Part = tuple[int, int, int | None]
"""Characters in which added tokens may be found, and the number of the list of those that may; None: all of them."""

APART = ("tools", "documents", "kwargs")
"""The keys of a policy for what belongs to no message."""


@dataclass(frozen=True, slots=True, init=False)
class Allow:
    """Lets some added tokens through where the caller's data spells them.

    Attributes:
        tokens: Their texts.

    Example:
        >>> Allow("<think>", "</think>")
        Allow('<think>', '</think>')
    """

    tokens: tuple[str, ...]

    def __init__(self, *tokens: str) -> None:
        """Let these tokens through."""
        if not tokens or not all(isinstance(token, str) for token in tokens):
            raise TypeError(f"Allow() takes the texts of added tokens, such as Allow('<think>'), got {tokens!r}")
        object.__setattr__(self, "tokens", tokens)

    def __repr__(self) -> str:
        return f"Allow({', '.join(map(repr, self.tokens))})"


Rule = Literal["text", "error"] | Allow
Policy = Rule | Mapping[str, Rule] | None


@dataclass(frozen=True, slots=True)
class Rules:
    """A policy, looked up by who wrote a run of characters."""

    by_role: Mapping[str, Rule]
    otherwise: Rule | None

    @classmethod
    def of(cls, policy: Policy) -> Rules:
        """Read a policy.

        Raises:
            TypeError: It is something else.
        """
        by_role = dict(policy) if isinstance(policy, Mapping) else {}
        otherwise = None if isinstance(policy, Mapping) else policy
        for rule in (*by_role.values(), *([] if otherwise is None else [otherwise])):
            if not (isinstance(rule, Allow) or rule in ("text", "error")):
                raise TypeError(f"a policy is 'text', 'error', Allow(...) or a dict of these by role, got {rule!r}")
        return cls(by_role, otherwise)

    def rule(self, origin: Origin, roles: Sequence[str]) -> Rule | None:
        """Return the rule for a run, or None where the caller gave none."""
        return self.by_role.get(_key(origin, roles), self.otherwise)

    @property
    def all_text(self) -> bool:
        """Whether no rule asks for more than text."""
        return all(rule in (None, "text") for rule in (*self.by_role.values(), self.otherwise))


def _key(origin: Origin, roles: Sequence[str]) -> str:
    if origin.message is not None and origin.message < len(roles):
        return roles[origin.message]
    root = re.split(r"[.\[]", origin.field or "", maxsplit=1)[0]
    return root if root in APART else "kwargs"


def parts_of(rendered: Rendered, rules: Rules, roles: Sequence[str]) -> tuple[list[Part], list[tuple[str, ...]]]:
    """Return where added tokens may be found, and the lists that the parts name."""
    if rules.all_text:
        return [(start, end, None) for start, end in rendered.trusted], []
    parts: list[Part] = []
    lists: list[tuple[str, ...]] = []
    for start, end, origin in rendered.runs:
        if origin.trusted:
            parts.append((start, end, None))
        elif isinstance(rule := rules.rule(origin, roles), Allow):
            if rule.tokens not in lists:
                lists.append(rule.tokens)
            parts.append((start, end, lists.index(rule.tokens)))
    return parts, lists


def check(core: Tokenizer, rules: Rules) -> None:
    """Check that what the rules allow exists.

    Raises:
        ChatError: A name is no added token.
    """
    allowed = (rule for rule in (*rules.by_role.values(), rules.otherwise) if isinstance(rule, Allow))
    for rule in allowed:
        for token in rule.tokens:
            if token not in [found for _, _, found in core.find_added_tokens(token)]:
                raise ChatError(
                    f"{rule!r} names {token!r}, which is no added token of this tokenizer; see added_tokens_encoder."
                )


def refuse(core: Tokenizer, rendered: Rendered, parts: Sequence[Part], rules: Rules, roles: Sequence[str]) -> None:
    """Check the caller's data against the rules.

    Raises:
        ChatError: It spells a token that is an error there; or a filter hid who wrote a token, and no rule says what
            to make of it.
    """
    found = core.find_added_tokens(rendered.text, parts)
    if not found or (rules.all_text and not rendered.may_be_lost):
        return
    runs = rendered.runs
    for start, end, token in found:
        at = max(bisect_right(runs, start, key=lambda run: run.start) - 1, 0)
        while at < len(runs) and runs[at].start < end:
            if not runs[at].origin.trusted:
                _refuse_token(token, start, runs[at].origin, rules.rule(runs[at].origin, roles))
            at += 1


def _refuse_token(token: str, at: int, origin: Origin, rule: Rule | None) -> None:
    where = describe(origin)
    if rule == "error":
        raise ChatError(
            f"{where} spells the control token {token!r} at character {at} of the text, and the policy there is "
            f"'error'; take it out, or choose 'text' or Allow({token!r})."
        )
    if origin.lost and rule is None:
        raise ChatError(
            f"{where} holds the control token {token!r} at character {at} of the text, but the template rewrites it "
            "in a way that hides whether the template or the caller wrote it; pass policy='text' to treat it as text, "
            f"or policy=Allow({token!r}) to let it through."
        )


def describe(origin: Origin) -> str:
    """Say where a run comes from: `messages[1].content`."""
    if origin.message is None:
        return origin.field or "the rendered text"
    return f"messages[{origin.message}]" + (f".{origin.field}" if origin.field else "")
