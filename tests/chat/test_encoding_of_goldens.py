"""The ids of golden chats: upstream's, but where a control token stands in the caller's data."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from encoded_chats import CHATML, FAMILIES, cases, family, golden, made, options, small, stock
from transformers import PreTrainedTokenizerFast

from hf_bpe import chat


@pytest.mark.parametrize("name", FAMILIES)
def test_ids_are_the_golden_ones(shared: Path, name: str) -> None:
    tokenizer, by_provenance = family(shared, name), golden(shared, "provenance_ids.json")[name]

    for case, expected in cases(shared, name):
        encoding = chat.encode(tokenizer, case["messages"], **options(case))

        ids = by_provenance.get(case["id"], "same")
        assert encoding.text == expected["text"], case["id"]
        if ids != "same" or "ids" in expected:
            assert encoding.ids == (expected["ids"] if ids == "same" else ids), case["id"]


@pytest.mark.parametrize("name", FAMILIES)
def test_what_upstream_refuses_is_refused_alike(shared: Path, name: str) -> None:
    tokenizer = family(shared, name)
    refused = [case for case in golden(shared)["cases"] if "error" in case["expected"].get(name, {})]

    assert refused
    for case in refused:
        error = case["expected"][name]["error"]
        with pytest.raises(Exception) as caught:  # noqa: PT011  # which one is the question
            chat.encode(tokenizer, case["messages"], **options(case))
        assert (type(caught.value).__name__, str(caught.value)) == (error["class"], error["message"]), case["id"]


@pytest.mark.parametrize("name", FAMILIES)
def test_every_column_has_one_entry_a_token(shared: Path, name: str) -> None:
    tokenizer = family(shared, name)

    for case, _ in cases(shared, name):
        encoding = chat.encode(tokenizer, case["messages"], **options(case))
        columns = (encoding.offsets, encoding.message_index, encoding.field, encoding.assistant_mask, encoding.labels())

        assert {len(column) for column in columns} == {len(encoding)}, case["id"]
        for (start, end), message, field in zip(encoding.offsets, encoding.message_index, encoding.field, strict=True):
            run = next(run for run in encoding.columns.rendered.runs if run.start <= start < run.end)
            assert (run.origin.message, run.origin.field) == (message, field), case["id"]
            assert start < end <= len(encoding.text), case["id"]


def test_a_second_bos_never_comes_up(shared: Path) -> None:
    tokenizer = family(shared, "llama3")

    encoding = chat.encode(tokenizer, [{"role": "user", "content": "hi"}])

    assert encoding.ids.count(tokenizer.bos_token_id) == 1


def test_a_stock_tokenizer_is_refused() -> None:
    with pytest.raises(TypeError, match=r"takes an HfBpeTokenizer, got \w*Tokenizer\w*; load the same directory with"):
        chat.encode(stock(), [{"role": "user", "content": "hi"}])  # type: ignore[arg-type]


def test_the_package_imports_chat_when_it_is_asked_for() -> None:
    program = "import sys, hf_bpe; assert 'hf_bpe.chat' not in sys.modules; print(hf_bpe.chat.encode.__name__)"

    output = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True).stdout

    assert output == "encode\n"


def test_public_names_are_sorted_and_documented() -> None:
    assert chat.__all__ == sorted(chat.__all__)
    assert all(getattr(chat, name).__doc__ for name in chat.__all__)


@pytest.mark.parametrize("kind", ["bytes", "lowercase", "metaspace"])
def test_small_vocabularies_give_upstreams_ids(kind: str) -> None:
    ours = small(kind)
    upstream: PreTrainedTokenizerFast = PreTrainedTokenizerFast.from_pretrained(made(kind), chat_template=CHATML)
    contents = [
        "hello world",
        "",
        " ",
        "\n\nCafé, naïve\u0301 漢字 🙂",
        "12345\n",
        "<|im",
        "e\u0301\u0323",
        "\u1100\u1161",
    ]
    messages = [{"role": role, "content": content} for content in contents for role in ("user", "assistant")]

    for count in (1, 2, len(messages)):
        ids = upstream.apply_chat_template(messages[:count], return_dict=False)
        assert chat.encode(ours, messages[:count]).ids == ids
