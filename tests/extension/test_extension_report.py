"""The report of an extension: as text, as JSON, and as a page that no token can break."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest
from extending import quietly

from hf_bpe import ExtensionReport, HfBpeTokenizer, add_words, train
from hf_bpe.corpus import open_corpus
from hf_bpe.extension.report import ChangedLine, ChangedToken, NewToken, RefusedWord, Saving
from hf_bpe.extension.sampling import Sample

EVIL = "</script><script>alert('&\"')</script>\x1b[31m\u202e\x00"


class Page(HTMLParser):
    """What a browser would find: the tags, and the text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


def evil_report() -> ExtensionReport:
    token = NewToken(7, EVIL, EVIL, (1, 2), (1, 2), 5)
    return ExtensionReport(
        old_size=7,
        new_size=8,
        added=(token,),
        id_map={1: 2},
        source=Saving(1, 3, 2),
        languages={EVIL: Saving(1, 3, 2)},
        texts={EVIL: Saving(1, 3, 2)},
        lines_read=1,
        lines_changed=1,
        lines=(ChangedLine(EVIL, [EVIL, EVIL], [EVIL], True),),
        unreachable=(token,),
        changed_tokens=(ChangedToken(1, EVIL, [1], [2]),),
        refused=(RefusedWord(EVIL, EVIL),),
        known={EVIL: 3},
        notes=(EVIL,),
    )


@pytest.fixture(scope="module")
def old() -> HfBpeTokenizer:
    return train(["low lower lowest"] * 20, vocab_size=262, progress=False)


def test_no_text_becomes_markup_on_the_page() -> None:
    page = evil_report().to_html()
    seen, plain = Page(page), Page(ExtensionReport(old_size=7, new_size=7).to_html())

    assert set(seen.tags) - set(plain.tags) <= {"h2", "table", "tr", "th", "td", "span"}
    assert "script" not in seen.tags
    assert seen.text.count("</script><script>alert('&\"')</script>") >= 10
    assert not set(page) & {"\x1b", "\u202e", "\x00"}
    assert "\\x1b[31m\\u202e\\x00" in seen.text


def test_the_page_needs_nothing_else() -> None:
    page = Page(evil_report().to_html())

    assert not {"script", "link", "img", "iframe", "object"} & set(page.tags)
    assert {name for name, _ in page.attributes} <= {"lang", "charset", "class"}


def test_lone_surrogates_do_not_keep_a_page_from_being_written(tmp_path: Path) -> None:
    report = ExtensionReport(old_size=1, new_size=1, refused=(RefusedWord("\ud800", "\udfff"),))

    report.save(tmp_path / "report.html")

    assert "\ufffd" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_the_json_holds_everything(old: HfBpeTokenizer) -> None:
    _, report = quietly(old, ["zebra"] * 9, num_new_tokens=2, report_on={"mine": ["zebra", "low"]})

    told = json.loads(json.dumps(report.as_json()))

    assert told["added"] == [
        {
            "id": 262 + at,
            "token": token.token,
            "text": token.text,
            "halves": list(token.halves or ()),
            "parts": list(token.parts),
            "saved": token.saved,
        }
        for at, token in enumerate(report.added)
    ]
    assert told["source"] == {"texts": 9, "before": 45, "after": 27, "saved": 18, "share": 0.4}
    assert told["texts"] == {"mine": {"texts": 2, "before": 6, "after": 4, "saved": 2, "share": pytest.approx(1 / 3)}}
    assert told["languages"]["Latin"] == told["source"]
    assert (told["old_size"], told["new_size"], told["id_map"], told["dropped"]) == (262, 264, None, [])
    assert (told["lines_read"], told["lines_changed"]) == (11, 10)
    assert told["lines"][0]["before"] == ["z", "e", "b", "r", "a"]
    assert told["lines"][0]["coarser"] is True
    assert told["unreachable"] == told["refused"] == []


def test_the_text_says_what_was_saved(old: HfBpeTokenizer) -> None:
    _, report = quietly(old, ["zebra"] * 9, num_new_tokens=2, report_on={"mine": ["zebra", "low"]})

    assert str(report).splitlines()[:5] == [
        "262 -> 264 ids: 2 tokens added",
        "source: 45 -> 27 tokens, 40.0% saved",
        "Latin, in a sample of the source: 45 -> 27 tokens, 40.0% saved",
        "mine: 6 -> 4 tokens, 33.3% saved",
        "lines that take other tokens: 10 of 11 that were read",
    ]
    assert "new: 262 " in str(report)


def test_the_text_tells_of_words(old: HfBpeTokenizer) -> None:
    _, report = add_words(old, ["low", "a b"], skip_refused=True)

    assert f"a token already: 'low' is {old.encode('low')[0]}" in str(report)
    assert "refused: 'a b': the split pattern cuts it" in str(report)


def test_a_report_is_saved_as_its_name_says(old: HfBpeTokenizer, tmp_path: Path) -> None:
    _, report = quietly(old, ["zebra"] * 9, num_new_tokens=2)

    for name in ("a.html", "a.json", "a.txt"):
        report.save(tmp_path / name)

    assert (tmp_path / "a.html").read_text(encoding="utf-8") == report.to_html()
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["new_size"] == 264
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == f"{report}\n"


def test_a_page_shows_the_lines_that_changed(old: HfBpeTokenizer) -> None:
    _, report = quietly(old, ["a zebra & <b>"] * 9, num_new_tokens=9)

    page = Page(report.to_html())

    assert "joined" in page.text
    assert " zebra" in page.text
    assert "b" not in page.tags


def test_a_sample_is_spread_over_the_whole_corpus_and_bounded() -> None:
    texts = [f"text {number}" for number in range(10_000)]
    sample = Sample(texts=100)

    for _ in sample.watch(open_corpus(texts).batches):
        pass

    assert 100 <= len(sample.texts) <= 200
    assert sample.texts == texts[:: texts.index(sample.texts[1])]


def test_a_sample_does_not_depend_on_batches() -> None:
    texts = [f"text {number}" * (number % 5) for number in range(3_000)]
    samples = []
    for size in (1, 7, 3_000):
        sample = Sample(texts=100)
        for _ in sample.watch(
            iter(open_corpus(texts[at : at + size]).batches.__next__() for at in range(0, 3_000, size))
        ):
            pass
        samples.append(sample.texts)

    assert samples[0] == samples[1] == samples[2]


def test_long_texts_are_cut_in_a_sample(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("語" * 100_000, encoding="utf-8")
    sample = Sample()

    for source in (["語" * 100_000], tmp_path / "long.txt"):
        for _ in sample.watch(open_corpus(source).batches):
            pass

    assert sample.texts == ["語" * 20_000] * 2
