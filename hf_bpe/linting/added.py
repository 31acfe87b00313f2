"""Added tokens that hide each other, and special tokens that ordinary text spells."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

from hf_bpe.formats.rank_files import added_tokens
from hf_bpe.linting.report import Finding
from hf_bpe.vocabulary import Vocabulary

_MOST_OVERLAPS = 2_000
"""With more added tokens than this, only those that begin another one are looked for."""


def findings(vocabulary: Vocabulary) -> Iterator[Finding]:
    """Yield what is odd about added tokens."""
    added = added_tokens(vocabulary)
    yield from _hidden(vocabulary, added)
    yield from _overlapping(vocabulary, [token["content"] for _, token in added])
    yield from _spellable(vocabulary, added)


def _encode(vocabulary: Vocabulary, texts: Sequence[str], *, ordinary: bool = False) -> list[list[int]]:
    return vocabulary.core.encode_ids_batch(texts, add_special_tokens=False, split_special_tokens=ordinary)


def _hidden(vocabulary: Vocabulary, added: list[tuple[int, dict[str, Any]]]) -> Iterator[Finding]:
    contents = [token["content"] for _, token in added]
    for (token_id, token), ids in zip(added, _encode(vocabulary, contents), strict=True):
        if ids != [token_id]:
            content = token["content"]
            message = f"{token_id}, {content!r}: its own text is {ids[:12]}"
            yield Finding("hidden-added-token", message, id=token_id, token=content, text=content)


def _overlapping(vocabulary: Vocabulary, contents: list[str]) -> Iterator[Finding]:
    ids = {content: vocabulary.core.token_to_id(content) for content in contents}
    for short, long in _beginnings(sorted(ids)):
        message = f"{short!r} begins {long!r}: the longer one is found here, either of them elsewhere"
        yield Finding("overlapping-added-tokens", message, id=ids[long], token=long, text=long)
    if len(ids) > _MOST_OVERLAPS:
        return
    for first, second, text in _crossings(list(ids)):
        (row,) = _encode(vocabulary, [text])
        if ids[second] not in row:
            message = f"in {text!r} the token {first!r} hides {second!r}"
            yield Finding("overlapping-added-tokens", message, id=ids[second], token=second, text=text)


def _beginnings(contents: list[str]) -> Iterator[tuple[str, str]]:
    """Yield each token with the longest other one that it begins with, given sorted tokens."""
    open_ones: list[str] = []
    for content in contents:
        while open_ones and not content.startswith(open_ones[-1]):
            open_ones.pop()
        if open_ones:
            yield open_ones[-1], content
        open_ones.append(content)


def _crossings(contents: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield tokens of which the first ends as the second begins, and the text in which they share that part."""
    by_start: dict[str, list[str]] = {}
    for content in contents:
        for size in range(1, len(content)):
            by_start.setdefault(content[:size], []).append(content)
    for first in contents:
        for size in range(1, len(first)):
            for second in by_start.get(first[size:], ()):
                if second != first:
                    yield first, second, first[:size] + second


def _spellable(vocabulary: Vocabulary, added: list[tuple[int, dict[str, Any]]]) -> Iterator[Finding]:
    """Yield special tokens that merging or the normalizer makes of a text, or that people write without meaning one."""
    special = [(token_id, token) for token_id, token in added if token["special"]]
    rows = _encode(vocabulary, [token["content"] for _, token in special], ordinary=True)
    for (token_id, token), row in zip(special, rows, strict=True):
        content = token["content"]
        if token_id in row:
            message = f"{token_id}, {content!r}: the text gives it even where special tokens are ordinary text"
            yield Finding("spellable-special-token", message, id=token_id, token=content, text=content)
        elif is_plain(content):
            inside = "" if token["single_word"] else ", inside words too"
            message = f"{token_id}, {content!r}: people write that, and it is found wherever a text has it{inside}"
            yield Finding("spellable-special-token", message, id=token_id, token=content, text=content)
        elif token["normalized"] and (text := _other_spelling(vocabulary, token_id, content)) is not None:
            message = f"{token_id}, {content!r}: the normalizer makes it of {text!r}"
            yield Finding("spellable-special-token", message, id=token_id, token=content, text=text)


def is_plain(content: str) -> bool:
    """Whether a text would hold `content` that knows of no special tokens: words, numbers, white space, one sign.

    Example:
        >>> is_plain("the"), is_plain("!"), is_plain("<s>"), is_plain("[PAD]")
        (True, True, False, False)
    """
    if len(content) == 1:
        return unicodedata.category(content)[0] in "LMNPSZ" or content.isspace()
    return all(unicodedata.category(char)[0] in "LMNZ" or char.isspace() or char in "'’-_.,;:!?" for char in content)


def _other_spelling(vocabulary: Vocabulary, token_id: int, content: str) -> str | None:
    wide = "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in content)
    forms = [unicodedata.normalize(form, content) for form in ("NFC", "NFD", "NFKC", "NFKD")]
    texts = [text for text in (content.upper(), content.lower(), wide, *forms) if content not in text]
    rows = _encode(vocabulary, texts)
    return next((text for text, row in zip(texts, rows, strict=True) if token_id in row), None)
