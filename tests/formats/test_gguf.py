"""GGUF vocabularies give llama.cpp's ids, are read by the `gguf` package, and come back byte for byte."""

from __future__ import annotations

import contextlib
import json
import random
import struct
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from gguf_files import byte_fields, piece_fields, read
from hostile import HOSTILE
from piece_models import texts, trained
from tokenizers import Tokenizer

from hf_bpe import ConversionError, from_gguf
from hf_bpe.formats import gguf, sentencepiece
from hf_bpe.formats.gguf import metadata
from hf_bpe.formats.gguf.container import ARRAY, BOOL, FLOAT32, INT32, STRING, UINT32, Field, read_fields
from hf_bpe.formats.gguf.pre_tokenizers import ALIASES, PRE_TOKENIZERS
from hf_bpe.split_patterns import SPLIT_PATTERNS
from hf_bpe.vocabulary import Vocabulary

package = pytest.importorskip("gguf")

VECTORS = ("gpt-2", "deepseek-llm", "llama-spm")


def encode(vocabulary: Vocabulary, text: str) -> list[int]:
    return vocabulary.core.encode_ids(text, add_special_tokens=False)


def by_package(path: Path) -> dict[str, Any]:
    """Return what the `gguf` package reads."""
    reader = package.GGUFReader(path)
    return {key: field.contents() for key, field in reader.fields.items() if not key.startswith("GGUF.")}


@pytest.mark.parametrize("name", VECTORS)
def test_published_files_come_back_byte_for_byte(name: str, shared: Path, tmp_path: Path) -> None:
    path = shared / "vectors" / "llama.cpp" / f"ggml-vocab-{name}.gguf"
    written = tmp_path / "out.gguf"

    assert gguf.write(gguf.read(path), written) == [written]
    assert written.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", ["gpt-2", "llama-spm"])
def test_files_read_as_the_package_reads_them(name: str, shared: Path) -> None:
    path = shared / "vectors" / "llama.cpp" / f"ggml-vocab-{name}.gguf"
    ours = {key: field.value for key, field in read_fields(path).items()}

    assert {key: list(value) if isinstance(value, tuple) else value for key, value in ours.items()} == by_package(path)


def test_a_tokenizer_has_roles_bos_and_template(tmp_path: Path) -> None:
    fields = byte_fields(add_bos_token=Field(True, BOOL)) | {metadata.TEMPLATE: Field("{{ bos_token }}", STRING)}
    metadata.write_fields(fields, tmp_path / "x.gguf")

    tokenizer = from_gguf(tmp_path / "x.gguf")

    assert tokenizer.bos_token == "<|end|>"
    assert tokenizer.chat_template == "{{ bos_token }}"
    assert tokenizer("ab<tool>").input_ids == [257, 256, 258]
    gguf.write(tokenizer.vocabulary, tmp_path / "y.gguf")
    assert (tmp_path / "y.gguf").read_bytes() == (tmp_path / "x.gguf").read_bytes()


def test_several_chat_templates_keep_their_names(tmp_path: Path) -> None:
    vocabulary = read(byte_fields(), tmp_path).replace(chat_template={"default": "a", "tool_use": "b"}, details={})

    gguf.write(vocabulary, tmp_path / "out.gguf")

    assert gguf.read(tmp_path / "out.gguf").chat_template == {"default": "a", "tool_use": "b"}
    assert by_package(tmp_path / "out.gguf")[metadata.TEMPLATES] == ["tool_use"]


def test_files_that_say_nothing_of_bos_follow_the_name_of_the_pre_tokenizer(tmp_path: Path) -> None:
    assert read(byte_fields(), tmp_path).core.encode_ids("") == []
    assert read(byte_fields(pre=Field("llama-bpe", STRING)), tmp_path).core.encode_ids("") == [257]
    assert read(piece_fields(), tmp_path).core.encode_ids("") == [1]
    assert read(piece_fields(add_bos_token=Field(False, BOOL)), tmp_path).core.encode_ids("") == []


@pytest.mark.parametrize("name", [*PRE_TOKENIZERS, *ALIASES])
def test_every_known_name_is_read_split_as_stock_splits_and_written_again(name: str, tmp_path: Path) -> None:
    fields = byte_fields(pre=Field(name, STRING))

    vocabulary = read(fields, tmp_path)

    stock = Tokenizer.from_str(vocabulary.core.to_json())
    for text in HOSTILE.values():
        text = text[:500]
        assert encode(vocabulary, text) == stock.encode(text, add_special_tokens=False).ids, text
    gguf.write(vocabulary, tmp_path / "again.gguf")
    assert by_package(tmp_path / "again.gguf")[metadata.PRE] == name


def test_the_name_is_found_by_the_split_pattern(tmp_path: Path) -> None:
    """Patterns that match the same texts share a name; with merges that make every token, `ignore_merges` is free."""
    wanted = {"gpt2": "gpt-2", "cl100k": "llama-bpe", "llama3": "llama-bpe", "qwen2": "qwen2", "o200k": "gpt-4o"}
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256}

    for pattern, name in wanted.items():
        vocabulary = Vocabulary.from_ranks(ranks, split_pattern=pattern)
        gguf.write(vocabulary, tmp_path / "x.gguf", architecture="qwen2")
        fields = by_package(tmp_path / "x.gguf")
        assert (fields[metadata.PRE], fields[metadata.ARCHITECTURE]) == (name, "qwen2")
        for text in HOSTILE.values():
            assert encode(gguf.read(tmp_path / "x.gguf"), text) == encode(vocabulary, text)


def test_a_pattern_that_llama_cpp_does_not_know_is_refused(tmp_path: Path) -> None:
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256}
    vocabulary = Vocabulary.from_ranks(ranks, split_pattern=r"\w+|\W+")

    with pytest.raises(
        ConversionError, match=r"none of llama.cpp's pre-tokenizers splits by '\\\\w\+\|\\\\W\+'. Known"
    ):
        gguf.write(vocabulary, tmp_path / "x.gguf")


def test_a_vocabulary_without_merges_is_refused(tmp_path: Path) -> None:
    vocabulary = Vocabulary.from_ranks({bytes([byte]): byte for byte in range(256)}, split_pattern="gpt2")

    with pytest.raises(ConversionError, match=r"has no merges, and neither the format nor llama.cpp knows an empty"):
        gguf.write(vocabulary, tmp_path / "x.gguf")
    assert not (tmp_path / "x.gguf").exists()


def test_a_normalizer_is_refused_with_a_text(tmp_path: Path) -> None:
    ranks = {bytes([byte]): byte for byte in range(256)}
    vocabulary = Vocabulary.from_ranks(ranks, split_pattern="qwen2", normalizer="NFC")

    with pytest.raises(ConversionError, match=r"its normalizer 'NFC' changes texts.*The text 'e\\u0301' would change"):
        gguf.write(vocabulary, tmp_path / "x.gguf")


def test_tokens_that_only_ignore_merges_reaches_need_a_name_that_sets_it(tmp_path: Path) -> None:
    dead = byte_fields(pre=Field("llama-bpe", STRING), merges=Field(["b c"], ARRAY, STRING))
    dead[metadata.TOKENS].value[256:258] = ["bc", "abc"]
    vocabulary = read(dead | {metadata.TYPES: Field([1] * 258 + [4], ARRAY, INT32)}, tmp_path).replace(details={})
    gpt2 = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    core = vocabulary.core.with_component("pre_tokenizer", json.dumps(gpt2))

    gguf.write(vocabulary, tmp_path / "x.gguf")
    with pytest.raises(
        ConversionError, match=r"with the pre-tokenizer 'gpt-2' it is False. The text 'abc' would change"
    ):
        gguf.write(vocabulary.replace(core=core), tmp_path / "x.gguf")


def test_tokens_that_merges_alone_take_apart_need_a_name_that_does_not_set_ignore_merges(tmp_path: Path) -> None:
    """Tekken's name takes a whole pretoken first; the pattern of Llama 3 has a second name, which doesn't."""
    dead = byte_fields(pre=Field("dbrx", STRING), merges=Field(["b c"], ARRAY, STRING), token_type=None)
    dead[metadata.TOKENS].value[256:258] = ["bc", "abc"]
    vocabulary = read(dead, tmp_path).replace(details={})
    core = vocabulary.core
    assert encode(vocabulary, "abc") != [257]

    gguf.write(vocabulary, tmp_path / "x.gguf")
    assert by_package(tmp_path / "x.gguf")[metadata.PRE] == "dbrx"
    steps = json.loads(core.to_json())["pre_tokenizer"]
    steps["pretokenizers"][0]["pattern"]["Regex"] = PRE_TOKENIZERS["tekken"].patterns[0]
    other = vocabulary.replace(core=core.with_component("pre_tokenizer", json.dumps(steps)))
    with pytest.raises(
        ConversionError, match=r"ignore_merges is False, and with .* 'tekken' it is True. The text 'abc'"
    ):
        gguf.write(other, tmp_path / "x.gguf")


def test_holes_become_unused_tokens_and_no_id_moves(tmp_path: Path) -> None:
    parsed = json.loads(read(byte_fields(), tmp_path).core.to_json())
    parsed["model"]["vocab"]["ab"] = 300
    vocabulary = Vocabulary.from_json(parsed)

    gguf.write(vocabulary, tmp_path / "x.gguf")

    fields = by_package(tmp_path / "x.gguf")
    assert fields[metadata.TOKENS][256] == "[PAD256]"
    assert fields[metadata.TYPES][256] == package.TokenType.UNUSED
    assert encode(gguf.read(tmp_path / "x.gguf"), "ab<tool>") == [300, 258]
    assert len(gguf.read(tmp_path / "x.gguf")) == 301


def test_a_hole_of_billions_of_ids_is_refused_and_not_filled(tmp_path: Path) -> None:
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"th": 4_000_000_000}

    with pytest.raises(ConversionError, match=r"a token for every id, and the highest is 4,000,000,000.* 16,777,216"):
        gguf.write(Vocabulary.from_ranks(ranks, split_pattern="gpt2"), tmp_path / "a.gguf")

    assert not list(tmp_path.iterdir())


def test_padding_tokens_are_kept(tmp_path: Path) -> None:
    fields = byte_fields()
    fields[metadata.TOKENS].value.extend(["[PAD259]", "[PAD260]"])
    fields[metadata.TYPES].value.extend([5, 4])
    vocabulary = read(fields, tmp_path)

    gguf.write(vocabulary, tmp_path / "x.gguf")

    assert (tmp_path / "x.gguf").read_bytes() == (tmp_path / "made.gguf").read_bytes()
    assert encode(vocabulary, "[PAD260]") == [260]
    assert encode(vocabulary, "[PAD259]") != [259]


def test_tokens_that_a_tokenizer_gained_are_written(tmp_path: Path) -> None:
    metadata.write_fields(byte_fields(), tmp_path / "x.gguf")
    tokenizer = from_gguf(tmp_path / "x.gguf")
    tokenizer.add_tokens(["<new>"])

    gguf.write(tokenizer.vocabulary, tmp_path / "y.gguf")

    fields = by_package(tmp_path / "y.gguf")
    assert (fields[metadata.TOKENS][-1], fields[metadata.TYPES][-1]) == ("<new>", package.TokenType.USER_DEFINED)


def test_llama_cpp_puts_a_space_behind_each_user_defined_token(tmp_path: Path) -> None:
    vocabulary = read(piece_fields(), tmp_path)

    assert vocabulary.core.tokenize("ab<ud>a") == ["▁", "ab", "<ud>", "▁a"]
    assert vocabulary.core.tokenize("<ud>ab") == ["<ud>", "▁", "ab"]
    gguf.write(vocabulary, tmp_path / "x.gguf")
    assert (tmp_path / "x.gguf").read_bytes() == (tmp_path / "made.gguf").read_bytes()


def test_a_file_without_the_space_prefix_has_none(tmp_path: Path) -> None:
    vocabulary = read(piece_fields(add_space_prefix=Field(False, BOOL)), tmp_path)

    assert vocabulary.core.tokenize("ab a") == ["ab", "▁a"]
    gguf.write(vocabulary.replace(details={}), tmp_path / "x.gguf")
    assert by_package(tmp_path / "x.gguf")[metadata.ADD_PREFIX] is False


@pytest.mark.parametrize("name", ["llama", "no prefix"])
def test_sentencepiece_models_go_out_and_come_back(name: str, tmp_path: Path) -> None:
    (tmp_path / "x.model").write_bytes(trained(name))
    vocabulary = sentencepiece.read(tmp_path / "x.model")
    if name == "no prefix":
        pieces = min((token for token in vocabulary.get_vocab() if "▁▁" in token), key=len)
        with pytest.raises(ConversionError, match=rf"'{pieces}' is sought after normalization.*'a  a' would change"):
            gguf.write(vocabulary, tmp_path / "x.gguf")
        return

    gguf.write(vocabulary, tmp_path / "x.gguf")
    again = gguf.read(tmp_path / "x.gguf")

    assert [encode(again, text) for text in texts(50)] == [encode(vocabulary, text) for text in texts(50)]
    assert sentencepiece.to_bytes(again.replace(details=vocabulary.details)) == trained(name)


REFUSED_MODELS = {
    "byte fallback": r"extra spaces are removed, and llama.cpp keeps them. The text '  ' would change",
    "nmt_nfkc": r"extra spaces are removed",
    "user defined": r"llama.cpp puts a space behind each user-defined token. The text '<ua' would change",
}


@pytest.mark.filterwarnings("ignore:.*precompiled_charsmap")
@pytest.mark.parametrize("name", REFUSED_MODELS)
def test_models_that_llama_cpp_would_run_otherwise_are_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "x.model").write_bytes(trained(name))

    with pytest.raises(ConversionError, match=REFUSED_MODELS[name]):
        gguf.write(sentencepiece.read(tmp_path / "x.model"), tmp_path / "x.gguf")


def test_flags_that_the_format_has_no_place_for_are_refused(tmp_path: Path) -> None:
    core, _ = read(byte_fields(), tmp_path).core.with_added_tokens([("<x>", False, False, False, True, False)])

    with pytest.raises(ConversionError, match=r"added token '<x>' has lstrip.*The text 'a <x> b' would change"):
        gguf.write(Vocabulary(core), tmp_path / "x.gguf")


def test_a_vocabulary_that_names_no_bos_has_the_one_that_it_adds(tmp_path: Path) -> None:
    metadata.write_fields(byte_fields(add_bos_token=Field(True, BOOL)), tmp_path / "x.gguf")
    nameless = Vocabulary(gguf.read(tmp_path / "x.gguf").core)

    gguf.write(nameless, tmp_path / "y.gguf")

    assert gguf.read(tmp_path / "y.gguf").special_tokens == {"bos_token": "<|end|>"}
    assert gguf.read(tmp_path / "y.gguf").core.encode_ids("ab") == [257, 256]


def test_a_normalizer_without_steps_is_none(tmp_path: Path) -> None:
    empty = '{"type": "Sequence", "normalizers": []}'
    vocabulary = Vocabulary(read(byte_fields(), tmp_path).core.with_component("normalizer", empty))

    gguf.write(vocabulary, tmp_path / "x.gguf")

    assert encode(gguf.read(tmp_path / "x.gguf"), "e\u0301") == encode(vocabulary, "e\u0301")


def test_a_template_of_other_tokens_is_refused(tmp_path: Path) -> None:
    metadata.write_fields(byte_fields(add_bos_token=Field(True, BOOL)), tmp_path / "x.gguf")
    vocabulary = gguf.read(tmp_path / "x.gguf").replace(special_tokens={"bos_token": "<tool>"})

    with pytest.raises(
        ConversionError, match=r"post_processor adds \['<\|end\|>'\], such a file at most its bos_token"
    ):
        gguf.write(vocabulary, tmp_path / "x.gguf")


WRONG_FIELDS: dict[str, tuple[dict[str, Field], str]] = {
    "kind": (byte_fields(model=Field("bert", STRING)), r"ggml.model is 'bert'; hf_bpe supports 'gpt2' and 'llama'"),
    "no kind": (byte_fields(model=None), r"ggml.model is None"),
    "kind of a number": (byte_fields(model=Field(1, UINT32)), r"ggml.model is 1; it should be a string"),
    "pre": (byte_fields(pre=Field("afmoe", STRING)), r"ggml.pre is 'afmoe'; hf_bpe supports 'a.x-4.0'"),
    "no tokens": (byte_fields(tokens=None), r"ggml.tokens is missing"),
    "tokens of a number": (byte_fields(tokens=Field(1, UINT32)), r"ggml.tokens is no array of the type"),
    "double": (
        piece_fields(tokens=Field(["<unk>", "a", "a", *"cdefgh"], ARRAY, STRING)),
        r"ggml.tokens 1 and 2 are both 'a'; tokenizer.json holds a token once",
    ),
    "types short": (byte_fields(token_type=Field([1], ARRAY, INT32)), r"token_type has 1 entries for 259 tokens"),
    "type": (byte_fields(token_type=Field([9] * 259, ARRAY, INT32)), r"token_type 0 is 9; token types are 1 to 6"),
    "no merges": (byte_fields(merges=None), r"ggml.merges is missing"),
    "merge of one": (byte_fields(merges=Field(["ab"], ARRAY, STRING)), r"ggml.merges 0 is 'ab'; expected two tokens"),
    "merge of none": (byte_fields(merges=Field(["a c"], ARRAY, STRING)), r"made.gguf: .*'ac' is not in model.vocab"),
    "bos": (byte_fields(bos_token_id=Field(259, UINT32)), r"bos_token_id is 259, but the ids end at 258"),
    "switch": (byte_fields(add_bos_token=Field(1, UINT32)), r"add_bos_token is 1; it should be a bool"),
    "eos": (byte_fields(add_eos_token=Field(True, BOOL)), r"add_eos_token is true, but .*eos_token_id is missing"),
    "no scores": (piece_fields(scores=None), r"ggml.scores is missing; without scores there is no order"),
    "scores short": (piece_fields(scores=Field([1.0], ARRAY, FLOAT32)), r"scores has 1 entries for 9 tokens"),
    "a score": (piece_fields(scores=Field([float("nan")] * 9, ARRAY, FLOAT32)), r"score of piece '▁' is not a number"),
}


@pytest.mark.parametrize("name", WRONG_FIELDS)
def test_wrong_keys_are_named(name: str, tmp_path: Path) -> None:
    fields, message = WRONG_FIELDS[name]

    with pytest.raises(ConversionError, match=message):
        read(fields, tmp_path)


def string(text: str) -> bytes:
    return struct.pack("<Q", len(text)) + text.encode()


def header(version: int = 3, keys: int = 1) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", version, 0, keys)


DAMAGED: dict[str, tuple[bytes, str]] = {
    "empty": (b"", r"0 bytes are too few for a GGUF file"),
    "magic": (b"GGML" + bytes(99), r"it begins with b'GGML', not with b'GGUF'"),
    "zeros": (bytes(99), r"it begins with b'\\x00"),
    "version 1": (header(1) + bytes(9), r"GGUF version 1; hf_bpe reads the versions 2 and 3"),
    "version 0": (header(0) + bytes(9), r"GGUF version 0"),
    "big-endian": (b"GGUF" + struct.pack(">IQQ", 3, 0, 1), r"a big-endian GGUF file; hf_bpe reads little-endian"),
    "10^12 keys": (header(keys=10**12) + bytes(99), r"the header claims 1000000000000 keys from byte 24 on"),
    "a key too long": (header() + struct.pack("<Q", 10**12), r"claims 1 keys"),
    "a long key": (
        header() + struct.pack("<Q", 10**12) + bytes(9),
        r"a key has 1000000000000 bytes; a key has at most",
    ),
    "10^12 strings": (header() + string("k") + struct.pack("<IIQ", 9, 8, 10**12), r"k claims 1000000000000 strings"),
    "10^12 numbers": (header() + string("k") + struct.pack("<IIQ", 9, 0, 10**12), r"k claims 1000000000000 numbers"),
    "a long string": (header() + string("k") + struct.pack("<IQ", 8, 10**15), r"k needs 1000000000000000 bytes"),
    "type": (header() + string("k") + struct.pack("<II", 77, 0), r"k has the type 77, which GGUF doesn't have"),
    "item type": (header() + string("k") + struct.pack("<IIQ", 9, 77, 0), r"k has the type 77"),
    "nested": (header() + string("k") + struct.pack("<IIQ", 9, 9, 1), r"k is an array of arrays"),
    "not UTF-8": (header() + string("k") + struct.pack("<IQ", 8, 1) + b"\xff", r"k holds a string that is not UTF-8"),
    "twice": (header(keys=2) + (string("k") + struct.pack("<II", 4, 1)) * 2, r"k stands there twice"),
    "cut": (header() + string("k") + struct.pack("<I", 8), r"k needs 8 bytes from byte \d+ on, but the file has 0"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_files_are_refused_in_bounded_memory(name: str, tmp_path: Path) -> None:
    data, message = DAMAGED[name]
    path = tmp_path / "damaged.gguf"
    path.write_bytes(data)

    tracemalloc.start()
    with pytest.raises(ConversionError, match=message) as caught:
        gguf.read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert str(caught.value).startswith("damaged.gguf: ")
    assert peak < 1_000_000


def test_a_directory_a_missing_file_and_a_gigabyte_of_zeros_are_refused(tmp_path: Path) -> None:
    sparse = tmp_path / "sparse.gguf"
    with sparse.open("wb") as file:
        file.truncate(1 << 30)

    for path, message in (
        (tmp_path, r"can't be read: Is a directory"),
        (tmp_path / "none", r"none: can't be read: No such file"),
        (sparse, r"sparse.gguf: not a GGUF file"),
    ):
        with pytest.raises(ConversionError, match=message):
            gguf.read(path)


def test_files_cut_anywhere_or_with_a_flipped_byte_raise_only_our_error(tmp_path: Path) -> None:
    rng, read_again = random.Random(3), 0
    for fields in (byte_fields(), piece_fields()):
        metadata.write_fields(fields, tmp_path / "x.gguf")
        data = (tmp_path / "x.gguf").read_bytes()
        mutations = [data[: rng.randrange(len(data))] for _ in range(80)]
        for _ in range(200):
            flipped = bytearray(data)
            flipped[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            mutations.append(bytes(flipped))
        for mutation in mutations:
            (tmp_path / "y.gguf").write_bytes(mutation)
            with contextlib.suppress(ConversionError):
                gguf.read(tmp_path / "y.gguf")
                read_again += 1

    assert read_again


def test_files_are_known_by_their_content(tmp_path: Path) -> None:
    metadata.write_fields(byte_fields(), tmp_path / "x")
    (tmp_path / "y").write_bytes(b"GG")

    assert gguf.sniff(tmp_path / "x")
    assert not any(gguf.sniff(path) for path in (tmp_path, tmp_path / "y", tmp_path / "none"))


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    vocabulary = read(byte_fields(), tmp_path)
    monkeypatch.setitem(sys.modules, "gguf", None)

    with pytest.raises(ImportError, match=r"writing GGUF files needs gguf. Install it with `pip install gguf`"):
        gguf.write(vocabulary, tmp_path / "x.gguf")


def test_split_patterns_that_are_named_twice_are_the_same() -> None:
    for name, known in PRE_TOKENIZERS.items():
        if len(known.patterns) == 1 and known.patterns[0] in SPLIT_PATTERNS.values():
            assert name in ("gpt-2", "llama-bpe", "dbrx", "qwen2", "gpt-4o", "granite-embed-multi-97m")


def test_pieces_go_over_to_a_sentencepiece_model(shared: Path) -> None:
    reference = pytest.importorskip("sentencepiece")
    vocabulary = gguf.read(shared / "vectors" / "llama.cpp" / "ggml-vocab-llama-spm.gguf")

    for given in (vocabulary, vocabulary.replace(details={})):
        made = reference.SentencePieceProcessor(model_proto=sentencepiece.to_bytes(given))
        for text in [*texts(50), *(" " * count for count in range(40))]:
            ids = vocabulary.core.encode_ids(text, add_special_tokens=False, split_special_tokens=True)
            assert made.encode(text) == ids, text
