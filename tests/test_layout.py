"""The rules of the house: who may import whom, what is public, and what no file may say."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

import hf_bpe

ROOT = Path(__file__).resolve().parents[1]

LAYERS: tuple[set[str], ...] = (
    {"_advice", "errors", "byte_alphabet", "characters", "split_patterns", "telling", "_native"},
    {
        "compiled",
        "keywords",
        "limits",
        "parallelism",
        "pipeline_json",
        "trainer_settings",
        "vocabulary_growth",
        "whole_files",
    },
    {"character_pipeline", "html_text", "known_encodings", "pipeline_identity", "shown_text", "vocabulary"},
    {"formats", "special_tokens"},
    {
        "auto",
        "backend",
        "bookmarks",
        "columns",
        "corpus",
        "documents",
        "encoding",
        "inputs",
        "loading",
        "saving",
        "text_batches",
        "tiktoken_rules",
    },
    {
        "batch",
        "counting",
        "counting_report",
        "learning",
        "learning_memory",
        "learning_sources",
        "methods",
        "pretoken_counts",
        "retraining",
        "segmenting",
        "training",
        "training_inputs",
        "training_report",
        "training_sources",
        "training_tokens",
    },
    {"tokenizer"},
    {"chunking", "fingerprinting", "from_formats", "token_files"},
    {"chat", "verification"},
    {"converting", "distributed", "embeddings", "extension", "linting", "measure", "pinning", "showing"},
    {"cards"},
    {"__init__"},
    {"cli"},
)
"""Modules of `hf_bpe`, lowest first. One may import its own layer and those below it."""

ORACLE_MAY_IMPORT = {"byte_alphabet"}
"""What `reference` may import: an oracle shares no code with what it judges."""


def tracked_files() -> list[Path]:
    """Return the files under version control, or skip where there is none."""
    try:
        output = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    except (FileNotFoundError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    return [path for name in output.decode().split("\0") if name and (path := ROOT / name).is_file()]


def module_of(path: Path) -> str:
    """Return the module or folder of `hf_bpe` that a file belongs to."""
    return path.relative_to(ROOT / "hf_bpe").parts[0].removesuffix(".py")


def imports_at_load(path: Path) -> set[str]:
    """Return the parts of `hf_bpe` that a module imports when it is loaded.

    Imports inside functions and for type checkers don't count: they don't make one module need the other to load.
    """
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module == "hf_bpe":
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("hf_bpe."):
            found.add((node.module or "").split(".")[1])
        elif isinstance(node, ast.Import):
            found |= {name.name.split(".")[1] for name in node.names if name.name.startswith("hf_bpe.")}
        assert not (isinstance(node, ast.ImportFrom) and node.level), f"{path.name} has a relative import"
    return found


def layer_of(module: str) -> int:
    """Return how high a module stands."""
    return next(height for height, layer in enumerate(LAYERS) if module in layer)


MODULES = sorted((ROOT / "hf_bpe").rglob("*.py"))


def test_every_module_has_a_layer() -> None:
    known = set().union(*LAYERS) | {"reference"}

    assert {module_of(path) for path in MODULES} | {"_native"} == known


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_import_downwards_only(path: Path) -> None:
    module, imported = module_of(path), imports_at_load(path)
    if module == "reference":
        assert imported <= ORACLE_MAY_IMPORT
        return

    assert "reference" not in imported, "the oracle is for tests"
    for name in imported:
        assert layer_of(name) <= layer_of(module), f"{module} imports {name}, which stands above it"


def test_the_package_imports_neither_tests_nor_conversion() -> None:
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [name.name for name in node.names] if isinstance(node, ast.Import) else []
            assert not {name.split(".")[0] for name in names} & {"tests", "conversion", "examples"}, path


def test_only_the_seam_knows_python() -> None:
    sources = (ROOT / "native" / "src").rglob("*.rs")
    users = [path for path in sources if "pyo3" in path.read_text(encoding="utf-8")]

    assert users, "the seam is gone"
    assert {path.relative_to(ROOT / "native" / "src").parts[0] for path in users} <= {"python", "python.rs"}


def test_public_names_are_sorted_importable_and_documented() -> None:
    assert hf_bpe.__all__ == sorted(hf_bpe.__all__)
    for name in hf_bpe.__all__:
        assert getattr(hf_bpe, name).__doc__, name
    public = {name for name in vars(hf_bpe) if not name.startswith("_")}
    modules = {path.stem for path in (ROOT / "hf_bpe").iterdir()}
    assert public - modules - {"annotations"} <= set(hf_bpe.__all__)


def test_every_public_function_is_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    assert not [name for name in hf_bpe.__all__ if name not in readme]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_module_says_what_it_is_for(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))

    assert ast.get_docstring(tree)
    assert len(tree.body) == 1 or "from __future__ import annotations" in path.read_text(encoding="utf-8")


MACHINE_PATH = re.compile(r"""(^|["' =(])/(home|Users|tmp|root|mnt|data|w[o]rk)/[a-z]""")


def test_no_file_names_a_place_of_one_machine() -> None:
    for path in tracked_files():
        if path.suffix == ".lock" or path == Path(__file__):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
            assert not MACHINE_PATH.search(line), f"{path.relative_to(ROOT)}, line {number}: {line.strip()}"
