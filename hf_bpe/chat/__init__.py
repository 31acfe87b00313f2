"""Chat templates: upstream's text, ids that no user text can break, masks, prefixes."""

from __future__ import annotations

from hf_bpe.chat import templates
from hf_bpe.chat.canonical import canonical_tools, clock, pin_clock
from hf_bpe.chat.checking import Finding, check
from hf_bpe.chat.conformance import Conformance, conformance
from hf_bpe.chat.encoding import ChatEncoding, encode
from hf_bpe.chat.installing import InstallReport, install, stop_ids
from hf_bpe.chat.limits import Limits
from hf_bpe.chat.policy import Allow
from hf_bpe.chat.prefixes import PrefixBreak, PrefixReport, prefix_report
from hf_bpe.chat.training import Trained

__all__ = [
    "Allow",
    "ChatEncoding",
    "Conformance",
    "Finding",
    "InstallReport",
    "Limits",
    "PrefixBreak",
    "PrefixReport",
    "Trained",
    "canonical_tools",
    "check",
    "clock",
    "conformance",
    "encode",
    "install",
    "pin_clock",
    "prefix_report",
    "stop_ids",
    "templates",
]
