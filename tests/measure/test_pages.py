"""The page, `show` and `hf-bpe measure`: nothing is fetched or run, every token is escaped, all figures are there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from libraries import in_every_library, small

from hf_bpe import HfBpeTokenizer, measure, show
from hf_bpe.vocabulary import Vocabulary

COMMAND = [sys.executable, "-c", "from hf_bpe.cli import main; main()"]
EVIL = "</script><script>alert(1)</script>"
RANKS = {bytes([byte]): byte for byte in range(256)}


def run(*arguments: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run `hf-bpe measure` in a process of its own."""
    environment = os.environ | {"TRANSFORMERS_VERBOSITY": "error", "COLUMNS": "200"}
    command = [*COMMAND, "measure", *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, env=environment, timeout=120, check=False)


class Elements(HTMLParser):
    """The elements of a page, and whether they are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def elements_of(page: str) -> Elements:
    """Return the elements of a page that is well formed."""
    elements = Elements()
    elements.feed(page)
    elements.close()
    assert not elements.open
    return elements


def evil() -> Vocabulary:
    """Return a vocabulary with a token that would end a script."""
    ranks = dict(RANKS)
    for end in range(2, len(EVIL) + 1):
        ranks.setdefault(EVIL[:end].encode(), len(ranks))
    return Vocabulary.from_ranks(ranks, split_pattern=r"[^\n]+|\n", added_tokens={})


@pytest.fixture(scope="module")
def directories(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two saved tokenizers; the first has a token that would end a script."""
    folder = tmp_path_factory.mktemp("measure")
    for name, made in (("evil", evil()), ("[red]small", small())):
        HfBpeTokenizer.from_vocabulary(made).save_pretrained(folder / name)
    return folder / "evil", folder / "[red]small"


def test_a_page_escapes_every_token_and_fetches_nothing() -> None:
    made = measure.measured(evil(), name=EVIL)
    results = [
        measure.fertility(made, {EVIL: [EVIL]}),
        measure.vocabulary(made, EVIL),
        measure.numbers(made, sample=20),
    ]

    page = measure.page_of(results, [show(made, f"{EVIL}\n\x1b[31m\u202ea\0<b>")], title=EVIL)

    elements = elements_of(page)
    assert "script" not in elements.seen
    assert elements.seen.isdisjoint({"link", "img", "iframe", "b", "a"})
    assert elements.attributes <= {"charset", "class", "content", "lang", "name", "style", "title"}
    assert "&lt;/script&gt;" in page
    assert not {"\x1b", "\u202e", "\0"} & set(page)
    assert "http" not in page
    assert 'name="viewport"' in page


def test_a_comparison_has_two_bars_of_one_scale_for_each_figure() -> None:
    first, second = (
        measure.bill(made, {"a": ["the cat"], "b": ["you"]}, price_per_million=1, name=f"<{number}>")
        for number, made in enumerate((evil(), small()))
    )

    page = measure.page_of([first.compared_with(second), first, second])

    assert [row["first"] for row in first.compared_with(second).tables()[0].as_json()][:1] == [7]
    assert '<span class="hfbpe-key">&lt;0&gt;</span><span class="hfbpe-key">&lt;1&gt;</span>' in page
    assert 'style="width:100.0%"></span><span class="hfbpe-bar" style="width:42.9%"' in page
    assert 'style="width:42.9%"></span><span class="hfbpe-bar" style="width:42.9%"' in page
    assert page.count('<details class="section">') == 2
    assert elements_of(page).seen >= {"details", "summary"}


def test_the_row_of_all_together_has_no_bar_beside_others() -> None:
    bill = measure.bill(small(), {"a": ["the cat"], "b": ["you"]}, price_per_million=1)

    page = measure.page_of([bill])

    assert '<tr class="all"><td class="text">all</td><td class="number">2</td><td class="number">6</td>' in page
    assert page.count('class="hfbpe-bar"') == 2


def test_a_page_names_each_text_and_counts_its_tokens() -> None:
    page = measure.page_of([], [show(small(), "the 你\n<b>", name="<x>")])

    assert "<h3>&lt;x&gt;: 8 tokens</h3>" in page
    assert """<span class="t0" title="&#x27;the&#x27; 257">the</span>""" in page
    assert "↵\n</span>" in page


def test_a_result_shows_itself_in_a_notebook() -> None:
    found = measure.fertility(small(), {"<i>": ["the cat"]})

    elements = elements_of(found._repr_html_())
    assert {"table", "style"} <= elements.seen
    assert "i" not in elements.seen


def test_the_command_compares_two_tokenizers(directories: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "en.txt").write_text("the cat 12345\n" * 9, encoding="utf-8")
    (tmp_path / "zh.jsonl").write_text('{"text": "你好"}\n', encoding="utf-8")
    files = ("--html", tmp_path / "a.html", "--json", tmp_path / "a.json")

    result = run(directories[1], "--against", directories[0], tmp_path / "en.txt", tmp_path / "zh.jsonl", *files)

    assert result.returncode == 0, result.stderr
    assert b"[red]small" in result.stdout
    assert b"NaN" not in result.stdout
    found = json.loads((tmp_path / "a.json").read_text("utf-8"), parse_constant=pytest.fail)
    names = [tokenizer["name"] for tokenizer in found["tokenizers"]]
    rows = found["tokenizers"][0]["results"][0]["tables"]["Tokens by source"]
    core = small().core
    assert names == ["[red]small", "evil"]
    assert rows[0]["tokens"] == 9 * len(core.encode_ids("the cat 12345\n", add_special_tokens=False))
    assert rows[1]["tokens"] == len(core.encode_ids("你好", add_special_tokens=False))
    assert found["comparison"]
    assert "script" not in elements_of((tmp_path / "a.html").read_text("utf-8")).seen


def test_the_command_measures_a_model_a_price_and_stdin(directories: tuple[Path, Path], tmp_path: Path) -> None:
    sizes = {
        "num_hidden_layers": 2,
        "hidden_size": 16,
        "num_attention_heads": 4,
        "vocab_size": 100,
        "tie_word_embeddings": False,
    }
    config = {"model_type": "odd", **sizes}
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    options = ("--model-config", tmp_path, "--context", "77", "--price", "2", "--throughput")

    result = run(directories[0], "-", *options, stdin=b"the cat\n")

    assert result.returncode == 0, result.stderr
    for expected in (b"Bill", b"Throughput", b"KV cache of odd", b"77", b"stdin"):
        assert expected in result.stdout
    assert b"the share of embeddings is left out: the parameters of 'odd' are not counted" in result.stderr


def test_the_command_tells_what_each_tokenizer_costs_a_model(directories: tuple[Path, Path], tmp_path: Path) -> None:
    sizes = {"num_hidden_layers": 2, "hidden_size": 16, "num_attention_heads": 4, "intermediate_size": 8}
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "llama", "vocab_size": 999, **sizes}), "utf-8")
    (tmp_path / "a.txt").write_text("the cat\n", encoding="utf-8")
    options = ("--model-config", tmp_path, "--context", "100", "--json", tmp_path / "a.json")

    result = run(directories[1], "--against", directories[0], tmp_path / "a.txt", *options)

    assert result.returncode == 0, result.stderr
    model = json.loads((tmp_path / "a.json").read_text("utf-8"))["model"]
    tables = [table for found in model for table in found["tables"].items()]
    assert [name for name, _ in tables] == ["KV cache", "The same text", *["Share of embeddings"] * 2]
    longer = tables[1][1][0]
    assert (longer["tokens of the first"], longer["tokens of the second"]) == ("100", 200)
    assert longer["bytes more"] == 100 * 2 * 2 * 16 * 2
    assert [rows[0]["vocabulary"] for _, rows in tables[2:]] == [301, len(evil().core.get_vocab())]


def test_embedding_rows_count_added_tokens_in_every_library() -> None:
    found = {name: measure.measured(made).embedding_rows for name, made in in_every_library().items()}

    assert set(found.values()) == {301}


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [(b"", 0, b"there is no text in the corpus"), (b"a", 0, b""), (b"\xff\0\xfe", 1, b"line 1: isn't UTF-8")],
)
def test_the_command_is_clear_about_odd_files(
    directories: tuple[Path, Path], tmp_path: Path, content: bytes, code: int, said: bytes
) -> None:
    (tmp_path / "c.txt").write_bytes(content)

    result = run(directories[0], tmp_path / "c.txt", "--against", directories[1], "--html", tmp_path / "out.html")

    assert (result.returncode, said in result.stderr) == (code, True), result.stderr
    assert b"nan" not in result.stdout.lower()
    assert (tmp_path / "out.html").exists() == (code == 0)


def test_a_corpus_that_is_not_there_is_named(directories: tuple[Path, Path], tmp_path: Path) -> None:
    result = run(directories[0], tmp_path / "missing.txt", "--json", tmp_path / "a.json")

    assert result.returncode == 1
    assert b"missing.txt" in result.stderr
    assert not (tmp_path / "a.json").exists()
