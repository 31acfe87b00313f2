"""Training from several sources: weights, quotas, and what the report says, against recounting everything."""

from __future__ import annotations

import json
import random
import re
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import slow_training

import hf_bpe
from hf_bpe import HfBpeTokenizer, PretokenCounts
from hf_bpe.byte_alphabet import BYTE_TO_CHAR
from hf_bpe.training_sources import Balance

EN = ["the lowest and the widest of the lower towers", "newer and newest, wider and lower"] * 6
ZH = ["低的塔和新的塔", "最低的和最新的塔，更宽的塔"] * 3
SOURCES = {"en": EN, "zh": ZH}


def train(sources: dict[str, Any], **options: Any) -> HfBpeTokenizer:
    options = {"vocab_size": 320, "split_pattern": "gpt2", "min_frequency": 1} | options
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return hf_bpe.train(sources=sources, progress=False, **options)


def words_of(texts: list[str]) -> dict[bytes, int]:
    return dict(PretokenCounts.count(texts, split_pattern="gpt2", progress=False))


def json_of(tokenizer: HfBpeTokenizer) -> Any:
    return json.loads(tokenizer.backend_tokenizer.to_str())


def merges_of(tokenizer: HfBpeTokenizer) -> list[tuple[str, str]]:
    return [tuple(pair) for pair in json_of(tokenizer)["model"]["merges"]]


def written(token: bytes) -> str:
    return "".join(BYTE_TO_CHAR[byte] for byte in token)


def same(tokenizer: HfBpeTokenizer, slow: slow_training.Slow, names: list[str]) -> bool:
    report = tokenizer.training_report
    assert merges_of(tokenizer) == [(written(left), written(right)) for left, right in slow.merges]
    most = {written(left + right): names[source] for (left, right), source in zip(slow.merges, slow.most, strict=True)}
    assert report.used_most_by == most
    assert [source.tokens for source in report.sources] == slow.tokens
    assert [source.missing for source in report.sources] == slow.missing
    assert [source.used_most for source in report.sources] == [slow.most.count(at) for at in range(len(names))]
    return True


def test_without_weights_sources_are_one_corpus() -> None:
    apart = train(SOURCES, vocab_size=310)
    together = hf_bpe.train(EN + ZH, vocab_size=310, split_pattern="gpt2", min_frequency=1, progress=False)

    assert json_of(apart) == json_of(together)
    assert apart.training_report.distinct_pretokens == together.training_report.distinct_pretokens
    assert apart.training_report.texts == len(EN) + len(ZH)


def test_the_tokens_of_a_source_are_those_that_encoding_it_gives() -> None:
    tokenizer = train(SOURCES, weights={"en": 1, "zh": 3}, quota={"zh": 0.4})

    for source in tokenizer.training_report.sources:
        texts = SOURCES[source.name]
        assert source.tokens == sum(len(tokenizer.encode_ordinary(text)) for text in texts)
        assert source.bytes == sum(len(text.encode()) for text in texts)
        assert source.bytes_per_token == source.bytes / source.tokens


@pytest.mark.parametrize("weights", [{"en": 1, "zh": 1}, {"zh": 0.3, "en": 0.7}, {"en": 0.001, "zh": 5}])
def test_weights_are_shares_of_the_training(weights: dict[str, float]) -> None:
    tokenizer = train(SOURCES, weights=weights)

    sizes = [sum(len(text.encode()) for text in texts) for texts in SOURCES.values()]
    multipliers, one = Balance(weights).multipliers(list(SOURCES), sizes)
    slow = slow_training.train([words_of(EN), words_of(ZH)], multipliers, vocab_size=320, min_frequency=one)
    assert same(tokenizer, slow, list(SOURCES))
    for source in tokenizer.training_report.sources:
        assert source.share == pytest.approx(weights[source.name] / sum(weights.values()))


def test_weights_of_any_unit_are_exact() -> None:
    tiny = train(SOURCES, weights={"en": 1e-13, "zh": 2e-13})

    assert json_of(tiny) == json_of(train(SOURCES, weights={"en": 1, "zh": 2}))
    assert [source.share for source in tiny.training_report.sources] == pytest.approx([1 / 3, 2 / 3])


def test_a_temperature_makes_sources_more_equal() -> None:
    def share(temperature: float) -> float:
        return next(s.share for s in train(SOURCES, temperature=temperature).training_report.sources if s.name == "zh")

    size = {name: sum(len(text.encode()) for text in texts) for name, texts in SOURCES.items()}

    assert share(1) == pytest.approx(size["zh"] / (size["zh"] + size["en"]))
    assert share(2) == pytest.approx(size["zh"] ** 0.5 / (size["zh"] ** 0.5 + size["en"] ** 0.5))
    assert share(1e9) == pytest.approx(0.5)
    assert merges_of(train(SOURCES, temperature=1)) == merges_of(train(SOURCES))


def test_min_frequency_is_compared_with_weighted_counts() -> None:
    sources = {"a": ["ab"] * 10, "b": ["cd"] * 10}

    def made(**options: Any) -> list[tuple[str, str]]:
        return merges_of(train(sources, **options))

    assert made(weights={"a": 3, "b": 1}, min_frequency=15) == [("a", "b")]
    assert made(weights={"a": 3, "b": 1}, min_frequency=16) == []
    assert made(weights={"a": 1, "b": 1}, min_frequency=10) == [("a", "b"), ("c", "d")]


@pytest.mark.parametrize("quota", [{"zh": 0.6}, {"zh": 0.5, "en": 0.5}, {"en": 1}, {"zh": 0.05}, {"zh": 1}])
def test_quotas_are_kept(quota: dict[str, float]) -> None:
    tokenizer = train(SOURCES, quota=quota)

    shares = {list(SOURCES).index(name): Fraction(str(share)) for name, share in quota.items()}
    slow = slow_training.train([words_of(EN), words_of(ZH)], [1, 1], vocab_size=320, quotas=shares)
    assert same(tokenizer, slow, list(SOURCES))
    for source in tokenizer.training_report.sources:
        assert source.used_most + source.missing >= quota.get(source.name, 0) * 64


def test_a_quota_that_is_met_anyway_changes_nothing() -> None:
    plain = train(SOURCES)
    zh = next(source for source in plain.training_report.sources if source.name == "zh")

    assert json_of(train(SOURCES, quota={"zh": zh.used_most / 64})) == json_of(plain)
    assert zh.used_most > 0


def test_a_quota_gives_up_the_last_tokens_only() -> None:
    plain, kept = merges_of(train(SOURCES)), merges_of(train(SOURCES, quota={"zh": 0.6}))
    same_until = next(at for at, (one, other) in enumerate(zip(plain, kept, strict=True)) if one != other)

    assert 10 < same_until < 64


def test_random_sources_equal_recounting_everything() -> None:
    rng = random.Random(7)
    for case in range(60):
        names = ["a", "b", "c"][: rng.randint(1, 3)]
        texts = {
            name: [
                " ".join("".join(rng.choices("abcaé好", k=rng.randint(1, 7))) for _ in range(rng.randint(1, 6)))
                for _ in range(rng.randint(0, 5))
            ]
            for name in names
        }
        shares = {name: rng.choice([0, 0.1, 0.25, 0.33]) for name in names if rng.random() < 0.7}
        weights = {name: rng.choice([0.5, 1, 2, 7]) for name in names} if rng.random() < 0.5 else None
        asked = 256 + rng.randint(1, 30)
        tokenizer = train(texts, vocab_size=asked, weights=weights, quota=shares or None)

        counts = [words_of(texts[name]) for name in names]
        sizes = [sum(len(word) * count for word, count in source.items()) for source in counts]
        multipliers, one = Balance(weights).multipliers(names, sizes)
        quotas = {names.index(name): Fraction(str(share)) for name, share in shares.items()}
        slow = slow_training.train(counts, multipliers, vocab_size=asked, quotas=quotas, min_frequency=one)
        assert same(tokenizer, slow, names), case


def test_counts_and_files_are_sources_too(tmp_path: Path) -> None:
    (tmp_path / "zh.txt").write_text("".join(f"{text}\n" for text in ZH), encoding="utf-8")
    lines = [f"{text}\n" for text in ZH]
    counts = PretokenCounts.count(EN, split_pattern="gpt2", progress=False)

    read = train({"en": EN, "zh": [tmp_path / "zh.txt"]}, weights={"en": 1, "zh": 1})
    counted = train({"en": counts, "zh": lines}, weights={"en": 1, "zh": 1})

    assert json_of(read) == json_of(counted)
    assert read.training_report.sources == counted.training_report.sources


def test_spilled_sources_give_the_same() -> None:
    many = [f"word{number} number {number * 7919 % 100_003}" for number in range(60_000)]
    options: dict[str, Any] = {"vocab_size": 400, "weights": {"many": 2, "zh": 1}, "quota": {"zh": 0.2}}

    spilled = train({"many": many, "zh": ZH}, max_memory="1MB", **options)

    assert spilled.training_report.spilled_bytes > 100_000
    assert json_of(spilled) == json_of(train({"many": many, "zh": ZH}, **options))


def test_sources_share_the_memory_allowed() -> None:
    many = {str(source): [f"word{source}x{number}" for number in range(20_000)] for source in range(8)}

    alone = train({"0": many["0"]}, max_memory="4MB")
    together = train(many, max_memory="4MB")

    assert alone.training_report.spilled_bytes == 0
    assert together.training_report.spilled_bytes > 0
    assert json_of(together) == json_of(train(many))


def test_characters_have_sources_too() -> None:
    tokenizer = train(SOURCES, alphabet="characters", vocab_size=80, split_pattern=None, quota={"zh": 0.25})

    learned = tokenizer.training_report.merges
    zh = next(source for source in tokenizer.training_report.sources if source.name == "zh")
    assert zh.used_most >= learned * 0.25
    assert zh.missing == 0
    assert zh.tokens == sum(len(tokenizer.encode_ordinary(text)) for text in ZH)


def test_a_source_without_enough_pairs_is_told() -> None:
    with pytest.warns(UserWarning, match=r"quota: 'zh' is to use 0\.9 of the learned tokens most, and \d+ are missing"):
        hf_bpe.train(sources={"en": EN, "zh": ["低"]}, quota={"zh": 0.9}, vocab_size=280, progress=False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": {"en": 1}}, "weights are for 'en', and sources are 'en', 'zh'"),
        ({"weights": {"en": 1, "zh": 0}}, "weights: 'zh' has 0; give a number above 0, or leave the source out"),
        ({"weights": {"en": 1, "zh": 1}, "temperature": 2}, "weights and temperature both say"),
        ({"temperature": 0}, "temperature=0 is out of range; give a number above 0"),
        ({"temperature": float("nan")}, "temperature=nan is out of range"),
        ({"quota": {"de": 0.5}}, "quota is for 'de', and sources are 'en', 'zh'"),
        ({"quota": {"en": 0.6, "zh": 0.5}}, "give shares from 0 to 1 that are at most 1 together"),
        ({"quota": {"en": -0.1}}, "give shares from 0 to 1"),
        ({"source": ["a"]}, "sources and a source or files are both given: give one of them"),
    ],
    ids=str,
)
def test_options_that_mean_nothing_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        hf_bpe.train(sources=SOURCES, vocab_size=300, progress=False, **options)


def test_options_of_sources_need_sources() -> None:
    for option, value in {"weights": {"a": 1}, "temperature": 2.0, "quota": {"a": 1}}.items():
        with pytest.raises(ValueError, match=rf"^{option} is for several sources: give sources="):
            hf_bpe.train(["a"], vocab_size=300, progress=False, **{option: value})


def test_sources_are_a_dict_of_corpora() -> None:
    with pytest.raises(TypeError, match="sources is a dict of corpora by name, got list"):
        hf_bpe.train(sources=[EN], vocab_size=300)
    with pytest.raises(ValueError, match=r"at least one corpus by name, got the names \[\]"):
        hf_bpe.train(sources={}, vocab_size=300)


def test_counts_of_other_settings_are_refused() -> None:
    counts = {
        name: PretokenCounts.count(EN, split_pattern=name, name=name, progress=False) for name in ("gpt2", "llama3")
    }

    with pytest.raises(hf_bpe.CountsError, match="counts of these sources don't go together"):
        hf_bpe.train(sources=counts, vocab_size=300, progress=False)


def test_warnings_point_at_the_line_that_trains() -> None:
    cut = "a" * 99
    with pytest.warns(UserWarning, match="counted in parts") as of_counts:
        counts = PretokenCounts.count([cut], max_pretoken_bytes=50, progress=False)
    options: dict[str, Any] = {"vocab_size": 400, "max_pretoken_bytes": 50, "progress": False}
    trainings: list[Any] = [
        lambda: hf_bpe.train([cut], **options),
        lambda: hf_bpe.train(counts, **options),
        lambda: hf_bpe.train(sources={"a": [cut], "b": ["b"]}, quota={"b": 0.9}, **options),
        lambda: hf_bpe.train(["a"], vocab_size=257, progress=False).train_new_from_iterator(
            [cut], 400, max_pretoken_bytes=50, show_progress=False
        ),
    ]

    numbers = [len(of_counts)]
    for training in trainings:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            training()
        numbers.append(len(warned))
        assert {warning.filename for warning in warned} == {__file__}

    assert of_counts[0].filename == __file__
    assert numbers == [1, 2, 1, 3, 3]
