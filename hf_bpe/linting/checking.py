"""`lint`: every check, on a vocabulary or on a file."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator
from os import PathLike

from hf_bpe import formats
from hf_bpe.errors import HfBpeError
from hf_bpe.formats import arguments, sentencepiece
from hf_bpe.linting import added, double_merges, files, merges, tokens
from hf_bpe.linting.report import KINDS, Finding, LintReport
from hf_bpe.tokenizer import HfBpeTokenizer
from hf_bpe.vocabulary import Vocabulary


def lint(
    tokenizer: str | PathLike[str] | HfBpeTokenizer | Vocabulary,
    *,
    source_format: str | None = None,
    ignore: Collection[str] = (),
) -> LintReport:
    """Look for what is odd in a vocabulary.

    Args:
        tokenizer: A file or directory of any format, a tokenizer, or a vocabulary.
        source_format: The format of a file; by default it is found by its content.
        ignore: Kinds of findings to leave out, such as `"dead-token"`; see `hf_bpe.linting.report.KINDS`.

    Returns:
        The report, which is true where there are at most notes. Prints as lines of text.

    Raises:
        ConversionError: The file doesn't exist or is of no known format. A tokenizer.json that is JSON but can't be
            loaded is a finding.
        ValueError: `ignore` names no kind.
        TypeError: An argument has a wrong type.

    Example:
        >>> print(hf_bpe.lint("gpt2"))
        gpt2: nothing found
    """
    if (
        isinstance(ignore, str)
        or not isinstance(ignore, Collection)
        or not all(isinstance(kind, str) for kind in ignore)
    ):
        raise TypeError(f"ignore is a list of kinds of findings, such as ['dead-token'], got {ignore!r:.60}.")
    unknown = set(ignore) - KINDS.keys()
    if unknown:
        raise ValueError(f"ignore has {sorted(unknown)}; the kinds of findings are {sorted(KINDS)}.")
    order = list(KINDS)
    found = [finding for finding in _findings(tokenizer, source_format) if finding.kind not in ignore]
    found.sort(key=lambda finding: order.index(finding.kind))
    name = str(tokenizer) if isinstance(tokenizer, str | PathLike) else "tokenizer"
    return LintReport(name, found, frozenset(ignore))


def _findings(tokenizer: str | PathLike[str] | HfBpeTokenizer | Vocabulary, name: str | None) -> Iterator[Finding]:
    if isinstance(tokenizer, HfBpeTokenizer):
        tokenizer = tokenizer.vocabulary
    if isinstance(tokenizer, Vocabulary):
        yield from _in_vocabulary(tokenizer)
        return
    path = arguments.a_path(tokenizer, "tokenizer")
    name = name or formats.detect(path)
    if name == "tokenizer_json":
        yield from files.findings(path)
    vocabulary = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what they say is a finding
            vocabulary = formats.get(name).read(path)
    except HfBpeError as error:
        if name != "tokenizer_json":
            raise
        yield Finding("unreadable", str(error))
    yield from double_merges.findings(*files.merges_of(path, name), vocabulary)
    if vocabulary is None:
        return
    if name == sentencepiece.NAME and (parting := sentencepiece.parting_of(path, vocabulary)) is not None:
        yield Finding("charsmap-differs", parting[1], text=parting[0])
    yield from _in_vocabulary(vocabulary)


def _in_vocabulary(vocabulary: Vocabulary) -> Iterator[Finding]:
    yield from tokens.findings(vocabulary)
    yield from merges.findings(vocabulary)
    yield from added.findings(vocabulary)
