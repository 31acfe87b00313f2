"""`bill`, `kv_cache`, `embedding_share`, `bits_per_byte`, `throughput`: sums by hand, and clear errors."""

from __future__ import annotations

import json
from math import log
from pathlib import Path
from typing import Any

import pytest
from libraries import in_every_library, small

from hf_bpe import HfBpeTokenizer, measure
from hf_bpe.vocabulary import Vocabulary

PLAIN = {"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 16, "num_attention_heads": 4, "dtype": "float16"}


def test_a_bill_is_tokens_times_price_by_bucket() -> None:
    texts = {"system": ["the cat\n"] * 1_000, "user": ["你好"], "none": []}

    found = measure.bill(small(), texts, price_per_million={"system": 0.5, "user": 3}, currency="EUR")

    assert {name: item.tokens for name, item in found.items.items()} == {"system": 4_000, "user": 5}
    assert found.price == pytest.approx(4_000 * 0.5 / 1e6 + 5 * 3 / 1e6)
    assert found.tokens == 4_005
    assert "price, EUR" in str(found)


def test_buckets_may_be_told_from_texts_and_bills_agree_between_libraries() -> None:
    texts = ["the", "你好", "the cat"]

    found = {
        name: measure.bill(made, texts, price_per_million=1, bucket_of=measure.kind_of, name="same").as_json()
        for name, made in in_every_library().items()
    }

    assert all(bill == found["tiktoken"] for bill in found.values())
    assert measure.bill(small(), texts, price_per_million=1, bucket_of=len_of).items["3"].texts == 1


def len_of(text: str) -> str:
    """Return the length of a text as a bucket."""
    return str(len(text))


def test_an_estimate_with_another_tokenizer_is_off_by_bucket() -> None:
    ranks = {bytes([byte]): byte for byte in range(256)}
    plain = Vocabulary.from_ranks(ranks, split_pattern="gpt2", added_tokens={})
    texts = {"english": ["the cat"], "chinese": ["你好"], "empty": [""]}
    real, estimate = (measure.bill(made, texts, price_per_million=1) for made in (small(), plain))

    assert real.error_of(estimate) == {
        "english": pytest.approx(7 / 3 - 1),
        "chinese": pytest.approx(6 / 5 - 1),
        "empty": None,
        "all": pytest.approx(13 / 8 - 1),
    }


def test_a_bill_of_nothing_is_nothing() -> None:
    found = measure.bill(small(), [], price_per_million=5)

    assert (found.tokens, found.price, found.error_of(found)) == (0, 0, {"all": None})


def test_a_log_of_requests_is_billed_with_what_the_template_adds() -> None:
    tokenizer = HfBpeTokenizer.from_vocabulary(small())
    tokenizer.chat_template = "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}"
    chat = [{"role": "user", "content": "the cat"}]
    log = [chat, {"messages": chat}, "the", [1, 2, 3]]

    found = measure.bill_of_requests(
        log, tokenizer=tokenizer, price_per_million=1, bucket_of=lambda request: "chat" if request.messages else "other"
    )

    rendered = len(tokenizer.apply_chat_template(chat, tokenize=True)["input_ids"])
    assert {name: (item.texts, item.tokens) for name, item in found.items.items()} == {
        "chat": (2, 2 * rendered),
        "other": (2, 4),
    }
    assert rendered == len("[user]") + 3


def test_texts_of_a_log_are_billed_with_every_library() -> None:
    for made in in_every_library().values():
        found = measure.bill_of_requests(["the cat", {"text": "the"}], tokenizer=made, price_per_million=1)

        assert found.tokens == 4
        assert (
            measure.prefix(["the cat"] * 2, tokenizer=made, block_size=1).share == 2 / 6
        )  # the last token is always computed


@pytest.mark.parametrize(
    ("price", "message"),
    [
        (-1, "price_per_million is a number from 0 up, or one for each bucket, got -1"),
        (float("nan"), "got nan"),
        ({"other": 1}, "price_per_million has no bucket 'texts'; it has 'other'"),
        ({}, "it has none"),
        (True, "got True"),
        (float("inf"), "price_per_million=inf is no price; the highest is 1,000,000,000,000,000"),
        (1e308, r"price_per_million=1e\+308 is no price"),
        (10**400, "is no price"),
    ],
)
def test_a_price_that_is_none_is_refused(price: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        measure.bill(small(), ["a"], price_per_million=price)


@pytest.mark.parametrize(
    ("changes", "attention", "bytes_per_token"),
    [
        ({}, "MHA", 2 * 2 * 4 * 4 * 2),
        ({"num_key_value_heads": 2}, "GQA", 2 * 2 * 2 * 4 * 2),
        ({"num_key_value_heads": 1}, "MQA", 2 * 2 * 1 * 4 * 2),
        ({"multi_query": True}, "MQA", 2 * 2 * 1 * 4 * 2),
        ({"multi_query_attention": True, "multi_query_group_num": 2, "kv_channels": 8}, "GQA", 2 * 2 * 2 * 8 * 2),
        ({"multi_query_attention": False, "multi_query_group_num": 2}, "MHA", 2 * 2 * 4 * 4 * 2),
        ({"attn_config": {"kv_n_heads": 2, "clip_qkv": 8}}, "GQA", 2 * 2 * 2 * 4 * 2),
        ({"attn_config": {"attn_type": "multiquery_attention"}}, "MQA", 2 * 2 * 1 * 4 * 2),
        ({"attn_config": {"attn_type": "multihead_attention", "clip_qkv": 8}}, "MHA", 2 * 2 * 4 * 4 * 2),
        ({"num_kv_shared_layers": 1}, "MHA", 2 * 4 * 4 * 2),
        ({"head_dim": 32, "num_key_value_heads": 2}, "GQA", 2 * 2 * 2 * 32 * 2),
        ({"kv_lora_rank": 512, "qk_rope_head_dim": 64}, "MLA", 2 * (512 + 64) * 2),
        ({"layer_types": ["linear_attention", "full_attention"]}, "MHA", 2 * 4 * 4 * 2),
        ({"dtype": "float32"}, "MHA", 2 * 2 * 4 * 4 * 4),
    ],
)
def test_bytes_per_token_follow_the_kind_of_attention(
    changes: dict[str, Any], attention: str, bytes_per_token: int
) -> None:
    found = measure.kv_cache(PLAIN | changes)

    assert (found.attention, found.bytes_per_token) == (attention, bytes_per_token)
    assert found.bytes_of(1_000) == 1_000 * bytes_per_token
    assert found.bytes_of(0) == 0


@pytest.mark.parametrize(
    ("changes", "sliding"),
    [
        ({"sliding_window": 100}, 2),
        ({"sliding_window": 100, "use_sliding_window": False}, 0),
        ({"sliding_window": 100, "use_sliding_window": True, "max_window_layers": 1}, 1),
        ({"sliding_window": 100, "sliding_window_pattern": 2}, 1),
        ({"sliding_window": 100, "model_type": "gemma2"}, 1),
        ({"sliding_window": 100, "layer_types": ["sliding_attention", "full_attention"]}, 1),
        ({"sliding_window": None}, 0),
        ({"sliding_window": 100, "model_type": "qwen2"}, 0),
        ({"sliding_window": 100, "model_type": "mistral"}, 2),
        ({"sliding_window": 100, "model_type": "qwen2", "use_sliding_window": True, "max_window_layers": 1}, 1),
        ({"sliding_window": 100, "model_type": "gpt_oss"}, 1),
    ],
)
def test_layers_with_a_window_keep_no_more_than_it(changes: dict[str, Any], sliding: int) -> None:
    found = measure.kv_cache(PLAIN | changes, context=1_000)

    assert found.sliding_layers == sliding
    assert found.bytes_of(1_000) == 2 * 4 * 4 * 2 * ((2 - sliding) * 1_000 + sliding * 100)
    assert found.bytes_of(50) == 2 * 2 * 4 * 4 * 2 * 50


def test_longer_text_costs_its_share_of_the_cache() -> None:
    found = measure.kv_cache(PLAIN, context=1_000, dtype="int4")

    assert found.bytes_per_token == 2 * 2 * 4 * 4 / 2
    assert found.cost_of_longer(0.2) == 200 * found.bytes_per_token
    assert found.cost_of_longer(-0.5, context=10) == -5 * found.bytes_per_token


def test_a_config_may_be_a_file_or_inside_another(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"text_config": PLAIN, "torch_dtype": "float32"}), "utf-8")

    assert measure.kv_cache(tmp_path) == measure.kv_cache(tmp_path / "config.json") == measure.kv_cache(PLAIN)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, r"the config has no 'num_attention_heads' \(or n_head"),
        (PLAIN | {"num_hidden_layers": 0}, r"config\['num_hidden_layers'\] is 0, and must be a positive integer"),
        (PLAIN | {"num_hidden_layers": "2"}, "is '2', and must be"),
        (PLAIN | {"hidden_size": 15}, "no 'head_dim', and 4 heads don't divide a hidden size of 15"),
        (PLAIN | {"num_key_value_heads": 3}, "3 KV heads, which don't divide 4"),
        (PLAIN | {"kv_heads_of_mine": 2}, r"config\['kv_heads_of_mine'\] is 2, and may say how many KV heads"),
        (PLAIN | {"query_group_num": 2}, r"config\['query_group_num'\] is 2.*give 'num_key_value_heads'"),
        (PLAIN | {"attn_config": {"kv_groups": 2}}, r"config\['attn_config.kv_groups'\] is 2"),
        (PLAIN | {"dtype": "float12"}, "dtype='float12' is not known; the types are float32"),
        (PLAIN | {"layer_types": ["full_attention"]}, "lists 1 layers, and the model has 2"),
        (PLAIN | {"layer_types": ["full_attention", "odd"]}, r"config\['layer_types'\]\[1\] is 'odd'; the kinds are"),
    ],
)
def test_a_config_that_says_too_little_is_refused(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        measure.kv_cache(config)


def test_arguments_of_the_cache_are_checked(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{", "utf-8")

    with pytest.raises(ValueError, match=r"config\.json is no JSON"):
        measure.kv_cache(tmp_path)
    with pytest.raises(TypeError, match="config is a mapping, a PretrainedConfig or the path"):
        measure.kv_cache(3)
    with pytest.raises(ValueError, match="context=-1: a context has at least 0 tokens"):
        measure.kv_cache(PLAIN, context=-1)
    with pytest.raises(ValueError, match="tokens=-1: a context has at least 0 tokens"):
        measure.kv_cache(PLAIN).bytes_of(-1)
    with pytest.raises(ValueError, match=r"cost_of_longer\(\) needs a context"):
        measure.kv_cache(PLAIN).cost_of_longer(0.1)
    with pytest.raises(ValueError, match="share=nan: a text can't have less than no tokens"):
        measure.kv_cache(PLAIN, context=1).cost_of_longer(float("nan"))
    with pytest.raises(ValueError, match="share=inf is no finite number"):
        measure.kv_cache(PLAIN, context=1).cost_of_longer(float("inf"))


@pytest.mark.parametrize("tied", [True, False])
def test_the_share_of_embeddings_is_counted_or_given(tied: bool) -> None:
    config = PLAIN | {"vocab_size": 100, "intermediate_size": 64, "tie_word_embeddings": tied}
    body = 2 * (4 * 16 * 16 + 3 * 16 * 64 + 2 * 16) + 16
    rows = 100 * 16 * (1 if tied else 2)

    found = measure.embedding_share(config)

    assert found.parameters == body + rows
    assert found.share == rows / (body + rows)
    assert measure.embedding_share(config, 200).parameters == body + 2 * rows
    assert measure.embedding_share(config | {"model_type": "x"}, 200, parameters=body + rows).share == (
        2 * rows / (body + 2 * rows)
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "the parameters of 'x' are not counted here, only those of llama, .*; pass parameters="),
        ({"parameters": 10}, "parameters=10 are fewer than the embedding of the config has"),
        ({"vocab_size": 0}, r"config\['vocab_size'\] is 0"),
    ],
)
def test_a_share_that_can_not_be_known_is_refused(arguments: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        measure.embedding_share(
            PLAIN | {"model_type": "x", "vocab_size": 100, "tie_word_embeddings": False}, **arguments
        )


@pytest.mark.parametrize(("model_type", "matrices"), [("gpt2", 1), ("gemma2", 1), ("llama", 2), ("qwen2", 2)])
def test_embeddings_are_tied_as_the_class_of_the_model_has_them(model_type: str, matrices: int) -> None:
    config = {"model_type": model_type, "hidden_size": 16, "vocab_size": 100}

    found = measure.embedding_share(config, parameters=10_000)

    assert found.embedding_parameters == matrices * 1_600


def test_an_unknown_model_is_not_taken_for_untied() -> None:
    config = {"model_type": "chatglm", "hidden_size": 16, "vocab_size": 100}

    with pytest.raises(ValueError, match=r"no 'tie_word_embeddings', and transformers has no class for 'chatglm'"):
        measure.embedding_share(config, parameters=10_000)
    assert measure.embedding_share(config, parameters=10_000, tied=True).embedding_parameters == 1_600


def test_bits_per_byte_do_not_depend_on_the_tokenizer() -> None:
    found = measure.bits_per_byte(2.0, tokens=250, bytes=1_000)

    assert float(found) == found.value == pytest.approx(2 * 0.25 / log(2))
    assert measure.bits_per_byte(4.0, 125, 1_000).value == found.value
    assert measure.bits_per_byte(log(256), 10, 10).value == pytest.approx(8)
    assert "bits/byte" in str(found)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1.0, 1, 0), "bytes=0: a loss per byte needs at least 1 byte"),
        ((1.0, -1, 1), "tokens=-1"),
        ((float("nan"), 1, 1), "loss_per_token=nan: a cross entropy is a finite number"),
        ((float("inf"), 1, 1), "loss_per_token=inf"),
    ],
)
def test_a_loss_that_is_none_is_refused(arguments: tuple[float, int, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        measure.bits_per_byte(*arguments)


def test_throughput_counts_bytes_and_seconds() -> None:
    found = measure.throughput(small(), {"a": ["the cat 你好\n"] * 2_000, "empty": [""]}, runs=2)

    assert found.speeds["a"].bytes == 2_000 * len("the cat 你好\n".encode())
    assert 0 < found.speeds["a"].best <= found.speeds["a"].first
    assert found.megabytes_per_second is not None
    assert found.tables()[0].rows[1][-1] is None
    assert measure.throughput(small(), []).megabytes_per_second is None
    with pytest.raises(ValueError, match="runs=0: each text is encoded at least once"):
        measure.throughput(small(), [], runs=0)
