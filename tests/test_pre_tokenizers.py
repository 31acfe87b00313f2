"""Every pre-tokenizer, alone and in random sequences, equals the stock library: pieces, offsets and words.

The model knows single characters only, so that tokens show the characters of a piece and words show the pieces.
`HF_BPE_FUZZ` is the number of random sequences (300 by default), `HF_BPE_FUZZ_SEED` the first of them: a failure
names its seed.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import tokenizers
from hostile import HOSTILE, random_texts
from parity import excerpt

from hf_bpe import TokenizerFileError, UnsupportedComponentError
from hf_bpe._native import Counter as PretokenCounter
from hf_bpe._native import Tokenizer
from hf_bpe.byte_alphabet import token_to_bytes

SEQUENCES = int(os.environ.get("HF_BPE_FUZZ", "300"))
FIRST = int(os.environ.get("HF_BPE_FUZZ_SEED", "0"))
STEP = 25
TEXTS = 8

Json = dict[str, Any]

BEHAVIORS = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")
SCHEMES = ("always", "first", "never")
PLAIN: list[Json] = [
    *({"type": kind} for kind in ("Whitespace", "WhitespaceSplit", "BertPreTokenizer", "UnicodeScripts")),
    *({"type": "Punctuation", "behavior": behavior} for behavior in BEHAVIORS),
    {"type": "Punctuation"},
    *({"type": "CharDelimiterSplit", "delimiter": char} for char in ("-", " ", "\n", "語", "🙂", "▁", "\x00")),
    *({"type": "FixedLength", "length": length} for length in (1, 2, 3, 7, 2**64 - 1)),
    {"type": "FixedLength"},
    *({"type": "Digits", "individual_digits": each} for each in (True, False)),
]
CHANGING: list[Json] = [
    *(
        {"type": "Metaspace", "replacement": char, "prepend_scheme": scheme, "split": split}
        for char in ("▁", "_", " ", "a", "🙂")
        for scheme in SCHEMES
        for split in (True, False)
    ),
    *(
        {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": regex}
        for prefix in (True, False)
        for regex in (True, False)
    ),
]
SPLITS: list[Json] = [
    {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}
    for pattern in ({"Regex": r"\s+"}, {"Regex": "Ġ|Ã."}, {"Regex": r"\p{L}+"}, {"String": " "}, {"String": "▁"})
    for behavior in BEHAVIORS
    for invert in (True, False)
]
NORMALIZERS: list[Json | None] = [None, {"type": "NFC"}, {"type": "NFKD"}, {"type": "NFKC"}]
MARKER = "<|x|>"


def name_of(value: Any) -> str:
    """Return a test's name for a component."""
    return json.dumps(value, ensure_ascii=True)


class Both:
    """A tokenizer of single characters with this pre-tokenizer, in both libraries."""

    def __init__(self, pre_tokenizer: Any, *, normalizer: Json | None = None) -> None:
        """Load it."""
        characters = {chr(code): None for code in (*range(0x20, 0x180), 0x2581, 0x8A9E, 0x1F642)}
        vocab = {token: index for index, token in enumerate(("<unk>", *characters))}
        marker = {"id": len(vocab), "content": MARKER, "special": True, "normalized": False}
        flags = {"single_word": False, "lstrip": False, "rstrip": False}
        data = {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [marker | flags],
            "normalizer": normalizer,
            "pre_tokenizer": pre_tokenizer,
            "post_processor": None,
            "decoder": None,
            "model": {"type": "BPE", "unk_token": "<unk>", "vocab": vocab, "merges": []},
        }
        self.stock = tokenizers.Tokenizer.from_str(json.dumps(data))
        self.ours = Tokenizer.from_json(self.stock.to_str())

    def assert_same(self, text: str) -> None:
        """Assert that both give the same pieces and the same places for `text`."""
        stock, ours = self.stock.encode(text), self.ours.encode(text)
        for field in ("ids", "tokens", "offsets", "word_ids"):
            assert getattr(ours, field) == getattr(stock, field), f"{field} of {excerpt(text)}"
        assert self.ours.encode_ids(text) == stock.ids, f"ids alone of {excerpt(text)}"

    def pieces(self, text: str) -> list[tuple[int, int]]:
        """Return where our pieces of `text` begin and end."""
        spans: dict[int, tuple[int, int]] = {}
        encoding = self.ours.encode(text)
        for word, (start, end) in zip(encoding.word_ids, encoding.offsets, strict=True):
            spans[word] = (spans.get(word, (start, end))[0], end)
        return list(spans.values())


def texts(seed: int) -> Iterator[str]:
    """Return hostile texts with added tokens and visible spaces in them."""
    tokens = [MARKER, "▁", "▁▁", " ▁ ", "  "]
    yield from random_texts(TEXTS, seed=seed, tokens=tokens)


@pytest.mark.parametrize("pre_tokenizer", [*PLAIN, *CHANGING], ids=name_of)
def test_each_pre_tokenizer_equals_stock_on_hostile_text(pre_tokenizer: Json) -> None:
    both = Both(pre_tokenizer)

    for text in HOSTILE.values():
        both.assert_same(text[:3000])
    for text in random_texts(60, seed=5, tokens=[MARKER, "▁", " ▁ "]):
        both.assert_same(text)


def random_sequence(seed: int) -> tuple[Json, Json | None]:
    """Return a sequence of up to four pre-tokenizers, and a normalizer before it."""
    rng = random.Random(seed)
    kinds = [rng.choice((PLAIN, PLAIN, CHANGING, SPLITS)) for _ in range(rng.randrange(5))]
    members: list[Json] = [rng.choice(kind) for kind in kinds]
    if len(members) > 2 and rng.random() < 0.3:
        members = [{"type": "Sequence", "pretokenizers": members[:2]}, *members[2:]]
    return {"type": "Sequence", "pretokenizers": members}, rng.choice(NORMALIZERS)


@pytest.mark.parametrize("first", range(FIRST, FIRST + SEQUENCES, STEP))
def test_random_sequences_equal_stock(first: int) -> None:
    for seed in range(first, min(first + STEP, FIRST + SEQUENCES)):
        pre_tokenizer, normalizer = random_sequence(seed)
        both = Both(pre_tokenizer, normalizer=normalizer)
        for text in texts(seed):
            try:
                both.assert_same(text)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}, {name_of(pre_tokenizer)} after {normalizer}: {error}") from error


def trained_on(both: Both, text: str) -> Counter[bytes]:
    """Return the pretokens that training counts in `text`."""
    counter = PretokenCounter(both.ours)
    counter.count([text])
    return Counter(dict(counter.counts()))


@pytest.mark.parametrize("first", range(FIRST, FIRST + SEQUENCES, STEP))
def test_training_counts_the_pieces_of_stock(first: int) -> None:
    for seed in range(first, min(first + STEP, FIRST + SEQUENCES)):
        pre_tokenizer, _ = random_sequence(seed)
        both = Both(pre_tokenizer)
        changing = [step["type"] for step in steps_of(pre_tokenizer) if step["type"] in ("ByteLevel", "Metaspace")]
        in_bytes = changing[-1:] == ["ByteLevel"]
        for text in texts(seed):
            pieces = [piece for piece, _ in both.stock.pre_tokenizer.pre_tokenize_str(text)]
            written = (token_to_bytes(piece) if in_bytes else piece.encode() for piece in pieces)
            assert trained_on(both, text) == Counter(written), f"seed {seed}, {excerpt(text)}"


def steps_of(component: Json) -> list[Json]:
    """Return the members of a sequence, however deep they are nested."""
    if component["type"] != "Sequence":
        return [component]
    return [step for member in component["pretokenizers"] for step in steps_of(member)]


def test_training_takes_characters_of_the_byte_alphabet_as_characters() -> None:
    both = Both({"type": "WhitespaceSplit"})

    assert trained_on(both, "Ġa é") == {"Ġa".encode(): 1, "é".encode(): 1}


def test_training_knows_what_came_from_the_start_of_the_original() -> None:
    steps = [{"type": "FixedLength", "length": 1}, {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first"}]
    both = Both({"type": "Sequence", "pretokenizers": steps}, normalizer={"type": "NFKD"})
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=100, show_progress=False)

    both.stock.train_from_iterator(["ﬁx"], trainer)

    assert set(both.stock.get_vocab()) - {MARKER} == {"▁", "f", "i", "x", "▁f", "▁i"}
    assert trained_on(both, "ﬁx") == {"▁f".encode(): 1, "▁i".encode(): 1, b"x": 1}


def blocks_of_all_characters(between: str) -> Iterator[str]:
    """Return all code points in order, with `between` between them, in blocks."""
    characters = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    for start in range(0, len(characters), 1 << 15):
        yield between.join(characters[start : start + (1 << 15)])


@pytest.mark.parametrize("kind", ["Whitespace", "WhitespaceSplit", "Punctuation", "BertPreTokenizer", "Digits"])
def test_every_code_point_has_the_class_that_stock_gives_it(kind: str) -> None:
    make: Callable[[], Any] = getattr(tokenizers.pre_tokenizers, kind)
    stock = make()
    both = Both({"type": kind, "individual_digits": False})

    for between in ("a", "!") if kind == "Whitespace" else ("a",):
        for text in blocks_of_all_characters(between):
            assert both.pieces(text) == [span for _, span in stock.pre_tokenize_str(text)]


def test_every_code_point_has_the_script_that_stock_gives_it() -> None:
    stock = tokenizers.pre_tokenizers.UnicodeScripts()
    both = Both({"type": "UnicodeScripts"})

    for between in ("", "a", "1", "語", "\u0301"):
        for text in blocks_of_all_characters(between):
            assert both.pieces(text) == [span for _, span in stock.pre_tokenize_str(text)]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("text", ["a b", f"{MARKER}a b", f" {MARKER} a{MARKER}b", "", " ", "▁a", "e\u0301 a"])
def test_the_start_of_the_original_text_tells_which_piece_is_first(scheme: str, text: str) -> None:
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme}
    for normalizer in NORMALIZERS:
        for before in ([], [{"type": "WhitespaceSplit"}], [{"type": "FixedLength", "length": 1}]):
            Both({"type": "Sequence", "pretokenizers": [*before, metaspace]}, normalizer=normalizer).assert_same(text)


def with_fields(kind: str, /, **fields: Any) -> Json:
    """Return a component."""
    return {"type": kind, **fields}


ACCEPTED = [
    with_fields("Metaspace", replacement="_"),
    with_fields("Metaspace", replacement="_", add_prefix_space=True),
    with_fields("Metaspace", replacement="_", add_prefix_space=True, prepend_scheme="never"),
    with_fields("Metaspace", replacement="_", add_prefix_space=False, prepend_scheme="never"),
    with_fields("Metaspace", replacement="_", add_prefix_space=None, str_rep=None, split=None),
    with_fields("Metaspace", replacement="_", str_rep="other", extra=1, split=False),
    with_fields("Whitespace", extra=1),
    with_fields("CharDelimiterSplit", delimiter="é", extra=1),
    with_fields("FixedLength"),
    with_fields("Punctuation", extra=1),
]


@pytest.mark.parametrize("pre_tokenizer", ACCEPTED, ids=name_of)
def test_older_and_longer_spellings_are_read_as_stock_reads_them(pre_tokenizer: Json) -> None:
    both = Both(pre_tokenizer)
    both.ours = Tokenizer.from_json(json.dumps(json.loads(both.stock.to_str()) | {"pre_tokenizer": pre_tokenizer}))

    for text in ("a b_c-d", " a", "_é!é 12"):
        both.assert_same(text)


REFUSED = {
    name_of(component): (component, message)
    for component, message in (
        (with_fields("Metaspace"), "pre_tokenizer lacks 'replacement'"),
        (with_fields("Metaspace", replacement=""), 'replacement should be a string of one character, found ""'),
        (with_fields("Metaspace", replacement="ab"), 'replacement should be a string of one character, found "ab"'),
        (with_fields("Metaspace", replacement=None), "replacement should be a string of one character, found null"),
        (
            with_fields("Metaspace", replacement="_", prepend_scheme="Always"),
            "pre_tokenizer.prepend_scheme should be 'always', 'first' or 'never', found 'Always'",
        ),
        (
            with_fields("Metaspace", replacement="_", prepend_scheme=None),
            "pre_tokenizer.prepend_scheme should be a string, found null",
        ),
        (
            with_fields("Metaspace", replacement="_", add_prefix_space=False),
            "pre_tokenizer.add_prefix_space is false, but prepend_scheme is 'always' ('always' where it is absent); "
            "make it 'never', or remove add_prefix_space",
        ),
        (
            with_fields("Metaspace", replacement="_", add_prefix_space=False, prepend_scheme="first"),
            "pre_tokenizer.add_prefix_space is false, but prepend_scheme is 'first'",
        ),
        (with_fields("Metaspace", replacement="_", add_prefix_space=1), "add_prefix_space should be a boolean"),
        (with_fields("Metaspace", replacement="_", split=1), "pre_tokenizer.split should be a boolean, found 1"),
        (with_fields("Metaspace", replacement="_", str_rep=1), "pre_tokenizer.str_rep should be a string, found 1"),
        (with_fields("Punctuation", behavior="isolated"), "pre_tokenizer.behavior should be 'Removed', 'Isolated', "),
        (with_fields("Punctuation", behavior=None), "pre_tokenizer.behavior should be a string, found null"),
        (with_fields("CharDelimiterSplit"), "pre_tokenizer lacks 'delimiter'"),
        (with_fields("CharDelimiterSplit", delimiter=""), 'delimiter should be a string of one character, found ""'),
        (with_fields("CharDelimiterSplit", delimiter="ab"), "delimiter should be a string of one character"),
        (with_fields("CharDelimiterSplit", delimiter=1), "delimiter should be a string of one character, found 1"),
        (
            with_fields("Delimiter", delimiter="-"),
            "pre_tokenizer.type should be 'CharDelimiterSplit', found 'Delimiter'",
        ),
        (with_fields("FixedLength", length=-1), "pre_tokenizer.length should be a whole number from 1 up, found -1"),
        (with_fields("FixedLength", length=2.0), "pre_tokenizer.length should be a whole number from 1 up, found 2.0"),
        (with_fields("FixedLength", length=None), "length should be a whole number from 1 up, found null"),
        (
            with_fields("Sequence", pretokenizers=[with_fields("Whitespace"), with_fields("CharDelimiterSplit")]),
            "pre_tokenizer.pretokenizers[1] lacks 'delimiter'",
        ),
    )
}


@pytest.mark.parametrize(("component", "message"), REFUSED.values(), ids=REFUSED)
def test_what_stock_refuses_is_refused_with_its_place(component: Json, message: str) -> None:
    data = json.loads(Both(None).stock.to_str()) | {"pre_tokenizer": component}

    with pytest.raises(Exception, match=r"."):
        tokenizers.Tokenizer.from_str(json.dumps(data))
    with pytest.raises(TokenizerFileError) as caught:
        Tokenizer.from_json(json.dumps(data))
    assert message in str(caught.value)


def test_a_length_of_nothing_is_refused_where_stock_panics() -> None:
    data = json.loads(Both(None).stock.to_str()) | {"pre_tokenizer": with_fields("FixedLength", length=0)}

    with pytest.raises(BaseException, match="chunk size must be non-zero"):
        tokenizers.Tokenizer.from_str(json.dumps(data)).encode("a")
    with pytest.raises(TokenizerFileError, match=r"pre_tokenizer\.length should be a whole number from 1 up, found 0"):
        Tokenizer.from_json(json.dumps(data))


def test_an_unknown_kind_is_refused_with_what_is_supported() -> None:
    data = json.loads(Both(None).stock.to_str()) | {"pre_tokenizer": with_fields("SyllableSplit")}

    with pytest.raises(UnsupportedComponentError, match=r"pre_tokenizer has type 'SyllableSplit'.*'WhitespaceSplit'"):
        Tokenizer.from_json(json.dumps(data))


BYTE_LEVEL = with_fields("ByteLevel", add_prefix_space=False, trim_offsets=True, use_regex=True)
SPACES = with_fields("Split", pattern={"Regex": r"\s+"}, behavior="Isolated", invert=False)
DIGITS = with_fields("Split", pattern={"Regex": "[0-9][0-9][0-9]"}, behavior="Isolated", invert=False)


def test_a_split_after_byte_level_equals_stock_and_warns() -> None:
    both = Both(with_fields("Sequence", pretokenizers=[BYTE_LEVEL, SPACES]))

    both.assert_same("at all, é")
    assert both.ours.warnings() == [
        "pre_tokenizer.pretokenizers[1]: this 'Split' comes after a 'ByteLevel', so it sees the byte alphabet, where a "
        "space is 'Ġ' and 'é' is 'Ã©'; put it before the 'ByteLevel' to cut the text itself"
    ]


@pytest.mark.parametrize(
    "member", [*PLAIN[:4], CHANGING[0], with_fields("CharDelimiterSplit", delimiter=" ")], ids=name_of
)
def test_whatever_looks_for_hidden_characters_after_byte_level_warns(member: Json) -> None:
    inner = with_fields("Sequence", pretokenizers=[BYTE_LEVEL, member])
    both = Both(with_fields("Sequence", pretokenizers=[DIGITS, inner]))

    (warning,) = both.ours.warnings()
    assert warning.startswith(f"pre_tokenizer.pretokenizers[1].pretokenizers[1]: this '{member['type']}' comes after")


def test_what_the_byte_alphabet_leaves_as_it_is_warns_of_nothing() -> None:
    shown = [with_fields("Punctuation"), BYTE_LEVEL, with_fields("Digits", individual_digits=False), DIGITS]

    assert Both(with_fields("Sequence", pretokenizers=shown)).ours.warnings() == []
    assert Both(with_fields("Sequence", pretokenizers=[SPACES, BYTE_LEVEL])).ours.warnings() == []
