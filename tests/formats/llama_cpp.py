"""How llama.cpp cuts a text into scored pieces, in plain Python: what GGUF files of kind `llama` are held to.

Written from what `src/llama-vocab.cpp` of ggml-org/llama.cpp does (commit 00ad355): added tokens are cut out, the
longest first; each text that begins the whole or follows such a token gets a space; spaces become "▁"; then any two
neighbours whose joined text is a token, of whatever type, are joined by its score, the left one of equals first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from hf_bpe.formats.pieces.model import SPACE, PieceType

SOUGHT = (PieceType.CONTROL, PieceType.USER_DEFINED, PieceType.UNKNOWN)


def encode(
    text: str,
    tokens: Sequence[str],
    scores: Sequence[float],
    types: Sequence[int],
    *,
    prefix: bool = True,
) -> list[int]:
    """Return the ids of `text`, without BOS and EOS, where special tokens are found in it."""
    ids = {token: token_id for token_id, token in enumerate(tokens)}
    sought = [token for token, kind in zip(tokens, types, strict=True) if kind in SOUGHT]
    found: list[int] = []
    after_token = True
    for part in _partition(text, sorted(sought, key=lambda token: -len(token.encode()))):
        if isinstance(part, tuple):
            found.append(ids[part[0]])
            after_token = True
        else:
            found += _merged((" " if prefix and after_token else "") + part, ids, scores)
            after_token = False
    return found


def _partition(text: str, sought: Sequence[str]) -> list[str | tuple[str]]:
    parts: list[str | tuple[str]] = [text] if text else []
    for token in sought:
        cut: list[str | tuple[str]] = []
        for part in parts:
            if isinstance(part, tuple):
                cut.append(part)
                continue
            for place, piece in enumerate(part.split(token)):
                cut += [(token,)] if place else []
                cut += [piece] if piece else []
        parts = cut
    return parts


def _merged(text: str, ids: Mapping[str, int], scores: Sequence[float]) -> list[int]:
    symbols = list(text.replace(" ", SPACE))
    while True:
        joined = [(ids.get(left + right), place) for place, (left, right) in enumerate(pairwise(symbols))]
        best = max(((scores[token], -place) for token, place in joined if token is not None), default=None)
        if best is None:
            break
        place = -best[1]
        symbols[place : place + 2] = [symbols[place] + symbols[place + 1]]
    found = []
    for symbol in symbols:
        known = ids.get(symbol)
        found += [known] if known is not None else [ids[f"<0x{byte:02X}>"] for byte in symbol.encode()]
    return found
