"""`Vocabulary` is an immutable value that loses nothing on the way into a tokenizer and back."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from tokenizers import AddedToken
from vocabularies import REAL

from hf_bpe import ConversionError, HfBpeTokenizer
from hf_bpe.split_patterns import SPLIT_PATTERNS
from hf_bpe.vocabulary import Vocabulary

RANKS = {b"a": 0, b"b": 1, b" ": 2, b"ab": 3, b" ab": 4}


def small(**given: Any) -> Vocabulary:
    """Return the vocabulary of `RANKS`."""
    return Vocabulary.from_ranks(RANKS, **({"split_pattern": "gpt2"} | given))


def saved(tokenizer: HfBpeTokenizer, directory: Path) -> dict[str, bytes]:
    """Return the files that saving writes."""
    tokenizer.save_pretrained(directory)
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def test_ranks_become_tokens_merges_and_a_pipeline() -> None:
    vocabulary = small(added_tokens={"<s>": 5})

    assert vocabulary.merges == [("a", "b"), ("Ġ", "ab")]
    assert vocabulary.ranks() == RANKS
    assert dict(vocabulary.tokens) == {rank: token for token, rank in RANKS.items()} | {5: b"<s>"}
    assert vocabulary.split_pattern == SPLIT_PATTERNS["gpt2"]
    assert vocabulary.core.encode_ids("ab<s> ab b") == [3, 5, 4, 2, 1]
    assert vocabulary.ignore_merges
    assert not vocabulary.byte_fallback


def test_special_tokens_keep_their_ids_among_holes_and_doubles() -> None:
    vocabulary = small(added_tokens={"<late>": 20, "<s>": 7, "<t>": 7})

    assert vocabulary.core.encode_ids("<s>ab<t><late>") == [7, 3, 7, 20]
    assert vocabulary.holes() == [range(5, 7), range(8, 20)]
    assert vocabulary.doubles() == {7: ["<s>", "<t>"]}
    assert len(vocabulary) == 21
    assert vocabulary.ranks() == RANKS


def test_special_tokens_may_come_first() -> None:
    shifted = {token: rank + 2 for token, rank in RANKS.items()}

    vocabulary = Vocabulary.from_ranks(shifted, split_pattern="gpt2", added_tokens={"<unk>": 0, "<s>": 1})

    assert vocabulary.core.encode_ids("<s>ab") == [1, 5]
    assert vocabulary.ranks() == shifted
    assert vocabulary.holes() == []


def test_a_huge_id_costs_no_memory() -> None:
    vocabulary = small(added_tokens={"<s>": 4_000_000_000})

    assert vocabulary.holes() == [range(5, 4_000_000_000)]
    assert len(vocabulary) == 4_000_000_001


def test_a_vocabulary_is_a_value() -> None:
    vocabulary = small(details={"tekken": {"version": "v3"}}, chat_template={"default": "{{ a }}"})

    assert pickle.loads(pickle.dumps(vocabulary)) == vocabulary
    assert vocabulary.replace(details={}) != vocabulary
    assert hash(vocabulary.replace(details={})) == hash(vocabulary)
    assert vocabulary != "vocabulary"
    assert vocabulary
    assert repr(vocabulary) == "Vocabulary(Tokenizer(5 tokens, 2 merges, 0 added tokens))"


def test_nothing_in_a_vocabulary_can_be_changed() -> None:
    vocabulary = small(added_tokens={"<s>": 5}, special_tokens={"bos_token": "<s>"}, chat_template={"default": "a"})

    with pytest.raises(AttributeError):
        vocabulary.core = None  # type: ignore[misc, assignment]
    with pytest.raises(TypeError):
        vocabulary.special_tokens["bos_token"] = "a"  # type: ignore[index]
    vocabulary.chat_template.clear()  # type: ignore[union-attr]

    assert vocabulary.chat_template == {"default": "a"}


def test_a_role_without_a_token_is_refused() -> None:
    with pytest.raises(ConversionError, match=r"special_tokens\['eos_token'\] is '</s>', which is no token"):
        small(special_tokens={"eos_token": "</s>"})
    with pytest.raises(ConversionError, match=r"special_tokens\['extra_special_tokens'\] is '<x>'"):
        small(special_tokens={"extra_special_tokens": ["<x>"]})


@pytest.mark.parametrize(
    ("pre_tokenizer", "pattern"),
    [
        ({"type": "ByteLevel", "add_prefix_space": False, "use_regex": True}, SPLIT_PATTERNS["gpt2"]),
        ({"type": "ByteLevel", "add_prefix_space": True, "use_regex": True}, None),
        ({"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}, None),
    ],
)
def test_a_bare_byte_level_has_the_pattern_of_gpt2(pre_tokenizer: dict[str, Any], pattern: str | None) -> None:
    tokenizer = json.loads(small().core.to_json())
    tokenizer["pre_tokenizer"] = {"trim_offsets": True} | pre_tokenizer

    assert Vocabulary.from_json(tokenizer).split_pattern == pattern


def test_several_splits_are_no_single_pattern() -> None:
    tokenizer = json.loads(small().core.to_json())
    steps = tokenizer["pre_tokenizer"]["pretokenizers"]
    tokenizer["pre_tokenizer"]["pretokenizers"] = [steps[0], *steps]

    assert Vocabulary.from_json(tokenizer).split_pattern is None


def test_ranks_name_the_token_that_no_bytes_are_behind() -> None:
    tokenizer = json.loads(small().core.to_json())
    tokenizer["model"]["vocab"]["語"] = 9

    with pytest.raises(ValueError, match="token 9 is '語', which has a character outside the byte alphabet"):
        Vocabulary.from_json(tokenizer).ranks()


def test_a_tokenizer_goes_through_a_vocabulary_without_loss(tmp_path: Path) -> None:
    core = small(added_tokens={"<s>": 5}).core
    tokenizer = HfBpeTokenizer(
        tokenizer_object=core,
        bos_token="<s>",
        eos_token=AddedToken("</s>", lstrip=True),
        pad_token="<pad>",
        image_token="<img>",
        extra_special_tokens=["<a>", "<b>"],
        model_max_length=77,
        padding_side="left",
        chat_template="{{ messages }}",
    )

    again = HfBpeTokenizer.from_vocabulary(tokenizer.vocabulary)

    assert again.vocabulary == tokenizer.vocabulary
    files = saved(tokenizer, tmp_path / "direct")
    assert saved(again, tmp_path / "again") == files
    loaded = HfBpeTokenizer.from_pretrained(tmp_path / "direct")
    assert saved(HfBpeTokenizer.from_vocabulary(loaded.vocabulary), tmp_path / "loaded") == files


def test_a_tokenizer_keeps_the_details_of_its_format() -> None:
    vocabulary = small(details={"tekken": {"version": "v3"}})

    tokenizer = HfBpeTokenizer.from_vocabulary(vocabulary, model_max_length=5)

    assert tokenizer.vocabulary.details["tekken"] == {"version": "v3"}
    assert tokenizer.model_max_length == 5
    assert HfBpeTokenizer.from_vocabulary(vocabulary).vocabulary == vocabulary


@pytest.mark.parametrize("real_vocabulary", sorted(REAL), indirect=True)
def test_real_vocabularies_go_through_without_loss(real_vocabulary: Path) -> None:
    vocabulary = Vocabulary.from_json(real_vocabulary.read_bytes())

    assert HfBpeTokenizer.from_vocabulary(vocabulary).vocabulary == vocabulary
