"""What all tests share: vocabularies, hostile texts, and how thorough property tests are."""

from __future__ import annotations

import json
import os
import re
import signal
import sysconfig
from pathlib import Path

# Before anything imports transformers, which otherwise tells in each process that it found no PyTorch.
os.environ["TRANSFORMERS_NO_ADVISORY_WARNINGS"] = "1"

import pytest
from hypothesis import HealthCheck, settings
from stopping import StopAfter, stopper
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from vocabularies import REAL

from hf_bpe.split_patterns import SPLIT_PATTERNS

# A shell ignores Ctrl-C for what it starts in the background, and every process below inherits that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Nothing here may reach for a network: a test that would is wrong.
os.environ["HF_HUB_OFFLINE"] = "1"
# Nor for what another version of the code left behind: a test that wants compiled forms names a folder of its own.
os.environ["HF_BPE_CACHE"] = "off"

settings.register_profile("quick", max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("slow", settings.get_profile("quick"), max_examples=1_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def stop_after(monkeypatch: pytest.MonkeyPatch) -> StopAfter:
    """Let counting stop after a number of checkpoints."""
    return stopper(monkeypatch)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Refuse the name of a case that holds an address: workers that run side by side would not agree on it."""
    if re.search(r"\bat 0x[0-9a-f]{6,}", item.nodeid):
        raise pytest.UsageError(f"{item.nodeid}: give this case an id of its own; this one changes from run to run")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of handed-in vectors and corpora; tests that need it are skipped where there is none."""
    path = Path(os.environ.get("HF_BPE_SHARED", ROOT.parent / "shared"))
    if not path.is_dir():
        pytest.skip("no folder of handed-in vectors: set HF_BPE_SHARED")
    return path


@pytest.fixture(scope="session")
def real_vocabulary(request: pytest.FixtureRequest) -> Path:
    """The `tokenizer.json` of the real vocabulary that the test is parametrized with, by its name in `REAL`."""
    path = real_vocabulary_file(request.config, request.param)
    if path is None:
        pytest.skip(f"the package with {request.param} isn't installed: see requirements-vocabularies.txt")
    return path


def real_vocabulary_file(config: pytest.Config, name: str) -> Path | None:
    """Return a real vocabulary as a file, made once and kept in pytest's cache."""
    assert config.cache is not None
    sources = (Path(__file__).with_name(file) for file in ("vocabularies.py", "requirements-vocabularies.txt"))
    made_from = max(int(source.stat().st_mtime) for source in sources)
    path = config.cache.mkdir("vocabularies") / f"{name}-{made_from}.json"
    if path.exists():
        return path
    tokenizer = REAL[name]()
    if tokenizer is None:
        return None
    half_written = path.with_suffix(f".{os.getpid()}")
    half_written.write_text(json.dumps(tokenizer, ensure_ascii=False), encoding="utf-8")
    half_written.replace(path)
    return path


@pytest.fixture(scope="session")
def python_sources() -> list[str]:
    """Real text that every machine has: part of the Python standard library."""
    folder = Path(sysconfig.get_path("stdlib"))
    files = sorted((folder / "email").glob("*.py")) + sorted((folder / "json").glob("*.py"))
    return [file.read_text(encoding="utf-8") for file in files]


@pytest.fixture(scope="session")
def small_tokenizer_json(python_sources: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A byte-level `tokenizer.json` of 1,000 tokens, trained by stock: special tokens, a template, ignore_merges."""
    tokenizer = Tokenizer(models.BPE(ignore_merges=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(SPLIT_PATTERNS["llama3"]), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=1_000,
        special_tokens=["<s>", "</s>", "<pad>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(python_sources, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> $B:1 </s>:1", special_tokens=[("<s>", 0), ("</s>", 1)]
    )
    path = tmp_path_factory.mktemp("small") / "tokenizer.json"
    tokenizer.save(str(path))
    return path
