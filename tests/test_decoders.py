"""Every decoder, alone and in sequences, decodes and streams as the stock library does.

`HF_BPE_FUZZ` is the number of random decoders (300 by default), `HF_BPE_FUZZ_SEED` the first of them: a failure names
its seed. Where stock panics there is nothing to equal.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import pytest
from decoding import LLAMA, Both, file_with
from tokenizers.decoders import DecodeStream as StockStream
from transformers import PreTrainedTokenizerFast

from hf_bpe import HfBpeTokenizer, SplitPatternError, UnsupportedComponentError
from hf_bpe._native import DecodeStream, Tokenizer

DECODERS = int(os.environ.get("HF_BPE_FUZZ", "300"))
FIRST = int(os.environ.get("HF_BPE_FUZZ_SEED", "0"))
STEP = 50

BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}

each_block = pytest.mark.parametrize(
    "seeds", [range(first, first + STEP) for first in range(FIRST, FIRST + DECODERS, STEP)]
)


class StockPanicked(Exception):
    """Stock gave up in a way that nobody can want to equal."""


def of_stock(work: Callable[[], Any]) -> Any:
    """Return what stock returns."""
    try:
        return work()
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            raise StockPanicked from error
        raise


@each_block
def test_decoding_equals_stock(seeds: range) -> None:
    for seed in seeds:
        both = Both(seed)
        for _ in range(20):
            ids = both.ids()
            skip = both.rng.random() < 0.5
            got = both.ours.decode(ids, skip_special_tokens=skip)
            tokens = [both.stock.id_to_token(id) or "" for id in ids]
            got_of_tokens = both.ours.decode_tokens(tokens)
            what = f"seed {seed}, {ids}, skip={skip}, {both.decoder}"
            try:
                assert got == of_stock(lambda: both.stock.decode(ids, skip_special_tokens=skip)), what  # noqa: B023
                if both.decoder is not None:
                    assert got_of_tokens == of_stock(lambda: both.stock.decoder.decode(tokens)), what  # noqa: B023
            except StockPanicked:
                assert "Strip" in what


@each_block
def test_streams_equal_stock_step_by_step(seeds: range) -> None:
    for seed in seeds:
        both = Both(seed)
        if both.decoder is None or is_byte_level(both.decoder):
            continue  # these hand out sooner than stock what is certain
        for _ in range(10):
            skip = both.rng.random() < 0.5
            stock = StockStream(skip_special_tokens=skip)
            ours = DecodeStream(both.ours, skip_special_tokens=skip)
            done: list[Any] = []
            for id in both.ids(30):
                step = [id, id + 1] if both.rng.random() < 0.1 else id
                done.append(step)
                got = ours.step(step)
                try:
                    expected = of_stock(lambda: stock.step(both.stock, step))  # noqa: B023
                except StockPanicked:
                    break
                except Exception as error:
                    if "Invalid prefix" not in str(error):
                        raise
                    break  # what was handed out is taken back: ours goes on, stock fails for ever
                assert got == (expected or ""), f"seed {seed}, {done}, skip={skip}, {both.decoder}"


@each_block
def test_chunks_put_together_are_the_whole_text_where_those_of_stock_are(seeds: range) -> None:
    for seed in seeds:
        both = Both(seed)
        for _ in range(10):
            ids = both.ids(30)
            stream = DecodeStream(both.ours)
            stock = StockStream()
            try:
                chunks = "".join(of_stock(lambda: stock.step(both.stock, id)) or "" for id in ids)  # noqa: B023
                whole = of_stock(lambda: both.stock.decode(ids, skip_special_tokens=False))  # noqa: B023
            except Exception:  # a panic, or a text that stock took back
                continue
            if whole.startswith(chunks):
                got = "".join(stream.step(id) for id in ids) + stream.flush()
                assert got == whole, f"seed {seed}, {ids}, {both.decoder}"


def is_byte_level(decoder: dict[str, Any]) -> bool:
    """Whether a decoder is `ByteLevel` and nothing else, however deep it lies in sequences."""

    def steps(decoder: dict[str, Any]) -> list[str]:
        inner = decoder.get("decoders")
        return [decoder["type"]] if inner is None else [name for step in inner for name in steps(step)]

    return steps(decoder) == ["ByteLevel"]


@pytest.mark.parametrize(
    ("decoder", "token", "expected"),
    [
        (LLAMA, "▁the", b" the"),
        (LLAMA, "<0xC3>", b"\xc3"),
        (LLAMA, "<0xGG>", b"<0xGG>"),
        (LLAMA, "▁▁▁", b"   "),
        ({"type": "Metaspace", "replacement": "_", "prepend_scheme": "always", "split": True}, "_a", b" a"),
        ({"type": "Fuse"}, "<0x0A>", b"\n"),
        (None, "<0x0A>", b"\n"),
        (None, "é", "é".encode()),
        (BYTE_LEVEL, "Ġa", b" a"),
        (BYTE_LEVEL, "▁a", "▁a".encode()),
    ],
)
def test_a_token_has_the_bytes_that_it_stands_for_inside_a_text(
    decoder: dict[str, Any] | None, token: str, expected: bytes
) -> None:
    tokenizer = Tokenizer.from_json(json.dumps(file_with(decoder)))
    added, _ = tokenizer.with_added_tokens([("<0xGG>", False, False, False, False, False)])
    id = added.token_to_id(token)
    assert id is not None

    assert added.get_token_bytes(id) == expected
    assert added.decode_bytes([id, id]) == expected * 2
    assert added.is_byte_level == (decoder == BYTE_LEVEL)


def test_bytes_put_together_are_the_text_of_a_byte_fallback_vocabulary() -> None:
    tokenizer = Tokenizer.from_json(json.dumps(file_with(LLAMA)))
    ids = [tokenizer.token_to_id(token) for token in ("▁the", "<0xC3>", "<0xA9>", "▁▁", "<0x0A>", "<s>", "語")]

    assert tokenizer.decode_bytes(ids) == " theé  \n<s>語".encode()  # type: ignore[arg-type]
    assert tokenizer.decode(ids) == "theé  \n<s>語"  # type: ignore[arg-type]


@pytest.mark.parametrize("clean_up", [None, False, True])
@pytest.mark.parametrize("forced", [False, True])
@pytest.mark.parametrize("spaces", [{}, {"spaces_between_special_tokens": True}])
def test_the_class_decodes_as_the_stock_class(clean_up: bool | None, forced: bool, spaces: dict[str, bool]) -> None:
    for seed in range(60):
        both = Both(seed)
        settings: Any = {"clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output": forced}
        ours, stock = (
            kind(tokenizer_object=both.stock, **settings) for kind in (HfBpeTokenizer, PreTrainedTokenizerFast)
        )
        batch = [both.ids() for _ in range(4)]
        for skip in (False, True):
            options: Any = {"skip_special_tokens": skip, "clean_up_tokenization_spaces": clean_up, **spaces}
            try:
                expected = of_stock(lambda: [stock.decode(ids, **options) for ids in batch])  # noqa: B023
            except StockPanicked:
                continue
            assert [ours.decode(ids, **options) for ids in batch] == expected, f"seed {seed}"
            assert ours.decode(batch, **options) == stock.decode(batch, **options), f"seed {seed}"
            assert ours.batch_decode(batch, **options) == expected, f"seed {seed}"
            tokens = [token for ids in batch for token in ours.convert_ids_to_tokens(ids) if token is not None]
            assert tokens == [token for ids in batch for token in stock.convert_ids_to_tokens(ids) if token is not None]
            try:
                text = of_stock(lambda: stock.convert_tokens_to_string(tokens))  # noqa: B023
            except StockPanicked:
                continue
            assert ours.convert_tokens_to_string(tokens) == text, f"seed {seed}"


def test_a_pattern_that_runs_away_is_an_error_and_no_panic() -> None:
    decoder = {"type": "Replace", "pattern": {"Regex": "(x+x+)+y"}, "content": ""}
    tokenizer = Tokenizer.from_json(json.dumps(file_with(decoder)))
    added, _ = tokenizer.with_added_tokens([("x" * 60, False, False, False, False, False)])
    ids = [added.max_id]

    with pytest.raises(SplitPatternError, match=r"pattern '\(x\+x\+\)\+y' took too long"):
        added.decode(ids)
    with pytest.raises(SplitPatternError, match="took too long"):
        added.decode_batch([ids, ids])
    with pytest.raises(SplitPatternError, match="took too long"):
        DecodeStream(added).step(ids)


def test_a_decoder_of_speech_models_is_refused() -> None:
    decoder = {"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": True}

    with pytest.raises(UnsupportedComponentError, match=r"decoder has type 'CTC'; hf_bpe supports 'BPEDecoder', .*"):
        Tokenizer.from_json(json.dumps(file_with(decoder)))
