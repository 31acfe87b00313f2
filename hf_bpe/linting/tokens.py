"""Tokens that no text gives, ids without a token, ids of several tokens."""

from __future__ import annotations

from collections.abc import Iterator

from hf_bpe.linting.report import Finding
from hf_bpe.linting.runs import heap
from hf_bpe.linting.spelling import has_affixes, made_tokens, text_of
from hf_bpe.vocabulary import Vocabulary

# A token that its own text doesn't give may need something before or behind it, to be left whole.
_AROUND = (
    *(
        "a{}",
        " {}",
        "{}a",
        "{} ",
        "\n{}",
        "{}\n",
        "1{}",
        "{}1",
        ".{}",
        "{}.",
        "'{}",
        "{}{}",
        "語{}",
        "{}語",
        "{}A",
        "A{}",
    ),
    *(
        "a{}a",
        " {}a",
        "a{} ",
        " {} ",
        "a{}\n",
        "\n{}a",
        "a {}",
        ".{}a",
        "a{}1",
        "1{}a",
        "  {}",
        "{}  ",
        "a\u0301{}",
        "({})",
    ),
    *(
        "{}s",
        "{}t",
        "{}re",
        "{}ve",
        "{}m",
        "{}ll",
        "{}d",
        "{}S",
        "{}T",
        "{}RE",
        "{}VE",
        "{}M",
        "{}LL",
        "{}D",
        "a{}s",
        "A{}D",
    ),
    *(
        "!{}",
        "#{}",
        "){}",
        ";{}",
        "|{}",
        "~{}",
        '"{}',
        "/{}",
        "\\{}",
        "@{}",
        "^{}",
        "…{}",
        "!!{}",
        "+{}",
        "{}/",
        "é{}",
        "🙂{}",
    ),
)


def findings(vocabulary: Vocabulary) -> Iterator[Finding]:
    """Yield what is odd about tokens and ids."""
    yield from _dead(vocabulary)
    for hole in vocabulary.holes():
        last = f" to {hole.stop - 1:,}" if len(hole) > 1 else ""
        yield Finding("hole", f"no token has the id{'s' if last else ''} {hole.start:,}{last}", id=hole.start)
    for token_id, tokens in vocabulary.doubles().items():
        yield Finding("double-id", f"{token_id} is the id of {tokens!r}", id=token_id, token=tokens[0], text=tokens[0])


def _dead(vocabulary: Vocabulary) -> Iterator[Finding]:
    """Yield tokens that no text gives. Part of a character has no text: there the merges alone decide."""
    made = made_tokens(vocabulary)
    unmerged = set() if has_affixes(vocabulary) else _unmerged(vocabulary, made)
    whole = vocabulary.ignore_merges
    texts = {token: text_of(token, vocabulary) for token in made}
    lost = [token for token in unmerged if not whole or texts[token] is None]
    for token in sorted(lost, key=len):
        yield _finding(vocabulary, token, made[token], texts[token], "no merges lead to it")
    candidates = {token: text for token, text in texts.items() if text and token not in set(lost)}
    for token in sorted(unreached(vocabulary, made, candidates), key=len):
        tried = f"none of {len(_AROUND) + 1} texts around it gives it"
        yield _finding(vocabulary, token, made[token], texts[token], tried)


def _unmerged(vocabulary: Vocabulary, made: dict[str, int]) -> set[str]:
    """Return tokens that the merges don't make of their own symbols: then they don't make them in any text."""
    ranks = {pair: rank for rank, pair in enumerate(vocabulary.merges)}
    return {token for token in made if len(token) > 1 and heap(token, ranks) != [token]}


def unreached(vocabulary: Vocabulary, made: dict[str, int], texts: dict[str, str]) -> list[str]:
    """Return tokens that are in no ids of their text, and of their text with something around it."""
    left = list(texts)
    for form in ("{}", *_AROUND):
        batch = [form.replace("{}", texts[token]) for token in left]
        rows = vocabulary.core.encode_ids_batch(batch, add_special_tokens=False, split_special_tokens=True)
        left = [token for token, row in zip(left, rows, strict=True) if made[token] not in row]
    return left


def _finding(vocabulary: Vocabulary, token: str, token_id: int, text: str | None, reason: str) -> Finding:
    if text is None:
        message = f"{token_id}, {vocabulary.tokens[token_id]!r}: {reason}"
    else:
        (ids,) = vocabulary.core.encode_ids_batch([text], add_special_tokens=False, split_special_tokens=True)
        message = f"{token_id}, {text!r}: {reason}; the text is {ids[:12]}{'…' if len(ids) > 12 else ''}"
    return Finding("dead-token", message, id=token_id, token=token, text=text)
