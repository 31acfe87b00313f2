"""From one format to another: read, write beside the target, read back, verify, rename.

Nothing is left behind by a failure, and nothing old is lost. What was verified is told, and left in conversion.json.
"""

from __future__ import annotations

from hf_bpe.converting.conversion import convert
from hf_bpe.converting.report import Conversion

__all__ = ["Conversion", "convert"]
