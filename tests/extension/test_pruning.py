"""A smaller vocabulary keeps every tokenization that it can still say."""

from __future__ import annotations

import json
import random
import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from extending import SPECIAL, assert_only_joined, characters, ids_of, quietly, tokenizer_of
from test_cli import assert_failed, run
from test_extend_laws import FIRST, MODELS, Make, extended, of_any_components, of_characters, random_old
from transformers import PreTrainedTokenizerFast

from hf_bpe import HfBpeTokenizer, prune, retrain_for, train
from hf_bpe.extension.derivations import Derivations
from hf_bpe.vocabulary import Vocabulary

TEXTS = [
    "the cat sat on the mat and the other cat sat on the hat\n" * 20,
    "语言模型和语言\n" * 5,
    "x = [1, 2, 3]\n" * 9,
]
HOSTILE = [
    "",
    " ",
    "  the  the",
    "\u0301e\u0301",
    "👩‍👩‍👧 the",
    "thethethe",
    "\x00\x7f",
    "语言语 言",
    "the<|end|>cat<|end|>",
]


@pytest.fixture(scope="module")
def tokenizer() -> HfBpeTokenizer:
    return train(TEXTS, vocab_size=290, special_tokens=["<|pad|>"], eos_token="<|end|>", progress=False)


def random_tokenizer(seed: int) -> HfBpeTokenizer:
    """Return a vocabulary over two letters in which most tokens have several derivations, in any order."""
    draw = random.Random(seed)
    tokens = ["a", "b"]
    merges: list[tuple[str, str]] = []
    for _ in range(draw.randint(4, 14)):
        pair = (draw.choice(tokens), draw.choice(tokens))
        if len("".join(pair)) <= 7 and pair not in merges:
            merges.append(pair)
            if "".join(pair) not in tokens:
                tokens.append("".join(pair))
    if draw.random() < 0.6:
        draw.shuffle(merges)
    model: dict[str, Any] = {"type": "BPE", "merges": merges, "ignore_merges": draw.random() < 0.3}
    model["vocab"] = {token: number for number, token in enumerate(tokens)}
    return HfBpeTokenizer.from_vocabulary(Vocabulary.from_json({"version": "1.0", "model": model, "added_tokens": []}))


def assert_unchanged(old: HfBpeTokenizer, new: HfBpeTokenizer, id_map: dict[int, int], texts: list[str]) -> int:
    """Assert that texts without dropped tokens keep theirs; return how many there are."""
    unchanged = 0
    for text in texts:
        before = old.encode_ordinary(text)
        if all(token_id in id_map for token_id in before):
            unchanged += 1
            assert new.encode_ordinary(text) == [id_map[token_id] for token_id in before], text
    return unchanged


def test_each_token_has_the_derivation_that_merging_its_text_takes() -> None:
    """Compared with a replay of the encoder: forbidding the last merge must change the token's own text."""
    made = 0
    for seed in range(60):
        old = random_tokenizer(seed)
        derivations = Derivations(old._core)
        content = json.loads(old._core.to_json())
        content["model"]["ignore_merges"] = False
        plain = HfBpeTokenizer.from_vocabulary(Vocabulary.from_json(content))
        for token, token_id in old.get_vocab().items():
            halves = derivations.halves(token)
            reached = plain.encode_ordinary(token) == [token_id]
            assert (bool(halves) or len(token) == 1) == reached
            if halves:
                made += 1
                assert "".join(halves) == token
                shorter = json.loads(json.dumps(content))
                shorter["model"]["merges"].remove(list(halves))
                other = HfBpeTokenizer.from_vocabulary(Vocabulary.from_json(shorter))
                without = other.encode_ordinary(token)
                # Another derivation may lead there too, but not by the same last step.
                assert without != [token_id] or len([m for m in content["model"]["merges"] if "".join(m) == token]) > 1
    assert made > 200


def test_every_text_without_a_dropped_token_keeps_its_tokens() -> None:
    """All texts of up to nine letters, under vocabularies with many derivations, ordered and not."""
    texts = ["".join(letters) for length in range(1, 10) for letters in product("ab", repeat=length)]
    unchanged = dropped = 0
    for seed in range(80):
        old = random_tokenizer(seed)
        draw = random.Random(seed)
        longer = [token for token in old.get_vocab() if len(token) > 1]
        if not longer:
            continue
        chosen = draw.sample(longer, draw.randint(1, len(longer)))
        new, report = prune(old, drop=chosen) if seed % 2 else prune(old, keep=chosen)
        id_map = report.id_map or {}

        assert not seed % 2 or not set(chosen) & set(new.get_vocab())
        assert seed % 2 or set(chosen) <= set(new.get_vocab())
        unchanged += assert_unchanged(old, new, id_map, texts)
        dropped += len(old) - len(new)
        assert all("".join(new.tokenize(text)) == text for text in texts[:64])
    assert unchanged > 1000
    assert dropped > 100


@pytest.mark.parametrize("make", [of_characters, of_any_components])
@pytest.mark.parametrize("seed", range(FIRST, FIRST + MODELS))
def test_a_random_vocabulary_keeps_the_tokens_of_texts_that_need_no_dropped_one(make: Make, seed: int) -> None:
    """Affixes that text may spell, byte tokens with merges, added tokens that merges make, any components."""
    old, texts = random_old(make, seed)
    draw = random.Random(seed)
    longer = [token for token, token_id in old._core.get_vocab(with_added_tokens=False).items() if len(token) > 1]
    names = list(old.get_vocab())
    texts += ["".join(draw.choices(names, k=draw.randint(1, 4))) for _ in range(100)]
    chosen = draw.sample(longer, draw.randint(0, len(longer) // 2))
    size = len(set(old.get_vocab().values())) - len(chosen) // 2
    ways: list[dict[str, Any]] = [{"drop": chosen}, {"keep": chosen}, {"source": texts[::2], "vocab_size": size}]

    try:
        new, report = prune(old, **ways[seed % 3], progress=False)
    except ValueError as error:
        if not re.search("which stays: bytes, single|is an added token: those stay|is too small: bytes", str(error)):
            raise
        new, report = prune(old, keep=[])
    id_map = report.id_map or {}

    assert_unchanged(old, new, id_map, texts)
    for before, after in zip(ids_of(old, texts), ids_of(new, texts), strict=True):
        if all(token_id in id_map for token_id in before):
            assert after == [id_map[token_id] for token_id in before]
    assert set(new.get_vocab().values()) == set(range(len(new))) == set(id_map.values())


@pytest.mark.parametrize("make", [of_characters, of_any_components])
@pytest.mark.parametrize("seed", range(FIRST, FIRST + MODELS, 5))
def test_a_random_vocabulary_that_was_extended_pruned_and_extended_keeps_its_laws(make: Make, seed: int) -> None:
    _, longer, report, texts = extended(make, seed)
    dropped = [token.token for token in report.added if not random.Random(token.id).randrange(3)]

    small, pruning = prune(longer, drop=dropped)
    newest, again = quietly(small, texts[::2], num_new_tokens=10)

    assert_unchanged(longer, small, pruning.id_map or {}, texts)
    assert_only_joined(small, newest, again, texts)


def test_what_an_added_token_is_made_of_stays_with_it() -> None:
    """`abc` is cut out as a whole word only; inside of others merges make it."""
    pipeline = json.loads(characters([("a", "b"), ("ab", "c"), ("abc", "d")])._core.to_json())
    flags = SPECIAL | {"single_word": True, "special": False}
    pipeline["added_tokens"] = [{"id": 6, "content": "abc", **flags}]
    old = tokenizer_of(pipeline)

    new, report = prune(old, keep=[])

    assert old.tokenize("eabce") == new.tokenize("eabce") == ["e", "abc", "e"]
    assert report.dropped == (7,)
    with pytest.raises(ValueError, match=r"drop has 'ab', which stays: .* what these are made of"):
        prune(old, drop=["ab"])


def test_bytes_that_merges_join_go_with_what_is_made_of_them() -> None:
    """`é` as two byte tokens that a merge joins, and a third behind them."""
    halves = [("<0xC3>", "<0xA9>"), ("<0xC3><0xA9>", "<0xC3>")]
    more = tuple(f"<0x{byte:02X}>" for byte in range(256))
    old = characters(halves, more=more, byte_fallback=True)

    new, report = prune(old, drop=["<0xC3><0xA9>"])

    assert old.tokenize("éÃ") == ["<0xC3><0xA9><0xC3>", "<0x83>"]
    assert len(report.dropped) == 2
    assert new.tokenize("éÃ") == ["<0xC3>", "<0xA9>", "<0xC3>", "<0x83>"]


def test_affixes_that_text_spells_are_read_both_ways() -> None:
    """`##a` is an `a` inside of a word, and what merging makes of a word that begins with `##a`."""
    model = {"continuing_subword_prefix": "##", "unk_token": "#"}
    merges = [("#", "###"), ("##", "##a")]
    pipeline = json.loads(characters(letters="a#")._core.to_json())
    tokens = ["a", "#", "##a", "###", "##"]
    pipeline["model"] |= model | {"vocab": {token: at for at, token in enumerate(tokens)}, "merges": merges}
    old = tokenizer_of(pipeline)

    new, _ = prune(old, keep=[])

    assert old.tokenize("##a") == new.tokenize("##a") == ["##a"]


def test_ids_of_a_post_processor_stay_or_are_refused() -> None:
    pipeline = json.loads(characters([("a", "b"), ("c", "d")])._core.to_json())
    tail = {"trim_offsets": True, "add_prefix_space": False}
    pipeline["post_processor"] = {"type": "RobertaProcessing", "sep": ["ab", 5], "cls": ["e", 4], **tail}

    new, report = prune(tokenizer_of(pipeline), keep=[])

    assert report.dropped == (6,)
    assert new.encode("c") == [4, 2, 5]
    pipeline["post_processor"]["cls"] = ["<s>", 99]
    with pytest.raises(ValueError, match="the post-processor adds the id 99 for '<s>', which no token has"):
        prune(tokenizer_of(pipeline), keep=[])


def test_a_dropped_token_takes_along_what_is_made_of_it(tokenizer: HfBpeTokenizer) -> None:
    at = tokenizer.convert_tokens_to_ids("at")
    made_of_it = {"Ġcat", "Ġsat"}
    assert made_of_it <= set(tokenizer.get_vocab())

    new, report = prune(tokenizer, drop=[at])
    id_map = report.id_map or {}

    assert not ({"at"} | made_of_it) & set(new.get_vocab())
    assert at not in id_map
    assert set(new.get_vocab().values()) == set(range(len(new)))
    assert new.decode(new.encode("the cat")) == "the cat"
    assert_unchanged(tokenizer, new, id_map, HOSTILE + TEXTS)


def test_kept_tokens_keep_what_they_are_made_of_and_bytes_and_added_tokens_stay(tokenizer: HfBpeTokenizer) -> None:
    new, report = prune(tokenizer, keep=["Ġthe"])
    id_map = report.id_map or {}

    assert new.encode_ordinary(" the") == [id_map[tokenizer.convert_tokens_to_ids("Ġthe")]]
    assert len([token for token in new.get_vocab() if len(token) == 1]) == 256
    assert {"<|pad|>", "<|end|>"} <= set(new.get_vocab())
    assert new.eos_token == "<|end|>"
    for text in HOSTILE:
        assert new.decode(new.encode(text)) == tokenizer.decode(tokenizer.encode(text))


def test_the_tokens_that_a_corpus_uses_least_go_first(tokenizer: HfBpeTokenizer) -> None:
    new, report = prune(tokenizer, TEXTS[:1], vocab_size=280, progress=False)
    id_map = report.id_map or {}

    assert len(new) == len(id_map) == 280
    assert new.encode_ordinary(TEXTS[0]) == [id_map[i] for i in tokenizer.encode_ordinary(TEXTS[0])]
    assert len(new.encode_ordinary(TEXTS[1])) > len(tokenizer.encode_ordinary(TEXTS[1]))


def test_stock_loads_the_smaller_vocabulary_with_equal_ids(tokenizer: HfBpeTokenizer, tmp_path: Path) -> None:
    new, _ = prune(tokenizer, TEXTS, vocab_size=280, progress=False)
    new.save_pretrained(tmp_path)

    stock = PreTrainedTokenizerFast.from_pretrained(tmp_path)

    for text in HOSTILE + TEXTS:
        assert stock(text)["input_ids"] == new(text)["input_ids"]


@pytest.mark.parametrize(
    ("settings", "options"),
    [
        ({"end_of_word_suffix": "</w>", "unk_token": "<unk>"}, {"pre_tokenizer": "Whitespace"}),
        ({"continuing_subword_prefix": "##", "unk_token": "<unk>"}, {"pre_tokenizer": "Whitespace"}),
        ({"byte_fallback": True, "unk_token": "<unk>", "fuse_unk": True}, {"pre_tokenizer": "Metaspace"}),
    ],
)
def test_vocabularies_of_characters_are_pruned_too(settings: dict[str, Any], options: dict[str, Any]) -> None:
    size = 310 if "byte_fallback" in settings else 50
    old = train(TEXTS, vocab_size=size, alphabet="characters", progress=False, **settings, **options)
    lines = [line for text in TEXTS for line in text.splitlines()]

    new, report = prune(old, TEXTS[:1], vocab_size=len(old) - 8, progress=False)
    id_map = report.id_map or {}

    assert len(new) == len(old) - 8
    assert assert_unchanged(old, new, id_map, lines + lines[0].split()) > 0
    assert new.unk_token == "<unk>"


def test_ids_that_a_post_processor_adds_are_renumbered() -> None:
    old = train(TEXTS, vocab_size=290, special_tokens_last=True, bos_token="<s>", eos_token="</s>", progress=False)
    old.add_bos_token = True
    old.add_eos_token = True

    new, report = prune(old, TEXTS, vocab_size=275, progress=False)
    id_map = report.id_map or {}

    ids = new("the cat")["input_ids"]
    assert ids[0] == new.bos_token_id == id_map[old.bos_token_id]
    assert ids[-1] == new.eos_token_id == id_map[old.eos_token_id] == 274


def test_what_cannot_be_pruned_is_named(tokenizer: HfBpeTokenizer) -> None:
    with pytest.raises(ValueError, match="drop has 'a', which stays"):
        prune(tokenizer, drop=["a"])
    with pytest.raises(ValueError, match=r"drop has '<\|end\|>', which (stays|is an added token)"):
        prune(tokenizer, drop=["<|end|>"])
    with pytest.raises(ValueError, match="keep has 'nothing like it', which is no token"):
        prune(tokenizer, keep=["nothing like it"])
    with pytest.raises(ValueError, match="keep has 99999, which is no token"):
        prune(tokenizer, keep=[99999])
    with pytest.raises(TypeError, match="keep holds tokens and ids, got float"):
        prune(tokenizer, keep=[1.5])  # type: ignore[list-item]
    with pytest.raises(ValueError, match=r"vocab_size=100 is too small: .* are 258 already"):
        prune(tokenizer, TEXTS, vocab_size=100, progress=False)
    with pytest.raises(ValueError, match="vocab_size=1000 is more than the 290 tokens"):
        prune(tokenizer, TEXTS, vocab_size=1000, progress=False)
    with pytest.raises(TypeError, match="one of source, files, keep and drop"):
        prune(tokenizer)
    with pytest.raises(TypeError, match="the tokenizer to prune is an HfBpeTokenizer, got str"):
        prune("gpt2", keep=["a"])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="source and vocab_size together"):
        prune(tokenizer, keep=["a"], vocab_size=275)


def test_the_report_tells_what_went_and_which_lines_changed(tokenizer: HfBpeTokenizer) -> None:
    new, report = prune(tokenizer, drop=["Ġcat"], report_on={"cats": [" a cat", " a mat"]})

    assert report.dropped == (tokenizer.convert_tokens_to_ids("Ġcat"),)
    assert set(report.id_map or {}) | set(report.dropped) == set(tokenizer.get_vocab().values())
    assert (report.old_size, report.new_size) == (290, 289) == (len(tokenizer), len(new))
    assert (report.lines_read, report.lines_changed) == (2, 1)
    assert report.lines[0].text == " a cat"
    assert report.texts["cats"].saved == -1
    assert "290 -> 289 ids: 0 tokens added, 1 dropped" in str(report)


def test_a_vocabulary_trained_anew_is_shown_beside_the_pruned_one(tokenizer: HfBpeTokenizer) -> None:
    texts = ["a quick brown fox and a quick brown dog\n"] * 50

    retrained, beside = retrain_for(tokenizer, texts, 275, progress=False)

    sides = beside.sides
    assert [side.size for side in sides.values()] == [290, 275, len(retrained)]
    assert sides["old"].source.after == sum(len(tokenizer.encode_ordinary(text)) for text in texts)
    assert sides["retrained"].source.after == sum(len(retrained.encode_ordinary(text)) for text in texts)
    assert sides["pruned"].source.after == sum(len(beside.pruned.encode_ordinary(text)) for text in texts)
    assert sides["retrained"].source.after < sides["pruned"].source.after
    assert sides["pruned"].shared == 275
    assert "characters a token" in str(beside)
    assert json.loads(json.dumps(beside.as_json()))["sides"]["old"]["tokens"] == sides["old"].source.after
    with pytest.raises(TypeError, match="reads the source three times, and a list_iterator can be read once"):
        retrain_for(tokenizer, iter(texts), 275)


def test_a_vocabulary_is_pruned_by_command(tokenizer: HfBpeTokenizer, tmp_path: Path) -> None:
    tokenizer.save_pretrained(tmp_path / "old")
    (tmp_path / "corpus.txt").write_text(TEXTS[0])
    (tmp_path / "drop.json").write_text('["Ġcat"]')
    (tmp_path / "bad.json").write_text("5")
    old, corpus = tmp_path / "old", tmp_path / "corpus.txt"

    by_source = run("prune", old, corpus, "--vocab-size", "270", "--out", tmp_path / "a", "--json", "--no-progress")
    by_list = run("prune", old, "--drop", tmp_path / "drop.json", "--out", tmp_path / "b", "--id-map", tmp_path / "m")

    assert by_source.returncode == by_list.returncode == 0, by_source.stderr + by_list.stderr
    assert json.loads(by_source.stdout)["new_size"] == 270
    small = HfBpeTokenizer.from_pretrained(tmp_path / "a")
    lines = TEXTS[0].splitlines(keepends=True)
    assert small.encode_ordinary_batch(lines) == prune(tokenizer, lines, vocab_size=270, progress=False)[
        0
    ].encode_ordinary_batch(lines)
    assert len(json.loads((tmp_path / "m").read_text())) == 289
    assert_failed(run("prune", old, "--out", tmp_path / "c"), 2, "give SOURCE with --vocab-size, or --keep, or --drop")
    assert_failed(run("prune", old, corpus, "--out", tmp_path / "c"), 2, "SOURCE and --vocab-size go together")
    failed = run("prune", old, "--keep", tmp_path / "bad.json", "--out", tmp_path / "c")
    assert_failed(failed, 1, "holds no list of tokens and ids")
    assert not (tmp_path / "c").exists()
