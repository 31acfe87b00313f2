"""Chat templates: upstream's text, ids that no user text can break, masks, prefixes."""

from __future__ import annotations

from hf_bpe.chat.encoding import ChatEncoding, encode
from hf_bpe.chat.limits import Limits
from hf_bpe.chat.policy import Allow
from hf_bpe.chat.training import Trained

__all__ = ["Allow", "ChatEncoding", "Limits", "Trained", "encode"]
