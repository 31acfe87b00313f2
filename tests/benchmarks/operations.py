"""What is timed: what is made ready before the clock starts, what runs, and what is compared afterwards."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.peers import Peer


@dataclass(frozen=True)
class Operation:
    """One thing that a peer can be asked.

    Attributes:
        needs: The method that a peer must have.
        ready: Makes the input from a peer and texts, outside of the clock.
        run: Does it. Only this is timed.
        digest: What the result says, for comparing with the reference's; None where there is nothing to compare.
    """

    needs: str
    ready: Callable[[Peer, Sequence[str]], Any]
    run: Callable[[Peer, Any], Any]
    digest: Callable[[Peer, Any], str]


def _texts(peer: Peer, texts: Sequence[str]) -> Any:
    return texts


def _ids(peer: Peer, texts: Sequence[str]) -> Any:
    return peer.lists(texts)  # type: ignore[attr-defined]


def _run_each(method: str) -> Callable[[Peer, Any], Any]:
    def run(peer: Peer, items: Any) -> Any:
        call = getattr(peer, method)
        return [call(item) for item in items]

    return run


def _run(method: str) -> Callable[[Peer, Any], Any]:
    return lambda peer, items: getattr(peer, method)(items)


def digest_of_ids(ids: Any, lengths: Any) -> str:
    """Return a hash of ids and of how many each text has, whatever integers hold them."""
    return hashlib.sha256(
        np.ascontiguousarray(ids, dtype=np.uint32).tobytes() + np.ascontiguousarray(lengths, dtype=np.uint64).tobytes()
    ).hexdigest()


def digest_of_lists(peer: Peer, lists: Any) -> str:
    """Return the hash of lists of ids."""
    parts = [np.array(ids, dtype=np.uint32) for ids in lists]
    return digest_of_ids(np.concatenate(parts) if parts else [], [len(part) for part in parts])


def digest_of_texts(peer: Peer | None, texts: Sequence[str]) -> str:
    """Return the hash of texts, borders included."""
    return hashlib.sha256(repr(list(texts)).encode("utf-8", "surrogatepass")).hexdigest()


def _digest_of_flat(peer: Peer, result: Any) -> str:
    return digest_of_ids(*peer.flat_ids(result))


def _digest_of_counts(peer: Peer, counts: Any) -> str:
    return digest_of_ids([], counts)


def _digest_of_lengths(peer: Peer, lists: Any) -> str:
    return digest_of_ids([], [len(ids) for ids in lists])


def _digest_of_offsets(peer: Peer, result: Any) -> str:
    return (
        digest_of_lists(peer, result[0]) if isinstance(result[0], list) else digest_of_ids(*peer.flat_ids(result[:2]))
    )


OPERATIONS: dict[str, Operation] = {
    "flat": Operation("flat", _texts, _run("flat"), _digest_of_flat),
    "lists": Operation("lists", _texts, _run("lists"), digest_of_lists),
    "each": Operation("one", _texts, _run_each("one"), digest_of_lists),
    "offsets": Operation("offsets", _texts, _run("offsets"), _digest_of_offsets),
    "count": Operation("count", _texts, _run("count"), _digest_of_counts),
    "lengths": Operation("lists", _texts, _run("lists"), _digest_of_lengths),
    "decode": Operation("decode", _ids, _run_each("decode"), digest_of_texts),
    "decode_batch": Operation("decode_batch", _ids, _run("decode_batch"), digest_of_texts),
}
"""Every operation by name. `lengths` is what `count` is compared with, in the reference; those that decode are compared
with the texts, the others with the reference's ids."""
