"""The report of a training tells, of every smaller vocabulary, what its training would have given."""

from __future__ import annotations

import pickle
import random
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import hf_bpe
from hf_bpe.cli import app
from hf_bpe.measure import VocabularySizes, vocabulary_sizes
from hf_bpe.vocabulary_growth import VocabularyGrowth

DRAW = random.Random(2)
TEXTS = [" ".join(f"{DRAW.choice('aäb語')}word{DRAW.randrange(400)}" for _ in range(9)) + "\n" for _ in range(300)]


def trained(texts: Any = TEXTS, **options: Any) -> Any:
    return hf_bpe.train(texts, **({"vocab_size": 600, "progress": False, "min_frequency": 0} | options))


def tokens_of(tokenizer: Any, texts: list[str] = TEXTS) -> int:
    return sum(map(len, tokenizer(texts, add_special_tokens=False)["input_ids"]))


@pytest.mark.parametrize("special_tokens_last", [False, True])
def test_tokens_at_a_size_are_those_of_a_training_of_that_size(special_tokens_last: bool) -> None:
    options: dict[str, Any] = {"special_tokens": ["<s>", "<e>"], "special_tokens_last": special_tokens_last}

    growth = trained(**options).training_report.growth

    assert growth.sizes == (258, 600)
    assert growth.bytes == growth.tokens_at(258) == sum(len(text.encode()) for text in TEXTS)
    for size in (259, 400, 599, 600):
        assert growth.tokens_at(size) == tokens_of(trained(vocab_size=size, **options))
    assert (growth.tokens_at(257), growth.tokens_at(601)) == (None, None)


def test_pairs_that_overlap_save_what_is_merged() -> None:
    texts = ["aaaaa", "aaa", "aaaaaaaaab"]

    tokenizer = trained(texts, vocab_size=260)

    assert tokenizer.training_report.growth.tokens_at(260) == tokens_of(tokenizer, texts)


def test_characters_count_a_stand_in_as_the_space_it_stands_for() -> None:
    texts = ["low lower 語", "low"]

    tokenizer = trained(texts, alphabet="characters", vocab_size=13)

    growth = tokenizer.training_report.growth
    assert growth.points[0][1] == len("_low_lower_語_low")
    assert growth.bytes == len(" low lower 語 low".encode())
    assert growth.tokens_at(13) == tokens_of(tokenizer, texts)


def test_counts_and_weights_have_their_own_growth() -> None:
    counts = hf_bpe.PretokenCounts.count(TEXTS, progress=False)

    growth = trained(counts.weighted(3)).training_report.growth

    once = trained().training_report.growth
    assert growth.points == tuple((size, 3 * tokens) for size, tokens in once.points)


@pytest.mark.parametrize("weights", [None, {"en": 1, "zh": 3}])
def test_several_sources_grow_as_the_corpus_that_they_are(weights: dict[str, float] | None) -> None:
    sources = {"en": TEXTS[:200], "zh": ["最低的塔和最新的塔\n"] * 50}
    texts = [*sources["en"], *sources["zh"]]
    options: dict[str, Any] = {"sources": sources, "weights": weights, "special_tokens": ["<s>"], "vocab_size": 500}

    report = trained(None, **options).training_report

    assert report.growth.sizes == (257, 500)
    assert report.growth.bytes == report.growth.tokens_at(257) == sum(len(text.encode()) for text in texts)
    for size in (258, 400, 500):
        assert report.growth.tokens_at(size) == tokens_of(trained(None, **(options | {"vocab_size": size})), texts)
    assert report.growth.tokens_at(500) == sum(source.tokens for source in report.sources)
    if weights is None:
        assert report.growth == trained(texts, special_tokens=["<s>"], vocab_size=500).training_report.growth


def test_sources_of_characters_count_a_stand_in_as_the_space_it_stands_for() -> None:
    sources = {"en": ["low lower low"] * 9, "zh": ["最低的 塔"] * 9}

    report = trained(None, sources=sources, alphabet="characters", vocab_size=19, temperature=1).training_report

    sizes = {name: sum(len(f" {text}".encode()) for text in texts) for name, texts in sources.items()}
    assert {source.name: source.bytes for source in report.sources} == sizes
    assert report.growth.bytes == sum(sizes.values())
    for source in report.sources:
        assert source.share == pytest.approx(sizes[source.name] / sum(sizes.values()))


def test_a_training_without_merges_has_one_size() -> None:
    with pytest.warns(UserWarning, match="no pair is left"):
        growth = trained([], vocab_size=300).training_report.growth

    assert (growth.points, growth.bytes, growth.tokens_at(256), growth.gain_at(256)) == (((256, 0),), 0, 0, None)


@given(st.lists(st.integers(0, 9), max_size=4500), st.integers(1, 300))
def test_points_are_few_and_end_where_learning_ended(saved: list[int], first: int) -> None:
    symbols = 10 * len(saved)

    growth = VocabularyGrowth.of(99, symbols, [(first + at, count) for at, count in enumerate(saved, 1)], first)

    assert growth.points[0] == (first, symbols)
    assert growth.points[-1] == (first + len(saved), symbols - sum(saved))
    assert len(growth.points) <= 2002
    assert [size for size, _ in growth.points] == sorted({size for size, _ in growth.points})


def test_gains_are_of_the_next_merges() -> None:
    growth = VocabularyGrowth(800, ((256, 800), (1256, 400), (3256, 200)))

    assert [growth.gain_at(size) for size in (256, 1256, 2256, 2257)] == [0.5, 0.25, 1 - 200 / 300, None]
    assert growth.gain_at(256, merges=500) == 0.25


def test_sizes_of_the_table_are_round_between_the_first_and_the_last() -> None:
    growth = VocabularyGrowth(9, ((257, 90), (32_000, 9)))

    sizes = VocabularySizes(growth, {}).sizes()

    assert sizes == [257, *range(2000, 32_000, 2000), 32_000]
    assert VocabularySizes(VocabularyGrowth(9, ((256, 9),)), {}).sizes() == [256]


def test_shares_are_those_of_the_parameters() -> None:
    report = SimpleNamespace(growth=VocabularyGrowth(9, ((1000, 9),)))

    *_, tied, apart = vocabulary_sizes(report, hidden_sizes={100: 2}).tables()

    assert tied.rows == [["1,000", 100_000 / (100_000 + 240_000)]]
    assert apart.rows == [["1,000", 200_000 / (200_000 + 240_000)]]


def test_sources_have_a_table_where_there_are_several() -> None:
    report = trained(None, sources={"</script>": TEXTS, "none": []}).training_report

    table = vocabulary_sizes(report).tables()[1]

    size, tokens = report.growth.bytes, report.growth.tokens_at(600)
    assert table.rows == [["</script>", size, tokens, size / tokens, 1.0, 344], ["none", 0, 0, None, 0.0, 0]]
    assert [column.name for column in table.columns][3:] == [
        *("bytes per token", "share of the training", "learned tokens that it uses most")
    ]
    assert "&lt;/script&gt;" in report.to_html()


def test_quotas_are_told_where_there_are_some() -> None:
    sources = {"en": TEXTS, "zh": ["最低的塔和最新的塔\n"] * 5}
    with pytest.warns(UserWarning, match="are missing: no pair is left"):
        report = trained(None, sources=sources, quota={"zh": 0.5}).training_report

    table = vocabulary_sizes(report).tables()[1]

    zh = report.sources[1]
    assert [column.name for column in table.columns][-2:] == ["quota of them", "missing to it"]
    assert [row[-2:] for row in table.rows] == [[None, 0], [0.5, zh.missing]]
    assert zh.missing > 0


@pytest.mark.parametrize("balance", [{}, {"weights": {"en": 1, "zh": 3, "ja": 2}}, {"temperature": 3}], ids=str)
def test_each_source_of_three_has_its_own_curve(balance: dict[str, Any]) -> None:
    sources = {"en": TEXTS[:200], "zh": ["最低的塔和最新的塔\n"] * 50, "ja": ["塔は高い。\n", "低い塔。\n"] * 30}
    options: dict[str, Any] = {"sources": sources, "vocab_size": 330, "min_frequency": 1, **balance}

    report = trained(None, **options).training_report

    for source in report.sources:
        assert source.growth is not None
        assert source.growth.bytes == source.bytes == sum(len(text.encode()) for text in sources[source.name])
        assert source.growth.sizes == (256, 330)
        assert source.growth.tokens_at(256) == source.bytes
        for size in (257, 290, 330):
            smaller = trained(None, **(options | {"vocab_size": size}))
            assert source.growth.tokens_at(size) == tokens_of(smaller, sources[source.name])
    for size, tokens in report.growth.points:
        assert tokens == sum(source.growth.tokens_at(size) or 0 for source in report.sources if source.growth)
    table = vocabulary_sizes(report).tables()[2]
    sizes = vocabulary_sizes(report).sizes()
    assert [row[:2] for row in table.rows] == [[name, f"{size:,}"] for name in sources for size in sizes]
    assert [row[3] for row in table.rows if row[1] == "330"] == [source.tokens for source in report.sources]
    assert "Bytes per token by source and vocabulary size" in report.to_html()
    assert pickle.loads(pickle.dumps(report)) == report


@pytest.mark.parametrize("sizes", [{0: 1}, {1: -1}, {"a": 1}])
def test_hidden_sizes_are_numbers(sizes: Any) -> None:
    with pytest.raises(ValueError, match="hidden_sizes maps hidden sizes to numbers of layers, got"):
        trained().training_report.to_html(hidden_sizes=sizes)


def test_a_report_that_knows_no_growth_is_refused() -> None:
    with pytest.raises(ValueError, match="doesn't tell what each merge saved"):
        vocabulary_sizes(hf_bpe.TrainingReport())


class Page(HTMLParser):
    """Collects what a page would run or fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [tag] if tag in ("script", "link", "img", "iframe") else []
        self.found += [name for name, _ in attrs if name in ("src", "href") or name.startswith("on")]


def test_the_page_needs_nothing_else_and_tells_every_size() -> None:
    report = trained().training_report

    text = report.to_html(hidden_sizes={512: 8})

    page = Page()
    page.feed(text)
    assert page.found == []
    assert '<meta name="viewport"' in text
    assert "512 x 8 layers" in text
    for size in vocabulary_sizes(report).sizes():
        assert f"{report.growth.bytes / report.growth.tokens_at(size):,.3f}" in text
    assert pickle.loads(pickle.dumps(report)) == report


def test_the_command_writes_a_page(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("".join(TEXTS), encoding="utf-8")
    common = ["train", str(tmp_path / "a.txt"), "--vocab-size", "500", "--no-progress"]
    page = ["--report", str(tmp_path / "a.html"), "--hidden-size", "1024:24"]

    run = CliRunner().invoke(app, [*common, "--out", str(tmp_path / "made"), *page])

    assert run.exit_code == 0, run.output
    assert "1,024 x 24 layers" in (tmp_path / "a.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--report", "missing/a.html"], "is no directory"),
        (["--hidden-size", "4096"], "SIZE:LAYERS, such as"),
    ],
)
def test_the_command_refuses_before_it_reads(options: list[str], message: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a", encoding="utf-8")

    run = CliRunner().invoke(
        app, ["train", str(tmp_path / "a.txt"), "--vocab-size", "500", "--out", str(tmp_path / "b"), *options]
    )

    assert run.exit_code == 2
    assert message in " ".join(run.output.replace("│", " ").split())
    assert not (tmp_path / "b").exists()
