"""More mistakes that tokenizers of this field have made in public: with patterns, added tokens, offsets and decoding.

As in `test_known_bugs`, each test stands for a kind of fault and names the thread where it was reported.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from byte_level_json import BYTE_LEVEL, pretokens, tokenizer_json
from parity import Pair

import hf_bpe
from hf_bpe import HfBpeTokenizer
from hf_bpe._native import DecodeStream, Tokenizer
from hf_bpe.split_patterns import SPLIT_PATTERNS

# --- split patterns


def test_digits_are_grouped_as_the_pattern_of_the_file_says(tmp_path: Path) -> None:
    # https://github.com/ggml-org/llama.cpp/pull/6920
    groups = {
        "llama3": ["501", " ", "333", "333", "3", " ", "123", "456", "78"],
        "qwen2": [*"501", " ", *"3333333", " ", *"12345678"],
        "gpt2": ["501", " 3333333", " 12345678"],
    }
    for pattern, expected in groups.items():
        trained = hf_bpe.train(["1 2"], vocab_size=256, split_pattern=pattern, progress=False)
        trained.save_pretrained(tmp_path / pattern)
        core = Tokenizer.from_json((tmp_path / pattern / "tokenizer.json").read_text(encoding="utf-8"))
        assert pretokens(core, "501 3333333 12345678") == expected


def test_a_bare_byte_level_splits_by_the_pattern_of_gpt2() -> None:
    # https://github.com/JustVugg/colibri/pull/1656
    pair = Pair(tokenizer_json(pre_tokenizer=BYTE_LEVEL | {"use_regex": True}))

    assert pretokens(pair.ours, "x 4 (abc") == ["x", " 4", " (", "abc"]
    pair.assert_equal([" 4", "(abc", "x 4 (abc", "don't"])


def test_after_byte_level_a_space_is_a_letter_as_in_stock() -> None:
    # https://github.com/PythonNut/superbpe/issues/1
    split = {"type": "Split", "pattern": {"Regex": r"\s+"}, "behavior": "Isolated", "invert": False}
    steps = {"type": "Sequence", "pretokenizers": [BYTE_LEVEL, split]}
    pair = Pair(tokenizer_json(["Ġ a", "t Ġa"], pre_tokenizer=steps))

    assert pair.ours.encode("t a").tokens == ["tĠa"]
    pair.assert_equal(["at all", "t a", " t  a "])


@pytest.mark.parametrize("pattern", ["llama3", "o200k"])
def test_every_code_point_has_the_classes_that_stock_gives_it(pattern: str) -> None:
    # https://github.com/marcelroed/gigatoken/issues/35: Python's own `regex` has another version of Unicode.
    pair = Pair(tokenizer_json(split={"Regex": SPLIT_PATTERNS[pattern]}))
    planes = [range(0xD800), range(0xE000, 0x32000), range(0xE0000, 0xE0200), range(0x10FFF0, 0x110000)]

    for plane in planes:
        for start in range(plane.start, plane.stop, 4096):
            codes = range(start, min(start + 4096, plane.stop))
            text = "".join(f"a{chr(code)}B1{chr(code)} {chr(code)}." for code in codes)
            got, expected = pair.ours.encode(text).word_ids, pair.stock.encode(text).word_ids
            assert got == expected, f"between U+{codes.start:04X} and U+{codes.stop:04X}"


def test_posix_classes_hold_what_they_hold_in_stock() -> None:
    # https://github.com/huggingface/tokenizers.js/pull/35
    pair = Pair(tokenizer_json(split={"Regex": "[[:punct:]]"}))

    pair.assert_equal(["!+$|§©™😀", "a!b+c$d|e§f©g™h😀i-j_k«l»"])


# --- added tokens


def test_spaces_around_stripping_tokens_are_taken_as_stock_takes_them() -> None:
    # https://github.com/huggingface/transformers/issues/33371
    both = {"lstrip": True, "rstrip": True}
    left, right = {"content": "<|l|>", "lstrip": True}, {"content": "<|r|>", "rstrip": True}
    pair = Pair(tokenizer_json(added=[{"content": "<|a|>", **both}, {"content": "<|b|>", **both}, left, right]))

    encoding = pair.ours.encode("   <|a|> <|b|>   ")
    assert encoding.ids == [256, 257]
    pair.assert_equal(["   <|a|> <|b|>   ", "x <|l|> y <|r|> z", " <|r|> <|l|> <|a|>\n\t<|a|>", "<|r|>\u3000<|l|>"])


def test_no_space_is_put_around_a_special_token() -> None:
    # https://github.com/huggingface/transformers/issues/25814
    pair = Pair(tokenizer_json(added=[{"content": "<s>", "special": True}]))

    encoding = pair.ours.encode("a:<s>->")
    assert encoding.tokens == ["a", ":", "<s>", "-", ">"]
    assert pair.ours.decode(encoding.ids) == "a:<s>->"


def test_normalized_decides_in_which_text_a_token_is_found() -> None:
    # https://github.com/huggingface/tokenizers/issues/1027
    added = [{"content": "ﬁ", "normalized": True}, {"content": "Ⅷ", "normalized": False}]
    pair = Pair(tokenizer_json(added=added, normalizer={"type": "NFKC"}))

    assert [id for id in pair.ours.encode_ids("fi ﬁ Ⅷ VIII") if id > 255] == [256, 256, 257]
    pair.assert_equal(["fi ﬁ Ⅷ VIII", "eﬁn", "ⅧⅧ"])


def test_of_two_tokens_with_one_normal_form_the_lower_id_wins_always() -> None:
    # Stock chooses by the order of a hash map, another one each time that it loads.
    data = tokenizer_json(
        added=[{"content": "\u2126", "normalized": True}, {"content": "\u03a9", "normalized": True}],
        normalizer={"type": "NFC"},
    )

    for _ in range(20):
        assert Tokenizer.from_json(data).encode_ids("\u2126\u03a9") == [256, 256]


def test_ids_stay_unique_when_tokens_were_added_before_training(small_tokenizer_json: Path, tmp_path: Path) -> None:
    # https://github.com/huggingface/tokenizers/issues/1169
    (tmp_path / "tokenizer.json").write_bytes(small_tokenizer_json.read_bytes())
    tokenizer = HfBpeTokenizer.from_pretrained(tmp_path)
    tokenizer.add_tokens(["~ing"])

    trained = tokenizer.train_new_from_iterator(["singing ~ing"] * 9, 262, new_special_tokens=["<new>"])

    ids = list(trained.get_vocab().values())
    assert sorted(ids) == list(range(len(trained)))


# --- offsets and decoding


@pytest.mark.parametrize("real_vocabulary", ["gpt2"], indirect=True)
def test_each_part_of_a_split_character_carries_its_whole_span(real_vocabulary: Path) -> None:
    # https://github.com/huggingface/tokenizers/issues/156
    tokenizer = Pair.of_file(real_vocabulary).ours
    untrimmed = tokenizer.with_component("post_processor", None)

    assert untrimmed.encode("i ⭢ j").offsets == [(0, 1), (1, 3), (2, 3), (2, 3), (3, 5)]
    assert tokenizer.encode("i ⭢ j").offsets == [(0, 1), (2, 3), (2, 3), (2, 3), (4, 5)]


def test_a_stream_holds_half_a_character_and_replaces_only_what_cannot_become_one() -> None:
    # https://github.com/Blaizzy/mlx-vlm/issues/1665
    tokenizer = Tokenizer.from_json(tokenizer_json())
    ids = tokenizer.encode_bytes("🙂".encode() + b"\xff" + b" a" + b"\xe6\xbc")
    stream = DecodeStream(tokenizer)

    parts = [stream.step(id) for id in ids]

    assert parts[:4] == ["", "", "", "🙂"]
    assert "".join(parts) == "🙂\ufffd a"
    assert "".join([*parts, stream.flush()]) == tokenizer.decode(ids) == "🙂\ufffd a\ufffd"
