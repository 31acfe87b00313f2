"""What a tokenizer call may be given as text: one text, a pair, words, or a batch of these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_EXPECTED = (
    "text input must be of type `str` (one text), `list[str]` (a batch, or the words of one text with "
    "is_split_into_words=True), `list[tuple[str, str]]` (a batch of pairs) or lists of words in their place"
)


def holds_ids(text: Any) -> bool:
    """Whether `text` is a list of ids: the one input that upstream's Python tokenizers take and the fast ones don't."""
    return isinstance(text, (list, tuple)) and bool(text) and isinstance(text[0], int)


def as_batch(text: Any, text_pair: Any, *, is_split_into_words: bool) -> tuple[Sequence[Any], bool]:
    """Return the inputs for the core, and whether the call was a batch.

    A text is a str or a list of words; a pair is a tuple of two texts. An empty second text counts as none, as stock.

    Raises:
        TypeError: An item isn't a text, or a batch has one str as its second texts.
        ValueError: The input as a whole has another shape, or there are more first than second texts.
    """
    for given in (text, text_pair):
        if given is not None and not _is_text_input(given):
            raise ValueError(f"{_EXPECTED}, got {type(given).__name__}.")
    if is_split_into_words:
        is_batched = isinstance(text, (list, tuple)) and bool(text) and isinstance(text[0], (list, tuple))
    else:
        is_batched = isinstance(text, (list, tuple))
    if is_batched:
        items = text if text_pair is None else _zip(text, text_pair)
    else:
        items = [(text, text_pair)] if text_pair else [text]
    if is_split_into_words:
        return [_words_or_pair(item, index) for index, item in enumerate(items)], is_batched
    if all(type(item) is str for item in items):
        return items, is_batched
    return [_text_or_pair(item, index) for index, item in enumerate(items)], is_batched


def _is_text_input(text: Any) -> bool:
    """Whether the outermost first item is a str, down to three levels of lists (a batch of pairs of words)."""
    for _ in range(4):
        if isinstance(text, str):
            return True
        if not isinstance(text, (list, tuple)):
            return False
        if not text:
            return True
        text = text[0]
    return False


def _zip(texts: Sequence[Any], pairs: Any) -> list[tuple[Any, Any]]:
    if isinstance(pairs, str):
        raise TypeError("for a batch of texts, `text_pair` must be a list or tuple of the same length, got a str.")
    if len(texts) != len(pairs):
        raise ValueError(f"`text` has {len(texts)} items and `text_pair` has {len(pairs)}: each text needs its pair.")
    return list(zip(texts, pairs, strict=True))


def _text_or_pair(item: Any, index: int) -> str | tuple[str, str]:
    if isinstance(item, str):
        return item
    if isinstance(item, (list, tuple)) and len(item) == 2 and all(isinstance(text, str) for text in item):
        return (item[0], item[1])
    raise TypeError(f"item {index} of the batch must be a str or a pair of str, got {item!r:.200}.")


def _words_or_pair(item: Any, index: int) -> list[str] | tuple[list[str], list[str]]:
    if _are_words(item):
        return list(item)
    if isinstance(item, (list, tuple)) and len(item) == 2 and all(_are_words(text) for text in item):
        return (list(item[0]), list(item[1]))
    raise TypeError(f"item {index} must be a list of words or a pair of such lists, got {item!r:.200}.")


def _are_words(item: Any) -> bool:
    return isinstance(item, (list, tuple)) and all(isinstance(word, str) for word in item)


def refuse_surrogates(items: Sequence[Any]) -> None:
    """Raise upstream's TypeError for a text that isn't valid Unicode, as its chat templates do when they tokenize.

    A note under it says what upstream's words don't.
    """
    for item in items:
        try:
            if isinstance(item, str):
                item.encode()
        except UnicodeEncodeError as error:
            refused = TypeError("TextEncodeInput must be Union[TextInputSequence, Tuple[InputSequence, InputSequence]]")
            refused.add_note(f"The chat holds the lone surrogate {item[error.start]!r}, which no text can.")
            raise refused from error
