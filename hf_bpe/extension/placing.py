"""Where the merges for a word go: behind all old ones, or, where those stand in the way, before the one that does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hf_bpe._native import Counter, Tokenizer, crossing_merges, encode_words, plan_words
from hf_bpe.extension.building import Learned
from hf_bpe.extension.wording import Wanted, names_of

_MARKS = (b" ", "▁".encode())


@dataclass(frozen=True)
class Places:
    """Where a corpus has a word, inside the words that the pattern cuts.

    Attributes:
        total: How often it is there.
        reached: How often merges behind all others can reach it.
        rank: The first merge of the others that joins it with what is around it.
        halves: The halves of that merge.
    """

    total: int = 0
    reached: int = 0
    rank: int | None = None
    halves: tuple[int, int] | None = None


@dataclass
class Placed:
    """What was done: the tables with the words placed so far, and what was made for them."""

    core: Tokenizer
    learned: list[Learned] = field(default_factory=list)
    known: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)


def places_of(core: Tokenizer, counter: Counter, wanted: Wanted) -> Places:
    """Return where the corpus of `counter` has a word. What stands behind a space is another word than one without."""
    found = counter.containing(wanted.token)
    found = [entry for entry in found if entry[1] == 0 or not entry[0][0][: entry[1]].endswith(_MARKS)]
    merges = crossing_merges(core, wanted.token, [(word, start) for (word, _), start in found])
    total = sum(count for (_, count), _ in found)
    reached = sum(count for ((_, count), _), merge in zip(found, merges, strict=True) if merge is None)
    rank, halves = min((merge for merge in merges if merge is not None), default=(None, None))
    return Places(total, reached, rank, halves)


def place(core: Tokenizer, wanted: Sequence[Wanted], places: dict[str, Places], *, allow_changes: bool) -> Placed:
    """Make tokens of words. Those that stand in the way of none come last, behind all merges.

    Args:
        core: The old tables.
        wanted: The words.
        places: Where a corpus has them, by token; nothing where none was read.
        allow_changes: Whether merges may be put before older ones.
    """
    placed = Placed(core)
    later: list[Wanted] = []
    rows = encode_words(core, [word.token for word in wanted])
    for word, row in zip(wanted, rows, strict=True):
        at = places.get(word.token, Places())
        if row == [core.token_to_id(word.token)]:
            placed.known[word.word] = row[0]
        elif at.total == 0 or at.reached > 0:
            later.append(word)
        elif allow_changes:
            _insert(placed, word, at.rank)
        else:
            placed.reasons[word.word] = _stands_in_the_way(core, at)
    plans = plan_words(placed.core, [word.token for word in later], first_id=placed.core.max_id + 1)
    blocked: list[Wanted] = []
    links: list[tuple[str, int, tuple[int, int] | None]] = []
    for word, (state, ids, chain) in zip(later, plans, strict=True):
        links += chain
        if state == "known":
            placed.known[word.word] = ids[0]
        elif state == "unspellable":
            placed.reasons[word.word] = "the vocabulary has no symbol for a part of it"
        elif state in ("dead", "taken"):
            if allow_changes:
                blocked.append(word)
            else:
                placed.reasons[word.word] = _leads_elsewhere(core, state, ids)
    _join(placed, links)
    for word in blocked:
        _insert(placed, word, None)
    return placed


def _insert(placed: Placed, word: Wanted, rank: int | None) -> None:
    """Put the merges for a word before the one of `rank`, or let old tokens be made in new ways behind all."""
    at = len(placed.core.merges()) if rank is None else rank
    ((state, ids, links),) = plan_words(placed.core, [word.token], first_id=placed.core.max_id + 1, at=at)
    if state == "known" and rank is None:
        placed.known[word.word] = ids[0]
    elif state == "chain":
        _join(placed, links, at)
    else:
        placed.reasons[word.word] = "no merges can lead to it"


def _join(placed: Placed, links: Sequence[tuple[str, int, tuple[int, int] | None]], at: int | None = None) -> None:
    """Add what a plan asks for. A token that exists gets the merge alone."""
    new = [link for link in links if placed.core.id_to_token(link[1]) is None]
    merges = [(*halves, token_id) for _, token_id, halves in links if halves is not None]
    placed.core = placed.core.extended([(token, token_id) for token, token_id, _ in new], merges, at=at)
    placed.learned += [(token, token_id, halves, 0) for token, token_id, halves in new]


def _stands_in_the_way(core: Tokenizer, at: Places) -> str:
    assert at.halves is not None, "a place that isn't reached has a merge across it"
    return (
        f"older merges stand in the way: merge {at.rank}, {names_of(core, at.halves)}, joins it with what is around it "
        f"in all {at.total:,} places where the source has it. allow_changes=True puts its merges before that one."
    )


def _leads_elsewhere(core: Tokenizer, state: str, ids: Sequence[int]) -> str:
    if state == "dead":
        return (
            f"older merges stand in the way: it is the token {ids[0]}, but they make {names_of(core, ids[1:])} of it "
            "and no merge joins these. allow_changes=True adds merges that do."
        )
    return (
        f"older merges stand in the way: they make {names_of(core, ids)} of it, and any two of these joined would be "
        "a token that exists. allow_changes=True makes these tokens in a new way."
    )
