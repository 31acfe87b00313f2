"""Tokenizers, templates and golden chats for the tests of `chat.encode`."""

from __future__ import annotations

import functools
import json
import tempfile
from pathlib import Path
from typing import Any

from directories import CORPUS
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from hf_bpe import HfBpeTokenizer

Json = dict[str, Any]

CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
"""Every message as it is."""

FORGETFUL = (
    "{% for message in messages %}{{ '<|im_start|>' + message.role + '\\n' }}"
    "{% if message.role == 'assistant' and '</think>' in message.content %}"
    "{% if loop.last %}{{ '<think>' + message.content.split('</think>')[0].split('<think>')[-1] }}</think>{% endif %}"
    "{{ message.content.split('</think>')[-1] }}{% else %}{{ message.content }}{% endif %}"
    "{{ '<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
"""Thoughts are kept in the last message alone."""

RETURNING = (
    "{% for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + message.content }}"
    "{{ '<|return|>' if loop.last and message.role == 'assistant' else '<|im_end|>' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
"""The last answer ends in another token than the ones before."""

SPECIAL = ("<|im_start|>", "<|im_end|>", "<|return|>", "<s>")
ORDINARY = ("<think>", "</think>", "<tool_call>", "</tool_call>")
FAMILIES = {
    "llama3": ("llama3", "<|eot_id|>", "<|begin_of_text|>"),
    "llama3_1": ("llama3_1", "<|eot_id|>", "<|begin_of_text|>"),
    "chatml": ("qwen3", "<|im_end|>", None),
    "qwen2_5": ("qwen2_5", "<|im_end|>", None),
    "qwen3": ("qwen3", "<|im_end|>", None),
}
"""The tokenizer of each family of golden chats, its EOS and its BOS."""

LLAMA3_1 = {4: "<|finetune_right_pad_id|>", 8: "<|eom_id|>", 10: "<|python_tag|>"}


def _bytes() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    pattern = Regex(r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
    split = pre_tokenizers.Split(pattern, "isolated")
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, byte_level])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.normalizer = normalizers.NFC()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=500, initial_alphabet=alphabet))
    return tokenizer


def _metaspace() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>", fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    fallback = [f"<0x{byte:02X}>" for byte in range(256)]
    tokenizer.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=600, special_tokens=["<unk>", *fallback]))
    data = json.loads(tokenizer.to_str())
    data["added_tokens"] = data["added_tokens"][:1]
    return Tokenizer.from_str(json.dumps(data))


def _lowercase() -> Tokenizer:
    tokenizer = _bytes()
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase()]
    )
    return tokenizer


MADE = {"bytes": _bytes, "lowercase": _lowercase, "metaspace": _metaspace}
FLAGGED = [
    AddedToken("<Left>", lstrip=True, normalized=False),
    AddedToken("<Right>", rstrip=True, normalized=False),
    AddedToken("<Word>", single_word=True, normalized=False),
    AddedToken("<Normal É>", normalized=True),
    AddedToken("<Normal É>x", normalized=True),
    AddedToken("<|im_", normalized=False),
]


@functools.cache
def made(kind: str) -> Path:
    """Return a small directory: one of `MADE` with `SPECIAL`, `ORDINARY` and `FLAGGED` tokens."""
    tokenizer = MADE[kind]()
    tokenizer.add_special_tokens([AddedToken(token, normalized=False) for token in SPECIAL])
    tokenizer.add_tokens([*(AddedToken(token, normalized=False) for token in ORDINARY), *FLAGGED])
    folder = Path(tempfile.mkdtemp(prefix="hf_bpe-chats-"))
    stock = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|im_end|>", chat_template=CHATML)
    stock.save_pretrained(folder)
    return folder


def small(kind: str = "bytes", template: str = CHATML) -> HfBpeTokenizer:
    """Return a small tokenizer with a template."""
    tokenizer: HfBpeTokenizer = HfBpeTokenizer.from_pretrained(made(kind))
    tokenizer.chat_template = template
    return tokenizer


def stock(kind: str = "bytes", template: str = CHATML) -> PreTrainedTokenizerFast:
    """Return the same tokenizer in the stock library."""
    tokenizer: PreTrainedTokenizerFast = PreTrainedTokenizerFast.from_pretrained(made(kind))
    tokenizer.chat_template = template
    return tokenizer


@functools.cache
def family_json(shared: Path, name: str) -> str:
    """Return the `tokenizer.json` of golden chats."""
    base = {"llama3_1": "llama3", "qwen2_5": "qwen3"}.get(name, name)
    text = (shared / "vectors" / "tokenizers" / f"{base}.json").read_text(encoding="utf-8")
    data = json.loads(text)
    if name == "qwen2_5":
        data["added_tokens"] = [token for token in data["added_tokens"] if token["id"] < 151665]
    if name == "llama3_1":
        reserved = iter(range(2, 256))
        for token in data["added_tokens"]:
            number = token["id"] - 128000
            if number in LLAMA3_1:
                token["content"] = LLAMA3_1[number]
            elif number > 3 and token["content"].startswith("<|reserved"):
                token["content"] = f"<|reserved_special_token_{next(reserved)}|>"
    return json.dumps(data) if name != base else text


@functools.cache
def family(shared: Path, name: str) -> HfBpeTokenizer:
    """Return the tokenizer of a family of golden chats, with its template."""
    return _family(shared, name, HfBpeTokenizer)


@functools.cache
def stock_family(shared: Path, name: str) -> PreTrainedTokenizerFast:
    """Return the same in the stock library."""
    return _family(shared, name, PreTrainedTokenizerFast)


def _family(shared: Path, name: str, kind: Any) -> Any:
    file, eos, bos = FAMILIES[name]
    core = Tokenizer.from_str(family_json(shared, file))
    template = (shared / "vectors" / "chat" / "templates" / f"{name}.jinja").read_text(encoding="utf-8")
    special = {"eos_token": eos} | ({"bos_token": bos} if bos else {})
    return kind(tokenizer_object=core, chat_template=template, **special)


@functools.cache
def golden(shared: Path, file: str = "cases.json") -> Any:
    """Return a file of golden chats."""
    return json.loads((shared / "vectors" / "chat" / file).read_text(encoding="utf-8"))


def cases(shared: Path, name: str) -> list[tuple[Json, Json]]:
    """Return the golden conversations that a family renders, and what it makes of them."""
    found = ((case, case["expected"].get(name)) for case in golden(shared)["cases"])
    return [(case, expected) for case, expected in found if expected and "text" in expected]


def options(case: Json) -> Json:
    """Return the keyword arguments of a golden conversation."""
    return {name: case[name] for name in ("tools", "add_generation_prompt", "continue_final_message")} | case["kwargs"]
