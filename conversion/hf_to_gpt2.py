"""A Hugging Face directory -> GPT-2's vocab.json and merges.txt.

The pair has no place for a split pattern: a vocabulary with another one than GPT-2's is refused, unless its model alone
will do (`--any-pipeline`). Pieces with spaces or line ends can't stand in merges.txt.

    python conversion/hf_to_gpt2.py my-tokenizer my-files
"""

from __future__ import annotations

import argparse
from pathlib import Path

import hf_bpe


def main() -> None:
    """Convert what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, help="a directory with a tokenizer.json")
    parser.add_argument("files", type=Path, help="the directory to write")
    parser.add_argument(
        "--any-pipeline", action="store_true", help="write the model of a vocabulary with another pipeline"
    )
    arguments = parser.parse_args()
    if not arguments.directory.is_dir():
        parser.error(f"{arguments.directory} is no directory")

    # Read. A part of tokenizer.json that can't be run exactly is an error that names it.
    tokenizer = hf_bpe.HfBpeTokenizer.from_pretrained(arguments.directory, local_files_only=True)

    # Write beside the target, read back, verify with `tokenizers`, and put into place.
    # What can't be held exactly is refused with a text whose ids would change, and nothing is written.
    print(
        hf_bpe.convert(
            tokenizer,
            arguments.files,
            destination_format="gpt2",
            write_options={"any_pipeline": arguments.any_pipeline},
        )
    )


if __name__ == "__main__":
    try:
        main()
    except Exception as error:  # libraries refuse files in ways of their own
        raise SystemExit(f"refused: {' '.join(str(error).split())}") from None
