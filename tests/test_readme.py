"""The code of the README and of the pages in docs runs as it stands there."""

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


PAGES = sorted((README.parent / "docs").glob("*.md"))


def blocks(language: str, page: Path = README) -> list[str]:
    """Return the code blocks of a page in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"), flags=re.S | re.M)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_blocks_of_a_page_run_one_after_the_other(page: Path, tmp_path: Path) -> None:
    code = "\n\n".join(blocks("python", page))

    subprocess.run([sys.executable, "-W", "ignore", "-c", code], cwd=tmp_path, check=True, timeout=120)


def test_python_blocks_run_one_after_the_other(tmp_path: Path) -> None:
    code = "\n\n".join(blocks("python"))
    assert code.count("import") >= 3

    subprocess.run([sys.executable, "-W", "ignore", "-c", code], cwd=tmp_path, check=True, timeout=120)


def test_examples_of_the_command_line_run(tmp_path: Path) -> None:
    script = "\n".join(block for block in blocks("sh") if block.startswith("hf-bpe"))
    shutil.copy(README, tmp_path)
    command = f"hf-bpe() {{ {sys.executable} -c 'from hf_bpe.cli import main; main()' \"$@\"; }}\nset -euo pipefail\n"

    result = subprocess.run(
        ["bash", "-c", command + script],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(README.parent)},
        check=True,
        timeout=120,
        capture_output=True,
        text=True,
    )

    assert "Ġtokenizer" in result.stdout
    assert "readme-tokenizer (tokenizer_json) -> readme.gguf (gguf)" in result.stdout


def test_the_commands_at_the_top_are_those_of_the_makefile() -> None:
    makefile = (README.parent / "Makefile").read_text(encoding="utf-8")
    top = next(block for block in blocks("sh") if block.startswith("make"))

    targets = [line.split()[1] for line in top.splitlines()]
    assert targets == ["demo", "test"]
    for target in targets:
        assert re.search(rf"^{target}:", makefile, flags=re.M)


def test_links_lead_to_files() -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", README.read_text(encoding="utf-8"))

    assert links
    assert not [link for link in links if not (README.parent / link).exists()]


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
