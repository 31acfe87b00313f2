"""Scores that give the ids that a merge list gives, or the proof that there are none.

A piece model joins any two neighbours whose joined text is a piece, by the score of that piece. A merge list says
both more and less: it may leave out a way to make a token, and may rank two ways to make one token apart. Where it
does, the ids differ if some text brings the two halves side by side. That can be decided: merges inside two
neighbouring tokens never look beyond them, so `left` and `right` meet in some text exactly if `left + right` alone
becomes these two tokens.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, product

from hf_bpe._native import Tokenizer
from hf_bpe.errors import ConversionError
from hf_bpe.formats.pieces.merges import merges_of
from hf_bpe.formats.pieces.model import SPACE, PieceModel, PieceType
from hf_bpe.formats.pieces.ties import Pair, merged
from hf_bpe.vocabulary import Vocabulary

_MOST_SYMBOLS = 20
"""How many tokens the search for a text combines, by threes."""


def scored(model: PieceModel, vocabulary: Vocabulary, target: str, *, known: Sequence[float] = ()) -> PieceModel:
    """Return `model` with scores that give the ids of the merges of `vocabulary`.

    Args:
        model: The pieces, as `recognition.pieces_of` gives them.
        vocabulary: Where they come from.
        target: What it is to become, for errors.
        known: Scores that the vocabulary came with, which are kept if they still say its merges.

    Raises:
        ConversionError: No scores do. The message names two tokens and the text that would change.
    """
    merges = vocabulary.merges
    if known:
        kept = replace(model, scores=[*known, *[0.0] * (len(model.pieces) - len(known))][: len(model.pieces)])
        if merges_of(kept, target) == merges:
            return kept
    tied = _tied_runs(merges)
    made = replace(model, scores=_scores(model, merges, tied))
    derived = merges_of(made, target)
    if derived != merges:
        _refuse_unequal(made, vocabulary, derived, tied, target)
    return made


def _tied_runs(merges: Sequence[Pair]) -> dict[str, str]:
    """Return the runs of a character whose merges are ranked through each other, with the shortest of them.

    They had one score once: Llama 2 gives one to all runs of spaces. They get one again, if nothing else comes between.
    """
    ranks: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for rank, (left, right) in enumerate(merges):
        if left[0] * len(left + right) == left + right:
            ranks[left[0]][left + right].append(rank)
    tied: dict[str, str] = {}
    for runs in ranks.values():
        for block in _overlapping(runs):
            places = sorted(chain.from_iterable(runs[run] for run in block))
            if len(block) > 1 and places[-1] - places[0] == len(places) - 1:
                tied |= dict.fromkeys(block, min(block))
    return tied


def _overlapping(runs: Mapping[str, Sequence[int]]) -> list[list[str]]:
    """Return the runs in groups whose ranks lie through each other."""
    blocks: list[list[str]] = []
    end = -1
    for run in sorted(runs, key=lambda run: runs[run][0]):
        if runs[run][0] > end:
            blocks.append([])
        blocks[-1].append(run)
        end = max(end, runs[run][-1])
    return blocks


def _scores(model: PieceModel, merges: Sequence[Pair], tied: Mapping[str, str]) -> list[float]:
    """Return a score for each piece: the first rank that makes it, as a negative number; characters come last."""
    products: dict[str, int] = {}
    for left, right in merges:
        products.setdefault(tied.get(left + right, left + right), len(products))
    last = len(products)
    ranks = [products.get(tied.get(piece, piece)) for piece in model.pieces]
    return [
        -float(rank) if rank is not None else -float(last + piece_id) if kind == PieceType.NORMAL else 0.0
        for piece_id, (rank, kind) in enumerate(zip(ranks, model.types, strict=True))
    ]


def _refuse_unequal(
    model: PieceModel, vocabulary: Vocabulary, derived: Sequence[Pair], tied: Mapping[str, str], target: str
) -> None:
    """Raise if some text gets other ids by `derived` than by the merges of `vocabulary`."""
    merges = vocabulary.merges
    listed, all_splits = dict.fromkeys(merges), dict.fromkeys(derived)
    bare = _without_rules(vocabulary)
    meeting = _meeting(bare, [pair for pair in derived if pair not in listed])
    if meeting is not None:
        left, right = meeting
        raise _difference(
            target,
            f"{left + right!r} is a token, so such a model joins {left!r} and {right!r}; the merges don't",
            left + right,
            model,
        )
    lost = next((pair for pair in merges if pair not in all_splits), None)
    if lost is not None:
        raise ConversionError(
            f"{target} can't hold this vocabulary: merge {list(lost)!r} makes or takes a token that isn't an "
            "ordinary piece (an added, unknown or byte token), which such a model never merges"
        )
    moved = _moved(merges, [pair for pair in derived if pair in listed], tied)
    if moved is not None:
        raise _order_refusal(vocabulary, moved, merges, derived, target, model)


def _meeting(core: Tokenizer, pairs: Sequence[Pair]) -> Pair | None:
    """Return the shortest of `pairs` whose tokens stand side by side in some text."""
    found: Pair | None = None
    batch = core.encode_ordinary_batch([left + right for left, right in pairs])
    for (left, right), ids in zip(pairs, batch, strict=True):
        if ids == core.tokens_to_ids([left, right]) and (found is None or len(left + right) < len("".join(found))):
            found = left, right
    return found


def _moved(merges: Sequence[Pair], derived: Sequence[Pair], tied: Mapping[str, str]) -> Pair | None:
    """Return a merge that scores would move past a merge of another token, or None.

    Merges of one token may change places among themselves where they don't overlap in a text, and so may those of
    tied runs if all runs come out alike.
    """
    for ours, theirs in zip(merges, derived, strict=True):
        one, other = "".join(ours), "".join(theirs)
        if tied.get(one, one) != tied.get(other, other):
            return ours
    ranks = [{pair: rank for rank, pair in enumerate(some)} for some in (merges, derived)] if tied else []
    changed = next((run for run in sorted(set(tied.values())) if not _run_alike(run[0], tied, ranks)), None)
    return next((pair for pair in merges if "".join(pair) == changed), None)


def _run_alike(char: str, tied: Mapping[str, str], ranks: Sequence[Mapping[Pair, int]]) -> bool:
    """Whether runs of `char` become the same by both lists, up to three times the longest piece."""
    longest = max(len(run) for run in tied if run[0] == char)
    runs = (char * count for count in range(2, 3 * longest + 1))
    return all(merged(run, ranks[0].get) == merged(run, ranks[1].get) for run in runs)


def _order_refusal(
    vocabulary: Vocabulary,
    moved: Pair,
    merges: Sequence[Pair],
    derived: Sequence[Pair],
    target: str,
    model: PieceModel,
) -> ConversionError:
    """Return the refusal of merges that are ranked as no scores rank them, with a text if a short one shows it."""
    left, right = moved
    reason = (
        f"the ways to make one token are ranked apart, with other merges between them (merge {merges.index(moved)}, "
        f"{left!r} + {right!r}), and a score ranks them as one"
    )
    ours, theirs = _without_rules(vocabulary), _without_rules(vocabulary, derived)
    texts = _texts_around(moved, merges)
    batches = zip(texts, ours.encode_ordinary_batch(texts), theirs.encode_ordinary_batch(texts), strict=True)
    changed = next((text for text, one, other in batches if one != other), None)
    if changed is not None:
        return _difference(target, reason, changed, model)
    return ConversionError(f"{target} can't hold this vocabulary: {reason}. No text is known to change.")


def _texts_around(moved: Pair, merges: Sequence[Pair]) -> list[str]:
    """Return up to three neighbours of what `moved` joins, the shortest texts first."""
    token = "".join(moved)
    ranks = [rank for rank, pair in enumerate(merges) if "".join(pair) == token]
    between = chain.from_iterable(merges[ranks[0] : ranks[-1] + 1])
    symbols = sorted(dict.fromkeys([*moved, *between]), key=len)[:_MOST_SYMBOLS]
    return sorted({"".join(some) for count in (1, 2, 3) for some in product(symbols, repeat=count)}, key=len)


def _difference(target: str, reason: str, spelled: str, model: PieceModel) -> ConversionError:
    text = spelled.replace(SPACE, " ") if model.rules.escape_whitespaces else spelled
    if model.rules.add_dummy_prefix:
        text = text.removeprefix(" ")
    return ConversionError(f"{target} can't hold this vocabulary: {reason}. The text {text!r} would change.")


def _without_rules(vocabulary: Vocabulary, merges: Sequence[Pair] | None = None) -> Tokenizer:
    """Return a core that merges, and does nothing else; by other merges if some are given."""
    parsed = json.loads(vocabulary.core.to_json(pretty=False))
    for name in ("normalizer", "pre_tokenizer", "post_processor", "decoder"):
        parsed[name] = None
    parsed["added_tokens"] = []
    parsed["model"]["ignore_merges"] = False
    if merges is not None:
        parsed["model"]["merges"] = [list(pair) for pair in merges]
    return Tokenizer.from_json(json.dumps(parsed))
