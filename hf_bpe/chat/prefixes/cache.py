"""A prefix cache as vLLM keeps it: blocks of tokens, each known by all that stands before it.

Only full blocks are kept, and at least one token of a request is computed, so a request that is sent again reuses all
but its last block. Nothing is ever evicted: what is counted is what a large enough cache would have reused.
"""

from __future__ import annotations

from collections import deque

from hf_bpe.chat.prefixes.requests import Ids

_RECENT = 8


class BlockCache:
    """The blocks of all requests so far, as a tree."""

    def __init__(self, block_size: int) -> None:
        self._size = block_size
        self._nodes: dict[tuple[int, bytes], int] = {}
        self._recent: list[deque[int]] = [deque(maxlen=_RECENT)]

    def add(self, index: int, ids: Ids) -> tuple[int, list[int]]:
        """Add a request.

        Returns:
            How many of its tokens the cache holds already, and the last requests that share all of these, and so may
            share more.
        """
        size = self._size
        keys = [ids[start : start + size].tobytes() for start in range(0, len(ids) - size + 1, size)]
        node, known = 0, 0
        for key in keys:
            child = self._nodes.get((node, key))
            if child is None:
                break
            node, known = child, known + 1
        alike = list(self._recent[node])
        self._insert(index, keys)
        return size * min(known, max(0, (len(ids) - 1) // size)), alike

    def _insert(self, index: int, keys: list[bytes]) -> None:
        node = 0
        self._recent[0].append(index)
        for key in keys:
            child = self._nodes.setdefault((node, key), len(self._recent))
            if child == len(self._recent):
                self._recent.append(deque(maxlen=_RECENT))
            self._recent[child].append(index)
            node = child
