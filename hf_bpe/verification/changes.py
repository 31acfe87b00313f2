"""What changes for those who go from one vocabulary to another: ids, tokens, texts, and how many tokens texts take."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from hf_bpe.characters import script_of
from hf_bpe.vocabulary import Vocabulary

SAMPLES: Mapping[str, str] = {
    "Arabic": "يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق.",
    "Chinese": "人人生而自由，在尊严和权利上一律平等。",
    "English": "All human beings are born free and equal in dignity and rights.",
    "French": "Tous les êtres humains naissent libres et égaux en dignité et en droits.",
    "German": "Alle Menschen sind frei und gleich an Würde und Rechten geboren.",
    "Greek": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα.",
    "Hebrew": "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם.",
    "Hindi": "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है।",
    "Japanese": "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。",
    "Korean": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.",
    "Python": "def total(rows):\n    return sum(row.price * row.count for row in rows if row.count > 0)\n",
    "Russian": "Все люди рождаются свободными и равными в своем достоинстве и правах.",
    "Spanish": "Todos los seres humanos nacen libres e iguales en dignidad y derechos.",
    "Thai": "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ",
    "Turkish": "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar.",
    "Vietnamese": "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền.",
}
"""A sentence of each language, for whoever gives no corpus: the first of the Universal Declaration of Human Rights."""

_BATCH = 10_000
_EXAMPLES = 20


@dataclass(frozen=True)
class Counts:
    """How many tokens the texts of one language or script take."""

    texts: int = 0
    first: int = 0
    second: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.texts + other.texts, self.first + other.first, self.second + other.second)


@dataclass(frozen=True)
class Changes:
    """What differs between two vocabularies.

    Attributes:
        shared: How many tokens have the same id in both.
        moved: Tokens that both have, with both ids.
        appeared: Tokens that only the second has, with their ids.
        vanished: Tokens that only the first has, with their ids.
        texts: How many texts were encoded.
        changed: How many of these get other tokens.
        examples: Some of them, the shortest first: text, first tokens, second tokens.
        counts: How many tokens texts take, by language or script.
    """

    shared: int
    moved: Mapping[str, tuple[int, int]]
    appeared: Mapping[str, int]
    vanished: Mapping[str, int]
    texts: int
    changed: int
    examples: Sequence[tuple[str, list[str], list[str]]]
    counts: Mapping[str, Counts]

    @property
    def any(self) -> bool:
        """Whether anything differs."""
        return bool(self.moved or self.appeared or self.vanished or self.changed)

    def as_json(self) -> dict[str, Any]:
        """Return the changes as JSON."""
        counts = {name: vars(count) | {"saved": count.first - count.second} for name, count in self.counts.items()}
        return {
            "shared": self.shared,
            "moved": {token: list(ids) for token, ids in self.moved.items()},
            "appeared": dict(self.appeared),
            "vanished": dict(self.vanished),
            "texts": self.texts,
            "changed": self.changed,
            "examples": [{"text": text, "first": one, "second": other} for text, one, other in self.examples],
            "counts": counts,
        }


def changes_between(first: Vocabulary, second: Vocabulary, corpus: Iterable[str] | None = None) -> Changes:
    """Return what changes from one vocabulary to another.

    Args:
        first: The vocabulary that is left.
        second: The one that is gone to.
        corpus: Texts to encode with both, counted by their script. By default a sentence of each of some languages.
    """
    names = None if corpus is not None else list(SAMPLES)
    texts = iter(corpus if corpus is not None else SAMPLES.values())
    counts: dict[str, Counts] = defaultdict(Counts)
    total = changed = 0
    examples: list[tuple[str, list[str], list[str]]] = []
    while batch := list(islice(texts, _BATCH)):
        rows = zip(batch, _encode(first, batch), _encode(second, batch), strict=True)
        for place, (text, one, other) in enumerate(rows):
            counts[names[place] if names else script_of(text)] += Counts(1, len(one), len(other))
            spelled = first.core.ids_to_tokens(one), second.core.ids_to_tokens(other)
            if spelled[0] != spelled[1]:
                changed += 1
                examples.append((text, *spelled))  # type: ignore[arg-type]
        total += len(batch)
        examples = sorted(examples, key=lambda example: len(example[0]))[:_EXAMPLES]
    return Changes(**_tokens(first, second), texts=total, changed=changed, examples=examples, counts=dict(counts))


def _encode(vocabulary: Vocabulary, texts: Sequence[str]) -> list[list[int]]:
    return vocabulary.core.encode_ids_batch(texts, add_special_tokens=False)


def _tokens(first: Vocabulary, second: Vocabulary) -> dict[str, Any]:
    one, other = first.get_vocab(), second.get_vocab()
    both = one.keys() & other.keys()
    moved = sorted((token for token in both if one[token] != other[token]), key=one.__getitem__)
    return {
        "shared": len(both) - len(moved),
        "moved": {token: (one[token], other[token]) for token in moved},
        "appeared": {token: other[token] for token in sorted(other.keys() - both, key=other.__getitem__)},
        "vanished": {token: one[token] for token in sorted(one.keys() - both, key=one.__getitem__)},
    }
