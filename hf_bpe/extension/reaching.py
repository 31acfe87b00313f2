"""Can a text give a new token? Its own text has to, or, where something must stand beside it, its text with that."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from hf_bpe._native import encode_words
from hf_bpe.extension.report import NewToken
from hf_bpe.linting.spelling import has_affixes, text_of
from hf_bpe.linting.tokens import unreached
from hf_bpe.vocabulary import Vocabulary


def unreachable(vocabulary: Vocabulary, added: Sequence[NewToken], *, seen: AbstractSet[int]) -> list[NewToken]:
    """Return those of the new tokens that no text gives; `seen` are those that some text gave.

    The model has to make one token of the token's own text; a token that is part of a character is judged by this
    alone. So that the pipeline doesn't cut or change it, a text may need something before or behind it.
    """
    added = [token for token in added if token.id not in seen]
    lost: set[int] = set()
    if not has_affixes(vocabulary):
        rows = encode_words(vocabulary.core, [token.token for token in added])
        lost = {token.id for token, row in zip(added, rows, strict=True) if row != [token.id]}
    prefix = vocabulary.model_settings["continuing_subword_prefix"] or ""
    spelled = {token.token: text_of(token.token.removeprefix(prefix), vocabulary) for token in added}
    texts = {token: text for token, text in spelled.items() if text is not None}
    ids = {token.token: token.id for token in added}
    lost |= {ids[token] for token in unreached(vocabulary, ids, texts)}
    return [token for token in added if token.id in lost]
