"""The vocabulary in a GGUF file of llama.cpp -> a Hugging Face directory.

The kinds `gpt2` (byte-level) and `llama` (scored pieces) are read, with the chat template. Tensors are left alone.

    python conversion/gguf_to_hf.py model.gguf my-tokenizer
"""

from __future__ import annotations

import argparse
from pathlib import Path

import hf_bpe


def main() -> None:
    """Convert what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gguf", type=Path, help="the file")
    parser.add_argument("directory", type=Path, help="the tokenizer directory to write")
    arguments = parser.parse_args()

    # Read. The split pattern is the one that llama.cpp has for the name in tokenizer.ggml.pre.
    tokenizer = hf_bpe.from_gguf(arguments.gguf)

    # Verify. No Python library runs such a vocabulary: the stock library has to agree on what we made of it.
    agreement = hf_bpe.compare(tokenizer, tokenizer.backend_tokenizer)
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
