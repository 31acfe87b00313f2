"""Random pipelines: a `tokenizer.json` of any of the supported components, and texts that provoke it."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from hostile import random_texts

from hf_bpe.byte_alphabet import bytes_to_token
from hf_bpe.split_patterns import SPLIT_PATTERNS

Json = dict[str, Any]

BEHAVIORS = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")
_PATTERNS = [
    *({"Regex": pattern} for pattern in SPLIT_PATTERNS.values()),
    *(
        {"Regex": pattern}
        for pattern in (r"\s+", r"\s+(?!\S)|\s", r"[a-z]", r"\p{L}|\p{N}+", r"(?=a)", "Ġ|Ċ", "Ã.", "x*")
    ),
    *({"String": text} for text in (" ", "a", "the", "\n", "Ġ", "ÃĹ", "  ", "")),
]
_NAKED = ("Whitespace", "WhitespaceSplit", "BertPreTokenizer", "UnicodeScripts")
# Contents that overlap, touch white space or word characters, change when normalized, or are tokens of the model.
_CONTENTS = [
    *("<a>", "<a", "a>", "<a><b>", "<b>", "><", "<|x|>", "<|x", " ", "  ", "\n", "\t", " a", "a ", " a "),
    *("the", "th", "ab", "a", "A", "'s", "12", "_", "語", "漢字", "🙂", "e\u0301", "ﬁ", "fi", "Ⅷ", "Å", "㌔x"),
    *("\u1112\u1161", "\u0301", "\u200b", "\ufeff", "\ufffd", "Ġ", "Ġthe", "Ċ", "<unk>", "\u00a0", "½ ", "² "),
]


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A file and texts for it."""

    json: Json
    texts: list[str]


def random_pipeline(seed: int) -> Pipeline:
    """Return the pipeline of `seed`."""
    rng = random.Random(seed)
    model = _model(rng)
    added = _added_tokens(rng, len(model["vocab"]), model["vocab"])
    specials = {token["content"]: token["id"] for token in added} or dict([next(iter(model["vocab"].items()))])
    data = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": _normalizer(rng),
        "pre_tokenizer": _pre_tokenizer(rng),
        "post_processor": _post_processor(rng, specials),
        "decoder": rng.choice((_byte_level(rng), _byte_level(rng), None)),
        "model": model,
    }
    return Pipeline(data, _texts(rng, [token["content"] for token in added]))


def _flag(rng: random.Random) -> bool:
    return rng.random() < 0.5


def _model(rng: random.Random) -> Json:
    units = [bytes_to_token(bytes([byte])) for byte in range(256)]
    complete = rng.random() < 0.6
    if not complete:
        units = [unit for unit in units if rng.random() < 0.85]
    unk = rng.choice((None, None, "<unk>")) if not complete else rng.choice((None, None, None, "<unk>"))
    vocab = dict.fromkeys(units)
    merges = _merges(rng, units, vocab)
    if unk is not None and rng.random() < 0.9:
        vocab[unk] = None
    for word in ("Ġthe", "the", "ab", "Ġ12", "èªŀ"):  # tokens that no merge makes: for ignore_merges
        if rng.random() < 0.5:
            vocab[word] = None
    tokens = list(vocab)
    if _flag(rng):
        rng.shuffle(tokens)
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": unk,
        "continuing_subword_prefix": rng.choice((None, None, "")),
        "end_of_word_suffix": rng.choice((None, None, "")),
        "fuse_unk": _flag(rng),
        "byte_fallback": rng.random() < 0.1,
        "ignore_merges": _flag(rng),
        "vocab": {token: index for index, token in enumerate(tokens)},
        "merges": [list(pair) for pair in merges] if _flag(rng) else [" ".join(pair) for pair in merges],
    }


def _merges(rng: random.Random, units: list[str], vocab: Json) -> list[tuple[str, str]]:
    """Return merges that texts use; half of the time in an order that no training gives."""
    known = set(units)
    rows = [[unit for unit in bytes_to_token(text.encode()) if unit in known] for text in _texts(rng, [])]
    merges: dict[tuple[str, str], None] = {}
    for _ in range(rng.choice((0, 5, 80, 80))):
        row = rng.choice(rows)
        if len(row) < 2:
            continue
        at = rng.randrange(len(row) - 1)
        left, right = row[at : at + 2]
        merges[left, right] = vocab[left + right] = None
        row[at : at + 2] = [left + right]
    ordered = list(merges)
    if _flag(rng):
        rng.shuffle(ordered)
    return ordered + ordered[: rng.choice((0, 0, 3))]


def _added_tokens(rng: random.Random, size: int, vocab: Json) -> list[Json]:
    contents = rng.sample(_CONTENTS, rng.randrange(0, 9))
    if _flag(rng):
        contents.append(rng.choice([token for token in vocab if token.isascii()]))
    tokens: list[Json] = []
    for content in dict.fromkeys(contents):
        new = content not in vocab
        tokens.append({"id": size if new else vocab[content], "content": content})
        tokens[-1] |= {
            name: rng.random() < 0.4 for name in ("single_word", "lstrip", "rstrip", "normalized", "special")
        }
        size += new
    return tokens


def _normalizer(rng: random.Random, depth: int = 0) -> Json | None:
    kind = rng.choice((None, None, "NFC", "NFD", "NFKC", "NFKD", "Sequence"))
    if kind is None and depth == 0:
        return None
    if kind != "Sequence" or depth == 2:
        return {"type": kind if kind in ("NFC", "NFD", "NFKD") else "NFKC"}
    steps = [_normalizer(rng, depth + 1) for _ in range(rng.randrange(0, 3))]
    return {"type": "Sequence", "normalizers": steps}


def _byte_level(rng: random.Random) -> Json:
    return {"type": "ByteLevel", **{name: _flag(rng) for name in ("add_prefix_space", "trim_offsets", "use_regex")}}


def _split(rng: random.Random) -> Json:
    return {"type": "Split", "pattern": rng.choice(_PATTERNS), "behavior": rng.choice(BEHAVIORS), "invert": _flag(rng)}


def _digits(rng: random.Random) -> Json:
    return {"type": "Digits", "individual_digits": _flag(rng)}


def _other(rng: random.Random) -> Json:
    kind = rng.choice(("Metaspace", "Metaspace", "Punctuation", "CharDelimiterSplit", "FixedLength", *_NAKED))
    fields: dict[str, Json] = {
        "Metaspace": {
            "replacement": rng.choice("▁▁Ġ_"),
            "prepend_scheme": rng.choice(("always", "first", "never")),
            "split": _flag(rng),
        },
        "Punctuation": {"behavior": rng.choice(BEHAVIORS)},
        "CharDelimiterSplit": {"delimiter": rng.choice(" \naĠ語")},
        "FixedLength": {"length": rng.randrange(1, 6)},
    }
    return {"type": kind} | fields.get(kind, {})


def _pre_tokenizer(rng: random.Random) -> Json:
    shape = rng.random()
    if shape < 0.25:
        return _byte_level(rng)
    if shape < 0.6:
        last = _byte_level(rng) | {"use_regex": rng.random() < 0.2}
        steps = [rng.choice((_split, _split, _digits))(rng) for _ in range(rng.randrange(0, 3))] + [last]
    else:
        makers = [rng.choice((_split, _other, _digits, _byte_level)) for _ in range(rng.randrange(0, 4))]
        if rng.random() < 0.8:
            makers.insert(rng.randrange(len(makers) + 1), _byte_level)
        steps = [make(rng) for make in makers]
        if rng.random() < 0.2:
            steps = [{"type": "Sequence", "pretokenizers": steps}]
    return {"type": "Sequence", "pretokenizers": steps}


def _post_processor(rng: random.Random, specials: dict[str, int], depth: int = 0) -> Json | None:
    kind = rng.choice((None, "ByteLevel", "ByteLevel", "TemplateProcessing", "TemplateProcessing", "Sequence"))
    if kind == "ByteLevel":
        return _byte_level(rng)
    if kind == "TemplateProcessing":
        return _template(rng, specials)
    if kind == "Sequence" and depth < 2:
        steps = [_post_processor(rng, specials, depth + 1) for _ in range(rng.randrange(0, 3))]
        return {"type": "Sequence", "processors": [step for step in steps if step is not None]}
    return None if depth == 0 else _byte_level(rng)


def _template(rng: random.Random, specials: dict[str, int]) -> Json:
    names = rng.sample(sorted(specials), min(len(specials), 2))

    def pieces(*sequences: str) -> list[Json]:
        items: list[Json] = [{"Sequence": {"id": id, "type_id": rng.randrange(3)}} for id in sequences]
        for _ in range(rng.randrange(3)):
            special = {"SpecialToken": {"id": rng.choice(names), "type_id": rng.randrange(3)}}
            items.insert(rng.randrange(len(items) + 1), special)
        return items

    pair = ("B", "A") if rng.random() < 0.15 else ("A", "B")
    table = {name: {"id": name, "ids": [specials[name]], "tokens": [name]} for name in names}
    return {"type": "TemplateProcessing", "single": pieces("A"), "pair": pieces(*pair), "special_tokens": table}


def _texts(rng: random.Random, contents: list[str]) -> list[str]:
    texts = random_texts(12, seed=rng.randrange(1 << 30), tokens=contents)
    around = ["", " ", "  ", "a", "\n ", "\u3000", "1", ".", "e\u0301", "语", "_", "\u0301", *contents]
    for _ in range(8 if contents else 0):
        texts.append("".join(rng.choice(around) + rng.choice(contents) for _ in range(rng.randrange(1, 6))))
    return ["", *texts]
