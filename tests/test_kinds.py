"""The kinds of `tokenizer.json` that are in use, each with a small vocabulary, equal stock in everything.

A kind is a way to combine components; each is named for the models that brought it.
"""

from __future__ import annotations

import functools
import json
from typing import Any

import pytest
from hostile import HOSTILE, random_texts
from parity import Pair
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from hf_bpe.split_patterns import SPLIT_PATTERNS

Json = dict[str, Any]

CORPUS = [
    "The quick brown fox doesn't jump over 12345 lazy dogs; it's used to them, isn't it?",
    "naïve café — “quotes” … 漢字かな交じり文、テスト。 Привет, мир! 안녕하세요 세계 🙂👩‍👧",
    "def f(x):\n    return {'a': [1, 2.5]}  # HTTP/1.1 200 OK\n\n\n\tpass\r\n",
    "[INST] <<SYS>> User: Hello\n\nAssistant: hello   hello </s>",
] * 3
SPECIALS = ["<unk>", "<s>", "</s>", "<pad>"]


def sequence(kind: str, *steps: Json) -> Json:
    """Return a Sequence of a kind of components."""
    names = {"normalizer": "normalizers", "pre_tokenizer": "pretokenizers", "decoder": "decoders"}
    return {"type": "Sequence", names.get(kind, "processors"): list(steps)}


def replace(pattern: Json, content: str) -> Json:
    """Return a Replace."""
    return {"type": "Replace", "pattern": pattern, "content": content}


def split(pattern: Json, behavior: str, *, invert: bool = False) -> Json:
    """Return a Split."""
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}


def byte_level(*, use_regex: bool, add_prefix_space: bool = False, trim_offsets: bool = True) -> Json:
    """Return a ByteLevel."""
    flags = {"add_prefix_space": add_prefix_space, "trim_offsets": trim_offsets, "use_regex": use_regex}
    return {"type": "ByteLevel", **flags}


def template(single: str, pair: str) -> Json:
    """Return a TemplateProcessing from the words that stock's constructor takes."""

    def piece(word: str) -> Json:
        name, _, type_id = word.partition(":")
        kind = "Sequence" if name in "$A$B" else "SpecialToken"
        return {kind: {"id": name.removeprefix("$"), "type_id": int(type_id or 0)}}

    table = {name: {"id": name, "ids": [SPECIALS.index(name)], "tokens": [name]} for name in SPECIALS[1:3]}
    rows = [[piece(word) for word in text.split()] for text in (single, pair)]
    return {"type": "TemplateProcessing", "single": rows[0], "pair": rows[1], "special_tokens": table}


def token(id: int, content: str, **flags: bool) -> Json:
    """Return an added token."""
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {"id": id, "content": content, **plain, **flags}


@functools.cache
def model(kind: str) -> str:
    """Return a model that stock trains on `CORPUS`, as JSON: of `bytes`, or of `characters` with byte fallback."""
    tokenizer = Tokenizer(models.BPE())
    alphabet, specials = pre_tokenizers.ByteLevel.alphabet(), SPECIALS
    if kind == "bytes":
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    else:
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        alphabet, specials = [], [*SPECIALS, *(f"<0x{byte:02X}>" for byte in range(256))]
    limit = {} if alphabet else {"limit_alphabet": 60}
    trainer = trainers.BpeTrainer(
        vocab_size=700, special_tokens=specials, initial_alphabet=alphabet, show_progress=False, **limit
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    made: Json = json.loads(tokenizer.to_str())["model"]
    return json.dumps(made)


def file(kind: str, settings: Json, added: list[Json] | None = None, **components: Json | None) -> Json:
    """Return a whole file around a model."""
    parts: Json = dict.fromkeys(("truncation", "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder"))
    specials = [token(id, content) for id, content in enumerate(SPECIALS)]
    made = json.loads(model(kind)) | settings
    ids = dict(made["vocab"])
    for item in added or []:
        ids.setdefault(item["content"], len(ids))
    extra = [item | {"id": ids[item["content"]]} for item in added or []]
    return {"version": "1.0", "added_tokens": specials + extra, **parts, **components, "model": made}


PIECES = {"unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True}
SPACES = replace({"String": " "}, "▁")
TEXT = replace({"String": "▁"}, " ")
FALLBACK: tuple[Json, ...] = ({"type": "ByteFallback"}, {"type": "Fuse"})
STRIP: Json = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
PREPEND: Json = {"type": "Prepend", "prepend": "▁"}
BOS = template("<s> $A", "<s> $A <s>:1 $B:1")

KINDS: dict[str, Json] = {
    "Llama 2, legacy": file(
        "characters",
        PIECES,
        normalizer=sequence("normalizer", PREPEND, SPACES),
        post_processor=BOS,
        decoder=sequence("decoder", TEXT, *FALLBACK, STRIP),
    ),
    "Llama 2 with today's Metaspace": file(
        "characters",
        PIECES,
        pre_tokenizer={"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": False},
        post_processor=BOS,
        decoder=sequence("decoder", TEXT, *FALLBACK, STRIP),
    ),
    "Gemma": file(
        "characters",
        PIECES,
        [
            *(token(0, text) for text in ("<start_of_turn>", "<end_of_turn>")),
            *(token(0, "\n" * n, special=False) for n in (2, 3)),
            *(token(0, "▁" * n, special=False) for n in (2, 3, 4)),
            *(token(0, text, special=False) for text in ("<h1>", "</h1>")),
        ],
        normalizer=SPACES,
        pre_tokenizer=split({"String": " "}, "MergedWithPrevious"),
        post_processor=template("<s> $A", "<s> $A <s> $B"),
        decoder=sequence("decoder", TEXT, *FALLBACK),
    ),
    "InternLM": file(
        "characters",
        PIECES,
        [token(0, "<|im_start|>"), token(0, "<|im_end|>"), token(0, "<eoa>", lstrip=True, rstrip=True)],
        normalizer=sequence("normalizer", PREPEND, SPACES),
        post_processor=BOS,
        decoder=sequence("decoder", TEXT, *FALLBACK, STRIP),
    ),
    "Baichuan": file(
        "characters",
        PIECES,
        [token(0, f"<reserved_{id}>", special=False, normalized=True) for id in range(106, 110)],
        normalizer=SPACES,
        decoder=sequence("decoder", TEXT, *FALLBACK),
    ),
    "ChatGLM": file(
        "bytes",
        {"ignore_merges": False},
        [token(0, text) for text in ("[gMASK]", "<sop>", "<|user|>", "<|assistant|>")],
        pre_tokenizer=sequence(
            "pre_tokenizer", split({"Regex": SPLIT_PATTERNS["cl100k"]}, "Isolated"), byte_level(use_regex=False)
        ),
        post_processor=byte_level(use_regex=True, trim_offsets=False),
        decoder=byte_level(use_regex=True),
    ),
    "Claude": file(
        "bytes",
        {},
        [token(0, "<EOT>"), token(0, "<META>"), token(0, "<META_START>")],
        normalizer={"type": "NFKC"},
        pre_tokenizer=byte_level(use_regex=True),
        post_processor=byte_level(use_regex=True),
        decoder=byte_level(use_regex=True),
    ),
    "Mistral Nemo": file(
        "bytes",
        {"ignore_merges": True},
        [token(0, text) for text in ("[INST]", "[/INST]", "[AVAILABLE_TOOLS]")],
        pre_tokenizer=sequence(
            "pre_tokenizer",
            split(
                {
                    "Regex": r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
                    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
                    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
                },
                "Isolated",
            ),
            byte_level(use_regex=False),
        ),
        post_processor=template("<s> $A", "<s> $A $B:1"),
        decoder=byte_level(use_regex=True),
    ),
    "Phi-3": file(
        "characters",
        PIECES,
        [token(0, text, rstrip=True) for text in ("<|assistant|>", "<|user|>", "<|end|>")],
        normalizer=sequence("normalizer", PREPEND, SPACES),
        post_processor=template("$A", "$A $B:1"),
        decoder=sequence("decoder", TEXT, *FALLBACK, STRIP),
    ),
    "Yi": file(
        "characters",
        PIECES | {"fuse_unk": False},
        normalizer=sequence("normalizer", SPACES),
        post_processor=template("$A", "$A $B:1"),
        decoder=sequence("decoder", TEXT, *FALLBACK),
    ),
    "RoBERTa": file(
        "bytes",
        {},
        [token(0, "<mask>", lstrip=True)],
        pre_tokenizer=byte_level(use_regex=True),
        post_processor={
            **{"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 1]},
            **{"trim_offsets": True, "add_prefix_space": False},
        },
        decoder=byte_level(use_regex=True),
    ),
    "Falcon": file(
        "bytes",
        {},
        [token(0, ">>TITLE<<"), token(0, ">>COMMENT<<")],
        pre_tokenizer=sequence(
            "pre_tokenizer",
            {"type": "Punctuation", "behavior": "Contiguous"},
            byte_level(use_regex=True),
            {"type": "Digits", "individual_digits": False},
            split({"Regex": "[0-9][0-9][0-9]"}, "Isolated"),
        ),
        post_processor=byte_level(use_regex=True, trim_offsets=False),
        decoder=byte_level(use_regex=True),
    ),
    "StarCoder": file(
        "bytes",
        {},
        [token(0, "<fim_prefix>"), token(0, "<fim_middle>")],
        pre_tokenizer=sequence(
            "pre_tokenizer", {"type": "Digits", "individual_digits": True}, byte_level(use_regex=True)
        ),
        decoder=byte_level(use_regex=True),
    ),
    "BERT-like with BPE": file(
        "characters",
        {"unk_token": "<unk>", "byte_fallback": False},
        normalizer={
            **{"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True},
            **{"strip_accents": None, "lowercase": True},
        },
        pre_tokenizer={"type": "BertPreTokenizer"},
        post_processor={"type": "BertProcessing", "sep": ["</s>", 2], "cls": ["<s>", 1]},
        decoder={"type": "BPEDecoder", "suffix": "</w>"},
    ),
}

each_kind = pytest.mark.parametrize("kind", KINDS)


@functools.lru_cache(maxsize=2)
def pair_of(kind: str) -> Pair:
    return Pair(json.dumps(KINDS[kind]))


def texts_of(pair: Pair) -> list[str]:
    """Return hostile texts, the corpus, and texts with the added tokens."""
    contents = pair.added_tokens()
    short = [text for text in HOSTILE.values() if len(text) < 2_000]
    joined = ["".join(f"{around}{content}{around}x" for content in contents) for around in ("", " ", "\n", "▁", "a ")]
    return [*short, *CORPUS[:4], *joined, "x" * 3_000, *random_texts(400, seed=7, tokens=contents)]


@each_kind
def test_everything_that_an_encoding_says_equals_stock(kind: str) -> None:
    pair = pair_of(kind)

    pair.assert_equal(texts_of(pair))
    pair.assert_equal(texts_of(pair), add_special_tokens=False)


@each_kind
def test_pairs_equal_stock(kind: str) -> None:
    pair = pair_of(kind)
    texts = texts_of(pair)[-200:]
    rows = list(zip(texts, reversed(texts), strict=True))

    for got, expected in zip(pair.ours.encode_batch(rows), pair.stock.encode_batch(rows), strict=True):
        for field in ("ids", "tokens", "offsets", "word_ids", "type_ids", "sequence_ids", "special_tokens_mask"):
            assert getattr(got, field) == getattr(expected, field)


@each_kind
def test_ids_in_any_order_decode_as_in_stock(kind: str) -> None:
    pair = pair_of(kind)
    size = pair.ours.max_id + 3
    rows = [[(start * 7919 + step * step) % size for step in range(1 + start % 9)] for start in range(1_000)]

    for skip in (True, False):
        assert pair.ours.decode_batch(rows, skip_special_tokens=skip) == pair.stock.decode_batch(
            rows, skip_special_tokens=skip
        )


@each_kind
def test_most_kinds_give_texts_back(kind: str) -> None:
    """A kind whose vocabulary holds every byte, and whose normalizer loses nothing, is lossless."""
    pair = pair_of(kind)
    if kind in ("Claude", "BERT-like with BPE"):
        return
    text = "The naïve fox — 漢字 🙂 didn't\n\tjump  over 12345 dogs."

    assert pair.ours.decode(pair.ours.encode_ids(text, add_special_tokens=False)) == text
