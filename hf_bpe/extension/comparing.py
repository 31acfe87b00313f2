"""What an extension does to texts: how many tokens they take, and which of them are joined or cut anew."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from hf_bpe._native import Tokenizer
from hf_bpe.characters import script_of
from hf_bpe.extension.report import ChangedLine, NewToken, Saving

_BATCH = 5_000


class Comparison:
    """Encodes texts with the old and the new vocabulary, and keeps what differs.

    Args:
        old: The old vocabulary.
        new: The new one.
        added: What the new one has more.
        id_map: The new id of each old one that is still there; None where each stayed.
        max_lines: How many changed texts to keep; None for all.

    Attributes:
        read: How many texts were encoded.
        changed: How many take other tokens.
        lines: The changed texts that are kept, those first that were cut anew.
        seen: The new ids that texts gave.
    """

    def __init__(
        self,
        old: Tokenizer,
        new: Tokenizer,
        added: Sequence[NewToken] = (),
        *,
        max_lines: int | None,
        id_map: Mapping[int, int] | None = None,
    ) -> None:
        self._old, self._new = old, new
        self._parts = {token.id: token.parts for token in added}
        self._max_lines = max_lines
        self._id_map = id_map
        self.read = self.changed = 0
        self.seen: set[int] = set()
        self._joined: list[ChangedLine] = []
        self._cut: list[ChangedLine] = []

    @property
    def lines(self) -> list[ChangedLine]:
        """The changed texts that are kept."""
        return [*self._cut, *self._joined][: self._max_lines]

    def by_script(self, texts: Iterable[str]) -> dict[str, Saving]:
        """Return what texts save, by the script of each; the script with the most tokens first."""
        savings: dict[str, Saving] = defaultdict(Saving)
        for text, saving in self._each(texts):
            if saving.before:
                savings[script_of(text)] += saving
        return dict(sorted(savings.items(), key=lambda item: -item[1].before))

    def by_name(self, texts: Mapping[str, Iterable[str]]) -> dict[str, Saving]:
        """Return what named texts save."""
        return {name: self.all(group) for name, group in texts.items()}

    def all(self, texts: Iterable[str]) -> Saving:
        """Return what texts save together."""
        return sum((saving for _, saving in self._each(texts)), Saving())

    def _each(self, texts: Iterable[str]) -> Iterator[tuple[str, Saving]]:
        rest = iter(texts)
        while batch := list(islice(rest, _BATCH)):
            before, after = (core.encode_ids_batch(batch, add_special_tokens=False) for core in (self._old, self._new))
            for text, old, new in zip(batch, before, after, strict=True):
                self.read += 1
                self.seen.update(new)
                if self._now(old) != new:
                    self._keep(text, old, new)
                yield text, Saving(1, len(old), len(new))

    def _now(self, old: list[int]) -> list[int]:
        """Return old ids as they are now; what was dropped is no id."""
        return old if self._id_map is None else [self._id_map.get(token_id, -1) for token_id in old]

    def _keep(self, text: str, old: list[int], new: list[int]) -> None:
        self.changed += 1
        coarser = [part for token in new for part in self._parts.get(token, (token,))] == old
        kept = self._joined if coarser else self._cut
        if self._max_lines is None or len(kept) < self._max_lines:
            kept.append(ChangedLine(text, shown(self._old, old), shown(self._new, new), coarser))


def shown(core: Tokenizer, ids: Iterable[int]) -> list[str]:
    r"""Return tokens as a person reads them: text, and bytes that are no characters as escapes such as `\xe5`."""
    return [core.get_token_bytes(token_id).decode("utf-8", "backslashreplace") for token_id in ids]
