"""GPT-2's pair of files: `vocab.json` with each token's id, and `merges.txt` with a merge a line.

The pair holds the model and nothing else. Whoever reads it adds GPT-2's split pattern, and makes `<|endoftext|>` a
special token where the vocabulary has it. A vocabulary with another pipeline is written only when asked for.

The canonical form is that of OpenAI's release: ASCII with escapes, a space behind each comma and colon, ids in order,
the header `#version: 0.2`, and a final newline in merges.txt alone. It is what every vocabulary is written in that
remembers no other, so GPT-2's own files come back byte for byte from a tokenizer.json too.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias, cast

from hf_bpe._native import Tokenizer
from hf_bpe.errors import ConversionError
from hf_bpe.formats import differences, files
from hf_bpe.vocabulary import Vocabulary

NAME = "gpt2"

Merge: TypeAlias = tuple[int, tuple[str, str]]
"""The number of a line, and the pair that stands there."""

_END_OF_TEXT = "<|endoftext|>"
# OpenAI's own release has the second pair of names.
_PAIRS = (("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe"))
_LARGEST_ID = 0xFFFFFFFF


def sniff(path: Path) -> bool:
    """Whether `path` is one of the two files with the other beside it, or a directory that holds them."""
    try:
        vocab, merges = pair_of(path)
    except (ConversionError, OSError, ValueError):
        return False
    return files.head(vocab, 64).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{") and merges.is_file()


def read(
    path: str | Path,
    *,
    merges_file: str | Path | None = None,
    add_prefix_space: bool = False,
    like: Vocabulary | None = None,
) -> Vocabulary:
    """Read the pair of files.

    Args:
        path: Either file, or the directory that holds both.
        merges_file: merges.txt, where it doesn't lie beside `path` under its usual name.
        add_prefix_space: Whether a space is put before each text that begins with none.
        like: A vocabulary whose pipeline and added tokens are taken, since the files hold none.

    Raises:
        ConversionError: A file is damaged. The message names it, the line or token, and what was found.
    """
    vocab_path, merges_path = pair_of(Path(path)) if merges_file is None else (Path(path), Path(merges_file))
    core = read_model(vocab_path, merges_path, add_prefix_space=add_prefix_space)
    if like is not None:
        vocab = core.get_vocab(with_added_tokens=False)
        return like.replace(core=like.core.with_model(vocab, core.merges(), like.ignore_merges))
    details = {NAME: _layout(core, vocab_path, merges_path)}
    roles = ("bos_token", "eos_token", "unk_token") if core.token_to_id(_END_OF_TEXT) is not None else ()
    return Vocabulary(core, special_tokens=dict.fromkeys(roles, _END_OF_TEXT), details=details)


def read_model(vocab_file: Path, merges_file: Path, *, add_prefix_space: bool = False) -> Tokenizer:
    """Return the core: byte-level BPE with GPT-2's split pattern."""
    vocab = _read_vocab(vocab_file)
    merges = read_merges(merges_file)
    _check_merges(merges, vocab, vocab_file, merges_file)
    _warn_of_doubles(merges, merges_file)
    byte_level = {"type": "ByteLevel", "add_prefix_space": add_prefix_space, "trim_offsets": True, "use_regex": True}
    components = {name: json.dumps(byte_level) for name in ("pre_tokenizer", "decoder")}
    return _with_end_of_text(Tokenizer.from_vocab_and_merges(vocab, [pair for _, pair in merges], components))


def write(
    vocabulary: Vocabulary, path: str | Path, *, prefix: str | None = None, any_pipeline: bool = False
) -> list[Path]:
    """Write vocab.json and merges.txt.

    Args:
        vocabulary: What to write.
        path: The directory, which must exist.
        prefix: Put before each file name, with a hyphen.
        any_pipeline: Whether to write the model of a vocabulary whose pipeline isn't that of GPT-2. Whoever reads the
            files has to know the pipeline from elsewhere.

    Raises:
        ConversionError: A piece can't stand in merges.txt, or the files would give other ids. The message has a text.
    """
    _check_affixes(vocabulary.core)
    if not any_pipeline:
        _check_pipeline(vocabulary)
    texts = file_texts(vocabulary.core, **cast("dict[str, Any]", vocabulary.details.get(NAME) or {}))
    paths = [Path(path) / (f"{prefix}-{name}" if prefix else name) for name in texts]
    for target, text in zip(paths, texts.values(), strict=True):
        target.write_text(text, encoding="utf-8", newline="")
    return paths


def options(vocabulary: Vocabulary) -> dict[str, Any]:
    """Return what the files leave out, as arguments of `read`: the pipeline."""
    return {"like": vocabulary}


def file_texts(
    core: Tokenizer,
    *,
    ensure_ascii: bool = True,
    separators: tuple[str, str] = (", ", ": "),
    header: str = "#version: 0.2\n",
    end: str = "\n",
) -> dict[str, str]:
    """Return the content of the two files by their names.

    Raises:
        ConversionError: A piece holds a space or a line end, which merges.txt can't carry. tokenizer.json can.
    """
    _check_affixes(core)
    merges = core.merges()
    for rank, pair in enumerate(merges):
        for piece in pair:
            if not piece or any(char in piece for char in " \n\r"):
                raise ConversionError(
                    f"merge {rank} has the piece {piece!r}: merges.txt can't hold it, tokenizer.json can."
                )
    if not header and merges and merges[0][0].startswith("#version"):
        header = "#version: 0.2\n"
    vocab = dict(sorted(core.get_vocab(with_added_tokens=False).items(), key=lambda item: item[1]))
    return {
        "vocab.json": json.dumps(vocab, ensure_ascii=ensure_ascii, separators=separators),
        "merges.txt": header + "\n".join(" ".join(pair) for pair in merges) + end,
    }


def _check_affixes(core: Tokenizer) -> None:
    settings = core.model_settings()
    for name in ("continuing_subword_prefix", "end_of_word_suffix"):
        if settings[name]:
            raise ConversionError(
                f"vocab.json and merges.txt have no place for model.{name}, {settings[name]!r}"
                f"{differences.by_affixes(core)}. tokenizer.json holds it."
            )


def _layout(core: Tokenizer, vocab_file: Path, merges_file: Path) -> dict[str, Any]:
    """Return the arguments by which `file_texts` gives the very bytes of the files, as far as that can be."""
    text = vocab_file.read_bytes()
    merges = merges_file.read_bytes()
    first = merges.split(b"\n", 1)[0] + b"\n"
    return {
        "ensure_ascii": text.isascii(),
        "separators": (", " if b", " in text[:4096] else ",", ": " if b'": ' in text[:4096] else ":"),
        "header": first.decode() if first.startswith(b"#version") and b"\r" not in first else "",
        "end": "\n" if merges.endswith(b"\n") else "",
    }


def _check_pipeline(vocabulary: Vocabulary) -> None:
    """Refuse a vocabulary to which GPT-2's pipeline gives other ids, with the shortest text found."""
    core = vocabulary.core
    plain = _with_pipeline_of_gpt2(core)
    contents = [token["content"] for token in vocabulary.added_tokens.values()]
    ours, theirs = differences.encoder(core), differences.encoder(plain)
    text = differences.find(ours, theirs, [*differences.PROBES, *contents, *differences.unreached(core)])
    if text is not None:
        raise ConversionError(
            "vocab.json and merges.txt hold no pipeline, and GPT-2's gives other ids: "
            f"{text!r} is {ours(text)} and would become {theirs(text)}. Write tokenizer.json, or pass "
            "any_pipeline=True to write the model alone."
        )


def _with_pipeline_of_gpt2(core: Tokenizer) -> Tokenizer:
    vocab = core.get_vocab(with_added_tokens=False)
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    components = {name: json.dumps(byte_level) for name in ("pre_tokenizer", "decoder")}
    plain = Tokenizer.from_vocab_and_merges(vocab, core.merges(), components)
    return _with_end_of_text(plain)


def _with_end_of_text(core: Tokenizer) -> Tokenizer:
    if core.token_to_id(_END_OF_TEXT) is None:
        return core
    return core.with_added_tokens([(_END_OF_TEXT, True, False, False, False, False)])[0]


def pair_of(path: Path) -> tuple[Path, Path]:
    """Return the paths of the two files, given one of them or their directory."""
    if files.is_directory(path) and not any(path.name in names for names in _PAIRS):
        for names in _PAIRS:
            found = [path / name for name in names]
            if all(file.is_file() for file in found):
                return found[0], found[1]
        raise ConversionError(f"{path} has no vocab.json with a merges.txt beside it.")
    for vocab, merges in _PAIRS:
        for name in (vocab, merges):
            if path.name == name or path.name.endswith(f"-{name}"):
                prefix = path.name.removesuffix(name)
                return path.with_name(prefix + vocab), path.with_name(prefix + merges)
    raise ConversionError(f"{path} is named neither vocab.json nor merges.txt; pass the other as merges_file.")


def _read_vocab(path: Path) -> dict[str, int]:
    vocab = files.read_json(path, kind="vocab.json")
    if not isinstance(vocab, dict):
        raise ConversionError(f"{path} holds {_kind(vocab)}; vocab.json is an object of ids by token.")
    for token, token_id in vocab.items():
        if type(token_id) is not int or not 0 <= token_id <= _LARGEST_ID:
            raise ConversionError(
                f"{path}: [{token!r}] is {token_id!r:.80}; the id of a token is a number from 0 to {_LARGEST_ID}."
            )
    return vocab


def read_merges(path: Path) -> list[Merge]:
    r"""Return each pair with the number of its line.

    Only the first line can be a header, and only when it starts with `#version`: `# #` is a merge like any other.
    Lines end in `\n` or `\r\n`, the last one may end in neither, and a byte order mark is skipped.
    """
    merges = []
    for number, line in enumerate(files.read_text(path, kind="merges.txt").split("\n"), start=1):
        line = line.removesuffix("\r")
        if not line or (number == 1 and line.startswith("#version")):
            continue
        pieces = line.split(" ")
        if len(pieces) != 2 or not all(pieces):
            raise ConversionError(
                f"{path}, line {number}: expected two pieces with a space between, got {line!r:.200}. "
                "A piece with a space or a line end can't stand in merges.txt; tokenizer.json holds it."
            )
        merges.append((number, (pieces[0], pieces[1])))
    return merges


def _check_merges(merges: Sequence[Merge], vocab: dict[str, int], vocab_file: Path, merges_file: Path) -> None:
    for number, pair in merges:
        for token in (*pair, pair[0] + pair[1]):
            if token not in vocab:
                raise ConversionError(
                    f"{merges_file}, line {number}: '{pair[0]} {pair[1]}' needs the token {token!r}, "
                    f"which {vocab_file} lacks."
                )


def _warn_of_doubles(merges: Sequence[Merge], merges_file: Path) -> None:
    """Say which lines don't count. `tokenizers` 0.23 takes the last of equal lines in silence, and so do all on it."""
    doubles = double_merges(merges)
    if not doubles:
        return
    first, last, pair = doubles[0]
    warnings.warn(
        f"{merges_file}, line {last}: '{pair[0]} {pair[1]}' stands on line {first} already. The last line counts, as "
        f"in tokenizers; a program that counts the first can give other ids. Such pairs: {len(doubles):,}.",
        stacklevel=4,
    )


def double_merges(merges: Sequence[Merge]) -> list[tuple[int, int, tuple[str, str]]]:
    """Return the pairs that stand there twice, each with its first place and its last."""
    first: dict[tuple[str, str], int] = {}
    last: dict[tuple[str, str], int] = {}
    for place, pair in merges:
        first.setdefault(pair, place)
        last[pair] = place
    return [(first[pair], place, pair) for pair, place in last.items() if first[pair] != place]


def _kind(value: object) -> str:
    names = {list: "an array", str: "a string", dict: "an object", type(None): "null", bool: "a boolean"}
    return names.get(type(value), "a number")
