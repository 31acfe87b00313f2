"""The page in a browser, where one is installed: nothing fails, no token is run, and it fits a phone."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import escape, unescape
from pathlib import Path

import pytest
from libraries import small

from hf_bpe import measure, show
from hf_bpe.vocabulary import Vocabulary

EVIL = "</script><script>document.title = 'run'; undefined_name()</script><img src=x onerror='undefined_name()'>"
PHONE, DESKTOP = 390, 1280

_MEASURING = """<script>
const wide = [...document.querySelectorAll("body *")].filter(element =>
  !element.closest(".hfbpe-table") && element.getBoundingClientRect().right > innerWidth + 1);
const scrolling = [...document.querySelectorAll(".hfbpe-table")].every(element =>
  element.scrollWidth <= element.clientWidth || getComputedStyle(element).overflowX == "auto");
parent.document.documentElement.setAttribute("data-found", JSON.stringify({
  width: innerWidth, content: document.documentElement.scrollWidth, wide: wide.map(element => element.outerHTML),
  scrolling, scripts: document.scripts.length, title: document.title,
  tokens: [...document.querySelectorAll(".hfbpe-text")].map(element => element.textContent),
}));
</script></body>"""


@pytest.fixture(scope="module")
def browser() -> str:
    """The browser, or a skip."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("no page is tested in a browser: Chromium isn't installed (Debian: apt-get install chromium)")
    return found


def opened(browser: str, page: str, folder: Path, width: int) -> tuple[dict[str, object], list[str]]:
    """Return what a page measures of itself at a width, and what it wrote to the console.

    It stands in a frame: no window of the browser is as narrow as a phone.
    """
    inside = escape(page.replace("</body>", _MEASURING))
    frame = f'<body><iframe style="width: {width}px; height: 900px; border: 0" srcdoc="{inside}"></iframe></body>'
    (folder / "page.html").write_text(f'<meta charset="utf-8">{frame}', encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--hide-scrollbars"]
    command = [browser, *options, f"--user-data-dir={folder / 'profile'}", "--dump-dom"]
    result = subprocess.run(
        [*command, (folder / "page.html").as_uri()], capture_output=True, text=True, timeout=120, check=True
    )
    found = re.search('data-found="([^"]*)"', result.stdout)
    assert found is not None, result.stderr
    return json.loads(unescape(found[1])), [line for line in result.stderr.splitlines() if "CONSOLE" in line]


def page_of_everything() -> str:
    """Return a page with every kind of table, whose sources, tokens and texts hold markup."""
    ranks = {bytes([byte]): byte for byte in range(256)}
    for end in range(2, len(EVIL) + 1):
        ranks.setdefault(EVIL[:end].encode(), len(ranks))
    evil = Vocabulary.from_ranks(ranks, split_pattern=r"[^\n]+|\n", added_tokens={})
    sources = [measure.measured(evil, name=EVIL), measure.measured(small(), name="small")]
    texts = {EVIL: [EVIL], "a_name_without_a_place_to_break_" * 4: ["the cat 123456789 " * 30]}
    both = [
        [counted, measure.parity(source), measure.numbers(source, sample=20), measure.vocabulary(source, counted)]
        for source, counted in zip(sources, measure.fertilities(sources, texts), strict=True)
    ]
    compared = [first.compared_with(second) for first, second in zip(*both, strict=True)]
    shown = [show(source, f"{EVIL}\n{'a' * 300}\n你好") for source in sources]
    return measure.page_of([*compared, *both[0], *both[1]], shown, title=EVIL)


@pytest.mark.parametrize("width", [PHONE, DESKTOP])
def test_a_page_fits_its_window_and_runs_nothing(browser: str, tmp_path: Path, width: int) -> None:
    found, console = opened(browser, page_of_everything(), tmp_path, width)

    assert console == []
    assert (found["scripts"], found["title"]) == (1, EVIL)
    assert (found["width"], found["content"], found["wide"], found["scrolling"]) == (width, width, [], True)
    assert found["tokens"] == [f"{EVIL}↵\n{'a' * 300}↵\n你好"] * 2


def test_what_goes_wrong_in_a_browser_is_noticed(browser: str, tmp_path: Path) -> None:
    page = "<body><script>undefined_name()</script><p style='width: 900px'>wide</p></body>"

    found, console = opened(browser, page, tmp_path, PHONE)

    assert len(console) == 1
    assert "undefined_name" in console[0]
    assert found["wide"] == ['<p style="width: 900px">wide</p>']
    assert found["scripts"] == 2
