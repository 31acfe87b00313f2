"""`add_words`: one token for a word, and what stands in the way of others."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from conftest import real_vocabulary_file
from extending import assert_only_joined, assert_parts_are_those_of_the_old_model, characters, ids_of

from hf_bpe import ExtensionError, ExtensionReport, HfBpeTokenizer, add_words, train


@pytest.fixture(scope="module")
def gpt2_like() -> HfBpeTokenizer:
    """A byte-level tokenizer with GPT-2's pattern."""
    corpus = ["the cat and the dog", "def init(self): pass", "MCP servers"] * 20
    return train(corpus, vocab_size=300, split_pattern="gpt2", eos_token="<|end|>", progress=False)


@pytest.fixture(scope="module")
def sentencepiece_like() -> HfBpeTokenizer:
    """A tokenizer of characters with `▁` and byte tokens."""
    corpus = ["the cat and the dog", "Kubernetes"] * 20
    return train(corpus, vocab_size=330, alphabet="characters", byte_fallback=True, progress=False)


def refusals(error: Any) -> dict[str, str]:
    report = error.value.report
    assert isinstance(report, ExtensionReport)
    return {word.word: word.reason for word in report.refused}


def test_each_word_becomes_one_token(gpt2_like: HfBpeTokenizer) -> None:
    words = ["区块链", " MCP", " Kubernetes", "naïve", "🙂🙂"]

    new, report = add_words(gpt2_like, words)

    ids = [new.encode(word) for word in words]
    assert [len(row) for row in ids] == [1] * len(words)
    assert new.encode("a Kubernetes cluster")[1] == ids[2][0]
    assert new.decode(new.encode("the 区块链 and MCP")) == "the 区块链 and MCP"
    assert not {id for row in ids for id in row} & new.added_tokens_decoder.keys(), "not as added tokens"
    assert report.refused == report.unreachable == ()
    assert_only_joined(gpt2_like, new, report, [*words, "区块", "链接", "the cat MCPs <|end|>"])
    assert_parts_are_those_of_the_old_model(gpt2_like, report)


def test_words_are_one_token_in_stock_too(gpt2_like: HfBpeTokenizer, tmp_path: Path) -> None:
    new, report = add_words(gpt2_like, ["区块链", " Kubernetes"])
    new.save_pretrained(tmp_path)
    stock = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))

    assert [stock.encode(word).ids for word in ("区块链", " Kubernetes")] == [
        [token.id] for token in report.added if token.text in ("区块链", " Kubernetes")
    ]


def test_steps_to_a_word_are_whole_characters_where_they_can_be(gpt2_like: HfBpeTokenizer) -> None:
    _, report = add_words(gpt2_like, ["区块链"])

    assert [token.text for token in report.added if "\\" not in token.text] == ["区", "区块", "区块链"] or [
        token.text for token in report.added if "\\" not in token.text
    ] == ["区", "块", "区块", "链", "区块链"]
    assert not [token.text for token in report.added if token.text.startswith("区\\")]


def test_a_space_before_a_word_is_as_asked(gpt2_like: HfBpeTokenizer) -> None:
    def made(leading_space: Any, *words: str) -> set[str]:
        new, report = add_words(gpt2_like, words, leading_space=leading_space)
        assert report.unreachable == ()
        return {token.text for token in report.added if new.encode(token.text) == [token.id]}

    assert "zebra" in made("as_written", "zebra")
    assert " zebra" not in made("as_written", "zebra")
    assert " zebra" in made("add", "zebra", " zebra")
    assert {"zebra", " zebra"} <= made("both", "zebra")
    with pytest.raises(ValueError, match=r"leading_space is one of \['as_written', 'add', 'both'\], got 'no'"):
        made("no", "zebra")


def test_a_word_of_characters_is_marked_as_the_pipeline_marks_it(sentencepiece_like: HfBpeTokenizer) -> None:
    new, report = add_words(sentencepiece_like, ["区块链", " 语", "dogcat"])

    assert [new.encode(word) for word in ("区块链", "语", "dogcat")] == [
        [report_id(report, " 区块链")],
        [report_id(report, " 语")],
        [report_id(report, " dogcat")],
    ]
    assert new.tokenize("区块链 dogcat") == ["▁区块链", "▁dogcat"]
    assert_only_joined(sentencepiece_like, new, report, ["区块链", "a 区 块", "鳥", "dogcat dog"])


def report_id(report: ExtensionReport, text: str) -> int:
    return next(token.id for token in report.added if token.text == text)


def test_a_word_that_is_a_token_needs_nothing(gpt2_like: HfBpeTokenizer) -> None:
    new, report = add_words(gpt2_like, [" the"])

    assert report.known == {" the": gpt2_like.encode(" the")[0]}
    assert (report.added, new.get_vocab()) == ((), gpt2_like.get_vocab())


def test_a_token_that_the_source_only_has_across_older_merges_is_a_token() -> None:
    old = characters([("c", "d"), ("a", "b"), ("ab", "c")])

    _, report = add_words(old, ["abc"], source=["abcd"])

    assert report.known == {"abc": old.get_vocab()["abc"]}
    assert (report.added, report.refused) == ((), ())


def test_words_share_the_steps_to_them(gpt2_like: HfBpeTokenizer) -> None:
    new, report = add_words(gpt2_like, ["zebra", "zebras", "zebra"])

    assert len({token.token for token in report.added}) == len(report.added)
    assert [len(new.encode(word)) for word in ("zebra", "zebras")] == [1, 1]


def test_where_the_pattern_cuts_the_word_is_refused(gpt2_like: HfBpeTokenizer) -> None:
    with pytest.raises(ExtensionError, match="a word can't become one token; skip_refused=True leaves them") as error:
        add_words(gpt2_like, ["def __init__", " zebra"])

    assert refusals(error) == {
        "def __init__": "the split pattern cuts it, and merges stay inside of the pieces: 'def' | ' __' | 'init' | '__'"
    }
    assert "'def __init__': the split pattern cuts it" in str(error.value)


def test_refused_words_may_be_left_out(gpt2_like: HfBpeTokenizer) -> None:
    new, report = add_words(gpt2_like, ["def __init__", " zebra"], skip_refused=True)

    assert [word.word for word in report.refused] == ["def __init__"]
    assert len(new.encode(" zebra")) == 1


def test_added_tokens_are_no_words(gpt2_like: HfBpeTokenizer) -> None:
    with pytest.raises(ExtensionError, match="2 words can't become one token") as error:
        add_words(gpt2_like, ["<|end|>", "a<|end|>b"])

    assert refusals(error) == {
        "<|end|>": "it is the added token 0 already",
        "a<|end|>b": "it holds the added token '<|end|>', which is cut out of every text",
    }


def test_what_has_no_symbols_is_refused() -> None:
    nothing = characters()
    unknown = characters(more=("<unk>",), unk_token="<unk>")

    for old in (nothing, unknown):
        with pytest.raises(ExtensionError) as error:
            add_words(old, ["axb"])
        assert refusals(error) == {"axb": "the vocabulary has no symbol for a part of it"}


def test_a_word_of_which_the_normalizer_leaves_nothing_is_refused() -> None:
    old = train(
        ["ab"] * 9,
        vocab_size=257,
        normalizer={"type": "Strip", "strip_left": True, "strip_right": True},
        progress=False,
    )

    with pytest.raises(ExtensionError) as error:
        add_words(old, ["  "])

    assert refusals(error) == {"  ": "the normalizer leaves nothing of it"}


def test_a_token_that_older_merges_never_make_needs_leave_to_change() -> None:
    """The merge `b c` comes before `ab c`: text `abc` stays `a bc`, and the token `abc` is dead."""
    old = characters([("b", "c"), ("a", "b"), ("ab", "c")])

    with pytest.raises(ExtensionError) as error:
        add_words(old, ["abc"])
    new, report = add_words(old, ["abc"], allow_changes=True)

    assert refusals(error) == {
        "abc": "older merges stand in the way: it is the token 7, but they make 'a' + 'bc' of it and no merge joins "
        "these. allow_changes=True adds merges that do."
    }
    assert ids_of(new, ["abc", "abcd", "ab", "bc"]) == [[7], [7, 3], [6], [5]]
    assert report.added == ()
    assert [(token.id, token.before, token.after) for token in report.changed_tokens] == [(7, [0, 5], [7])]


def test_a_word_whose_parts_are_all_dead_tokens_needs_leave_to_change() -> None:
    old = characters([("b", "c")], more=("abc", "bcd"))

    with pytest.raises(ExtensionError) as error:
        add_words(old, ["abcd"])
    new, report = add_words(old, ["abcd"], allow_changes=True)

    assert refusals(error)["abcd"].startswith("older merges stand in the way: they make 'a' + 'bc' + 'd' of it")
    assert new.encode("abcd") == [report_id(report, "abcd")]


def test_a_word_that_the_source_only_has_across_older_merges_needs_leave_to_change() -> None:
    old = characters([("c", "d")])
    source = ["abcd", "eabcd", "cdcd"]

    with pytest.raises(ExtensionError) as error:
        add_words(old, ["abc"], source=source)
    new, report = add_words(old, ["abc"], source=source, allow_changes=True)

    assert refusals(error) == {
        "abc": "older merges stand in the way: merge 0, 'c' + 'd', joins it with what is around it in all 2 places "
        "where the source has it. allow_changes=True puts its merges before that one."
    }
    word = report_id(report, "abc")
    assert ids_of(new, ["abc", *source]) == [[word], [word, 3], [4, word, 3], [5, 5]]
    assert [(line.text, line.coarser) for line in report.lines] == [("abcd", False), ("eabcd", False)]
    assert (report.lines_read, report.lines_changed) == (3, 2)


def test_old_tokens_whose_text_changes_are_listed() -> None:
    old = characters([("b", "c"), ("bc", "d"), ("a", "bcd")])

    new, report = add_words(old, ["ab"], source=["abcd"], allow_changes=True)

    assert new.encode("ab") == [report_id(report, "ab")]
    assert new.encode("abcd") != old.encode("abcd")
    assert [token.text for token in report.changed_tokens] == ["abcd"]
    assert [list(token.before) for token in report.changed_tokens] == [old.encode("abcd")]


def test_places_that_a_word_does_not_reach_are_told() -> None:
    old = characters([("c", "d")])

    _, report = add_words(old, ["abc"], source=["abcd", "abc"])

    assert report.notes == (
        "'abc' is in 2 places of the source; in 1 of them older merges join it with what is around it, and its token "
        "isn't used",
    )


def test_a_word_behind_a_space_is_another_word(gpt2_like: HfBpeTokenizer) -> None:
    new, report = add_words(gpt2_like, ["zebra"], source=["a zebra"] * 3)

    assert len(new.encode("zebra")) == 1
    assert report.notes == ()


def test_each_line_of_the_source_that_changes_is_listed(gpt2_like: HfBpeTokenizer, tmp_path: Path) -> None:
    lines = [f"line {number} {'zebra' if number % 3 == 0 else 'cat'}\n" for number in range(900)]
    (tmp_path / "a.txt").write_text("".join(lines), encoding="utf-8")

    new, report = add_words(gpt2_like, [" zebra"], files=[tmp_path / "a.txt"])

    assert [line.text for line in report.lines] == [line for line in lines if "zebra" in line]
    assert all(line.coarser and line.after[-2:] == [" zebra", "\n"] for line in report.lines)
    assert report.source is not None
    assert report.source.after == sum(map(len, ids_of(new, lines)))
    assert len(add_words(gpt2_like, [" zebra"], source=lines, max_lines=5)[1].lines) == 5


def test_words_are_checked_before_anything_is_done(gpt2_like: HfBpeTokenizer) -> None:
    with pytest.raises(TypeError, match=r"words is a list of words, got str; write \['zebra'\]"):
        add_words(gpt2_like, "zebra")
    with pytest.raises(TypeError, match="words holds str, got 7"):
        add_words(gpt2_like, [7])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="a word is empty"):
        add_words(gpt2_like, [""])
    with pytest.raises(ValueError, match="holds a lone surrogate"):
        add_words(gpt2_like, ["\ud800"])


def test_many_refusals_are_cut_short_in_the_message(gpt2_like: HfBpeTokenizer) -> None:
    with pytest.raises(ExtensionError, match=r"\.\.\. and 2 more, see the report") as error:
        add_words(gpt2_like, [f"a {chr(97 + at)}" for at in range(12)])

    assert len(refusals(error)) == 12


@pytest.mark.parametrize("name", ["gpt2", "llama3"])
def test_words_become_tokens_of_real_vocabularies(request: pytest.FixtureRequest, name: str) -> None:
    path = real_vocabulary_file(request.config, name)
    if path is None:
        pytest.skip(f"the package with {name} isn't installed")
    old = HfBpeTokenizer(tokenizer_file=str(path))

    new, report = add_words(old, ["区块链", " MCP", " Kubernetes", "def __init__"], skip_refused=True)

    assert [len(new.encode(word, add_special_tokens=False)) for word in ("区块链", " MCP", " Kubernetes")] == [1, 1, 1]
    (refused,) = report.refused
    assert refused.reason.endswith("'def' | ' __' | 'init' | '__'")
    assert report.unreachable == ()
    assert_only_joined(old, new, report, ["区块链技术", "MCP MCP Kubernetes", "链接", "def __init__(self):\n"])


def test_stock_gives_the_same_ids_where_merges_were_put_before_others() -> None:
    for seed in range(40):
        rng = random.Random(seed)
        tokens, merges = list("abcd"), dict[tuple[str, str], None]()
        for _ in range(12):
            pair = rng.choice(tokens), rng.choice(tokens)
            merges[pair] = None
            tokens.append("".join(pair))
        old = characters(list(merges), letters="abcd")
        source = ["".join(rng.choice("abcd") for _ in range(rng.randrange(1, 14))) for _ in range(60)]
        words = ["".join(rng.choice("abcd") for _ in range(rng.randrange(2, 6))) for _ in range(5)]

        new, report = add_words(old, words, source=source, allow_changes=True, skip_refused=True)

        stock = tokenizers.Tokenizer.from_str(new._core.to_json())
        assert [row.ids for row in stock.encode_batch(source)] == ids_of(new, source)
        refused = {word.word for word in report.refused}
        assert all(len(new.encode(word)) == 1 for word in words if word not in refused), seed
        joined = {line.text for line in report.lines if line.coarser}
        assert joined <= {text for text in source if old.encode(text) != new.encode(text)}
        old_ids = old.get_vocab()
        assert {token: new.get_vocab()[token] for token in old_ids} == old_ids
        assert_changed_tokens_are_complete(old, new, report)


def assert_changed_tokens_are_complete(old: HfBpeTokenizer, new: HfBpeTokenizer, report: ExtensionReport) -> None:
    """Assert that the report lists each old token whose own text comes out otherwise."""
    changed = {token for token in old.get_vocab() if old.encode(token) != new.encode(token)}

    assert {token.text for token in report.changed_tokens} == changed


def test_a_character_is_made_only_where_all_bytes_have_tokens() -> None:
    """An unknown token is written behind bytes that follow it, as in stock; a character would stand behind it."""
    spelled = tuple(f"<0x{byte:02X}>" for byte in "语".encode())
    old = characters(more=(*spelled, "<unk>"), byte_fallback=True, unk_token="<unk>", fuse_unk=True)

    new, report = add_words(old, ["语"], skip_refused=True)

    assert old.tokenize("Z语") == new.tokenize("Z语") == [*spelled, "<unk>"]
    assert [word.reason for word in report.refused] == ["the vocabulary has no symbol for a part of it"]
