"""GGUF files of kind `llama` give the ids of llama.cpp's way with pieces, whatever the types of their tokens."""

from __future__ import annotations

import random
from pathlib import Path

import llama_cpp
import pytest
from gguf_files import byte_fields, piece_fields, random_pieces, read
from piece_models import texts

from hf_bpe import ConversionError, from_gguf
from hf_bpe.formats import gguf
from hf_bpe.formats.gguf import metadata
from hf_bpe.formats.gguf.container import ARRAY, BOOL, INT32, STRING, UINT32, Field, read_fields
from hf_bpe.vocabulary import Vocabulary

pytest.importorskip("gguf")


def tokens_of(vocabulary: Vocabulary, text: str) -> list[str | None]:
    return [vocabulary.core.id_to_token(token_id) for token_id in vocabulary.core.encode_ids(text)]


def assert_written_again(vocabulary: Vocabulary, tmp_path: Path) -> None:
    gguf.write(vocabulary, tmp_path / "again.gguf")
    assert (tmp_path / "again.gguf").read_bytes() == (tmp_path / "made.gguf").read_bytes()


@pytest.mark.parametrize("start", range(0, 120, 20))
def test_pieces_of_any_type_merge_as_in_llama_cpp_or_the_file_is_refused(start: int, tmp_path: Path) -> None:
    read_files = overlapping = 0
    for seed in range(start, start + 20):
        rng = random.Random(seed)
        pieces = random_pieces(rng)
        try:
            vocabulary = read(pieces.fields(), tmp_path)
        except ConversionError as error:
            overlapping += "overlap" in str(error)
            continue
        parts = [*"ab<> ▁é", "<s>", "<unk>", "<0x0A>", *pieces.tokens[264:]]
        for text in ("".join(rng.choices(parts, k=rng.randint(1, 8))) for _ in range(60)):
            expected = llama_cpp.encode(text, *pieces[:3], prefix=pieces.prefix)
            assert vocabulary.core.encode_ids(text, add_special_tokens=False) == expected, (seed, text)
        assert_written_again(vocabulary, tmp_path)
        read_files += 1
    assert read_files >= 5
    assert read_files + overlapping == 20


def test_llama_2_gives_the_ids_of_llama_cpp(shared: Path) -> None:
    path = shared / "vectors" / "llama.cpp" / "ggml-vocab-llama-spm.gguf"
    fields = read_fields(path)
    arrays = [fields[key].value for key in (metadata.TOKENS, metadata.SCORES, metadata.TYPES)]
    tokenizer = from_gguf(path)

    for text in texts(100):
        text = text[:300]
        assert tokenizer.encode(text, add_special_tokens=False) == llama_cpp.encode(text, *arrays), text


def test_an_unused_piece_is_made_as_any_other(tmp_path: Path) -> None:
    vocabulary = read(piece_fields(token_type=Field([2, 3, 3, 1, 1, 1, 5, 1, 4], ARRAY, INT32)), tmp_path)

    assert vocabulary.core.tokenize("ab") == ["▁", "ab"]
    assert_written_again(vocabulary, tmp_path)


def test_a_user_defined_token_is_sought_before_spaces_are_escaped(tmp_path: Path) -> None:
    """One that spells a space finds it in the text, one that spells "▁" doesn't; merging may make that one, though."""
    tokens = ["<unk>", "<s>", "</s>", "▁", "a", "b", "a b", "a▁", "b▁"]
    vocabulary = read(
        piece_fields(tokens=Field(tokens, ARRAY, STRING), token_type=Field([2, 3, 3, 1, 1, 1, 4, 4, 1], ARRAY, INT32)),
        tmp_path,
    )

    assert vocabulary.core.tokenize("ba b") == ["▁", "b", "a b"]
    assert vocabulary.core.tokenize("ba a") == ["▁", "b", "a▁", "a"]
    assert vocabulary.core.tokenize("ba▁a") == ["▁", "b", "a▁", "▁", "a"]
    assert_written_again(vocabulary, tmp_path)


def test_a_file_that_names_no_roles_has_those_of_llama(tmp_path: Path) -> None:
    vocabulary = read(piece_fields(bos_token_id=None, add_eos_token=Field(True, BOOL)), tmp_path)

    assert vocabulary.core.encode_ids("") == [1, 2]
    assert vocabulary.special_tokens == {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>"}
    assert_written_again(vocabulary, tmp_path)


def test_the_spaces_behind_a_token_of_phi_3_are_its_own(tmp_path: Path) -> None:
    """llama.cpp knows that by the model's name, and the tokens that it leaves out."""
    fields = piece_fields(name=Field("Phi-3 mini", STRING))
    vocabulary = read(fields, tmp_path)

    assert tokens_of(vocabulary, "<ud> \n a") == ["<s>", "<ud>", "▁a"]
    assert tokens_of(vocabulary, "</s> a") == ["<s>", "</s>", "▁a"]
    assert tokens_of(vocabulary, "<s> a") == ["<s>", "<s>", "▁", "▁a"]
    assert_written_again(vocabulary, tmp_path)
    with pytest.raises(ConversionError, match=r"added token '</s>' has rstrip, .*The text 'a</s> b' would change"):
        gguf.write(vocabulary.replace(details={}), tmp_path / "x.gguf")
    plain = read(piece_fields(), tmp_path)
    with pytest.raises(ConversionError, match=r"gives added token '.*' rstrip, which it lacks. The text '.* b' would"):
        gguf.write(plain.replace(details=vocabulary.details), tmp_path / "x.gguf")


def test_the_spaces_before_a_mask_of_jina_and_modern_bert_are_its_own(tmp_path: Path) -> None:
    for pre, name, mask in (("jina-v2-de", "x", "<mask>"), ("modern-bert", "Modern-BERT base", "[MASK]")):
        fields = byte_fields(pre=Field(pre, STRING), name=Field(name, STRING))
        fields[metadata.TOKENS].value[257] = mask
        vocabulary = read(fields, tmp_path)

        assert tokens_of(vocabulary, f"ab \t{mask} ab") == ["ab", mask, "Ġ", "ab"]
        assert_written_again(vocabulary, tmp_path)
        with pytest.raises(ConversionError, match=r"has lstrip, for which it has no place"):
            gguf.write(vocabulary.replace(details={}), tmp_path / "x.gguf")
        unflagged = read(
            fields | {metadata.PRE: Field("olmo", STRING), metadata.MODEL_NAME: Field("", STRING)}, tmp_path
        )
        with pytest.raises(ConversionError, match=r"gives added token '.MASK.|.mask.' lstrip, which it lacks"):
            gguf.write(unflagged.replace(details=vocabulary.details), tmp_path / "x.gguf")


def test_an_unknown_token_of_a_byte_level_file_is_sought_as_a_special_one(tmp_path: Path) -> None:
    fields = byte_fields(token_type=Field([1] * 257 + [2, 4], ARRAY, INT32), bos_token_id=None)
    fields |= {metadata.ROLES["unk_token"]: Field(257, UINT32)}
    vocabulary = read(fields, tmp_path)

    assert vocabulary.core.encode_ids("ab<|end|>") == [256, 257]
    assert vocabulary.special_tokens == {"unk_token": "<|end|>"}
    assert_written_again(vocabulary, tmp_path)


@pytest.mark.parametrize(
    ("first", "second", "text"), [("a<b", "<bcd", "a<bcd"), ("xy", "yz", "xyz"), ("é<>", ">ab", None)]
)
def test_added_tokens_that_overlap_are_refused_with_their_text(
    first: str, second: str, text: str | None, tmp_path: Path
) -> None:
    """Of two that share a part of a text, llama.cpp finds the longer one, in bytes, and stock the one further left."""
    fields = byte_fields(token_type=Field([1] * 257 + [3, 4], ARRAY, INT32))
    fields[metadata.TOKENS].value[257:] = [first, second]
    if text is None:
        assert read(fields, tmp_path).core.tokenize("é<>ab") == ["é<>", "ab"]
        return

    message = rf"added tokens '{first}' and '{second}' overlap.*The text '{text}' would change"
    with pytest.raises(ConversionError, match=message):
        read(fields, tmp_path)
    core, _ = read(byte_fields(), tmp_path).core.with_added_tokens(
        [(token, False, False, False, False, False) for token in (first, second)]
    )
    with pytest.raises(ConversionError, match=message):
        gguf.write(Vocabulary(core), tmp_path / "x.gguf")


def test_runs_of_spaces_are_cut_alike_from_left_to_right_and_the_longest_first(tmp_path: Path) -> None:
    fields = byte_fields()
    runs = [" " * size for size in range(2, 25)]
    fields[metadata.TOKENS].value[258:] = runs
    fields |= {metadata.TYPES: Field([1] * 257 + [3] + [4] * len(runs), ARRAY, INT32)}

    tokens = read(fields, tmp_path).core.tokenize("a" + " " * 26 + "b")

    assert [len(token) for token in tokens] == [1, 24, 2, 1]
