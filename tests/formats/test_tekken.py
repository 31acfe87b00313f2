"""Mistral's tekken.json, in and out, against mistral-common."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from damaged import DAMAGED
from hostile import HOSTILE, random_texts
from vocabularies import installed

import hf_bpe
from hf_bpe import ConversionError
from hf_bpe.formats import tekken
from hf_bpe.known_encodings import KNOWN_ENCODINGS
from hf_bpe.vocabulary import Vocabulary

mistral = pytest.importorskip("mistral_common.tokens.tokenizers.tekken")
BYTES = {bytes([byte]): byte for byte in range(256)}
SPECIALS = ("<unk>", "<s>", "</s>", "[IMG]")


def small(of_version: str = "v7", **changes: Any) -> dict[str, Any]:
    """Return a tekken.json of the 256 bytes, `ab`, and one token that isn't used."""
    entries = [tekken._entry(token, rank) for token, rank in [*BYTES.items(), (b"ab", 256), (b"cd", 257)]]
    listed = [{"rank": rank, "token_str": token, "is_control": True} for rank, token in enumerate(SPECIALS)]
    config = {
        "pattern": KNOWN_ENCODINGS["tekken"].split_pattern,
        "num_vocab_tokens": 258,
        "default_vocab_size": 263,
        "default_num_special_tokens": 6,
        "version": of_version,
    }
    return {"config": config, "vocab": entries, "special_tokens": listed} | changes


def write_json(path: Path, data: object) -> Path:
    """Write JSON as new files have it."""
    path.write_text(json.dumps(data, indent=2, ensure_ascii=True))
    return path


@pytest.mark.parametrize("name", ["tekken_240718.json", "tekken_240911.json"])
def test_real_files_come_back_byte_for_byte_with_the_ids_of_mistral_common(name: str, tmp_path: Path) -> None:
    source = installed("mistral_common", "data", name)
    assert source is not None
    assert tekken.sniff(source)

    vocabulary = tekken.read(source)

    [written] = tekken.write(vocabulary, tmp_path / name)
    assert written.read_bytes() == source.read_bytes()
    theirs = mistral.Tekkenizer.from_file(source)
    tokenizer = hf_bpe.from_tekken(source)
    for text in [*HOSTILE.values(), *random_texts(300, seed=2, tokens=["[INST]", "</s>"])]:
        ids = theirs.encode(text, bos=False, eos=False)
        assert tokenizer.encode_ordinary(text) == ids
        assert tokenizer.decode(ids) == theirs.decode(ids)
    assert len(tokenizer) == theirs.n_words == 131072
    assert tokenizer.encode("\n") == [1010]
    assert tokenizer.encode("[IMG]") == [theirs.get_special_token("[IMG]")] == [10]
    assert tokenizer.bos_token_id == theirs.bos_id
    assert tokenizer.convert_ids_to_tokens(999) == "<SPECIAL_999>"


def test_special_tokens_are_taken_by_rank_and_ids_shifted_once(tmp_path: Path) -> None:
    # https://github.com/huggingface/transformers/pull/46603
    data = small()
    data["special_tokens"].reverse()
    path = write_json(tmp_path / "tekken.json", data)

    vocabulary = tekken.read(path)

    assert vocabulary.core.encode_ids("<unk><s></s>[IMG]<SPECIAL_4><SPECIAL_5>\nab") == [0, 1, 2, 3, 4, 5, 16, 262]
    theirs = mistral.Tekkenizer.from_file(path)
    assert theirs.encode("\nab", bos=False, eos=False) == [16, 262]
    tekken.write(vocabulary, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()


IMAGE = {"image_patch_size": 16, "max_image_size": 1024}
AUDIO = {
    "sampling_rate": 16_000,
    "frame_rate": 12.5,
    "audio_encoding_config": {"num_mel_bins": 128, "hop_length": 160, "window_size": 400},
}
BY_VERSION: dict[str, dict[str, Any]] = {
    "v1": {},
    "v2": {"special_tokens": None},
    "v3": {"multimodal": IMAGE, "special_tokens": None},
    "v7": {"image": IMAGE, "audio": AUDIO},
    "v11": {"multimodal": IMAGE},
    "v13": {"image": IMAGE, "audio": AUDIO, "type": "Tekken", "version": 1},
    "v15": {"image": IMAGE},
}
"""What a file of each version may hold beside its vocabulary."""


@pytest.mark.parametrize("version", BY_VERSION)
def test_every_version_has_the_ids_of_mistral_common_and_comes_back(version: str, tmp_path: Path) -> None:
    """Ranks of special tokens that aren't listed in their order, and one that is no control token."""
    listed = [
        {"rank": 4, "token_str": "[THINK]", "is_control": True},
        *({"rank": rank, "token_str": token, "is_control": True} for rank, token in enumerate(SPECIALS)),
        {"rank": 5, "token_str": "<shown>", "is_control": False},
    ]
    data = small(version) | {"special_tokens": listed} | BY_VERSION[version]
    if data["special_tokens"] is None:
        del data["special_tokens"]
        data["config"] |= {"default_num_special_tokens": 25, "default_vocab_size": 282}
    path = write_json(tmp_path / "tekken.json", data)
    theirs = mistral.Tekkenizer.from_file(path)

    tokenizer = hf_bpe.from_tekken(path)

    assert len(tokenizer) == theirs.n_words
    specials = {str(token): token_id for token_id, token in tokenizer.added_tokens_decoder.items()}
    assert set(specials.values()) == theirs.special_ids
    assert specials == {token: theirs.get_special_token(token) for token in specials}
    assert (tokenizer.bos_token_id, tokenizer.eos_token_id) == (theirs.bos_id, theirs.eos_id)
    for text in [*HOSTILE.values(), "ab 501 can't [THINK]<shown>"]:
        ids = theirs.encode(text, bos=False, eos=False)
        assert tokenizer.encode_ordinary(text) == ids
        assert tokenizer.decode(ids) == theirs.decode(ids)
    tekken.write(tokenizer.vocabulary, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()


def test_bos_is_added_where_it_is_asked_for(tmp_path: Path) -> None:
    path = write_json(tmp_path / "tekken.json", small())

    plain, asked = hf_bpe.from_tekken(path), hf_bpe.from_tekken(path, add_bos_token=True)

    assert (plain.encode("ab"), asked.encode("ab")) == ([262], [1, 262])


def test_versions_and_unknown_members_are_kept(tmp_path: Path) -> None:
    data = small("v11", image={"image_patch_size": 16, "max_image_size": 1024}, type="Tekken", version=1)
    path = write_json(tmp_path / "tekken.json", data)

    tekken.write(tekken.read(path), tmp_path / "again.json")

    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()


def test_the_canonical_form_comes_back_from_a_tokenizer_json_byte_for_byte(tmp_path: Path) -> None:
    lost = Vocabulary.from_json(tekken.read(write_json(tmp_path / "a.json", small())).core.to_json())
    [first] = tekken.write(lost, tmp_path / "b.json")

    [second] = tekken.write(Vocabulary.from_json(tekken.read(first).core.to_json()), tmp_path / "c.json")

    assert second.read_bytes() == first.read_bytes()
    data = json.loads(first.read_text())
    assert first.read_text() == json.dumps(data, indent=4).replace("\x7f", "\\u007f") + "\n"
    assert list(data) == ["config", "vocab", "special_tokens"]
    assert [entry["token_bytes"] for entry in data["vocab"]] == [
        entry["token_bytes"] for entry in small()["vocab"] if entry["rank"] < 257
    ]


def test_a_vocabulary_from_elsewhere_loads_in_mistral_common(tmp_path: Path) -> None:
    ranks = {token: rank + 3 for token, rank in BYTES.items()} | {b"ab": 259, b" ab": 260}
    specials = {"<unk>": 0, "<s>": 1, "</s>": 2}
    vocabulary = Vocabulary.from_ranks(ranks, split_pattern="o200k", added_tokens=specials)

    [path] = tekken.write(vocabulary, tmp_path / "tekken.json", version="v11")

    theirs = mistral.Tekkenizer.from_file(path)
    assert theirs.version.value == "v11"
    for text in HOSTILE.values():
        assert vocabulary.core.encode_ordinary(text) == theirs.encode(text, bos=False, eos=False)
    again = tekken.read(path)
    assert again.core == vocabulary.core
    assert again.special_tokens["bos_token"] == "<s>"


@pytest.mark.parametrize(
    ("ranks", "specials", "message"),
    [
        (
            BYTES,
            {"<s>": 256},
            r"special tokens first and ranks behind them: '<s>' is \[256\], behind the token b'\\x00'",
        ),
        ({token: rank + 2 for token, rank in BYTES.items()}, {"<s>": 0}, r"none has the id 1"),
        (BYTES | {b"ab": 300}, {}, r"ranks without a gap: no token has the id 256"),
        ({token: 255 - rank for token, rank in BYTES.items()}, {}, r"0x00 is 255 and would become 0"),
        ({token: rank + 1 for token, rank in BYTES.items()}, {"<s>": 0, "<t>": 0}, r"two special tokens of one id"),
    ],
)
def test_ids_in_another_order_are_refused(
    ranks: dict[bytes, int], specials: dict[str, int], message: str, tmp_path: Path
) -> None:
    vocabulary = Vocabulary.from_ranks(ranks, split_pattern="gpt2", added_tokens=specials)

    with pytest.raises(ConversionError, match=message):
        tekken.write(vocabulary, tmp_path / "tekken.json")

    assert not list(tmp_path.iterdir())


def test_a_normalizer_is_refused_with_a_text(tmp_path: Path) -> None:
    vocabulary = Vocabulary.from_ranks(BYTES, split_pattern="gpt2", normalizer="NFC")

    with pytest.raises(
        ConversionError, match=r"tekken has no normalizer.*and would become|tekken.json has no normalizer"
    ):
        tekken.write(vocabulary, tmp_path / "tekken.json")


def changed(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """Return a small file with a change."""
    data = small()
    change(data)
    return data


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.pop("config"), r"config should be an object, found None"),
        (lambda data: data.pop("vocab"), r"vocab should be an array, found None"),
        (lambda data: data["config"].pop("pattern"), r"config.pattern should be a string, found None"),
        (lambda data: data["config"].update(default_vocab_size="x"), r"config.default_vocab_size should be a number"),
        (
            lambda data: data["config"].update(default_vocab_size=999),
            r"config.default_vocab_size is 999 .* it needs 993",
        ),
        (
            lambda data: data["config"].update(default_num_special_tokens=-1),
            r"config.default_num_special_tokens should be a number",
        ),
        (lambda data: data["config"].update(pattern=r"\w+$"), r"config.pattern holds '\$' at 3"),
        (lambda data: data["config"].update(pattern="gpt2"), r"config.pattern is 'gpt2', which is a word"),
        (lambda data: data["config"].update(pattern=r"\w+|("), r"config.pattern is .* can't be compiled"),
        (lambda data: data["config"].update(pattern="\ud800"), r"config.pattern is '.*', which holds a lone surrogate"),
        (
            lambda data: data["config"].update(
                default_num_special_tokens=4_000_000_000, default_vocab_size=4_000_000_257
            ),
            r"config.default_num_special_tokens is 4000000000; hf_bpe reads at most 65536",
        ),
        (lambda data: data["vocab"][3].update(rank=4), r"vocab\[3\].rank is 4; entries stand in the order of ranks"),
        (lambda data: data["vocab"][3].update(token_bytes="A"), r"vocab\[3\].token_bytes is 'A', which is no base64"),
        (lambda data: data["vocab"][3].update(token_bytes=None), r"vocab\[3\].token_bytes is None"),
        (lambda data: data["vocab"][3].update(token_bytes=""), r"vocab\[3\].token_bytes is empty"),
        (
            lambda data: data["vocab"][3].update(token_bytes="AA=="),
            r"vocab\[3\] is the token b'\\x00'.* vocab\[0\] already",
        ),
        (lambda data: data["vocab"][3].update(token_bytes="YWE="), r"vocab has no token for the byte 0x03"),
        (lambda data: data["vocab"].__setitem__(3, 7), r"vocab\[3\] should be an object, found 7"),
        (lambda data: data["special_tokens"][1].update(rank=0), r"special_tokens\[1\]: the rank 0 or the token '<s>'"),
        (
            lambda data: data["special_tokens"][1].update(rank=6),
            r"special_tokens\[1\] is .*a rank below .*, which is 6",
        ),
        (
            lambda data: data["special_tokens"][1].update(token_str="<SPECIAL_4>"),
            r"special_tokens has a token of the form '<SPECIAL_n>' at another",
        ),
        (lambda data: data.update(special_tokens=3), r"special_tokens should be an array, found 3"),
        (
            lambda data: data.pop("special_tokens") and data["config"].update(version="v11"),
            r"special_tokens is missing, which files of version 'v11' have",
        ),
    ],
)
def test_damage_is_named_by_its_json_path(
    change: Callable[[dict[str, Any]], object], message: str, tmp_path: Path
) -> None:
    path = write_json(tmp_path / "tekken.json", changed(change))

    with pytest.raises(ConversionError, match=rf"tekken.json: {message}"):
        tekken.read(path)


@pytest.mark.parametrize("damage", DAMAGED)
def test_damaged_files_are_refused(damage: str, tmp_path: Path) -> None:
    make, message = DAMAGED[damage]
    make(tmp_path / "tekken.json")

    assert not tekken.sniff(tmp_path / "tekken.json")
    with pytest.raises(ConversionError, match=message):
        tekken.read(tmp_path / "tekken.json")


def test_a_truncated_file_is_named_by_its_line(tmp_path: Path) -> None:
    path = write_json(tmp_path / "tekken.json", small())
    path.write_text(path.read_text()[:5_000])

    with pytest.raises(ConversionError, match=r"tekken.json, line \d+, column \d+: not JSON"):
        tekken.read(path)
    path.write_text("[]")
    with pytest.raises(ConversionError, match=r"holds no JSON object"):
        tekken.read(path)
