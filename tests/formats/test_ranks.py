"""Whether a merge list equals a rank file: the verdict against brute force."""

from __future__ import annotations

import json
import random
import time
from itertools import pairwise, product
from typing import Any

import pytest
from vocabularies import installed, merges_of_ranks, read_ranks

from hf_bpe import ConversionError
from hf_bpe.byte_alphabet import bytes_to_token, token_to_bytes
from hf_bpe.formats.rank_files import proven_ranks
from hf_bpe.linting import lint
from hf_bpe.vocabulary import Vocabulary

BYTES = {bytes([byte]): byte for byte in range(256)}
TEXTS = [bytes(text) for length in range(1, 8) for text in product(b"abc", repeat=length)]


def by_ranks(text: bytes, ranks: dict[bytes, int]) -> list[int]:
    """Merge any two neighbours that are a token, the lowest rank first, leftmost on ties: a rank file, slowly."""
    parts = [text[at : at + 1] for at in range(len(text))]
    while True:
        found = [(ranks[a + b], at) for at, (a, b) in enumerate(pairwise(parts)) if a + b in ranks]
        if not found:
            return [ranks[part] for part in parts]
        _, at = min(found)
        parts[at : at + 2] = [parts[at] + parts[at + 1]]


def with_merges(tokens: list[bytes], merges: list[tuple[bytes, bytes]]) -> Vocabulary:
    """Return the vocabulary of the 256 bytes, `tokens` behind them, and a merge list."""
    ranks = BYTES | {token: 256 + at for at, token in enumerate(tokens)}
    data: dict[str, Any] = json.loads(Vocabulary.from_ranks(ranks, split_pattern="(?:.|\n)+").core.to_json())
    data["model"] |= {"merges": [list(map(bytes_to_token, pair)) for pair in merges], "ignore_merges": False}
    return Vocabulary.from_json(data)


def random_table(rng: random.Random) -> tuple[list[bytes], list[tuple[bytes, bytes]]]:
    """Return tokens over a, b, c, and merges that make them: in order, or shuffled, with splits left out or not."""
    tokens: list[bytes] = []
    merges = []
    for _ in range(rng.randrange(1, 7)):
        left, right = (rng.choice([b"a", b"b", b"c", *tokens]) for _ in range(2))
        if left + right not in tokens and len(left + right) <= 5:
            tokens.append(left + right)
        if (left, right) not in merges and left + right in tokens:
            merges.append((left, right))
    if rng.random() < 0.4:
        rng.shuffle(merges)
    if rng.random() < 0.3:
        rng.shuffle(tokens)
    return tokens, merges


@pytest.mark.parametrize("seed", range(300))
def test_the_verdict_is_that_of_all_short_texts(seed: int) -> None:
    tokens, merges = random_table(random.Random(seed))
    vocabulary = with_merges(tokens, merges)
    ranks = vocabulary.ranks()
    ids = vocabulary.core.encode_ids_batch([text.decode() for text in TEXTS])
    different = [text for text, row in zip(TEXTS, ids, strict=True) if row != by_ranks(text, ranks)]

    verdict, texts, dead = vocabulary.core.agreement_with_ranks()

    for text in texts:
        assert vocabulary.core.encode_bytes(text) != by_ranks(text, ranks)
    assert verdict == ("different" if texts else "equal")
    assert not different or len(texts[0]) == len(different[0])
    assert different or not texts or len(texts[0]) > len(TEXTS[-1])
    assert set(dead) == {token for token in tokens if vocabulary.core.encode_ids(token.decode()) != [ranks[token]]}


def test_a_large_table_with_another_way_to_a_token_is_unproved() -> None:
    more = [(bytes([first]), bytes([second])) for first in range(0x80, 0xA8) for second in range(0xB0, 0xE0)]
    tokens = [b"ab", b"bc", b"abc", *(first + second for first, second in more)]
    merges = [(b"b", b"c"), (b"a", b"bc"), (b"a", b"b"), *more]

    vocabulary = with_merges(tokens, merges)
    ranks = vocabulary.ranks()

    verdict, texts, _ = vocabulary.core.agreement_with_ranks()

    assert verdict == "unproved"
    assert not texts
    with pytest.raises(
        ConversionError, match=r"'abc' is joined of b'a' \+ b'bc', and by ranks of b'ab' \+ b'c', and none"
    ):
        proven_ranks(vocabulary, target="a file")
    (finding,) = (finding for finding in lint(vocabulary).findings if finding.kind == "ranks-unproved")
    assert finding.message.startswith("the token b'abc' is joined of b'a' + b'bc'")
    for text in TEXTS:
        assert vocabulary.core.encode_bytes(text) == by_ranks(text, ranks)


@pytest.mark.parametrize(
    ("tokens", "merges", "shortest"),
    [
        ([b"aca", b"ba", b"ca"], [(b"c", b"a"), (b"a", b"ca"), (b"b", b"a")], "baca"),
        (
            [b"aa", b"aaa", b"aaaa", b"ac"],
            [(b"a", b"aa"), (b"aa", b"a"), (b"a", b"a"), (b"aaa", b"a"), (b"a", b"c")],
            "aaaaa",
        ),
        (
            [b"ab", b"ca", b"bab", b"caca", b"cab"],
            [(b"ca", b"ca"), (b"c", b"a"), (b"a", b"b"), (b"ca", b"b"), (b"b", b"ab")],
            "cacab",
        ),
    ],
)
def test_a_text_is_found_where_a_large_table_is_neither_proved_nor_disproved(
    tokens: list[bytes], merges: list[tuple[bytes, bytes]], shortest: str
) -> None:
    more = [(bytes([first]), bytes([second])) for first in range(0x80, 0xA8) for second in range(0xB0, 0xE0)]
    vocabulary = with_merges([*tokens, *(first + second for first, second in more)], [*merges, *more])
    assert vocabulary.core.agreement_with_ranks()[0] == "unproved"
    ranks = vocabulary.ranks()
    different = next(text for text in TEXTS if vocabulary.core.encode_bytes(text) != by_ranks(text, ranks))

    with pytest.raises(
        ConversionError, match=rf"this merge list doesn't: '{shortest}' is \[.*\] and would become"
    ) as error:
        proven_ranks(vocabulary, target="a file")

    assert len(different) == len(shortest)
    assert str(by_ranks(shortest.encode(), ranks)) in str(error.value)
    (finding,) = (finding for finding in lint(vocabulary).findings if finding.kind == "ranks-differ")
    assert finding.text == shortest


def test_ranks_alone_recover_merges_that_agree() -> None:
    # https://github.com/gautierdag/bpeasy/issues/3: this table has no unique merge list.
    ranks = BYTES | {b"ab": 256, b"bc": 257, b"abc": 258}
    vocabulary = Vocabulary.from_ranks(ranks, split_pattern="(?:.|\n)+")

    assert vocabulary.merges == [("a", "b"), ("b", "c"), ("a", "bc"), ("ab", "c")]
    assert vocabulary.core.agreement_with_ranks()[0] == "equal"
    for text in TEXTS:
        assert vocabulary.core.encode_ids(text.decode()) == by_ranks(text, ranks)


def test_llama_3_has_the_merges_of_upstream_within_a_second() -> None:
    path = installed("llama_models", "llama3", "tokenizer.model")
    if path is None:
        pytest.skip("llama-models isn't installed")
    ranks = read_ranks(path)
    start = time.perf_counter()

    vocabulary = Vocabulary.from_ranks(ranks, split_pattern="llama3")

    assert time.perf_counter() - start < 5  # 0.9 s on a machine of two busy cores
    merges = [(token_to_bytes(left), token_to_bytes(right)) for left, right in vocabulary.merges]
    assert len(merges) == 280_147
    keys = [(ranks[left + right], ranks[left], ranks[right]) for left, right in merges]
    assert keys == sorted(keys)
    assert set(merges) >= set(merges_of_ranks({token: rank for token, rank in ranks.items() if rank < 3_000}))
