"""What each library is asked, in its cheapest way to answer: one class a library, with the operations that it has.

`flat` gives arrays of ids of many texts, `lists` a Python list of ids for each text, `one` that of a single text. An
operation that a library hasn't got isn't there, and is a dash in the tables. Ours is a peer like any other.
"""

from __future__ import annotations

import base64
import importlib
import itertools
import json
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

Ids = tuple["np.ndarray[Any, Any]", "np.ndarray[Any, Any]"]
"""All ids one after the other, and how many each text has."""


class Peer:
    """A tokenizer of one library, for the vocabulary in `folder`."""

    distribution = ""
    module = ""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.settings = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
        self.file = str(folder / "tokenizer.json")
        self.library = self.imported()
        self.load()

    @classmethod
    def imported(cls) -> Any:
        """Import what `load` needs, and return the library."""
        return importlib.import_module(cls.module)

    def load(self) -> None:
        """Read the vocabulary. What stood in memory before is thrown away, caches included."""
        raise NotImplementedError

    def ranks(self) -> dict[bytes, int]:
        """Return the tokens of a rank file."""
        lines = (self.folder / "ranks.tiktoken").read_bytes().splitlines()
        return {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in lines)}

    def one(self, text: str) -> Any:
        """Return the ids of a text as a list. The one operation that every peer has."""
        raise NotImplementedError

    @staticmethod
    def flat_ids(result: Any) -> Ids:
        """Return what `flat` gave as arrays, outside of the clock."""
        ids, bounds = result
        return np.asarray(ids), np.diff(np.asarray(bounds).astype(np.int64))


def threads() -> int:
    """Return how many threads this process shall use."""
    return int(os.environ["RAYON_NUM_THREADS"])


class HfBpe(Peer):
    """The core of this package. Its compiled forms are read where HF_BPE_CACHE names a folder, else the JSON."""

    distribution, module = "hf-bpe", "hf_bpe"

    def load(self) -> None:
        from hf_bpe._native import Tokenizer

        if os.environ.get("HF_BPE_CACHE", "off") == "off":
            self.tokenizer = Tokenizer.from_json(Path(self.file).read_bytes())
        else:
            forms = importlib.import_module("hf_bpe.compiled")
            self.tokenizer = forms.read(self.file, lambda path: Path(path).read_bytes())
        self.one, self.lists = self.tokenizer.encode_ordinary, self.tokenizer.encode_ordinary_batch
        self.decode, self.decode_batch = self.tokenizer.decode, self.tokenizer.decode_batch
        for operation, method in (("offsets", "encode_to_numpy_with_offsets"), ("count", "count_tokens_batch")):
            if hasattr(self.tokenizer, method):
                setattr(self, operation, partial(getattr(self.tokenizer, method), add_special_tokens=False))

    def flat(self, texts: Sequence[str]) -> Any:
        return self.tokenizer.encode_to_numpy(texts, add_special_tokens=False)


class Tiktoken(Peer):
    """The reference of ids."""

    distribution = module = "tiktoken"

    def load(self) -> None:
        name, pattern = self.settings["name"], self.settings["pattern"]
        specials = {"<|endoftext|>": self.settings["eos"]}
        self.tokenizer = self.library.Encoding(
            name, pat_str=pattern, mergeable_ranks=self.ranks(), special_tokens=specials
        )
        self.one, self.decode = self.tokenizer.encode_ordinary, self.tokenizer.decode

    def lists(self, texts: Sequence[str]) -> Any:
        # Its batch call puts each text through a pool of threads, which costs more than it gives where there is one.
        if threads() == 1:
            return [self.one(text) for text in texts]
        return self.tokenizer.encode_ordinary_batch(texts, num_threads=threads())

    def flat(self, texts: Sequence[str]) -> Any:
        return [self.tokenizer.encode_to_numpy(text, disallowed_special=()) for text in texts]

    @staticmethod
    def flat_ids(result: Any) -> Ids:
        return np.concatenate(result), np.array([len(ids) for ids in result])

    def decode_batch(self, batch: Any) -> Any:
        return [self.decode(ids) for ids in batch]


class Tokenizers(Peer):
    """Stock."""

    distribution = module = "tokenizers"

    def load(self) -> None:
        self.tokenizer = self.library.Tokenizer.from_file(self.file)

    def one(self, text: str) -> Any:
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def lists(self, texts: Sequence[str]) -> Any:
        return [encoding.ids for encoding in self.tokenizer.encode_batch_fast(texts, add_special_tokens=False)]

    def offsets(self, texts: Sequence[str]) -> Any:
        encodings = self.tokenizer.encode_batch(texts, add_special_tokens=False)
        return [encoding.ids for encoding in encodings], [encoding.offsets for encoding in encodings]

    def decode(self, ids: Sequence[int]) -> Any:
        return self.tokenizer.decode(ids, skip_special_tokens=False)

    def decode_batch(self, batch: Any) -> Any:
        return self.tokenizer.decode_batch(batch, skip_special_tokens=False)


class Gigatoken(Peer):
    distribution = module = "gigatoken"

    def load(self) -> None:
        self.tokenizer = self.library.Tokenizer(self.file)
        self.flat, self.lists = self.tokenizer.encode_batch, self.tokenizer.encode_batch_list

    def one(self, text: str) -> Any:
        return self.tokenizer.encode(text).tolist()

    def decode(self, ids: Sequence[int]) -> Any:
        return self.tokenizer.decode(ids).decode("utf-8", "replace")

    @staticmethod
    def flat_ids(result: Any) -> Ids:
        import awkward

        return awkward.flatten(result).to_numpy(), awkward.num(result).to_numpy()


class Fastokens(Peer):
    distribution = module = "fastokens"

    def load(self) -> None:
        self.tokenizer = self.library.Tokenizer.from_file(self.file)
        self.flat, self.decode = self.tokenizer.encode_batch_flat, self.tokenizer.decode
        self.decode_batch = self.tokenizer.decode_batch

    def one(self, text: str) -> Any:
        return self.tokenizer.encode(text).ids

    def lists(self, texts: Sequence[str]) -> Any:
        return [encoding.ids for encoding in self.tokenizer.encode_batch(texts)]

    @staticmethod
    def flat_ids(result: Any) -> Ids:
        return _of_buffers(*result)


class Splintr(Peer):
    distribution, module = "splintr-rs", "splintr"

    def load(self) -> None:
        ranks = (self.folder / "ranks.tiktoken").read_bytes()
        specials = {"<|endoftext|>": self.settings["eos"]}
        self.tokenizer = self.library.Tokenizer.from_bytes(ranks, self.settings["pattern"], specials)
        self.one, self.lists = self.tokenizer.encode_ordinary, self.tokenizer.encode_batch
        self.flat, self.decode = self.tokenizer.encode_batch_flat, self.tokenizer.decode
        self.decode_batch = self.tokenizer.decode_batch

    @staticmethod
    def flat_ids(result: Any) -> Ids:
        return _of_buffers(*result)


def _of_buffers(ids: Any, bounds: Any) -> Ids:
    return np.frombuffer(ids, dtype="<u4"), np.diff(np.frombuffer(bounds, dtype="<u8").astype(np.int64))


def _built_in(names: dict[str, str], settings: dict[str, Any]) -> str:
    """Return a library's name for the vocabulary, or raise LookupError."""
    if settings["name"] not in names:
        raise LookupError("reads no vocabularies, and has not this one built in")
    return names[settings["name"]]


class Quicktok(Peer):
    """Has three vocabularies built in, and reads none."""

    distribution, module = "quicktok-v1", "quicktok"
    names = {"cl100k": "cl100k_base", "o200k": "o200k_base", "llama3": "llama3"}  # noqa: RUF012

    def load(self) -> None:
        self.tokenizer = self.library.Tokenizer(_built_in(self.names, self.settings))
        self.one, self.decode = self.tokenizer.encode_ordinary, self.tokenizer.decode
        self.decode_batch = self.tokenizer.decode_batch

    def flat(self, texts: Sequence[str]) -> Any:
        return self.tokenizer.encode_batch(texts, threads())

    def lists(self, texts: Sequence[str]) -> Any:
        ids, bounds = (array.tolist() for array in self.flat(texts))
        return [ids[start:end] for start, end in itertools.pairwise(bounds)]


class RsBpe(Peer):
    """Has OpenAI's vocabularies built in."""

    distribution, module = "rs-bpe", "rs_bpe.bpe"
    names = {"cl100k": "cl100k_base", "o200k": "o200k_base"}  # noqa: RUF012

    def load(self) -> None:
        self.tokenizer = getattr(self.library.openai, _built_in(self.names, self.settings))()
        self.one, self.decode = self.tokenizer.encode, self.tokenizer.decode

    def lists(self, texts: Sequence[str]) -> Any:
        return self.tokenizer.encode_batch(texts)[0]


PEERS: dict[str, type[Peer]] = {
    "hf_bpe": HfBpe,
    "gigatoken": Gigatoken,
    "fastokens": Fastokens,
    "splintr": Splintr,
    "quicktok": Quicktok,
    "rs-bpe": RsBpe,
    "tiktoken": Tiktoken,
    "tokenizers": Tokenizers,
}
"""Each peer by the name that tables give it, in their order."""

REFERENCE = "tiktoken"
