"""Mistral's tekken.json -> a Hugging Face directory.

python conversion/tekken_to_hf.py tekken.json my-tokenizer
"""

from __future__ import annotations

import argparse
from pathlib import Path

import hf_bpe


def main() -> None:
    """Convert what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tekken", type=Path, help="the file")
    parser.add_argument("directory", type=Path, help="the tokenizer directory to write")
    arguments = parser.parse_args()

    # Read. Special tokens have the first ids, and the ranks follow.
    tokenizer = hf_bpe.from_tekken(arguments.tekken)

    # Verify with mistral-common. It never finds special tokens in a text, so these aren't looked for.
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    agreement = hf_bpe.compare(tokenizer, Tekkenizer.from_file(arguments.tekken))
    print(agreement)
    if not agreement:
        raise SystemExit("the ids differ: nothing was written")

    # Write. A second check compares what was written with what was read; conversion.json tells about it.
    print(hf_bpe.convert(tokenizer, arguments.directory))


if __name__ == "__main__":
    try:
        main()
    except Exception as error:  # libraries refuse files in ways of their own
        raise SystemExit(f"refused: {' '.join(str(error).split())}") from None
