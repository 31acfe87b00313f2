"""From a stream of real text to `AutoTokenizer`: train a vocabulary for Python code, load it, look at it.

The text is the Python standard library's own source code, which every machine has. No network is used.

    python examples/demo.py [--vocab-size 16000] [--out demo-tokenizer]
"""

from __future__ import annotations

import argparse
import glob
import os
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterable
from itertools import cycle
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

from datasets import IterableDataset, load_dataset
from transformers import AutoTokenizer

import hf_bpe

PATTERNS = {"Llama 3": "llama3", "GPT-2": "gpt2"}
SAMPLE = '''\
def fibonacci(n: int) -> list[int]:
    """Return the first n Fibonacci numbers."""
    numbers = [0, 1]
    while len(numbers) < n:
        numbers.append(numbers[-1] + numbers[-2])
    return numbers[:n]  # 1234567, naïve
'''
_COLOURS = ("\x1b[48;5;24m", "\x1b[48;5;53m", "\x1b[48;5;22m", "\x1b[48;5;94m")
_RESET = "\x1b[0m"


def main() -> None:
    """Run the demonstration."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocab-size", type=int, default=16_000)
    parser.add_argument("--out", type=Path, default=Path("demo-tokenizer"))
    options = parser.parse_args()

    files = standard_library()
    megabytes = sum(file.stat().st_size for file in files) / 1e6
    print(
        f"Python's standard library: {len(files):,} files, {megabytes:.1f} MB; training {options.vocab_size:,} tokens"
    )
    tokenizers = {}
    with tempfile.TemporaryDirectory(prefix="hf-bpe-demo-") as cache:
        for name, pattern in PATTERNS.items():
            started = time.monotonic()
            tokenizers[name] = train(stream(files, cache), pattern, options.vocab_size, options.out / pattern)
            print(f"  {name + ' pattern:':<17} {time.monotonic() - started:.1f} s, saved in {options.out / pattern}")
    print()
    print_table(tokenizers, files)
    print_sample(tokenizers["Llama 3"])
    print_next_steps(options.out / PATTERNS["Llama 3"])


def standard_library() -> list[Path]:
    """Return the `.py` files of the standard library that are UTF-8, without its tests and installed packages."""
    root = Path(sysconfig.get_path("stdlib"))
    skipped = {"site-packages", "dist-packages", "test", "tests", "idle_test", "lib2to3"}
    files = (path for path in sorted(root.rglob("*.py")) if not skipped & set(path.relative_to(root).parts))
    return [path for path in files if _is_utf8(path)]


def _is_utf8(path: Path) -> bool:
    try:
        path.read_text(encoding="utf-8")
    except (UnicodeDecodeError, OSError):
        return False
    return True


def stream(files: list[Path], cache: str) -> IterableDataset:
    """Return the files as a `datasets` stream of one row a file: it is read once, as it comes."""
    names = [glob.escape(str(file)) for file in files]
    return load_dataset("text", data_files=names, sample_by="document", split="train", streaming=True, cache_dir=cache)


def train(rows: IterableDataset, pattern: str, vocab_size: int, directory: Path) -> Any:
    """Train on a stream, save, and return what `AutoTokenizer` makes of the saved directory."""
    trained = hf_bpe.train(rows, vocab_size=vocab_size, split_pattern=pattern, eos_token="<|endoftext|>")
    trained.save_pretrained(directory)
    tokenizer = AutoTokenizer.from_pretrained(directory)
    assert isinstance(tokenizer, hf_bpe.HfBpeTokenizer)
    return tokenizer


def print_table(tokenizers: dict[str, Any], files: Iterable[Path]) -> None:
    """Print how well each vocabulary compresses its corpus, and what they share."""
    texts = [path.read_text(encoding="utf-8") for path in files]
    size = sum(len(text.encode()) for text in texts)
    print(f"{'pattern':<10} {'tokens in vocab':>16} {'tokens in corpus':>17} {'bytes per token':>16}")
    for name, tokenizer in tokenizers.items():
        count = sum(map(len, tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]))
        print(f"{name:<10} {len(tokenizer):>16,} {count:>17,} {size / count:>16.3f}")
    first, second = (set(tokenizer.get_vocab()) for tokenizer in tokenizers.values())
    print(f"\nThe two vocabularies share {len(first & second):,} tokens ({len(first & second) / len(first):.1%}).\n")


def print_sample(tokenizer: Any) -> None:
    """Print a piece of code, each token on a ground of its own (or between bars, where there are no colours)."""
    encoding = tokenizer(SAMPLE, return_offsets_mapping=True)
    ids, offsets = encoding["input_ids"], encoding["offset_mapping"]
    assert tokenizer.decode(ids) == SAMPLE
    print(f"{len(SAMPLE.encode())} bytes of code are {len(ids)} tokens, and decode to the same code:\n")
    # A character whose bytes are several tokens is shown once, with the first of them.
    starts = sorted({start for start, _ in offsets})
    pieces = [SAMPLE[start:end] for start, end in zip(starts, [*starts[1:], len(SAMPLE)], strict=True)]
    print(_coloured(pieces) if sys.stdout.isatty() and "NO_COLOR" not in os.environ else "|".join(pieces))


def _coloured(pieces: Iterable[str]) -> str:
    """Return `pieces` on coloured grounds. A newline ends the colour, or it would fill the rest of the line."""
    rows = ((colour, piece.split("\n")) for colour, piece in zip(cycle(_COLOURS), pieces, strict=False))
    return "".join("\n".join(f"{colour}{part}{_RESET}" if part else "" for part in parts) for colour, parts in rows)


def print_next_steps(directory: Path) -> None:
    """Print where the files are and how to use them."""
    print(f"\nThe tokenizer is in {directory}: {', '.join(sorted(path.name for path in directory.iterdir()))}\n")
    print("    import hf_bpe")
    print("    from transformers import AutoTokenizer")
    print(f"    tokenizer = AutoTokenizer.from_pretrained({str(directory)!r})")


if __name__ == "__main__":
    main()
