"""Mistakes that loading, saving and decoding have made in public, each with the right value.

As in `test_known_bugs`, each test stands for a kind of fault and names the thread where it was reported.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from directories import KINDS, pair
from transformers import AddedToken, AutoTokenizer, PreTrainedTokenizerFast

import hf_bpe
from hf_bpe import HfBpeTokenizer
from hf_bpe.vocabulary import Vocabulary

BYTES = {bytes([byte]): byte for byte in range(256)}


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file of a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def run(code: str, *arguments: str | Path) -> Any:
    """Run `code` in a process that has imported nothing, and return the JSON that it prints last."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return json.loads(output.splitlines()[-1])


_LOADED_ELSEWHERE = """
import json, sys
from transformers import AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
print(json.dumps([tokenizer.encode(text) for text in json.loads(sys.argv[2])]))
"""


@pytest.mark.parametrize("real_vocabulary", ["cl100k"], indirect=True)
@pytest.mark.parametrize("model_type", [None, "llama", "olmo2", "gpt_neox"])
def test_every_way_to_load_a_folder_splits_digits_as_its_file_says(
    real_vocabulary: Path, model_type: str | None, tmp_path: Path
) -> None:
    # https://github.com/huggingface/transformers/issues/45920: the class of the model's type split `2023` its own way.
    (tmp_path / "tokenizer.json").write_bytes(real_vocabulary.read_bytes())
    tokenizer = HfBpeTokenizer.from_pretrained(tmp_path)
    saved = tmp_path / "saved"
    saved.mkdir()
    if model_type is not None:
        (saved / "config.json").write_text(json.dumps({"model_type": model_type}))
    tokenizer.save_pretrained(saved)
    texts = ["2023", "501 3333333 12345678", "I'll pay 1,234.56\n\n in 2023"]
    expected = [tokenizer.encode(text) for text in texts]

    assert expected[0] == [2366, 18]
    for load in (AutoTokenizer, HfBpeTokenizer, PreTrainedTokenizerFast):
        assert [load.from_pretrained(saved).encode(text) for text in texts] == expected
    stock = tokenizers.Tokenizer.from_file(str(saved / "tokenizer.json"))
    assert [stock.encode(text).ids for text in texts] == expected
    assert run(_LOADED_ELSEWHERE, saved, json.dumps(texts)) == expected


FLAGGED = [
    AddedToken("word", single_word=True),
    AddedToken("<left>", lstrip=True),
    AddedToken("<right>", rstrip=True, normalized=False),
    AddedToken("<|im_start|>", special=True, normalized=False),
    AddedToken("<|im_end|>", special=True, normalized=True),
    AddedToken("plain", normalized=False),
]


def test_flags_of_added_tokens_survive_two_rounds_byte_for_byte(tmp_path: Path) -> None:
    # https://github.com/huggingface/transformers/issues/26536
    vocabulary = Vocabulary.from_ranks(BYTES | {b"ab": 256}, split_pattern="gpt2")
    tokenizer = HfBpeTokenizer.from_vocabulary(vocabulary, eos_token=AddedToken("</s>", rstrip=True, normalized=False))
    tokenizer.add_tokens(FLAGGED)
    flags = {str(token): token for token in tokenizer.added_tokens_decoder.values()}
    texts = ["a word words <left> b <right> c", "<|im_start|> word</s>  plain<|im_end|> plains"]
    ids = [tokenizer.encode(text) for text in texts]

    folders = [tmp_path / name for name in ("first", "second", "third")]
    for folder in folders:
        tokenizer.save_pretrained(folder)
        tokenizer = HfBpeTokenizer.from_pretrained(folder)
        assert {str(token): token for token in tokenizer.added_tokens_decoder.values()} == flags
        assert [tokenizer.encode(text) for text in texts] == ids

    assert contents(folders[0]) == contents(folders[1]) == contents(folders[2])
    assert [PreTrainedTokenizerFast.from_pretrained(folders[2]).encode(text) for text in texts] == ids


_MODULE = '''
from hf_bpe import HfBpeTokenizer

class ShoutingTokenizer(HfBpeTokenizer):
    """A class that lives in the folder of its tokenizer."""

    def shout(self, text):
        return self.encode(text.upper())
'''

_SUBCLASS = """
import json, pathlib, sys
sys.path.insert(0, sys.argv[1])
from shouting import ShoutingTokenizer
ShoutingTokenizer.register_for_auto_class("AutoTokenizer")
ShoutingTokenizer.from_pretrained(sys.argv[2]).save_pretrained(sys.argv[3])
print(json.dumps(sorted(path.name for path in pathlib.Path(sys.argv[3]).iterdir())))
"""

_REMOTE = """
import json, sys
from transformers import AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1], trust_remote_code=True)
tokenizer.save_pretrained(sys.argv[2])
print(json.dumps([type(tokenizer).__name__, tokenizer.shout("ab ab")]))
"""


def test_a_class_of_one_s_own_keeps_its_name_and_module_through_every_save(tmp_path: Path) -> None:
    # https://github.com/huggingface/transformers/pull/43219
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "shouting.py").write_text(_MODULE)
    vocabulary = Vocabulary.from_ranks(BYTES | {b"AB": 256}, split_pattern="gpt2")
    HfBpeTokenizer.from_vocabulary(vocabulary).save_pretrained(tmp_path / "plain")

    names = run(_SUBCLASS, tmp_path / "code", tmp_path / "plain", tmp_path / "saved")
    loaded = run(_REMOTE, tmp_path / "saved", tmp_path / "again")
    once_more = run(_REMOTE, tmp_path / "again", tmp_path / "third")

    assert names == ["shouting.py", "tokenizer.json", "tokenizer_config.json"]
    assert loaded == once_more == ["ShoutingTokenizer", [256, 32, 256]]
    for folder in ("saved", "again", "third"):
        config = json.loads((tmp_path / folder / "tokenizer_config.json").read_text())
        assert config["tokenizer_class"] == "ShoutingTokenizer"
        assert "shouting.ShoutingTokenizer" in str(config["auto_map"]["AutoTokenizer"])
    text = "AB ab"
    expected = HfBpeTokenizer.from_pretrained(tmp_path / "plain").encode(text)
    assert PreTrainedTokenizerFast.from_pretrained(tmp_path / "saved").encode(text) == expected
    assert tokenizers.Tokenizer.from_file(str(tmp_path / "saved" / "tokenizer.json")).encode(text).ids == expected


_DECODERS: dict[str, Callable[[HfBpeTokenizer, int], object]] = {
    "decode": lambda tokenizer, token_id: tokenizer.decode([token_id]),
    "decode of one": lambda tokenizer, token_id: tokenizer.decode(token_id),
    "batch_decode": lambda tokenizer, token_id: tokenizer.batch_decode([[token_id]])[0],
    "decode_bytes": lambda tokenizer, token_id: tokenizer.decode_bytes([token_id]).decode(),
    "decode_stream": lambda tokenizer, token_id: tokenizer.decode_stream().step(token_id),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", sorted(_DECODERS))
def test_an_id_without_a_token_never_ends_a_request_and_one_that_cannot_be_is_named(kind: str, name: str) -> None:
    # https://github.com/mosaicml/llm-foundry/pull/841
    ours, stock = pair(kind)
    decode = _DECODERS[name]

    for unknown in (len(ours) + 5, 2**31, 2**32 - 1):
        if name != "decode_bytes":
            assert decode(ours, unknown) == "" == stock.decode([unknown])
        else:
            with pytest.raises(KeyError, match=str(unknown)):
                decode(ours, unknown)
    for impossible in (-1, 2**32, 2**70):
        with pytest.raises((ValueError, OverflowError), match=f"{impossible}"):
            decode(ours, impossible)


@pytest.mark.parametrize("kind", ["gguf", "sentencepiece", "tekken", "tiktoken"])
def test_padding_rows_behind_a_vocabulary_of_another_format_decode_to_nothing(kind: str, tmp_path: Path) -> None:
    # https://github.com/openai/tiktoken/issues/47
    shift = kind == "tekken"
    ranks = {token: token_id + shift for token, token_id in (BYTES | {b"ab": 256}).items()}
    vocabulary = Vocabulary.from_ranks(ranks, split_pattern="gpt2", added_tokens={"<s>": 0} if shift else {"<s>": 300})
    if kind == "sentencepiece":
        from formats.piece_models import trained

        (tmp_path / "x").write_bytes(trained("llama"))
    else:
        hf_bpe.formats.get(kind).write(vocabulary, tmp_path / "x")
    options = hf_bpe.formats.get(kind).options(vocabulary) if kind == "tiktoken" else {}
    read = hf_bpe.formats.get(kind).read(tmp_path / "x", **options)
    tokenizer = HfBpeTokenizer.from_vocabulary(read)

    for unknown in (len(tokenizer), len(tokenizer) + 1_000):
        assert tokenizer.decode([unknown]) == ""
        assert tokenizer.decode([*tokenizer.encode("a", add_special_tokens=False), unknown]) == "a"
