"""What a post-processor puts around a text, for formats that have a switch for BOS and one for EOS."""

from __future__ import annotations

from typing import NamedTuple

from hf_bpe.errors import ConversionError
from hf_bpe.special_tokens import around
from hf_bpe.vocabulary import Vocabulary


class Ends(NamedTuple):
    """The tokens before and behind a text; None where there is none."""

    bos_token: str | None
    eos_token: str | None

    def roles(self) -> dict[str, str]:
        """Return the roles that these tokens play."""
        return {role: token for role, token in self._asdict().items() if token is not None}


def ends(vocabulary: Vocabulary, target: str) -> Ends:
    """Return the tokens that encoding puts around a text. A vocabulary that names no BOS has the one that it adds.

    Raises:
        ConversionError: It adds others than its BOS and EOS, which `target` has no switch for.
    """
    text = [vocabulary.core.max_id + 1]
    ids = around(vocabulary.core, text).ids
    place = ids.index(text[0])
    return Ends(
        _end(vocabulary, target, "bos_token", ids[:place]), _end(vocabulary, target, "eos_token", ids[place + 1 :])
    )


def _end(vocabulary: Vocabulary, target: str, role: str, ids: list[int]) -> str | None:
    tokens = vocabulary.core.ids_to_tokens(ids)
    if not tokens:
        return None
    known = vocabulary.special_tokens.get(role, tokens[0])
    if tokens != [known]:
        raise ConversionError(
            f"{target} can't hold this vocabulary: post_processor adds {tokens!r}, such a file at most its {role} "
            f"({known!r}). The text '' would change."
        )
    return tokens[0]
