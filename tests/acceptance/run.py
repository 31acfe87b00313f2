"""Runs upstream's acceptance suite for tokenizers against `HfBpeTokenizer`.

The suite is not in the wheel of transformers but in its source archive. pip fetches the archive of the installed
version once, into `.acceptance/`, from where the test classes are laid out as the package they expect to be.

Usage: python tests/acceptance/run.py [pytest arguments]
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import transformers

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".acceptance" / f"transformers-{transformers.__version__}"
# Upstream's helpers look for a folder whose name ends in "tests", and for this text in it.
PACKAGE = FOLDER / "upstream_tests"
SAMPLE = "This is a sample text.\n\nIt stands for the one that upstream's source archive leaves out.\n"
MODULES = (
    "test_tokenization_common.py",
    "test_tokenizers_backend_mixin.py",
    "test_sentencepiece_backend_mixin.py",
)


def main() -> int:
    """Fetch what is missing, then run the suite in this process."""
    if not (PACKAGE / "fixtures" / "sample_text.txt").is_file():
        lay_out(download())
    os.environ.update(HF_HUB_OFFLINE="1", RUN_SLOW="1")
    sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(FOLDER), str(Path(__file__).parent)]
    import suite

    return int(suite.main(sys.argv[1:]))


def download() -> Path:
    """Return the source archive of the installed transformers, as pip fetches it.

    pip asks the archive for its metadata, which takes a build backend: first an isolated one, then the installed.
    """
    FOLDER.mkdir(parents=True, exist_ok=True)
    requirement = f"transformers=={transformers.__version__}"
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", ":all:", "--dest", str(FOLDER)]
    for extra in ([], ["--no-build-isolation"]):
        if subprocess.run([*command, *extra, requirement], check=False).returncode == 0:
            return next(FOLDER.glob("transformers-*.tar.gz"))
    raise SystemExit(f"pip could not fetch the source archive of {requirement}, which holds upstream's tests.")


def lay_out(archive: Path) -> None:
    """Unpack the test modules, and put beside them what the archive lacks."""
    staged = FOLDER / "staged"
    shutil.rmtree(staged, ignore_errors=True)
    (staged / "fixtures").mkdir(parents=True)
    with tarfile.open(archive) as files:
        top = archive.name.removesuffix(".tar.gz")
        for module in MODULES:
            member = files.extractfile(f"{top}/tests/{module}")
            assert member is not None, f"{archive} has no tests/{module}"
            (staged / module).write_bytes(member.read())
    (staged / "__init__.py").touch()
    (staged / "fixtures" / "sample_text.txt").write_text(SAMPLE, encoding="utf-8")
    shutil.rmtree(PACKAGE, ignore_errors=True)
    staged.rename(PACKAGE)


if __name__ == "__main__":
    raise SystemExit(main())
