"""A text by token: all of it, in order, with nothing in it that a browser or a terminal would obey."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
import tokenizers
from hostile import HOSTILE
from libraries import in_every_library

from hf_bpe import HfBpeTokenizer, show, train
from hf_bpe.measure import measured

METASPACE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}


@pytest.fixture(scope="module")
def byte_level(small_tokenizer_json: Path) -> HfBpeTokenizer:
    return HfBpeTokenizer(tokenizer_file=str(small_tokenizer_json))


@pytest.fixture(scope="module", params=["byte-level", "metaspace", "normalizing"])
def tokenizer(request: pytest.FixtureRequest, byte_level: HfBpeTokenizer) -> HfBpeTokenizer:
    corpus = ["low lower lowest"] * 9
    if request.param == "metaspace":
        return train(
            corpus, vocab_size=271, alphabet="characters", byte_fallback=True, pre_tokenizer=METASPACE, progress=False
        )
    if request.param == "normalizing":
        steps = [{"type": "NFKC"}, {"type": "Strip", "strip_left": True, "strip_right": True}]
        return train(corpus, vocab_size=263, normalizer={"type": "Sequence", "normalizers": steps}, progress=False)
    return byte_level


class Reader(HTMLParser):
    """Reads a page as a browser does: its elements, their titles and the text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.titles: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.titles += [value or "" for name, value in attrs if name == "title"]
        assert {name for name, _ in attrs} <= {"style", "title"}

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_spans_hold_all_of_the_text_and_all_ids(text: str, tokenizer: HfBpeTokenizer) -> None:
    shown = show(tokenizer, text)

    assert "".join(span.text for span in shown.spans) == text
    assert [token_id for span in shown.spans for token_id in span.ids] == tokenizer.encode(text)
    assert all(span.text or span.ids for span in shown.spans)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_page_has_an_element_for_each_span_and_no_other(text: str, tokenizer: HfBpeTokenizer) -> None:
    shown = show(tokenizer, text)

    page = Reader(shown._repr_html_())

    assert page.elements == ["div", *["span"] * len(shown.spans), "small"]
    ids = [[int(found) for found in re.findall(r"""['"] (\d+)(?:, |$)""", title)] for title in page.titles]
    assert [len(found) for found in ids if found] == [len(span.ids) for span in shown.spans if span.ids]
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", page.text)


def test_a_token_is_never_markup(byte_level: HfBpeTokenizer) -> None:
    tokenizer = HfBpeTokenizer.from_vocabulary(byte_level.vocabulary)
    tokenizer.add_tokens(["</span><script>alert(1)</script>", '" onmouseover="x'])

    page = show(tokenizer, 'a</span><script>alert(1)</script>b" onmouseover="x <img src=x>')._repr_html_()

    assert "<script" not in page
    assert "<img" not in page
    assert html.escape("</span><script>alert(1)</script>") in page
    assert set(Reader(page).elements) == {"div", "span", "small"}


def test_tokens_that_share_a_character_are_one_span(byte_level: HfBpeTokenizer) -> None:
    shown = show(byte_level, "a🙂b", add_special_tokens=False)

    assert [(span.text, len(span.ids)) for span in shown.spans] == [("a", 1), ("🙂", 4), ("b", 1)]


def test_what_a_normalizer_drops_is_shown_without_a_token() -> None:
    strip = {"type": "Strip", "strip_left": True, "strip_right": True}
    tokenizer = train(["low lower"] * 9, vocab_size=259, normalizer=strip, progress=False)

    shown = show(tokenizer, "  low  ")

    assert [(span.text, bool(span.ids)) for span in shown.spans] == [("  ", False), ("low", True), ("  ", False)]
    assert '<span title="no token">  </span>' in shown._repr_html_()


@pytest.mark.parametrize("real_vocabulary", ["gpt2"], indirect=True)
def test_spaces_belong_to_their_tokens_also_where_offsets_are_trimmed(real_vocabulary: Path) -> None:
    tokenizer = HfBpeTokenizer(tokenizer_file=str(real_vocabulary))

    assert tokenizer("a  b", return_offsets_mapping=True)["offset_mapping"] == [(0, 1), (2, 2), (3, 4)]
    assert str(show(tokenizer, "a  b")) == "'a': 'a' 64\n' ': 'Ġ' 220\n' b': 'Ġb' 275"


def test_special_tokens_that_are_split_are_shown_as_text(small_tokenizer_json: Path) -> None:
    tokenizer = HfBpeTokenizer(tokenizer_file=str(small_tokenizer_json), split_special_tokens=True)

    shown = show(tokenizer, "a<pad>b", add_special_tokens=False)

    assert "".join(span.text for span in shown.spans) == "a<pad>b"
    assert [token_id for span in shown.spans for token_id in span.ids] == tokenizer.encode(
        "a<pad>b", add_special_tokens=False
    )
    assert len(shown.spans) > 3


def test_special_tokens_that_are_added_are_shown_on_demand(byte_level: HfBpeTokenizer) -> None:
    assert str(show(byte_level, "def")) == "'': '<s>' 0\n'def': 'def' 314\n'': '</s>' 1"
    assert str(show(byte_level, "def", add_special_tokens=False)) == "'def': 'def' 314"
    assert repr(show(byte_level, "")) == "'': '<s>' 0\n'': '</s>' 1"


def test_tokenizers_of_every_library_show_the_same_spans() -> None:
    text = "the cat 你\n🙂<b>"

    found = {name: show(made, text, name="one") for name, made in in_every_library().items()}

    assert "".join(span.text for span in found["tiktoken"].spans) == text
    for shown in found.values():
        assert [(span.text, span.ids) for span in shown.spans] == [
            (span.text, span.ids) for span in found["tiktoken"].spans
        ]
    assert {shown.name for shown in found.values()} == {"one"}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_any_text_is_shown_whole_with_a_tokenizer_of_stock(text: str) -> None:
    stock = in_every_library()["tokenizers"]

    shown = show(stock, text)

    assert "".join(span.text for span in shown.spans) == text
    assert shown.ids == measured(stock).encode([text])[0].tolist()


def test_a_library_that_normalizes_says_where_tokens_stand() -> None:
    stock = tokenizers.Tokenizer.from_str(str(in_every_library()["tokenizers"].to_str()))  # type: ignore[attr-defined]
    stock.normalizer = tokenizers.normalizers.NFKC()

    shown = show(stock, "ｔｈｅ ①")

    assert [(span.text, span.ids) for span in shown.spans] == [("ｔｈｅ", (257,)), (" ", (32,)), ("①", (49,))]


def test_other_objects_are_refused(byte_level: HfBpeTokenizer) -> None:
    with pytest.raises(TypeError, match=r"hf_bpe knows tokenizers of .*, got <class 'int'>"):
        show(3, "text")
    with pytest.raises(TypeError, match=r"show\(\) takes a str, got list"):
        show(byte_level, ["text"])  # type: ignore[arg-type]
