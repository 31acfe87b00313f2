"""`python -m hf_bpe.cli` is `hf-bpe`."""

from __future__ import annotations

from hf_bpe.cli import main

if __name__ == "__main__":
    main()
