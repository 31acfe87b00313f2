"""`AutoTokenizer` finds our class where it may, and gives the same ids where it takes another."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from directories import HOSTILE, KINDS, directory, pair
from transformers import AutoTokenizer
from transformers.models.auto import tokenization_auto

from hf_bpe import HfBpeTokenizer, auto

TEXTS = [*HOSTILE, "It's 2023 and <s> the dog's 12345th."]


def saved(kind: str, folder: Path, model_type: str | None = None) -> Path:
    """Save the tokenizer of `kind`, beside a config.json of `model_type`."""
    if model_type is not None:
        folder.mkdir(exist_ok=True)
        (folder / "config.json").write_text(json.dumps({"model_type": model_type}))
    HfBpeTokenizer.from_pretrained(directory(kind)).save_pretrained(folder)
    return folder


def run(code: str, *args: str) -> Any:
    """Run `code` in a new process and return the JSON of its last line."""
    process = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *args], capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout.splitlines()[-1])


LOAD = """
    import json, sys
    {imports}
    folder, texts = sys.argv[1], json.loads(sys.argv[2])
    tokenizer = AutoTokenizer.from_pretrained(folder)
    ids = tokenizer(texts)["input_ids"]
    print(json.dumps([type(tokenizer).__name__, "hf_bpe" in sys.modules, ids, tokenizer.batch_decode(ids)]))
"""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model_type", [None, "llama", "gpt2", "qwen3", "gemma3_text", "gpt_neox", "deepseek_v3"])
def test_auto_tokenizer_returns_our_class(kind: str, model_type: str | None, tmp_path: Path) -> None:
    loaded = AutoTokenizer.from_pretrained(saved(kind, tmp_path / "saved", model_type))

    assert type(loaded) is HfBpeTokenizer
    assert loaded(TEXTS)["input_ids"] == pair(kind)[0](TEXTS)["input_ids"]


@pytest.mark.parametrize("model_type", ["mistral", "phi3", "olmo2"])
def test_where_auto_tokenizer_takes_the_stock_class_the_ids_are_the_same(model_type: str, tmp_path: Path) -> None:
    loaded = AutoTokenizer.from_pretrained(saved("template", tmp_path / "saved", model_type))

    assert loaded(TEXTS)["input_ids"] == pair("template")[0](TEXTS)["input_ids"]
    assert auto.forced_class(tmp_path / "saved") is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("imports", "expected"),
    [
        ("import hf_bpe; from transformers import AutoTokenizer", "HfBpeTokenizer"),
        ("from transformers import AutoTokenizer; import hf_bpe", "HfBpeTokenizer"),
        (
            "import transformers.models.auto.tokenization_auto, hf_bpe; from transformers import AutoTokenizer",
            "HfBpeTokenizer",
        ),
        ("from transformers import AutoTokenizer", "TokenizersBackend"),
    ],
)
def test_another_process_loads_the_same_ids(kind: str, imports: str, expected: str, tmp_path: Path) -> None:
    folder = saved(kind, tmp_path)
    ours = pair(kind)[0]
    ids = ours(TEXTS)["input_ids"]

    name, imported, got, texts = run(LOAD.format(imports=imports), str(folder), json.dumps(TEXTS))

    assert name == expected
    assert imported is ("hf_bpe" in imports)
    assert got == ids
    assert texts == ours.batch_decode(ids)


@pytest.mark.parametrize("model_type", sorted(tokenization_auto.MODELS_WITH_INCORRECT_HUB_TOKENIZER_CLASS))
def test_forced_class_says_what_auto_tokenizer_does(model_type: str, tmp_path: Path) -> None:
    folder = saved("template", tmp_path / "saved", model_type)
    try:
        loaded = AutoTokenizer.from_pretrained(folder)
    except Exception:  # a class that can't read these files is not a generic one either
        assert auto.forced_class(folder) is not None
        return

    generic = type(loaded).__name__ in ("HfBpeTokenizer", "TokenizersBackend")
    assert (auto.forced_class(folder) is None) is generic


def test_saving_where_another_class_is_forced_warns_and_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages: list[str] = []
    monkeypatch.setattr(auto.logger, "warning", messages.append)

    folder = saved("template", tmp_path / "saved", "qwen2")

    assert len(messages) == 1
    assert "makes AutoTokenizer load Qwen2Tokenizer" in messages[0]
    assert f"HfBpeTokenizer.from_pretrained({str(folder)!r})" in messages[0]
    assert HfBpeTokenizer.from_pretrained(folder)(TEXTS)["input_ids"] == pair("template")[0](TEXTS)["input_ids"]
    assert AutoTokenizer.from_pretrained(folder)(TEXTS)["input_ids"] != pair("template")[0](TEXTS)["input_ids"]


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"model_type": null}', '{"model_type": "no such"}'])
def test_other_configs_do_not_warn(content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto.logger, "warning", pytest.fail)
    (tmp_path / "config.json").write_text(content)

    pair("gpt2")[0].save_pretrained(tmp_path)


def test_importing_hf_bpe_loads_no_more_than_the_base_class_needs() -> None:
    base = set(
        run("import json, sys; from transformers import PreTrainedTokenizer; print(json.dumps(list(sys.modules)))")
    )
    ours = set(run("import json, sys; import hf_bpe; print(json.dumps(list(sys.modules)))"))

    extra = {name for name in ours - base if not name.startswith("hf_bpe")}
    assert not {"datasets", "tqdm", "typer", "pyarrow", "torch", "tiktoken", "sentencepiece"} & extra
    assert not {name for name in extra if name.startswith("transformers.models")}
    assert len(extra) < 40, sorted(extra)


def test_registering_twice_is_harmless() -> None:
    auto.register()
    auto.register()

    assert tokenization_auto.tokenizer_class_from_name("HfBpeTokenizer") is HfBpeTokenizer
