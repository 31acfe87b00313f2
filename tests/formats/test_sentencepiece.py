"""SentencePiece models give the ids that `sentencepiece` gives, and come back byte for byte."""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import random
import sys
import warnings
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from charsmaps import charsmap as charsmap_of
from hypothesis import given
from hypothesis import strategies as st
from piece_models import OPTIONS, WITH_CHARSMAP, hand_made, texts, trained
from tokenizers import Tokenizer
from vocabularies import installed

from hf_bpe import ConversionError, HfBpeTokenizer, convert, from_sentencepiece
from hf_bpe.formats import detect, sentencepiece
from hf_bpe.formats.pieces import charsmap
from hf_bpe.formats.pieces.model import PieceType, TextRules
from hf_bpe.formats.sentencepiece import proto
from hf_bpe.linting import lint
from hf_bpe.vocabulary import Vocabulary

spm = pytest.importorskip("sentencepiece")
messages = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")

PUBLISHED = ("llama2", "mistral01")
MISTRAL = (
    "tokenizer.model.v1",
    "mistral_instruct_tokenizer_240216.model.v2",
    "mistral_instruct_tokenizer_240323.model.v3",
    "mistral_instruct_tokenizer_241114.model.v7",
)


def read_bytes(data: bytes, tmp_path: Path, **options: Any) -> Vocabulary:
    path = tmp_path / "made.model"
    path.write_bytes(data)
    return sentencepiece.read(path, **options)


def encode(vocabulary: Vocabulary, text: str) -> list[int]:
    """Return ids as SentencePiece means them: without BOS, and control pieces are ordinary text."""
    return vocabulary.core.encode_ids(text, add_special_tokens=False, split_special_tokens=True)


def stock_encode(vocabulary: Vocabulary) -> Tokenizer:
    """Return the stock library's tokenizer, without special tokens to find."""
    parsed = json.loads(vocabulary.core.to_json())
    parsed["added_tokens"] = [token for token in parsed["added_tokens"] if not token["special"]]
    return Tokenizer.from_str(json.dumps(parsed))


def assert_same_ids(vocabulary: Vocabulary, data: bytes) -> None:
    reference, stock = spm.SentencePieceProcessor(model_proto=data), stock_encode(vocabulary)
    for text in texts():
        expected = reference.encode(text)
        assert encode(vocabulary, text) == expected, text
        assert stock.encode(text, add_special_tokens=False).ids == expected, text


def table(rules: dict[str, str]) -> bytes:
    """Return a charsmap."""
    return base64.b64decode(charsmap_of(rules))


def changed(data: bytes, change: Any) -> bytes:
    """Return a model after `change` was done to its message."""
    message = messages.ModelProto.FromString(data)
    change(message)
    return bytes(message.SerializeToString())


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_models_come_back_byte_for_byte(name: str, shared: Path, tmp_path: Path) -> None:
    path = shared / "vectors" / "kitoken" / "models" / f"{name}.model"

    written = sentencepiece.write(sentencepiece.read(path), tmp_path / "out.model")

    assert written == [tmp_path / "out.model"]
    assert written[0].read_bytes() == path.read_bytes()
    assert_same_ids(sentencepiece.read(written[0]), path.read_bytes())


@pytest.mark.parametrize("name", MISTRAL)
def test_the_models_of_mistral_give_the_same_ids_and_come_back(name: str, tmp_path: Path) -> None:
    path = installed("mistral_common", "data", name)
    if path is None:
        pytest.skip("mistral-common isn't installed")

    vocabulary = sentencepiece.read(path)

    assert_same_ids(vocabulary, path.read_bytes())
    assert sentencepiece.to_bytes(vocabulary) == path.read_bytes()


@pytest.mark.parametrize("name", [name for name in OPTIONS if name not in WITH_CHARSMAP])
def test_trained_models_give_the_same_ids(name: str, tmp_path: Path) -> None:
    assert_same_ids(read_bytes(trained(name), tmp_path), trained(name))


@pytest.mark.filterwarnings("ignore:.*precompiled_charsmap")
@pytest.mark.parametrize("name", WITH_CHARSMAP)
def test_models_with_a_charsmap_give_the_same_ids_for_composed_text(name: str, tmp_path: Path) -> None:
    reference, vocabulary = spm.SentencePieceProcessor(model_proto=trained(name)), read_bytes(trained(name), tmp_path)

    for text in ("ﬁne ①２", "naïve Å", "\u3000a\u3000 b\t\tc ", " ＡＢＣ<ud>ﬀ", "한국어 ㌔", "a\u200bb\x07c", "½ ² Ⅷ"):
        assert encode(vocabulary, text) == reference.encode(text), text


@pytest.mark.parametrize("name", WITH_CHARSMAP)
def test_a_model_with_a_charsmap_warns_with_a_text_that_sentencepiece_encodes_otherwise(
    name: str, tmp_path: Path
) -> None:
    reference, path = spm.SentencePieceProcessor(model_proto=trained(name)), tmp_path / "a.model"
    path.write_bytes(trained(name))

    with pytest.warns(UserWarning, match=r"a.model: .* the longest match in SentencePiece and grapheme by grapheme"):
        vocabulary = sentencepiece.read(path)
    found = sentencepiece.parting_of(path, vocabulary)

    assert found is not None
    text, told = found
    assert len(text.encode()) <= 5, "the shortest keys have two bytes, and a mark two more"
    assert encode(vocabulary, text) != reference.encode(text)
    assert f"{text!r} is {reference.encode(text)} there and {encode(vocabulary, text)} here" in told
    (finding,) = (finding for finding in lint(path).findings if finding.kind == "charsmap-differs")
    assert (finding.text, finding.message) == (text, told)


@pytest.mark.filterwarnings("ignore:.*precompiled_charsmap")
@pytest.mark.parametrize("name", WITH_CHARSMAP)
def test_sentencepiece_parts_from_its_table_only_in_texts_of_two_kinds(name: str, tmp_path: Path) -> None:
    (model, _), vocabulary = proto.parse(trained(name), ""), read_bytes(trained(name), tmp_path)
    reference = spm.SentencePieceProcessor(model_proto=trained(name))
    bare = spm.SentencePieceProcessor(
        model_proto=changed(trained(name), edit("normalizer_spec.precompiled_charsmap", b""))
    )
    suspects = {text for text, _ in islice(charsmap._suspects(model.rules.charsmap), 30_000)}

    for text, mapped in islice(charsmap._suspects(model.rules.charsmap), 0, 30_000, 97):
        assert reference.normalize(text) == bare.normalize(mapped), "the table was read as SentencePiece reads it"
    for char in map(chr, range(0x20, 0x3100)):
        assert encode(vocabulary, char) == reference.encode(char)
        assert char not in suspects


def test_a_table_of_words_is_found_out(tmp_path: Path) -> None:
    data = changed(trained("plain"), edit("normalizer_spec.precompiled_charsmap", table({"th": "x", "é": "e"})))

    with pytest.warns(UserWarning, match=r"'th' is \[.*\] there and \[.*\] here"):
        vocabulary = read_bytes(data, tmp_path)

    assert spm.SentencePieceProcessor(model_proto=data).encode("th") != encode(vocabulary, "th")


def test_a_table_with_which_nothing_differs_gives_no_warning(tmp_path: Path) -> None:
    data = changed(trained("plain"), edit("normalizer_spec.precompiled_charsmap", table({"\x07": " ", "語語": "語語"})))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same_ids(read_bytes(data, tmp_path), data)


@pytest.mark.filterwarnings("ignore:.*precompiled_charsmap")
@pytest.mark.parametrize("name", OPTIONS)
def test_trained_models_come_back_byte_for_byte(name: str, tmp_path: Path) -> None:
    assert sentencepiece.to_bytes(read_bytes(trained(name), tmp_path)) == trained(name)


@pytest.mark.parametrize("name", [name for name in OPTIONS if name not in WITH_CHARSMAP])
def test_models_made_from_the_merges_alone_give_the_same_ids(name: str, tmp_path: Path) -> None:
    vocabulary = read_bytes(trained(name), tmp_path).replace(details={})

    data = sentencepiece.to_bytes(vocabulary)

    assert_same_ids(vocabulary, data)
    assert read_bytes(data, tmp_path).merges == vocabulary.merges


@pytest.mark.parametrize("name", OPTIONS)
def test_decoding_is_that_of_sentencepiece(name: str, tmp_path: Path) -> None:
    reference, vocabulary = spm.SentencePieceProcessor(model_proto=trained(name)), read_bytes(trained(name), tmp_path)

    for text in texts():
        ids = reference.encode(text)
        assert vocabulary.core.decode(ids) == reference.decode(ids), text
    for token_id in range(len(vocabulary)):
        # A byte alone is no text, and a model that has them all has no text for its unknown piece.
        if not (reference.is_control(token_id) or reference.is_byte(token_id)) and not (
            vocabulary.byte_fallback and reference.is_unknown(token_id)
        ):
            assert vocabulary.core.decode([token_id]) == reference.decode([token_id])


@pytest.mark.parametrize("name", [name for name in OPTIONS if name not in WITH_CHARSMAP])
def test_trained_models_are_converted_to_a_directory_and_back(name: str, tmp_path: Path) -> None:
    (tmp_path / "a.model").write_bytes(trained(name))

    there = convert(tmp_path / "a.model", tmp_path / "directory", sample=100)
    back = convert(tmp_path / "directory", tmp_path / "b.model", sample=100)

    assert not there.not_checked
    assert not back.not_checked


@pytest.mark.parametrize("surface", [" ⁇ ", "", "?", "[unknown]"])
def test_the_unknown_piece_is_decoded_to_its_surface(surface: str, tmp_path: Path) -> None:
    data = changed(trained("plain"), lambda model: setattr(model.trainer_spec, "unk_surface", surface))
    vocabulary = read_bytes(data, tmp_path)

    assert vocabulary.core.decode(vocabulary.core.encode_ordinary("hello 🙂 the")) == f"hello {surface} the"
    assert sentencepiece.to_bytes(vocabulary) == data


def test_a_written_model_gives_back_the_unknown_token_of_a_usual_decoder() -> None:
    data = sentencepiece.to_bytes(char_vocabulary(["<unk>", "a", "b"], []))

    assert spm.SentencePieceProcessor(model_proto=data).decode([1, 0, 2]) == "a<unk>b"


def test_a_tokenizer_keeps_everything_that_the_model_says(tmp_path: Path) -> None:
    (tmp_path / "llama.model").write_bytes(trained("llama"))

    tokenizer = from_sentencepiece(tmp_path / "llama.model", chat_template="{{ messages }}")

    assert isinstance(tokenizer, HfBpeTokenizer)
    assert (tokenizer.bos_token, tokenizer.eos_token, tokenizer.unk_token) == ("<s>", "</s>", "<unk>")
    assert tokenizer.chat_template == "{{ messages }}"
    assert sentencepiece.to_bytes(tokenizer.vocabulary) == trained("llama")


def test_bos_and_eos_are_added_as_asked(tmp_path: Path) -> None:
    plain = spm.SentencePieceProcessor(model_proto=trained("llama")).encode("hello")
    both = read_bytes(trained("llama"), tmp_path, add_bos_token=True, add_eos_token=True)
    neither = read_bytes(trained("llama"), tmp_path, add_bos_token=False)

    assert read_bytes(trained("llama"), tmp_path).core.encode_ids("hello") == [1, *plain]
    assert both.core.encode_ids("hello") == [1, *plain, 2]
    assert neither.core.encode_ids("hello") == plain
    assert sentencepiece.options(both) == {"add_bos_token": True, "add_eos_token": True}
    assert sentencepiece.options(neither) == {"add_bos_token": False, "add_eos_token": False}


def test_roles_are_those_of_the_model(tmp_path: Path) -> None:
    vocabulary = read_bytes(trained("own roles"), tmp_path)

    assert dict(vocabulary.special_tokens) == {"unk_token": "<?>", "eos_token": "<END>", "pad_token": "<pad>"}
    assert vocabulary.core.encode_ids("x") == encode(vocabulary, "x")


def test_control_pieces_are_special_tokens_and_found_in_texts(tmp_path: Path) -> None:
    vocabulary = read_bytes(trained("user defined"), tmp_path)

    tokens = vocabulary.core.ids_to_tokens(vocabulary.core.encode_ids("[INST]", add_special_tokens=False))

    assert tokens == ["[INST]"]
    assert len(encode(vocabulary, "[INST]")) > 1


def test_no_user_text_becomes_a_control_or_byte_piece(tmp_path: Path) -> None:
    """A pretoken between two user-defined pieces is looked up whole, except where it spells such a piece."""
    vocabulary = read_bytes(trained("user defined"), tmp_path)
    special = {vocabulary.core.token_to_id(token) for token in ("<s>", "</s>", "<unk>", "[INST]", "<c>", "<0x41>")}

    for spelled in ("<s>", "</s>", "<unk>", "[INST]", "<c>", "<0x41>"):
        assert not special & set(encode(vocabulary, f"<ud>{spelled}<ud>")), spelled


def test_a_spelled_control_piece_of_unknown_characters_is_unknown_twice(tmp_path: Path) -> None:
    """The one text on which ids differ from SentencePiece's, which makes it one unknown piece."""
    types = [PieceType.NORMAL, PieceType.CONTROL, PieceType.USER_DEFINED]
    vocabulary = read_bytes(hand_made(["a", "<c>", "b"], [0, 0, 0], rules=TextRules(), types=types), tmp_path)

    assert encode(vocabulary, "b<c>b") == [0, 3, 0, 0, 3]


def test_runs_of_pieces_with_one_score_grow_from_the_left(tmp_path: Path) -> None:
    data = hand_made(["a", "aa", "aaaa", "aaaaaaa"], [0, -9, -9, -9])
    reference, vocabulary = spm.SentencePieceProcessor(model_proto=data), read_bytes(data, tmp_path)

    for count in range(1, 40):
        assert encode(vocabulary, "a" * count) == reference.encode("a" * count), count


def test_a_piece_may_be_made_of_one_piece_twice(tmp_path: Path) -> None:
    data = hand_made(["a", "aa", "aaaa"], [0, -1, -2])

    assert read_bytes(data, tmp_path).merges == [("a", "a"), ("aa", "aa")]


def test_a_character_without_a_piece_is_merged_under_its_byte(tmp_path: Path) -> None:
    """Gemma's tab is such a character: only runs of tabs are pieces."""

    def lose_tab(message: Any) -> None:
        message.pieces.add(piece="\t\t", score=-2000)

    data = changed(trained("byte fallback"), lose_tab)
    reference, vocabulary = spm.SentencePieceProcessor(model_proto=data), read_bytes(data, tmp_path)

    for text in ("\t", "\t\t", "\t\t\t", "a\t\tb\tc"):
        assert encode(vocabulary, text) == reference.encode(text), text
    assert sentencepiece.to_bytes(vocabulary) == data


SYMBOLS = st.text("ab", min_size=2, max_size=5)
SHORT_TEXTS = ["".join(text) for length in range(1, 9) for text in itertools.product("ab", repeat=length)]


@given(pieces=st.lists(SYMBOLS, max_size=8, unique=True), seed=st.integers(0, 1000), ties=st.booleans())
def test_any_scores_give_the_same_ids_or_are_refused(
    pieces: list[str], seed: int, ties: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    rng = random.Random(seed)
    scores = [float(-rng.randrange(3) if ties else -place) for place in range(len(pieces) + 2)]
    rng.shuffle(scores)
    data = hand_made(["a", "b", *pieces], scores)
    reference = spm.SentencePieceProcessor(model_proto=data)

    try:
        vocabulary = read_bytes(data, tmp_path_factory.getbasetemp())
    except ConversionError as error:
        refusal = str(error)
    else:
        assert [encode(vocabulary, text) for text in SHORT_TEXTS] == reference.encode(SHORT_TEXTS)
        return

    assert ties
    assert "have one score" in refusal


@given(seed=st.integers(0, 100_000))
def test_any_merges_give_the_same_ids_or_are_refused_with_a_text_that_changes(seed: int) -> None:
    rng = random.Random(seed)
    tokens, merges = ["<unk>", "a", "b"], []
    for _ in range(rng.randint(1, 8)):
        pair = rng.choice(tokens[1:]), rng.choice(tokens[1:])
        if len("".join(pair)) <= 6 and pair not in merges:
            merges.append(pair)
            tokens += [] if "".join(pair) in tokens else ["".join(pair)]
    vocabulary = char_vocabulary(tokens, rng.sample(merges, len(merges)) if rng.random() < 0.3 else merges)

    try:
        data = sentencepiece.to_bytes(vocabulary)
    except ConversionError as error:
        refusal = str(error)
    else:
        reference = spm.SentencePieceProcessor(model_proto=data)
        assert [encode(vocabulary, text) for text in SHORT_TEXTS] == reference.encode(SHORT_TEXTS)
        return

    assert "can't hold this vocabulary" in refusal


def char_vocabulary(tokens: list[str], merges: list[tuple[str, str]], **changes: Any) -> Vocabulary:
    """Return a vocabulary of characters without a prefix, as SentencePiece has it but for `changes`."""
    model = {
        "type": "BPE",
        "dropout": None,
        "unk_token": "<unk>",
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": True,
        "byte_fallback": False,
        "ignore_merges": False,
        "vocab": {token: token_id for token_id, token in enumerate(tokens)},
        "merges": [list(pair) for pair in merges],
    }
    decoder = {
        "type": "Sequence",
        "decoders": [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "Fuse"}],
    }
    pipeline = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": decoder,
        "model": model | changes.pop("model", {}),
    }
    return Vocabulary.from_json(pipeline | changes)


def added(content: str, token_id: int, **flags: bool) -> dict[str, Any]:
    off = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
    return {"id": token_id, "content": content, **off, **flags}


def test_a_merge_that_the_list_leaves_out_is_refused_with_its_text() -> None:
    """`abc` is a token and `a`, `bc` are, but only (ab, c) is a merge, and (b, c) comes before (a, b)."""
    tokens, merges = ["<unk>", "a", "b", "c", "bc", "ab", "abc"], [("b", "c"), ("a", "b"), ("ab", "c")]

    with pytest.raises(ConversionError, match=r"joins 'a' and 'bc'; the merges don't. The text 'abc' would change"):
        sentencepiece.to_bytes(char_vocabulary(tokens, merges))


def test_merges_in_an_order_that_no_scores_give_are_refused_with_their_text() -> None:
    merges = [("a", "bb"), ("b", "b"), ("ab", "b"), ("b", "c"), ("a", "b")]
    tokens = ["<unk>", "a", "b", "c", "bb", "abb", "bc", "ab"]
    interleaved = char_vocabulary(tokens, [("ab", "b"), ("b", "b"), ("a", "b"), ("b", "c"), ("a", "bb")])

    with pytest.raises(ConversionError, match=r"ranked apart, with other merges between them \(merge \d"):
        sentencepiece.to_bytes(interleaved)
    assert sentencepiece.to_bytes(char_vocabulary(tokens, sorted(merges, key=lambda pair: tokens.index("".join(pair)))))


def test_unknown_characters_that_stay_apart_are_refused() -> None:
    whole = json.loads(char_vocabulary(["<unk>", "a", "\ue000"], []).core.to_json())
    whole["model"]["fuse_unk"] = False

    with pytest.raises(ConversionError, match=r"fuse_unk is False.*The text '\\ue001\\ue001' would change"):
        sentencepiece.to_bytes(Vocabulary.from_json(whole))


def test_a_token_without_merges_is_refused_if_a_score_would_make_it() -> None:
    with pytest.raises(ConversionError, match=r"The text 'ab' would change"):
        sentencepiece.to_bytes(char_vocabulary(["<unk>", "a", "b", "ab"], []))


BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": True}
METASPACE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": False}
SPLIT = {"type": "Split", "pattern": {"Regex": r"\d"}, "behavior": "Isolated", "invert": False}
STRIP = {"type": "Strip", "strip_left": True, "strip_right": True}

REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "byte-level": ({"pre_tokenizer": BYTE_LEVEL, "decoder": BYTE_LEVEL}, r"in the byte alphabet.*The text 'é' would"),
    "Metaspace": ({"pre_tokenizer": METASPACE}, r"'Metaspace' adds no space before.*The text ' ' would change"),
    "split": ({"pre_tokenizer": SPLIT}, r"doesn't split text before merging, but pre_tokenizer is 'Split' by '\\\\d'"),
    "normalizer": ({"normalizer": STRIP}, r"its normalizer \('Strip'\) is none that such a model's flags can say"),
    "decoder": ({"decoder": None}, r"decoder is None, such a model decodes as \['Replace', 'Fuse'\] does"),
    "no unknown token": ({"model": {"unk_token": None}}, r"needs an unk_token, and it has none"),
    "dropout": ({"model": {"dropout": 0.5}}, r"model.dropout is 0.5, which such a model can't say"),
    "a hole": ({"model": {"vocab": {"<unk>": 0, "a": 1, "b": 3}}}, r"id 2 has no token, and ids can't move"),
    "bytes missing": ({"model": {"byte_fallback": True}}, r"byte_fallback is set, but '<0x00>' is no token"),
    "lstrip": ({"added_tokens": [added("b", 2, lstrip=True)]}, r"'b' has lstrip.*The text 'ab b' would change"),
    "sought after": (
        {"added_tokens": [added("b▁", 2)], "model": {"vocab": {"<unk>": 0, "a": 1, "b▁": 2}}},
        r"'b▁' is sought before normalization, such a piece the other way. The text 'ab a' would change",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_model_can_not_hold_is_refused(name: str) -> None:
    changes, message = REFUSED[name]
    vocabulary = char_vocabulary(["<unk>", "a", "b"], [], **json.loads(json.dumps(changes)))

    with pytest.raises(ConversionError, match=message):
        sentencepiece.to_bytes(vocabulary)


def test_added_tokens_behind_a_dummy_prefix_are_refused() -> None:
    """Behind an added token the prefix is put again, in SentencePiece it isn't."""
    prefix = {"type": "Prepend", "prepend": "▁"}
    replace = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    steps = [replace | {"pattern": {"String": "▁"}, "content": " "}, {"type": "Fuse"}]
    vocabulary = char_vocabulary(
        ["<unk>", "a", "<b>"],
        [],
        normalizer={"type": "Sequence", "normalizers": [prefix, replace]},
        decoder={"type": "Sequence", "decoders": [*steps, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
        added_tokens=[added("<b>", 2)],
    )

    with pytest.raises(ConversionError, match=r"behind the added token '<b>'.*The text '<b>a' would change"):
        sentencepiece.to_bytes(vocabulary)


def set_type(kind: int) -> Any:
    return lambda message: setattr(message.trainer_spec, "model_type", kind)


def add_piece(**fields: Any) -> Any:
    return lambda message: message.pieces.add(**fields)


def edit(path: str, value: Any) -> Any:
    """Return a change that sets a field by its dotted name."""

    def change(message: Any) -> None:
        *parents, name = path.split(".")
        for parent in parents:
            message = getattr(message, parent)
        setattr(message, name, value)

    return change


DAMAGED_MODELS: dict[str, tuple[Any, str]] = {
    "unigram": (set_type(1), r"model_type is 'unigram'; hf_bpe supports 'BPE'"),
    "word": (set_type(3), r"model_type is 'word'"),
    "char": (set_type(4), r"model_type is 'char'"),
    "suffix": (edit("trainer_spec.treat_whitespace_as_suffix", True), r"treat_whitespace_as_suffix is set"),
    "denormalizer": (edit("denormalizer_spec.precompiled_charsmap", b"x"), r"denormalizer_spec.precompiled_charsmap"),
    "charsmap": (edit("normalizer_spec.precompiled_charsmap", b"\xff" * 99), r"precompiled_charsmap is damaged"),
    "short charsmap": (edit("normalizer_spec.precompiled_charsmap", b"\x04"), r"precompiled_charsmap is damaged"),
    "double": (add_piece(piece="a", score=1), r"pieces \d+ and \d+ are both 'a'"),
    "empty piece": (add_piece(piece="", score=1), r"SentencePiece takes pieces of 1 to 7999 bytes"),
    "NUL": (add_piece(piece="a\0", score=1), r"without NUL"),
    "long piece": (add_piece(piece="ab" * 5000, score=1), r"takes pieces of 1 to 7999 bytes"),
    "no number": (add_piece(piece="aabbaabbab", score=float("nan")), r"piece 'aabbaabbab' is not a number"),
    "two unknown": (add_piece(piece="<u2>", score=0, type=2), r"one piece has to have the type UNKNOWN, got"),
    "no bytes": (
        edit("trainer_spec.byte_fallback", True),
        r"byte_fallback is True, but byte piece '<0x00>' is missing",
    ),
    "byte": (add_piece(piece="<0x41>", score=0, type=6), r"byte_fallback is False, but byte piece '<0x41>' is there"),
    "unknown character": (
        add_piece(piece="aÞ", score=-1),
        r"made of 'a' and 'Þ', one of which is no piece.*'aÞ' would",
    ),
    "no pieces": (lambda message: message.ClearField("pieces"), r"not a SentencePiece model"),
}


@pytest.mark.parametrize("name", DAMAGED_MODELS)
def test_models_that_can_not_be_run_are_refused(name: str, tmp_path: Path) -> None:
    change, message = DAMAGED_MODELS[name]

    with pytest.raises(ConversionError, match=message) as caught:
        read_bytes(changed(trained("plain"), change), tmp_path)
    assert str(caught.value).startswith("made.model: ")


def test_scores_that_tie_where_it_matters_are_refused_with_a_text(tmp_path: Path) -> None:
    with pytest.raises(ConversionError, match=r"pieces 'ba' and 'ab' have one score.*The text 'bab' would change"):
        read_bytes(hand_made(["a", "b", "ab", "ba"], [0, 0, -1, -1]), tmp_path)


def test_scores_that_tie_and_merge_on_are_refused(tmp_path: Path) -> None:
    data = hand_made(["a", "b", "aa", "ba", "aba"], [0, 0, -2, -2, 0])

    with pytest.raises(ConversionError, match=r"pieces 'ba' and 'aa' have one score.*the former merges on"):
        read_bytes(data, tmp_path)


def test_thousands_of_merges_with_one_score_are_refused(tmp_path: Path) -> None:
    letters = [chr(0x4E00 + place) for place in range(70)]
    pairs = [left + right for left in letters for right in letters]

    with pytest.raises(ConversionError, match=r"4900 merges share the score -1.0 .*can say that for 4096 at most"):
        read_bytes(hand_made([*letters, *pairs], [0.0] * 70 + [-1.0] * 4900), tmp_path)


def test_user_defined_pieces_that_the_normalizer_would_change_are_refused(tmp_path: Path) -> None:
    mapped = changed(trained("nmt_nfkc"), add_piece(piece="Ⅷ", score=0, type=4))
    squeezed = changed(trained("plain"), add_piece(piece="q  q", score=0, type=4))

    with pytest.raises(ConversionError, match=r"precompiled_charsmap changes user-defined piece 'Ⅷ'.*'Ⅷ' would"):
        read_bytes(mapped, tmp_path)
    with pytest.raises(ConversionError, match=r"remove_extra_whitespaces changes user-defined piece 'q  q'"):
        read_bytes(squeezed, tmp_path)


def test_spaces_that_are_not_escaped_stay(tmp_path: Path) -> None:
    for prefix in (True, False):
        rules = TextRules(add_dummy_prefix=prefix, escape_whitespaces=False)
        data = hand_made(["a", "b", " ", " a", "▁"], [0, 0, 0, -1, 0], rules=rules)
        reference, vocabulary = spm.SentencePieceProcessor(model_proto=data), read_bytes(data, tmp_path)

        for text in ("a", " a", "a b", "▁a", "", "  "):
            assert encode(vocabulary, text) == reference.encode(text), text
        assert sentencepiece.to_bytes(vocabulary) == data


DAMAGED_FILES = {
    "empty": (b"", r"begins with b''"),
    "text": (b"hello world", r"begins with b'he', not with a piece"),
    "json": (b"{}", r"begins with b'{}'"),
    "zeros": (bytes(1000), r"not a SentencePiece model"),
    "one byte": (b"\n", r"begins with b'\\n'"),
    "a long promise": (b"\n\xff\xff\xff\xff\x0f", r"not a SentencePiece model, or a damaged one"),
}


@pytest.mark.parametrize("name", DAMAGED_FILES)
def test_damaged_files_are_refused(name: str, tmp_path: Path) -> None:
    data, message = DAMAGED_FILES[name]

    with pytest.raises(ConversionError, match=message):
        read_bytes(data, tmp_path)


def test_a_directory_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConversionError, match=r"can't be read: Is a directory"):
        sentencepiece.read(tmp_path)
    with pytest.raises(ConversionError, match=r"none.model: can't be read: No such file"):
        sentencepiece.read(tmp_path / "none.model")


def test_a_gigabyte_of_zeros_is_refused_at_once(tmp_path: Path) -> None:
    for head in (b"", b"\n\x05"):
        path = tmp_path / "sparse.model"
        with path.open("wb") as file:
            file.write(head)
            file.truncate(1 << 30)

        with pytest.raises(ConversionError, match=r"sparse.model: (not a SentencePiece model|larger than 256 MB)"):
            sentencepiece.read(path)


def test_files_cut_anywhere_or_with_a_flipped_byte_raise_only_our_error(tmp_path: Path) -> None:
    data, rng = trained("user defined"), random.Random(5)
    mutations = [data[: rng.randrange(len(data))] for _ in range(60)]
    for _ in range(150):
        flipped = bytearray(data)
        flipped[rng.randrange(len(flipped))] ^= 1 << rng.randrange(8)
        mutations.append(bytes(flipped))
    read = 0

    for mutation in mutations:
        with contextlib.suppress(ConversionError):
            read_bytes(mutation, tmp_path)
            read += 1

    assert 0 < read < len(mutations)


def test_models_are_known_by_their_content(tmp_path: Path) -> None:
    path = tmp_path / "without a suffix"
    path.write_bytes(trained("plain"))

    assert sentencepiece.sniff(path)
    assert not sentencepiece.sniff(tmp_path)
    assert not sentencepiece.sniff(tmp_path / "none")
    (tmp_path / "other").write_bytes(b"\n\n\n\n")
    assert not sentencepiece.sniff(tmp_path / "other")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "m.model").write_bytes(trained("plain"))
    monkeypatch.delattr(spm, "sentencepiece_model_pb2")
    monkeypatch.setitem(sys.modules, "sentencepiece.sentencepiece_model_pb2", None)

    with pytest.raises(ImportError, match=r"needs sentencepiece and protobuf.*pip install -U sentencepiece protobuf"):
        sentencepiece.read(tmp_path / "m.model")


def test_unused_pieces_that_merging_makes_are_refused(tmp_path: Path) -> None:
    types = [PieceType.NORMAL, PieceType.NORMAL, PieceType.UNUSED]

    with pytest.raises(ConversionError, match=r"'ab' is marked unused.*The text 'ab' would change"):
        read_bytes(hand_made(["a", "b", "ab"], [0, 0, -1], types=types), tmp_path)


def test_unused_pieces_that_nothing_makes_are_kept(tmp_path: Path) -> None:
    data = hand_made(["a", "b", "[PAD]"], [0, 0, 0], types=[PieceType.NORMAL, PieceType.NORMAL, PieceType.UNUSED])
    vocabulary = read_bytes(data, tmp_path)

    assert vocabulary.core.token_to_id("[PAD]") == 3
    assert sentencepiece.to_bytes(vocabulary) == data


def test_detection_asks_this_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x").write_bytes(trained("plain"))
    monkeypatch.setattr("hf_bpe.formats.FORMATS", {"sentencepiece": "hf_bpe.formats.sentencepiece"})

    assert detect(tmp_path / "x") == "sentencepiece"


def test_runs_that_a_merge_list_ranks_through_each_other_get_one_score_again(tmp_path: Path) -> None:
    """As in Llama 2 and every tokenizer.json that was made of it."""
    data = hand_made(["a", "b", "aa", "aaa", "aaaa", "ab"], [0, 0, -9, -9, -9, -1])
    vocabulary = read_bytes(data, tmp_path).replace(details={})

    made = spm.SentencePieceProcessor(model_proto=sentencepiece.to_bytes(vocabulary))

    assert len({made.get_score(made.piece_to_id(run)) for run in ("aaa", "aaaa")}) == 1
    for text in SHORT_TEXTS + ["a" * count for count in range(30)]:
        assert made.encode(text) == encode(vocabulary, text), text


def test_runs_that_scores_would_make_otherwise_are_refused() -> None:
    tokens, merges = ["<unk>", "b", "bb", "bbb", "bbbb"], [("b", "b"), ("bb", "b"), ("bb", "bb"), ("b", "bb")]

    with pytest.raises(ConversionError, match=r"ranked apart, with other merges between them"):
        sentencepiece.to_bytes(char_vocabulary(tokens, merges))
