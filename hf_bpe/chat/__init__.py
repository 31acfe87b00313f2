"""Chat templates: upstream's text, ids that no user text can break, masks, prefixes."""

from __future__ import annotations

from hf_bpe.chat.checking import Finding, check
from hf_bpe.chat.prefixes import PrefixBreak, PrefixReport, prefix_report

__all__ = ["Finding", "PrefixBreak", "PrefixReport", "check", "prefix_report"]
