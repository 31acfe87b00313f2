"""A model in memory. Runs where torch is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from embedding_models import extended, old_tokenizer

from hf_bpe.embeddings import plan_rows, resize_embeddings, resize_rows

torch: Any = pytest.importorskip("torch")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("tied", [False, True])
def test_a_model_in_memory_gets_the_rows_of_the_numpy_function(dtype: str, tied: bool) -> None:
    from transformers import LlamaConfig, LlamaForCausalLM

    old = old_tokenizer()
    new = extended(old, ("z", "z"), ("zz", "q"))
    config = LlamaConfig(
        vocab_size=len(old) + 1,
        hidden_size=16,
        intermediate_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        tie_word_embeddings=tied,
    )
    model = LlamaForCausalLM(config).to(getattr(torch, dtype))
    before = [model.get_input_embeddings().weight, model.get_output_embeddings().weight]
    wanted = [
        resize_rows(weight.detach().float().numpy(), plan_rows(old, new, num_old_rows=len(old) + 1))
        for weight in before
    ]

    resize_embeddings(model, old, new)

    after = [model.get_input_embeddings().weight, model.get_output_embeddings().weight]
    assert model.config.vocab_size == len(new)
    assert (after[0] is after[1]) == tied
    for weight, rows in zip(after, wanted, strict=True):
        np.testing.assert_allclose(weight.detach().float().numpy(), rows, rtol=1e-2 if dtype != "float32" else 1e-6)
