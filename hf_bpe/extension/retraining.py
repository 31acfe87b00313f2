"""`retrain_for`: a vocabulary trained anew for a domain, beside the old one and the old one pruned to the same size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hf_bpe.corpus import Source, open_corpus
from hf_bpe.counting_report import Tally
from hf_bpe.extension.arguments import check_tokenizer
from hf_bpe.extension.comparing import Comparison
from hf_bpe.extension.pruning import prune
from hf_bpe.extension.report import Saving
from hf_bpe.extension.sampling import Sample, texts_of
from hf_bpe.tokenizer import HfBpeTokenizer
from hf_bpe.trainer_settings import check_numbers


@dataclass(frozen=True)
class Side:
    """A vocabulary in a `SideBySide`.

    Attributes:
        size: The highest id plus one.
        shared: How many of its tokens the old vocabulary has.
        source: What a sample of the corpus took with the old vocabulary and takes with this one.
        languages: The same by script.
    """

    size: int
    shared: int
    source: Saving
    languages: dict[str, Saving] = field(default_factory=dict)


@dataclass(frozen=True)
class SideBySide:
    """The old vocabulary, the same pruned, and one trained anew. Prints as a table.

    Attributes:
        characters: How many characters the sample has.
        sides: `"old"`, `"pruned"` and `"retrained"`.
        pruned: The tokenizer that pruning gives.
        bad_rows: How many rows of the corpus held no text, and were left out.
        first_bad_rows: Where the first of these are, ten at most, and what is wrong with them.
    """

    characters: int
    sides: dict[str, Side]
    pruned: HfBpeTokenizer
    bad_rows: int = 0
    first_bad_rows: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the figures as JSON."""
        return {
            "characters": self.characters,
            "sides": {
                name: {
                    "size": side.size,
                    "shared": side.shared,
                    "tokens": side.source.after,
                    "languages": {script: saving.after for script, saving in side.languages.items()},
                }
                for name, side in self.sides.items()
            },
            "bad_rows": self.bad_rows,
            "first_bad_rows": list(self.first_bad_rows),
        }

    def __str__(self) -> str:
        lines = [f"{'':12}{'tokens':>10}{'shared':>10}{'used':>12}{'characters a token':>20}"]
        for name, side in self.sides.items():
            used = side.source.after
            lines.append(
                f"{name:12}{side.size:>10,}{side.shared:>10,}{used:>12,}{self.characters / max(used, 1):>20.3f}"
            )
        for script in self.sides["old"].languages:
            shown = ", ".join(f"{name} {side.languages[script].after:,}" for name, side in self.sides.items())
            lines.append(f"{script}: {shown}")
        if self.bad_rows:
            lines.append(f"rows that hold no text, and were left out: {self.bad_rows:,}")
            lines += [f"left out: {row}" for row in self.first_bad_rows]
        return "\n".join(lines)


def retrain_for(
    tokenizer: HfBpeTokenizer,
    source: Source,
    vocab_size: int,
    *,
    files: Sequence[str | Path] | None = None,
    text_column: str = "text",
    skip_bad_rows: bool = True,
    progress: bool = True,
) -> tuple[HfBpeTokenizer, SideBySide]:
    """Train a vocabulary anew for a domain, in the pipeline of an old one, and show what pruning gives instead.

    A model that speaks the old vocabulary speaks the pruned one too; the retrained one takes fewer tokens, but its ids
    mean something else.

    Args:
        tokenizer: The old vocabulary. Its special tokens come first, as in `train_new_from_iterator`.
        source: The texts, as for `train`; they are read three times, so no iterator.
        vocab_size: The number of tokens of both.
        files: Paths, directories and globs, as for `train`; `source` is None then.
        text_column: The column of tables and datasets.
        skip_bad_rows: As in `train`: bad rows of files are left out, named in the figures and told by a warning.
        progress: Whether to show bars on stderr.

    Returns:
        The retrained tokenizer, and the figures of both on a sample of the source.

    Raises:
        TypeError: `tokenizer` is none of this package, `source` is of no accepted type or can be read once only, or
            `vocab_size` is no whole number.
        ValueError: `vocab_size` is out of reach, or the source has no text.
        CorpusError: As `prune`.
    """
    check_tokenizer(tokenizer, "retrain")
    check_numbers(vocab_size=vocab_size)
    if vocab_size < 1:
        raise ValueError(f"vocab_size={vocab_size} is out of range; give at least 1")
    if isinstance(source, Iterator):
        raise TypeError(f"retrain_for() reads the source three times, and a {type(source).__name__} can be read once")
    reading: dict[str, Any] = {"files": files, "text_column": text_column, "skip_bad_rows": skip_bad_rows}
    sample, tally = Sample(), Tally()
    texts = texts_of(sample.watch(tally.watch(open_corpus(source, **reading).batches)))
    retrained = tokenizer.train_new_from_iterator(texts, vocab_size, show_progress=progress)
    # Which reads the source again, and warns of bad rows.
    pruned, _ = prune(tokenizer, source, vocab_size=vocab_size, max_lines=0, progress=progress, **reading)
    old_tokens = set(tokenizer.get_vocab())
    sides = {}
    for name, other in (("old", tokenizer), ("pruned", pruned), ("retrained", retrained)):
        comparison = Comparison(tokenizer._core, other._core, max_lines=0)
        languages = comparison.by_script(sample.texts)
        shared = len(old_tokens & set(other.get_vocab()))
        sides[name] = Side(len(other), shared, sum(languages.values(), Saving()), languages)
    characters, read = sum(map(len, sample.texts)), tally.report
    return retrained, SideBySide(characters, sides, pruned, read.bad_rows, read.first_bad_rows)
