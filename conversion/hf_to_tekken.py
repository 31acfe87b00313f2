"""A Hugging Face directory -> Mistral's tekken.json.

Special tokens have to come first, and the tokens without a gap behind them; ids are never moved.

    python conversion/hf_to_tekken.py my-tokenizer tekken.json
"""

from __future__ import annotations

import argparse
from pathlib import Path

import hf_bpe


def main() -> None:
    """Convert what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, help="a directory with a tokenizer.json")
    parser.add_argument("tekken", type=Path, help="the file to write")
    arguments = parser.parse_args()
    if not arguments.directory.is_dir():
        parser.error(f"{arguments.directory} is no directory")

    # Read. A part of tokenizer.json that can't be run exactly is an error that names it.
    tokenizer = hf_bpe.HfBpeTokenizer.from_pretrained(arguments.directory, local_files_only=True)

    # Write beside the target, read back, verify with mistral-common, and put into place.
    # What can't be held exactly is refused with a text whose ids would change, and nothing is written.
    print(hf_bpe.convert(tokenizer, arguments.tekken, destination_format="tekken"))


if __name__ == "__main__":
    try:
        main()
    except Exception as error:  # libraries refuse files in ways of their own
        raise SystemExit(f"refused: {' '.join(str(error).split())}") from None
