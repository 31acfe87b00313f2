"""Mistral's `tekken.json`: ranks, a split pattern, and special tokens that come before the ranks.

The id of a token is its rank plus the number of special tokens, and the id of a special token is its own rank. Old
files list no special tokens: they have those that were in use then, and fillers such as `<SPECIAL_20>`.

A file that is read and written has the same bytes. Other formats don't hold what else is in it (unused ranks, settings
for images, its version), so a vocabulary that comes through one of them is written in the canonical form: config, vocab
and special_tokens, laid out as Mistral does since September 2024. From there on the bytes stay the same.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hf_bpe.errors import ConversionError, SplitPatternError
from hf_bpe.formats import files, rank_files, split_regex
from hf_bpe.known_encodings import KNOWN_ENCODINGS
from hf_bpe.vocabulary import Vocabulary

NAME = "tekken"

_KIND = "tekken.json"
_LAYOUT: dict[str, Any] = {"indent": 4, "ensure_ascii": True, "end": "\n", "escape_delete": True, "members": ()}
_SETTINGS = ("pattern", "num_vocab_tokens", "default_vocab_size", "default_num_special_tokens", "version")
# Published files have 1,000. Those that aren't listed are made, so a number alone must not make millions.
_MOST_SPECIAL_TOKENS = 1 << 16
# mistral-common asks newer versions to list their special tokens.
_UNLISTED_UP_TO = ("v1", "v2", "v3", "v7")


def sniff(path: Path) -> bool:
    """Whether `path` begins like a tekken.json: an object whose first members are tekken's."""
    start = files.head(Path(path)).lstrip()
    return start.startswith(b"{") and (
        (b'"config"' in start and b'"default_num_special_tokens"' in start) or b'"token_bytes"' in start
    )


def read(path: str | Path) -> Vocabulary:
    """Read a tekken.json.

    Raises:
        ConversionError: The file is damaged. The message has the JSON path and what was found there.
    """
    path = Path(path)
    data = files.read_json(path, kind=_KIND)
    config = _config(data, path)
    count = config["default_num_special_tokens"]
    specials = _special_tokens(data, config, path)
    size = config["default_vocab_size"] - count
    entries = _list(data, "vocab", path)
    if not 0 < size <= len(entries):
        raise ConversionError(
            f"{path}: config.default_vocab_size is {config['default_vocab_size']} with {count} special tokens, "
            f"and vocab has {len(entries)} entries: it needs {max(size, 1)}."
        )
    ranks = _ranks(entries, size, path)
    details = {name: value for name, value in data.items() if name != "vocab"}
    details |= {"unused": entries[size:], "layout": _layout(path) | {"members": tuple(data)}}
    pattern = _pattern(config["pattern"], path)
    try:
        return Vocabulary.from_ranks(
            {token: rank + count for token, rank in ranks.items()},
            split_pattern=pattern,
            added_tokens=specials,
            special_tokens=_roles(specials),
            details={NAME: details},
        )
    except SplitPatternError as error:
        raise ConversionError(f"{path}: config.pattern is {pattern!r:.80}: {error}") from error


def write(vocabulary: Vocabulary, path: str | Path, *, version: str | None = None) -> list[Path]:
    """Write a tekken.json, which mistral-common loads with equal ids.

    Args:
        vocabulary: What to write. Its special tokens have to come first, and its tokens right behind them.
        path: The file.
        version: The version of Mistral's tokenizers, for a vocabulary that wasn't read from a tekken.json.

    Raises:
        ConversionError: A tekken.json would give other ids. The message has the shortest text that shows it.
    """
    from hf_bpe.formats.tiktoken_encoding import portable_pattern

    path = Path(path)
    ranks = rank_files.proven_ranks(vocabulary, target=_KIND)
    count = min(ranks.values())
    _check_order(vocabulary, ranks, count)
    pattern = portable_pattern(vocabulary, _KIND)
    known = vocabulary.details.get(NAME)
    details: dict[str, Any] = dict(known) if isinstance(known, Mapping) else {}
    specials = _specials_to_write(vocabulary, count, details)
    unused, layout = details.pop("unused", []), details.pop("layout", _LAYOUT)
    config = dict(details.get("config") or {"version": version or "v7"})
    if version is not None:
        config["version"] = version
    given = config.get("pattern")
    config |= {
        "pattern": given if given is not None and split_regex.canonical(given) == pattern else pattern,
        "num_vocab_tokens": len(ranks) + len(unused),
        "default_vocab_size": len(ranks) + count,
        "default_num_special_tokens": count,
    }
    ordered = {name: config.pop(name) for name in _SETTINGS if name in config} | config
    vocab = [_entry(token, rank - count) for token, rank in sorted(ranks.items(), key=lambda item: item[1])]
    members = {"config": ordered, "vocab": vocab + unused, "special_tokens": specials}
    members |= {name: value for name, value in details.items() if name not in members}
    if specials is None:
        del members["special_tokens"]
    # In the order of the file that was read.
    members = {name: members[name] for name in [*layout["members"], *members] if name in members}
    text = json.dumps(members, indent=layout["indent"], ensure_ascii=layout["ensure_ascii"])
    if layout["escape_delete"]:
        text = text.replace("\x7f", "\\u007f")
    path.write_text(text + layout["end"], encoding="utf-8", newline="")
    return [path]


def options(vocabulary: Vocabulary) -> dict[str, Any]:
    """Return nothing: the file says everything that it is about."""
    return {}


def _config(data: Any, path: Path) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise ConversionError(f"{path} holds no JSON object; {_KIND} is one.")
    config = data.get("config")
    if not isinstance(config, dict):
        raise ConversionError(f"{path}: config should be an object, found {config!r:.60}.")
    for name in ("default_vocab_size", "default_num_special_tokens"):
        number = config.get(name)
        if type(number) is not int or not 0 <= number <= rank_files.LARGEST_RANK:
            raise ConversionError(f"{path}: config.{name} should be a number, found {number!r:.60}.")
    count = config["default_num_special_tokens"]
    if count > _MOST_SPECIAL_TOKENS:
        raise ConversionError(
            f"{path}: config.default_num_special_tokens is {count}; hf_bpe reads at most {_MOST_SPECIAL_TOKENS}."
        )
    for name in ("pattern", "version"):
        if not isinstance(config.get(name), str):
            raise ConversionError(f"{path}: config.{name} should be a string, found {config.get(name)!r:.60}.")
    return config


def _list(data: dict[str, Any], name: str, path: Path) -> list[Any]:
    value = data.get(name)
    if not isinstance(value, list):
        raise ConversionError(f"{path}: {name} should be an array, found {value!r:.60}.")
    return value


def _ranks(entries: list[Any], size: int, path: Path) -> dict[bytes, int]:
    """Return the first `size` ranks. As mistral-common, each entry has to stand at its rank."""
    ranks: dict[bytes, int] = {}
    for index, entry in enumerate(entries[:size]):
        where = f"{path}: vocab[{index}]"
        if not isinstance(entry, dict):
            raise ConversionError(f"{where} should be an object, found {entry!r:.60}.")
        if entry.get("rank") != index or type(entry["rank"]) is not int:
            raise ConversionError(f"{where}.rank is {entry.get('rank')!r:.60}; entries stand in the order of ranks.")
        token = _bytes(entry.get("token_bytes"), where)
        if token in ranks:
            raise ConversionError(f"{where} is the token {token!r}, which stands at vocab[{ranks[token]}] already.")
        ranks[token] = index
    if (byte := rank_files.missing_byte(ranks)) is not None:
        raise ConversionError(f"{path}: vocab has no token for the byte 0x{byte:02X}.")
    return ranks


def _bytes(value: Any, where: str) -> bytes:
    try:
        token = base64.b64decode(value, validate=True)
    except (TypeError, ValueError) as error:
        raise ConversionError(f"{where}.token_bytes is {value!r:.60}, which is no base64: {error}.") from error
    if not token:
        raise ConversionError(f"{where}.token_bytes is empty.")
    return token


def _pattern(pattern: str, path: Path) -> str:
    if not pattern or pattern.replace("-", "").replace("_", "").isalnum():
        raise ConversionError(f"{path}: config.pattern is {pattern!r:.60}, which is a word and no split pattern.")
    if any("\ud800" <= char <= "\udfff" for char in pattern):
        raise ConversionError(f"{path}: config.pattern is {pattern!r:.60}, which holds a lone surrogate.")
    try:
        return split_regex.canonical(pattern)
    except ValueError as error:
        raise ConversionError(f"{path}: config.pattern holds {error}: it can't be run exactly.") from error


def _special_tokens(data: dict[str, Any], config: dict[str, Any], path: Path) -> dict[str, int]:
    count = config["default_num_special_tokens"]
    if data.get("special_tokens") is None:
        if config["version"] not in _UNLISTED_UP_TO:
            raise ConversionError(
                f"{path}: special_tokens is missing, which files of version {config['version']!r:.60} have."
            )
        return _default_special_tokens(count)
    listed = _list(data, "special_tokens", path)
    found: dict[int, str] = {}
    for index, entry in enumerate(listed):
        where = f"{path}: special_tokens[{index}]"
        rank, text = (entry.get("rank"), entry.get("token_str")) if isinstance(entry, dict) else (None, None)
        if type(rank) is not int or not 0 <= rank < count or not isinstance(text, str) or not text:
            raise ConversionError(
                f"{where} is {entry!r:.80}; it has a token_str, and a rank below config.default_num_special_tokens, "
                f"which is {count}."
            )
        if rank in found or text in found.values():
            raise ConversionError(f"{where}: the rank {rank} or the token {text!r} stands there twice.")
        found[rank] = text
    fillers = {rank: f"<SPECIAL_{rank}>" for rank in range(len(listed), count) if rank not in found}
    tokens = {text: rank for rank, text in sorted((found | fillers).items())}
    if len(tokens) < len(found) + len(fillers):
        raise ConversionError(f"{path}: special_tokens has a token of the form '<SPECIAL_n>' at another rank than n.")
    return tokens


def _default_special_tokens(count: int) -> dict[str, int]:
    named = KNOWN_ENCODINGS["tekken"].added_tokens
    return {token: rank for token, rank in named.items() if rank < count} | {
        f"<SPECIAL_{rank}>": rank for rank in range(len(named), count)
    }


def _roles(specials: Mapping[str, int]) -> dict[str, str]:
    roles = KNOWN_ENCODINGS["tekken"].special_tokens
    return {role: token for role, token in roles.items() if token in specials}


def _layout(path: Path) -> dict[str, Any]:
    """Return how the file is written: what `json.dumps` has to be told for the same bytes."""
    data = path.read_bytes()
    second = data.split(b"\n", 2)[1] if b"\n" in data[:64] else b""
    return {
        "indent": len(second) - len(second.lstrip()) or None,
        "ensure_ascii": data.isascii(),
        "escape_delete": b"\\u007f" in data,
        "end": "\n" if data.endswith(b"\n") else "",
    }


def _check_order(vocabulary: Vocabulary, ranks: Mapping[bytes, int], count: int) -> None:
    """Refuse ids that aren't: special tokens, then ranks, without a gap."""
    added = {token_id: token["content"] for token_id, token in rank_files.added_tokens(vocabulary)}
    late = next((token_id for token_id in sorted(added) if token_id >= count), None)
    if late is not None:
        raise ConversionError(
            f"{_KIND} has special tokens first and ranks behind them: {added[late]!r} is [{late}], behind the token "
            f"{vocabulary.tokens[count]!r}, {count}, and would get another id. tokenizer.json holds it."
        )
    if (hole := next((rank for rank in range(count) if rank not in added), None)) is not None:
        raise ConversionError(f"{_KIND} has a special token for each id before the ranks: none has the id {hole}.")
    for byte in range(256):
        if ranks[bytes([byte])] != count + byte:
            raise ConversionError(
                f"{_KIND} has the 256 bytes first, in order: 0x{byte:02X} is {ranks[bytes([byte])]} and would become "
                f"{count + byte}. tokenizer.json holds it."
            )
    if max(ranks.values()) - count + 1 != len(ranks):
        taken = set(ranks.values())
        gap = next(rank for rank in range(count, max(taken)) if rank not in taken)
        raise ConversionError(f"{_KIND} has ranks without a gap: no token has the id {gap}. tokenizer.json holds it.")


def _specials_to_write(vocabulary: Vocabulary, count: int, details: dict[str, Any]) -> list[dict[str, Any]] | None:
    """Return the list of special tokens, as it was read where that still holds; None for an old file without one."""
    tokens = {token["content"]: (token_id, token) for token_id, token in rank_files.added_tokens(vocabulary)}
    if len(tokens) > count:
        raise ConversionError(f"{_KIND} can't hold two special tokens of one id: {vocabulary.doubles()}.")
    ids = {content: token_id for content, (token_id, _) in tokens.items()}
    listed = details.get("special_tokens")
    if listed is None and "config" in details and ids == _default_special_tokens(count):
        return None
    if listed is not None and ids == _special_tokens(details, {"default_num_special_tokens": count}, Path(_KIND)):
        return list(listed)
    return [
        {"rank": token_id, "token_str": content, "is_control": bool(token["special"])}
        for content, (token_id, token) in sorted(tokens.items(), key=lambda item: item[1][0])
    ]


def _entry(token: bytes, rank: int) -> dict[str, Any]:
    try:
        text: str | None = token.decode()
    except UnicodeDecodeError:
        text = None
    return {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": text}
