"""Vocabularies whose words are marked by `Metaspace`, as piece models: exactly those go out whose ids stay equal."""

from __future__ import annotations

import ast
import io
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from formats.piece_models import texts
from transformers import AddedToken

import hf_bpe
from hf_bpe import ConversionError, HfBpeTokenizer
from hf_bpe.formats import gguf, sentencepiece
from hf_bpe.vocabulary import Vocabulary

spm = pytest.importorskip("sentencepiece")

PREPEND = {"type": "Prepend", "prepend": "▁"}
SPACE_FIRST = {"type": "Prepend", "prepend": " "}
ESCAPE = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
SQUEEZE = [
    {"type": "Replace", "pattern": {"Regex": r"\A +|[ ▁]+\z"}, "content": ""},
    {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
]
NORMALIZERS: dict[str, Any] = {
    "none": None,
    "prefix": PREPEND,
    "space as prefix": SPACE_FIRST,
    "prefix and escape": {"type": "Sequence", "normalizers": [PREPEND, ESCAPE]},
    "squeeze": {"type": "Sequence", "normalizers": SQUEEZE},
}
CORPUS = [
    "low lower lowest the the",
    "new newer  newest 12",
    "naïve 日本語",
    "a  b   c\nd\te ",
    "of the of the in the",
] * 40
SCHEMES = ("first", "always", "never")


def metaspace(scheme: str, *, split: bool, **changes: Any) -> dict[str, Any]:
    return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": split} | changes


@cache
def trained(*, split: bool, byte_fallback: bool) -> str:
    """Return the tokenizer.json of a vocabulary whose pieces stop before spaces, or go across them."""
    tokenizer = hf_bpe.train(
        CORPUS,
        vocab_size=340 if byte_fallback else 90,
        alphabet="characters",
        byte_fallback=byte_fallback,
        fuse_unk=not byte_fallback,
        unk_token="<unk>",
        special_tokens=["<s>", "</s>"],
        normalizer=PREPEND,
        pre_tokenizer=metaspace("always", split=split),
        progress=False,
    )
    whole: str = tokenizer.vocabulary.core.to_json()
    return whole


def vocabulary_of(whole: str, **changes: Any) -> Vocabulary:
    return Vocabulary.from_json(json.loads(whole) | changes, special_tokens={"bos_token": "<s>", "eos_token": "</s>"})


def decoder_of(scheme: str, *, byte_fallback: bool) -> dict[str, Any]:
    to_bytes = [{"type": "ByteFallback"}] if byte_fallback else []
    return {"type": "Sequence", "decoders": [metaspace(scheme, split=True), *to_bytes, {"type": "Fuse"}]}


def check_equal(vocabulary: Vocabulary, path: Path) -> None:
    """Compare with SentencePiece, and with what is read back: ids, and the text that they are decoded to."""
    sentencepiece.write(vocabulary, path)
    processor = spm.SentencePieceProcessor(model_file=str(path))
    back = sentencepiece.read(path, **sentencepiece.options(vocabulary))
    probes = texts()
    ordinary = vocabulary.core.encode_ids_batch(probes, add_special_tokens=False, split_special_tokens=True)
    found = vocabulary.core.encode_ids_batch(probes)

    assert ordinary == processor.encode(probes)
    assert found == back.core.encode_ids_batch(probes)
    assert vocabulary.core.decode_batch(ordinary) == [processor.decode(row) if row else "" for row in ordinary]
    assert vocabulary.core.decode_batch(found) == back.core.decode_batch(found)


def text_named_in(error: ConversionError) -> str:
    found = re.search(r"The text ('.*?'|\".*?\") would change", str(error))
    assert found is not None, error
    text: str = ast.literal_eval(found[1])
    return text


@pytest.mark.parametrize("byte_fallback", [True, False])
@pytest.mark.parametrize("pieces_stop", [True, False])
@pytest.mark.parametrize("split", [True, False])
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("normalizer", NORMALIZERS)
def test_a_pipeline_is_written_with_equal_ids_or_refused_with_a_text_that_differs(
    normalizer: str, scheme: str, split: bool, pieces_stop: bool, byte_fallback: bool, tmp_path: Path
) -> None:
    whole = trained(split=pieces_stop, byte_fallback=byte_fallback)
    prefixed = normalizer in ("prefix", "space as prefix", "prefix and escape")
    drops = "first" if prefixed or scheme != "never" else "never"
    ours = vocabulary_of(
        whole,
        normalizer=NORMALIZERS[normalizer],
        pre_tokenizer=metaspace(scheme, split=split),
        decoder=decoder_of(drops, byte_fallback=byte_fallback),
    )
    goes = (prefixed or scheme == "never") and (pieces_stop or not split)

    if goes and (pieces_stop or drops == "never") and normalizer != "squeeze":
        check_equal(ours, tmp_path / "a.model")
        return
    with pytest.raises(ConversionError) as caught:
        sentencepiece.to_bytes(ours)
    text = text_named_in(caught.value)
    if goes:  # what differs is the text that ids are decoded to
        assert "decoder is" in str(caught.value)
        return
    nearest = [*SQUEEZE] if normalizer == "squeeze" else []
    nearest += [PREPEND] if prefixed or scheme != "never" else []
    model = vocabulary_of(
        whole,
        normalizer={"type": "Sequence", "normalizers": [*nearest, ESCAPE]},
        pre_tokenizer=None,
    )
    assert ours.core.encode_ordinary(text) != model.core.encode_ordinary(text)


def test_pieces_across_spaces_go_out_where_nothing_cuts_them_and_the_decoder_is_that_of_such_a_model(
    tmp_path: Path,
) -> None:
    steps = [ESCAPE | {"pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}]
    strip = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
    whole = trained(split=False, byte_fallback=True)
    assert [token for token in json.loads(whole)["model"]["vocab"] if "▁" in token[1:] and token[0] != "▁"]

    check_equal(
        vocabulary_of(
            whole,
            normalizer=PREPEND,
            pre_tokenizer=metaspace("always", split=False),
            decoder={"type": "Sequence", "decoders": [*steps, strip]},
        ),
        tmp_path / "a.model",
    )


@pytest.mark.parametrize("byte_fallback", [True, False])
@pytest.mark.parametrize("options", [{"normalizer": PREPEND}, {"pre_tokenizer": metaspace("never", split=True)}])
def test_what_train_makes_goes_to_sentencepiece_and_gguf_and_back(
    options: dict[str, Any], byte_fallback: bool, tmp_path: Path
) -> None:
    pytest.importorskip("gguf")
    tokenizer = hf_bpe.train(
        CORPUS,
        vocab_size=330 if byte_fallback else 60,
        alphabet="characters",
        byte_fallback=byte_fallback,
        fuse_unk=not byte_fallback,
        unk_token="<unk>",
        bos_token="<s>",
        progress=False,
        **options,
    )

    there = hf_bpe.convert(tokenizer, tmp_path / "a.model", texts=CORPUS[:5])
    assert not there.not_checked
    assert hf_bpe.compare(tokenizer, hf_bpe.from_sentencepiece(tmp_path / "a.model", add_bos_token=False))
    hf_bpe.convert(tokenizer, tmp_path / "a.gguf")
    assert hf_bpe.compare(tokenizer, hf_bpe.from_gguf(tmp_path / "a.gguf"))


@pytest.mark.parametrize("name", ["a.model", "a.gguf"])
def test_the_default_of_train_is_refused_with_the_text_and_what_to_do(name: str, tmp_path: Path) -> None:
    tokenizer = hf_bpe.train(
        CORPUS, vocab_size=330, alphabet="characters", byte_fallback=True, unk_token="<unk>", progress=False
    )

    with pytest.raises(ConversionError, match=r"The text ' ' would change.*'type': 'Prepend'.*'never'"):
        hf_bpe.convert(tokenizer, tmp_path / name)


@pytest.mark.parametrize("name", ["a.model", "a.gguf"])
def test_a_lack_of_an_unknown_token_is_refused_with_advice_that_helps(name: str, tmp_path: Path) -> None:
    tokenizer = hf_bpe.train(
        CORPUS, vocab_size=330, alphabet="characters", byte_fallback=True, normalizer=PREPEND, progress=False
    )
    with pytest.raises(ConversionError, match=r"needs an unk_token, and it has none. Train it with unk_token='<unk>'"):
        hf_bpe.convert(tokenizer, tmp_path / name)

    tokenizer.add_special_tokens({"unk_token": "<unk>"})

    assert hf_bpe.convert(tokenizer, tmp_path / name).checks


def test_added_tokens_between_texts_get_a_prefix_in_gguf_alone(tmp_path: Path) -> None:
    pytest.importorskip("gguf")
    whole = json.loads(trained(split=True, byte_fallback=True))
    tokenizer = HfBpeTokenizer.from_vocabulary(vocabulary_of(json.dumps(whole)))
    tokenizer.add_tokens([AddedToken(token, normalized=False) for token in ("<tool>", "of the")])
    assert tokenizer.tokenize("a<tool>b of the") == ["▁a", "<tool>", "▁b", "▁", "of the"]

    gguf.write(tokenizer.vocabulary, tmp_path / "a.gguf")
    back = gguf.read(tmp_path / "a.gguf")

    assert tokenizer._core.encode_ids_batch(texts()) == back.core.encode_ids_batch(texts())
    with pytest.raises(ConversionError, match=r"behind the added token '<tool>'|behind the added token 'of the'"):
        sentencepiece.to_bytes(tokenizer.vocabulary)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "another mark": (
        {"pre_tokenizer": metaspace("always", split=True, replacement="_")},
        r"writes spaces as '_', such a model as '▁'. The text ' ' would change",
    ),
    "a space in an added token": (
        {"pre_tokenizer": metaspace("never", split=True), "normalizer": None, "added": "x y"},
        r"added token 'x y' has a space, which such a model seeks as '▁'. The text 'x y' would change",
    ),
    "ignore_merges": (
        {"pre_tokenizer": metaspace("never", split=True), "normalizer": None, "ignore_merges": True, "token": "qqq"},
        r"ignore_merges is set, and such a model makes each token by merging. The text 'qqq' would change",
    ),
    "a special token that is normalized": (
        {"normalized": True},
        r"special token '<s>' is sought after normalization.*The text '<s>a' would change",
    ),
    "a decoder that drops the space before every word": (
        {"decoder": {"type": "Sequence", "decoders": [metaspace("never", split=True), {"type": "ByteFallback"}]}},
        r"decoder is \['Metaspace', 'ByteFallback'\].*would change",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_differences_are_refused_with_their_text(name: str) -> None:
    changes, message = REFUSED[name]
    changes = dict(changes)
    whole = json.loads(trained(split=True, byte_fallback=True))
    vocab = whole["model"]["vocab"]
    if token := changes.pop("added", None):
        vocab[token] = len(vocab)
        flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
        whole["added_tokens"].append({"id": vocab[token], "content": token, **flags})
    if token := changes.pop("token", None):
        vocab[token] = len(vocab)
    whole["model"]["ignore_merges"] = changes.pop("ignore_merges", False)
    for flags in whole["added_tokens"]:
        flags["normalized"] = changes.get("normalized", False)
    changes.pop("normalized", None)
    if whole["normalizer"] and changes.get("normalizer", "") is None:
        changes["decoder"] = decoder_of("never", byte_fallback=True)

    with pytest.raises(ConversionError, match=message):
        sentencepiece.to_bytes(vocabulary_of(json.dumps(whole), **changes))


def test_a_space_that_is_no_token_is_refused_where_words_are_cut() -> None:
    vocab = {"<unk>": 0, "<s>": 1, "</s>": 2, "a": 3}
    whole = json.loads(trained(split=True, byte_fallback=False)) | {"added_tokens": [], "normalizer": None}
    whole["model"] |= {"vocab": vocab, "merges": []}
    apart = Vocabulary.from_json(whole | {"pre_tokenizer": metaspace("never", split=True)})
    joined = Vocabulary.from_json(whole | {"pre_tokenizer": metaspace("never", split=False)})

    with pytest.raises(ConversionError, match=r"keeps unknown spaces apart. The text '  ' would change"):
        sentencepiece.to_bytes(apart)
    assert apart.core.encode_ordinary("  ") == [0, 0]
    assert joined.core.encode_ordinary("  ") == [0]


def test_a_model_that_sentencepiece_trained_is_the_same_with_metaspace_in_its_pipeline(tmp_path: Path) -> None:
    """The mark put by the normalizer, and words cut as well: the bytes that are written are those that were read."""
    written = io.BytesIO()
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS),
        model_writer=written,
        model_type="bpe",
        vocab_size=330,
        hard_vocab_limit=False,
        num_threads=1,
        minloglevel=2,
        byte_fallback=True,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
    )
    (tmp_path / "a.model").write_bytes(written.getvalue())
    read = sentencepiece.read(tmp_path / "a.model")
    whole = json.loads(read.core.to_json()) | {
        "normalizer": PREPEND,
        "pre_tokenizer": metaspace("first", split=True),
        "decoder": decoder_of("first", byte_fallback=True),
    }
    marked = Vocabulary.from_json(whole, special_tokens=read.special_tokens, details=read.details)

    assert sentencepiece.to_bytes(marked) == written.getvalue()
