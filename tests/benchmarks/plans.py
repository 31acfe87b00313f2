"""How much is measured: all of it, three minutes of it, or just enough to see that everything runs."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.corpora import KINDS
from benchmarks.peers import PEERS

ALL_GROUPS = ("encoding", "short", "classes", "decoding", "loading", "odd", "threads", "offsets", "custom")


@dataclass(frozen=True)
class Plan:
    """What a run measures.

    Attributes:
        groups: Which groups of figures.
        peers: Who is asked, us included.
        vocabularies: Names in `vocabs`. The first is the one of the README's table, and of groups that need but one.
        loaded: The vocabularies whose loading is measured.
        kinds: Kinds of text.
        sources: "own", "handed" or both. Vocabularies after the first are measured with the last that there is.
        sizes: Bytes of a document, by the name of the row.
        megabytes: Of each kind of text, at most.
        rounds: How often each figure is taken; the median counts.
        seconds: A peer that is slower than this for one pass gets as many documents as it can do in that time.
        short: How many short strings.
        odd: Characters of an odd input.
        long: Megabytes of the one document that threads share.
    """

    groups: tuple[str, ...] = ALL_GROUPS
    peers: tuple[str, ...] = tuple(PEERS)
    vocabularies: tuple[str, ...] = ("cl100k", "gpt2", "o200k", "llama3", "qwen3")
    loaded: tuple[str, ...] = ("gpt2", "cl100k", "o200k", "llama3", "gpt2-added")
    kinds: tuple[str, ...] = KINDS
    sources: tuple[str, ...] = ("own", "handed")
    sizes: tuple[tuple[str, int], ...] = (("2 KB", 2_000), ("1 MB", 1_000_000))
    megabytes: float = 12.0
    rounds: int = 3
    seconds: float = 0.5
    short: int = 10_000
    odd: int = 1_000_000
    long: float = 100.0


PLANS = {
    "full": Plan(),
    "quick": Plan(
        groups=("encoding", "short", "classes", "decoding", "loading"),
        peers=("hf_bpe", "gigatoken", "fastokens", "tiktoken", "tokenizers"),
        vocabularies=("cl100k",),
        loaded=("cl100k",),
        kinds=("english", "chinese", "multilingual"),
        sources=("own",),
        sizes=(("2 KB", 2_000),),
        megabytes=2.0,
        seconds=0.2,
    ),
    "smallest": Plan(
        peers=("hf_bpe", "tiktoken", "tokenizers"),
        vocabularies=("gpt2",),
        loaded=("gpt2",),
        kinds=("english", "code"),
        sources=("own",),
        sizes=(("2 KB", 2_000),),
        megabytes=0.006,
        rounds=1,
        short=3,
        odd=500,
        long=0.01,
    ),
}
"""By name. `smallest` is what the tests run."""
