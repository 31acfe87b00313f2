"""Makes `AutoTokenizer` know `HfBpeTokenizer`, and tells where it won't listen.

`AutoTokenizer` costs a third of a second to import, so importing hf_bpe only leaves a note: the class is registered
when `transformers` loads its auto module, or at once where that has happened.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

from transformers.utils import logging

_AUTO = "transformers.models.auto.tokenization_auto"
# Classes that run tokenizer.json as it is: whichever of them is chosen, the ids are the same.
_GENERIC_CLASSES = ("TokenizersBackend", "PythonBackend", "PreTrainedTokenizerFast", "MistralCommonBackend")

logger = logging.get_logger(__name__)


def register() -> None:
    """Register the class with `AutoTokenizer`, now or as soon as that is imported. Calling it again does nothing."""
    if _AUTO in sys.modules:
        _register_with(sys.modules[_AUTO])
    elif not any(isinstance(finder, _Registrar) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Registrar())


def _register_with(auto: ModuleType) -> None:
    from transformers import PreTrainedConfig

    from hf_bpe.tokenizer import HfBpeTokenizer

    class HfBpeConfig(PreTrainedConfig):  # type: ignore[no-untyped-call]
        """Stands for no model: registration asks for a config class, and the name in a directory's config decides."""

        model_type = "hf_bpe"

    auto.AutoTokenizer.register(HfBpeConfig, slow_tokenizer_class=HfBpeTokenizer, exist_ok=True)


class _Registrar(MetaPathFinder):
    """Waits for the auto module and registers the class once that has run."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != _AUTO:
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _ThenRegister(spec.loader)
        return spec


class _ThenRegister(Loader):
    """Loads a module as `loader` does, then registers the class with it."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        _register_with(module)


def forced_class(directory: Path) -> str | None:
    """Return the class that `AutoTokenizer` takes beside this directory's config.json in place of the saved one.

    For some model types it believes its own table and not tokenizer_config.json, and builds a class that replaces
    parts of tokenizer.json. None where the saved class, or one that runs tokenizer.json as it is, gets loaded.
    """
    try:
        config = json.loads((directory / "config.json").read_text(encoding="utf-8"))
        model_type, model_name = config.get("model_type"), config.get("model_name")
    except (OSError, ValueError, AttributeError):
        return None
    from transformers.models.auto import tokenization_auto as auto

    distrusted = auto.MODELS_WITH_INCORRECT_HUB_TOKENIZER_CLASS
    registered = (auto.TOKENIZER_MAPPING_NAMES.get(model_type) or "").removesuffix("Fast")
    if not registered or registered in _GENERIC_CLASSES or not {model_type, model_name} & distrusted:
        return None
    found = auto.tokenizer_class_from_name(registered)
    return None if found is None or found.__name__ in _GENERIC_CLASSES else found.__name__


def warn_if_forced(directory: Path) -> None:
    """Warn when `AutoTokenizer` would load another class from `directory`, with other ids."""
    if name := forced_class(directory):
        logger.warning(
            f"{directory}/config.json makes AutoTokenizer load {name}, which replaces parts of tokenizer.json: its ids "
            f"can differ from this tokenizer's. Load it with HfBpeTokenizer.from_pretrained({str(directory)!r}), or "
            "save the tokenizer to a directory without that config.json."
        )
