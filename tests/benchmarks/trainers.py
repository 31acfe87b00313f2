"""What each trainer is asked, and the process that it works in: `python -m benchmarks.trainers NAME ORDER`.

ORDER is JSON: the file of texts, the size, the name of the pattern, and where to write the merges. A trainer that reads
files gets the file; the others an iterator over documents of some kilobytes, cut at line ends.
"""

from __future__ import annotations

import importlib
import json
import resource
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hf_bpe.byte_alphabet import token_to_bytes
from hf_bpe.split_patterns import SPLIT_PATTERNS

DOCUMENT = 4_000


@dataclass(frozen=True)
class Order:
    """What to train: on which file, how large, with which pattern; and where the merges go."""

    file: str
    vocab_size: int
    pattern: str
    out: str

    def documents(self) -> Iterator[str]:
        """Yield the texts of the file, read as they are asked for."""
        lines: list[str] = []
        length = 0
        with open(self.file, encoding="utf-8", newline="") as file:
            for line in file:
                lines.append(line)
                length += len(line)
                if length >= DOCUMENT:
                    yield "".join(lines)
                    lines, length = [], 0
        if lines:
            yield "".join(lines)


Merges = list[list[str]] | list[str]
"""Pairs in order, or, from a trainer that tells no pairs, the tokens that they make; in hexadecimal."""


def _hf_bpe(order: Order, *, files: bool = False) -> Callable[[], Merges]:
    import hf_bpe

    source = {"files": [order.file]} if files else {"source": order.documents()}
    options = {"split_pattern": order.pattern, "min_frequency": 1, "progress": False}
    tokenizer = hf_bpe.train(vocab_size=order.vocab_size, **source, **options)  # type: ignore[arg-type]
    return lambda: _pairs(json.loads(tokenizer.backend_tokenizer.to_str())["model"]["merges"])


def _tokenizers(order: Order, *, files: bool = False, alphabet: bool = True) -> Callable[[], Merges]:
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    steps = [pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=order.pattern == "gpt2")]
    if order.pattern != "gpt2":
        steps.insert(0, pre_tokenizers.Split(Regex(SPLIT_PATTERNS[order.pattern]), "isolated"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(steps)
    trainer = trainers.BpeTrainer(
        vocab_size=order.vocab_size,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet() if alphabet else [],
        show_progress=False,
    )
    if files:
        tokenizer.train([order.file], trainer)
    else:
        tokenizer.train_from_iterator(order.documents(), trainer)
    return lambda: _pairs(json.loads(tokenizer.to_str())["model"]["merges"])


def _gigabpe(order: Order) -> Callable[[], Merges]:
    import gigabpe

    _, merges = gigabpe.train_bpe([order.file], order.vocab_size, pretokenizer="bytelevel")
    return lambda: _pairs(merges)


def _gigatoken(order: Order) -> Callable[[], Merges]:
    import gigatoken

    found = gigatoken.train_bpe(order.file, order.vocab_size, [])
    merges = getattr(found, "merges", None) or found[1]
    return lambda: [[bytes(part).hex() for part in pair] for pair in merges]


def _by_iterator(module: str) -> Callable[[Order], Callable[[], Merges]]:
    def train(order: Order) -> Callable[[], Merges]:
        tokenizer = importlib.import_module(module).Tokenizer()
        tokenizer.train_from_iterator(order.documents(), order.vocab_size, pattern=SPLIT_PATTERNS[order.pattern])
        return lambda: _tokens({bytes(token): rank for token, rank in tokenizer.get_mergeable_ranks()})

    return train


def _bpeasy(order: Order) -> Callable[[], Merges]:
    import bpeasy

    found = bpeasy.train_bpe(order.documents(), SPLIT_PATTERNS[order.pattern], 128, order.vocab_size)
    return lambda: _tokens(found)


def _pairs(merges: Any) -> list[list[str]]:
    pairs = (pair if isinstance(pair, (list, tuple)) else pair.split(" ") for pair in merges)
    return [[token_to_bytes(part).hex() for part in pair] for pair in pairs]


def _tokens(ranks: dict[bytes, int]) -> list[str]:
    return [token.hex() for token, _ in sorted(ranks.items(), key=lambda item: item[1])][256:]


@dataclass(frozen=True)
class Trainer:
    """One row of the table.

    Attributes:
        module: What is imported before the clock starts.
        distribution: The package whose version is told.
        train: Trains, and returns what gives the merges, which is called outside of the clock.
        reference: The row whose merges these are compared with.
        patterns: The patterns that it can be told to cut by.
    """

    module: str
    distribution: str
    train: Callable[[Order], Callable[[], Merges]]
    reference: str = "tokenizers"
    patterns: tuple[str, ...] = ("gpt2", "llama3")


ONLY_GPT2 = ("gpt2",)
TRAINERS: dict[str, Trainer] = {
    "tokenizers": Trainer("tokenizers", "tokenizers", _tokenizers),
    "tokenizers, files": Trainer(
        "tokenizers", "tokenizers", lambda order: _tokenizers(order, files=True), "tokenizers, files"
    ),
    "tokenizers, files, alphabet of the corpus": Trainer(
        "tokenizers",
        "tokenizers",
        lambda order: _tokenizers(order, files=True, alphabet=False),
        "tokenizers, files, alphabet of the corpus",
        ONLY_GPT2,
    ),
    "hf_bpe": Trainer("hf_bpe", "hf-bpe", _hf_bpe),
    "hf_bpe, files": Trainer("hf_bpe", "hf-bpe", lambda order: _hf_bpe(order, files=True), "tokenizers, files"),
    "gigabpe, files": Trainer("gigabpe", "gigabpe", _gigabpe, "tokenizers, files, alphabet of the corpus", ONLY_GPT2),
    "gigatoken, file as one text": Trainer("gigatoken", "gigatoken", _gigatoken, "tokenizers", ONLY_GPT2),
    "flashbpe": Trainer("flashbpe", "flashbpe", _by_iterator("flashbpe")),
    "rustbpe": Trainer("rustbpe", "rustbpe", _by_iterator("rustbpe")),
    "bpeasy": Trainer("bpeasy", "bpeasy", _bpeasy),
}
"""By the name of the row. Those that others are compared with come first."""


def forget_peak() -> None:
    """Let the highest resident memory count from here on, where the system can do that."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return


def peak() -> float:
    """Return the highest resident memory in MB since `forget_peak`, or since the start."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def main() -> None:
    """Train once, write the merges, and print seconds and megabytes as JSON."""
    trainer, order = TRAINERS[sys.argv[1]], Order(**json.loads(sys.argv[2]))
    importlib.import_module(trainer.module)
    forget_peak()
    before, started = peak(), time.perf_counter()
    merges = trainer.train(order)
    seconds, memory = time.perf_counter() - started, peak() - before
    Path(order.out).write_text(json.dumps(merges()), encoding="utf-8")
    print(json.dumps({"seconds": seconds, "megabytes": memory}))


if __name__ == "__main__":
    main()
