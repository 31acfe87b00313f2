"""Scores that give the ids that a merge list gives, or the proof that there are none.

A piece model joins any two neighbours whose joined text is a piece, by the score of that piece. A merge list says
both more and less: it may leave out a way to make a token, and may rank two ways to make one token apart. Where it
does, the ids differ if some text brings the two halves side by side. That can be decided: merges inside two
neighbouring tokens never look beyond them, so `left` and `right` meet in some text exactly if `left + right` alone
becomes these two tokens.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, product

from hf_bpe._native import Tokenizer
from hf_bpe.errors import ConversionError
from hf_bpe.formats.pieces.merges import merges_of
from hf_bpe.formats.pieces.model import SPACE, PieceModel, PieceType
from hf_bpe.formats.pieces.ties import Pair
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
    made = replace(model, scores=_scores(model, merges))
    derived = merges_of(made, target)
    if derived != merges:
        _refuse_unequal(made, vocabulary, merges, derived, target)
    return made


def _scores(model: PieceModel, merges: Sequence[Pair]) -> list[float]:
    """Return a score for each piece: the first rank that makes it, as a negative number; characters come last."""
    products: dict[str, int] = {}
    for left, right in merges:
        products.setdefault(left + right, len(products))
    last = len(products)
    return [
        -float(products.get(piece, last + piece_id)) if kind == PieceType.NORMAL else 0.0
        for piece_id, (piece, kind) in enumerate(zip(model.pieces, model.types, strict=True))
    ]


def _refuse_unequal(
    model: PieceModel, vocabulary: Vocabulary, merges: Sequence[Pair], derived: Sequence[Pair], target: str
) -> None:
    """Raise if some text gets other ids by `derived` than by `merges`."""
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
    moved = _moved(merges, [pair for pair in derived if pair in listed])
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


def _moved(merges: Sequence[Pair], derived: Sequence[Pair]) -> Pair | None:
    """Return a merge that scores would move past a merge of another token, or None.

    Merges of one token may change places among themselves where they don't overlap in a text.
    """
    for ours, theirs in zip(merges, derived, strict=True):
        if "".join(ours) != "".join(theirs):
            return ours
    return None


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
