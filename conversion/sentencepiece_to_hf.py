"""A SentencePiece model of type BPE (Llama 2, Mistral v1 to v7) -> a Hugging Face directory.

python conversion/sentencepiece_to_hf.py tokenizer.model my-tokenizer
"""

from __future__ import annotations

import argparse
from pathlib import Path

import hf_bpe


def main() -> None:
    """Convert what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="the .model file")
    parser.add_argument("directory", type=Path, help="the tokenizer directory to write")
    arguments = parser.parse_args()

    # Read. Scores become the order of merges; a model whose scores no such order says is an error that shows a text.
    tokenizer = hf_bpe.from_sentencepiece(arguments.model)

    # Verify with SentencePiece itself. It never finds control pieces such as <s> in a text, so these aren't looked for.
    from sentencepiece import SentencePieceProcessor

    agreement = hf_bpe.compare(tokenizer, SentencePieceProcessor(model_file=str(arguments.model)))
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
