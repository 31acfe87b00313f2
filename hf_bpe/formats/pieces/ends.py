"""What a post-processor puts around a text, as the two switches that other formats have for it."""

from __future__ import annotations

from hf_bpe.errors import ConversionError
from hf_bpe.special_tokens import around
from hf_bpe.vocabulary import Vocabulary


def ends(vocabulary: Vocabulary, target: str) -> tuple[bool, bool]:
    """Return whether BOS stands before and EOS behind a text.

    Raises:
        ConversionError: Other tokens do, which `target` has no switch for.
    """
    core = vocabulary.core
    text = [vocabulary.core.max_id + 1]
    ids = around(core, text).ids
    place = ids.index(text[0])
    added: list[bool] = []
    for role, found in (("bos_token", ids[:place]), ("eos_token", ids[place + 1 :])):
        token = vocabulary.special_tokens.get(role)
        if found and (not isinstance(token, str) or found != [core.token_to_id(token)]):
            tokens = core.ids_to_tokens(found)
            raise ConversionError(
                f"{target} can't hold this vocabulary: post_processor adds {tokens!r}, such a file at most its {role} "
                f"({token!r}). The text '' would change."
            )
        added.append(bool(found))
    return added[0], added[1]
