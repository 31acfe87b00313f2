"""GPT-2's vocab.json and merges.txt -> a Hugging Face directory.

The pair holds tokens and merges. GPT-2's split pattern is added, and `<|endoftext|>` becomes a special token.

    python conversion/gpt2_to_hf.py path/to/files my-tokenizer
"""

from __future__ import annotations

import argparse
from pathlib import Path

import tokenizers

import hf_bpe


def main() -> None:
    """Convert what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, help="the directory with vocab.json and merges.txt")
    parser.add_argument("directory", type=Path, help="the tokenizer directory to write")
    arguments = parser.parse_args()

    # Read. A damaged file is an error that names the line.
    tokenizer = hf_bpe.from_gpt2(arguments.files)

    # Verify: stock's GPT-2 pipeline over the same two files gives the same ids.
    files = [str(arguments.files / name) for name in ("vocab.json", "merges.txt")]
    stock = tokenizers.Tokenizer(tokenizers.models.BPE.from_file(*files))
    stock.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    stock.decoder = tokenizers.decoders.ByteLevel()
    stock.add_special_tokens(list(tokenizer.all_special_tokens))
    agreement = hf_bpe.compare(tokenizer, stock)
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
