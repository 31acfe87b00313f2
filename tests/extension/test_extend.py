"""`extend`: which tokens are made, which ids they get, what stays, and what is refused."""

from __future__ import annotations

import json
import random
import warnings
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from datasets import Dataset
from extending import (
    SPECIAL,
    assert_only_joined,
    assert_parts_are_those_of_the_old_model,
    characters,
    ids_of,
    quietly,
    tokenizer_of,
)
from transformers import AutoTokenizer, PreTrainedTokenizerFast

import hf_bpe
from hf_bpe import HfBpeTokenizer, extend, train
from hf_bpe._native import Counter as NativeCounter
from hf_bpe.reference import Bpe, count_pairs, join
from hf_bpe.vocabulary import Vocabulary


@pytest.fixture(scope="module")
def words() -> HfBpeTokenizer:
    """A small byte-level tokenizer with an added token behind its tokens."""
    corpus = ["low lower lowest", "new newer newest"] * 20
    return train(corpus, vocab_size=264, eos_token="<|end|>", special_tokens_last=True, progress=False)


def texts_of(report: hf_bpe.ExtensionReport) -> list[str]:
    return [token.text for token in report.added]


# Which tokens


def test_merging_goes_on_from_the_tokens_of_the_old_vocabulary() -> None:
    old = characters([("b", "c")])

    new, report = quietly(old, ["abc"] * 5 + ["ab"] * 3, num_new_tokens=9)

    assert texts_of(report) == ["abc", "ab"]
    assert new.vocabulary.merges == [("b", "c"), ("a", "bc"), ("a", "b")]
    assert [token.halves for token in report.added] == [(0, 5), (0, 1)]
    assert_only_joined(old, new, report, ["abc", "ab", "abcab", "bcab", "aabcc", ""])


def test_new_merges_never_leave_a_token_that_no_text_can_reach() -> None:
    """A token `abc` made as `ab c` behind the merge `b c` would be dead: huggingface/tokenizers#839."""
    old = characters([("b", "c")])

    new, report = quietly(old, ["abc abc ab ab ab ab"] * 5, num_new_tokens=9)

    assert "abc" in texts_of(report)
    assert report.unreachable == ()
    assert all(new.encode(token.text) == [token.id] for token in report.added)


def test_a_pair_whose_text_is_a_token_already_is_not_made_again() -> None:
    old = characters([("b", "c"), ("a", "b"), ("ab", "c")])  # nothing makes `abc` of its text

    _, report = quietly(old, ["abcabc"] * 9, num_new_tokens=9)

    assert ids_of(old, ["abc"]) == [[0, 5]]
    assert texts_of(report) == ["bca", "abca", "abcabc"]


def test_special_tokens_are_cut_out_of_the_source_and_never_made(words: HfBpeTokenizer) -> None:
    new, report = quietly(words, ["zzz<|end|>qqq<|end|>"] * 50, num_new_tokens=50)

    assert sorted(texts_of(report)) == ["qq", "qqq", "zz", "zzz"]
    assert new.convert_ids_to_tokens(new.encode("zzz<|end|>qqq")) == ["zzz", "<|end|>", "qqq"]


def test_a_text_that_the_split_pattern_would_cut_is_no_token() -> None:
    # `'r` in a word of its own is cut by GPT-2's pattern, `'re` is not.
    old = train(["a"], vocab_size=256, split_pattern="gpt2", progress=False)

    _, report = quietly(old, ["we're they're"] * 50, num_new_tokens=50)

    assert "'re" in texts_of(report)
    assert "'r" not in texts_of(report)
    assert report.unreachable == ()


def test_rare_pairs_and_long_tokens_are_left_out(words: HfBpeTokenizer) -> None:
    corpus = ["zebra"] * 3 + ["quagga"] * 2

    assert texts_of(quietly(words, corpus, num_new_tokens=99, min_frequency=4)[1]) == []
    assert "quagga" not in texts_of(quietly(words, corpus, num_new_tokens=99, min_frequency=3)[1])
    limited = texts_of(quietly(words, corpus, num_new_tokens=99, max_token_length=4)[1])
    assert max(map(len, limited)) == 3


def test_characters_that_are_spelled_in_bytes_may_become_tokens() -> None:
    old = train(["ab ba"] * 9, vocab_size=300, alphabet="characters", byte_fallback=True, progress=False)
    corpus = ["語a 語a", "語b\n"] * 9

    new, report = quietly(old, corpus, num_new_tokens=9)

    assert texts_of(report)[:2] == ["語", " 語"]
    assert report.added[0].halves is None
    assert report.added[0].parts == tuple(old.convert_tokens_to_ids([f"<0x{byte:02X}>" for byte in "語".encode()]))
    assert "\n" not in texts_of(report), "a character of one byte saves nothing"
    assert_only_joined(old, new, report, [*corpus, "語", "鳥語a", "ab語"])
    _, without = quietly(old, corpus, num_new_tokens=9, new_characters=False)
    assert all("語" not in text for text in texts_of(without))


def test_unknown_characters_are_no_part_of_tokens() -> None:
    old = characters(more=("<unk>",), unk_token="<unk>")

    new, report = quietly(old, ["axaxax aa"] * 9, num_new_tokens=9)

    assert texts_of(report) == ["aa"]
    assert_only_joined(old, new, report, ["axa", "aaxaa"])


def test_dropout_has_no_say_in_what_is_learned() -> None:
    corpus = ["abcabc"] * 9
    learned = [quietly(characters([("b", "c")], dropout=rate), corpus, num_new_tokens=3)[1] for rate in (None, 0.9)]

    assert learned[0].added == learned[1].added


def test_extending_equals_counting_everything_anew() -> None:
    """The oracle: old tokens by the reference, then the best pair by a recount of all words, again and again."""
    for seed in range(60):
        rng = random.Random(seed)
        merges = random_merges(rng)
        old = characters(merges, letters="abcd")
        corpus = ["".join(rng.choice("abcd") for _ in range(rng.randrange(1, 12))) for _ in range(60)]

        _, report = quietly(old, corpus, num_new_tokens=12)

        assert [(token.token, token.halves) for token in report.added] == recounted(old, merges, corpus, 12), seed


def random_merges(rng: random.Random) -> list[tuple[str, str]]:
    tokens, merges = list("abcd"), dict[tuple[str, str], None]()
    for _ in range(rng.randrange(0, 7)):
        pair = rng.choice(tokens), rng.choice(tokens)
        if len("".join(pair)) < 5:
            merges[pair] = None
            tokens.append("".join(pair))
    return list(merges)


def recounted(
    old: HfBpeTokenizer, merges: list[tuple[str, str]], corpus: list[str], most: int
) -> list[tuple[str, tuple[int, int]]]:
    ids = old.get_vocab()
    model = Bpe(sorted(ids, key=ids.__getitem__), merges)
    rows = [model.tokens([word]) for word in corpus]
    never: set[tuple[str, str]] = set()
    made: list[tuple[str, tuple[int, int]]] = []
    while len(made) < most:
        counts = count_pairs((row, 1) for row in rows)
        best = [(-count, ids[a], ids[b]) for (a, b), count in counts.items() if count > 1 and (a, b) not in never]
        if not best:
            break
        _, left, right = min(best)
        pair = tuple(token for half in (left, right) for token in ids if ids[token] == half)
        text = "".join(pair)
        if text in ids:
            never.add(pair)
            continue
        ids[text] = len(ids)
        made.append((text, (left, right)))
        rows = [join(row, pair) for row in rows]
    return made


def test_no_new_token_is_what_a_text_begins_as() -> None:
    """`é` at the end of a word would be `éé`: as a token, it would be found where there was an unknown character."""
    affixed = characters(letters="aé", more=("aé",), end_of_word_suffix="é")
    in_bytes = characters(letters="<0x41>", byte_fallback=True)

    _, report = quietly(affixed, ["éééa"] * 9, num_new_tokens=9)
    _, spelled = quietly(in_bytes, ["<0x41>"] * 9, num_new_tokens=9)

    assert "éé" not in texts_of(report)
    assert "<0x41>" not in texts_of(spelled)
    assert texts_of(spelled) == ["<0", "x4", "1>", "<0x4"]


# Which ids


def test_new_ids_follow_the_highest_one_that_is_used(words: HfBpeTokenizer, tmp_path: Path) -> None:
    assert words.get_vocab()["<|end|>"] == 263

    new, report = quietly(words, ["zebra zebra"] * 9, num_new_tokens=3)
    new.save_pretrained(tmp_path)

    assert [token.id for token in report.added] == [264, 265, 266]
    assert (report.old_size, report.new_size, len(new)) == (264, 267, 267)
    stock = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert stock.token_to_id("<|end|>") == 263
    assert stock.encode("zebra<|end|>").ids == new.encode("zebra<|end|>")
    assert new.eos_token_id == 263


def test_added_tokens_that_only_the_list_of_added_ones_has_keep_their_ids_in_stock(tmp_path: Path) -> None:
    """Rank files have their special tokens behind the model: stock would put those behind the new tokens."""
    old = HfBpeTokenizer.from_vocabulary(
        Vocabulary.from_ranks(
            {bytes([byte]): byte for byte in range(256)}, split_pattern="gpt2", added_tokens={"<s>": 256, "</s>": 257}
        )
    )

    new, report = quietly(old, ["ab ab ab"] * 3, num_new_tokens=2)
    new.save_pretrained(tmp_path)

    stock = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert [stock.token_to_id(token) for token in ("<s>", "</s>")] == [256, 257]
    assert [stock.token_to_id(token.token) for token in report.added] == [258, 259]
    assert stock.encode("<s>ab ab</s>").ids == new.encode("<s>ab ab</s>") == [256, 258, 259, 257]


def test_sizes_are_rows_and_not_numbers_of_tokens() -> None:
    """Three numbers that are often mixed up: tokens, the model's tokens, and the rows up to the highest id."""
    ranks = {bytes([byte]): byte for byte in range(256)}
    old = HfBpeTokenizer.from_vocabulary(Vocabulary.from_ranks(ranks, split_pattern="gpt2", added_tokens={"<s>": 299}))

    new, report = quietly(old, ["ab"] * 3, num_new_tokens=1)

    assert (report.old_size, report.new_size) == (300, 301)
    assert (len(new.get_vocab()), new.convert_tokens_to_ids("ab"), new.convert_ids_to_tokens(270)) == (258, 300, None)


def test_padding_rows_are_filled_and_never_overrun(words: HfBpeTokenizer) -> None:
    """New ids in rows that the model has already: nothing to resize, as for Qwen2.5's 151,936."""
    corpus = ["zebra quagga okapi"] * 9

    new, report = quietly(words, corpus, fill_padding_rows=270)

    assert (len(report.added), len(new)) == (6, 270)
    assert len(quietly(words, corpus, fill_padding_rows=270, num_new_tokens=2)[1].added) == 2
    with pytest.raises(ValueError, match="7 new tokens don't fit: fill_padding_rows=270 leaves 6, from id 264 on"):
        extend(words, corpus, fill_padding_rows=270, num_new_tokens=7)
    with pytest.raises(ValueError, match=r"fill_padding_rows=263 is less than the 264 ids that are there, 0 to 263"):
        extend(words, corpus, fill_padding_rows=263)


def test_a_size_counts_every_id(words: HfBpeTokenizer) -> None:
    new, report = quietly(words, ["zebra quagga"] * 9, vocab_size=266)

    assert (len(new), len(report.added)) == (266, 2)
    with pytest.raises(ValueError, match="vocab_size=263 is less than the 264 ids"):
        extend(words, ["a"], vocab_size=263)


def test_how_many_tokens_has_to_be_said_once(words: HfBpeTokenizer) -> None:
    with pytest.raises(TypeError, match="give one of num_new_tokens and vocab_size, or fill_padding_rows"):
        extend(words, ["a"])
    with pytest.raises(TypeError, match="give one of num_new_tokens and vocab_size, or fill_padding_rows"):
        extend(words, ["a"], num_new_tokens=1, vocab_size=265)
    with pytest.raises(ValueError, match="num_new_tokens=-1 is out of range; give at least 0"):
        extend(words, ["a"], num_new_tokens=-1)
    with pytest.raises(TypeError, match=r"num_new_tokens is a whole number, got 1\.5"):
        extend(words, ["a"], num_new_tokens=1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="4294967296 new tokens don't fit: 32 bits for an id leaves 4294967032"):
        extend(words, ["a"], num_new_tokens=2**32)


def test_an_extension_of_an_extension_keeps_both(words: HfBpeTokenizer) -> None:
    first, _ = quietly(words, ["zebra"] * 9, num_new_tokens=2)
    second, report = quietly(first, ["zebra okapi"] * 9, num_new_tokens=99)

    assert_only_joined(first, second, report, ["zebra okapi low", "lowest zebras"])
    assert second.encode("zebra") == [second.get_vocab()["zebra"]]
    assert second.vocabulary.merges[: len(first.vocabulary.merges)] == first.vocabulary.merges


def test_no_new_token_is_an_extension_that_changes_nothing(words: HfBpeTokenizer) -> None:
    new, report = quietly(words, ["zebra"] * 9, num_new_tokens=0)

    assert (new.get_vocab(), report.added) == (words.get_vocab(), ())


def test_an_added_token_that_the_model_would_make_of_text_is_refused() -> None:
    """It has to be listed to keep its id in stock; as a character it would then be a symbol of every text."""
    flags = SPECIAL | {"single_word": True, "special": False}
    pipeline = json.loads(characters()._core.to_json()) | {"added_tokens": [{"id": 5, "content": "x", **flags}]}

    with pytest.raises(ValueError, match=r"the added token 'x' has the id 5 and is not in model.vocab"):
        extend(tokenizer_of(pipeline), ["ab"], num_new_tokens=1)


def test_words_that_are_looked_up_whole_and_carry_affixes_are_refused() -> None:
    """`ab` inside a word is another token than the word `ab`, which would be looked up and found."""
    old = characters(ignore_merges=True, end_of_word_suffix="</w>")

    with pytest.raises(ValueError, match="the model has ignore_merges and the affix '</w>': a word that is spelled"):
        extend(old, ["ab"], num_new_tokens=1)


# The source and the rest


def test_any_source_of_training_will_do(words: HfBpeTokenizer, tmp_path: Path) -> None:
    texts = ["zebra\n", "okapi quagga\n"] * 9
    (tmp_path / "a.txt").write_text("".join(texts), encoding="utf-8")
    sources: list[Any] = [texts, [texts], iter(texts), tmp_path / "a.txt", Dataset.from_dict({"text": [*texts, None]})]

    reports = [quietly(words, source, num_new_tokens=5)[1] for source in sources]
    reports.append(quietly(words, None, files=[tmp_path / "a.txt"], num_new_tokens=5)[1])

    assert all(report.added == reports[0].added for report in reports)
    assert all(report.source == reports[0].source for report in reports)
    assert all(report.languages == reports[0].languages for report in reports)


def test_threads_make_no_difference(words: HfBpeTokenizer, python_sources: list[str]) -> None:
    reports = [quietly(words, python_sources, num_new_tokens=50, num_threads=threads)[1] for threads in (1, 2)]

    assert reports[0] == reports[1]


def test_the_saving_is_that_of_the_source(words: HfBpeTokenizer, python_sources: list[str]) -> None:
    new, report = quietly(words, python_sources, num_new_tokens=200)
    counts = [sum(map(len, ids_of(tokenizer, python_sources))) for tokenizer in (words, new)]

    assert report.source is not None
    assert [report.source.before, report.source.after] == counts
    assert sum(token.saved for token in report.added) == report.source.saved
    assert report.unreachable == ()
    assert_only_joined(words, new, report, python_sources)
    assert_parts_are_those_of_the_old_model(words, report)


def test_settings_and_template_stay(words: HfBpeTokenizer, tmp_path: Path) -> None:
    old = HfBpeTokenizer.from_vocabulary(words.vocabulary, model_max_length=77, chat_template="{{ messages }}")

    new, _ = quietly(old, ["zebra"] * 9, num_new_tokens=2)
    new.save_pretrained(tmp_path)

    loaded = AutoTokenizer.from_pretrained(tmp_path)
    assert isinstance(loaded, HfBpeTokenizer)
    assert (loaded.model_max_length, loaded.chat_template, loaded.eos_token) == (77, "{{ messages }}", "<|end|>")
    assert PreTrainedTokenizerFast.from_pretrained(tmp_path).encode("a zebra") == new.encode("a zebra")


def test_too_small_a_corpus_is_said(words: HfBpeTokenizer) -> None:
    with pytest.warns(UserWarning, match="4 tokens were added, not the 99 asked for: no pair is left"):
        _, report = extend(words, ["zebra"] * 9, num_new_tokens=99, progress=False)

    assert report.notes == (
        "4 tokens were added, not the 99 asked for: no pair is left that occurs at least 2 times and may be merged. "
        "Use more text or a lower min_frequency.",
    )


def test_a_bar_is_shown_on_stderr_alone(words: HfBpeTokenizer, capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        extend(words, ["zebra"] * 9, num_new_tokens=2)

    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Counting" in shown.err
    assert "Merging" in shown.err


def test_another_library_s_tokenizer_is_refused() -> None:
    with pytest.raises(TypeError, match="the tokenizer to extend is an HfBpeTokenizer, got Tokenizer; load it with"):
        extend(tokenizers.Tokenizer(tokenizers.models.BPE()), ["a"], num_new_tokens=1)  # type: ignore[arg-type]


def test_counting_between_added_tokens_is_for_extensions_alone(words: HfBpeTokenizer) -> None:
    core = words._core
    whole, between = NativeCounter(core), NativeCounter(core, between_added_tokens=True)
    for counter in (whole, between):
        counter.count(["a<|end|>b"])

    assert dict(between.counts()) == {b"a": 1, b"b": 1}
    assert dict(whole.counts()) != dict(between.counts())
