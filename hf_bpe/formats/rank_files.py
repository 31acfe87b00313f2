"""What rank files have in common: lines of ranks, and the proof that a vocabulary's ids are those of its ranks."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from hf_bpe.errors import ConversionError
from hf_bpe.formats import differences
from hf_bpe.formats.unproved import evidence
from hf_bpe.vocabulary import Vocabulary

LARGEST_RANK = 0xFFFFFFFF
_BYTE_PIECE = re.compile("<0x([0-9A-F]{2})>")
# Around a token that is looked up as a whole pretoken, so that it no longer is one, or becomes one.
_AROUND = ("{}", "{}a", "a{}", " {}", "{} ", "{}{}", "{}\n", "a{}a", "({}", "{}1")


def proven_ranks(vocabulary: Vocabulary, *, target: str) -> dict[bytes, int]:
    """Return the ranks of a vocabulary, if a rank file of them gives its ids on every text.

    Args:
        vocabulary: The vocabulary.
        target: What is to be made of it, for the error.

    Raises:
        ConversionError: It isn't byte-level, a byte has no token, two tokens share an id, or the merges differ from
            the ranks. The message shows the shortest text that would come out differently.
    """
    settings = vocabulary.model_settings
    for name in ("continuing_subword_prefix", "end_of_word_suffix"):
        if settings[name]:
            raise ConversionError(
                f"{target} can't hold model.{name}, {settings[name]!r}{differences.by_affixes(vocabulary.core)}. "
                "tokenizer.json holds it."
            )
    if not vocabulary.is_byte_level:
        _refuse_characters(vocabulary, target)
    try:
        ranks = vocabulary.ranks()
        verdict, texts, dead = vocabulary.core.agreement_with_ranks()
    except ConversionError:
        raise
    except ValueError as error:
        raise ConversionError(f"{target} can't hold this vocabulary: {error}.") from error
    _check_doubles(ranks, target)
    _check_merges(vocabulary, verdict, texts, dead if not vocabulary.ignore_merges else [], target)
    return ranks


def _refuse_characters(vocabulary: Vocabulary, target: str) -> NoReturn:
    """Raise, with a text to which the bytes of these tokens as ranks would give other ids."""
    head = f"{target} merges bytes, and the tokens of this vocabulary are text"
    vocab = vocabulary.get_vocab(with_added_tokens=False)
    ranks = {_bytes_of(token, vocabulary): token_id for token, token_id in vocab.items()}
    if (byte := missing_byte(ranks)) is not None:
        raise ConversionError(f"{head}: no token stands for the byte 0x{byte:02X}. tokenizer.json holds it.")
    plain = Vocabulary.from_ranks(ranks, split_pattern=r"[\s\S]+")
    ours, theirs = differences.encoder(vocabulary.core), differences.encoder(plain.core)
    text = differences.find(ours, theirs)
    shown = "" if text is None else f": {text!r} is {ours(text)} and would become {theirs(text)}"
    raise ConversionError(f"{head}{shown}. tokenizer.json holds it.")


def _bytes_of(token: str, vocabulary: Vocabulary) -> bytes:
    named = _BYTE_PIECE.fullmatch(token) if vocabulary.byte_fallback else None
    return token.encode() if named is None else bytes([int(named[1], 16)])


def added_tokens(vocabulary: Vocabulary) -> list[tuple[int, dict[str, Any]]]:
    """Return each added token with its id: all of them, where two share one."""
    names = ("content", "special", "normalized", "single_word", "lstrip", "rstrip")
    return [(token_id, dict(zip(names, flags, strict=True))) for token_id, flags in vocabulary.core.added_tokens()]


def _check_doubles(ranks: Mapping[bytes, int], target: str) -> None:
    seen: dict[int, bytes] = {}
    for token, rank in ranks.items():
        if seen.setdefault(rank, token) != token:
            raise ConversionError(
                f"{target} can't hold two tokens of one id: {seen[rank]!r} and {token!r} have {rank}."
            )


def _check_merges(vocabulary: Vocabulary, verdict: str, texts: list[bytes], dead: list[bytes], target: str) -> None:
    if verdict == "equal" and not dead:
        return
    listed = differences.encoder(vocabulary.core)
    ranked = differences.encoder(vocabulary.core.as_rank_file())
    candidates = [form.replace("{}", text) for text in differences.as_texts([*texts, *dead]) for form in _AROUND]
    text = differences.find(listed, ranked, candidates)
    unproved = evidence(vocabulary) if text is None and verdict == "unproved" else None
    if unproved is not None:
        text = unproved.text
    if text is not None:
        raise ConversionError(
            f"{target} merges any two neighbours that together are a token, and this merge list doesn't: {text!r} is "
            f"{listed(text)} and would become {ranked(text)}. tokenizer.json holds it."
        )
    if verdict == "different" and not vocabulary.ignore_merges:
        raise ConversionError(
            f"{target} merges any two neighbours that together are a token, and this merge list doesn't: the bytes "
            f"{texts[0]!r} would become other tokens. tokenizer.json holds it."
        )
    if unproved is not None:
        raise ConversionError(
            f"{target} can't be proved to give the ids of this merge list: {unproved.reason}. tokenizer.json holds it."
        )


def parse(data: bytes, path: Path) -> dict[bytes, int]:
    """Return the ranks in the lines `BASE64 RANK` of a file.

    Raises:
        ConversionError: A line is something else, or a token or a rank stands there twice. The message has its number.
    """
    ranks: dict[bytes, int] = {}
    lines: dict[int, int] = {}
    for number, line in enumerate(data.splitlines(), start=1):
        if not line:
            continue
        fields = line.split()
        if len(fields) != 2:
            raise ConversionError(
                f"{path}, line {number}: expected 'BASE64 RANK', got {_fields(len(fields))}: {_shown(line)}."
            )
        token, rank = _token(fields[0], path, number), _rank(fields[1], path, number)
        if token in ranks:
            raise ConversionError(
                f"{path}, line {number}: the token {token!r} stands on line {lines[ranks[token]]} already."
            )
        if rank in lines:
            raise ConversionError(f"{path}, line {number}: the rank {rank} stands on line {lines[rank]} already.")
        ranks[token] = rank
        lines[rank] = number
    return ranks


def lines(ranks: Mapping[bytes, int]) -> Iterable[bytes]:
    """Return the lines of a file with these ranks, in their order."""
    return (base64.b64encode(token) + b" %d" % rank for token, rank in sorted(ranks.items(), key=lambda item: item[1]))


def missing_byte(ranks: Mapping[bytes, int]) -> int | None:
    """Return the first byte that no token stands for, if any."""
    return next((byte for byte in range(256) if bytes([byte]) not in ranks), None)


def _token(field: bytes, path: Path, number: int) -> bytes:
    try:
        token = base64.b64decode(field, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ConversionError(f"{path}, line {number}: {_shown(field)} is no base64: {error}.") from error
    if not token:
        raise ConversionError(f"{path}, line {number}: {_shown(field)} is an empty token.")
    return token


def _rank(field: bytes, path: Path, number: int) -> int:
    if not field.isdigit() or len(field) > 10 or int(field) > LARGEST_RANK:
        raise ConversionError(
            f"{path}, line {number}: {_shown(field)} is no rank: a rank is a number from 0 to {LARGEST_RANK}."
        )
    return int(field)


def _fields(count: int) -> str:
    return f"{count} field{'' if count == 1 else 's'}"


def _shown(data: bytes) -> str:
    text = data[:100].decode(errors="backslashreplace")
    return repr(text + "…" if len(data) > 100 else text)
