"""Added tokens as llama.cpp finds them: the longest first, wherever it stands, some with the spaces beside them.

Which ones take spaces isn't in the file: llama.cpp knows that of a few models, by their names.

`tokenizer.json` goes from left to right and takes the longest token that begins at a place. The two agree unless the
end of one token is the beginning of a longer one (or of one as long, whose turn llama.cpp leaves to chance): then
`a<b` and `<bc>` share a text that each cuts in its own way, and the vocabulary is refused with it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from hf_bpe.errors import ConversionError

_JINA = ("jina-v2-de", "jina-v2-es", "jina-v2-code")
_PHI_3 = ("phi-3", "phi3")
_PHI_3_BARE = {"<unk>", "<s>", "<|endoftext|>"}


def check_overlaps(tokens: Iterable[str], where: str) -> None:
    """Raise if llama.cpp and a tokenizer.json find these added tokens in different places of some text.

    Args:
        tokens: The added tokens.
        where: The file, or what the vocabulary is to become, for the error.

    Raises:
        ConversionError: The message names two tokens and the shortest text that they share.
    """
    texts = ((first + second[shared:], first, second) for first, second, shared in _overlaps(set(tokens)))
    found = min((text for text in texts if _differ(*text)), key=lambda found: (len(found[0]), found), default=None)
    if found is not None:
        text, first, second = found
        raise ConversionError(
            f"{where}: added tokens {first!r} and {second!r} overlap. llama.cpp finds the longer one first, and a "
            f"tokenizer.json the one that begins first. The text {text!r} would change."
        )


def stripping(name: str, pre: str, tokens: Iterable[str]) -> dict[str, str]:
    """Return the added tokens that take the spaces beside them, each with the flag that says on which side.

    Args:
        name: What `general.name` says.
        pre: The name of the pre-tokenizer.
        tokens: The added tokens.
    """
    if any(known in pre for known in _JINA):
        flags = {"<mask>": "lstrip"}
    elif any(known in name.lower() for known in _PHI_3):
        flags = dict.fromkeys(set(tokens) - _PHI_3_BARE, "rstrip")
    elif "modern-bert" in name.lower():
        flags = {"[MASK]": "lstrip"}
    else:
        return {}
    return {token: flag for token, flag in flags.items() if token in set(tokens)}


def _overlaps(tokens: set[str]) -> Iterator[tuple[str, str, int]]:
    """Yield pairs of which the first ends with what the second begins with, and how long that is.

    Runs of one character are left out: from left to right or the longest first, they are cut alike.
    """
    ends = {token[at:] for token in tokens for at in range(1, len(token))}
    beginning: dict[str, list[str]] = defaultdict(list)
    for token in tokens:
        for size in range(1, len(token)):
            if token[:size] in ends:
                beginning[token[:size]].append(token)
    for first in tokens:
        for at in range(1, len(first)):
            for second in beginning.get(first[at:], ()):
                if first != second and len(set(first + second)) > 1:
                    yield first, second, len(first) - at


def _differ(text: str, first: str, second: str) -> bool:
    """Whether the second token, which begins inside the first, is found before it although a text has both."""
    begins_longer = text.startswith(second) and len(second) > len(first)
    return len(second.encode()) >= len(first.encode()) and not begins_longer
