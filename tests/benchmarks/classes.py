"""What stands behind transformers' call: our class, stock's, and what two peers put in its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.peers import Peer


class _Class(Peer):
    directory = "stock"

    @classmethod
    def imported(cls) -> Any:
        from transformers import AutoTokenizer, PreTrainedTokenizerFast  # noqa: F401

        return super().imported()

    def load(self) -> None:
        from transformers import AutoTokenizer

        self.tokenizer = AutoTokenizer.from_pretrained(self.folder / self.directory)

    def one(self, text: str) -> Any:
        return self.tokenizer(text, add_special_tokens=False)["input_ids"]

    def lists(self, texts: Sequence[str]) -> Any:
        return self.tokenizer(texts, add_special_tokens=False)["input_ids"]


class HfBpeClass(_Class):
    """`AutoTokenizer` gives it for directories that it saved."""

    distribution, module, directory = "hf-bpe", "hf_bpe", "ours"


class StockClass(_Class):
    """`PreTrainedTokenizerFast` over tokenizers."""

    distribution, module = "transformers", "transformers"


class FastokensClass(_Class):
    """Stock's class after fastokens has put itself in."""

    distribution = module = "fastokens"

    def load(self) -> None:
        if not getattr(self.library, "patched_here", False):
            self.library.patch_transformers()
            self.library.patched_here = True
        super().load()


class GigatokenClass(_Class):
    """gigatoken's own look-alike; it is not transformers' class, and has no AutoTokenizer."""

    distribution = module = "gigatoken"

    def load(self) -> None:
        self.tokenizer = self.library.Tokenizer(self.file).as_hf()


CLASSES: dict[str, type[Peer]] = {
    "hf_bpe": HfBpeClass,
    "gigatoken": GigatokenClass,
    "fastokens": FastokensClass,
    "tokenizers": StockClass,
}
"""Each by the name of the library that does the work."""
