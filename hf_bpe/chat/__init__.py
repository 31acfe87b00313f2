"""Chat templates: upstream's text, ids that no user text can break, masks, prefixes."""

from __future__ import annotations

from hf_bpe.chat.installing import InstallReport, install, stop_ids

__all__ = ["InstallReport", "install", "stop_ids"]
