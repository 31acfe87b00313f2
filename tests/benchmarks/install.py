"""Installs what is measured, line by line, and names what can't be had: `python install.py PYTHON`."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
PIP = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")


def lines(path: Path) -> list[str]:
    """Return the requirements of a file, without comments."""
    stripped = (line.split(" #")[0].strip() for line in path.read_text(encoding="utf-8").splitlines())
    return [line for line in stripped if line and not line.startswith("#")]


def install(python: str, *arguments: str) -> bool:
    """Install into the environment of `python`, and say whether that worked."""
    return subprocess.run([python, *PIP, *arguments], check=False).returncode == 0


def main(python: str) -> int:
    """Install this package's own dependencies, the vocabularies, and each peer that can be had."""
    project = tomllib.loads((HERE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    if not install(python, *project["dependencies"]):
        return 1
    wanted = [f"{line} --no-deps" for line in lines(HERE.parent / "requirements-vocabularies.txt")]
    for line in [*lines(HERE / "requirements.txt"), *wanted]:
        # A marker such as `; sys_platform == "linux"` has spaces of its own, and belongs to the requirement.
        requirement, no_deps, _ = line.partition(" --no-deps")
        if not install(python, requirement, *([no_deps.strip()] if no_deps else [])):
            print(f"bench: {requirement} can't be installed here, and is left out", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
