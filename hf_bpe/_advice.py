"""Keeps a line of transformers that is meant for programmers out of the command line.

Transformers warns when it is imported without PyTorch, which no command needs. To import any module of this package,
`hf_bpe.cli` too, is to import transformers first; so the package itself looks at how the process was started.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path


def hide_in_command_line() -> None:
    """Ask transformers for no advice, before it is imported, if this process is `hf-bpe`; else leave it alone."""
    if is_command_line(sys.argv, sys.orig_argv):
        os.environ.setdefault("TRANSFORMERS_NO_ADVISORY_WARNINGS", "1")


def is_command_line(argv: Sequence[str], orig_argv: Sequence[str]) -> bool:
    """Return whether these arguments start the script `hf-bpe`, or `python -m hf_bpe.cli`.

    Python sets `argv[0]` to `-m` until it has found the module.
    """
    if not argv:
        return False
    if argv[0] == "-m":
        return orig_argv[-len(argv)] in {"hf_bpe.cli", "-mhf_bpe.cli"}
    return Path(argv[0]).name in {"hf-bpe", "hf-bpe.exe"}
