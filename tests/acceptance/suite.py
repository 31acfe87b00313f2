"""Upstream's own test classes, run against `HfBpeTokenizer`. `run.py` fetches them and starts this file.

Skipping is agreed here, with a reason: a test that skips without being listed makes the run fail.
"""

from __future__ import annotations

import unittest

import pytest
from directories import directory
from upstream_tests.test_tokenization_common import TokenizerTesterMixin
from upstream_tests.test_tokenizers_backend_mixin import TokenizersBackendTesterMixin

from hf_bpe import HfBpeTokenizer

_NO_EXPECTED_IDS = "compares with ids written down for one published model; test_tokenizer.py compares with stock"
_NO_TENSORS = "tries PyTorch and MLX tensors alone, which the package does not need; NumPy's are compared with stock"
EXPECTED_SKIPS = {
    "test_integration": _NO_EXPECTED_IDS,
    "test_integration_from_extractor": _NO_EXPECTED_IDS,
    "test_empty_input_string": _NO_TENSORS,
    "test_batch_encode_dynamic_overflowing": _NO_TENSORS,
    "test_chat_template_return_assistant_tokens_mask": _NO_TENSORS,
    "test_chat_template_save_loading": "made for processors: it reads `tokenizer.tokenizer`; see test_saving.py",
    "test_prepare_seq2seq_batch": _NO_TENSORS,
}


class _Settings:
    tokenizer_class = HfBpeTokenizer
    rust_tokenizer_class = HfBpeTokenizer
    test_tokenizer_from_extractor = False


class WithoutTemplateTest(_Settings, TokenizerTesterMixin, unittest.TestCase):
    """GPT-2's kind: no special tokens around a text."""

    from_pretrained_id = str(directory("gpt2"))


class WithTemplateTest(_Settings, TokenizerTesterMixin, unittest.TestCase):
    """Llama 3's kind of pipeline, BOS and EOS around each text, type ids."""

    from_pretrained_id = str(directory("template"))


class FastFeaturesTest(_Settings, TokenizersBackendTesterMixin, unittest.TestCase):
    """What upstream asks of fast tokenizers alone: alignment, offsets, training."""

    from_pretrained_id = str(directory("template"))


def main(arguments: list[str]) -> int:
    """Run this file under pytest; a skip that isn't explained above counts as a failure."""
    unexplained: list[str] = []

    class Skips:
        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            name = report.nodeid.rsplit("::", 1)[-1].split("[")[0]
            if report.skipped and name not in EXPECTED_SKIPS:
                unexplained.append(f"{report.nodeid}: {report.longrepr}")

        def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
            for report in terminalreporter.stats.get("skipped", []):
                name = report.nodeid.rsplit("::", 1)[-1]
                terminalreporter.write_line(f"skipped {name}: {EXPECTED_SKIPS.get(name, 'NOT EXPLAINED')}")

    status = int(pytest.main([__file__, "-q", "-p", "no:cacheprovider", *arguments], plugins=[Skips()]))
    for line in unexplained:
        print(f"not explained in {__file__}: {line}")
    return status or int(bool(unexplained))
