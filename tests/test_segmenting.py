"""Word borders of a segmenter while training: no merge crosses them, and encoding needs none."""

from __future__ import annotations

import builtins
import json
import re
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import slow_training
import tokenizers
from hostile import HOSTILE

import hf_bpe
from hf_bpe import HfBpeTokenizer, PretokenCounts
from hf_bpe.byte_alphabet import BYTE_TO_CHAR
from hf_bpe.segmenting import segmenter_of

ZH = ["大模型的训练需要很多数据", "模型训练的数据很多，大数据的模型", "训练 模型 and data"] * 5
THAI = ["ภาษาไทยง่ายมาก 😀ภาษาไทย"] * 5


def train(texts: Any, **options: Any) -> HfBpeTokenizer:
    options = {"vocab_size": 330, "split_pattern": "gpt2", "min_frequency": 1} | options
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return hf_bpe.train(texts, progress=False, **options)


def merges_of(tokenizer: HfBpeTokenizer) -> list[list[str]]:
    merges: list[list[str]] = json.loads(tokenizer.backend_tokenizer.to_str())["model"]["merges"]
    return merges


def pairs(text: str) -> list[str]:
    return re.findall(r"\s?\S{1,2}|\s+", text)


def slow_merges(texts: list[str], borders: Any, size: int = 330) -> list[list[str]]:
    words: Counter[bytes] = Counter()
    for pretoken, count in PretokenCounts.count(texts, split_pattern="gpt2", progress=False):
        text = pretoken.decode()
        ends = [*borders(text), len(text)]
        for start, end in zip([0, *ends], ends, strict=False):
            words[text[start:end].encode()] += count
    learned = slow_training.train([words], [1], vocab_size=size)
    return [["".join(BYTE_TO_CHAR[byte] for byte in part) for part in pair] for pair in learned.merges]


@pytest.mark.parametrize("name", ["callable", "jieba", "icu"])
def test_merges_are_those_of_words(name: str, tmp_path: Path) -> None:
    if name != "callable":
        pytest.importorskip({"icu": "icu4py"}.get(name, name))
    segmenter = pairs if name == "callable" else name
    tokenizer = train(ZH + THAI, segmenter=segmenter)

    assert merges_of(tokenizer) == slow_merges(ZH + THAI, segmenter_of(segmenter))
    assert merges_of(tokenizer) != merges_of(train(ZH + THAI))
    tokenizer.save_pretrained(tmp_path)
    stock = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in ZH + THAI + [*HOSTILE.values()]:
        assert stock.encode(text).ids == tokenizer(text)["input_ids"]


def test_words_and_offsets_are_the_same_borders() -> None:
    def offsets(text: str) -> list[int]:
        return [sum(map(len, pairs(text)[:number])) for number in range(1, len(pairs(text)))]

    assert merges_of(train(ZH, segmenter=offsets)) == merges_of(train(ZH, segmenter=pairs))


def test_counts_and_sources_are_cut_too() -> None:
    counts = PretokenCounts.count(ZH, split_pattern="gpt2", progress=False)
    expected = merges_of(train(ZH, segmenter=pairs))

    assert merges_of(train(counts, split_pattern=None, segmenter=pairs)) == expected
    assert merges_of(train(None, sources={"zh": ZH}, segmenter=pairs)) == expected
    assert merges_of(train(None, sources={"zh": counts}, split_pattern=None, segmenter=pairs)) == expected
    assert dict(counts) == dict(PretokenCounts.count(ZH, split_pattern="gpt2", progress=False))


def test_a_segmenter_is_asked_once_for_each_distinct_pretoken() -> None:
    asked = []

    def whole(text: str) -> list[str]:
        asked.append(text)
        return [text]

    train(["low 大模型 lower"] * 9, segmenter=whole, vocab_size=260)

    assert sorted(asked) == sorted(["low", " 大模型", " lower"])


def test_named_segmenters_leave_text_with_spaces_alone() -> None:
    pytest.importorskip("jieba")
    pytest.importorskip("icu4py")

    for name in ("jieba", "icu"):
        borders = segmenter_of(name)
        assert borders(" lower") == borders("снова здорово") == borders("don't 12.5") == []
        assert 1 not in borders(" 模型训练")
        assert borders(" 模型训练") == [3]
    assert segmenter_of("icu")("😀ภาษาไทย") == [1, 5]


def test_what_a_segmenter_gives_is_checked() -> None:
    cases: list[tuple[Any, type[Exception], str]] = [
        (lambda text: [text[1:]], ValueError, "the words have to make up the text"),
        (lambda text: [0, len(text) + 1], ValueError, "give ascending offsets inside the text"),
        (lambda text: [2, 1], ValueError, "give ascending offsets inside the text"),
        (lambda text: [None], TypeError, r"give words \(str\), or offsets of borders \(int\)"),
    ]
    for segmenter, error, message in cases:
        with pytest.raises(error, match=message):
            train(["大模型"], segmenter=segmenter)


def test_a_segmenter_is_a_callable_or_a_known_name() -> None:
    with pytest.raises(ValueError, match="segmenter='mecab' is unknown; give 'jieba', 'icu' or a callable"):
        train(["a"], segmenter="mecab")
    with pytest.raises(TypeError, match="segmenter is a callable, 'jieba' or 'icu', got int"):
        train(["a"], segmenter=1)


def test_affixes_and_a_segmenter_are_refused() -> None:
    with pytest.raises(ValueError, match="segmenter has no use for an affix"):
        train(["a"], alphabet="characters", split_pattern=None, end_of_word_suffix="</w>", segmenter=pairs)


@pytest.mark.parametrize(("name", "package"), [("jieba", "jieba"), ("icu", "icu4py")])
def test_a_segmenter_that_is_not_installed_is_told(name: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(module: str, *arguments: Any, **options: Any) -> Any:
        if module.split(".")[0] == package:
            raise ImportError(f"No module named {module!r}")
        return real(module, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)

    with pytest.raises(ImportError, match=rf"segmenter='{name}' needs {package} .*pip install hf-bpe\[{name}\]"):
        train(["a"], segmenter=name)
