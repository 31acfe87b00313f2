"""Write post_processing.jsonl: what stock `tokenizers` does after the model, on random small cases.

Run `python tests/vectors/make_post_processing.py`; the same cases come out every time. The first line names the library
and holds the vocabulary. Each later line is a case: encodings as the model leaves them, the settings, and the encoding
that comes out (or the error). `native/tests/post_processing.rs` reads the file.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import Encoding, Tokenizer, models, pre_tokenizers

TOKENS = ["Ġ", "a", "b", "Ã", "©", "ab", "Ġa", "ĠĠ", "ĠĠĠĠ", "aĠ", "<s>", "</s>"]
MERGES = [("a", "b"), ("Ġ", "a"), ("Ġ", "Ġ"), ("ĠĠ", "ĠĠ")]
VOCAB = {token: id for id, token in enumerate(TOKENS)}
# `<x>` is two ids, and one of them isn't what the vocabulary calls it.
SPECIALS = {
    "<s>": {"id": "<s>", "ids": [10], "tokens": ["<s>"]},
    "</s>": {"id": "</s>", "ids": [11], "tokens": ["</s>"]},
    "<x>": {"id": "<x>", "ids": [10, 4], "tokens": ["<s>", "<else>"]},
}
STRATEGIES = ["longest_first", "only_first", "only_second"]
SIDES = ["right", "left"]


def piece(name: str, type_id: int) -> dict[str, Any]:
    """A piece of a template: a text, 'A' or 'B', or a special token."""
    return {"Sequence" if name in "AB" else "SpecialToken": {"id": name, "type_id": type_id}}


def template(single: str, pair: str, type_ids: list[int]) -> dict[str, Any]:
    """A TemplateProcessing whose types repeat `type_ids`."""
    pieces = [
        [piece(name, type_ids[at % len(type_ids)]) for at, name in enumerate(names.split())] for names in (single, pair)
    ]
    return {
        "type": "TemplateProcessing",
        "single": pieces[0],
        "pair": pieces[1],
        "special_tokens": SPECIALS,
    }


def byte_level(*, trim: bool, prefix: bool) -> dict[str, Any]:
    """A ByteLevel post-processor."""
    return {
        "type": "ByteLevel",
        "add_prefix_space": prefix,
        "trim_offsets": trim,
        "use_regex": True,
    }


def sequence(*steps: dict[str, Any]) -> dict[str, Any]:
    """Several post-processors in a row."""
    return {"type": "Sequence", "processors": list(steps)}


TEMPLATES = [
    template("<s> A", "<s> A <s> B", [0, 0, 1, 1]),
    template("<s> A </s>", "<s> A </s> B </s>", [0, 0, 0, 1, 1]),
    template("A <x>", "B <x> A", [3, 2]),
    template("A", "A B", [0, 1]),
    template("A <s> A", "B A <x> A", [0, 4]),
    template("", "B", [5]),
]
PROCESSORS = [
    None,
    byte_level(trim=True, prefix=True),
    byte_level(trim=True, prefix=False),
    byte_level(trim=False, prefix=False),
    *TEMPLATES,
    sequence(),
    sequence(byte_level(trim=True, prefix=True), TEMPLATES[0]),
    sequence(byte_level(trim=True, prefix=False), TEMPLATES[1]),
    sequence(TEMPLATES[0], byte_level(trim=True, prefix=False)),
    sequence(TEMPLATES[3], TEMPLATES[1]),
    sequence(TEMPLATES[0], TEMPLATES[0]),
]


def tokenizer(*, prefix: bool) -> Tokenizer:
    """The tokenizer that makes the encodings."""
    made = Tokenizer(models.BPE(vocab=VOCAB, merges=MERGES))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    return made


def columns(encoding: Encoding) -> list[Any]:
    """The ids, offsets and words of `encoding`, as the model leaves them."""
    return [encoding.ids, encoding.offsets, encoding.word_ids]


def dump(encoding: Encoding) -> list[Any]:
    """All that an encoding holds."""
    return [
        encoding.ids,
        " ".join(encoding.tokens),
        encoding.type_ids,
        encoding.offsets,
        encoding.word_ids,
        encoding.special_tokens_mask,
        encoding.attention_mask,
        encoding.sequence_ids,
        encoding.n_sequences,
        [dump(window) for window in encoding.overflowing],
    ]


def lookups(encoding: Encoding) -> list[Any]:
    """The answers of `encoding` about each token, character and word, and about some that aren't there."""
    tokens = range(len(encoding) + 2)
    places = [(at, sequence) for at in range(8) for sequence in range(3)]
    return [
        [
            [
                encoding.token_to_sequence(at),
                encoding.token_to_chars(at),
                encoding.token_to_word(at),
            ]
            for at in tokens
        ],
        [[encoding.char_to_token(at, seq), encoding.char_to_word(at, seq)] for at, seq in places],
        [[encoding.word_to_tokens(at, seq), encoding.word_to_chars(at, seq)] for at, seq in places],
    ]


def random_text(chance: random.Random) -> str:
    """A text of a few tokens, with spaces where they hurt."""
    return "".join(chance.choice("aab  é") for _ in range(chance.choice([0, 1, 3, 6, 9])))


def encode_case(chance: random.Random) -> dict[str, Any]:
    """One text or pair through truncation, a post-processor and padding."""
    made = tokenizer(prefix=chance.random() < 0.5)
    texts = [random_text(chance) for _ in range(chance.choice([1, 2]))]
    case: dict[str, Any] = {
        "texts": [columns(made.encode(text)) for text in texts],
        "processor": chance.randrange(len(PROCESSORS)),
        "add_special_tokens": chance.random() < 0.8,
    }
    if chance.random() < 0.7:
        length = chance.choice([0, 1, 2, 3, 4, 5, 6, 8])
        stride = chance.choice([0, 0, 1, 2])
        case["truncation"] = [
            length,
            stride,
            chance.choice(STRATEGIES),
            chance.choice(SIDES),
        ]
    case |= run(made, texts, case)
    if "out" in case and chance.random() < 0.2:
        case["pad"] = [
            chance.choice([0, 3, 9]),
            7,
            chance.choice([0, 2]),
            "<pad>",
            chance.choice(SIDES),
        ]
    return finish(case)


def run(made: Tokenizer, texts: list[str], case: dict[str, Any]) -> dict[str, Any]:
    """What stock answers. Its panics, and a length that wraps around, are the error '' here."""
    special = case["add_special_tokens"]
    try:
        if not special:  # Stock takes special tokens off the length here even when none are added.
            truncate(made, case)
        made = with_processor(made, PROCESSORS[case["processor"]])
        if special:
            truncate(made, case)
            if case.get("truncation", [99])[0] < made.num_special_tokens_to_add(len(texts) == 2):
                return {"error": ""}
        return {
            "out": made.encode(
                texts[0],
                texts[1] if len(texts) == 2 else None,
                add_special_tokens=special,
            )
        }
    except Exception as error:
        return {"error": str(error)}
    except BaseException:
        return {"error": ""}


def truncate(made: Tokenizer, case: dict[str, Any]) -> None:
    """Set the truncation of `case`."""
    if "truncation" in case:
        length, stride, strategy, side = case["truncation"]
        made.enable_truncation(length, stride=stride, strategy=strategy, direction=side)


def with_processor(made: Tokenizer, processor: dict[str, Any] | None) -> Tokenizer:
    """The same tokenizer with this post-processor."""
    return Tokenizer.from_str(json.dumps({**json.loads(made.to_str()), "post_processor": processor}))


def finish(case: dict[str, Any]) -> dict[str, Any]:
    """Pad and dump the encoding of `case`."""
    if isinstance(case.get("out"), Encoding):
        out = case["out"]
        if "pad" in case:
            length, id, type_id, token, side = case["pad"]
            out.pad(length, pad_id=id, pad_type_id=type_id, pad_token=token, direction=side)
        # Sequences that overlap are searched in no order by stock.
        if case.get("processor", 0) < len(PROCESSORS) - 3 and len(out) < 5:
            case["lookups"] = lookups(out)
        case["out"] = dump(out)
    return case


def merge_case(chance: random.Random) -> dict[str, Any]:
    """Cut encodings in a row."""
    parts = []
    cut = []
    for _ in range(chance.choice([1, 2, 2, 3])):
        encoding = tokenizer(prefix=False).encode(random_text(chance)[:5])
        part: dict[str, Any] = {"text": columns(encoding)}
        if chance.random() < 0.6:
            length = chance.choice([0, 1, 2, 3])
            part["truncate"] = [
                length,
                chance.randrange(max(length, 1)),
                chance.choice(SIDES),
            ]
            length, stride, side = part["truncate"]
            encoding.truncate(length, stride=stride, direction=side)
        if chance.random() < 0.6:
            part["sequence"] = chance.randrange(3)
            encoding.set_sequence_id(part["sequence"])
        parts.append(part)
        cut.append(encoding)
    growing = chance.random() < 0.5
    return finish(
        {
            "merge": parts,
            "growing_offsets": growing,
            "out": Encoding.merge(cut, growing_offsets=growing),
        }
    )


def short_lines(count: int, make: Callable[[], dict[str, Any]]) -> Iterator[str]:
    """Lines of `count` cases; windows of windows of windows are left to shorter texts."""
    while count:
        line = json.dumps(make(), ensure_ascii=False, separators=(",", ":"))
        if len(line) < 1500:
            count -= 1
            yield line


def main() -> None:
    """Write the file beside this script."""
    chance = random.Random(2)
    head = {
        "library": f"tokenizers {tokenizers.__version__}",
        "tokens": TOKENS,
        "processors": PROCESSORS,
    }
    with Path(__file__).with_name("post_processing.jsonl").open("w", encoding="utf-8") as file:
        print(json.dumps(head, ensure_ascii=False), file=file)
        for line in chain(
            short_lines(260, partial(encode_case, chance)),
            short_lines(60, partial(merge_case, chance)),
        ):
            print(line, file=file)


if __name__ == "__main__":
    main()
