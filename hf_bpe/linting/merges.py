"""Merges whose ids depend on who runs them: a heap, as here and in stock, a replay in order, or a rank file."""

from __future__ import annotations

from collections.abc import Iterator

from hf_bpe.formats import differences
from hf_bpe.formats.unproved import evidence
from hf_bpe.linting.report import Finding
from hf_bpe.linting.runs import heap, replay
from hf_bpe.linting.spelling import has_affixes, text_of
from hf_bpe.vocabulary import Vocabulary

_AROUND = ("{}", " {}", "a{}", "{}a", "{}{}", "a{}a", "({}", "{}1")


def findings(vocabulary: Vocabulary) -> Iterator[Finding]:
    """Yield merges on which algorithms disagree, each with the shortest text known."""
    if has_affixes(vocabulary):
        return
    yield from _replayed(vocabulary)
    if vocabulary.is_byte_level:
        yield from _ranked(vocabulary)


def _replayed(vocabulary: Vocabulary) -> Iterator[Finding]:
    """Try each merge that stands before one that makes a half of it: on no other can a replay part from a heap."""
    merges = vocabulary.merges
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    last_made = {left + right: rank for rank, (left, right) in enumerate(merges)}
    found: dict[str, Finding] = {}
    for rank, (left, right) in enumerate(merges):
        if max(last_made.get(left, -1), last_made.get(right, -1)) < rank:
            continue
        token = left + right
        joined, replayed = heap(token, ranks), replay(token, ranks)
        if joined == replayed or token in found:
            continue
        text = text_of(token, vocabulary)
        message = f"merge {rank}, {left!r} + {right!r}: a heap gives {joined}, a replay {replayed}"
        found[token] = Finding("replay-differs", message, token=f"{left} {right}", text=text)
    yield from sorted(found.values(), key=lambda finding: len(finding.token or ""))


def _ranked(vocabulary: Vocabulary) -> Iterator[Finding]:
    try:
        verdict, texts, dead = vocabulary.core.agreement_with_ranks()
    except ValueError:
        return  # a byte has no token: there is no such rank file
    core = vocabulary.core
    listed, ranked = differences.encoder(core), differences.encoder(core.as_rank_file())
    found = set()
    for text in differences.as_texts([*texts, *([] if vocabulary.ignore_merges else dead)]):
        shown = next((t for form in _AROUND if listed(t := form.replace("{}", text)) != ranked(t)), None)
        if shown is not None and (shown := differences.shrink(shown, listed, ranked)) not in found:
            found.add(shown)
            message = f"{shown!r} is {listed(shown)}, and by ranks {ranked(shown)}"
            yield Finding("ranks-differ", message, text=shown)
    if verdict == "unproved":
        yield _unproved(vocabulary)


def _unproved(vocabulary: Vocabulary) -> Finding:
    known = evidence(vocabulary)
    if known.text is None:
        return Finding("ranks-unproved", known.reason)
    core = vocabulary.core
    listed, ranked = differences.encoder(core)(known.text), differences.encoder(core.as_rank_file())(known.text)
    return Finding("ranks-differ", f"{known.text!r} is {listed}, and by ranks {ranked}", text=known.text)
