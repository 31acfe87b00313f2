"""The ids of a rendered chat, and what it takes to go on from them without encoding everything again."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hf_bpe._native import Tokenizer
from hf_bpe.chat.policy import Part
from hf_bpe.chat.rendered import Rendered
from hf_bpe.chat.training import Anchor

Offsets = NDArray[np.int64]
Lists = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Columns:
    """A rendered chat and its ids.

    Attributes:
        core: What encoded it.
        rendered: The text, and who wrote it.
        parts: Where added tokens may be found, and `lists`, the tokens that some of the parts allow.
        ids: The ids.
        anchors: The added tokens that split the text.
        reused: How many of the ids come from an earlier encoding.
        pinned: Whether ids were given, and so can't be had by encoding the text.
        given_offsets: The offsets, where they were found with the ids.
    """

    core: Tokenizer
    rendered: Rendered
    parts: list[Part]
    lists: Lists
    ids: list[int]
    anchors: list[Anchor]
    reused: int = 0
    pinned: bool = False
    given_offsets: Offsets | None = None

    @property
    def text(self) -> str:
        """The text."""
        return self.rendered.text

    @cached_property
    def offsets(self) -> Offsets:
        """The first character of each token, and the one behind its last."""
        if self.given_offsets is not None:
            return self.given_offsets
        return align(self.core, self.text, self.parts, self.lists)[1]

    @cached_property
    def run_of_token(self) -> NDArray[np.int64]:
        """The index of the run in which each token begins."""
        return np.searchsorted([run.start for run in self.rendered.runs], self.offsets[:, 0], side="right") - 1

    def token_at(self, character: int) -> int | None:
        """Return how many ids stand before a character at which an added token begins or ends."""
        at = bisect_left(self.anchors, character, key=lambda anchor: anchor[1])
        if at < len(self.anchors) and self.anchors[at][1] == character:
            return self.anchors[at][0]
        if at > 0 and self.anchors[at - 1][2] == character:
            return self.anchors[at - 1][0] + 1
        return None


def align(core: Tokenizer, text: str, parts: list[Part], lists: Lists, start: int = 0) -> tuple[list[int], Offsets]:
    """Return the ids from a character on, and their offsets."""
    ids, flat = core.align_within(text, parts, lists, start=start)
    return ids, flat.reshape(-1, 2)


def encode_first(core: Tokenizer, rendered: Rendered, parts: list[Part], lists: Lists) -> Columns:
    """Encode a rendered chat."""
    ids, anchors = core.encode_within(rendered.text, parts, lists)
    if core.dropout is None:
        return Columns(core, rendered, parts, lists, ids, anchors)
    # Each call may drop other merges, so ids and offsets have to come from one.
    ids, offsets = align(core, rendered.text, parts, lists)
    tokens = np.searchsorted(offsets[:, 0], [start for _, start, _ in anchors]).tolist()
    anchors = [(token, start, end) for token, (_, start, end) in zip(tokens, anchors, strict=True)]
    return Columns(core, rendered, parts, lists, ids, anchors, given_offsets=offsets)


def encode_after(old: Columns, rendered: Rendered, parts: list[Part], lists: Lists) -> Columns:
    """Encode a rendered chat, and take over the ids of what it begins with as another chat does.

    An added token is where one may cut: nothing before it depends on what stands behind, but that a longer token might
    have begun earlier. So the cut is made further ahead of the first difference than any token is long.
    """
    core = old.core
    limit = min(common_prefix(old.text, rendered.text), _agreed(old.parts, parts)) - core.longest_added_token - 1
    at = bisect_left(old.anchors, limit, key=lambda anchor: anchor[1]) - 1
    if at < 0 or old.pinned or old.lists != lists or core.dropout is not None:
        return encode_first(core, rendered, parts, lists)
    kept, start, _ = old.anchors[at]
    rest = parts[bisect_right(parts, start, key=lambda part: part[1]) :]
    ids, anchors = core.encode_within(rendered.text, rest, lists, start=start)
    anchors = [(token + kept, start, end) for token, start, end in anchors]
    return Columns(core, rendered, parts, lists, old.ids[:kept] + ids, old.anchors[:at] + anchors, reused=kept)


def common_prefix(one: str, other: str) -> int:
    """Return how many characters two texts begin with in common."""
    if other.startswith(one):
        return len(one)
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    return low


def _agreed(old: Sequence[Part], new: Sequence[Part]) -> int:
    """Return up to which character two lists of parts say the same."""
    same = next((at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), None)
    same = min(len(old), len(new)) if same is None else same
    starts = [parts[same][0] for parts in (old, new) if same < len(parts)]
    return min(starts, default=max((parts[-1][1] for parts in (old, new) if parts), default=0))
