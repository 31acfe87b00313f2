"""What a training tells of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hf_bpe.training_sources import SourceReport
from hf_bpe.vocabulary_growth import VocabularyGrowth


@dataclass(frozen=True)
class TrainingReport:
    """What a training saw and made.

    Attributes:
        texts: How many texts were read.
        null_rows: How many rows were null, and skipped.
        bad_rows: How many rows held no text, and were skipped.
        bytes: How many bytes the texts have.
        cut_pretokens: How many pretokens were longer than `max_pretoken_bytes`, and counted in parts.
        spilled_bytes: How many bytes of the table of pretokens went to temporary files, before all stops too.
        distinct_pretokens: How many different pretokens they were cut into.
        merges: How many merges were learned.
        vocab_size: How many tokens there are.
        shortfall: Why there are fewer or more tokens than asked for; None when there are just as many.
        sources: What each source gave and got, where there are several.
        used_most_by: For each learned token, the source that used it most when it was made, weights applied; of equals
            the first.
        growth: How many tokens the corpus takes with smaller vocabularies. Several sources are one corpus as they are,
            whatever they weigh.
        first_bad_rows: Where the first of the bad rows are, ten at most, and what is wrong with them.
    """

    texts: int = 0
    null_rows: int = 0
    bytes: int = 0
    distinct_pretokens: int = 0
    merges: int = 0
    vocab_size: int = 0
    shortfall: str | None = None
    bad_rows: int = 0
    cut_pretokens: int = 0
    spilled_bytes: int = 0
    sources: tuple[SourceReport, ...] = ()
    used_most_by: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)
    growth: VocabularyGrowth | None = field(default=None, repr=False)
    first_bad_rows: tuple[str, ...] = ()

    def to_html(self, *, hidden_sizes: Mapping[int, int] | None = None) -> str:
        """Return a page that tells how large the vocabulary should be: see `hf_bpe.measure.vocabulary_sizes`."""
        from hf_bpe.measure.vocabulary_sizes import page_of_training

        return page_of_training(self, hidden_sizes=hidden_sizes)
