"""`add_words`: one token for each of some chosen words, made by merges as all others are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from hf_bpe._native import Counter, Tokenizer, encode_words
from hf_bpe.corpus import Source, open_corpus
from hf_bpe.counting_report import Tally, warn_of_bad_rows
from hf_bpe.errors import ExtensionError
from hf_bpe.extension.arguments import check_report
from hf_bpe.extension.building import new_tokens, tokenizer_of
from hf_bpe.extension.comparing import Comparison
from hf_bpe.extension.extending import vocabulary_core
from hf_bpe.extension.placing import Placed, Places, place, places_of
from hf_bpe.extension.reaching import unreachable
from hf_bpe.extension.report import ChangedToken, ExtensionReport, RefusedWord
from hf_bpe.extension.sampling import texts_of
from hf_bpe.extension.wording import LeadingSpace, Wanted, forms_of, readable, wanted_or_reason
from hf_bpe.tokenizer import HfBpeTokenizer

_NAMED = 10


def add_words(
    tokenizer: HfBpeTokenizer,
    words: Iterable[str],
    *,
    leading_space: LeadingSpace = "as_written",
    source: Source = None,
    files: Sequence[str | Path] | None = None,
    allow_changes: bool = False,
    skip_refused: bool = False,
    report_on: Mapping[str, Iterable[str]] | None = None,
    max_lines: int | None = None,
    text_column: str = "text",
    skip_bad_rows: bool = True,
) -> tuple[HfBpeTokenizer, ExtensionReport]:
    """Make one token of each word, by a chain of new merges behind the old ones.

    Unlike added tokens, which are cut out of a text before anything else, such tokens are found as all others are:
    spaces stay where they belong, and a longer word isn't torn apart. A word is done when its own text encodes to its
    one id; the steps of its chain become tokens, too. A word is refused, with the reason, when

    - the split pattern cuts it, as Llama 3's does `def __init__`: no merge can join the pieces;
    - an added token is in it, or the vocabulary has no symbol for a part of it;
    - older merges stand in the way: it is a token that they never make, or `source` has it only where they join it with
      what is around it. With `allow_changes=True` such a word gets merges before those, at the last rank that reaches
      it, and the report lists each old token whose text comes out otherwise.

    Args:
        tokenizer: The old vocabulary, of bytes or of characters.
        words: The words, such as `"区块链"` and `" Kubernetes"`: a space before a word is part of it.
        leading_space: `"as_written"`; `"add"` to put a space before each word that has none; `"both"` for both.
        source: Texts to look at, as for `train`; they are kept in memory. The report lists each that changes.
        files: Paths, directories and globs, as for `train`, instead of `source`.
        allow_changes: Whether a word may get merges that change what texts without it, or old tokens, come out as.
        skip_refused: Whether refused words are only reported. By default they raise an error when all is done.
        report_on: Texts by name, to report on as well.
        max_lines: How many changed lines the report keeps; None for all.
        text_column: The column to read of tables and datasets.
        skip_bad_rows: Of `source`, as in `train`: bad rows of files are left out, named in the report and told by a
            warning.

    Returns:
        The new tokenizer, and the report on it.

    Raises:
        ExtensionError: Words were refused. Its `report` says all that the report would.
        TypeError: `tokenizer` is none of this package, or `words` is no list of str.
        ValueError: A word is empty or no text.
        CorpusError: A file is damaged, or there are bad rows and no text, or bad rows with `skip_bad_rows=False`.

    Example:
        >>> longer, report = add_words(tokenizer, ["区块链", " MCP", " Kubernetes"])
        >>> longer.encode("区块链") == [report.added[-1].id]
        True
    """
    check_report(report_on=report_on, max_lines=max_lines)
    old = vocabulary_core(tokenizer)
    refused: dict[str, str] = {}
    wanted: dict[str, Wanted] = {}
    for word in forms_of(words, leading_space):
        found = wanted_or_reason(old, word)
        if isinstance(found, str):
            refused[word] = found
        else:
            wanted.setdefault(found.token, found)
    texts, tally = None, Tally()
    if source is not None or files is not None:
        corpus = open_corpus(source, files=files, text_column=text_column, skip_bad_rows=skip_bad_rows)
        texts = list(texts_of(tally.watch(corpus.batches)))
        warn_of_bad_rows(tally.report)
    places = _places(old, list(wanted.values()), texts or [])
    placed = _place_all(old, wanted, places, refused, allow_changes=allow_changes)
    added = new_tokens(old, placed.core, placed.learned)
    longer = tokenizer_of(tokenizer, placed.core)
    comparison = Comparison(old, placed.core, added, max_lines=max_lines)
    done = [word.token for word in wanted.values() if word.word not in refused]
    comparison.seen.update(token_id for token_id in placed.core.tokens_to_ids(done) if token_id is not None)
    seen = None if texts is None else comparison.all(texts)
    report = ExtensionReport(
        old_size=old.max_id + 1,
        new_size=placed.core.max_id + 1,
        added=tuple(added),
        source=seen,
        texts=comparison.by_name(report_on or {}),
        unreachable=tuple(unreachable(longer.vocabulary, added, seen=comparison.seen)),
        changed_tokens=tuple(_changed_tokens(old, placed.core)),
        refused=tuple(RefusedWord(word, reason) for word, reason in refused.items()),
        known=placed.known,
        notes=tuple(_notes(wanted.values(), places)),
        bad_rows=tally.report.bad_rows,
        first_bad_rows=tally.report.first_bad_rows,
    )
    report = replace(
        report, lines_read=comparison.read, lines_changed=comparison.changed, lines=tuple(comparison.lines)
    )
    if refused and not skip_refused:
        raise _error(report)
    return longer, report


def _places(core: Tokenizer, wanted: Sequence[Wanted], texts: Sequence[str]) -> dict[str, Places]:
    if not texts:
        return {}
    counter = Counter(core, between_added_tokens=True)
    counter.count(texts)
    return {word.token: places_of(core, counter, word) for word in wanted}


def _place_all(
    core: Tokenizer,
    wanted: Mapping[str, Wanted],
    places: dict[str, Places],
    refused: dict[str, str],
    *,
    allow_changes: bool,
) -> Placed:
    """Place the words, and refuse those that aren't one token in the end: then the others are placed without them."""
    left = dict(wanted)
    while True:
        placed = place(core, list(left.values()), places, allow_changes=allow_changes)
        done = [word for word in left.values() if word.word not in placed.reasons]
        rows = placed.core.encode_ids_batch([word.text for word in done], add_special_tokens=False)
        failed = [word for word, row in zip(done, rows, strict=True) if row != [placed.core.token_to_id(word.token)]]
        if not failed:
            refused |= placed.reasons
            return placed
        for word in failed:
            refused[word.word] = "its own text comes out as other tokens, whatever merges lead to it"
            del left[word.token]


def _changed_tokens(old: Tokenizer, new: Tokenizer) -> list[ChangedToken]:
    """Return the old tokens whose own text comes out as other tokens."""
    vocab = old.get_vocab(with_added_tokens=False)
    tokens = sorted(vocab, key=vocab.__getitem__)
    rows = zip(tokens, encode_words(old, tokens), encode_words(new, tokens), strict=True)
    return [
        ChangedToken(vocab[token], readable(old, token), before, after)
        for token, before, after in rows
        if before != after
    ]


def _notes(wanted: Iterable[Wanted], places: Mapping[str, Places]) -> list[str]:
    """Say which words the source has in places that their tokens don't reach."""
    notes = []
    for word in wanted:
        at = places.get(word.token, Places())
        if 0 < at.reached < at.total:
            notes.append(
                f"{word.word!r} is in {at.total:,} places of the source; in {at.total - at.reached:,} of them older "
                "merges join it with what is around it, and its token isn't used"
            )
    return notes


def _error(report: ExtensionReport) -> ExtensionError:
    refused = report.refused
    named = [f"{word.word!r}: {word.reason}" for word in refused[:_NAMED]]
    if len(refused) > _NAMED:
        named.append(f"... and {len(refused) - _NAMED:,} more, see the report")
    words = "a word" if len(refused) == 1 else f"{len(refused):,} words"
    lines = "\n".join(named)
    error = ExtensionError(
        f"{words} can't become one token; skip_refused=True leaves them out (hf-bpe: --skip-refused).\n{lines}"
    )
    error.report = report
    return error
