"""`compare`: whether two tokenizers agree on ids and on decoded text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Literal

from tqdm.auto import tqdm

from hf_bpe.formats import arguments
from hf_bpe.verification import merge_orders, sides, texts
from hf_bpe.verification.hostile_texts import HOSTILE_TEXTS
from hf_bpe.verification.results import Agreement, Difference
from hf_bpe.verification.shrinking import shrink
from hf_bpe.verification.sides import Rows, Side

_BATCH = 10_000
_ROWS = 50_000


def compare(
    a: Any, b: Any, texts: Iterable[str] | None = None, *, sample: int | None = None, progress: bool | None = None
) -> Agreement | Difference:
    """Compare two tokenizers on hostile texts, tokens, their splits and pairs, added tokens, and texts of yours.

    Special tokens in a text are found where both can find them, and are ordinary text to both otherwise (SentencePiece
    and mistral-common never find them). What a template adds, such as BOS, is compared where both have templates.

    Args:
        a: A tokenizer of hf_bpe, `tokenizers`, `transformers` (a fast one), tiktoken, sentencepiece or mistral-common,
            a `Vocabulary`, or the path of a file or a directory of a format that hf_bpe reads.
        b: Another one.
        texts: Texts to compare on as well.
        sample: How many tokens, splits, pairs and added tokens are tried at most. None tries all.
        progress: Whether to show a bar on stderr. None shows one on a terminal.

    Returns:
        An `Agreement`, which is true, or a `Difference`, which is false and holds the shortest text found. Both
        print as a table.

    Raises:
        TypeError: `a` or `b` is no tokenizer that is known, or another argument has a wrong type.
        ConversionError: A file can't be read.

    Example:
        >>> print(compare(tokenizer, tiktoken.get_encoding("cl100k_base")))
        hf_bpe 0.1.0 and tiktoken 0.14.0 agree on 634,302 texts
    """
    texts, sample = arguments.some_texts(texts, "texts"), arguments.a_sample(sample)
    first, second = (sides.side_of(sides.read(tokenizer)) for tokenizer in (a, b))
    if isinstance(first, sides.Ours) and isinstance(second, sides.Ours) and first.core == second.core:
        return Agreement(f"{first.name} (first)", f"{second.name} (second)", identical=True)
    return _Comparison(first, second, progress).run(texts, sample)


class _Comparison:
    """One comparison of two tokenizers."""

    def __init__(self, first: Side, second: Side, progress: bool | None) -> None:
        self._first = first
        self._second = second
        if first.name == second.name:
            first.name, second.name = f"{first.name} (first)", f"{second.name} (second)"
        self._specials = first.finds_special_tokens and second.finds_special_tokens
        self._progress = progress

    def run(self, corpus: Iterable[str] | None, sample: int | None) -> Agreement | Difference:
        """Return what was found."""
        counts: dict[str, int] = {}
        disable = None if self._progress is None else not self._progress
        with tqdm(desc="Comparing", unit=" texts", disable=disable, leave=False) as bar:
            for group, members in self._groups(corpus, sample):
                for batch in _batches(members):
                    found = self._first_difference(group, batch)
                    if found is not None:
                        return found
                    bar.update(len(batch))
                counts[group] = len(members)
        for find in (self._difference_in_single_ids, self._difference_in_templates):
            if (found := find()) is not None:  # a difference is false
                return found
        return Agreement(self._first.name, self._second.name, counts)

    def _groups(self, corpus: Iterable[str] | None, sample: int | None) -> Iterator[tuple[str, list[str]]]:
        tokens = {*self._first.token_texts(), *self._second.token_texts()}
        added = [*self._first.added_tokens(), *self._second.added_tokens()]
        yield from texts.groups(tokens, added, corpus, sample)
        if rows := self._rows_of_merges(sample):
            yield "merges in another order", rows

    def _rows_of_merges(self, sample: int | None) -> list[str]:
        first, second = self._first.merges(), self._second.merges()
        if not (first and second) or first == second:
            return []
        found = self._first.texts_of(merge_orders.rows(first, second))
        return list(islice(found, _ROWS if sample is None else min(sample, _ROWS)))

    def _first_difference(self, group: str, batch: Sequence[str], *, template: bool = False) -> Difference | None:
        first, second = self._encode(batch, template=template)
        kind: Literal["ids", "text"] = "ids"
        if first == second:
            kind = "text"
            first, second = self._first.decode(first), self._second.decode(first)  # type: ignore[assignment]
            if first == second:
                return None
        different = [text for text, one, other in zip(batch, first, second, strict=True) if one != other]
        return self._shrunk(min(different, key=len), group, kind, template=template)

    def _encode(self, batch: Sequence[str], *, template: bool) -> tuple[Rows, Rows]:
        return (
            self._first.encode(batch, special_tokens=self._specials, template=template),
            self._second.encode(batch, special_tokens=self._specials, template=template),
        )

    def _shrunk(self, text: str, group: str, kind: Literal["ids", "text"], *, template: bool) -> Difference:
        def differ(shorter: str) -> bool:
            one, other = self._encode([shorter], template=template)
            return one != other if kind == "ids" else self._first.decode(one) != self._second.decode(one)

        text = shrink(text, differ)
        (first_ids,), (second_ids,) = self._encode([text], template=template)
        return self._difference(kind, group, text, first_ids, second_ids)

    def _difference(
        self, kind: Literal["ids", "text"], group: str, text: str, first_ids: list[int], second_ids: list[int]
    ) -> Difference:
        (first_text,), (second_text,) = self._first.decode([first_ids]), self._second.decode([second_ids])
        names = self._first.name, self._second.name
        return Difference(*names, kind, group, text, first_ids, second_ids, first_text, second_text)

    def _difference_in_single_ids(self) -> Difference | None:
        """Decode each id that both have alone, among them parts of characters, which no text consists of."""
        ids = sorted(self._first.ordinary_ids() & self._second.ordinary_ids())
        for batch in _batches(ids):
            rows = [[token_id] for token_id in batch]
            first, second = self._first.decode(rows), self._second.decode(rows)
            for row, one, other in zip(rows, first, second, strict=True):
                if one != other:
                    return self._difference("text", "single ids", "", row, row)
        return None

    def _difference_in_templates(self) -> Difference | None:
        if not (self._first.has_template and self._second.has_template):
            return None
        return self._first_difference("texts with a template", HOSTILE_TEXTS, template=True)


def _batches(items: list[Any]) -> Iterator[list[Any]]:
    return (items[start : start + _BATCH] for start in range(0, len(items), _BATCH))
