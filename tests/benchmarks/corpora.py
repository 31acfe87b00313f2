"""Six kinds of text that any machine has, or that a wheel holds; and handed corpora of the same kinds, where they are.

Guarantee: the same packages give the same texts. All are in NFC, so that a vocabulary with that normalizer has nothing
to do, and hold no `<|`, so that none spells a special token.
"""

from __future__ import annotations

import ast
import itertools
import json
import lzma
import os
import random
import re
import sysconfig
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

KINDS = ("english", "code", "chinese", "multilingual", "json_log", "emoji")
STDLIB = Path(sysconfig.get_path("stdlib"))


def own(kind: str, size: int) -> str:
    """Return up to `size` bytes of a kind of text, made from what is installed."""
    return _fill(MAKERS[kind](), size)


def handed(kind: str, size: int) -> str | None:
    """Return up to `size` bytes of the corpus in the folder of HF_BPE_SHARED, or None where there is none."""
    path = Path(os.environ.get("HF_BPE_SHARED", "")) / "bench" / "corpora" / f"{kind}.txt.xz"
    if not os.environ.get("HF_BPE_SHARED") or not path.is_file():
        return None
    with lzma.open(path, "rt", encoding="utf-8", newline="") as lines:
        return _fill(lines, size)


def documents(text: str, size: int) -> list[str]:
    """Cut a text behind the first line end after each `size` bytes. What is left over at the end joins the last one."""
    found: list[str] = []
    part: list[str] = []
    length = 0
    for line in text.splitlines(keepends=True):
        part.append(line)
        length += len(line.encode())
        if length >= size:
            found.append("".join(part))
            part, length = [], 0
    return found if found and not part else [*found[:-1], "".join([*found[-1:], *part])]


def short_strings(text: str, count: int) -> list[str]:
    """Return lines of 40 to 60 bytes, again from the first where a text has too few, and at most `count`."""
    lines = [line.strip() for line in text.splitlines()]
    fitting = [line for line in lines if 40 <= len(line.encode()) <= 60]
    return list(itertools.islice(itertools.cycle(fitting), count)) if fitting else []


def _fill(parts: Iterator[str], size: int) -> str:
    """Join parts until there are `size` bytes."""
    lines: list[str] = []
    length = 0
    for part in parts:
        for line in unicodedata.normalize("NFC", part).replace("<|", "< |").splitlines(keepends=True):
            lines.append(line)
            length += len(line.encode())
            if length >= size:
                return "".join(lines)
    return "".join(lines)


def _sources(*folders: Path) -> Iterator[str]:
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            if not {"site-packages", "test"} & set(path.relative_to(folder).parts):
                yield path.read_text(encoding="utf-8", errors="replace")


def _code() -> Iterator[str]:
    yield from _sources(STDLIB, *_packages())


def _packages() -> list[Path]:
    """Return the folders of packages with much text in them."""
    return [folder for name in ("numpy", "django", "transformers", "datasets") if (folder := _folder(name))]


def _english() -> Iterator[str]:
    """The language reference that `help()` shows, then docstrings: of the library, and of packages that are large."""
    from pydoc_data.topics import topics

    yield from (topics[name] for name in sorted(topics))
    yield from (license.read_text(encoding="utf-8") for license in (STDLIB / "LICENSE.txt",) if license.exists())
    for source in _sources(STDLIB, *_packages()):
        yield from _docstrings(source)


def _docstrings(source: str) -> Iterator[str]:
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError):
        return
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
            yield text + "\n\n"


def _folder(package: str) -> Path | None:
    found = find_spec(package)
    return Path(found.submodule_search_locations[0]) if found and found.submodule_search_locations else None


@cache
def _translations() -> dict[str, list[str]]:
    """Return what catalogues of translations say, by language."""
    found: dict[str, list[str]] = {}
    for package in ("django", "sphinx"):
        for path in sorted((_folder(package) or Path("nowhere")).rglob("*.po")):
            language = path.parts[path.parts.index("LC_MESSAGES") - 1]
            found.setdefault(language, []).append(_messages(path.read_text(encoding="utf-8")))
    for path in sorted((_folder("jupyterlab_language_pack_zh_CN") or Path("nowhere")).rglob("*.json")):
        values = [value for value in json.loads(path.read_text(encoding="utf-8")).values() if isinstance(value, list)]
        found.setdefault("zh_CN", []).append("".join(f"{text}\n" for value in values for text in value if text))
    return found


def _messages(catalogue: str) -> str:
    """Return the translations of a `.po` file, one a line. Its strings are spelled as Python's are."""
    entries = re.findall(r'^msgstr(?:\[\d\])? ((?:".*"\n)+)', catalogue, flags=re.M)[1:]  # the first is a header
    texts = ("".join(ast.literal_eval(line) for line in entry.splitlines()) for entry in entries)
    return "".join(f"{text}\n" for text in texts if text)


def _chinese() -> Iterator[str]:
    for language in ("zh_CN", "zh_Hans", "zh_TW", "zh_Hant", "zh_HK"):
        yield from _translations().get(language, [])


def _multilingual() -> Iterator[str]:
    """Every language but English and Chinese, a catalogue of each in turn, so that any size mixes all scripts."""
    others = [texts for language, texts in sorted(_translations().items()) if language[:2] not in ("en", "zh")]
    for texts in itertools.zip_longest(*others, fillvalue=""):
        yield from texts


def _json_log() -> Iterator[str]:
    """Made-up lines of a server's log, some JSON, with numbers, times and identifiers as logs have them."""
    draw = random.Random(1)
    paths = sorted(path.relative_to(STDLIB).as_posix() for path in STDLIB.glob("*/*.py"))
    for number in itertools.count():
        time = f"2026-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}T{draw.randint(0, 23):02}:{number % 60:02}:07"
        path, code, took = draw.choice(paths), draw.choice((200, 200, 200, 304, 404, 500)), draw.random()
        if draw.random() < 0.5:
            row = {"ts": time, "id": f"{draw.getrandbits(64):016x}", "path": path, "status": code, "s": round(took, 4)}
            yield json.dumps(row) + "\n"
        else:
            address = ".".join(str(draw.randint(1, 254)) for _ in range(4))
            yield f'{address} - - [{time}] "GET /{path} HTTP/1.1" {code} {draw.randint(1, 99999)} {took:.3f}\n'


def _emoji() -> Iterator[str]:
    """Made-up messages: words of the language reference between emoji, some of them joined or with a skin tone."""
    draw = random.Random(2)
    words = re.findall(r"[a-z]{2,}", next(_english()))
    ranges = ((0x1F300, 0x1F5FF), (0x1F600, 0x1F64F), (0x1F680, 0x1F6C5), (0x1F900, 0x1F9FF))
    tails = ("\u200d\U0001f4bb", "\U0001f3fd", "\u200d\u2764\ufe0f\u200d\U0001f468")
    people = "\U0001f468\U0001f469\U0001f9d1"
    while True:
        line = draw.choices(words, k=draw.randint(3, 12))
        for _ in range(draw.randint(1, 4)):
            emoji = chr(draw.randint(*draw.choice(ranges)))
            joined = draw.choice(people) + draw.choice(tails)
            line.insert(draw.randint(0, len(line)), emoji if draw.random() < 0.8 else joined)
        yield " ".join(line) + "\n"


MAKERS: dict[str, Callable[[], Iterator[str]]] = {
    "english": _english,
    "code": _code,
    "chinese": _chinese,
    "multilingual": _multilingual,
    "json_log": _json_log,
    "emoji": _emoji,
}
