"""The Python of the README and of the pages in docs runs as it stands there, and commands that need no files of others.

The commands on training and on extending read corpora that aren't here: tests of their own cover these.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hf_bpe import UnsupportedComponentError
from hf_bpe._native import Tokenizer, supported_components

README = Path(__file__).resolve().parents[1] / "README.md"
PAGES = [README, *sorted(README.parent.glob("docs/*.md"))]

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def blocks(page: Path, language: str) -> list[str]:
    """Return the code blocks of a page in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"), flags=re.S | re.M)


def run_commands(page: Path, folder: Path) -> str:
    """Run the examples of the command line that a page has, one after the other, and return what they print."""
    script = "\n".join(block for block in blocks(page, "sh") if block.startswith("hf-bpe"))
    shutil.copy(README, folder)
    command = f"hf-bpe() {{ {sys.executable} -c 'from hf_bpe.cli import main; main()' \"$@\"; }}\nset -euo pipefail\n"

    result = subprocess.run(
        ["bash", "-c", command + script],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(README.parent)},
        check=True,
        timeout=120,
        capture_output=True,
        text=True,
    )

    return result.stdout


@each_page
def test_python_blocks_run_one_after_the_other(page: Path, tmp_path: Path) -> None:
    code = "\n\n".join(blocks(page, "python"))
    assert code.startswith("import hf_bpe\n")
    if "\nimport ray\n" in code:
        pytest.importorskip("ray", reason="the page is about what the extra `ray` installs")

    # Ray is not to tell anyone that it runs, nor to write a token into the home directory.
    environment = os.environ | {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled"}
    command = [sys.executable, "-W", "ignore", "-c", code]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, timeout=300)


def test_the_commands_of_the_readme_run(tmp_path: Path) -> None:
    printed = run_commands(README, tmp_path)

    assert "Ġtokenizer" in printed
    assert "readme-tokenizer (tokenizer_json) -> readme.gguf (gguf)" in printed


def test_the_commands_of_the_page_on_chats_run(tmp_path: Path) -> None:
    printed = run_commands(README.parent / "docs" / "chat.md", tmp_path)

    assert "<|im_start|>" in printed
    assert "timestamp" in printed


def test_the_commands_of_the_page_on_measuring_run(tmp_path: Path) -> None:
    printed = run_commands(README.parent / "docs" / "measuring.md", tmp_path)

    assert "Tokens that small and larger share" in printed
    assert "<table" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "## Numbers" in (tmp_path / "small" / "README.md").read_text(encoding="utf-8")


def test_the_commands_at_the_top_are_those_of_the_makefile() -> None:
    makefile = (README.parent / "Makefile").read_text(encoding="utf-8")
    top = next(block for block in blocks(README, "sh") if block.startswith("make"))

    targets = [line.split()[1] for line in top.splitlines()]
    assert targets == ["demo", "test"]
    for target in targets:
        assert re.search(rf"^{target}:", makefile, flags=re.M)


@each_page
def test_links_lead_to_files(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text(encoding="utf-8"))

    assert not [link for link in links if not (page.parent / link).exists()]


def test_the_readme_links_to_every_page() -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", README.read_text(encoding="utf-8"))

    assert {f"docs/{page.name}" for page in PAGES[1:]} <= set(links)


def test_the_table_of_supported_components_is_that_of_the_code() -> None:
    section = README.read_text(encoding="utf-8").partition("## Supported components")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", section, flags=re.M)

    assert {part: re.findall(r"`(\w+)`", kinds) for part, kinds in rows} == supported_components()
    assert all(kinds == ", ".join(re.findall(r"`\w+`", kinds)) for _, kinds in rows)


def test_what_the_table_lists_is_what_errors_list() -> None:
    for part, kinds in supported_components().items():
        with pytest.raises(UnsupportedComponentError) as caught:
            Tokenizer.from_json(json.dumps(minimal_file() | {part: {"type": "Nonsense", "vocab": {}, "merges": []}}))
        assert all(f"'{kind}'" in str(caught.value) for kind in kinds)


def minimal_file() -> dict[str, Any]:
    """Return a file with a model alone."""
    return {"model": {"type": "BPE", "vocab": {}, "merges": []}}
