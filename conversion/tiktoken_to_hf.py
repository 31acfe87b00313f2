"""A tiktoken file of ranks, or the `tokenizer.model` of Llama 3 -> a Hugging Face directory.

Ranks hold tokens and nothing else. The split pattern and special tokens of published encodings are known; for your own,
give them with `--split-pattern cl100k` (or a regex) and `--special-token '<|end|>=5000'`.

    python conversion/tiktoken_to_hf.py cl100k_base.tiktoken my-tokenizer
"""

from __future__ import annotations

import argparse
from pathlib import Path

import hf_bpe


def main() -> None:
    """Convert what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ranks", type=Path, help="the file")
    parser.add_argument("directory", type=Path, help="the tokenizer directory to write")
    parser.add_argument("--split-pattern", help="the name of a published pattern, or a regex")
    parser.add_argument("--special-token", action="append", metavar="TOKEN=ID", help="may be given again")
    arguments = parser.parse_args()

    pairs = [item.rpartition("=") for item in arguments.special_token or ()]
    if not all(token and token_id.isdecimal() for token, _, token_id in pairs):
        parser.error("--special-token is TOKEN=ID, such as '<|end|>=5000'")
    special_tokens = {token: int(token_id) for token, _, token_id in pairs} or None

    # Read. Every split of a token into two tokens becomes a merge: that list gives the ids of the ranks on every text.
    tokenizer = hf_bpe.from_tiktoken(
        arguments.ranks, split_pattern=arguments.split_pattern, special_tokens=special_tokens
    )

    # Verify with tiktoken itself. It has no normalizer: vocabularies with one, such as Qwen's, can't be verified so.
    if tokenizer.vocabulary.normalizer is None:
        agreement = hf_bpe.compare(tokenizer, tokenizer.to_tiktoken())
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
