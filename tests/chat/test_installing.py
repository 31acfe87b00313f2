"""Installing a chat format: ids stay, reserved tokens are used, stock loads the result."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from chat_families import families, sides
from tokenizers import AddedToken
from transformers import AutoTokenizer, GenerationConfig, PreTrainedTokenizerFast

import hf_bpe
from hf_bpe import HfBpeTokenizer, chat
from hf_bpe.chat import templates

CORPUS = ["the quick brown fox jumps over the lazy dog", "assistant user system", "2+2? 4"] * 40
CHAT = [
    {"role": "system", "content": "Be the fox."},
    {"role": "user", "content": "jumps <|im_end|> over?"},
    {"role": "assistant", "content": "<think>\nthe dog\n</think>\n\nlazy"},
    {"role": "user", "content": "2+2? "},
]
CALL = {"type": "function", "function": {"name": "fox", "arguments": {"over": "dog"}}}
CALLS = [CHAT[1], {"role": "assistant", "content": "", "tool_calls": [CALL]}, {"role": "tool", "content": "lazy"}]


PLAIN = ["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>"]


def trained(*special_tokens: str | AddedToken, **settings: Any) -> HfBpeTokenizer:
    settings = {"vocab_size": 290, "eos_token": "<|end|>", **settings}
    return hf_bpe.train(CORPUS, special_tokens=special_tokens, progress=False, **settings)


def reserve(count: int) -> list[str]:
    return [f"<|reserved_special_token_{number}|>" for number in range(count)]


@pytest.mark.parametrize("name", templates.NAMES)
def test_a_saved_directory_renders_and_encodes_alike_in_stock(tmp_path: Path, name: str) -> None:
    ours = trained(*reserve(2))
    report = chat.install(ours, name)
    ours.save_pretrained(tmp_path)

    stock, again = PreTrainedTokenizerFast.from_pretrained(tmp_path), AutoTokenizer.from_pretrained(tmp_path)
    assert isinstance(again, HfBpeTokenizer)
    for messages in (CHAT, CALLS):
        texts = {tokenizer.apply_chat_template(messages, tokenize=False) for tokenizer in (ours, stock, again)}
        rows = [tokenizer.apply_chat_template(messages)["input_ids"] for tokenizer in (ours, stock, again)]
        assert len(texts) == 1
        assert rows[0] == rows[1] == rows[2]
        assert ours.decode(rows[0]) == texts.pop()
        assert report.stop_ids[0] in rows[0]
    assert stock.eos_token_id == again.eos_token_id == report.stop_ids[0]
    assert chat.stop_ids(again) == report.stop_ids == chat.stop_ids(ours)
    assert len(stock) == len(ours) == report.vocab_size


@pytest.mark.parametrize("name", templates.NAMES)
def test_no_id_moves(name: str) -> None:
    tokenizer = trained(*reserve(1))
    before = tokenizer.get_vocab()
    report = chat.install(tokenizer, name)

    after = tokenizer.get_vocab()
    moved = {token: id for token, id in before.items() if after.get(token) != id}
    assert moved == {"<|reserved_special_token_0|>": 0}
    assert report.renamed == {tokenizer.convert_ids_to_tokens(0): "<|reserved_special_token_0|>"}
    assert sorted(report.added.values()) == list(range(290, len(tokenizer)))
    assert report.rows_to_add == len(report.added)


def test_missing_tokens_get_new_ids_in_order_when_nothing_is_reserved() -> None:
    tokenizer = trained()
    report = chat.install(tokenizer, "chatml")

    assert report.added == {"<|im_start|>": 290, "<|im_end|>": 291}
    assert (report.reused, report.renamed, report.rows_to_add, report.vocab_size) == ({}, {}, 2, 292)
    assert tokenizer.eos_token == report.eos_token == "<|im_end|>"
    assert report.stop_ids == [291, 0], "the old EOS still ends a text"


def test_installing_again_changes_nothing() -> None:
    tokenizer = trained(*reserve(9))
    first = chat.install(tokenizer, "llama3.1")
    core, second = tokenizer._core, chat.install(tokenizer, "llama3.1")

    assert tokenizer._core == core
    assert (second.added, second.renamed, second.rows_to_add) == ({}, {}, 0)
    assert set(second.reused) == set(first.renamed) - {"<|begin_of_text|>"}
    assert second.stop_ids == first.stop_ids


def test_reserved_tokens_of_lowest_numbers_are_renamed_and_need_no_rows() -> None:
    tokenizer = trained(*reversed(reserve(12)))
    report = chat.install(tokenizer, "qwen3")

    assert report.renamed["<|im_start|>"] == "<|reserved_special_token_0|>"
    assert tokenizer.convert_tokens_to_ids("<|im_start|>") == 11
    assert (report.added, report.rows_to_add) == ({}, 0)
    assert not tokenizer.added_tokens_decoder[tokenizer.convert_tokens_to_ids("<think>")].special
    assert tokenizer.decode(tokenizer.encode("a<think>b<|im_end|>"), skip_special_tokens=True) == "a<think>b"


def test_reserved_tokens_stay_when_told_so() -> None:
    tokenizer = trained(*reserve(9))
    report = chat.install(tokenizer, "chatml", use_reserved=False)

    assert report.added == {"<|im_start|>": 290, "<|im_end|>": 291}
    assert tokenizer.encode("<|reserved_special_token_0|>") == [0]


def test_a_token_goes_to_the_reserved_id_where_its_family_has_it() -> None:
    from hf_bpe.chat.reserved import choose

    reserved = {128002: "r0", 128004: "r2", 128008: "r4", 128010: "r5"}
    chosen = choose(["<|python_tag|>", "<|eom_id|>", "x"], reserved, {"<|eom_id|>": 128008, "<|python_tag|>": 128010})
    assert chosen == {"<|python_tag|>": "r5", "<|eom_id|>": "r4", "x": "r0"}
    assert choose(["a", "b"], {}, {"a": 1}) == {}


def test_reserved_tokens_with_a_job_are_left_alone(tmp_path: Path) -> None:
    used = trained(*reserve(2), pad_token="<|reserved_special_token_0|>")
    listed = trained(*reserve(2), extra_special_tokens=["<|reserved_special_token_1|>"])
    chat.install(used, "chatml")
    chat.install(listed, "chatml")
    listed.save_pretrained(tmp_path)

    assert used.pad_token_id == used.convert_tokens_to_ids("<|reserved_special_token_0|>") == 0
    assert used.convert_tokens_to_ids("<|im_start|>") == 1
    assert listed.extra_special_tokens == ["<|im_end|>"]
    assert len(PreTrainedTokenizerFast.from_pretrained(tmp_path)) == len(listed) == 290


def test_a_bos_of_its_own_is_what_the_template_writes() -> None:
    tokenizer = trained(bos_token="<s>")
    report = chat.install(tokenizer, "llama3")

    assert "<|begin_of_text|>" not in report.added
    assert tokenizer.apply_chat_template(CHAT, tokenize=False).startswith("<s><|start_header_id|>system")
    assert trained().bos_token is None
    assert "<|begin_of_text|>" in chat.install(trained(), "llama3").added


def test_generation_stops_where_the_report_says() -> None:
    tokenizer = trained("<|end_of_text|>", "<|endoftext|>", pad_token="<|pad|>")
    report = chat.install(tokenizer, "llama3.1")
    config = GenerationConfig(**report.generation_config())

    stops = ["<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|end|>"]
    assert config.eos_token_id == tokenizer.convert_tokens_to_ids(stops)
    assert config.bos_token_id == tokenizer.bos_token_id
    assert config.pad_token_id == tokenizer.convert_tokens_to_ids("<|pad|>")


def test_rows_are_counted_from_those_that_the_model_has() -> None:
    assert chat.install(trained(), "chatml", embedding_rows=320).rows_to_add == 0
    assert chat.install(trained(), "chatml", embedding_rows=100).rows_to_add == 192


@pytest.mark.parametrize("rows", ["320", -1, 320.0])
def test_what_is_no_number_of_rows_is_refused_before_anything_changes(rows: Any) -> None:
    tokenizer = trained()
    before = tokenizer.get_vocab()

    with pytest.raises(ValueError, match="embedding_rows is the number of rows that an embedding has"):
        chat.install(tokenizer, "chatml", embedding_rows=rows)

    assert tokenizer.get_vocab() == before
    assert tokenizer.chat_template is None


def test_the_report_can_be_read() -> None:
    assert str(chat.install(trained(*reserve(1)), "chatml")) == (
        "chat template chatml: EOS <|im_end|>, stop ids 290, 1\n"
        "tokens that were there: none\n"
        "reserved tokens renamed: <|im_start|> (<|reserved_special_token_0|>)\n"
        "tokens added: <|im_end|> (290)\n"
        "embedding rows: 291, 1 of them to add"
    )


def test_the_training_variant_gives_masks() -> None:
    tokenizer = trained()
    chat.install(tokenizer, "chatml", training=True)
    batch = tokenizer.apply_chat_template(CHAT[1:], return_assistant_tokens_mask=True)

    said = [id for id, mask in zip(batch["input_ids"], batch["assistant_masks"], strict=True) if mask]
    assert tokenizer.decode(said) == CHAT[2]["content"] + "<|im_end|>"


# --- conflicts, after which nothing has changed


def refused(tokenizer: HfBpeTokenizer, match: str, name: str = "chatml") -> None:
    core = tokenizer._core
    with pytest.raises(ValueError, match=match):
        chat.install(tokenizer, name)
    assert tokenizer._core is core
    assert tokenizer.chat_template is None
    assert tokenizer.eos_token == "<|end|>"


def test_a_token_that_is_not_special_is_refused() -> None:
    tokenizer = trained()
    tokenizer.add_tokens(["<|im_end|>"])

    refused(
        tokenizer, r"needs '<\|im_end\|>' as a special token, and it is an added token that isn't special: set \"spe"
    )


def test_an_ordinary_token_is_refused_until_it_gets_the_job() -> None:
    corpus = ["<|im_end|>"] * 50
    tokenizer = hf_bpe.train(corpus, vocab_size=266, split_pattern=".+", eos_token="<|end|>", progress=False)
    token_id = tokenizer.convert_tokens_to_ids("<|im_end|>")

    refused(tokenizer, rf"'<\|im_end\|>' as an added token, and it is an ordinary one here \(id {token_id}\)")
    tokenizer.add_tokens(AddedToken("<|im_end|>", special=True, normalized=False))
    assert chat.install(tokenizer, "chatml").reused == {"<|im_end|>": token_id}


@pytest.mark.parametrize("flag", ["single_word", "lstrip", "rstrip"])
def test_a_token_that_depends_on_its_neighbours_is_refused(flag: str) -> None:
    token = AddedToken("<think>", normalized=False, **{flag: True})

    refused(trained(token), rf"'<think>' without regard to what stands beside it.* {flag}=True: unset", "qwen3")
    with pytest.raises(ValueError, match=f"{flag}=True"):
        trained(token, chat_template="qwen3")


def test_a_plain_token_may_be_special() -> None:
    tokenizer = trained("<think>")

    assert chat.install(tokenizer, "qwen3").reused == {"<think>": 0}


def test_unknown_formats_and_other_tokenizers_are_refused() -> None:
    refused(trained(), "no chat template 'alpaca'; there are 'chatml'", "alpaca")
    with pytest.raises(TypeError, match=r"takes an HfBpeTokenizer, got str; load .* HfBpeTokenizer.from_pretrained"):
        chat.install("my-tokenizer", "chatml")  # type: ignore[arg-type]


# --- at the end of training


@pytest.mark.parametrize("name", templates.NAMES)
@pytest.mark.parametrize("last", [False, True])
def test_training_counts_the_tokens_of_the_format(name: str, last: bool) -> None:
    tokenizer = trained(chat_template=name, special_tokens_last=last)
    ids = tokenizer.apply_chat_template(CHAT)["input_ids"]

    assert len(tokenizer) == tokenizer.training_report.vocab_size == 290
    assert tokenizer.decode(ids) == tokenizer.apply_chat_template(CHAT, tokenize=False)
    assert tokenizer.convert_tokens_to_ids("<|end|>") in chat.stop_ids(tokenizer)
    assert chat.install(tokenizer, name).added == {}


def test_training_with_a_format_gives_special_and_plain_tokens() -> None:
    tokenizer = trained(chat_template="qwen3", alphabet="characters", byte_fallback=True, vocab_size=320)
    special = {token.content: token.special for token in tokenizer.added_tokens_decoder.values()}

    assert special["<|im_start|>"]
    assert not special["<think>"]


def test_training_knows_names_from_templates() -> None:
    assert trained(chat_template="{{ messages }}").chat_template == "{{ messages }}"
    assert trained(chat_template={"default": "x"}).chat_template == {"default": "x"}
    with pytest.raises(ValueError, match="no chat template 'lama3'; there are 'chatml', 'llama3'"):
        trained(chat_template="lama3")


def test_retraining_keeps_the_format() -> None:
    tokenizer = trained(chat_template="llama3.1")
    again = tokenizer.train_new_from_iterator(CORPUS, 300)

    assert again.apply_chat_template(CHAT, tokenize=False) == tokenizer.apply_chat_template(CHAT, tokenize=False)
    assert again.convert_ids_to_tokens(chat.stop_ids(again)) == tokenizer.convert_ids_to_tokens(
        chat.stop_ids(tokenizer)
    )


# --- real vocabularies


@families
@pytest.mark.parametrize("name", templates.NAMES)
def test_real_vocabularies_need_no_row_where_the_family_has_the_tokens(
    family: str, real_vocabulary: Path, name: str, tmp_path: Path
) -> None:
    ours = copy.deepcopy(sides(family, real_vocabulary)[0])
    before = ours.get_vocab()
    report = chat.install(ours, name)
    after = ours.get_vocab()

    assert {token: id for token, id in before.items() if after.get(token, id) != id} == {}
    own = {
        "llama": ("llama3", "llama3.1", "llama3.2", "llama3.3"),
        "qwen2": ("qwen2.5",),
        "qwen3": ("qwen2.5", "qwen3"),
    }
    if name == "chatml" or name in own[family[:5]]:
        assert report.rows_to_add == 0
    if name in own[family[:5]] and family != "llama3":
        assert report.renamed == report.added == {}
    if (family, name) == ("qwen2.5", "qwen3"):
        assert report.added == dict(zip(PLAIN[-4:], range(151665, 151669), strict=True)), "the ids that Qwen 3 has"
    if (family, name) in {("llama3", "llama3.1"), ("llama3", "llama3.3")}:
        assert report.renamed == {
            "<|eom_id|>": "<|reserved_special_token_4|>",
            "<|python_tag|>": "<|reserved_special_token_5|>",
        }
        assert ours.convert_tokens_to_ids(["<|eom_id|>", "<|python_tag|>"]) == [128008, 128010]
        assert report.stop_ids == [128009, 128008, 128001]
    if name == "llama3.1":
        ours.save_pretrained(tmp_path)
        stock = PreTrainedTokenizerFast.from_pretrained(tmp_path)
        for messages in (CHAT, CALLS):
            assert stock.apply_chat_template(messages) == ours.apply_chat_template(messages)
