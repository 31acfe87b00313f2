"""What a card says of other engines: where ids are known to be the same, and where they aren't."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tokenizers

from hf_bpe._native import Tokenizer
from hf_bpe.cards import markdown
from hf_bpe.errors import HfBpeError
from hf_bpe.linting import lint
from hf_bpe.linting.report import KINDS
from hf_bpe.verification import compare
from hf_bpe.vocabulary import Vocabulary

_SAMPLE = 2_000


def differences(core: Tokenizer) -> Iterator[str]:
    """Yield the section on other engines."""
    yield "## Other engines"
    yield "\n".join(f"- {line}" for line in (_stock(core), *_rank_file(core), _regex(core)) if line)
    found = lint(Vocabulary(core))
    if found.counts:
        yield "What `hf-bpe lint` finds:"
        examples = {finding.kind: finding for finding in reversed(found.findings)}
        rows = [
            (
                f"{count:,}",
                markdown.text(KINDS[kind][1]),
                markdown.code(examples[kind].token or examples[kind].text or "–"),
            )
            for kind, count in found.counts.items()
        ]
        yield markdown.rows(["findings", "what", "such as"], rows, numbers=[True, False, False])
    else:
        yield "`hf-bpe lint` finds nothing."


def _stock(core: Tokenizer) -> str:
    version = ".".join(tokenizers.__version__.split(".")[:2])
    try:
        theirs = tokenizers.Tokenizer.from_str(core.to_json())
        found: Any = compare(core, theirs, sample=_SAMPLE, progress=False)
    except HfBpeError as error:
        return f"`tokenizers` {version}: not compared. {markdown.text(str(error))}"
    if found:
        return f"`tokenizers` {version}: the same ids and the same decoded text on {found.total:,} texts compared."
    return f"`tokenizers` {version}: other ids, such as for {markdown.code(found.text)}."


def _rank_file(core: Tokenizer) -> Iterator[str]:
    if not core.is_byte_level:
        yield "tiktoken: can't hold this vocabulary, whose tokens are of characters."
        return
    try:
        verdict = core.agreement_with_ranks()[0]
    except (ValueError, HfBpeError):
        verdict = "unproved"
    said = {
        "equal": "a rank file of these tokens is proved to give the same ids",
        "unproved": "whether a rank file of these tokens gives the same ids isn't proved",
    }
    yield f"tiktoken: {said.get(verdict, 'a rank file of these tokens gives other ids to some texts')}."


def _regex(core: Tokenizer) -> str:
    if core.component("pre_tokenizer") is None:
        return ""
    return (
        "Programs that cut texts with a regex library of another Unicode version cut characters that were added since, "
        "or whose class changed, otherwise."
    )
