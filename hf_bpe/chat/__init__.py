"""Chat templates: upstream's text, ids that no user text can break, masks, prefixes."""

from __future__ import annotations

from hf_bpe.chat import templates
from hf_bpe.chat.canonical import canonical_tools, clock, pin_clock
from hf_bpe.chat.conformance import Conformance, conformance
from hf_bpe.chat.installing import InstallReport, install, stop_ids

__all__ = [
    "Conformance",
    "InstallReport",
    "canonical_tools",
    "clock",
    "conformance",
    "install",
    "pin_clock",
    "stop_ids",
    "templates",
]
