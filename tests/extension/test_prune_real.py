"""Real vocabularies, pruned for a corpus: what it can still say keeps its tokens, and every text comes back.

By default on a part of each corpus; `HF_BPE_WHOLE_CORPORA=1` takes all of them.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import tokenizers
from extending import ids_of
from hostile import HOSTILE, random_texts
from test_extend_real import CORPORA, WHOLE, corpus

from hf_bpe import HfBpeTokenizer, prune


@pytest.mark.parametrize(
    ("real_vocabulary", "sources", "size"),
    [("gpt2", ["english"], 8_000), ("llama3", ["chinese", "english"], 32_000), ("mistral_v1", ["english"], 16_000)],
    indirect=["real_vocabulary"],
)
def test_real_vocabularies_are_pruned(real_vocabulary: Path, sources: list[str], size: int, tmp_path: Path) -> None:
    old = HfBpeTokenizer(tokenizer_file=str(real_vocabulary))
    source = [line for name in sources for line in corpus(name)]
    if not source:
        pytest.skip("no folder of corpora: set HF_BPE_SHARED")

    new, report = prune(old, source, vocab_size=size, progress=False)
    new.save_pretrained(tmp_path)

    stock = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    id_map = report.id_map or {}
    assert len(new) == len(id_map) == size
    texts = [
        *HOSTILE.values(),
        *random_texts(20_000 if WHOLE else 500, seed=size, tokens=[*old.added_tokens_encoder][:9]),
    ]
    for group in (texts, *(corpus(name)[:: 1 if WHOLE else 7] for name in CORPORA)):
        before, after = ids_of(old, group), ids_of(new, group)
        assert [row.ids for row in stock.encode_batch(group, add_special_tokens=False)] == after
        for text, was, now in zip(group, before, after, strict=True):
            assert new.decode(now) == old.decode(was), text
            if all(token_id in id_map for token_id in was):
                assert now == [id_map[token_id] for token_id in was], text
