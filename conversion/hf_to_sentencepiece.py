"""A Hugging Face directory -> a SentencePiece model of type BPE.

Byte-level vocabularies are refused: a piece model merges characters. So are merges that no scores rank.

    python conversion/hf_to_sentencepiece.py my-tokenizer tokenizer.model
"""

from __future__ import annotations

import argparse
from pathlib import Path

import hf_bpe


def main() -> None:
    """Convert what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, help="a directory with a tokenizer.json")
    parser.add_argument("model", type=Path, help="the .model file to write")
    arguments = parser.parse_args()
    if not arguments.directory.is_dir():
        parser.error(f"{arguments.directory} is no directory")

    # Read. A part of tokenizer.json that can't be run exactly is an error that names it.
    tokenizer = hf_bpe.HfBpeTokenizer.from_pretrained(arguments.directory, local_files_only=True)

    # Write beside the target, read back, verify with `sentencepiece`, and put into place.
    # What can't be held exactly is refused with a text whose ids would change, and nothing is written.
    print(hf_bpe.convert(tokenizer, arguments.model, destination_format="sentencepiece"))


if __name__ == "__main__":
    try:
        main()
    except Exception as error:  # libraries refuse files in ways of their own
        raise SystemExit(f"refused: {' '.join(str(error).split())}") from None
